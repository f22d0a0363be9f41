//! What guard inference works on: every access, call and synchronized block with the locks held there.

use crate::holding::{self, Holding};
use crate::input::{
    Actuals, Allocation, Arg, Class, ClassId, Effect, FieldId, Flow, Guard, MethodId, NodeId,
    Program, Slot, SlotId,
};
use crate::locks::{Lock, Locks};

/// A place in a body, with the locks that the body holds there.
#[derive(Clone, Debug)]
pub struct Point {
    /// The method.
    pub method: MethodId,
    /// The node of its graph.
    pub node: NodeId,
    /// Locks taken in the body and held here.
    pub held: Vec<Lock>,
    /// Locks that callers held may be gone.
    pub blurred: bool,
}

/// An access to a field that needs its guard.
#[derive(Clone, Debug)]
pub struct AccessUse {
    /// Where.
    pub point: Point,
    /// The field.
    pub field: FieldId,
    /// Actuals for `this` and the ghosts of its owner.
    pub actuals: Actuals,
    /// Write or read.
    pub write: bool,
}

/// A call, where the callee's requirements must be met.
#[derive(Clone, Debug)]
pub struct CallUse {
    /// Where.
    pub point: Point,
    /// The callee.
    pub method: MethodId,
    /// Actuals for its scope.
    pub actuals: Actuals,
}

/// A lock operation on an object that may have a protecting lock.
#[derive(Clone, Debug)]
pub struct SyncUse {
    /// Where.
    pub point: Point,
    /// The protecting lock.
    pub protector: Arg,
}

/// A field whose guard is sought.
#[derive(Clone, Debug)]
pub struct FieldUse {
    /// The class that declares it.
    pub owner: ClassId,
    /// Declared guard, which only steers the choice of ghosts.
    pub fixed: Option<Guard>,
    /// Possible guards, best first.
    pub candidates: Vec<Lock>,
}

/// What a method may ask of its callers.
#[derive(Clone, Debug, Default)]
pub struct MethodUse {
    /// Unknown callers hold nothing.
    pub open: bool,
    /// Locks it may require.
    pub may_hold: Vec<Lock>,
    /// Locks it is declared to require.
    pub holds: Vec<Lock>,
    /// Protecting ghosts in its scope, which it may require to be held or `none`.
    pub protecting: Vec<Lock>,
    /// Overridden methods, with the actuals of their ghosts.
    pub overrides: Vec<(MethodId, Actuals)>,
}

/// The whole problem.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// The classes.
    pub classes: Vec<Class>,
    /// The fields.
    pub fields: Vec<FieldUse>,
    /// The methods.
    pub methods: Vec<MethodUse>,
    /// The unknown ghost arguments.
    pub slots: Vec<Slot>,
    /// Which of them must agree.
    pub flows: Vec<Flow>,
    /// The allocations.
    pub allocations: Vec<Allocation>,
    /// Ghost arguments of internally synchronized objects.
    pub internal: Vec<SlotId>,
    /// The accesses.
    pub accesses: Vec<AccessUse>,
    /// The calls.
    pub calls: Vec<CallUse>,
    /// The lock operations on objects with protecting locks.
    pub syncs: Vec<SyncUse>,
}

impl Problem {
    /// Reads the problem off a program.
    pub fn of(locks: &mut Locks, program: &Program) -> Problem {
        let protecting: Vec<_> = program
            .classes
            .iter()
            .filter_map(|c| c.protecting)
            .collect();
        let mut problem = Problem {
            classes: program.classes.clone(),
            slots: program.slots.clone(),
            flows: program.flows.clone(),
            allocations: program.allocations.clone(),
            internal: program.internal.clone(),
            ..Problem::default()
        };
        for field in &program.fields {
            let (owner, fixed) = (field.owner, field.fixed);
            problem.fields.push(FieldUse {
                owner,
                fixed,
                candidates: field.candidates.clone(),
            });
        }
        for method in &program.methods {
            let own = protecting
                .iter()
                .filter(|ghost| method.scope.ghosts.contains(ghost));
            problem.methods.push(MethodUse {
                open: method.open,
                may_hold: method.may_hold.clone(),
                holds: method.holds.clone(),
                protecting: own
                    .map(|&g| locks.root(crate::locks::Root::Ghost(g)))
                    .collect(),
                overrides: method
                    .overrides
                    .iter()
                    .map(|o| (o.method, o.ghosts.clone()))
                    .collect(),
            });
        }
        // Locks that callees leave held under a ghost's name are not counted before the ghosts are known.
        let (holdings, _) = holding::program_holdings(locks, program, &[]);
        for (index, method) in program.methods.iter().enumerate() {
            let Some(graph) = &method.body else { continue };
            for (at, (node, holding)) in graph.nodes.iter().zip(&holdings[index]).enumerate() {
                let Some(holding) = holding else { continue };
                let (method, node_id) = (MethodId(index as u32), NodeId(at as u32));
                problem.add(locks, &node.effect, || point(method, node_id, holding));
            }
        }
        problem
    }

    fn add(&mut self, locks: &Locks, effect: &Effect, point: impl Fn() -> Point) {
        match effect {
            Effect::Access {
                field,
                actuals,
                write,
                confined: false,
            } => {
                let mut point = point();
                // Who holds the write side holds the read side.
                let shared: Vec<Lock> = point
                    .held
                    .iter()
                    .filter_map(|&l| locks.known_shared(l))
                    .collect();
                point.held.extend(shared);
                let (field, actuals, write) = (*field, actuals.clone(), *write);
                self.accesses.push(AccessUse {
                    point,
                    field,
                    actuals,
                    write,
                });
            }
            Effect::Call(targets) => {
                for target in targets {
                    let (method, actuals) = (target.method, target.actuals.clone());
                    self.calls.push(CallUse {
                        point: point(),
                        method,
                        actuals,
                    });
                }
            }
            Effect::Acquire {
                protector: Some(protector),
                ..
            } => {
                self.syncs.push(SyncUse {
                    point: point(),
                    protector: *protector,
                });
            }
            _ => {}
        }
    }
}

fn point(method: MethodId, node: NodeId, holding: &Holding) -> Point {
    Point {
        method,
        node,
        held: holding.held().collect(),
        blurred: holding.is_blurred(),
    }
}
