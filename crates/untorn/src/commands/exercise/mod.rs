//! `untorn exercise`: makes clients for a library, and says which of its methods they see torn.
//!
//! First the driver looks for outcomes of no serial order; then it runs once more with the agent, steered by plans, and the exact checker says what was torn.

mod args;
mod child;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use untorn_channel::config::is_platform;
use untorn_classfile::{ClassFile, facts_of};
use untorn_exercise::{Job, MAIN, Pair, Pairs, Results, Visible, Way, choose};
use untorn_findings::{Document, Verdict};
use untorn_live::signals;
use untorn_plan::{MOST_PLANS, PausePoint, Place, Plan, PlanFile, PlannedRegion};
use untorn_program::{ClassId, LoadPlan, Program};

pub use args::{EffortArgs, ExerciseArgs, SandboxArgs};
pub use child::sandbox;

use crate::cli::{TrackingArg, WatchArgs};
use crate::commands::check::{CheckArgs, load_plan};
use crate::commands::reproduce::progress::Progress;
use crate::commands::reproduce::trial::Trials;
use crate::embedded::agent_library;
use crate::failure::Failure;
use crate::output::{deliver, note, read};
use child::Child;
use verdict::{Shown, judge};

/// How much of the time the search for visible tears takes; the rest is for the exact checker.
const FIRST: f64 = 0.65;
/// Less time than this is not worth a process.
const LEAST: Duration = Duration::from_millis(400);
/// Pause points of a plan: the first accesses of the method.
const COUNTED: u32 = 8;
/// How long a thread waits for another one that is there to come.
const PATIENCE_MS: u32 = 25;

/// What is exercised, and how much.
struct Exercise<'a> {
    plan: LoadPlan,
    effort: &'a EffortArgs,
    budget: Duration,
    only: &'a [String],
    all: bool,
}

pub fn run(args: &ExerciseArgs) -> Result<ExitCode, Failure> {
    let _caught = signals::catch().map_err(|error| Failure::Usage(error.to_string()))?;
    let plan = LoadPlan {
        jdk_classes: args.jdk_class.clone(),
        ..load_plan(
            &args.paths,
            args.classpath.as_deref(),
            args.jdk.clone(),
            None,
        )?
    };
    let mut document = Document::new(Vec::new());
    if args.findings.is_empty() {
        document = check(args)?;
    } else {
        let mut findings = Vec::new();
        for path in &args.findings {
            let saved = read(path)?;
            document.inputs.extend(saved.inputs);
            findings.extend(saved.findings);
        }
        document.take(findings);
    }
    let exercise = Exercise {
        plan,
        effort: &args.effort,
        budget: args.budget,
        only: &args.only,
        all: args.all,
    };
    let document = exercise.run(document)?;
    deliver(&document, &args.output)
}

/// What a check of the same classes suspects.
fn check(args: &ExerciseArgs) -> Result<Document, Failure> {
    let own = std::env::current_exe().map_err(|error| Failure::file("untorn".as_ref(), error))?;
    let folder =
        tempfile::tempdir().map_err(|error| Failure::file("a temporary folder".as_ref(), error))?;
    let saved = folder.path().join("findings.json");
    let mut command = Command::new(&own);
    command.args(["check", "--format", "json", "--exit-zero", "--output"]);
    command.arg(&saved).args(&args.paths);
    for class in &args.jdk_class {
        command.args(["--jdk-class", class]);
    }
    for (option, value) in [("--jdk", &args.jdk), ("--spec", &args.spec)] {
        if let Some(value) = value {
            command.arg(option).arg(value);
        }
    }
    if let Some(class_path) = &args.classpath {
        command.args(["--classpath", class_path]);
    }
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failure::file(&own, error))?;
    if !saved.exists() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or("it said nothing");
        return Err(Failure::Usage(format!("the check failed: {last}")));
    }
    read(&saved)
}

/// What `untorn check --exercise` does with its findings.
pub fn after_check(
    document: Document,
    plan: LoadPlan,
    args: &CheckArgs,
) -> Result<Document, Failure> {
    let _caught = signals::catch().map_err(|error| Failure::Usage(error.to_string()))?;
    let exercise = Exercise {
        plan,
        effort: &args.exercising,
        budget: args.exercise_budget,
        only: &[],
        all: false,
    };
    exercise.run(document)
}

