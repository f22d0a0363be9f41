//! Forms of findings, suppressions, baselines, defaults: what a team meets on the command line.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

struct Said {
    status: i32,
    out: String,
    err: String,
}

fn untorn(folder: &Path, arguments: &[&str]) -> Said {
    let output = Command::new(env!("CARGO_BIN_EXE_untorn"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    Said {
        status: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// `set` reads and then writes, and another thread writes in between; `get` is whole.
const TRACE: &str = "\
T1|begin(Box.set)|Box.java:5
T1|r(x)|Box.java:6
T2|w(x)|Box.java:11
T1|w(x)|Box.java:7
T1|end(Box.set)|Box.java:8
T2|begin(Box.get)|Box.java:11
T2|r(x)|Box.java:11
T2|end(Box.get)|Box.java:11
";

const SOURCE: &str = "\
package shop;
class Box {
    int x;

    void set() {
        int old = x;
        x = old + 1;
    }

    void put(int y) {
        x = y;
    }
}
";

/// A folder with the trace, and its findings saved.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("run.std"), TRACE).unwrap();
    std::fs::create_dir(at.join("src")).unwrap();
    std::fs::write(at.join("src/Box.java"), SOURCE).unwrap();
    let said = untorn(
        at,
        &[
            "analyze",
            "run.std",
            "--with",
            "aerodrome",
            "-o",
            "findings.json",
        ],
    );
    assert_eq!(
        (said.status, said.out.as_str(), said.err.as_str()),
        (1, "", "")
    );
    folder
}

#[test]
fn every_form_comes_from_saved_findings_by_the_ending_of_the_output() {
    let folder = project();
    let at = folder.path();
    for (name, word) in [
        ("report.html", "<!DOCTYPE html>"),
        ("report.sarif", "\"version\": \"2.1.0\""),
        ("report.json", "untorn-findings/1"),
        (
            "report.txt",
            "Box.set was torn: x is read at line 6 and written at line 7, and thread T2 writes it in between.",
        ),
    ] {
        let said = untorn(
            at,
            &["report", "findings.json", "-o", name, "--source", "src"],
        );
        assert_eq!(said.status, 1, "{}", said.err);
        let text = std::fs::read_to_string(at.join(name)).unwrap();
        assert!(text.contains(word), "{name}: {text}");
    }
    let shown = std::fs::read_to_string(at.join("report.txt")).unwrap();
    assert!(shown.contains("(1)  6 │     int old = x;"), "{shown}");
    assert_eq!(
        std::fs::read(at.join("report.json")).unwrap(),
        std::fs::read(at.join("findings.json")).unwrap()
    );
    let said = untorn(
        at,
        &[
            "report",
            "findings.json",
            "--exit-zero",
            "--summary",
            "page.md",
        ],
    );
    assert_eq!(said.status, 0);
    let page = std::fs::read_to_string(at.join("page.md")).unwrap();
    assert!(
        page.contains("| 1 | 0 | 0 | 0 |") && page.contains("`Box.set`"),
        "{page}"
    );
}

#[test]
fn bad_findings_are_named_and_the_rest_is_still_shown() {
    let folder = project();
    let at = folder.path();
    let good = std::fs::read_to_string(at.join("findings.json")).unwrap();
    std::fs::write(at.join("half.json"), &good[..good.len() / 2]).unwrap();
    std::fs::write(
        at.join("newer.json"),
        good.replace("findings/1", "findings/9"),
    )
    .unwrap();
    std::fs::write(at.join("binary.json"), [0xff, 0xfe, 0]).unwrap();
    for (name, word) in [
        ("half.json", "ends in the middle"),
        ("newer.json", "update untorn"),
        ("binary.json", "not a findings file"),
        ("missing.json", "No such file"),
    ] {
        let said = untorn(at, &["report", name, "findings.json", "--quiet"]);
        assert_eq!(said.status, 2, "{name}");
        assert!(said.out.contains("Box.set was torn"), "{}", said.out);
        assert!(
            said.err.contains(name) && said.err.contains(word),
            "{}",
            said.err
        );
        let said = untorn(at, &["report", name]);
        assert_eq!((said.status, said.out.as_str()), (2, ""));
        assert_eq!(said.err.lines().count(), 1);
    }
    // Of a file that was not written to its end, the complete findings are shown.
    let cut = good.find("\"proved\"").unwrap();
    std::fs::write(at.join("late.json"), &good[..cut]).unwrap();
    let said = untorn(at, &["report", "late.json", "--quiet"]);
    assert_eq!(said.status, 2);
    assert!(said.out.contains("Box.set was torn"), "{}", said.out);
    assert!(
        said.err.contains("only its complete findings"),
        "{}",
        said.err
    );
    // Sources of another version: the line is beyond the end.
    std::fs::write(at.join("src/Box.java"), "class Box {\n}\n").unwrap();
    let said = untorn(at, &["report", "findings.json", "--source", "src"]);
    assert_eq!(said.status, 1);
    assert!(
        said.err
            .contains("src/Box.java has 2 lines, but the findings speak of line 11"),
        "{}",
        said.err
    );
    assert!(said.out.contains("write x"), "{}", said.out);
}

#[test]
fn a_baseline_leaves_what_is_new_and_a_difference_names_it() {
    let folder = project();
    let at = folder.path();
    let said = untorn(
        at,
        &["report", "findings.json", "--baseline", "findings.json"],
    );
    assert_eq!((said.status, said.out.as_str()), (0, "nothing found\n"));
    assert!(
        said.err.contains("1 finding is in the baseline"),
        "{}",
        said.err
    );
    std::fs::write(at.join("none.std"), "T1|w(x)|A.java:1\n").unwrap();
    assert_eq!(
        untorn(at, &["analyze", "none.std", "-o", "none.json"]).status,
        0
    );
    let said = untorn(at, &["report", "--diff", "none.json", "findings.json"]);
    assert_eq!(said.status, 1);
    assert!(
        said.out.starts_with("New:\n  observed  Box.set"),
        "{}",
        said.out
    );
    let said = untorn(at, &["report", "--diff", "findings.json", "none.json"]);
    assert_eq!(said.status, 0);
    assert!(
        said.out
            .ends_with("0 new, 0 stronger, 1 gone, 0 findings as before\n"),
        "{}",
        said.out
    );
    assert_eq!(untorn(at, &["report", "--diff", "findings.json"]).status, 2);
}

#[test]
fn suppressions_of_the_project_need_a_reason_and_unused_ones_are_told() {
    let folder = project();
    let at = folder.path();
    let entry = |what: &str, more: &str| {
        let text = format!("[[suppress]]\nwhat = \"{what}\"\nreason = \"known\"\n{more}");
        std::fs::write(at.join("untorn.toml"), text).unwrap();
        untorn(at, &["report", "findings.json"])
    };
    let said = entry("torn:Box.set", "");
    assert_eq!(
        (said.status, said.out.as_str(), said.err.as_str()),
        (0, "nothing found\n", "")
    );
    let said = entry("torn:Box.get", "");
    assert_eq!(said.status, 1);
    assert!(
        said.err
            .contains("torn:Box.get names nothing that was found"),
        "{}",
        said.err
    );
    let said = entry("torn:Box.set", "until = 2020-01-01");
    assert_eq!(said.status, 1);
    assert!(said.err.contains("ended on 2020-01-01"), "{}", said.err);
    let said = entry("Box.set", "");
    assert_eq!((said.status, said.out.as_str()), (2, ""));
    assert!(
        said.err.contains("untorn.toml") && said.err.contains("kind:pattern"),
        "{}",
        said.err
    );
    // From a folder below, the file is found too.
    entry("torn:Box.set", "");
    assert_eq!(
        untorn(&at.join("src"), &["report", "../findings.json"]).status,
        0
    );
}

#[test]
fn sources_can_say_that_nothing_is_to_be_reported() {
    let folder = project();
    let at = folder.path();
    let with = |from: &str, to: &str| {
        std::fs::write(at.join("src/Box.java"), SOURCE.replace(from, to)).unwrap();
        untorn(
            at,
            &[
                "report",
                "findings.json",
                "--source",
                "src",
                "--format",
                "json",
            ],
        )
    };
    assert_eq!(with("", "").status, 1);
    for (from, to) in [
        ("    void set", "    @SuppressWarnings(\"untorn\") void set"),
        (
            "class Box",
            "@SuppressWarnings({\"unchecked\", \"untorn\"}) class Box",
        ),
        ("void set()", "/*# no_warn */ void set()"),
        ("old + 1;", "old + 1; /*# no_warn */"),
    ] {
        let said = with(from, to);
        assert_eq!(said.status, 0, "{to}: {}", said.out);
        assert!(said.out.contains("\"by\": \"source\""), "{}", said.out);
    }
    for (from, to) in [
        ("    void put", "    @SuppressWarnings(\"untorn\") void put"),
        (
            "    void set",
            "    @SuppressWarnings(\"unchecked\") void set",
        ),
        ("old + 1;", "old + 1; /*# other */"),
    ] {
        assert_eq!(with(from, to).status, 1, "{to}");
    }
}

#[test]
fn the_project_gives_defaults_for_options_and_the_user_wins() {
    let folder = project();
    let at = folder.path();
    let write = |text: &str| std::fs::write(at.join("untorn.toml"), text).unwrap();
    write(
        "[defaults]\nquiet = true\nexit-zero = true\n\n[defaults.analyze]\nwith = [\"aerodrome\", \"count\"]\n",
    );
    let said = untorn(at, &["report", "findings.json"]);
    assert_eq!(said.status, 0);
    assert!(!said.out.contains("Blamed"), "{}", said.out);
    let said = untorn(at, &["report", "findings.json", "--verbose"]);
    assert!(said.out.contains("Blamed"), "{}{}", said.out, said.err);
    let said = untorn(at, &["analyze", "run.std", "--stats"]);
    assert!(
        said.out.contains("count:") && !said.out.contains("views:"),
        "{}",
        said.out
    );
    let said = untorn(at, &["analyze", "run.std", "--stats", "--with", "views"]);
    assert!(
        said.out.contains("views:") && !said.out.contains("count:"),
        "{}",
        said.out
    );
    for (text, word) in [
        ("[defaults]\nquite = true", "--quite"),
        (
            "[defaults.report]\nwith = \"views\"",
            "report has no option --with",
        ),
        ("[defaults.rapport]\nquiet = true", "no command rapport"),
        ("[spec", "line 1"),
    ] {
        write(text);
        let said = untorn(at, &["report", "findings.json"]);
        assert_eq!((said.status, said.out.as_str()), (2, ""), "{text}");
        assert!(
            said.err.contains("untorn.toml") && said.err.contains(word),
            "{}",
            said.err
        );
    }
}

/// A lock that is taken again inside of itself looks like two critical sections to who does not know that.
#[test]
fn refinements_of_the_atomizer_are_switched_one_by_one_or_compared_in_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let trace = "\
T2|acq(l)|1
T2|w(x)|2
T2|rel(l)|3
T1|begin(r)|4
T1|acq(l)|5
T1|r(x)|6
T1|acq(l)|7
T1|rel(l)|8
T1|acq(l)|9
T1|w(x)|10
T1|rel(l)|11
T1|rel(l)|12
T1|end(r)|13
";
    std::fs::write(at.join("run.std"), trace).unwrap();
    let analyze = |more: &[&str]| {
        let all = ["analyze", "run.std", "--with", "atomizer", "--show", "all"];
        untorn(at, &[&all[..], more].concat()).out
    };
    for (list, found) in [
        ("all", false),
        ("none", true),
        ("reentrant", false),
        ("thread-local-2,protected", true),
    ] {
        let said = analyze(&["--refinements", list]);
        assert_eq!(said.contains("1 finding"), found, "{list}: {said}");
    }
    let said = analyze(&["--atomizer", "ablation"]);
    let mut rows = said.lines().skip_while(|line| *line != "ablation:");
    let second: Vec<_> = rows.by_ref().nth(2).unwrap().split_whitespace().collect();
    assert_eq!(second, ["none", "1", "1"], "{said}");
    assert!(rows.next().unwrap().contains("+ reentrant locks"), "{said}");
}
