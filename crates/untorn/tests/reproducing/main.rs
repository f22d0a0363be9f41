//! Steered runs: what is torn is reproduced, what is whole never, and the program stays what it is.
//!
//! `UNTORN_REPRODUCE=all` takes the whole test set and all drivers instead of a slice, and `UNTORN_STEERED_RUNS=200` steers the kernels so often.

#![allow(clippy::unwrap_used)]

mod drivers;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

// Linked in so that cargo builds the agent library first.
use untorn_agent as _;
use untorn_findings::{Document, Level, Region, Verdict};
use untorn_jdk::tool;
use untorn_plan::{PausePoint, Plan, PlanFile, PlannedRegion};

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
/// For checks: every method ought to be one step but those that make and start the threads.
const SPEC: &str = r#"
heuristic = "all-methods"
exclude = ["schedule.**", "**.main", "**.lambda$main$0", "**.lambda$main$1"]
"#;
/// Of every sort one, for the usual runs.
const SLICE: [&str; 6] = [
    "BankWithdraw",
    "ReentrantLockTwice",
    "SyncGetThenSet",
    "TwoFieldsPoint",
    "MapDeclared",
    "WrongLock",
];

/// Programs that the exact checker does not observe with a forced schedule either: contents of collections that it knows
/// only roughly, classes without a model, and a cycle in which no region is torn by itself.
const UNOBSERVABLE: [&str; 10] = [
    "AdderReset",
    "CollectionDeclared",
    "CopyOnWriteContains",
    "MoveBetweenLists",
    "PriorityPeek",
    "QueueCapacity",
    "StringBufferFlush",
    "SyncCheckThenSyncAct",
    "VectorAddIfAbsent",
    "WriteSkew",
];

fn untorn(arguments: &[&str]) -> Output {
    let beside_this_test = std::env::current_exe().unwrap();
    Command::new(env!("CARGO_BIN_EXE_untorn"))
        .env(
            "UNTORN_AGENT",
            beside_this_test.with_file_name("libuntorn_agent.so"),
        )
        .args(arguments)
        .output()
        .unwrap()
}

