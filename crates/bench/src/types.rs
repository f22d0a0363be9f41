//! Proofs by types: classes of the JDK one by one, pinned jars, and how cost grows with the number of methods.
//!
//! Jars are those that `cargo xtask corpus fetch` left in the build folder; without them the JDK and the growth are measured alone.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use untorn_program::load::JdkChoice;
use untorn_program::{LoadPlan, Program};
use untorn_types::report::{Counts, Typed};

use crate::Outcome;

const CLASSES: [&str; 10] = [
    "java.lang.StringBuffer",
    "java.lang.String",
    "java.util.Vector",
    "java.util.Hashtable",
    "java.util.Collections$SynchronizedList",
    "java.util.zip.Inflater",
    "java.util.zip.Deflater",
    "java.util.Observable",
    "java.io.PrintWriter",
    "java.net.URL",
];
/// Each of them is to be done in this time, loading included.
const MOST_FOR_A_CLASS: Duration = Duration::from_secs(2);
/// Thirty thousand lines are about this many method bodies, and are to be done in ten seconds.
const BODIES_OF_30_000_LINES: u32 = 3000;
const MOST_FOR_30_000_LINES: Duration = Duration::from_secs(10);
/// Classes of the generated programs: the larger one has this many times those of the smaller, and thirty thousand lines.
const TIMES: usize = 4;
const CLASSES_OF_30_000_LINES: usize = 4300;
/// How often a generated program is typed.
const ROUNDS: usize = 3;
/// Cost may grow with the number of methods to this power.
const MOST_GROWTH: f64 = 1.3;

struct Measured {
    loading: Duration,
    typing: Duration,
    counts: Counts,
    proved: usize,
    exported: usize,
}

fn measure(plan: &LoadPlan) -> Result<Measured, Box<dyn std::error::Error>> {
    let clock = Instant::now();
    let program = Program::load(plan)?;
    let loading = clock.elapsed();
    let clock = Instant::now();
    let mut typed = Typed::new(&program)?;
    let classes = program.classes();
    let outcome = typed.outcome(&|method, block| {
        block.is_none()
            && classes.is_exported(method)
            && program.is_input(classes.method(method).class)
    });
    let proved = outcome.proved.len() + outcome.proved_if_sequential.len();
    Ok(Measured {
        loading,
        typing: clock.elapsed(),
        counts: typed.counts(),
        proved,
        exported: proved + outcome.findings.len(),
    })
}

fn show(name: &str, measured: &Measured) {
    let Measured {
        loading,
        typing,
        counts,
        proved,
        exported,
    } = measured;
    println!(
        "  {name:<40} {:>7} bodies {:>7} clauses {:>6.0} ms load {:>6.0} ms type {:>5.0} us a body   {proved} of {exported} proved",
        counts.bodies,
        counts.clauses,
        milliseconds(*loading),
        milliseconds(*typing),
        milliseconds(*typing) * 1000.0 / counts.bodies.max(1) as f64,
    );
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

pub fn run() -> Outcome {
    let mut slow = Vec::new();
    for class in CLASSES {
        let plan = LoadPlan {
            jdk_classes: vec![class.to_owned()],
            jdk: JdkChoice::Discover,
            ..LoadPlan::default()
        };
        let measured = measure(&plan)?;
        show(class, &measured);
        if measured.loading + measured.typing > MOST_FOR_A_CLASS {
            slow.push(class.to_owned());
        }
    }
    for jar in corpus()? {
        let plan = LoadPlan {
            inputs: vec![jar.clone()],
            ..LoadPlan::default()
        };
        let measured = measure(&plan)?;
        let name = jar.file_name().unwrap_or_default().to_string_lossy();
        show(&name, &measured);
        let bodies = u32::try_from(measured.counts.bodies)?.max(1);
        let scaled = (measured.loading + measured.typing) * BODIES_OF_30_000_LINES
            / bodies.max(BODIES_OF_30_000_LINES);
        if scaled > MOST_FOR_30_000_LINES {
            slow.push(name.into_owned());
        }
    }
    growth(&mut slow)?;
    if slow.is_empty() {
        Ok(())
    } else {
        Err(format!("slower than promised: {}", slow.join(", ")).into())
    }
}

/// The pinned jars that are there.
fn corpus() -> Result<Vec<PathBuf>, std::io::Error> {
    let target = std::env::current_exe()?;
    let folder = target
        .ancestors()
        .nth(2)
        .map(|target| target.join("corpus"));
    let mut jars = Vec::new();
    if let Some(folder) = folder.filter(|folder| folder.is_dir()) {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "jar") {
                jars.push(path);
            }
        }
    }
    jars.sort();
    Ok(jars)
}

/// A program of so many classes, each a locked counter that uses the one before.
fn source(classes: usize) -> String {
    let mut text = String::new();
    for number in 0..classes {
        let before = number.saturating_sub(1);
        let _ = write!(
            text,
            "class C{number} {{
                private int value; private C{before} other; private final Object lock = new Object();
                synchronized void set(C{before} o) {{ other = o; }}
                synchronized int add(int n) {{ value += n; return value; }}
                void both(int n) {{ add(n); synchronized (lock) {{ if (other != null) other.add(n); }} }}
                synchronized int twice(int n) {{ for (int i = 0; i < n; i++) add(i); return add(n); }}
            }}\n"
        );
    }
    text
}

/// Types a small and a large generated program, and compares what a method costs.
fn growth(slow: &mut Vec<String>) -> Outcome {
    let mut costs = Vec::new();
    for classes in [CLASSES_OF_30_000_LINES / TIMES, CLASSES_OF_30_000_LINES] {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("Program.java");
        let text = source(classes);
        let lines = text.lines().count();
        std::fs::write(&file, text)?;
        let javac = std::process::Command::new(tool("javac"))
            .arg("-d")
            .arg(folder.path())
            .arg(&file)
            .status()?;
        if !javac.success() {
            return Err("javac failed on the generated program".into());
        }
        let plan = LoadPlan {
            inputs: vec![folder.path().to_owned()],
            ..LoadPlan::default()
        };
        // The shortest of a few: whatever else runs on the machine only makes it longer.
        let mut measured = measure(&plan)?;
        for _ in 1..ROUNDS {
            let again = measure(&plan)?;
            if again.typing < measured.typing {
                measured = again;
            }
        }
        let name = format!("{lines} generated lines");
        show(&name, &measured);
        if measured.loading + measured.typing > MOST_FOR_30_000_LINES {
            slow.push(name);
        }
        let bodies = measured.counts.bodies.max(1) as f64;
        costs.push((bodies, measured.typing.as_secs_f64()));
    }
    let ((fewer, short), (more, long)) = (costs[0], costs[1]);
    let exponent = (long / short).ln() / (more / fewer).ln();
    println!(
        "  {:.1} times the methods cost {:.1} times as much: cost grows with the number of methods to the power of {exponent:.2}",
        more / fewer,
        long / short,
    );
    if exponent > MOST_GROWTH {
        slow.push("growth".to_owned());
    }
    Ok(())
}

/// A tool of the JDK: from JAVA_HOME, else what PATH finds.
fn tool(name: &str) -> PathBuf {
    match std::env::var_os("JAVA_HOME") {
        Some(home) => Path::new(&home).join("bin").join(name),
        None => name.into(),
    }
}
