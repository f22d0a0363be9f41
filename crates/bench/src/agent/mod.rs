//! What watching costs: kernels, computing programs and drivers under `untorn run`, beside the same programs alone, all in one shuffled run.
//!
//! Three ratios, each of medians:
//! - *program*: time on a processor of the program's own threads, from the start of its main method to the end, class loading included, without the JVM's collectors and compilers;
//! - *total*: time on a processor of everything that was started, the reader and its analyses included;
//! - *wall*: time until everything has ended.
//!
//! The mode *facts* is *single* without what `untorn check --facts` showed to be of no matter.
//! `UNTORN_BENCH_PROGRAMS=fields,h2`, `UNTORN_BENCH_MODES=single,default` and `UNTORN_BENCH_THREADS=2` choose, `UNTORN_BENCH_RUNS=3` says how often each is run, and `UNTORN_BENCH_SIZE=0.1` how much of the usual work is done.
//! `UNTORN_BENCH_TRACKING=pessimistic` measures the other way of tracking.
//! The drivers need the pinned jars in the folder that `UNTORN_CORPUS` names, as `cargo xtask bench` sees to.

mod mode;
mod run;

use std::collections::BTreeMap;
use std::path::PathBuf;

use untorn_bench::{COMPUTE, DRIVERS, Folder, HELLO, KERNELS, Kind, Program};
use untorn_jdk::Jdk;

use self::mode::{MODES, Mode};
use self::run::{Cost, Place};
use crate::Outcome;
use crate::analyses::chosen;

/// A program with so many threads, alone or in a mode.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Case {
    program: usize,
    threads: u32,
    /// `None`: alone.
    mode: Option<usize>,
}

/// More threads than there are processors.
const MANY: u32 = 8;

fn number<T: std::str::FromStr>(variable: &str, usual: T) -> T {
    let asked = std::env::var(variable).ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

pub fn run() -> Outcome {
    let folder = tempfile::tempdir()?;
    let jdk = Jdk::for_tests()
        .into_iter()
        .next()
        .ok_or("no JDK 17 or later")?;
    let corpus = std::env::var_os("UNTORN_CORPUS").map(PathBuf::from);
    let programs = Folder::compile(&jdk, &folder.path().join("classes"), corpus)?;
    let place = Place::new(jdk, programs, folder.path())?;
    start_up(&place)?;

    let (wanted, in_mode, in_threads) = (
        chosen("UNTORN_BENCH_PROGRAMS"),
        chosen("UNTORN_BENCH_MODES"),
        chosen("UNTORN_BENCH_THREADS"),
    );
    let all: Vec<&Program> = KERNELS
        .iter()
        .chain(&COMPUTE)
        .chain(&DRIVERS)
        .filter(|program| wanted(program.name) && place.has(program))
        .collect();
    let modes: Vec<&Mode> = MODES.iter().filter(|mode| in_mode(mode.name)).collect();
    let threads: Vec<u32> = [1, 2, MANY]
        .into_iter()
        .filter(|count: &u32| in_threads(&count.to_string()))
        .collect();
    let scale: f64 = number("UNTORN_BENCH_SIZE", 1.0);
    let mut cases = Vec::new();
    for (program, one) in all.iter().enumerate() {
        for &threads in &threads {
            // More threads than processors are for what is divided among them.
            if threads == MANY && one.kind() != Kind::Compute {
                continue;
            }
            let modes = std::iter::once(None).chain((0..modes.len()).map(Some));
            cases.extend(modes.map(|mode| Case {
                program,
                threads,
                mode,
            }));
        }
    }
    let mut costs: BTreeMap<Case, Vec<Cost>> = BTreeMap::new();
    for round in 0..number("UNTORN_BENCH_RUNS", 3) {
        shuffle(&mut cases, round);
        for case in &cases {
            let program = all[case.program];
            // Each thread has so much work.
            let share = f64::from(case.threads.div_ceil(2)).recip();
            let size = (f64::from(program.much) * scale * share).max(1.0) as u32;
            let mode = case.mode.map(|mode| modes[mode]);
            let cost = place.run(program, case.threads, size, mode)?;
            let mode = mode.map_or("alone", |mode| mode.name);
            eprintln!(
                "  {} {} {mode}: program {:.2} s, total {:.2} s, wall {:.2} s",
                program.name, case.threads, cost.program, cost.total, cost.wall
            );
            costs.entry(*case).or_default().push(cost);
        }
    }
    let table = Table {
        all,
        modes,
        threads,
        costs,
    };
    table.print();
    Ok(())
}

/// What a JVM with nothing to do costs.
fn start_up(place: &Place) -> Outcome {
    if !chosen("UNTORN_BENCH_PROGRAMS")(HELLO.name) {
        return Ok(());
    }
    const RUNS: usize = 10;
    let (mut alone, mut watched) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        alone.push(place.run(&HELLO, 1, 1, None)?);
        watched.push(place.run(&HELLO, 1, 1, Some(&MODES[mode::SINGLE]))?);
    }
    // The clock of the system ticks a hundred times a second, so sums tell more than medians here.
    let sum = |costs: &[Cost]| costs.iter().map(|cost| cost.total).sum::<f64>();
    let ratio = sum(&watched) / sum(&alone);
    println!(
        "  start-up of a program with nothing to do: {ratio:.2}× processor time (at most 2.2×{})",
        if ratio > 2.2 { ", missed" } else { "" }
    );
    Ok(())
}