fn document(output: &Output) -> Document {
    let text = String::from_utf8_lossy(&output.stdout);
    Document::from_json(&text)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn compile(sources: &[PathBuf], into: &Path) {
    let javac = Command::new(tool("javac"))
        .args(["-g", "-nowarn", "-d"])
        .arg(into)
        .args(sources)
        .output()
        .unwrap();
    assert!(javac.status.success(), "{javac:?}");
}

/// The programs of a folder of the test set that this run takes.
fn programs(folder: &str) -> Vec<String> {
    let mut names: Vec<String> = (std::fs::read_dir(format!("{TESTS}/programs/{folder}")).unwrap())
        .map(|entry| entry.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    if std::env::var("UNTORN_REPRODUCE").is_ok_and(|it| it == "all") {
        return names;
    }
    match folder {
        "whole" => names.into_iter().step_by(9).collect(),
        _ => SLICE.map(str::to_owned).to_vec(),
    }
}

/// Checks programs whose schedule nobody forces, and steers runs of all of them in one JVM; with the programs that were suspected.
fn reproduce(folder: &str, budget: &str) -> Document {
    let place = tempfile::tempdir().unwrap();
    let classes = place.path().join("classes");
    let names = programs(folder);
    let mut sources: Vec<PathBuf> = (names.iter())
        .map(|name| format!("{TESTS}/programs/{folder}/{name}.java").into())
        .collect();
    sources.push(format!("{TESTS}/programs/unscheduled/schedule/Pause.java").into());
    sources.push(format!("{TESTS}/programs/schedule/All.java").into());
    compile(&sources, &classes);
    let (spec, saved) = (place.path().join("spec.toml"), place.path().join("f.json"));
    std::fs::write(&spec, SPEC).unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let checked = untorn(&[
        "check",
        &text(&classes),
        "--spec",
        &text(&spec),
        "--exit-zero",
        "-o",
        &text(&saved),
    ]);
    assert!(checked.status.success(), "{checked:?}");
    let (saved, java, classes) = (text(&saved), text(&tool("java")), text(&classes));
    let all: Vec<String> = names
        .iter()
        .map(|name| format!("{folder}.{name}"))
        .collect();
    let mut arguments = vec!["reproduce", &saved, "--format", "json", "--budget", budget];
    arguments.extend([
        "--replays",
        "0",
        "--arrays",
        "--exclude",
        "schedule.**",
        "--",
        &java,
    ]);
    arguments.extend(["-cp", &classes, "schedule.All"]);
    arguments.extend(all.iter().map(String::as_str));
    document(&untorn(&arguments))
}

/// The program of a finding.
fn program(region: &Region) -> &str {
    let class = region.class.as_deref().unwrap_or_default();
    let name = class.rsplit('.').next().unwrap_or_default();
    name.split('$').next().unwrap_or_default()
}

#[test]
fn nine_of_ten_torn_programs_that_are_suspected_are_reproduced() {
    let document = reproduce("torn", "60s");
    let of = |verdict: fn(Verdict) -> bool| {
        let mut names: Vec<&str> = (document.findings.iter())
            .filter(|finding| finding.reproduction.is_some() && verdict(finding.verdict))
            .map(|finding| program(&finding.region))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    let (tried, shown) = (of(|_| true), of(|verdict| verdict == Verdict::Reproduced));
    let (tried, hidden): (Vec<&str>, Vec<&str>) =
        (tried.into_iter()).partition(|name| !UNOBSERVABLE.contains(name) || shown.contains(name));
    let missed: Vec<&&str> = tried.iter().filter(|name| !shown.contains(name)).collect();
    println!("the exact checker cannot observe {hidden:?}, whatever the schedule");
    println!(
        "{} of {} reproduced; not: {missed:?}",
        shown.len(),
        tried.len()
    );
    for finding in &document.findings {
        if let Some(why) = finding
            .reproduction
            .as_ref()
            .and_then(|it| it.resisted.as_ref())
        {
            println!("{}: {why}", finding.region.short_name());
        }
    }
    assert!(tried.len() >= SLICE.len(), "{tried:?}");
    assert!(shown.len() * 10 >= tried.len() * 9, "{missed:?}");
    // Only what the exact checker observed is called so.
    for finding in document
        .findings
        .iter()
        .filter(|it| it.verdict == Verdict::Reproduced)
    {
        let observed = |it: &untorn_findings::Interleaving| it.is_observation();
        assert!(
            finding.evidence.interleavings.iter().any(observed),
            "{finding:?}"
        );
        assert!(
            finding
                .reproduction
                .as_ref()
                .is_some_and(|it| it.plan.is_some())
        );
    }
}

/// What the exact checker sees torn, and the rank cannot know to be right: every thread writes the same.
const ALIKE: [&str; 1] = ["IdempotentHash"];

#[test]
fn of_what_is_whole_or_repaired_nothing_above_low_is_reproduced() {
    for folder in ["whole", "repaired"] {
        let document = reproduce(folder, "30s");
        let wrong: Vec<String> = (document.findings.iter())
            .filter(|finding| finding.verdict == Verdict::Reproduced)
            .filter(|finding| finding.level() > Level::Low)
            .filter(|finding| !ALIKE.contains(&program(&finding.region)))
            .map(|finding| format!("{:?} {:?}", finding.region, finding.rank))
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

/// A plan that pauses wherever it can in a method of a class.
fn everywhere(class: &str, method: &str) -> Plan {
    Plan {
        region: PlannedRegion {
            class: class.to_owned(),
            method: method.to_owned(),
            ..PlannedRegion::default()
        },
        pause: (1..=3).map(PausePoint::AfterAccess).collect(),
        classes: vec![class.to_owned()],
        patience_ms: Some(30),
        every_execution: false,
        ..Plan::default()
    }
}

fn kernel(name: &str) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let source = format!("{TESTS}/reproducing/java/{name}.java").into();
    compile(&[source], place.path());
    place
}

#[test]
fn locks_of_every_kind_hang_in_no_steered_run() {
    let classes = kernel("Kernels");
    let methods = ["nest", "explicit", "share", "permit", "put", "take"];
    let plans = methods.map(|method| everywhere("Kernels", method));
    let file = classes.path().join("plan.json");
    std::fs::write(&file, PlanFile::new(plans.to_vec()).to_json().unwrap()).unwrap();
    let runs = std::env::var("UNTORN_STEERED_RUNS").map_or(3, |runs| runs.parse().unwrap());
    let (file, java) = (file.to_str().unwrap(), tool("java"));
    for run in 0..runs {
        let tracking = ["optimistic", "pessimistic"][run % 2];
        let findings = classes.path().join("f.json");
        let output = Command::new("timeout")
            .arg("120")
            .arg(env!("CARGO_BIN_EXE_untorn"))
            .env(
                "UNTORN_AGENT",
                std::env::current_exe()
                    .unwrap()
                    .with_file_name("libuntorn_agent.so"),
            )
            .args([
                "run",
                "--plan",
                file,
                "--tracking",
                tracking,
                "--exit-zero",
                "-o",
            ])
            .arg(&findings)
            .arg("--")
            .arg(&java)
            .arg("-cp")
            .arg(classes.path())
            .arg("Kernels")
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert_eq!(printed.trim(), "1200 1200 400 1200 89700", "{output:?}");
        let text = std::fs::read_to_string(&findings).unwrap();
        let document = Document::from_json(&text).unwrap();
        let mut torn = document.findings.iter().filter(|it| it.verdict.is_seen());
        let kernel = |region: &Region| methods.contains(&region.method.as_str());
        assert!(
            !torn.any(|it| kernel(&it.region)),
            "every kernel holds its lock"
        );
        let reached = document.stats.keys().filter(|it| it.ends_with(" reached"));
        assert!(
            reached.count() > 0,
            "somebody was held up: {:?}",
            document.stats.keys()
        );
    }
}

#[test]
fn a_deadlock_of_the_program_is_told_as_its_own() {
    let classes = kernel("Deadlock");
    let file = classes.path().join("plan.json");
    let plan = everywhere("Deadlock", "move");
    std::fs::write(&file, PlanFile::new(vec![plan]).to_json().unwrap()).unwrap();
    let java = tool("java");
    let output = untorn(&[
        "reproduce",
        "--plan",
        file.to_str().unwrap(),
        "--budget",
        "4s",
        "--",
        java.to_str().unwrap(),
        "-cp",
        classes.path().to_str().unwrap(),
        "Deadlock",
    ]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("the program deadlocked by itself"),
        "{output:?}"
    );
}
