//! Measures the program model on real programs from Maven Central, each in a process of its own.
//!
//! `cargo run --release -p untorn-program --example measure [-- NAME…]`; needs `mvn` for the first run, which fills the cache under `target/measure`.
//! `measure jar JAR [CLASSPATH…]` takes any jar as a library.
//! `measure jdk` loads and builds every class of the JDK instead.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use untorn_program::load::{Jdk, JdkChoice, Limits};
use untorn_program::{Assumption, Assumptions, LoadPlan, Program};

/// Name, coordinates, and the main class of the application run.
const PROGRAMS: [(&str, &str, Option<&str>); 7] = [
    (
        "h2",
        "com.h2database:h2:2.2.224",
        Some("org.h2.tools.Server"),
    ),
    (
        "hsqldb",
        "org.hsqldb:hsqldb:2.7.3",
        Some("org.hsqldb.server.Server"),
    ),
    (
        "lucene-core",
        "org.apache.lucene:lucene-core:9.11.1",
        Some("org.apache.lucene.index.CheckIndex"),
    ),
    (
        "xalan",
        "xalan:xalan:2.7.3",
        Some("org.apache.xalan.xslt.Process"),
    ),
    (
        "jetty-server",
        "org.eclipse.jetty:jetty-server:12.0.14",
        Some("org.eclipse.jetty.server.Server"),
    ),
    ("quartz", "org.quartz-scheduler:quartz:2.3.2", None),
    (
        "caffeine",
        "com.github.ben-manes.caffeine:caffeine:3.1.8",
        None,
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    if let [kind, name] = args.as_slice()
        && (kind == "library" || kind == "application")
    {
        return one(name, kind == "application");
    }
    if let [kind, jar, class_path @ ..] = args.as_slice()
        && kind == "jar"
    {
        let plan = LoadPlan {
            inputs: vec![jar.into()],
            classpath: class_path.iter().map(PathBuf::from).collect(),
            ..LoadPlan::default()
        };
        return report(jar, &plan, false);
    }
    if args == ["jdk"] {
        return jdk();
    }
    for (name, _, main) in PROGRAMS {
        if !args.is_empty() && !args.iter().any(|arg| arg == name) {
            continue;
        }
        for kind in main.map(|_| "application").into_iter().chain(["library"]) {
            Command::new(env::current_exe()?)
                .args([kind, name])
                .status()?;
        }
    }
    Ok(())
}

fn one(name: &str, application: bool) -> Result<(), Box<dyn Error>> {
    let (_, coordinates, main) = PROGRAMS
        .into_iter()
        .find(|(known, _, _)| *known == name)
        .ok_or("no such program")?;
    let jar = fetch(coordinates)?;
    let plan = LoadPlan {
        inputs: vec![jar],
        main: if application {
            main.map(str::to_owned)
        } else {
            None
        },
        ..LoadPlan::default()
    };
    report(name, &plan, application)
}

fn report(name: &str, plan: &LoadPlan, application: bool) -> Result<(), Box<dyn Error>> {
    let clock = Instant::now();
    let program = Program::load(plan)?;
    let elapsed = clock.elapsed();
    let stats = program.stats();
    println!(
        "{name} ({}): {elapsed:.2?}, {} MB at most",
        if application {
            "application"
        } else {
            "library"
        },
        peak()
    );
    println!(
        "  load {:.2?}, bodies {:.2?}, points-to {:.2?}, threads {:.2?}",
        stats.load_time, stats.body_time, stats.heap_time, stats.thread_time
    );
    println!(
        "  {} input classes with {} bodies; {} classes loaded, {} missing; {} unreadable classes, {} unreadable bodies",
        stats.input_classes,
        stats.input_bodies,
        stats.loaded_classes,
        stats.missing_classes,
        program.assumptions().count(Assumption::UnreadableClass),
        program.assumptions().count(Assumption::UnreadableBody),
    );
    println!(
        "  {} methods reachable, {} nodes, {} calls; {} objects, {} variables, {} copies, {} MB of sets",
        stats.reachable_methods,
        stats.nodes,
        stats.call_edges,
        stats.objects,
        stats.variables,
        stats.copy_edges,
        stats.set_bytes >> 20
    );
    println!(
        "  {} abstract threads, {} shared objects",
        stats.threads, stats.shared_objects
    );
    if env::var_os("MEASURE_ASSUMPTIONS").is_some() {
        for (kind, subject, count) in program.assumptions().iter() {
            println!("  {kind:?} {subject} {count}");
        }
    }
    Ok(())
}

/// Every class of the JDK, as inputs without any entry.
fn jdk() -> Result<(), Box<dyn Error>> {
    use rayon::prelude::*;
    use untorn_program::classes::Loader;
    use untorn_program::ir::build_body;
    use untorn_program::load::ClassPath;
    let limits = Limits::default();
    let mut assumptions = Assumptions::default();
    let jdk = Jdk::open(&JdkChoice::Discover, &limits, &mut assumptions)?.ok_or("no JDK")?;
    let path = ClassPath::open(
        &[],
        &[],
        &JdkChoice::Home(jdk.home().to_owned()),
        None,
        limits,
        &mut assumptions,
    )?;
    let mut loader = Loader::new(path, limits, assumptions);
    let clock = Instant::now();
    let ids: Vec<_> = jdk
        .class_names()
        .into_iter()
        .map(|name| loader.class_named(name))
        .collect();
    loader.load(ids.iter().copied());
    println!(
        "JDK {}: {} classes loaded in {:.2?}",
        jdk.release(),
        ids.len(),
        clock.elapsed()
    );
    let clock = Instant::now();
    loader.link(&ids);
    println!("  linked in {:.2?}", clock.elapsed());
    let clock = Instant::now();
    let classes = &loader.classes;
    let methods: Vec<_> = ids
        .iter()
        .flat_map(|class| classes.class(*class).methods.iter().copied())
        .filter(|method| classes.method(*method).has_code)
        .collect();
    let failed = methods
        .par_iter()
        .filter(|method| build_body(classes, **method).is_err())
        .count();
    println!(
        "  {} bodies built in {:.2?}, {failed} failed; {} MB at most",
        methods.len(),
        clock.elapsed(),
        peak()
    );
    Ok(())
}

fn fetch(coordinates: &str) -> Result<PathBuf, Box<dyn Error>> {
    let parts: Vec<&str> = coordinates.split(':').collect();
    let cache = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/measure");
    let jar = cache.join(format!("{}-{}.jar", parts[1], parts[2]));
    if !jar.is_file() {
        fs::create_dir_all(&cache)?;
        let status = Command::new("mvn")
            .args([
                "-q",
                "-B",
                "org.apache.maven.plugins:maven-dependency-plugin:3.7.1:copy",
            ])
            .arg(format!("-Dartifact={coordinates}"))
            .arg(format!("-DoutputDirectory={}", cache.display()))
            .status()?;
        if !status.success() {
            return Err(format!("mvn could not fetch {coordinates}").into());
        }
    }
    Ok(jar)
}

/// The most memory this process held, in megabytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next())
        .and_then(|size| size.parse::<u64>().ok())
        .unwrap_or(0)
        >> 10
}
