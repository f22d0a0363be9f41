//! What a run looked at: a program is called clean only as far as somebody looked.

use serde_json::{Map, Value, json};
use untorn_analyses::{Analysis, Context, Outcome};
use untorn_channel::config::Mode;
use untorn_live::Watched;
use untorn_model::{Kinds, Op, ThreadId};
use untorn_trace::{Batch, Error};

/// Under this name the counts stand among the statistics of a document; the report reads them there.
const NAME: &str = "looked at";
/// Counts of the objects that threads shared, which is no matter of findings.
const SHARED: &str = "shared objects";

/// What the processes of a run did, as far as it could be looked at.
#[derive(Debug, Default)]
pub struct Looked {
    /// Regions that were entered, and the threads that entered any.
    regions: u64,
    threads: u64,
    /// Objects that several threads used, where all accesses are looked at.
    shared: Option<u64>,
    /// Classes that were instrumented, and the regions in them.
    classes: u64,
    possible: u64,
}

impl Looked {
    /// Adds a process; its own count of shared objects is taken out of its statistics.
    pub fn add<T>(&mut self, watched: &Watched<T>, stats: &mut Map<String, Value>) {
        self.regions += watched.drained.regions;
        self.threads += watched.drained.region_threads;
        if let Some(shared) = stats.remove(SHARED).and_then(|count| count.as_u64()) {
            self.shared = Some(self.shared.unwrap_or(0) + shared);
        }
        let count = |name: &str| watched.counts.get(name).copied().unwrap_or(0);
        self.classes += count("classes rewritten");
        self.possible += count("regions: methods") + count("regions: blocks");
    }

    /// Puts the counts where reports find them.
    pub fn put_into(&self, stats: &mut Map<String, Value>) {
        let mut counts = json!({ "regions": self.regions, "threads": self.threads });
        if let (Some(shared), Value::Object(counts)) = (self.shared, &mut counts) {
            counts.insert(SHARED.to_owned(), shared.into());
        }
        stats.insert(NAME.to_owned(), counts);
    }

    /// Why nothing could be found, and what helps.
    pub fn warning(&self, mode: &Mode) -> Option<String> {
        let chosen_none = matches!(mode, Mode::Second(choice) if choice.is_empty());
        if self.regions == 0 {
            let why = if chosen_none {
                "the profile says that nothing can be torn".to_owned()
            } else if self.classes == 0 {
                "no class of the program was watched: look at --include and --exclude, and at the packages in untorn.toml; classes of the platform never are".to_owned()
            } else if self.possible == 0 {
                format!(
                    "the specification makes nothing in the {} a region: try one with heuristic = \"all-methods\", or name regions with include (untorn spec show lists them)",
                    counted(self.classes, "watched class", "watched classes")
                )
            } else {
                format!(
                    "none of the {} that the specification names was entered: does the run come to the code in question?",
                    counted(self.possible, "region", "regions")
                )
            };
            return Some(format!("nothing was looked at: {why}"));
        }
        // Another thread outside of regions can tear as well.
        let alone = self.threads == 1 && self.shared.unwrap_or(0) == 0;
        alone.then(|| {
            "one thread alone entered regions, so nothing could come between their parts: does the run use several threads?".to_owned()
        })
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    let word = if count == 1 { one } else { many };
    format!("{count} {word}")
}

/// Counts objects that more than one thread uses; it never reports a finding.
#[derive(Debug, Default)]
pub struct Sharing {
    /// By object: who used it first, or that several did.
    users: Vec<User>,
    shared: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum User {
    #[default]
    Nobody,
    One(ThreadId),
    Several,
}

impl Analysis for Sharing {
    fn name(&self) -> &'static str {
        SHARED
    }

    fn subscribes(&self) -> Kinds {
        Kinds::ACCESSES.union(Kinds::GONE)
    }

    fn batch(&mut self, batch: &Batch<'_>, context: &Context<'_>) -> Result<(), Error> {
        self.users
            .resize(context.tables.objects.len(), User::Nobody);
        for event in batch.events {
            if let Op::GoneObject(object) = event.op {
                self.users[object.index()] = User::Nobody;
                continue;
            }
            let Some((var, _)) = event.op.access() else {
                continue;
            };
            let object = context.tables.vars()[var].object;
            let user = &mut self.users[object.index()];
            match *user {
                User::Several => {}
                User::Nobody => *user = User::One(event.thread),
                User::One(first) if first == event.thread => {}
                User::One(_) => {
                    *user = User::Several;
                    self.shared += 1;
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, _: &Context<'_>, outcome: &mut Outcome) -> Result<(), Error> {
        outcome.stats.insert(SHARED.to_owned(), self.shared.into());
        Ok(())
    }
}
