//! The terminal's face, as a tired engineer sees it.

use untorn_findings::{Document, Verdict};
use untorn_report::Excerpts;
use untorn_report::show::Show;
use untorn_report::text::{Options, render};

use crate::expected::check;
use crate::sample::{document, excerpts};

fn width(width: usize) -> Options {
    Options {
        width,
        ..Options::default()
    }
}

#[test]
fn the_report_with_sources() {
    let document = document();
    check(
        "sources.txt",
        &render(&document, &excerpts(&document), &width(100)),
    );
}

#[test]
fn the_report_without_sources() {
    check(
        "plain.txt",
        &render(&document(), &Excerpts::default(), &width(80)),
    );
}

#[test]
fn the_report_on_a_narrow_terminal() {
    check(
        "narrow.txt",
        &render(&document(), &Excerpts::default(), &width(44)),
    );
}

#[test]
fn quiet_is_headlines_and_verbose_is_everything() {
    let quiet = Options {
        quiet: true,
        ..width(80)
    };
    check(
        "quiet.txt",
        &render(&document(), &Excerpts::default(), &quiet),
    );
    let verbose = Options {
        verbose: true,
        stats: true,
        ..width(100)
    };
    let document = document();
    check(
        "verbose.txt",
        &render(&document, &excerpts(&document), &verbose),
    );
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let document = document();
    let excerpts = excerpts(&document);
    for columns in 30..=130 {
        for verbose in [false, true] {
            let options = Options {
                verbose,
                ..width(columns)
            };
            for line in render(&document, &excerpts, &options).lines() {
                // The headline of a finding is one line, so that it can be searched for.
                let headline = line.starts_with(|c: char| c.is_ascii_digit());
                assert!(
                    headline || line.chars().count() <= columns,
                    "{columns} columns: {line}"
                );
            }
        }
    }
}

#[test]
fn colour_only_when_asked_for_and_it_changes_no_letter() {
    let document = document();
    let plain = render(&document, &excerpts(&document), &width(80));
    assert!(!plain.contains('\u{1b}'));
    let coloured = Options {
        colour: true,
        ..width(80)
    };
    let coloured = render(&document, &excerpts(&document), &coloured);
    assert!(coloured.contains('\u{1b}'));
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some(at) = rest.find('\u{1b}') {
        stripped.push_str(&rest[..at]);
        rest = &rest[at + rest[at..].find('m').unwrap() + 1..];
    }
    stripped.push_str(rest);
    let tidy = |text: &str| {
        text.lines()
            .map(str::trim_end)
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(tidy(&stripped), tidy(&plain));
}

#[test]
fn what_only_heuristics_count_was_not_seen() {
    let mut document = document();
    document.findings.truncate(1);
    let render = |document: &Document| render(document, &Excerpts::default(), &width(100));
    assert!(render(&document).contains("Seen        37 times"));
    document.findings[0].evidence.interleavings.clear();
    assert!(!render(&document).contains("Seen"));
}

#[test]
fn an_empty_document_says_so() {
    let text = render(
        &Document::new(vec![]),
        &Excerpts::default(),
        &Options::default(),
    );
    assert_eq!(text, "nothing found\n");
}

#[test]
fn what_is_not_proved_is_counted_and_listed_on_demand() {
    let mut document = document();
    let mut open = document.findings.pop().unwrap();
    open.verdict = Verdict::Unproved;
    let name = open.region.short_name();
    document.unproved.push(open);
    let findings = render(&document, &Excerpts::default(), &width(100));
    assert!(findings.contains("; 1 not proved (--show unproved lists them)"));
    let listed = Options {
        show: Show::Unproved,
        quiet: true,
        ..width(100)
    };
    let listed = render(&document, &Excerpts::default(), &listed);
    assert!(
        listed.starts_with(&format!("1.  unproved  {name}")),
        "{listed}"
    );
}

#[test]
fn rows_with_names_are_a_table_and_what_was_asked_for_needs_no_option() {
    let mut document = Document::new(Vec::new());
    document.stats.insert(
        "ablation".to_owned(),
        serde_json::json!([
            {"refinements": "none", "regions": 112, "seen": 9041},
            {"refinements": "+ reentrant", "regions": 7, "seen": 12},
        ]),
    );
    document.stats.insert("events".to_owned(), 3.into());
    let said = render(&document, &Excerpts::default(), &width(80));
    let table = "\
ablation:
  refinements  regions  seen
  none             112  9041
  + reentrant        7    12
";
    assert!(said.ends_with(table), "{said}");
}
