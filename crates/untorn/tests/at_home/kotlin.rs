//! Findings in Kotlin, shown with its sources.

use untorn_findings::{Document, Evidence, Finding, Kind, Region, Verdict};

use crate::program::Program;

const TILL: &str = r"package till

class Till {
    var left: Int = 0
        get() {
            field = field + 1
            return field
        }

    fun getPaid() = left

    fun sell() {
        left = left - 1
    }
}
";

fn finding(method: &str, line: u32) -> Finding {
    let region = Region {
        class: Some("till.Till".to_owned()),
        method: method.to_owned(),
        file: Some("Till.kt".to_owned()),
        line: Some(line),
        ..Region::default()
    };
    let message = format!("Till.{method} reads and writes left apart");
    Finding::new(
        "views",
        Kind::Torn,
        Verdict::Suspected,
        region,
        message,
        Evidence::default(),
    )
}

/// The report on these findings, in a form, with this source.
fn report(source: &str, format: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let sources = folder.path().join("src/main/kotlin");
    // Below a common package, folders are left out, as Kotlin's conventions advise.
    std::fs::create_dir_all(&sources).unwrap();
    std::fs::write(sources.join("Till.kt"), source).unwrap();
    let mut document = Document::new(vec!["run".to_owned()]);
    document.take(vec![
        finding("getLeft", 6),
        finding("getPaid", 10),
        finding("sell", 13),
    ]);
    let saved = folder.path().join("findings.json");
    std::fs::write(&saved, document.to_json().unwrap()).unwrap();
    let output = Program::command()
        .args(["report", "findings.json", "--show", "all", "--exit-zero"])
        .args(["--source", "src/main/kotlin", "--format", format])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_property_is_named_instead_of_its_getter_and_a_function_keeps_its_name() {
    let text = report(TILL, "text");
    assert!(text.contains("Till.left reads and writes"), "{text}");
    assert!(!text.contains("getLeft"), "{text}");
    assert!(text.contains("Till.getPaid"), "{text}");
    // Programs get the names of class files.
    let saved = report(TILL, "json");
    assert!(saved.contains("\"getLeft\""), "{saved}");
    let sarif = report(TILL, "sarif");
    assert!(sarif.contains("src/main/kotlin/Till.kt"), "{sarif}");
}

#[test]
fn what_kotlin_suppresses_is_not_reported() {
    let source = TILL
        .replace("    fun sell", "    @Suppress(\"untorn\")\n    fun sell")
        .replace("    var left", "    /*# no_warn */\n    var left");
    let text = report(&source, "text");
    assert!(
        !text.contains("Till.sell") && !text.contains("Till.left"),
        "{text}"
    );
    assert!(text.contains("Till.getPaid"), "{text}");
}
