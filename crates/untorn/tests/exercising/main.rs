//! `untorn exercise` on a small library of our own, on classes of the JDK, and on a jar with a documented bug.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use untorn_findings::{Document, Finding, Level, Verdict};

const JAVA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/exercising/java");

fn jdk() -> PathBuf {
    PathBuf::from(
        std::env::var_os("JAVA_HOME").expect("JAVA_HOME names a JDK; see CONTRIBUTING.md"),
    )
}

/// A pinned jar.
fn jar(name: &str) -> PathBuf {
    let corpus = std::env::var_os("UNTORN_CORPUS").expect("UNTORN_CORPUS; see CONTRIBUTING.md");
    let path = Path::new(&corpus).join(format!("{name}.jar"));
    assert!(path.exists(), "cargo xtask corpus fetch {name}");
    path
}

fn compile(sources: &[PathBuf], class_path: &[PathBuf], to: &Path) {
    let output = Command::new(jdk().join("bin/javac"))
        .args(["-g", "-nowarn", "-d"])
        .arg(to)
        .arg("-cp")
        .arg(std::env::join_paths(class_path).unwrap())
        .args(sources)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
}

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Exercises, and gives the findings with what was said.
fn exercise(folder: &Path, options: &[&str]) -> (Document, String) {
    let saved = folder.join("findings.json");
    let output = Command::new(env!("CARGO_BIN_EXE_untorn"))
        .args(["exercise", "--exit-zero", "--output"])
        .arg(&saved)
        .args(options)
        .current_dir(folder)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = std::fs::read_to_string(saved).unwrap();
    (Document::from_json(&text).unwrap(), said(&output))
}

fn about<'d>(document: &'d Document, method: &str) -> Vec<&'d Finding> {
    let all = document.findings.iter();
    all.filter(|it| it.region.method == method).collect()
}

fn is_visible(finding: &Finding) -> bool {
    let reasons = finding.rank.iter().flat_map(|rank| &rank.reasons);
    finding.level() == Level::High && reasons.clone().any(|it| it.starts_with("visibly torn"))
}

/// The tests below a folder, their sources.
fn tests_in(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tests_in(&path, found);
        } else if path.extension().is_some_and(|it| it == "java") {
            found.push(path);
        }
    }
    found.sort();
}

/// Runs tests with JUnit, threads held up as a plan says.
fn junit(plan: &Path, classes: &Path, class_path: &[PathBuf]) -> Output {
    let mut all = vec![classes.to_owned()];
    all.extend_from_slice(class_path);
    Command::new(env!("CARGO_BIN_EXE_untorn"))
        .args(["run", "--exit-code", "program", "--plan"])
        .arg(plan)
        .arg("--")
        .arg(jdk().join("bin/java"))
        .arg("-jar")
        .arg(jar("junit-console"))
        .args(["execute", "--disable-banner", "--details", "none", "-cp"])
        .arg(std::env::join_paths(&all).unwrap())
        .arg("--scan-classpath")
        .arg(classes)
        .output()
        .unwrap()
}

#[test]
fn what_tears_visibly_is_told_from_what_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let classes = folder.path().join("classes");
    compile(&[Path::new(JAVA).join("Ledger.java")], &[], &classes);
    let (document, said) = exercise(
        folder.path(),
        &["classes", "--all", "--rounds", "1", "--tests", "tests"],
    );
    for method in ["add", "enterOnce", "last"] {
        let found = about(&document, method);
        assert!(
            found.iter().any(|it| is_visible(it)),
            "{method}: {found:#?}\n{said}"
        );
    }
    for method in ["addInOne", "set", "total", "count", "clear"] {
        let found = about(&document, method);
        assert!(
            found.iter().all(|it| !is_visible(it)),
            "{method}: {found:#?}"
        );
    }
    // The exact checker saw them, too.
    let reproduced = |it: &&Finding| it.verdict == Verdict::Reproduced;
    assert!(document.findings.iter().any(|it| reproduced(&it)), "{said}");
    let mut tests = Vec::new();
    tests_in(&folder.path().join("tests"), &mut tests);
    let torn = tests
        .iter()
        .find(|it| it.to_string_lossy().contains("LedgerAddTornBy"));
    let text = std::fs::read_to_string(torn.unwrap_or_else(|| panic!("{tests:?}"))).unwrap();
    assert!(
        text.contains("void addIsNotTornBy") && text.lines().count() < 110,
        "{text}"
    );
    compile(
        &tests,
        &[classes, jar("junit-console")],
        &folder.path().join("compiled"),
    );
}

