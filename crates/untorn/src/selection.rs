//! Which analyses a command runs, and how.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clap::{Args, ValueEnum};
use untorn_analyses::assumptions::{Assumptions, Guard, Pattern};
use untorn_analyses::count::Count;
use untorn_analyses::doublechecker::{DoubleChecker, Mode, Profile, Selected, Selection};
use untorn_analyses::silenced::Silenced;
use untorn_analyses::{Analysis, aerodrome, atomizer, doublechecker, lockset, velodrome, views};
use untorn_spec::{Assume, Specification};

use crate::declared;
use crate::failure::Failure;

/// The analyses by their names on the command line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, ValueEnum)]
pub enum AnalysisName {
    /// All of the following.
    All,
    /// Locations that no lock protects in all accesses.
    Lockset,
    /// Predicts regions whose steps do not reduce to one.
    Atomizer,
    /// Regions whose critical sections divide what another thread holds as one.
    Views,
    /// Torn regions, exactly, by a graph of transactions.
    Velodrome,
    /// Torn regions, exactly, by a cheap pass that picks what an exact one looks at.
    Doublechecker,
    /// Every torn region, exactly, in linear time.
    Aerodrome,
    /// Counts events by kind.
    Count,
}

/// The rules by which the atomizer decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum AtomizerMode {
    /// Inferred locks, and write-protected data.
    Full,
    /// Inferred locks alone.
    Relaxed,
    /// Every access must be protected.
    Strict,
    /// Locks as the specification declares them.
    Declared,
    /// All sets of refinements from none to all, as a table.
    Ablation,
}

/// Which false alarms the atomizer removes, each by a rule of its paper.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Refinement {
    /// All of the following.
    All,
    /// None of the following.
    None,
    /// Taking a lock again that is held can be moved anywhere.
    Reentrant,
    /// So can operations on a lock that only one thread uses.
    ThreadLocal,
    /// Also after the lock was handed to a second thread; brings thread-local along.
    #[value(name = "thread-local-2")]
    ThreadLocal2,
    /// So can operations on a lock that is only used while another one is held.
    Protected,
    /// A read under a lock that all writes hold can be moved.
    WriteProtected,
}

/// Which part of doublechecker runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum RunMode {
    /// All in one run.
    Single,
    /// Only the imprecise part, which writes a profile of suspicious regions.
    First,
    /// Only what the profiles of first runs name; with `--with velodrome` that looks at it instead.
    Second,
    /// Only the precise part, on everything: for comparison.
    Precise,
}

#[derive(Debug, Args)]
pub struct SelectionArgs {
    /// Which analyses to run, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub with: Vec<AnalysisName>,
    /// Whether locks, forks, joins and other synchronization order transactions, or data alone does.
    #[arg(long, value_enum, default_value_t = Switch::On, value_name = "on|off")]
    pub sync_edges: Switch,
    /// The rules by which the atomizer decides.
    #[arg(long, value_enum, default_value_t = AtomizerMode::Full, value_name = "MODE")]
    pub atomizer: AtomizerMode,
    /// Which refinements of its paper the atomizer uses, separated by commas.
    #[arg(
        long,
        value_enum,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "all"
    )]
    pub refinements: Vec<Refinement>,
    /// Which part of doublechecker runs; all but single imply it alone.
    #[arg(long, value_enum, default_value_t = RunMode::Single)]
    pub mode: RunMode,
    /// The profile that a first run writes, or one that a second run reads; may be given several times for a second run.
    #[arg(long, value_name = "FILE")]
    pub profile: Vec<PathBuf>,
    /// In a second run, look at accesses outside of regions even if no profile asks for it.
    #[arg(long)]
    pub always_unary: bool,
    /// What ought to be atomic and what may be assumed: a specification file or an untorn.toml.
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

/// The analyses that were asked for, and what a first run leaves.
pub struct Wanted {
    pub analyses: Vec<Box<dyn Analysis>>,
    profile: Option<Arc<OnceLock<Profile>>>,
}

