//! Small programs that are torn, whole and repaired: what is worth a repair is reported, and what is right is not.
//!
//! `programs/README.md` says what is in the folders.
//! What is known to be missed or reported wrongly stands here with its cause; anything else fails.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

// Linked in so that cargo builds the agent library first.
use untorn_agent as _;
use untorn_findings::{Document, Finding, Level, Region};
use untorn_jdk::tool;

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");

/// For checks: every method ought to be one step but those that make and start the threads.
const SPEC: &str = r#"
heuristic = "all-methods"
exclude = ["schedule.**", "**.main", "**.lambda$main$0", "**.lambda$main$1"]
"#;

/// The programs of a folder, by name.
fn programs(folder: &str) -> Vec<String> {
    let mut names: Vec<String> = (std::fs::read_dir(format!("{PROGRAMS}/{folder}")).unwrap())
        .map(|entry| entry.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

fn compile(folder: &str, pause: &str, into: &Path) {
    let sources = |folder: &str| {
        let all = std::fs::read_dir(format!("{PROGRAMS}/{folder}")).unwrap();
        all.map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "java"))
            .collect::<Vec<PathBuf>>()
    };
    let javac = Command::new(tool("javac"))
        .arg("-d")
        .arg(into)
        .args(sources(pause))
        .args(sources(folder))
        .output()
        .unwrap();
    assert!(javac.status.success(), "{javac:?}");
}

fn untorn(arguments: &[&str], command: &[String]) -> Document {
    let mut untorn = Command::new(env!("CARGO_BIN_EXE_untorn"));
    let beside_this_test = std::env::current_exe().unwrap();
    let output = untorn
        .env(
            "UNTORN_AGENT",
            beside_this_test.with_file_name("libuntorn_agent.so"),
        )
        .args(arguments)
        .args(command)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    Document::from_json(&text)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Runs every program of a folder in one JVM, with the defaults; what forces the schedule is no part of the programs.
fn watch(folder: &str) -> Document {
    let place = tempfile::tempdir().unwrap();
    compile(folder, "schedule", place.path());
    let mut command = vec![
        "--".to_owned(),
        tool("java").to_str().unwrap().to_owned(),
        "-cp".to_owned(),
        place.path().to_str().unwrap().to_owned(),
        "schedule.All".to_owned(),
    ];
    command.extend(
        programs(folder)
            .iter()
            .map(|name| format!("{folder}.{name}")),
    );
    untorn(
        &["run", "--format", "json", "--exclude", "schedule.**"],
        &command,
    )
}

/// The class files of a folder, with nothing that forces a schedule.
fn classes(folder: &str) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    compile(
        folder,
        "unscheduled/schedule",
        &place.path().join("classes"),
    );
    place
}

/// Checks every program of a folder without a run: as a library of which every method ought to be one step.
fn check_all_methods(folder: &str) -> Document {
    let place = classes(folder);
    let spec = place.path().join("spec.toml");
    std::fs::write(&spec, SPEC).unwrap();
    let spec = spec.to_str().unwrap();
    checked(&place, &["--spec", spec])
}

fn checked(place: &tempfile::TempDir, arguments: &[&str]) -> Document {
    let classes = place.path().join("classes");
    let mut all = vec![
        "check",
        classes.to_str().unwrap(),
        "--no-cache",
        "--format",
        "json",
    ];
    all.extend(arguments);
    untorn(&all, &[])
}

/// Checks every program of a folder by itself, from its main method, with the defaults.
fn check_applications(folder: &str) -> Document {
    let place = classes(folder);
    let mut all = Document::new(Vec::new());
    for program in programs(folder) {
        let main = format!("{folder}.{program}");
        all.findings
            .extend(checked(&place, &["--main", &main]).findings);
    }
    all
}

/// The findings that are worth a look, by program.
fn worth<'a>(document: &'a Document, folder: &str) -> BTreeMap<String, Vec<&'a Finding>> {
    let mut by_program: BTreeMap<String, Vec<&Finding>> = BTreeMap::new();
    let worth = |finding: &&Finding| finding.level() > Level::Low;
    for finding in document.findings.iter().filter(worth) {
        let class = finding.region.class.as_deref().unwrap_or_default();
        let inside = class
            .strip_prefix(folder)
            .and_then(|rest| rest.strip_prefix('.'));
        let program = inside
            .unwrap_or(class)
            .split('$')
            .next()
            .unwrap_or_default();
        by_program
            .entry(program.to_owned())
            .or_default()
            .push(finding);
    }
    by_program
}