/// An object that only a builder makes is torn only if the builder was told so, and a tear shows in one of many queries.
#[test]
fn builders_are_told_what_to_build_and_queries_are_asked_that_the_calls_change() {
    let folder = tempfile::tempdir().unwrap();
    let classes = folder.path().join("classes");
    let mut sources = Vec::new();
    tests_in(&Path::new(JAVA).join("made"), &mut sources);
    compile(&sources, &[], &classes);
    let (document, said) = exercise(folder.path(), &["classes", "--all", "--rounds", "2"]);
    for method in ["enter", "sit", "update"] {
        let found = about(&document, method);
        assert!(
            found.iter().any(|it| is_visible(it)),
            "{method}: {found:#?}\n{said}"
        );
    }
}

/// What every operation of a class does in one step is not torn, whatever else its outcome depends on.
#[test]
fn time_chance_identity_caches_and_threads_are_no_tears() {
    let folder = tempfile::tempdir().unwrap();
    let classes = folder.path().join("classes");
    let mut sources = Vec::new();
    tests_in(&Path::new(JAVA).join("whole"), &mut sources);
    assert_eq!(sources.len(), 6);
    compile(&sources, &[], &classes);
    let (document, said) = exercise(folder.path(), &["classes", "--all", "--rounds", "1"]);
    let exercised = &document.stats["exercise"];
    assert!(exercised["tries"].as_u64().unwrap() > 1000, "{said}");
    assert_eq!(exercised["visibly torn"], 0, "{:#?}", document.findings);
}

#[test]
fn the_same_seed_gives_the_same() {
    let visible = || {
        let folder = tempfile::tempdir().unwrap();
        let classes = folder.path().join("classes");
        compile(&[Path::new(JAVA).join("Ledger.java")], &[], &classes);
        let options = ["classes", "--only", "Ledger.enterOnce", "--rounds", "1"];
        let (document, _) = exercise(folder.path(), &options);
        let stats = &document.stats["exercise"];
        let words: Vec<String> = (about(&document, "enterOnce").iter())
            .flat_map(|it| it.rank.clone().unwrap().reasons)
            .filter(|it| it.starts_with("visibly torn"))
            .collect();
        assert!(!words.is_empty(), "{document:#?}");
        (words, stats["visibly torn"].clone())
    };
    assert_eq!(visible(), visible());
}

#[test]
fn classes_of_the_jdk_are_exercised_without_an_agent_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let (document, said) = exercise(
        folder.path(),
        &[
            "--jdk-class",
            "java.util.Vector",
            "--only",
            "Vector.containsAll",
            "--rounds",
            "1",
        ],
    );
    let found = about(&document, "containsAll");
    assert!(found.iter().any(|it| is_visible(it)), "{found:#?}\n{said}");
    let words = format!("{found:?}");
    assert!(words.contains("containsAll of another gave"), "{words}");
}

/// What is torn stands in the base class of both buffers, which nobody may name.
#[test]
fn a_base_class_that_nobody_may_name_is_reached_through_the_class_below() {
    let folder = tempfile::tempdir().unwrap();
    let options = [
        "--jdk-class",
        "java.lang.StringBuffer",
        "--only",
        "StringBuffer.append",
        "--rounds",
        "1",
    ];
    let (document, said) = exercise(folder.path(), &options);
    let found = about(&document, "append");
    assert!(found.iter().any(|it| is_visible(it)), "{found:#?}\n{said}");
    // Letters that were never put there are told from none.
    let words = format!("{found:?}");
    assert!(words.contains("\\\\0"), "{words}");
}

/// How often a test with its plan is run until it fails.
const TRIES: u32 = 6;

/// A documented bug of a library, and the version without it.
struct Documented<'a> {
    torn: &'a str,
    repaired: &'a str,
    needs: &'a [&'a str],
    /// The method as `Class.method`.
    only: &'a str,
    package: &'a str,
    /// Which of the tests to run, and what it says.
    test: &'a str,
    says: &'a str,
}