impl SelectionArgs {
    /// Reads what the arguments name, and makes the analyses; `default` if they name none.
    ///
    /// What the sources declare is a part of the specification.
    pub fn select(&self, default: &[AnalysisName], sources: &[PathBuf]) -> Result<Wanted, Failure> {
        let mut specification = specification(self.spec.as_deref())?;
        // What cannot be used has been said when the command began.
        let _unused = declared::add_to(&mut specification, sources)?;
        let sync_edges = self.sync_edges == Switch::On;
        if matches!(self.mode, RunMode::Single | RunMode::Precise) && !self.profile.is_empty() {
            return Err(Failure::Usage(
                "--profile goes with --mode first or second".to_owned(),
            ));
        }
        match self.mode {
            RunMode::Single => Ok(Wanted {
                analyses: self.single(default, &specification, sync_edges),
                profile: None,
            }),
            RunMode::Precise => Ok(Wanted {
                analyses: vec![silenced(
                    doublechecker(sync_edges, Mode::PreciseOnly),
                    &specification,
                )],
                profile: None,
            }),
            RunMode::First => self.first(sync_edges),
            RunMode::Second => self.second(&specification),
        }
    }

    /// What looks at all that a run selected by itself: all of a second run, or what may lie on a cycle.
    pub fn of_selected(
        &self,
        analysis: Box<dyn Analysis>,
        sources: &[PathBuf],
    ) -> Result<Box<dyn Analysis>, Failure> {
        let mut specification = specification(self.spec.as_deref())?;
        let _unused = declared::add_to(&mut specification, sources)?;
        Ok(silenced(analysis, &specification))
    }

    fn single(
        &self,
        default: &[AnalysisName],
        specification: &Specification,
        sync_edges: bool,
    ) -> Vec<Box<dyn Analysis>> {
        let with = if self.with.is_empty() {
            default
        } else {
            &self.with
        };
        let wants = |name| with.contains(&name) || with.contains(&AnalysisName::All);
        let assumptions = assumptions(specification);
        let mut analyses: Vec<Box<dyn Analysis>> = Vec::new();
        if wants(AnalysisName::Lockset) {
            analyses.push(Box::new(lockset::Lockset::new(lockset::Options {
                assumptions: assumptions.clone(),
            })));
        }
        if wants(AnalysisName::Atomizer) {
            analyses.push(self.atomizer(assumptions));
        }
        if wants(AnalysisName::Views) {
            let views = Box::new(views::Views::new(views::Options::default()));
            analyses.push(silenced(views, specification));
        }
        if wants(AnalysisName::Velodrome) {
            let velodrome = Box::new(velodrome::Velodrome::new(velodrome::Options {
                sync_edges,
                ..velodrome::Options::default()
            }));
            analyses.push(silenced(velodrome, specification));
        }
        if wants(AnalysisName::Doublechecker) {
            let doublechecker = doublechecker(sync_edges, Mode::SingleRun);
            analyses.push(silenced(doublechecker, specification));
        }
        if wants(AnalysisName::Aerodrome) {
            let aerodrome = Box::new(aerodrome::Aerodrome::new(aerodrome::Options {
                sync_edges,
                ..aerodrome::Options::default()
            }));
            analyses.push(silenced(aerodrome, specification));
        }
        if wants(AnalysisName::Count) {
            analyses.push(Box::new(Count::default()));
        }
        analyses
    }

    fn atomizer(&self, assumptions: Assumptions) -> Box<dyn Analysis> {
        let mode = match self.atomizer {
            AtomizerMode::Full | AtomizerMode::Ablation => atomizer::Mode::Full,
            AtomizerMode::Relaxed => atomizer::Mode::Relaxed,
            AtomizerMode::Strict => atomizer::Mode::Strict,
            AtomizerMode::Declared => atomizer::Mode::Declared,
        };
        let options = atomizer::Options {
            mode,
            assumptions,
            refinements: self.refinements(),
            ..atomizer::Options::default()
        };
        if self.atomizer == AtomizerMode::Ablation {
            Box::new(atomizer::Ablation::new(&options))
        } else {
            Box::new(atomizer::Atomizer::new(options))
        }
    }

    fn refinements(&self) -> atomizer::Refinements {
        let has = |wanted| self.refinements.contains(&wanted);
        let all = has(Refinement::All);
        atomizer::Refinements {
            reentrant: all || has(Refinement::Reentrant),
            thread_local_locks: all
                || has(Refinement::ThreadLocal)
                || has(Refinement::ThreadLocal2),
            thread_local_2_locks: all || has(Refinement::ThreadLocal2),
            protected_locks: all || has(Refinement::Protected),
            write_protected_data: all || has(Refinement::WriteProtected),
        }
    }

    /// Where a first run writes.
    pub fn first_profile(&self) -> Result<&Path, Failure> {
        match self.profile.as_slice() {
            [path] => Ok(path),
            _ => Err(Failure::Usage(
                "--mode first needs --profile FILE, where it writes".to_owned(),
            )),
        }
    }

