//! docs/evaluation-runs.md and its charts, from what was measured and what was judged.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::error::Error;
use crate::eval::Kept;
use crate::eval::bugs::{self, Hit, Looked};
use crate::eval::chart::Bars;
use crate::eval::scenarios;
use crate::eval::spotbugs::Peer;
use crate::eval::subjects::{Bug, Scenario, Subjects};

const PAGE: &str = "evaluation-runs.md";
const POSITIONS: &str = "evaluation-positions.svg";
const VERDICTS: &str = "evaluation-verdicts.svg";
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
*Run* is `untorn run` with `--include` for the library's package, three times; the number is the best position of the method at fault in the report, and behind it in how many of the runs it was shown.
*Check* is `untorn check` of the whole jar, without the driver.
*Low* means that it was found and ranked low, which a report counts and does not show.
*SpotBugs* (4.9.3, its category of concurrency, all priorities) says whether one of its reports names the method at fault, of how many reports on the jar; *Untorn's reports* are those that the check shows.
*Verdict* is the strongest claim of a run, a check, or, where the method was only suspected, of `untorn reproduce` within 25 seconds.
*Repaired* says whether the same commands are silent about the method in the version without the bug; a method that is still named may be torn there in another way that does no harm, or be a false suspicion.

";

fn bug_section(bugs: &[(&Bug, bugs::Outcome)]) -> String {
    let count = |what: &dyn Fn(&Bug, &bugs::Outcome) -> bool| {
        bugs.iter()
            .filter(|(bug, outcome)| what(bug, outcome))
            .count()
    };
    let within = count(&|bug, outcome| outcome.torn.first_ten(bug.methods()));
    let shown_by_run = count(&|bug, o| position(o.torn.run_hit(bug.methods())).is_some());
    let shown_by_check =
        count(&|bug, o| position(bugs::hit(&o.torn.check, bug.methods())).is_some());
    let seen = count(&|bug, o| {
        matches!(
            o.torn.verdict(bug.methods()),
            Some("observed" | "reproduced")
        )
    });
    let by_peer = count(&|_, o| !o.spotbugs.patterns.is_empty());
    let gone = count(&|bug, o| o.repaired.silent(bug.repaired_side().at_fault));
    let mut text = String::from(BUG_OPENING);
    let _ = write!(
        text,
        "Of {} bugs, {within} are in the first ten findings of a run or a check ({shown_by_run} are shown by runs, {shown_by_check} by checks), \
         {seen} were observed or reproduced, and of {gone} the repaired version is silent; \
         SpotBugs names the method at fault of {by_peer}.\n\n\
         ![Bugs by position in the report]({POSITIONS})\n\n![Bugs by verdict]({VERDICTS})\n\n",
        bugs.len()
    );
    text += "| bug | tracker | kind | method at fault | run | check | verdict | repaired | SpotBugs |\n|---|---|---|---|---|---|---|---|---|\n";
    for (bug, outcome) in bugs {
        let at_fault = bug.methods();
        let repaired = bug.repaired_side();
        let _ = writeln!(
            text,
            "| {} ({}, {}) | {} | {} | `{}`: {} | {} | {} of {} | {} | {} | {} |",
            bug.name,
            bug.torn,
            bug.repaired,
            bug.tracker,
            bug.kind,
            at_fault[0],
            bug.what,
            in_runs(&outcome.torn, at_fault),
            place(
                bugs::hit(&outcome.torn.check, at_fault).as_ref(),
                outcome.torn.check.failed.as_deref()
            ),
            outcome.torn.check.shown().count(),
            outcome.torn.verdict(at_fault).unwrap_or("not found"),
            if outcome.repaired.silent(repaired.at_fault) {
                "silent".to_owned()
            } else {
                format!(
                    "run {}, check {}",
                    in_runs(&outcome.repaired, repaired.at_fault),
                    place(
                        bugs::hit(&outcome.repaired.check, repaired.at_fault).as_ref(),
                        None
                    )
                )
            },
            peer(&outcome.spotbugs),
        );
    }
    text + "\n"
}

fn peer(peer: &Peer) -> String {
    if peer.failed {
        "failed".to_owned()
    } else if peer.patterns.is_empty() {
        format!("– of {}", peer.reports)
    } else {
        format!("{} of {}", peer.patterns.join(", "), peer.reports)
    }
}

fn position(hit: Option<Hit<'_>>) -> Option<usize> {
    hit.and_then(|hit| hit.position)
}

fn in_runs(looked: &Looked, at_fault: &[String]) -> String {
    let failed = looked.runs.iter().find_map(|said| said.failed.as_deref());
    let place = place(looked.run_hit(at_fault).as_ref(), failed);
    match looked.runs_that_show(at_fault) {
        0 => place,
        shown => format!("{place} ({shown}/{})", looked.runs.len()),
    }
}

fn place(hit: Option<&Hit<'_>>, failed: Option<&str>) -> String {
    match (hit, failed) {
        (
            Some(Hit {
                position: Some(position),
                level,
                ..
            }),
            _,
        ) => format!("{position}, {level}"),
        (Some(_), _) => "low".to_owned(),
        (None, Some(why)) => format!("– ({why})"),
        (None, None) => "–".to_owned(),
    }
}

/// How many bugs are within the first findings of the better of the two reports.
fn positions(bugs: &[(&Bug, bugs::Outcome)]) -> String {
    let best = |bug: &Bug, outcome: &bugs::Outcome| {
        let run = position(outcome.torn.run_hit(bug.methods()));
        let check = position(bugs::hit(&outcome.torn.check, bug.methods()));
        run.into_iter().chain(check).min()
    };
    let rows = [1, 3, 5, 10, usize::MAX].map(|bound| {
        let count = bugs
            .iter()
            .filter(|(bug, outcome)| best(bug, outcome).is_some_and(|position| position <= bound))
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
            .filter(|(bug, outcome)| outcome.torn.verdict(bug.methods()) == wanted)
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
    text + "\n" + &ablation(scenarios)
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