/// The region that the first comment of a program names, as `Class.method`.
fn expected(program: &str) -> String {
    let text = std::fs::read_to_string(format!("{PROGRAMS}/torn/{program}.java")).unwrap();
    let (_, rest) = text.split_once("/** Torn: ").unwrap();
    rest.split_once(": ").unwrap().0.to_owned()
}

/// Whether it is the region that is wanted, or a synchronized block of it: the innermost one that holds the tear is blamed.
fn names(region: &Region, wanted: &str) -> bool {
    let method = Region {
        block: None,
        ..region.clone()
    };
    let name = method.short_name();
    name == wanted || name.rsplit('$').next() == Some(wanted)
}

/// The programs that are not as they should be, for no cause that is known.
#[derive(Default)]
struct Unknown(Vec<String>);

impl Unknown {
    fn add(&mut self, what: &str, programs: Vec<&String>) {
        let all = programs.into_iter();
        self.0
            .extend(all.map(|program| format!("{program} {what}")));
    }

    /// All is counted before anything fails.
    fn is_none(&self) {
        assert!(self.0.is_empty(), "without a known cause: {:?}", self.0);
    }
}

/// Every torn program is reported but those that are known to be missed.
fn reports_torn(document: &Document, missed: &BTreeMap<&str, &str>, failed: &mut Unknown) {
    let all = programs("torn");
    assert!(all.len() >= 60);
    let found = worth(document, "torn");
    let is_found = |program: &String| {
        let wanted = expected(program);
        (found.get(program).into_iter().flatten()).any(|finding| {
            std::iter::once(&finding.region)
                .chain(&finding.group)
                .chain(&finding.affected)
                .any(|region| names(region, &wanted))
        })
    };
    let (hits, misses): (Vec<String>, Vec<String>) = all.into_iter().partition(is_found);
    println!(
        "torn: {} reported, {} missed: {misses:?}",
        hits.len(),
        misses.len()
    );
    let unknown: Vec<&String> = (misses.iter())
        .filter(|program| !missed.contains_key(program.as_str()))
        .collect();
    failed.add("is missed", unknown);
}

/// Nothing is ranked above low but what is known to be wrong.
fn is_silent(
    document: &Document,
    folder: &str,
    wrong: &BTreeMap<&str, &str>,
    failed: &mut Unknown,
) {
    assert!(programs(folder).len() >= 60);
    let reported = worth(document, folder);
    let said: BTreeSet<String> = (reported.iter())
        .flat_map(|(program, findings)| {
            let one = |finding: &&Finding| {
                format!(
                    "{program}: {} {:?} {:?}",
                    finding.region.short_name(),
                    finding.kind,
                    finding.rank.as_ref().map(|rank| &rank.reasons)
                )
            };
            findings.iter().map(one).collect::<Vec<_>>()
        })
        .collect();
    println!("{folder}: {} programs reported: {said:#?}", reported.len());
    let unknown: Vec<&String> = (reported.keys())
        .filter(|program| !wrong.contains_key(program.as_str()))
        .collect();
    failed.add(&format!("is reported of what is {folder}"), unknown);
}

