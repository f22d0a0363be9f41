//! docs/evaluation-runs.md and its charts, from what was measured and what was judged.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::error::Error;
use crate::eval::Kept;
use crate::eval::bugs::{self, Looked};
use crate::eval::chart::Bars;
use crate::eval::papers;
use crate::eval::peers::Peer;
use crate::eval::scenarios;
use crate::eval::subjects::{Bug, Scenario, Subjects};
use crate::eval::untorn::{Hit, Told};

const PAGE: &str = "evaluation-runs.md";
const POSITIONS: &str = "evaluation-positions.svg";
const VERDICTS: &str = "evaluation-verdicts.svg";
const PEERS: &str = "evaluation-peers.svg";
/// What people judged of it, written by hand and put at the end of the page.
const JUDGED: &str = "evaluation/judged.md";

pub fn write(subjects: &Subjects, kept: &Kept, docs: &Path) -> Result<(), Error> {
    let bugs: Vec<(&Bug, bugs::Outcome)> = subjects
        .bugs
        .iter()
        .filter_map(|bug| Some((bug, kept.get(&bug.name)?)))
        .collect();
    let scenarios: Vec<(&Scenario, scenarios::Outcome)> = subjects
        .scenarios
        .iter()
        .filter_map(|scenario| Some((scenario, kept.get(&scenario.name)?)))
        .collect();
    let mut page = String::from(OPENING);
    if !bugs.is_empty() {
        page += &bug_section(&bugs);
        save(docs, POSITIONS, &positions(&bugs))?;
        save(docs, VERDICTS, &verdicts(&bugs))?;
        save(docs, PEERS, &peers(&bugs))?;
    }
    if !scenarios.is_empty() {
        page += &scenario_section(&scenarios);
    }
    let judged = docs.join("..").join(JUDGED);
    page += &fs::read_to_string(&judged).map_err(Error::in_file("read", &judged))?;
    save(docs, PAGE, &page)?;
    println!("{}", docs.join(PAGE).display());
    Ok(())
}

fn save(docs: &Path, name: &str, text: &str) -> Result<(), Error> {
    let file = docs.join(name);
    fs::write(&file, text).map_err(Error::in_file("write", &file))
}

const OPENING: &str = "\
# Known bugs, and what is found of them

`cargo xtask eval` makes this page: it fetches released libraries, compiles drivers, and looks at both as a user would, with the defaults.
The subjects, and what is expected of them, are data in the folder `evaluation`.
The machine has two cores that were busy with other work, so what depends on luck in a schedule is on the low side.

";

const BUG_OPENING: &str = "\
## Documented bugs of released libraries

Every bug is named by a public tracker or, where none is given, by the change that mended it; every driver uses the library as the report says, with threads that begin together in many rounds; it knows nothing of Untorn.
*Run* is `untorn run` with `--include` for the library's package, three times or once; the number is the best position of the method at fault in the report, and behind it in how many of the runs it was shown.
*Check* is `untorn check` of the whole jar, without the driver.
*Low* means that it was found and ranked low, which a report counts and does not show.
*SpotBugs* (4.9.3, its category of concurrency, all priorities) says whether one of its reports names the method at fault, of how many reports on the jar.
*Error Prone* (2.36.0, its checks about threads) says the same of the source file of the method at fault, which is compiled with it against the library's own jar; it looks at one file at a time, so what is around it does not matter.
*Verdict* is the strongest claim of a run, a check, or, where the method was only suspected, of `untorn reproduce` within 25 seconds.
What is said of a bug with a star is from before the ranks were mended for the causes below.
*Repaired* says whether the same commands are silent about the method in the version without the bug; a method that is still named may be torn there in another way that does no harm, or be a false suspicion.

";

