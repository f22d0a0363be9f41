//! Soundness in practice: what types prove is never seen torn.
//!
//! Small programs, right and wrong, are typed as a library and as an application, and run again and again under the exact checkers, with other schedules each time.
//! Methods whose names end in `Ok` are to be proved, those in `Bad` never.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

// Linked in so that cargo builds the agent library first.
use untorn_agent as _;
use untorn_jdk::tool;

const ROUNDS: u32 = 500;

/// The subjects of `Rules.java`.
const RULES: [&str; 13] = [
    "Counted",
    "Recounted",
    "Filled",
    "Lent",
    "Either",
    "Letters",
    "Renewed",
    "Picked",
    "Measured",
    "Kept",
    "Summed",
    "Loose",
    "Nested",
];

/// A method as `Class.method(descriptor)`.
type Method = String;

/// Compiles sources of `tests/soundness`, which may use classes that are compiled already.
fn compile(sources: &[&str], uses: Option<&Path>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/soundness");
    let javac = Command::new(tool("javac"))
        .args(["-g", "-cp"])
        .arg(uses.unwrap_or(folder.path()))
        .arg("-d")
        .arg(folder.path())
        .args(sources.iter().map(|source| tests.join(source)))
        .output()
        .unwrap();
    assert!(javac.status.success(), "{javac:?}");
    folder
}

fn untorn(arguments: &[&str], program: &[&str]) -> serde_json::Value {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("findings.json");
    let beside_this_test = std::env::current_exe().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_untorn"));
    command
        .args(arguments)
        .args(["--exit-zero", "--format", "json", "-o"])
        .arg(&report)
        .env(
            "UNTORN_AGENT",
            beside_this_test.with_file_name("libuntorn_agent.so"),
        );
    if !program.is_empty() {
        command.arg("--").arg(tool("java")).args(program);
    }
    let run = command.output().unwrap();
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap()
}

fn name(region: &serde_json::Value) -> Method {
    let part = |key: &str| region[key].as_str().unwrap_or_default().to_owned();
    format!("{}.{}{}", part("class"), part("method"), part("descriptor"))
}

fn is_block(region: &serde_json::Value) -> bool {
    !region["block"].is_null()
}

/// Everything that is proved, proofs that need sequential consistency included.
fn proved(classes: &str, main: &[&str]) -> BTreeSet<Method> {
    let mut arguments = vec!["check", classes, "--with", "types"];
    arguments.extend(main);
    let document = untorn(&arguments, &[]);
    ["proved", "proved_if_sequential"]
        .iter()
        .flat_map(|list| document[list].as_array().cloned().unwrap_or_default())
        .filter(|region| !is_block(region))
        .map(|region| name(&region))
        .collect()
}

/// What is seen torn, with the finding that says so.
///
/// By turns every method is a region, and the innermost is blamed, and only those that others can call are.
fn observed(class_path: &str, main: &str, seed: u32) -> BTreeMap<Method, String> {
    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("spec.toml");
    let rule = ["export+synch", "auto"][seed as usize % 2];
    std::fs::write(&spec, format!("heuristic = \"{rule}\"\n")).unwrap();
    let (seed, rounds) = (seed.to_string(), ROUNDS.to_string());
    let mut options = vec!["run", "--with", "velodrome,aerodrome", "--arrays"];
    options.extend(["--spec", spec.to_str().unwrap()]);
    let document = untorn(&options, &["-cp", class_path, main, &seed, &rounds]);
    let findings = document["findings"].as_array().unwrap();
    findings
        .iter()
        .filter(|finding| finding["verdict"] == "observed")
        .map(|finding| (name(&finding["region"]), finding.to_string()))
        .collect()
}

fn ends(method: &str, word: &str) -> bool {
    method.split('(').next().unwrap().ends_with(word)
}

fn count(methods: &BTreeSet<Method>, word: &str) -> usize {
    methods.iter().filter(|method| ends(method, word)).count()
}

