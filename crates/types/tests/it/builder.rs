//! Small programs written down as abstract input, and their inferred types as text.

use untorn_types::algebra::{Algebra, Atomicity};
use untorn_types::guards::{Guarded, infer_guards};
use untorn_types::infer::{Inferred, Limits, infer};
use untorn_types::input::{
    Actuals, Arg, Class, ClassId, Effect, Field, FieldId, Graph, Guard, Method, MethodId, Node,
    NodeId, Program, RegionId, Scope, Site, Slot, SlotId, Target, VisibleFields,
};
use untorn_types::locks::{Ghost, Lock, Locks, Root};
use untorn_types::notation::print_atomicity;

/// Structured code; the graph is made of it as a compiler would.
#[derive(Clone)]
pub enum Code {
    Step(Effect),
    If(Vec<Code>, Vec<Code>),
    While(Vec<Code>),
    Sync(Lock, Option<Arg>, Vec<Code>),
    /// Asserted or only asked about.
    Region(bool, Vec<Code>),
}

pub fn read(field: FieldId, actuals: &[(Root, Arg)]) -> Code {
    access(field, actuals, false)
}

pub fn write(field: FieldId, actuals: &[(Root, Arg)]) -> Code {
    access(field, actuals, true)
}

fn access(field: FieldId, actuals: &[(Root, Arg)], write: bool) -> Code {
    let actuals = Actuals(actuals.to_vec());
    Code::Step(Effect::Access {
        field,
        actuals,
        write,
        confined: false,
    })
}

pub fn call(method: MethodId, actuals: &[(Root, Arg)]) -> Code {
    Code::Step(Effect::Call(vec![Target {
        method,
        actuals: Actuals(actuals.to_vec()),
        internal: None,
    }]))
}

pub fn does(a: Atomicity) -> Code {
    Code::Step(Effect::Does(a))
}

pub fn sync(lock: Lock, body: Vec<Code>) -> Vec<Code> {
    vec![Code::Sync(lock, None, body)]
}

/// `this` stays `this`.
pub const ON_THIS: [(Root, Arg); 1] = [(Root::This, Arg::Lock(Locks::THIS))];

pub fn this_is(lock: Lock) -> [(Root, Arg); 1] {
    [(Root::This, Arg::Lock(lock))]
}

#[derive(Default)]
pub struct Builder {
    pub algebra: Algebra,
    pub program: Program,
}

pub struct Typed {
    pub algebra: Algebra,
    pub program: Program,
    pub guarded: Guarded,
    pub inferred: Inferred,
}

impl Builder {
    pub fn ghost(&mut self, name: &str) -> (Ghost, Lock) {
        let ghost = self.algebra.locks.ghost(name);
        (ghost, self.algebra.locks.root(Root::Ghost(ghost)))
    }

    pub fn param(&mut self, index: u16) -> Lock {
        self.algebra.locks.root(Root::Param(index))
    }

    pub fn local(&mut self, index: u32) -> Lock {
        self.algebra.locks.root(Root::Local(index))
    }

    pub fn path(&mut self, base: Lock, fields: &[&str]) -> Lock {
        fields.iter().fold(base, |base, name| {
            let field = self.algebra.locks.field_name("C", name);
            self.algebra.locks.field(base, field).expect("a short path")
        })
    }

    pub fn class(&mut self, ghosts: &[Ghost], protecting: bool) -> ClassId {
        let protecting = if protecting {
            ghosts.first().copied()
        } else {
            None
        };
        self.program.classes.push(Class {
            ghosts: ghosts.to_vec(),
            protecting,
        });
        ClassId(self.program.classes.len() as u32 - 1)
    }

    pub fn field(&mut self, owner: ClassId, candidates: &[Lock]) -> FieldId {
        let candidates = candidates.to_vec();
        self.program.fields.push(Field {
            owner,
            wide: false,
            fixed: None,
            candidates,
        });
        FieldId(self.program.fields.len() as u32 - 1)
    }

    pub fn slot(&mut self, candidates: &[Lock], protecting: bool) -> SlotId {
        self.program.slots.push(Slot {
            candidates: candidates.to_vec(),
            protecting,
        });
        SlotId(self.program.slots.len() as u32 - 1)
    }

