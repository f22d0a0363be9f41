//! Traces in which an id stands for one thing after another, for the tests of every crate.
//!
//! Any trace becomes one by telling here and there that something is gone ([`end_lives`]).
//! What it means is the trace in which each of these lives has an id of its own ([`one_id_a_life`]): whatever is found in the one is to be found in the other.

use untorn_model::{
    Class, ClassId, Event, Field, FieldId, LockId, Object, ObjectId, Op, Part, Tables, ThreadId,
    Var, VarId,
};

use crate::wellformed::Checker;

/// Puts in that things are gone, after about every so many events; locks only where nobody holds or waits for them.
pub fn end_lives(seed: u64, every: u32, tables: &Tables, events: &[Event]) -> Vec<Event> {
    let dice = crate::generate::random_steps(seed, 2 * events.len());
    let mut checker = Checker::default();
    let mut waits: Vec<(ThreadId, LockId)> = Vec::new();
    let mut all = Vec::new();
    for (event, dice) in events.iter().zip(dice.chunks(2)) {
        if dice[0] % every == 0 {
            let object = ObjectId(dice[1] / 2 % (tables.objects.len() as u32).max(1));
            let lock = LockId(dice[1] / 2 % (tables.locks.len() as u32).max(1));
            let is_free = checker.is_free(lock) && !waits.iter().any(|(_, on)| *on == lock);
            let op = match dice[1] % 2 {
                0 if !tables.objects.is_empty() => Some(Op::GoneObject(object)),
                1 if is_free && !tables.locks.is_empty() => Some(Op::GoneLock(lock)),
                _ => None,
            };
            all.extend(op.map(|op| Event { op, ..*event }));
        }
        let mut admitted = *event;
        // What a checker refuses is not for this function to judge.
        checker.admit(&mut admitted).ok();
        match event.op {
            Op::Wait(lock) => waits.push((event.thread, lock)),
            Op::Wake(_) => waits.retain(|(thread, _)| *thread != event.thread),
            _ => {}
        }
        all.push(*event);
    }
    all
}

/// The same tables with a class for each object and fields in place of text, so that lives of one id are instances of one class.
pub fn with_classes(tables: &Tables) -> Tables {
    let mut new = without_vars(tables);
    let mut fields: Vec<(Part, FieldId)> = Vec::new();
    for (_, object) in tables.objects.iter() {
        let name = object.name.unwrap_or_default();
        let class = new.classes.push(Class {
            name,
            source_file: None,
        });
        new.objects.push(Object { class, name: None });
    }
    for (_, var) in tables.vars().iter() {
        let part = match var.part {
            Part::Text(name) => Part::Field(match fields.iter().find(|(p, _)| *p == var.part) {
                Some((_, field)) => *field,
                None => {
                    let class = ClassId(0);
                    let field = new.fields.push(Field { class, name }).unwrap_or_default();
                    fields.push((var.part, field));
                    field
                }
            }),
            other => other,
        };
        new.add_var(Var { part, ..*var });
    }
    new
}

fn without_vars(tables: &Tables) -> Tables {
    let mut new = Tables::default();
    new.strings.clone_from(&tables.strings);
    new.threads.clone_from(&tables.threads);
    new.classes.clone_from(&tables.classes);
    new.fields.clone_from(&tables.fields);
    new.methods.clone_from(&tables.methods);
    new.locks.clone_from(&tables.locks);
    new.regions.clone_from(&tables.regions);
    new.sites.clone_from(&tables.sites);
    new
}

