//! `docs/evaluation-types.md` is complete: every exported method of the ten classes that is not proved stands in a table of its class, with a judgement.
//!
//! The lists depend on the JDK; those of the releases in [`RELEASES`] are compared as far as they are installed.
//! With `UNTORN_BLESS=1` and all of them installed the tables are written anew: judgements of known methods stay, new ones get a question mark, which fails.

#![allow(clippy::unwrap_used)]

mod jdks;
mod page;

use jdks::{CLASSES, RELEASES, Verdicts};
use page::{Page, Row};

#[test]
fn every_unproved_method_is_judged() {
    let found: Vec<(u16, Vec<Verdicts>)> = jdks::installed()
        .into_iter()
        .map(|(release, home)| {
            let verdicts = CLASSES.iter().map(|class| jdks::verdicts(&home, class));
            (release, verdicts.collect())
        })
        .collect();
    let mut page = Page::read();
    if std::env::var_os("UNTORN_BLESS").is_some() {
        assert_eq!(found.len(), RELEASES.len(), "all releases are wanted");
        page.bless(&found);
        page.write();
    }
    let mut wrong = Vec::new();
    for (release, all) in &found {
        for verdicts in all {
            let class = verdicts.class;
            let rows: Vec<Row> = page.rows(class, *release);
            let listed: Vec<&str> = rows.iter().map(|row| row.method.as_str()).collect();
            for (method, why) in &verdicts.unproved {
                assert!(!why.is_empty(), "{class}.{method} has no reason");
                if !listed.contains(&method.as_str()) {
                    wrong.push(format!("{release}: {class}.{method} is not judged"));
                }
            }
            for row in rows {
                if !verdicts.unproved.iter().any(|(m, _)| *m == row.method) {
                    wrong.push(format!("{release}: {class}.{} is proved", row.method));
                }
                let word = row.judged.split([':', ' ']).next().unwrap();
                if !["right", "open", "careful"].contains(&word) {
                    wrong.push(format!("{class}.{} has no judgement", row.method));
                }
            }
            let share = page.share(class, *release);
            if share != verdicts.share() {
                let is = verdicts.share();
                wrong.push(format!("{release}: {class} says {share}, is {is}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "docs/evaluation-types.md does not say what is; judge the methods and run this test with UNTORN_BLESS=1:\n{}",
        wrong.join("\n")
    );
}