impl Documented<'_> {
    /// The command alone writes a test that fails before the repair and passes after it.
    fn becomes_a_test(&self) {
        let folder = tempfile::tempdir().unwrap();
        let (torn, repaired) = (jar(self.torn), jar(self.repaired));
        let needs: Vec<PathBuf> = self.needs.iter().map(|name| jar(name)).collect();
        let class_path = std::env::join_paths(&needs).unwrap();
        let (class_path, torn_text) = (class_path.to_string_lossy(), torn.to_string_lossy());
        let mut options = vec![&*torn_text, "--only", self.only, "--rounds", "2"];
        options.extend(["--tests", "tests"]);
        if !needs.is_empty() {
            options.extend(["--classpath", &*class_path]);
        }
        let (document, said) = exercise(folder.path(), &options);
        let method = self.only.rsplit('.').next().unwrap();
        let found = about(&document, method);
        assert!(found.iter().any(|it| is_visible(it)), "{found:#?}\n{said}");
        let home = folder.path().join("tests").join(self.package);
        let (source, plan) = (
            home.join(format!("{}.java", self.test)),
            home.join(format!("{}.plan.json", self.test)),
        );
        assert!(source.exists(), "{said}\n{document:#?}");
        let compiled = folder.path().join("compiled");
        let with = |library: PathBuf| [vec![library], needs.clone()].concat();
        let mut to_compile = with(torn.clone());
        to_compile.push(jar("junit-console"));
        compile(&[source], &to_compile, &compiled);
        // On a busy machine a thread that is held up can still be too early.
        let fails = |_| {
            let tried = junit(&plan, &compiled, &with(torn.clone()));
            tried.status.code() == Some(1) && self::said(&tried).contains(self.says)
        };
        assert!(
            (0..TRIES).any(fails),
            "{TRIES} tries and no tear: {}",
            self::said(&junit(&plan, &compiled, &with(torn.clone())))
        );
        let after = junit(&plan, &compiled, &with(repaired));
        assert_eq!(after.status.code(), Some(0), "{}", self::said(&after));
    }
}

/// `SlidingTimeWindowReservoir.getSnapshot` of metrics-core 3.2.0 throws if values are added meanwhile; 3.2.2 repaired it.
#[test]
fn a_snapshot_torn_by_an_update_becomes_a_test_that_fails_until_it_is_repaired() {
    let bug = Documented {
        torn: "metrics-core-3.2.0",
        repaired: "metrics-core-3.2.2",
        needs: &["slf4j-api"],
        only: "SlidingTimeWindowReservoir.getSnapshot",
        package: "com/codahale/metrics",
        test: "SlidingTimeWindowReservoirGetSnapshotTornByUpdateTest",
        says: "ArrayIndexOutOfBoundsException",
    };
    bug.becomes_a_test();
}

/// `getParents` of a marker of Log4j 2.14.1 tests a field for null and reads it again; 2.15.0 repaired it (LOG4J2-3159).
#[test]
fn a_check_torn_from_its_act_becomes_a_test_that_fails_until_it_is_repaired() {
    let bug = Documented {
        torn: "log4j-api-2.14",
        repaired: "log4j-api-2.15",
        needs: &[],
        only: "Log4jMarker.getParents",
        package: "org/apache/logging/log4j",
        test: "Log4jMarkerGetParentsTornBySetParentsTest",
        says: "NullPointerException",
    };
    bug.becomes_a_test();
}

#[test]
fn what_is_exercised_changes_no_files_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    std::fs::create_dir(&inside).unwrap();
    let touch = |path: &Path| {
        let status = Command::new(env!("CARGO_BIN_EXE_untorn"))
            .arg("sandbox")
            .arg(&inside)
            .args(["--", "touch"])
            .arg(path)
            .output()
            .unwrap();
        (status.status.success(), said(&status))
    };
    assert!(touch(&inside.join("a")).0);
    let (written, text) = touch(&folder.path().join("b"));
    // A kernel without Landlock says so.
    assert!(!written || text.contains("this kernel limits"), "{text}");
}
