//! Locks held and call stacks of the steps of an interleaving.
//!
//! The exact checkers need neither while they run, so they keep neither: where something was found, the trace is read once more, up to the last step that anybody shows.

use untorn_findings::{Finding, Step};
use untorn_model::{EventIndex, LockId, LockMode, Tables};
use untorn_trace::{Error, Replay};

use crate::Describe;
use crate::locks_held::LocksHeld;
use crate::permits::Permits;
use crate::stacks::Stacks;

/// Fills in the locks and, if calls are recorded, the stacks of all steps that have a place in the trace and know neither.
pub(crate) fn fill_in(
    findings: &mut [Finding],
    replay: &dyn Replay,
    describe: Describe<'_>,
    calls: bool,
) -> Result<(), Error> {
    let mut steps: Vec<(u64, &mut Step)> = (findings.iter_mut())
        .flat_map(|finding| &mut finding.evidence.interleavings)
        .flat_map(|interleaving| &mut interleaving.steps)
        .filter(|step| step.locks.is_empty() && step.stack.is_empty())
        .filter_map(|step| step.event.map(|event| (event, step)))
        .collect();
    steps.sort_by_key(|(event, _)| *event);
    let Some((last, _)) = steps.last() else {
        return Ok(());
    };
    let range = EventIndex(0)..EventIndex(last + 1);
    let tables = describe.tables;
    let (mut locks, mut stacks) = (LocksHeld::default(), Stacks::default());
    let mut permits = Permits::default();
    locks.grow(tables.threads.len(), tables.locks.len());
    stacks.grow(tables.threads.len());
    let mut steps = steps.into_iter().peekable();
    replay.replay(range, &mut |batch| {
        for (index, event) in batch.indexed() {
            while let Some((_, step)) = steps.next_if(|(wanted, _)| *wanted == index.0) {
                let held = locks.in_order(event.thread);
                step.locks = held.map(|held| name(tables, held)).collect();
                if calls {
                    let context = stacks.current(event.thread);
                    step.stack = stacks.places(context, event.site, describe);
                }
            }
            if let Some(op) = permits.lock_op(event, tables) {
                locks.apply(event.thread, op);
            } else if calls {
                stacks.follow(index, event);
            }
        }
    })
}

fn name(tables: &Tables, (lock, mode): (LockId, LockMode)) -> String {
    let name = tables.lock_name(lock);
    match mode {
        LockMode::Exclusive => name,
        LockMode::Shared => format!("{name} (shared)"),
    }
}