/// Nothing wrong is proved, and enough of what is right.
fn expect_proved(mode: &str, proved: &BTreeSet<Method>, right: usize) {
    let wrong: Vec<_> = proved.iter().filter(|m| ends(m, "Bad")).collect();
    assert!(wrong.is_empty(), "{mode}: wrongly proved: {wrong:?}");
    let found = count(proved, "Ok");
    assert!(found >= right, "{mode}: only {found} proved: {proved:?}");
}

/// Runs a program with many schedules, and more of them until enough of what is wrong was seen torn: nothing proved ever is.
fn expect_untorn(
    class_path: &str,
    main: &str,
    proofs: &[&BTreeSet<Method>],
    runs: u32,
    wrong: usize,
) {
    let mut torn = BTreeSet::new();
    for seed in 0..runs * 5 {
        if seed >= runs && count(&torn, "Bad") >= wrong {
            break;
        }
        let seen = observed(class_path, main, seed);
        for proved in proofs {
            let refuted: Vec<_> = seen.iter().filter(|(m, _)| proved.contains(*m)).collect();
            assert!(
                refuted.is_empty(),
                "seed {seed}: proved, but torn: {refuted:?}"
            );
        }
        torn.extend(seen.into_keys());
    }
    let found = count(&torn, "Bad");
    assert!(found >= wrong, "only {found} methods seen torn: {torn:?}");
    let good: Vec<_> = torn.iter().filter(|m| ends(m, "Ok")).collect();
    assert!(good.is_empty(), "seen torn: {good:?}");
}

#[test]
fn what_is_proved_is_never_seen_torn() {
    let folder = compile(&["Programs.java"], None);
    let classes = folder.path().to_str().unwrap();
    let library = proved(classes, &[]);
    let application = proved(classes, &["--main", "Programs"]);
    let coarse = proved(classes, &["--by-class"]);
    let coarse_application = proved(classes, &["--by-class", "--main", "Programs"]);
    expect_proved("library", &library, 32);
    expect_proved("application", &application, 34);
    expect_proved("library by class", &coarse, 20);
    expect_proved("application by class", &coarse_application, 15);
    let all = [&library, &application, &coarse, &coarse_application];
    expect_untorn(classes, "Programs", &all, 14, 15);
}

/// Every rule that makes types more precise has a right and a wrong use of it here.
#[test]
fn rules_that_prove_more_prove_nothing_torn() {
    let folder = compile(&["Programs.java", "Rules.java"], None);
    let classes = folder.path().to_str().unwrap();
    let only = |mut proved: BTreeSet<Method>| {
        proved.retain(|method| RULES.contains(&method.split('.').next().unwrap()));
        proved
    };
    let library = only(proved(classes, &[]));
    let application = only(proved(classes, &["--main", "Rules"]));
    let coarse = only(proved(classes, &["--by-class"]));
    expect_proved("library", &library, 12);
    expect_proved("application", &application, 14);
    expect_proved("library by class", &coarse, 6);
    expect_untorn(classes, "Rules", &[&library, &application, &coarse], 8, 10);
}

#[test]
fn what_is_proved_of_a_library_holds_for_its_clients() {
    let library = compile(&["Library.java"], None);
    let client = compile(&["Client.java"], Some(library.path()));
    let classes = library.path().to_str().unwrap();
    let proved = proved(classes, &[]);
    expect_proved("library", &proved, 4);
    let class_path = std::env::join_paths([library.path(), client.path()]).unwrap();
    let class_path = class_path.to_str().unwrap();
    expect_untorn(class_path, "Client", &[&proved], 6, 5);
}

/// Serialization, handles, reflection, shallow copies and clients access what no instruction shows.
#[test]
fn what_no_call_names_withholds_proofs() {
    let library = compile(&["Hidden.java"], None);
    let classes = library.path().to_str().unwrap();
    expect_proved("library", &proved(classes, &[]), 4);
    expect_proved("library by class", &proved(classes, &["--by-class"]), 4);
    let application = compile(&["HiddenCalls.java"], None);
    let classes = application.path().to_str().unwrap();
    let main = ["--main", "HiddenCalls"];
    expect_proved("application", &proved(classes, &main), 1);
}