/// Another order each round, the same for each run of the benchmark.
fn shuffle(cases: &mut [Case], round: u64) {
    let mut state = round * 2 + 1;
    for last in (1..cases.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        cases.swap(last, (state >> 33) as usize % (last + 1));
    }
}

struct Table<'t> {
    all: Vec<&'t Program>,
    modes: Vec<&'t Mode>,
    threads: Vec<u32>,
    costs: BTreeMap<Case, Vec<Cost>>,
}

impl Table<'_> {
    fn median(&self, case: Case, of: fn(&Cost) -> f64) -> Option<f64> {
        let mut values: Vec<f64> = self.costs.get(&case)?.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    }

    /// How many times what the program costs alone.
    fn ratio(&self, case: Case, of: fn(&Cost) -> f64) -> Option<f64> {
        let alone = Case { mode: None, ..case };
        Some(self.median(case, of)? / self.median(alone, of)?)
    }

    fn print(&self) {
        println!(
            "  {:<10} {:>7} {:<10} {:>9} {:>9} {:>9} {:>11}",
            "program", "threads", "mode", "program", "total", "wall", "alone"
        );
        for (program, name) in self.all.iter().map(|program| program.name).enumerate() {
            for &threads in &self.threads {
                for (mode, chosen) in self.modes.iter().enumerate() {
                    let case = Case {
                        program,
                        threads,
                        mode: Some(mode),
                    };
                    let shown = |of| {
                        let ratio = self.ratio(case, of);
                        ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}×"))
                    };
                    let alone = self.median(Case { mode: None, ..case }, |cost| cost.program);
                    println!(
                        "  {name:<10} {threads:>7} {:<10} {:>9} {:>9} {:>9} {:>9.2} s",
                        chosen.name,
                        shown(|cost| cost.program),
                        shown(|cost| cost.total),
                        shown(|cost| cost.wall),
                        alone.unwrap_or_default(),
                    );
                }
            }
        }
        for kind in [Kind::Kernel, Kind::Compute, Kind::Driver] {
            for (mode, chosen) in self.modes.iter().enumerate() {
                self.print_mean(kind, mode, chosen);
            }
        }
    }

    fn print_mean(&self, kind: Kind, mode: usize, chosen: &Mode) {
        let mean = |of: fn(&Cost) -> f64, busy_only: bool| {
            let mut logs = Vec::new();
            for (program, one) in self.all.iter().enumerate() {
                for &threads in &self.threads {
                    let case = Case {
                        program,
                        threads,
                        mode: Some(mode),
                    };
                    let wanted = one.kind() == kind && (!busy_only || threads == 2);
                    if let Some(ratio) = self.ratio(case, of).filter(|_| wanted) {
                        logs.push(ratio.ln());
                    }
                }
            }
            (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
        };
        let Some(program) = mean(|cost| cost.program, false) else {
            return;
        };
        let target = match kind {
            Kind::Kernel => chosen.kernels,
            Kind::Compute | Kind::Driver => chosen.drivers,
        };
        let target = match target {
            Some(target) if program > target => format!("at most {target}×: missed"),
            Some(target) => format!("at most {target}×: met"),
            None => "for comparison".to_owned(),
        };
        let shown = |ratio: Option<f64>| ratio.map_or("-".to_owned(), |r| format!("{r:.2}×"));
        println!(
            "  geometric mean, {kind:?}, {:<10} program {program:.2}× ({target}; {}), total {}, wall with two busy threads {}",
            chosen.name,
            chosen.paper,
            shown(mean(|cost| cost.total, false)),
            shown(mean(|cost| cost.wall, true)),
        );
    }
}
