//! Where threads wait for others by their purpose: calls that say so, loops that spin, and the methods that hold them.
//!
//! The runtime ends the open regions there and begins them anew, since nobody meant them to be one step.
//! A method that may wait is apart from what calls it even when it need not wait, as for the last thread that comes to a barrier; so is one that calls such a method of its own class.
//! `Object.wait` and conditions are told by what is inserted for their locks.

use rustc_hash::FxHashSet;
use untorn_classfile::read::MemberRef;
use untorn_classfile::{ClassFile, Insn, Op, spins};
use untorn_spec::{ClassFacts, MethodFacts, Waiting, waiting_call};

use super::weave::{Result, Weaver};

/// The methods of a class that wait, themselves or in others of the class, by name and descriptor.
#[derive(Debug, Default)]
pub(super) struct WaitingMethods(FxHashSet<(String, String)>);

impl WaitingMethods {
    pub(super) fn of(class: &ClassFile<'_>, facts: &ClassFacts) -> Self {
        let mut found = Self::default();
        let mut calls: Vec<(usize, String, String)> = Vec::new();
        for (index, method) in class.methods.iter().enumerate() {
            let Ok(Some(code)) = method.code(&class.pool) else {
                continue;
            };
            let own = &facts.methods[index];
            if own.waits {
                found.add(own);
            }
            for (_, insn) in code.instructions().map_while(std::result::Result::ok) {
                let Insn::Invoke { method, .. } = insn else {
                    continue;
                };
                let Ok(called) = class.pool.method_ref(method) else {
                    continue;
                };
                if called.class == class.name {
                    calls.push((
                        index,
                        called.name.to_string(),
                        called.descriptor.to_string(),
                    ));
                }
            }
        }
        // Few methods wait, so this ends after a few rounds.
        while !found.0.is_empty() {
            let before = found.0.len();
            for (caller, name, descriptor) in &calls {
                if found.0.contains(&(name.clone(), descriptor.clone())) {
                    found.add(&facts.methods[*caller]);
                }
            }
            if found.0.len() == before {
                break;
            }
        }
        found
    }

    fn add(&mut self, method: &MethodFacts) {
        self.0
            .insert((method.name.clone(), method.descriptor.clone()));
    }

    pub(super) fn has(&self, method: &MethodFacts) -> bool {
        !self.0.is_empty() && (self.0).contains(&(method.name.clone(), method.descriptor.clone()))
    }
}

fn is_getter(called: &MemberRef<'_>, class: &str, facts: &ClassFacts) -> bool {
    let same = |own: &&MethodFacts| own.name == called.name && own.descriptor == called.descriptor;
    called.class == class && (facts.methods.iter().find(same)).is_some_and(|own| own.is_getter)
}

impl Weaver<'_, '_> {
    /// Tells of a call in which the thread waits; asked on both sides of it.
    pub(super) fn waiting_call(
        &mut self,
        index: usize,
        called: &MemberRef<'_>,
        side: Waiting,
    ) -> Result<()> {
        let class = called.class.replace('/', ".");
        if waiting_call(&class, &called.name, &called.descriptor) != Some(side) {
            return Ok(());
        }
        let waits = self.entry("waits", "I")?;
        let context = self.context()?;
        let mut code = match side {
            Waiting::Before => self.body.before(index),
            Waiting::After => self.body.after_within(index),
        };
        code.push_int(0, self.pool)?
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, waits);
        self.counts.add("sites: waiting");
        Ok(())
    }

    /// Tells of each round of the loops that spin, before anything else is put there.
    pub(super) fn spinning(&mut self) -> Result<()> {
        if !self.facts.waits {
            return Ok(());
        }
        let (class, facts) = (&self.subject.class.name, self.subject.facts);
        let insns = self.body.insns();
        let number = |label| self.body.target(label);
        let jumps = spins(insns, number, self.pool.base(), |called| {
            is_getter(called, class, facts)
        });
        let mut starts: Vec<usize> = jumps
            .into_iter()
            .filter_map(|jump| insns[jump].targets().filter_map(number).min())
            .collect();
        starts.sort_unstable();
        starts.dedup();
        for start in starts {
            if !self.survey.is_usual(start) {
                continue;
            }
            let waits = self.entry("waits", "I")?;
            let context = self.context()?;
            self.body
                .before(start)
                .push_int(0, self.pool)?
                .local(Op::Aload, context)
                .invoke(Op::Invokestatic, waits);
            self.counts.add("sites: spinning");
        }
        Ok(())
    }
}