    fn first(&self, sync_edges: bool) -> Result<Wanted, Failure> {
        self.first_profile()?;
        let profile = Arc::new(OnceLock::new());
        Ok(Wanted {
            analyses: vec![doublechecker(
                sync_edges,
                Mode::FirstRun(Arc::clone(&profile)),
            )],
            profile: Some(profile),
        })
    }

    /// What first runs have chosen for a second one.
    pub fn second_profile(&self) -> Result<Profile, Failure> {
        if self.profile.is_empty() {
            return Err(Failure::Usage(
                "--mode second needs --profile FILE, which a first run wrote".to_owned(),
            ));
        }
        let mut all = Profile::default();
        for path in &self.profile {
            all.merge(&read_profile(path)?);
        }
        if self.always_unary {
            all.add_unary();
        }
        Ok(all)
    }

    /// What looks at everything that a second run sees.
    pub fn second_analysis(&self) -> Box<dyn Analysis> {
        let sync_edges = self.sync_edges == Switch::On;
        if self.with == [AnalysisName::Velodrome] {
            Box::new(velodrome::Velodrome::new(velodrome::Options {
                sync_edges,
                ..velodrome::Options::default()
            }))
        } else {
            doublechecker(sync_edges, Mode::SingleRun)
        }
    }

    /// What looks at all that is left when the rest was filtered out.
    pub fn precise_analysis(&self) -> Box<dyn Analysis> {
        doublechecker(self.sync_edges == Switch::On, Mode::PreciseOnly)
    }

    fn second(&self, specification: &Specification) -> Result<Wanted, Failure> {
        let selection = Selection::new(self.second_profile()?, self.always_unary);
        Ok(Wanted {
            analyses: vec![silenced(
                Box::new(Selected::new(self.second_analysis(), selection)),
                specification,
            )],
            profile: None,
        })
    }
}

impl Wanted {
    /// What a first run says at its end.
    pub fn profile(&self) -> Option<&Profile> {
        self.profile.as_ref()?.get()
    }
}

/// Writes what first runs said.
pub fn write_profile(path: &Path, profile: &Profile) -> Result<(), Failure> {
    std::fs::write(path, profile.to_string()).map_err(|error| Failure::file(path, error))
}

/// Reads a profile that a first run wrote.
pub fn read_profile(path: &Path) -> Result<Profile, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::file(path, error))?;
    Profile::parse(&text).map_err(|error| Failure::Input {
        path: path.display().to_string(),
        what: error.to_string(),
    })
}

/// Without what happens on lines of which nobody wants to hear.
fn silenced(analysis: Box<dyn Analysis>, specification: &Specification) -> Box<dyn Analysis> {
    Silenced::around(analysis, &assumptions(specification))
}

fn doublechecker(sync_edges: bool, mode: Mode) -> Box<dyn Analysis> {
    Box::new(DoubleChecker::new(doublechecker::Options {
        sync_edges,
        mode,
        ..doublechecker::Options::default()
    }))
}

/// Reads a specification; without a file it is the default one.
pub fn specification(path: Option<&Path>) -> Result<Specification, Failure> {
    let Some(path) = path else {
        return Ok(Specification::default());
    };
    let text = std::fs::read_to_string(path).map_err(|error| Failure::file(path, error))?;
    Specification::from_toml(&text).map_err(|error| Failure::Input {
        path: path.display().to_string(),
        what: error.to_string(),
    })
}

/// What the specification lets the dynamic analyses take for granted.
fn assumptions(specification: &Specification) -> Assumptions {
    let mut all = Assumptions::default();
    for assumption in &specification.assume {
        let pattern = match assumption.line {
            Some(line) => Pattern::new(format!("{}:{line}", assumption.of)),
            None => Pattern::new(assumption.of.to_string()),
        };
        match assumption.what {
            Assume::Atomic => all.atomic.push(pattern),
            Assume::Mover => all.mover.push(pattern),
            Assume::Guarded => all.guarded.push(pattern),
            Assume::NoWarn => all.no_warn.push(pattern),
        }
    }
    for guard in &specification.guard {
        let by = if guard.by == "this" {
            Guard::This
        } else {
            Guard::Named(Pattern::new(guard.by.as_str()))
        };
        all.guards.push((Pattern::new(guard.field.to_string()), by));
    }
    all
}
