//! Types classes and prints every exported method with its type: `prove PATH…` for class files, `prove --jdk CLASS…` for classes of the JDK, `--pure-values` before either to trust value methods.

use std::time::Instant;

use untorn_program::{LoadPlan, Program};
use untorn_types::front::Options;
use untorn_types::report::Typed;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut plan = LoadPlan::default();
    let mut jdk = false;
    let mut options = Options::default();
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--jdk" => jdk = true,
            "--analyze-jdk" => options.analyze_jdk = true,
            _ if argument.starts_with("--main=") => plan.main = Some(argument[7..].to_owned()),
            "--pure-values" => options.pure_values = true,
            _ if jdk => plan.jdk_classes.push(argument),
            _ => plan.inputs.push(argument.into()),
        }
    }
    let clock = Instant::now();
    let program = Program::load(&plan)?;
    let loaded = clock.elapsed();
    let clock = Instant::now();
    let mut typed = Typed::with(&program, options)?;
    let classes = program.classes();
    let outcome = typed.outcome(&|method, block| {
        block.is_none()
            && classes.is_exported(method)
            && program.is_input(classes.method(method).class)
    });
    println!(
        "loaded in {loaded:?}, typed in {:?}: {:?}",
        clock.elapsed(),
        typed.counts()
    );
    for &class in program.inputs() {
        for &field in &classes.class(class).fields {
            for content in [false, true] {
                if let Some(guard) = typed.guard_of(field, content) {
                    let content = if content { " (content)" } else { "" };
                    println!("  {}{content}: {guard}", classes.describe_field(field));
                }
            }
        }
    }
    for region in &outcome.proved {
        println!(
            "proved {} {}",
            region.short_name(),
            region.descriptor.as_deref().unwrap_or("")
        );
    }
    for region in &outcome.proved_if_sequential {
        println!(
            "proved with a race {} {}",
            region.short_name(),
            region.descriptor.as_deref().unwrap_or("")
        );
    }
    for finding in &outcome.findings {
        println!(
            "not {} {}",
            finding.region.descriptor.as_deref().unwrap_or(""),
            finding.message
        );
        for typing in &finding.evidence.typings {
            println!("    {}", typing.atomicity);
            for lost in &typing.guards_lost {
                println!(
                    "    lost {}: {} {:?}",
                    lost.field,
                    lost.why,
                    lost.place.as_ref().map(|p| (&p.method, p.line))
                );
            }
        }
    }
    let proved = outcome.proved.len() + outcome.proved_if_sequential.len();
    println!(
        "{proved} of {} proved, {} of them with a race on plain fields",
        proved + outcome.findings.len(),
        outcome.proved_if_sequential.len()
    );
    Ok(())
}
