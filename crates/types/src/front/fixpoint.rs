//! Least fixpoints over the calls of a program.
//!
//! A method is looked at again only when the summary of something that it calls has changed: large programs need many rounds, and few methods change in most of them.
//! What is skipped would have added nothing, so results are those of looking at all methods in every round.

use rustc_hash::FxHashMap;
use untorn_program::MethodId;
use untorn_program::ir::Op;

use super::world::World;

/// What looking at a method changed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Changed {
    /// What its callers read.
    pub summary: bool,
    /// What it reads itself.
    pub own: bool,
}

/// The translated methods that call each translated method, by their place in the order.
#[derive(Debug, Default)]
pub struct Callers(FxHashMap<MethodId, Vec<u32>>);

impl Callers {
    pub fn find(world: &World<'_>) -> Callers {
        let mut callers: FxHashMap<MethodId, Vec<u32>> = FxHashMap::default();
        for (place, &method) in world.methods.iter().enumerate() {
            let Some(body) = world.body(method) else {
                continue;
            };
            for (id, instr) in body.all_instrs() {
                let Op::Invoke { args, .. } = &instr.op else {
                    continue;
                };
                let callees = world.callees(method, id);
                let asked = (callees.library.iter())
                    .flat_map(|&library| world.asked(method, library, args))
                    .flat_map(|asked| {
                        asked
                            .callees
                            .translated
                            .into_iter()
                            .chain(asked.callees.handed)
                    });
                let handed = callees.handed.iter().copied();
                for callee in callees
                    .translated
                    .iter()
                    .copied()
                    .chain(handed)
                    .chain(asked)
                {
                    let known = callers.entry(callee).or_default();
                    if known.last() != Some(&(place as u32)) {
                        known.push(place as u32);
                    }
                }
            }
        }
        Callers(callers)
    }

    /// Looks at every method, in rounds, until nothing changes.
    pub fn solve(&self, world: &World<'_>, mut look: impl FnMut(MethodId) -> Changed) {
        let mut open = vec![true; world.methods.len()];
        while open.contains(&true) {
            for (place, &method) in world.methods.iter().enumerate() {
                if !std::mem::take(&mut open[place]) {
                    continue;
                }
                let changed = look(method);
                open[place] |= changed.own;
                if changed.summary {
                    for &caller in self.0.get(&method).into_iter().flatten() {
                        open[caller as usize] = true;
                    }
                }
            }
        }
    }
}