fn bug_section(bugs: &[(&Bug, bugs::Outcome)]) -> String {
    let count = |what: &dyn Fn(&bugs::Outcome) -> bool| {
        bugs.iter().filter(|(_, outcome)| what(outcome)).count()
    };
    let within = count(&|o| o.torn.position().is_some_and(|position| position <= 10));
    let shown_by_run = count(&|o| position(o.torn.run_hit()).is_some());
    let shown_by_check = count(&|o| position(o.torn.check_hit()).is_some());
    let seen = count(&|o| matches!(o.torn.verdict(), Some("observed" | "reproduced")));
    let gone = count(&|o| o.repaired.silent());
    let by_spotbugs = count(&|o| !o.spotbugs.patterns.is_empty());
    let by_error_prone = count(&|o| !o.error_prone.patterns.is_empty());
    let loads: Vec<f64> = bugs.iter().filter_map(|(_, o)| o.load).collect();
    let load = |pick: fn(f64, f64) -> f64| loads.iter().copied().reduce(pick).unwrap_or_default();
    let mut text = String::from(BUG_OPENING);
    let _ = write!(
        text,
        "Of {} bugs, {within} are in the first ten findings of a run or a check ({shown_by_run} are shown by runs, {shown_by_check} by checks), \
         {seen} were observed or reproduced, and of {gone} the repaired version is silent; \
         SpotBugs names the method at fault of {by_spotbugs}, Error Prone of {by_error_prone}.\n\
         When those without a star were looked at, {:.0} to {:.0} threads of the machine wanted one of its two processors.\n\n\
         ![Bugs by position in the report]({POSITIONS})\n\n![Bugs by verdict]({VERDICTS})\n\n![Bugs by tool]({PEERS})\n\n",
        bugs.len(),
        load(f64::min),
        load(f64::max)
    );
    text += "| bug | tracker | kind | method at fault | run | check | verdict | repaired | SpotBugs | Error Prone |\n|---|---|---|---|---|---|---|---|---|---|\n";
    for (bug, outcome) in bugs {
        let _ = writeln!(
            text,
            "| {}{} ({}, {}) | {} | {} | `{}`: {} | {} | {} | {} | {} | {} | {} |",
            bug.name,
            if outcome.earlier { " *" } else { "" },
            bug.torn,
            bug.repaired,
            bug.tracker,
            bug.kind,
            bug.methods()[0],
            bug.what,
            in_runs(&outcome.torn),
            in_check(&outcome.torn.check),
            outcome.torn.verdict().unwrap_or("not found"),
            if outcome.repaired.silent() {
                "silent".to_owned()
            } else {
                format!(
                    "run {}, check {}",
                    in_runs(&outcome.repaired),
                    place(outcome.repaired.check_hit(), None)
                )
            },
            peer(&outcome.spotbugs),
            peer(&outcome.error_prone),
        );
    }
    text + "\n"
}

fn peer(peer: &Peer) -> String {
    match &peer.why_not {
        Some(why) => why.clone(),
        None if peer.patterns.is_empty() => format!("– of {}", peer.reports),
        None => format!("{} of {}", peer.patterns.join(", "), peer.reports),
    }
}

fn position(hit: Option<&Hit>) -> Option<usize> {
    hit.and_then(|hit| hit.position)
}

fn in_check(told: &Told) -> String {
    let place = place(told.hits.first(), told.failed.as_deref());
    format!("{place} of {}", told.shown)
}

fn in_runs(looked: &Looked) -> String {
    let failed = looked.runs.iter().find_map(|told| told.failed.as_deref());
    let place = place(looked.run_hit(), failed);
    match looked.runs_that_show() {
        0 => place,
        shown => format!("{place} ({shown}/{})", looked.runs.len()),
    }
}

fn place(hit: Option<&Hit>, failed: Option<&str>) -> String {
    match (hit, failed) {
        (Some(hit), _) => hit.position.map_or_else(
            || "low".to_owned(),
            |position| format!("{position}, {}", hit.level),
        ),
        (None, Some(why)) => format!("– ({why})"),
        (None, None) => "–".to_owned(),
    }
}

/// How many bugs are within the first findings of the better of the two reports.
fn positions(bugs: &[(&Bug, bugs::Outcome)]) -> String {
    let rows = [1, 3, 5, 10, usize::MAX].map(|bound| {
        let count = bugs
            .iter()
            .filter(|(_, o)| o.torn.position().is_some_and(|position| position <= bound))
            .count();
        let name = match bound {
            1 => "the first finding".to_owned(),
            usize::MAX => "anywhere in the report".to_owned(),
            bound => format!("the first {bound}"),
        };
        (name, count as f64, format!("{count} of {}", bugs.len()))
    });
    Bars {
        title: "Bugs among the findings of a run or a check",
        rows: rows.into(),
        full: bugs.len() as f64,
    }
    .svg()
}