/// Why programs are known to be missed, or reported without need.
type Known = [(&'static str, &'static [&'static str])];

fn known(causes: &'static Known) -> BTreeMap<&'static str, &'static str> {
    let all = causes.iter();
    all.flat_map(|(cause, programs)| programs.iter().map(move |program| (*program, *cause)))
        .collect()
}

const MISSED_BY_RUN: &Known = &[
    (
        "array elements are watched only with --arrays",
        &["ArrayCell"],
    ),
    (
        "a method of the library that is passed on as such is called by nothing that is watched",
        &["SweepExpired"],
    ),
];

const WRONG_IN_RUN: &Known = &[];

const MISSED_BY_CHECK: &Known = &[
    (
        "types do not know the effect or the order of the calls",
        &["Handle", "KeySetAdd", "SemaphoreTwice", "SumAndCount"],
    ),
    (
        "a method that prints is taken for one that may be torn",
        &["IterateWhileAdding"],
    ),
    (
        "the locks are of a kind that types do not follow",
        &["StampedConvert", "UnvalidatedOptimisticRead"],
    ),
];

const MISSED_BY_CHECK_OF_APPLICATIONS: &Known = &[(
    "the object that it is called on has no fields: what threads share is what it is given",
    &["BackReference"],
)];

/// In every check, whatever its rule.
const WRONG_IN_CHECK: &Known = &[(
    "what another method looked up is not known to be asked again under the lock",
    &["AskedAgainThroughHelper"],
)];

const WRONG_IN_CHECK_OF_ALL_METHODS: &Known = &[(
    "nothing says that no client shares the object, and every method was asked for",
    &["Confinement", "HandOverJoin", "SynchronizedDelegate"],
)];

const WRONG_IN_CHECK_OF_APPLICATIONS: &Known = &[(
    "a thread that is joined before the next one starts is taken for one beside it",
    &["HandOverJoin"],
)];

#[test]
fn a_run_reports_what_is_torn_and_nothing_above_low_of_what_is_whole_or_repaired() {
    let wrong = known(WRONG_IN_RUN);
    let mut failed = Unknown::default();
    reports_torn(&watch("torn"), &known(MISSED_BY_RUN), &mut failed);
    is_silent(&watch("whole"), "whole", &wrong, &mut failed);
    is_silent(&watch("repaired"), "repaired", &wrong, &mut failed);
    failed.is_none();
}

#[test]
fn a_check_of_all_methods_reports_what_is_torn_and_little_else() {
    let mut wrong = known(WRONG_IN_CHECK);
    wrong.extend(known(WRONG_IN_CHECK_OF_ALL_METHODS));
    let mut failed = Unknown::default();
    let missed = known(MISSED_BY_CHECK);
    reports_torn(&check_all_methods("torn"), &missed, &mut failed);
    is_silent(&check_all_methods("whole"), "whole", &wrong, &mut failed);
    is_silent(
        &check_all_methods("repaired"),
        "repaired",
        &wrong,
        &mut failed,
    );
    failed.is_none();
}

#[test]
fn a_check_of_applications_reports_what_is_torn_and_little_else() {
    let mut wrong = known(WRONG_IN_CHECK);
    wrong.extend(known(WRONG_IN_CHECK_OF_APPLICATIONS));
    let mut missed = known(MISSED_BY_CHECK);
    missed.extend(known(MISSED_BY_CHECK_OF_APPLICATIONS));
    let mut failed = Unknown::default();
    reports_torn(&check_applications("torn"), &missed, &mut failed);
    is_silent(&check_applications("whole"), "whole", &wrong, &mut failed);
    is_silent(
        &check_applications("repaired"),
        "repaired",
        &wrong,
        &mut failed,
    );
    failed.is_none();
}

/// Without a main method only classes that show signs of threads are looked at, so less is reported.
#[test]
fn a_check_of_a_library_reports_nothing_above_low_of_what_is_whole_or_repaired() {
    let wrong = known(WRONG_IN_CHECK);
    let torn = checked(&classes("torn"), &[]);
    let found = worth(&torn, "torn").len();
    println!("torn: {found} reported");
    assert!(found >= 55, "{found} programs reported");
    let mut failed = Unknown::default();
    for folder in ["whole", "repaired"] {
        is_silent(&checked(&classes(folder), &[]), folder, &wrong, &mut failed);
    }
    failed.is_none();
}

/// Mending the method that breaks a guard is enough for all methods that relied on it.
#[test]
fn repairing_the_cause_turns_the_affected_methods_green() {
    let checked = |folder: &str| {
        let place = tempfile::tempdir().unwrap();
        compile(
            &format!("causes/{folder}"),
            "unscheduled/schedule",
            place.path(),
        );
        let classes = place.path().to_str().unwrap();
        let document = untorn(&["check", classes, "--no-cache", "--format", "json"], &[]);
        let proved: BTreeSet<String> = document.proved.iter().map(Region::short_name).collect();
        (document, proved)
    };
    let (before, proved_before) = checked("before");
    let (after, proved_after) = checked("after");
    for (cause, affected) in [
        ("Buffer.peek", vec!["Buffer.add", "Buffer.clear"]),
        ("Account.fix", vec!["Account.deposit", "Account.withdraw"]),
        ("Registry.release", vec!["Registry.next"]),
    ] {
        let finding = (before.findings.iter())
            .find(|finding| finding.region.short_name() == cause)
            .unwrap_or_else(|| panic!("{cause} is not named as the cause"));
        let named: Vec<String> = finding.affected.iter().map(Region::short_name).collect();
        assert_eq!(named, affected, "because of {cause}");
        for method in &affected {
            assert!(
                !proved_before.contains(*method),
                "{method} was green before"
            );
            assert!(
                proved_after.contains(*method),
                "{method} stays red without {cause}"
            );
        }
    }
    assert_eq!(before.findings.len(), 3, "one finding for each cause");
    assert!(after.findings.is_empty(), "{:?}", after.findings);
}