impl Exercise<'_> {
    fn run(&self, mut document: Document) -> Result<Document, Failure> {
        document.sort();
        let program = Program::load(&self.plan)?;
        let mut chosen = choose(&program, &document, &|class| {
            expects_threads(&program, class)
        });
        drop(program);
        self.narrow(&mut chosen);
        if chosen.pairs.is_empty() {
            note(
                "there is nothing to exercise: no public class that expects threads has two public methods with something in common",
            );
            return Ok(document);
        }
        let begun = Instant::now();
        let child = Child::new(&self.plan)?;
        let (first, end) = (begun + self.budget.mul_f64(FIRST), begun + self.budget);
        let results = self.search(&child, &chosen, first)?;
        let shown = if signals::is_end_asked_for() {
            Shown::default()
        } else {
            self.confirm(&child, &chosen, &results, &document, end)?
        };
        let written = self.write_tests(&child, &chosen, &results)?;
        judge(&mut document, &chosen, &results, &shown, &written);
        Ok(document)
    }

    /// Only what was asked for; what nobody suspects only if that was, or nothing is suspected.
    fn narrow(&self, chosen: &mut Pairs) {
        if !self.only.is_empty() {
            chosen.pairs.retain(|pair| {
                let name = format!("{}.{}", pair.class, pair.torn.0);
                self.only.iter().any(|only| name.contains(only.as_str()))
            });
        }
        let any = chosen.pairs.iter().any(|pair| pair.finding.is_some());
        if any && !self.all && self.only.is_empty() {
            chosen.pairs.retain(|pair| pair.finding.is_some());
        }
    }

    /// Looks for outcomes of no serial order, in as many processes as it takes.
    fn search(&self, child: &Child, chosen: &Pairs, end: Instant) -> Result<Results, Failure> {
        let library = agent_library()?;
        let mut agent = std::ffi::OsString::from("-agentpath:");
        agent.push(&library);
        agent.push("=steps");
        let mut open: Vec<(usize, &Pair, String)> = (chosen.pairs.iter().enumerate())
            .map(|(number, pair)| (number, pair, String::new()))
            .collect();
        let mut progress = Progress::begin("visibly torn", open.len(), end);
        let mut all = Results::default();
        let mut after = None;
        while !open.is_empty() && !signals::is_end_asked_for() {
            let time = end.saturating_duration_since(Instant::now());
            if time < LEAST {
                all.is_over = true;
                break;
            }
            let job = Job {
                seed: self.effort.seed,
                way: Way::Stopped,
                time,
                passes: self.effort.rounds,
                after,
                known: &chosen.known,
                pairs: open.clone(),
            };
            let options = [agent.clone()];
            let before = visible(&all);
            let results = child.run(&job, &options, &mut |so_far| {
                progress.show(before + visible(so_far));
            })?;
            let (is_done, last, is_under_way) =
                (results.is_done, results.last, results.is_under_way);
            all.add(results);
            if is_done {
                break;
            }
            let Some((_, number)) = last else {
                if after.is_some() {
                    break;
                }
                progress.end();
                return Err(Failure::Usage(format!(
                    "the driver did not start in {}: is it a JDK 17 or later?",
                    self.plan_name()
                )));
            };
            // The code ended the process, or hung it: the others go on without what was under way.
            after = last;
            let closed = &all.closed;
            open.retain(|(it, ..)| !(closed.contains(it) || is_under_way && *it == number));
        }
        progress.end();
        if all.is_over {
            note(
                "the time was over before all was tried: a faster machine may find more; see --budget",
            );
        }
        Ok(all)
    }

    fn plan_name(&self) -> String {
        format!("{:?}", self.plan.jdk)
    }

    /// Has the agent and the exact checker look at what is suspected or visible.
    fn confirm(
        &self,
        child: &Child,
        chosen: &Pairs,
        results: &Results,
        document: &Document,
        end: Instant,
    ) -> Result<Shown, Failure> {
        let mut shown = Shown::default();
        let tried = |number: usize| results.tried.get(&number);
        let is_wanted = |number: usize, pair: &Pair| {
            !is_platform(&pair.declared_by)
                && tried(number).is_some_and(|it| it.states > 0 && it.hung == 0)
                && (pair.finding.is_some() || tried(number).is_some_and(|it| it.visible.is_some()))
        };
        // For each method the visible partners, or else the first.
        let mut pairs: Vec<(usize, &Pair, String)> = Vec::new();
        let mut plans: BTreeMap<(String, String, String), Plan> = BTreeMap::new();
        let order = |number: &usize| tried(*number).is_none_or(|it| it.visible.is_none());
        let mut numbers: Vec<usize> = (0..chosen.pairs.len()).collect();
        numbers.sort_by_key(|number| (order(number), *number));
        for number in numbers {
            let pair = &chosen.pairs[number];
            let key = (
                pair.declared_by.clone(),
                pair.torn.0.clone(),
                pair.torn.1.clone(),
            );
            let known = plans.contains_key(&key);
            if !is_wanted(number, pair)
                || known && order(&number)
                || !known && plans.len() == MOST_PLANS
            {
                continue;
            }
            let visible = tried(number).and_then(|it| it.visible.as_ref());
            let plan = || plan_for_driver(pair, visible);
            plans.entry(key).or_insert_with(plan);
            let found = tried(number).and_then(|it| it.visible.as_ref());
            pairs.push((
                number,
                pair,
                found.map_or(String::new(), |it| it.found.clone()),
            ));
        }
        let time = end.saturating_duration_since(Instant::now());
        if pairs.is_empty() || time < LEAST {
            return Ok(shown);
        }
        pairs.sort_by_key(|(number, ..)| *number);
        let job = Job {
            seed: self.effort.seed,
            way: Way::Steered,
            time: time.mul_f64(0.8),
            passes: 1,
            after: None,
            known: &chosen.known,
            pairs,
        };
        let (command, results) = child.command(&job, &[])?;
        let watch = WatchArgs {
            include: Vec::new(),
            exclude: vec!["untorn.exercise.**".to_owned()],
            arrays: false,
            tracking: TrackingArg::Optimistic,
            no_children: true,
            facts: None,
            stacks: false,
        };
        let trials = Trials::new(&watch, None, &command);
        let plans: Vec<Plan> = plans.into_values().collect();
        let wanted: BTreeSet<_> = document.findings.iter().map(|it| &it.fingerprint).collect();
        let mut progress = Progress::begin("reproduced", wanted.len(), end);
        let trial = trials.steered(&PlanFile::new(plans.clone()), end + LEAST, &mut progress);
        progress.end();
        match trial {
            Ok(trial) => {
                shown.findings = trial
                    .findings
                    .into_iter()
                    .filter(|it| it.verdict >= Verdict::Observed)
                    .collect();
                shown.plans = plans;
                shown.results = child::read(&results);
            }
            Err(failure) => note(&format!(
                "the exact checker could not look at the clients: {failure}"
            )),
        }
        Ok(shown)
    }

    /// Copies the tests that were asked for, with plans beside them; their names.
    fn write_tests(
        &self,
        child: &Child,
        chosen: &Pairs,
        results: &Results,
    ) -> Result<Vec<String>, Failure> {
        let Some(folder) = &self.effort.tests else {
            return Ok(Vec::new());
        };
        let mut written = Vec::new();
        for (number, tried) in &results.tried {
            let Some(visible) = &tried.visible else {
                continue;
            };
            let Some(name) = &visible.test else { continue };
            let file = format!("{name}.java");
            let text = std::fs::read_to_string(child.tests().join(&file))
                .map_err(|error| Failure::file(file.as_ref(), error))?;
            let home = folder.join(package(&text));
            write(&home.join(file), &text)?;
            let pair = &chosen.pairs[*number];
            if !is_platform(&pair.declared_by) {
                let plan = if pair.torn == pair.by {
                    // Both threads are in the region: neither waits for it to begin.
                    plan_for_driver(pair, Some(visible))
                } else {
                    plan_for(pair, Vec::new(), Some(visible))
                };
                let plan = PlanFile::new(vec![plan]).to_json()?;
                write(&home.join(format!("{name}.plan.json")), &plan)?;
            }
            written.push(name.clone());
        }
        Ok(written)
    }
}

