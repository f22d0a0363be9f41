//! Projects of Maven and Gradle that have the plugin and nothing else to say of Untorn.

use std::path::Path;
use std::process::{Command, Output};

use super::support::{ROOT, copy};
use super::{Dist, said};

fn project(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let from = Path::new(ROOT)
        .join("crates/untorn/tests/install")
        .join(name);
    copy(&from, folder.path());
    folder
}

fn built(command: &mut Command, folder: &Path) -> Output {
    command.current_dir(folder).output().unwrap()
}

#[test]
fn a_maven_project_fails_for_what_its_tests_show_torn_unless_it_is_known() {
    let dist = Dist::get();
    let folder = project("maven/single");
    let run = built(dist.maven().arg("verify"), folder.path());
    assert_eq!(run.status.code(), Some(1), "{}", said(&run));
    assert!(said(&run).contains("Stock.sell"), "{}", said(&run));
    assert!(
        said(&run).contains("target/untorn/test.html"),
        "{}",
        said(&run)
    );
    let sarif = std::fs::read_to_string(folder.path().join("target/untorn/test.sarif")).unwrap();
    assert!(sarif.contains("src/main/java/shop/Stock.java"), "{sarif}");

    // What a build without forks saw is not called clean.
    let run = built(
        dist.maven().args(["verify", "-DforkCount=0"]),
        folder.path(),
    );
    assert_eq!(run.status.code(), Some(1), "{}", said(&run));
    assert!(said(&run).contains("forkCount"), "{}", said(&run));
}

#[test]
fn three_modules_in_java_and_kotlin_with_three_frameworks_are_watched_beside_jacoco() {
    let dist = Dist::get();
    let folder = project("maven/three");
    let run = built(dist.maven().arg("verify"), folder.path());
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    for (module, torn) in [
        ("core", "core.Stock"),
        ("legacy", "legacy.Stock"),
        ("kotlin", "till.Till"),
    ] {
        let of = |file: &str| {
            let path = folder.path().join(module).join("target/untorn").join(file);
            std::fs::read_to_string(&path)
                .unwrap_or_else(|_| panic!("{} is missing", path.display()))
        };
        let findings = of("test.json");
        assert!(
            findings.contains(torn) && findings.contains("\"sell\""),
            "{findings}"
        );
        for report in [
            "test.sarif",
            "test.html",
            "check.json",
            "check.sarif",
            "check.html",
        ] {
            of(report);
        }
    }
    let sarif = folder.path().join("kotlin/target/untorn/test.sarif");
    let sarif = std::fs::read_to_string(sarif).unwrap();
    assert!(sarif.contains("src/main/kotlin/till/Till.kt"), "{sarif}");
    // What a coroutine does under its lock is whole, and what it does between two holds of it is not.
    let findings = folder.path().join("kotlin/target/untorn/test.json");
    let findings: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(findings).unwrap()).unwrap();
    let of = |class: &str| {
        let all = findings["findings"].as_array().unwrap().iter();
        let above_low = all.filter(|it| it["rank"]["level"] != "low");
        let named = above_low.filter(|it| it["region"]["class"] == class);
        let told = named.map(|it| format!("{} {}", it["verdict"], it["region"]["method"]));
        told.collect::<Vec<_>>()
    };
    assert_eq!(of("till.Shelf"), ["\"observed\" \"take\""]);
    assert_eq!(of("till.Basket"), [""; 0]);
    let coverage = folder.path().join("core/target/jacoco.exec");
    assert!(std::fs::metadata(coverage).unwrap().len() > 0);
}

#[test]
fn a_gradle_project_watches_its_tests_only_when_it_is_asked_to() {
    let dist = Dist::get();
    let folder = project("gradle");
    let gradle = |tasks: &[&str]| {
        let mut gradle = Command::new("gradle");
        dist.at_home(&mut gradle);
        gradle
            .args(["--no-daemon", "--quiet"])
            .arg(format!(
                "-PuntornRepository={}",
                dist.path("maven").display()
            ))
            // The plugin has the version of the last test run, and would be taken from Gradle's cache.
            .arg("--refresh-dependencies")
            .args(tasks);
        built(&mut gradle, folder.path())
    };
    let run = gradle(&["test"]);
    assert!(run.status.success(), "{}", said(&run));
    assert!(!folder.path().join("build/untorn/test").exists());

    let run = gradle(&["untornCheck"]);
    assert_eq!(run.status.code(), Some(1), "{}", said(&run));
    assert!(said(&run).contains("Stock.sell"), "{}", said(&run));
    assert!(
        folder
            .path()
            .join("build/untorn/check/findings.sarif")
            .is_file()
    );

    let run = gradle(&["untornTest"]);
    assert_eq!(run.status.code(), Some(1), "{}", said(&run));
    assert!(said(&run).contains("Stock.sell"), "{}", said(&run));
    assert!(
        folder
            .path()
            .join("build/untorn/test/findings.html")
            .is_file()
    );
}

#[test]
fn a_watched_test_of_junit_fails_with_the_interleaving_as_its_message() {
    let dist = Dist::get();
    let folder = project("junit");
    let run = built(dist.maven().arg("test"), folder.path());
    assert_eq!(run.status.code(), Some(1), "{}", said(&run));
    let file = "target/surefire-reports/TEST-shop.WatchedTest.xml";
    let report = std::fs::read_to_string(folder.path().join(file)).unwrap();
    let of = |test: &str| {
        let from = report.find(&format!("<testcase name=\"{test}\"")).unwrap();
        let case = &report[from..];
        &case[..case.find("<testcase name=").map_or(case.len(), |_| {
            case[1..]
                .find("<testcase name=")
                .map_or(case.len(), |at| at + 1)
        })]
    };
    for torn in ["torn", "expected", "rare"] {
        let case = of(torn);
        assert!(case.contains("dev.untorn.junit.TornError"), "{case}");
        assert!(case.contains("Stock.sell was torn"), "{case}");
        assert!(case.contains("(1)  read"), "{case}");
    }
    assert!(!of("whole").contains("<failure"), "{report}");
    // What the test itself found wrong, and what it never came to.
    assert!(
        of("wrong").contains("expected: &lt;1&gt; but was: &lt;2&gt;"),
        "{report}"
    );
    assert!(
        of("neverCalled").contains("came to none of the operations"),
        "{report}"
    );
}