    /// A public method of two parameters at most.
    pub fn method(&mut self, ghosts: &[Ghost], body: Option<Vec<Code>>) -> MethodId {
        let body = body.map(|code| {
            let mut graph = Graph::default();
            let entry = add(&mut graph, Effect::Skip, &[]);
            compile(&mut graph, &code, entry);
            graph
        });
        let scope = Scope {
            this: true,
            params: 2,
            ghosts: ghosts.to_vec(),
            fields: VisibleFields::Any,
        };
        self.program.methods.push(Method {
            scope,
            body,
            declared: None,
            overrides: Vec::new(),
            open: true,
            may_hold: Vec::new(),
            holds: Vec::new(),
        });
        MethodId(self.program.methods.len() as u32 - 1)
    }

    /// A method that only this program calls and that may require locks of its callers.
    pub fn inner_method(&mut self, ghosts: &[Ghost], holds: &[Lock], body: Vec<Code>) -> MethodId {
        let id = self.method(ghosts, Some(body));
        let method = &mut self.program.methods[id.index()];
        method.open = false;
        method.may_hold = holds.to_vec();
        id
    }

    pub fn infer(mut self) -> Typed {
        let guarded = infer_guards(&mut self.algebra.locks, &self.program)
            .expect("nothing contradictory is declared");
        let inferred = infer(
            &mut self.algebra,
            &self.program,
            &guarded.discipline,
            Limits::default(),
        );
        Typed {
            algebra: self.algebra,
            program: self.program,
            guarded,
            inferred,
        }
    }
}

impl Typed {
    pub fn type_of(&mut self, method: MethodId) -> String {
        let a = self.inferred.methods[method.index()];
        print_atomicity(&mut self.algebra, a, &["p".to_owned(), "q".to_owned()])
    }

    pub fn guard_of(&self, field: FieldId) -> String {
        let describe = |lock| self.algebra.locks.describe(lock, &[]);
        match self.guarded.discipline.guards[field.index()] {
            Guard::Final => "final".to_owned(),
            Guard::GuardedBy(lock) => format!("guarded_by {}", describe(lock)),
            Guard::WriteGuardedBy(lock) => format!("write_guarded_by {}", describe(lock)),
            Guard::NoGuard => "no_guard".to_owned(),
        }
    }

    pub fn slot_of(&self, slot: SlotId) -> String {
        self.algebra
            .locks
            .describe(self.guarded.discipline.slots[slot.index()], &[])
    }
}

fn add(graph: &mut Graph, effect: Effect, from: &[NodeId]) -> NodeId {
    let id = NodeId(graph.nodes.len() as u32);
    graph.nodes.push(Node {
        effect,
        next: Vec::new(),
        site: Site(id.0),
    });
    for node in from {
        graph.nodes[node.index()].next.push(id);
    }
    id
}

fn compile(graph: &mut Graph, code: &[Code], from: NodeId) -> NodeId {
    code.iter().fold(from, |at, code| match code {
        Code::Step(effect) => add(graph, effect.clone(), &[at]),
        Code::If(yes, no) => {
            let ends = [yes, no].map(|branch| compile(graph, branch, at));
            add(graph, Effect::Skip, &ends)
        }
        Code::While(body) => {
            let head = add(graph, Effect::Skip, &[at]);
            let back = compile(graph, body, head);
            graph.nodes[back.index()].next.push(head);
            add(graph, Effect::Skip, &[head])
        }
        Code::Sync(lock, protector, body) => {
            let (lock, protector) = (Some(*lock), *protector);
            let entered = add(graph, Effect::Acquire { lock, protector }, &[at]);
            let end = compile(graph, body, entered);
            add(graph, Effect::Release { lock, protector }, &[end])
        }
        Code::Region(asserted, body) => {
            let begin = add(
                graph,
                Effect::Begin {
                    region: RegionId(at.0),
                    asserted: *asserted,
                },
                &[at],
            );
            let end = compile(graph, body, begin);
            add(graph, Effect::End, &[end])
        }
    })
}
