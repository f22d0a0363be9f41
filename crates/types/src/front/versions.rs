//! Versions of methods: one for any receiver, one for a receiver that no other thread knows, one for calls from within.
//!
//! What a constructor calls on its own object is typed apart, so that it need not hold the object's locks.
//! A method that accesses the elements of an array or the content of a collection that it is given is typed apart for calls from translated code.
//! Such a call accounts for these accesses itself ([`find_touched`]), so that this version leaves them out.
//! Strangers run the general version, which counts them as accesses to what anybody may hold, and the verdict on the method is that of the general version too: a method is a region of its own, whoever calls it.

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_program::classes::Classes;
use untorn_program::ir::Op;
use untorn_program::{InstrId, MethodId, ValueId};

use super::content::{Content, Source};
use super::fields::is_unknown;
use super::fixpoint::{Callers, Changed};
use super::fresh::{Leaked, Shape};
use super::models::Operand;
use super::world::World;

/// A version of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    pub method: MethodId,
    /// Its receiver is unknown to other threads when it begins.
    pub fresh: bool,
    /// Its callers account for the content of what they pass.
    pub within: bool,
}

impl Key {
    /// The version that any caller may call.
    pub fn general(classes: &Classes, method: MethodId) -> Key {
        Key {
            method,
            fresh: classes.begins_with_new_receiver(method),
            within: false,
        }
    }

    /// The only version of a method that is known by its declaration.
    pub fn bodiless(method: MethodId) -> Key {
        Key {
            method,
            fresh: false,
            within: false,
        }
    }

    /// The version of a callee that a call runs.
    pub fn called(
        world: &World<'_>,
        touched: &Touched,
        caller: Key,
        shape: &Shape<'_>,
        leaked: &Leaked,
        callee: MethodId,
        args: &[ValueId],
    ) -> Key {
        let info = world.table().method(callee);
        let receiver = args.first().filter(|_| !info.flags.is_static());
        let fresh = receiver.is_some_and(|&receiver| {
            world.table().is_constructor(callee)
                || is_unknown(shape, receiver, caller.fresh, leaked)
                || world.never_escapes(caller.method, receiver)
        });
        let touches = (0..args.len()).any(|position| touched.contains_key(&(callee, position)));
        Key {
            method: callee,
            fresh,
            within: touches,
        }
    }
}

/// All versions that can run, those of open methods first.
pub fn find_versions(
    world: &World<'_>,
    shapes: &FxHashMap<MethodId, Shape<'_>>,
    touched: &Touched,
) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    let mut known: FxHashSet<Key> = FxHashSet::default();
    for &method in &world.methods {
        let key = Key::general(world.table(), method);
        if world.is_open(method) && known.insert(key) {
            keys.push(key);
        }
    }
    let mut at = 0;
    loop {
        let Some(&key) = keys.get(at) else {
            let known_methods: FxHashSet<MethodId> = keys.iter().map(|key| key.method).collect();
            let mut left = world.methods.iter().copied();
            let Some(stray) = left.find(|method| !known_methods.contains(method)) else {
                break;
            };
            world.add_stray(stray);
            let key = Key::general(world.table(), stray);
            known.insert(key);
            keys.push(key);
            continue;
        };
        at += 1;
        let Some(shape) = shapes.get(&key.method) else {
            continue;
        };
        let states = shape.states();
        for block in shape.body.block_ids() {
            let Some(mut leaked) = states[block.index()].clone() else {
                continue;
            };
            for (id, instr) in shape.body.block_instrs(block) {
                if let Op::Invoke { args, .. } = &instr.op {
                    let callees = world.callees(key.method, id);
                    let mut called: Vec<Key> = (callees.translated.iter())
                        .map(|&c| Key::called(world, touched, key, shape, &leaked, c, args))
                        .collect();
                    let general = |&method: &MethodId| Key::general(world.table(), method);
                    called.extend(callees.handed.iter().map(general));
                    for &library in &callees.library {
                        for asked in world.asked(key.method, library, args) {
                            let args = [asked.whom];
                            called.extend(asked.callees.handed.iter().map(general));
                            called.extend(asked.callees.translated.iter().map(|&c| {
                                Key::called(world, touched, key, shape, &leaked, c, &args)
                            }));
                        }
                    }
                    for key in called {
                        if known.insert(key) {
                            keys.push(key);
                        }
                    }
                }
                shape.step(&mut leaked, id);
            }
        }
    }
    keys
}

