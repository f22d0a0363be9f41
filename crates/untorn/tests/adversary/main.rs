//! Soundness against clients: of generated library classes, nothing that types prove is ever seen torn.
//!
//! A batch of classes is typed as a library, and run with a client under the exact checkers, which is not among the analyzed classes.
//! `UNTORN_ADVERSARIES=5000` makes it long, `UNTORN_ADVERSARY_SEED` gives other classes, and `UNTORN_ADVERSARY_KEEP=FOLDER` keeps the sources.

#![allow(clippy::unwrap_used)]

mod grammar;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use grammar::{IMPORTS, Subject, WORK, main_class};
// Linked in so that cargo builds the agent library first.
use untorn_agent as _;
use untorn_jdk::tool;

/// How many classes one JVM runs.
const BATCH: usize = 50;
const ROUNDS: u32 = 60;

fn number(variable: &str, otherwise: u64) -> u64 {
    let value = std::env::var(variable).ok();
    value.map_or(otherwise, |value| value.parse().unwrap())
}

fn compile(folder: &Path, file: &str, source: &str, uses: &Path) -> PathBuf {
    let path = folder.join(file);
    std::fs::write(&path, format!("{IMPORTS}{source}")).unwrap();
    let classes = folder.join(file.trim_end_matches(".java"));
    let javac = Command::new(tool("javac"))
        .args(["-nowarn", "-g", "-cp"])
        .arg(uses)
        .arg("-d")
        .arg(&classes)
        .arg(&path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&javac.stderr);
    assert!(javac.status.success(), "{said}");
    classes
}

fn untorn(folder: &Path, arguments: &[&str], program: &[&str]) -> serde_json::Value {
    let report = folder.join("findings.json");
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

/// A region as `Class.method(descriptor)`, with the number of its block if it is one.
fn name(region: &serde_json::Value) -> String {
    let part = |key: &str| region[key].as_str().unwrap_or_default().to_owned();
    let block = region["block"].as_u64();
    let block = block.map_or_else(String::new, |block| format!(" block {block}"));
    format!(
        "{}.{}{}{block}",
        part("class"),
        part("method"),
        part("descriptor")
    )
}

/// What a batch says: how much is proved, what is seen torn, and what is both.
#[derive(Debug, Default)]
struct Tally {
    classes: usize,
    proved: usize,
    torn: usize,
    refuted: BTreeMap<String, String>,
}

impl Tally {
    fn add(&mut self, seed: u64, from: usize, count: usize) {
        let subjects: Vec<Subject> = (from..from + count)
            .map(|number| Subject::new(seed, number))
            .collect();
        self.hold(&subjects, from, &BTreeSet::new());
    }

    /// Holds what is proved of classes, and what somebody claims to be proved, against runs.
    fn hold(&mut self, subjects: &[Subject], from: usize, claimed: &BTreeSet<String>) {
        let folder = tempfile::tempdir().unwrap();
        let sources: String = subjects.iter().map(|s| s.source.as_str()).collect();
        // One file: only its first class is public.
        let library = format!("{WORK}{}", sources.replace("public class G", "class G"));
        let clients: String = subjects.iter().map(Subject::client).collect();
        let client = format!("{clients}{}", main_class(subjects));
        let library = compile(folder.path(), "Library.java", &library, folder.path());
        let client = compile(folder.path(), "Adversary.java", &client, &library);
        let checked = untorn(
            folder.path(),
            &["check", library.to_str().unwrap(), "--with", "types"],
            &[],
        );
        // Large programs are looked at this way, and what is proved then holds as well.
        let coarse = untorn(
            folder.path(),
            &[
                "check",
                library.to_str().unwrap(),
                "--with",
                "types",
                "--by-class",
            ],
            &[],
        );
        let proved_by = |document: &serde_json::Value| -> BTreeSet<String> {
            ["proved", "proved_if_sequential"]
                .iter()
                .flat_map(|list| document[list].as_array().cloned().unwrap_or_default())
                .map(|region| name(&region))
                .collect()
        };
        let mut proved = proved_by(&checked);
        proved.extend(proved_by(&coarse));
        proved.extend(claimed.iter().cloned());
        let class_path = std::env::join_paths([library, client]).unwrap();
        let rounds = ROUNDS.to_string();
        let program = [
            "-cp",
            class_path.to_str().unwrap(),
            "Adversary",
            "1",
            &rounds,
        ];
        let ran = untorn(
            folder.path(),
            &["run", "--with", "velodrome,aerodrome", "--arrays"],
            &program,
        );
        let findings = ran["findings"].as_array().unwrap();
        let seen = findings.iter().filter(|f| f["verdict"] == "observed");
        for finding in seen {
            let region = name(&finding["region"]);
            self.torn += 1;
            if proved.contains(&region) {
                self.refuted.insert(region, finding["message"].to_string());
            }
        }
        self.classes += subjects.len();
        self.proved += proved.len();
        if let Some(keep) = std::env::var_os("UNTORN_ADVERSARY_KEEP") {
            let keep = Path::new(&keep);
            for file in ["Library.java", "Adversary.java"] {
                let _ = std::fs::copy(
                    folder.path().join(file),
                    keep.join(format!("{from}-{file}")),
                );
            }
        }
    }
}

#[test]
fn no_client_tears_what_is_proved() {
    let (all, seed) = (
        number("UNTORN_ADVERSARIES", 200) as usize,
        number("UNTORN_ADVERSARY_SEED", 1),
    );
    let mut tally = Tally::default();
    for from in (0..all).step_by(BATCH) {
        tally.add(seed, from, BATCH.min(all - from));
        assert!(tally.refuted.is_empty(), "proved, but torn: {tally:#?}");
    }
    println!("{tally:?}");
    // The grammar makes both kinds, or nothing was tested.
    assert!(tally.proved * 2 >= all, "{tally:?}");
    assert!(tally.torn * 4 >= all, "{tally:?}");
}

#[test]
fn a_wrong_proof_is_refuted() {
    let claimed = BTreeSet::from(["G0.bad(I)V".to_owned()]);
    let mut tally = Tally::default();
    // One class is torn when its threads happen to overlap, so it has some tries.
    for from in 0..20 {
        tally.hold(&[Subject::hole()], from, &claimed);
        if !tally.refuted.is_empty() {
            break;
        }
    }
    let refuted: BTreeSet<String> = tally.refuted.keys().cloned().collect();
    assert_eq!(refuted, claimed, "{tally:?}");
}