fn verdicts(bugs: &[(&Bug, bugs::Outcome)]) -> String {
    let rows = [
        Some("observed"),
        Some("reproduced"),
        Some("suspected"),
        None,
    ]
    .map(|wanted| {
        let count = bugs
            .iter()
            .filter(|(_, outcome)| outcome.torn.verdict() == wanted)
            .count();
        let name = wanted.unwrap_or("not found").to_owned();
        (name, count as f64, count.to_string())
    });
    Bars {
        title: "Bugs by the strongest claim about them",
        rows: rows.into(),
        full: bugs.len() as f64,
    }
    .svg()
}

fn peers(bugs: &[(&Bug, bugs::Outcome)]) -> String {
    let count = |is_found: &dyn Fn(&bugs::Outcome) -> bool| {
        bugs.iter().filter(|(_, outcome)| is_found(outcome)).count()
    };
    let row = |name: &str, count: usize| {
        let text = format!("{count} of {}", bugs.len());
        (name.to_owned(), count as f64, text)
    };
    let names = |peer: &Peer| !peer.patterns.is_empty();
    Bars {
        title: "Bugs whose method at fault is named",
        rows: vec![
            row(
                "Untorn, a run",
                count(&|o| position(o.torn.run_hit()).is_some()),
            ),
            row(
                "Untorn, a check",
                count(&|o| position(o.torn.check_hit()).is_some()),
            ),
            row("SpotBugs", count(&|o| names(&o.spotbugs))),
            row("Error Prone", count(&|o| names(&o.error_prone))),
        ],
        full: bugs.len() as f64,
    }
    .svg()
}

const SCENARIO_OPENING: &str = "\
## Scenario programs

These programs were written here from scratch, after the structure of those that the papers measure.
Each names its torn methods in its own comment; three runs with the defaults, what was shown in any of them.

| program | expected | found | missed | extra |
|---|---|---|---|---|
";

fn scenario_section(scenarios: &[(&Scenario, scenarios::Outcome)]) -> String {
    let mut text = String::from(SCENARIO_OPENING);
    for (scenario, outcome) in scenarios {
        let missed = outcome.missed(scenario);
        let extra = outcome.extra(scenario);
        let list = |names: Vec<String>| {
            if names.is_empty() {
                "–".to_owned()
            } else {
                names.join(", ")
            }
        };
        let found = outcome.found();
        let expected = scenario.torn.iter().map(|method| {
            let verdict = found.iter().find(|(name, _)| name == method);
            verdict.map_or_else(
                || format!("`{method}`"),
                |(_, verdict)| format!("`{method}` ({verdict})"),
            )
        });
        let _ = writeln!(
            text,
            "| {}: {} | {} | {} of {} | {} | {} |",
            scenario.class,
            scenario.what,
            list(expected.collect()),
            scenario.torn.len() - missed.len(),
            scenario.torn.len(),
            list(missed.iter().map(|method| format!("`{method}`")).collect()),
            list(
                extra
                    .iter()
                    .map(|(name, verdict)| format!("`{name}` ({verdict})"))
                    .collect()
            ),
        );
    }
    let rows: Vec<_> = scenarios
        .iter()
        .map(|(scenario, outcome)| (*scenario, &outcome.row))
        .collect();
    text + "\n" + &ablation(scenarios) + &papers::tables(&rows)
}

/// The table of the Atomizer paper's Figure 18 for the scenario programs.
fn ablation(scenarios: &[(&Scenario, scenarios::Outcome)]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in scenarios.iter().flat_map(|(_, outcome)| &outcome.ablation) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let mut text = String::from(ABLATION_OPENING);
    let _ = writeln!(text, "| program | {} |", names.join(" | "));
    let _ = writeln!(text, "|---|{}", "---|".repeat(names.len()));
    for (scenario, outcome) in scenarios {
        let of = |name: &&str| {
            let row = outcome.ablation.iter().find(|(known, _)| known == name);
            row.map_or_else(|| "–".to_owned(), |(_, regions)| regions.to_string())
        };
        let counts: Vec<String> = names.iter().map(of).collect();
        let _ = writeln!(text, "| {} | {} |", scenario.class, counts.join(" | "));
    }
    text + "\n"
}

const ABLATION_OPENING: &str = "\
### The atomizer's refinements
How many regions it reports of one run with none of its refinements, with the first one, and so on to all of them, as Figure 18 of its paper counts them.

";