/// General versions that nothing runs, of methods that are run within: their verdicts are wanted.
pub fn find_judged(world: &World<'_>, keys: &[Key]) -> Vec<Key> {
    let known: FxHashSet<Key> = keys.iter().copied().collect();
    let within = keys.iter().filter(|key| key.within);
    let mut judged: Vec<Key> = within
        .map(|key| Key::general(world.table(), key.method))
        .filter(|key| !known.contains(key))
        .collect();
    judged.sort_unstable();
    judged.dedup();
    judged
}

/// Which parameters a method accesses the elements or content of, and whether it writes.
pub type Touched = FxHashMap<(MethodId, usize), bool>;

/// A least fixpoint over the calls.
pub fn find_touched(
    world: &World<'_>,
    callers: &Callers,
    shapes: &FxHashMap<MethodId, Shape<'_>>,
    content: &Content,
) -> Touched {
    let mut touched = Touched::default();
    callers.solve(world, |method| {
        let mut changed = Changed::default();
        let Some(shape) = shapes.get(&method) else {
            return changed;
        };
        for (id, instr) in shape.body.all_instrs() {
            for (value, write) in touches(world, shape, &touched, id, &instr.op) {
                for source in content.sources(world, shape, value) {
                    let Source::Param(position) = source else {
                        continue;
                    };
                    let known = touched.get(&(method, position)).copied();
                    if known.is_none_or(|known| write && !known) {
                        touched.insert((method, position), write);
                        changed.summary = true;
                    }
                }
            }
        }
        changed
    });
    touched
}

/// Whose elements or content an instruction accesses, itself or through what it calls.
pub fn touches(
    world: &World<'_>,
    shape: &Shape<'_>,
    touched: &Touched,
    id: InstrId,
    op: &Op,
) -> Vec<(ValueId, bool)> {
    match op {
        Op::ArrayLoad { array, .. } => vec![(*array, false)],
        Op::ArrayStore { array, .. } => vec![(*array, true)],
        Op::Invoke { args, .. } => {
            let callees = world.callees(shape.method, id);
            let mut all = Vec::new();
            for callee in &callees.translated {
                for (position, &arg) in args.iter().enumerate() {
                    if let Some(&write) = touched.get(&(*callee, position)) {
                        all.push((arg, write));
                    }
                }
            }
            for &callee in &callees.library {
                all.extend(library_touches(world, shape, callee, args));
                for asked in world.asked(shape.method, callee, args) {
                    let targets = asked.callees.translated.iter();
                    let found = targets.filter_map(|&target| touched.get(&(target, 0)));
                    all.extend(found.map(|&write| (asked.whom, write)));
                }
            }
            all
        }
        _ => Vec::new(),
    }
}

/// What a modelled library method accesses; arrays that its model does not mention count as written.
pub fn library_touches(
    world: &World<'_>,
    shape: &Shape<'_>,
    callee: MethodId,
    args: &[ValueId],
) -> Vec<(ValueId, bool)> {
    let classes = world.table();
    let Some(model) = world.model(callee) else {
        if super::fresh::is_clone(world, callee) {
            return args
                .first()
                .map(|&value| (value, false))
                .into_iter()
                .collect();
        }
        return Vec::new();
    };
    let receiver = usize::from(!classes.method(callee).flags.is_static());
    let mut all = Vec::new();
    for (position, &arg) in args.iter().enumerate() {
        if !shape.body.ty(arg).is_reference() {
            continue;
        }
        let operand = match position.checked_sub(receiver) {
            Some(index) => Operand::Arg(index),
            None => Operand::Receiver,
        };
        let array = shape.body.ty(arg).class().is_some_and(|class| {
            matches!(
                classes.class(class).kind,
                untorn_program::classes::ClassKind::Array(_)
            )
        });
        let (reads, writes) = (
            model.reads.contains(&operand)
                || (array && model.reads_all && !model.writes.contains(&operand)),
            model.writes.contains(&operand),
        );
        if reads || writes || (array && !model.keeps) {
            all.push((arg, writes || !reads));
        }
    }
    all
}