fn visible(results: &Results) -> usize {
    results
        .tried
        .values()
        .filter(|it| it.visible.is_some())
        .count()
}

/// The folder of a source's package.
fn package(source: &str) -> String {
    let line = source
        .lines()
        .find_map(|line| line.strip_prefix("package "));
    line.map_or(String::new(), |name| {
        name.trim_end_matches(';').replace('.', "/")
    })
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| std::fs::write(path, text))
        .map_err(|error| Failure::file(path, error))
}

/// Whether threads are meant to share the objects of a class.
fn expects_threads(program: &Program, class: ClassId) -> bool {
    let parsed = ClassFile::parse(&program.classes().class(class).bytes).ok();
    let facts = parsed.and_then(|parsed| facts_of(&parsed).ok());
    facts.is_some_and(|facts| facts.expects_threads())
}

/// A plan for the driver, which makes the other call a little later: nobody waits for the region to begin.
fn plan_for_driver(pair: &Pair, visible: Option<&Visible>) -> Plan {
    let nobody = Place {
        class: MAIN.to_owned(),
        method: "none".to_owned(),
        ..Place::default()
    };
    plan_for(pair, vec![nobody], visible)
}

/// Pauses around where the other call came in when the tear was seen, and after each of the method's first accesses in turn.
fn plan_for(pair: &Pair, partners: Vec<Place>, visible: Option<&Visible>) -> Plan {
    // The other call came in before a point, which is after those before it; the line of that point itself is the next best.
    let seen = visible.map(|it| it.within.clone()).unwrap_or_default();
    let seen = (seen.iter().skip(1).chain(seen.first())).map(|(class, method, line)| {
        PausePoint::After(Place {
            class: class.clone(),
            method: method.clone(),
            line: Some(*line),
            access: None,
        })
    });
    let counted = (1..=COUNTED).map(PausePoint::AfterAccess);
    let package = pair
        .declared_by
        .rsplit_once('.')
        .map(|(package, _)| package);
    Plan {
        fingerprint: None,
        region: PlannedRegion {
            class: pair.declared_by.clone(),
            method: pair.torn.0.clone(),
            descriptor: Some(pair.torn.1.clone()),
            block: None,
        },
        pause: seen.chain(counted).collect(),
        partners,
        classes: vec![package.map_or("**".to_owned(), |package| format!("{package}.**"))],
        patience_ms: Some(PATIENCE_MS),
        every_execution: true,
    }
}
