//! `untorn spec`: shows and combines specifications.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use untorn_classfile::{ClassFile, facts_of};
use untorn_program::Assumptions;
use untorn_program::load::{ClassPath, JdkChoice, Limits};
use untorn_spec::{ClassFacts, Specification, Stage};

use crate::cli::{SpecArgs, SpecCommand};
use crate::failure::Failure;
use crate::output::print;
use crate::selection::specification;

pub fn run(args: &SpecArgs) -> Result<ExitCode, Failure> {
    match &args.command {
        SpecCommand::Show {
            classes,
            spec,
            all,
            check,
        } => {
            let stage = if *check { Stage::Check } else { Stage::Run };
            show(classes, spec.as_deref(), stage, *all)?;
        }
        SpecCommand::Intersect { specs } => intersect(specs)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn show(classes: &[PathBuf], spec: Option<&Path>, stage: Stage, all: bool) -> Result<(), Failure> {
    let spec = specification(spec)?;
    let mut assumptions = Assumptions::default();
    let path = ClassPath::open(
        classes,
        &[],
        &JdkChoice::None,
        None,
        Limits::default(),
        &mut assumptions,
    )?;
    let mut text = String::new();
    let mut regions = 0;
    for file in path.input_files() {
        let found = path.read_input(&file)?;
        let facts = ClassFile::parse(&found.bytes).and_then(|class| facts_of(&class));
        match facts {
            Ok(facts) => regions += list(&facts, &spec, stage, all, &mut text),
            // One damaged class of many does not keep the others from being listed.
            Err(error) => eprintln!("untorn: note: {}: {error}; left out", found.place.display()),
        }
    }
    let _ = writeln!(text, "{regions} regions");
    print(&text)
}

fn list(
    class: &ClassFacts,
    spec: &Specification,
    stage: Stage,
    all: bool,
    text: &mut String,
) -> usize {
    let mut regions = 0;
    for method in &class.methods {
        let blocks = (1..=method.blocks).map(Some);
        for block in std::iter::once(None).chain(blocks) {
            let decision = spec.decide(stage, class, method, block);
            regions += usize::from(decision.atomic);
            if decision.atomic || all {
                let mark = if decision.atomic { "atomic" } else { "-" };
                let number = block.map_or(String::new(), |number| format!("@{number}"));
                let _ = writeln!(
                    text,
                    "{mark:<7} {}.{}{}{number}  ({})",
                    class.name, method.name, method.descriptor, decision.rule
                );
            }
        }
    }
    regions
}

fn intersect(specs: &[PathBuf]) -> Result<(), Failure> {
    let mut both: Option<Specification> = None;
    for path in specs {
        let spec = specification(Some(path))?;
        both = Some(match both {
            Some(so_far) => so_far.intersect(spec),
            None => spec,
        });
    }
    let both = both.unwrap_or_default();
    let text = both
        .to_toml()
        .map_err(|error| Failure::Usage(error.to_string()))?;
    print(&text)
}
