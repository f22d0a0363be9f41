//! Programs under the agent itself: what arrives at the reader.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use untorn_channel::Config;
use untorn_live::{Options, Tally, watch};
use untorn_model::{Event, LockMode, Op, Tables};
use untorn_trace::Source;

use crate::support::{Jdk, java_source};

struct Log {
    tables: Tables,
    events: Vec<Event>,
    tally: Tally,
}

/// Compiles sources, runs a class of them under the agent, and gives what was recorded.
fn record(jdk: &Jdk, sources: &[&Path], main: &str) -> Log {
    let dir = tempfile::tempdir().unwrap();
    jdk.compile(dir.path(), &[], sources);
    let java = jdk.tool("java").get_program().to_owned();
    let options = Options {
        command: vec![
            java,
            "-Xverify:all".into(),
            "-XX:-PrintWarnings".into(),
            "-cp".into(),
            dir.path().into(),
            main.into(),
        ],
        agent: untorn_live::agent_library().unwrap(),
        config: Config::default(),
        ..Options::default()
    };
    let (status, mut all) = watch(&options, |_, source| {
        let mut events = Vec::new();
        let mut batch = Vec::new();
        loop {
            source.fill(&mut batch).unwrap();
            if batch.is_empty() {
                break;
            }
            events.append(&mut batch);
        }
        Log {
            tables: source.tables().clone(),
            events,
            tally: source.tally(),
        }
    })
    .unwrap();
    assert!(status.success(), "{status}");
    assert_eq!(all.len(), 1);
    all.remove(0).result
}

impl Log {
    /// The names of the variables, without the objects, that some thread accesses.
    fn fields(&self) -> BTreeSet<(String, bool)> {
        let accessed = self.events.iter().filter_map(|event| match event.op {
            Op::Read(flags, var) | Op::Write(flags, var) | Op::Update(flags, var) => {
                let name = self.tables.var_name(var);
                let field = name.rsplit('.').next().unwrap_or_default().to_owned();
                Some((field, flags.is_volatile()))
            }
            _ => None,
        });
        accessed.collect()
    }

    fn count(&self, of: impl Fn(&Op) -> bool) -> usize {
        self.events.iter().filter(|event| of(&event.op)).count()
    }
}

#[test]
fn fields_locks_and_tasks_are_one_under_every_name() {
    for jdk in Jdk::all() {
        let log = record(&jdk, &[&java_source("Inherited.java")], "Inherited");
        assert_eq!((log.tally.refused, log.tally.undeclared), (0, 0));
        let of = |wanted: &str| {
            let named = log.tables.vars().iter().filter(|(id, _)| {
                let name = log.tables.var_name(*id);
                name.ends_with(&format!(".{wanted}"))
            });
            named.count()
        };
        assert_eq!(of("field"), 1, "{:?}", log.fields());
        assert_eq!(of("shared"), 1, "{:?}", log.fields());
        assert!(log.fields().contains(&("field".to_owned(), true)));
        assert!(!log.fields().contains(&("field".to_owned(), false)));

        let lock_of = |mode| {
            log.events.iter().find_map(|event| match event.op {
                Op::Acquire(m, lock) if m == mode => Some(lock),
                _ => None,
            })
        };
        let shared = lock_of(LockMode::Shared).expect("the readers' half was taken");
        let writers =
            |op: &Op| matches!(op, Op::Acquire(LockMode::Exclusive, lock) if *lock == shared);
        assert_eq!(log.count(writers), 1, "of the same lock");
        let waits = log.count(|op| matches!(op, Op::Wait(_)));
        assert_eq!(log.count(|op| matches!(op, Op::Wake(_))), waits);
        assert_eq!(log.count(|op| matches!(op, Op::Notify(_))), 1);

        // The task begins after it was made, and is over before its result is taken.
        let main = log.events[0].thread;
        let at = |thread_is_main: bool, of: fn(&Op) -> bool| {
            let is = |event: &Event| (event.thread == main) == thread_is_main && of(&event.op);
            log.events.iter().position(is)
        };
        let last_await = log
            .events
            .iter()
            .rposition(|event| event.thread == main && matches!(event.op, Op::Await(_)));
        let submitted = at(true, |op| matches!(op, Op::Signal(_)));
        let begun = at(false, |op| matches!(op, Op::Await(_)));
        let done = at(false, |op| matches!(op, Op::Signal(_)));
        assert!(
            submitted.is_some() && submitted < begun,
            "{submitted:?} {begun:?}"
        );
        assert!(begun < done && done < last_await, "{done:?} {last_await:?}");
    }
}

#[test]
fn the_bank_is_recorded_with_its_regions_and_locks() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bank/src/bank");
    let sources: Vec<PathBuf> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    for jdk in Jdk::all() {
        let log = record(&jdk, &sources, "bank.Main");
        assert_eq!((log.tally.refused, log.tally.undeclared), (0, 0));
        let regions: BTreeSet<&str> = log
            .tables
            .regions
            .iter()
            .map(|(_, region)| log.tables.text(region.name))
            .collect();
        assert!(regions.contains("bank.Account.deposit"), "{regions:?}");
        let begun = log.count(|op| matches!(op, Op::Begin(_)));
        assert_eq!(log.count(|op| matches!(op, Op::End(_))), begun);
        assert!(begun > 1000, "{begun}");
        let taken = log.count(|op| matches!(op, Op::Acquire(..)));
        assert_eq!(log.count(|op| matches!(op, Op::Release(..))), taken);
        assert!(log.count(|op| matches!(op, Op::Fork(_))) >= 2);
    }
}
