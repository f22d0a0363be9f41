//! One table for each paper: its columns, its numbers where the subject is of the same kind, and ours.

use std::fmt::Write;

use crate::eval::subjects::Scenario;
use crate::eval::tables::{Characteristics, Row};

/// A program that papers measured, after which one of ours was written.
struct Named {
    /// Our program.
    ours: &'static str,
    theirs: &'static str,
    /// Threads, locks, most held, pairs of lock sets, slowdown; warnings with Export+Synch, with Synch.
    atomizer: Option<[&'static str; 7]>,
    /// Lines, classes, seconds alone, seconds watched, megabytes, warnings.
    views: Option<[&'static str; 6]>,
    /// Velodrome, single-run mode, multi-run mode.
    blamed: [&'static str; 3],
    /// Transactions, accesses in them, others, edges, components: of a single run, of a second run.
    counts: [[&'static str; 5]; 2],
    /// Lines, seconds of symbolic execution and of checking, megabytes, reports, methods reported of all (application).
    consistency: Option<[&'static str; 6]>,
}

const NAMED: [Named; 8] = [
    Named {
        ours: "Crawler",
        theirs: "hedc",
        atomizer: Some(["26", "385", "3", "728", "–", "4", "1"]),
        views: None,
        blamed: ["3", "3", "2"],
        counts: [
            ["79", "38,400", "114", "83", "3"],
            ["25", "37,200", "114", "85", "3"],
        ],
        consistency: Some(["27,952", "140.8", "19.9", "58", "5", "11 of 135"]),
    },
    Named {
        ours: "Elevator",
        theirs: "elevator",
        atomizer: Some(["5", "8", "1", "17", "–", "2", "0"]),
        views: Some(["500", "5", "16.7", "17.5", "1.9", "2"]),
        blamed: ["2", "2", "2"],
        counts: [
            ["3,200", "17,000", "5,590", "419", "24"],
            ["3,180", "16,100", "5,590", "427", "23"],
        ],
        consistency: Some(["528", "0.4", "0.2", "3", "1", "4 of 16"]),
    },
    Named {
        ours: "Molecules",
        theirs: "moldyn",
        atomizer: Some(["5", "1", "1", "2", "11.8", "0", "0"]),
        views: None,
        blamed: ["0", "0", "0"],
        counts: [
            ["573,000", "194,000,000", "50,500,000", "38", "0"],
            ["0", "0", "0", "0", "0"],
        ],
        consistency: Some(["1,402", "0.4", "0.3", "2", "1", "6 of 28"]),
    },
    Named {
        ours: "MonteCarlo",
        theirs: "montecarlo",
        atomizer: Some(["5", "1", "1", "2", "2.2", "1", "0"]),
        views: None,
        blamed: ["2", "2", "2"],
        counts: [
            ["102,000", "179,000,000", "93,300,000", "30,600", "2,860"],
            ["89,700", "145,000,000", "108,000,000", "30,800", "2,730"],
        ],
        consistency: Some(["3,674", "0.6", "0.3", "3", "0", "2 of 71"]),
    },
    Named {
        ours: "Philosophers",
        theirs: "philo",
        atomizer: None,
        views: None,
        blamed: ["0", "0", "0"],
        counts: [["6", "16", "458", "144", "0"], ["0", "0", "0", "0", "0"]],
        consistency: Some(["81", "0.3", "0.1", "1", "0", "0 of 4"]),
    },
    Named {
        ours: "RayTracer",
        theirs: "raytracer",
        atomizer: Some(["5", "5", "1", "7", "36.6", "1", "1"]),
        views: None,
        blamed: ["0", "0", "0"],
        counts: [
            ["25,700", "890,000,000", "108,000,000", "215", "1"],
            ["4", "113", "0", "9", "1"],
        ],
        consistency: Some(["1,972", "0.5", "0.3", "3", "1", "3 of 45"]),
    },
    Named {
        ours: "Sor",
        theirs: "sor",
        atomizer: Some(["4", "1", "1", "2", "7.3", "0", "0"]),
        views: Some(["250", "3", "0.8", "343.2", "123.5", "0"]),
        blamed: ["0", "0", "0"],
        counts: [["2", "16", "18,700", "189", "0"], ["0", "0", "0", "0", "0"]],
        consistency: Some(["876", "0.1", "0.1", "3", "0", "0 of 7"]),
    },
    Named {
        ours: "Tsp",
        theirs: "tsp",
        atomizer: Some(["10", "2", "1", "5", "48.2", "7", "7"]),
        views: Some(["700", "4", "0.6", "1.8", "0.2", "0"]),
        blamed: ["7", "7", "7"],
        counts: [
            ["12,000", "386,000", "694,000,000", "14,100", "0"],
            ["1,340", "6,650", "691,000,000", "11,500", "0"],
        ],
        consistency: Some(["706", "0.4", "0.2", "1", "1", "1 of 14"]),
    },
];

const OPENING: &str = "\
## The papers' tables

The programs of the papers are not to be had from a registry, and neither are the DaCapo and Renaissance suites, whose programs DoubleChecker was measured on: they are missing here.
Each scenario program is written after the structure of the one beside it, much smaller, so the two say of the same kind of program what each tool says, and their times do not compare.
In each cell the paper's number stands first and ours behind the bar; a dash means that the paper has none, or that ours was not measured, such as what did not end within two minutes.
Everything is from one run, on a machine that did other work.

";

/// The tables of all papers for these programs.
pub fn tables(rows: &[(&Scenario, &Row)]) -> String {
    let mut text = String::from(OPENING);
    let known: Vec<(&Named, &Row)> = (rows.iter())
        .filter_map(|(scenario, row)| {
            let named = NAMED.iter().find(|named| named.ours == scenario.class)?;
            Some((named, *row))
        })
        .collect();
    atomizer(&mut text, &known);
    views(&mut text, &known);
    blamed(&mut text, &known);
    counts(&mut text, &known);
    consistency(&mut text, &known);
    types(&mut text, &known);
    text
}

fn head(text: &mut String, title: &str, notes: &str, columns: &str) {
    let count = columns.matches('|').count() + 1;
    let _ = writeln!(
        text,
        "### {title}\n{notes}\n\n| {columns} |\n|{}",
        "---|".repeat(count)
    );
}

fn line(text: &mut String, named: &Named, cells: &[(String, String)]) {
    let cells: Vec<String> = (cells.iter())
        .map(|(theirs, ours)| format!("{theirs} / {ours}"))
        .collect();
    let _ = writeln!(
        text,
        "| {}, {} | {} |",
        named.theirs,
        named.ours,
        cells.join(" | ")
    );
}

/// The paper's numbers, or dashes, beside ours.
fn beside<const N: usize>(theirs: Option<&[&str; N]>, ours: [String; N]) -> Vec<(String, String)> {
    let mut number = 0;
    ours.map(|ours| {
        let theirs = theirs.map_or("–", |theirs| theirs[number]);
        number += 1;
        (theirs.to_owned(), ours)
    })
    .into()
}

fn atomizer(text: &mut String, rows: &[(&Named, &Row)]) {
    head(
        text,
        "Atomizer, Figures 16 and 17",
        "Regions are proposed as its two heuristics do (`heuristic = \"export+synch\"`, `\"synch\"`); the slowdown is that of the whole command beside the program alone, a JVM's start in both.\nFigure 18, the refinements, stands above.",
        "program | threads | locks | most held | pairs of lock sets | slowdown | warnings, export+synch | warnings, synch",
    );
    for (named, row) in rows {
        let it = &row.atomizer;
        let ours = [
            it.threads.to_string(),
            it.locks.to_string(),
            it.most_held.to_string(),
            it.pairs.to_string(),
            format!("{:.1}", it.seconds / row.alone),
            it.export_synch.to_string(),
            it.synch.to_string(),
        ];
        line(text, named, &beside(named.atomizer.as_ref(), ours));
    }
    text.push('\n');
}

fn views(text: &mut String, rows: &[(&Named, &Row)]) {
    head(
        text,
        "High-level data races, Table III",
        "The log is the recorded trace; the warnings are those of `--with views`.",
        "program | lines | classes | seconds alone | seconds watched | log, MB | warnings",
    );
    for (named, row) in rows {
        let it = &row.views;
        let ours = [
            row.lines.to_string(),
            row.classes.to_string(),
            format!("{:.2}", row.alone),
            format!("{:.2}", it.seconds),
            format!("{:.3}", it.bytes as f64 / 1e6),
            it.warnings.to_string(),
        ];
        line(text, named, &beside(named.views.as_ref(), ours));
    }
    text.push('\n');
}

fn blamed(text: &mut String, rows: &[(&Named, &Row)]) {
    head(
        text,
        "DoubleChecker, Table 2",
        "Methods blamed while a specification is refined from all methods (`untorn refine --from-all-methods`) until three trials in a row find nothing, of ten in the paper; a trial of the multi-run mode is three first runs and a second one, of ten.",
        "program | Velodrome | single-run mode | multi-run mode",
    );
    for (named, row) in rows {
        let it = &row.refined;
        let ours = [it.velodrome, it.single, it.multi]
            .map(|count| count.map_or_else(|| "–".to_owned(), |count| count.to_string()));
        line(text, named, &beside(Some(&named.blamed), ours));
    }
    text.push('\n');
}

fn counts(text: &mut String, rows: &[(&Named, &Row)]) {
    head(
        text,
        "DoubleChecker, Table 3",
        "Of a single run (`--fast`), and of a second run after one first run; what is counted is described in [many runs](many-runs.md).",
        "program | run | regular transactions | accesses in them | other accesses | graph edges | components",
    );
    for (named, row) in rows {
        let both = [
            ("single", &row.single, &named.counts[0]),
            ("second", &row.second, &named.counts[1]),
        ];
        for (run, counted, theirs) in both {
            let Characteristics {
                transactions,
                inside,
                outside,
                edges,
                sccs,
            } = counted;
            let ours = [transactions, inside, outside, edges, sccs];
            let cells: Vec<String> = (theirs.iter().zip(ours))
                .map(|(theirs, ours)| format!("{theirs} / {}", grouped(*ours)))
                .collect();
            let _ = writeln!(
                text,
                "| {}, {} | {run} | {} |",
                named.theirs,
                named.ours,
                cells.join(" | ")
            );
        }
    }
    text.push('\n');
}

fn consistency(text: &mut String, rows: &[(&Named, &Row)]) {
    head(
        text,
        "Method consistency, Table 1",
        "`untorn check --main CLASS --with consistency`; reports and methods of the application.",
        "program | lines | symbolic execution (s in the paper) | checking | memory (MB in the paper) | reports | methods reported",
    );
    for (named, row) in rows {
        let it = &row.consistency;
        let ours = [
            row.lines.to_string(),
            it.execution.clone(),
            it.checking.clone(),
            it.memory.clone(),
            it.reports[0].to_string(),
            it.methods[0].clone(),
        ];
        line(text, named, &beside(named.consistency.as_ref(), ours));
    }
    text.push('\n');
}

fn types(text: &mut String, rows: &[(&Named, &Row)]) {
    head(
        text,
        "Types, Table II",
        "`untorn check --main CLASS --with types`; no annotations are written in these programs.\nThe rows of the paper's table are garbled in the copy that we have; in all it leaves 153 of 993 exported methods unproved, and 51 of 241 synchronized blocks.\nTable I, classes of the JDK, stands in [types](evaluation-types.md).",
        "program | lines | typing | solving guards | per thousand lines | constraints | annotations | methods proved | blocks proved",
    );
    for (named, row) in rows {
        let it = &row.types;
        let all = [&it.typing, &it.guards];
        let together = all
            .iter()
            .filter_map(|time| milliseconds(time))
            .sum::<f64>();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:.0} ms | {} | {} | {} | {} |",
            named.ours,
            row.lines,
            it.typing,
            it.guards,
            together * 1000.0 / row.lines as f64,
            it.constraints,
            it.annotations,
            it.methods,
            it.blocks
        );
    }
    text.push('\n');
}

/// Of `4.7 ms`.
fn milliseconds(time: &str) -> Option<f64> {
    time.strip_suffix(" ms")?.parse().ok()
}

/// With a comma before every three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_as_the_papers_do() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(grouped),
            ["0", "999", "1,000", "1,234,567"]
        );
    }

    #[test]
    fn what_a_paper_does_not_have_is_a_dash() {
        let ours = || ["1".to_owned(), "2".to_owned()];
        assert_eq!(
            beside(Some(&["a", "b"]), ours())[1],
            ("b".into(), "2".into())
        );
        assert_eq!(beside(None, ours())[0], ("–".into(), "1".into()));
    }
}