/// The trace with an id for each life; names and classes are those of the first life.
///
/// Each end is that of an object that never was, so that every event keeps its place.
pub fn one_id_a_life(tables: &Tables, events: &[Event]) -> (Tables, Vec<Event>) {
    let mut new = tables.clone();
    let mut vars: Vec<VarId> = tables.vars().iter().map(|(id, _)| id).collect();
    let mut locks: Vec<LockId> = tables.locks.iter().map(|(id, _)| id).collect();
    let nobody = Object {
        class: None,
        name: None,
    };
    let nobody = Op::GoneObject(new.objects.push(nobody).unwrap_or_default());
    let mut all = Vec::new();
    for event in events {
        let mut op = event.op;
        match &mut op {
            Op::GoneObject(object) => {
                let object = *object;
                let object_now = new.objects.push(tables.objects[object]).unwrap_or_default();
                let mut of_object: Vec<VarId> = tables.vars_of(object).collect();
                of_object.reverse();
                for var in of_object {
                    let now = Var {
                        object: object_now,
                        ..tables.vars()[var]
                    };
                    vars[var.index()] = new.add_var(now).unwrap_or_default();
                }
                op = nobody;
            }
            Op::GoneLock(lock) => {
                let now = new.locks.push(tables.locks[*lock]).unwrap_or_default();
                locks[lock.index()] = now;
                op = nobody;
            }
            Op::Read(_, var) | Op::Write(_, var) | Op::Update(_, var) => *var = vars[var.index()],
            Op::Acquire(_, lock)
            | Op::Release(_, lock)
            | Op::Reacquire(_, lock)
            | Op::Rerelease(_, lock)
            | Op::Wait(lock)
            | Op::Wake(lock)
            | Op::Notify(lock)
            | Op::Signal(lock)
            | Op::Await(lock) => *lock = locks[lock.index()],
            _ => {}
        }
        all.push(Event { op, ..*event });
    }
    (new, all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Shape, random_trace};
    use crate::{OrderedWriter, TextWriter, UtrOptions, UtrSource, VecSource};

    #[test]
    fn both_traces_are_well_formed_and_differ_in_ids_alone() {
        let mut ended = 0;
        for seed in 0..100 {
            let (tables, events) = random_trace(seed, &Shape::full(), 200);
            let tables = with_classes(&tables);
            let reused = end_lives(seed, 5, &tables, &events);
            ended += reused.len() - events.len();
            let (spread_tables, spread) = one_id_a_life(&tables, &reused);
            assert_eq!(spread.len(), reused.len());
            for (one, other) in spread.iter().zip(&reused) {
                assert_eq!((one.thread, one.site), (other.thread, other.site));
                let both_gone = one.op.is_gone() && other.op.is_gone();
                assert!(both_gone || one.op.kind() == other.op.kind());
            }
            VecSource::new(tables, reused).unwrap();
            VecSource::new(spread_tables, spread).unwrap();
        }
        assert!(ended > 2000, "{ended} lives ended");
    }

    /// By event the number of the first one on the same location or lock.
    fn identities(events: &[Event]) -> Vec<usize> {
        let target = |event: &Event| match event.op {
            Op::Read(_, var) | Op::Write(_, var) | Op::Update(_, var) => Some((0, var.0)),
            Op::Acquire(_, lock) | Op::Release(_, lock) => Some((1, lock.0)),
            _ => None,
        };
        let targets: Vec<_> = events.iter().map(target).collect();
        let first = |of: &Option<_>| targets.iter().position(|other| other == of);
        targets.iter().filter_map(first).collect()
    }

    #[test]
    fn files_keep_lives_apart_in_their_own_ways() {
        let (tables, events) = random_trace(8, &Shape::full(), 400);
        let tables = with_classes(&tables);
        let reused = end_lives(8, 5, &tables, &events);
        let file = tempfile::tempfile().unwrap();
        let mut writer = OrderedWriter::new("lives", file, UtrOptions::default()).unwrap();
        writer.write(&tables, &reused).unwrap();
        let mut source = UtrSource::new("lives", writer.finish(&tables).unwrap()).unwrap();
        let again = VecSource::from_source(&mut source).unwrap();
        assert_eq!(again.events(), reused);

        let mut writer = TextWriter::new("lives", Vec::new());
        writer.write(&tables, &reused).unwrap();
        let text = String::from_utf8(writer.finish().unwrap()).unwrap();
        let again = VecSource::from_text(&text).unwrap();
        let (_, spread) = one_id_a_life(&tables, &reused);
        let spread: Vec<Event> = (spread.into_iter())
            .filter(|event| !event.op.is_gone())
            .collect();
        assert_eq!(identities(again.events()), identities(&spread));
    }
}
