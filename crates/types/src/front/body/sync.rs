//! Locks taken and given back: monitors and explicit locks.

use untorn_program::ir::Op;
use untorn_program::library::{LockAction, LockMode, Stamped};
use untorn_program::{FieldId, InstrId, MethodId, RegionId as Section, ValueId};

use super::super::Translator;
use super::super::fresh::Leaked;
use super::super::names::{explicit, field_name, is_lock_class};
use super::super::sites::What;
use super::{Taking, Writer};
use crate::algebra::Atomicity;
use crate::input::{Arg, Effect};
use crate::locks::{Expr, FieldName, Lock, Root};

impl Writer<'_, '_, '_> {
    /// The lock that protects the lock of an object, if its class has such.
    pub(super) fn protector(&mut self, object: ValueId, leaked: &Leaked) -> Option<Arg> {
        let class = self.shape.body.ty(object).class()?;
        let declared = self.translator.declared_protector(self.shape, object);
        if declared.is_none() {
            let t = &*self.translator;
            t.ghosts.family_of_class(class)?;
            if t.ghosts.internal().is_all(class) {
                return None;
            }
        }
        // Nobody contends for the lock of an object that nobody knows.
        if self.is_confined(object, leaked) {
            return None;
        }
        if declared.is_some() {
            return declared;
        }
        self.translator.ghosts.protects(class);
        Some(self.translator.ghosts.arg(self.key.method, object))
    }

    fn monitor(&mut self, object: ValueId) -> Lock {
        let lock = self.name(object);
        let class = self.shape.body.ty(object).class();
        if class.is_some_and(|class| is_lock_class(self.translator.world, class)) {
            self.translator.locks.monitor(lock)
        } else {
            lock
        }
    }

    fn section(&self, at: InstrId, exit: bool) -> Option<Section> {
        if !self.structured {
            return None;
        }
        let locks = self.translator.world.program.locks(self.key.method);
        let index = locks.regions().iter().position(|region| {
            if exit {
                region.exits.contains(&at)
            } else {
                region.enter == at
            }
        })?;
        Some(Section::new(index))
    }

    pub(super) fn monitor_enter(&mut self, at: InstrId, object: ValueId, leaked: &Leaked) {
        let protector = self.protector(object, leaked);
        let line = self.shape.body.instr(at).line;
        let lock = self.monitor(object);
        self.translator.record_lock(lock, true);
        if let Some(section) = self.section(at, false) {
            let region = self.translator.region(self.key, self.shape, section);
            let site = self.site(line, What::Entry);
            self.push(
                Effect::Begin {
                    region,
                    asserted: false,
                },
                site,
            );
        }
        let site = self.site(line, What::Acquire(lock));
        self.push(
            Effect::Acquire {
                lock: Some(lock),
                protector,
            },
            site,
        );
    }

    pub(super) fn monitor_exit(&mut self, at: InstrId, object: ValueId, leaked: &Leaked) {
        let protector = self.protector(object, leaked);
        let line = self.shape.body.instr(at).line;
        let lock = self.monitor(object);
        let site = self.site(line, What::Release(lock));
        self.push(
            Effect::Release {
                lock: Some(lock),
                protector,
            },
            site,
        );
        if self.section(at, true).is_some() {
            self.push(Effect::End, site);
        }
    }

    pub(super) fn explicit_lock(
        &mut self,
        line: u16,
        action: LockAction,
        receiver: ValueId,
        mode: LockMode,
    ) -> Taking {
        let t = &mut *self.translator;
        let explicit = explicit(t.world, t.facts, &mut t.locks, self.shape, receiver, mode);
        t.record_lock(explicit.lock, explicit.excludes);
        let lock = Some(explicit.lock);
        match action {
            LockAction::Acquire => {
                let site = self.site(line, What::Acquire(explicit.lock));
                self.push(
                    Effect::Acquire {
                        lock,
                        protector: None,
                    },
                    site,
                );
                Taking::Taken
            }
            LockAction::Release => {
                let site = self.site(line, What::Release(explicit.lock));
                self.push(
                    Effect::Release {
                        lock,
                        protector: None,
                    },
                    site,
                );
                Taking::Nothing
            }
            LockAction::Try => {
                let site = self.site(line, What::Acquire(explicit.lock));
                Taking::Tried(explicit.lock, site)
            }
        }
    }

    /// What a method of a lock that gives stamps does to it, where its name alone does not say which side it is about; nothing if it takes and gives back none.
    ///
    /// A stamp says the side if this method got it itself; else anything may have been given back.
    pub(super) fn stamped(
        &mut self,
        line: u16,
        named: MethodId,
        args: &[ValueId],
    ) -> Option<Taking> {
        let world = self.translator.world;
        let classes = world.table();
        let &receiver = args.first()?;
        let stamped = (world.program.library().effect(classes, named)).and_then(|e| e.stamped);
        let name = classes.method_name(named);
        match stamped {
            Some(Stamped::TryRead) => {
                return Some(self.explicit_lock(line, LockAction::Try, receiver, LockMode::Shared));
            }
            Some(Stamped::TryWrite) if name == "tryWriteLock" => {
                let mode = LockMode::Exclusive;
                return Some(self.explicit_lock(line, LockAction::Try, receiver, mode));
            }
            Some(Stamped::Release) if name == "unlock" => {
                if let Some(mode) = args.get(1).and_then(|&stamp| self.side_of(receiver, stamp)) {
                    return Some(self.explicit_lock(line, LockAction::Release, receiver, mode));
                }
            }
            Some(Stamped::Optimistic | Stamped::Validate) => return None,
            None if !name.starts_with("try") => return None,
            _ => {}
        }
        let t = &mut *self.translator;
        let mode = LockMode::Exclusive;
        let lock = explicit(t.world, t.facts, &mut t.locks, self.shape, receiver, mode).lock;
        let site = self.site(line, What::Release(lock));
        let (lock, protector) = (None, None);
        self.push(Effect::Release { lock, protector }, site);
        let site = self.site(line, What::Unmodelled(named));
        self.push(Effect::Does(Atomicity::CMPD), site);
        Some(Taking::Nothing)
    }

    /// Which side of a lock its stamp stands for, if the stamp is what the same lock gave here.
    fn side_of(&mut self, receiver: ValueId, stamp: ValueId) -> Option<LockMode> {
        let Op::Invoke { method, args, .. } = &self.shape.body.defining(stamp)?.op else {
            return None;
        };
        let &[giver, ..] = &args[..] else {
            return None;
        };
        let same = self.name(giver) == self.name(receiver);
        let world = self.translator.world;
        let effect = world.program.library().effect(world.table(), *method)?;
        let (action, mode) = effect.lock?;
        (same && action == LockAction::Acquire).then_some(mode)
    }
}

impl Translator<'_, '_> {
    /// Notes what serves as a lock, so that it may be a guard.
    pub(super) fn record_lock(&mut self, lock: Lock, excludes: bool) {
        let plain = match self.locks.expr(lock) {
            Expr::Shared(base) | Expr::Monitor(base) => base,
            _ => lock,
        };
        match self.locks.expr(plain) {
            Expr::Field(_, field) => {
                let (owner, name) = self.locks.field_parts(field);
                let used = (owner.to_owned(), name.to_owned());
                if excludes {
                    self.used.fields.insert(used);
                } else {
                    self.used.unsure_fields.insert(used);
                }
            }
            Expr::Root(Root::Class(class)) => {
                let class = self.locks.class_text(class).to_owned();
                self.used.classes.insert(class);
            }
            _ => {}
        }
    }

    /// The field as a step of a path.
    pub(in super::super) fn step(&mut self, field: FieldId) -> FieldName {
        field_name(self.world, &mut self.locks, field)
    }
}
