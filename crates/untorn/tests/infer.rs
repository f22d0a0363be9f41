//! `untorn infer`: what it writes compiles, checks clean and gives the same proofs.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use untorn_jdk::tool;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn untorn(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_untorn"))
        .args(arguments)
        .output()
        .unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "java") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn compile(from: &Path, classpath: Option<&Path>, to: &Path) {
    let mut javac = Command::new(tool("javac"));
    javac.args(["-g", "-nowarn", "-d"]).arg(to);
    if let Some(classpath) = classpath {
        javac.arg("-cp").arg(classpath);
    }
    let done = javac.args(sources(from)).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
}

/// Proved regions, findings by region, and the counts of a check by types.
fn checked(arguments: &[&str]) -> (Vec<String>, Vec<String>, serde_json::Value) {
    let mut all = vec![
        "check",
        "--with",
        "types",
        "--format",
        "json",
        "--exit-zero",
    ];
    all.extend(arguments);
    let output = untorn(&all);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let name = |region: &serde_json::Value| {
        let part = |name: &str| region[name].as_str().unwrap_or("").to_owned();
        let block = region["block"].as_u64().unwrap_or(0);
        format!(
            "{}.{}{}{}@{block}",
            part("class"),
            part("method"),
            part("descriptor"),
            part("field")
        )
    };
    let regions = |value: &serde_json::Value| -> Vec<String> {
        value.as_array().into_iter().flatten().map(name).collect()
    };
    let mut proved = regions(&document["proved"]);
    proved.extend(regions(&document["proved_if_sequential"]));
    // Too small to be asked for, unless its type is declared.
    proved.retain(|name| !name.starts_with("bank.Work.some"));
    proved.sort();
    let findings = document["findings"].as_array().unwrap();
    let mut found: Vec<String> = findings.iter().map(|f| name(&f["region"])).collect();
    found.sort();
    (proved, found, document["stats"]["types"].clone())
}

struct Project {
    folder: TempDir,
    source: PathBuf,
}

impl Project {
    fn bank() -> Project {
        let folder = TempDir::new().unwrap();
        let source = Path::new(ROOT).join("examples/bank/src");
        compile(&source, None, &folder.path().join("classes"));
        Project { folder, source }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

#[test]
fn an_annotated_copy_compiles_and_gives_the_same_proofs() {
    let project = Project::bank();
    let (classes, out) = (project.path("classes"), project.path("annotated"));
    let originals: Vec<_> = (sources(&project.source).iter())
        .map(|path| std::fs::read(path).unwrap())
        .collect();
    let done = untorn(&[
        "infer",
        text(&classes),
        "--source",
        text(&project.source),
        "--annotate",
        text(&out),
        "--stats",
    ]);
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert!(said.contains("annotations in"), "{said}");
    for (path, before) in sources(&project.source).iter().zip(originals) {
        assert_eq!(std::fs::read(path).unwrap(), before, "the sources stay");
    }
    let account = std::fs::read_to_string(out.join("bank/Account.java")).unwrap();
    assert!(account.contains("/*# guarded_by this */"), "{account}");
    assert!(
        account.contains("/*# this ? mover : atomic */"),
        "{account}"
    );

    let again = project.path("again");
    compile(&out, None, &again);
    let (proved, suspected, _) = checked(&[text(&classes)]);
    let (proved_again, found, stats) = checked(&[text(&again), "--source", text(&out)]);
    assert!(!proved.is_empty());
    assert_eq!(proved_again, proved);
    // No declaration is broken, and what can be torn is reported again.
    assert!(!suspected.is_empty());
    assert_eq!(found, suspected);
    let written: String = (sources(&out).iter())
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    let said = "// not atomic: Between where it reads";
    assert!(written.contains(said), "{written}");
    assert!(stats["declared"].as_u64().unwrap() > 5, "{stats}");
    let guards = stats["annotations (guard)"].as_str().unwrap();
    assert!(guards.ends_with("per 1000 lines)"), "{guards}");
    assert!(stats["solving guards"].is_string() && stats["constraints"].is_u64());
}

#[test]
fn annotations_of_the_jar_say_the_same() {
    let project = Project::bank();
    let (classes, out) = (project.path("classes"), project.path("annotated"));
    let done = untorn(&[
        "infer",
        text(&classes),
        "--source",
        text(&project.source),
        "--annotate",
        text(&out),
        "--style",
        "annotations",
    ]);
    assert_eq!(done.status.code(), Some(0));
    let jar = project.path("jar");
    compile(&Path::new(ROOT).join("annotations"), None, &jar);
    let again = project.path("again");
    compile(&out, Some(&jar), &again);
    let account = std::fs::read_to_string(out.join("bank/Account.java")).unwrap();
    assert!(
        account.contains("@untorn.annotations.GuardedBy(\"this\")"),
        "{account}"
    );
    // Class files carry the annotations, so no sources are needed.
    let (proved, ..) = checked(&[text(&classes)]);
    let (proved_again, _, stats) = checked(&[text(&again)]);
    assert_eq!(proved_again, proved);
    assert!(stats["declared"].as_u64().unwrap() > 5, "{stats}");
}

#[test]
fn a_specification_of_what_was_inferred_gives_the_same_proofs() {
    let project = Project::bank();
    let (classes, spec) = (project.path("classes"), project.path("inferred.toml"));
    let done = untorn(&["infer", text(&classes), "--spec", text(&spec)]);
    assert_eq!(done.status.code(), Some(0));
    let written = std::fs::read_to_string(&spec).unwrap();
    assert!(written.contains("by = \"this\""), "{written}");
    let (proved, ..) = checked(&[text(&classes)]);
    let (proved_again, ..) = checked(&[text(&classes), "--spec", text(&spec)]);
    assert_eq!(proved_again, proved);
    // Without any output the result is listed.
    let listed = untorn(&["infer", text(&classes)]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains("bank.Account."), "{listed}");
}

#[test]
fn nothing_is_overwritten_and_bad_requests_are_refused() {
    let project = Project::bank();
    let classes = project.path("classes");
    let refused = |arguments: &[&str]| {
        let mut all = vec!["infer", text(&classes)];
        all.extend(arguments);
        let output = untorn(&all);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let source = text(&project.source).to_owned();
    let said = refused(&["--source", &source, "--annotate", text(&classes)]);
    assert!(said.contains("is not empty"), "{said}");
    let inside = project.source.join("annotated");
    let said = refused(&["--source", &source, "--annotate", text(&inside)]);
    assert!(said.contains("lies in the sources"), "{said}");
    let taken = project.path("taken.toml");
    std::fs::write(&taken, "mine").unwrap();
    let said = refused(&["--spec", text(&taken)]);
    assert!(said.contains("the file exists"), "{said}");
    assert_eq!(std::fs::read_to_string(&taken).unwrap(), "mine");
    let said = refused(&["--annotate", text(&project.path("new"))]);
    assert!(said.contains("--source"), "{said}");
    let said = refused(&["--source", text(&project.path("nowhere"))]);
    assert!(said.contains("nowhere"), "{said}");
}
