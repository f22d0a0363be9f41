//! Calls: what of the program they may run, what is known by its model, and what nobody has seen.
//!
//! A call runs one of its callees: each is a way of its own through the graph, and the ways meet behind the call.

use untorn_program::ir::{InvokeKind, Op};
use untorn_program::library::Access;
use untorn_program::{ClassId, FieldId, InstrId, MethodId, ValueId};

use super::super::Translator;
use super::super::content::Source;
use super::super::fresh::{Leaked, is_clone};
use super::super::models::Operand;
use super::super::names::is_stamped;
use super::super::sites::What;
use super::super::versions::{Key, library_touches};
use super::super::world::Callees;
use super::{Taking, Writer};
use crate::algebra::Atomicity;
use crate::basic::Basic;
use crate::input::{Actuals, Arg, Effect, Target};
use crate::locks::Root;

impl Writer<'_, '_, '_> {
    pub(super) fn invoke(
        &mut self,
        at: InstrId,
        named: MethodId,
        args: &[ValueId],
        leaked: &Leaked,
    ) -> Taking {
        let line = self.shape.body.instr(at).line;
        let world = self.translator.world;
        let callees = world.callees(self.key.method, at);
        let effect = world.program.library().effect(world.table(), named);
        if callees.translated.is_empty()
            && callees.handed.is_empty()
            && let Some((action, mode)) = effect.and_then(|effect| effect.lock)
            && let Some(&receiver) = args.first()
        {
            return self.explicit_lock(line, action, receiver, mode);
        }
        if let Some(&receiver) = args.first()
            && is_stamped(world, self.shape.body.ty(receiver).class())
            && let Some(taking) = self.stamped(line, named, args)
        {
            return taking;
        }
        self.one_of(at, named, callees, args, leaked);
        Taking::Nothing
    }

    /// One of these runs; what nobody has seen comes first, since it explains most.
    fn one_of(
        &mut self,
        at: InstrId,
        named: MethodId,
        callees: &Callees,
        args: &[ValueId],
        leaked: &Leaked,
    ) {
        let line = self.shape.body.instr(at).line;
        let fork = self.cursor;
        let mut ends = Vec::new();
        // What is only declared is called by its declaration.
        let (declared, library): (Vec<MethodId>, Vec<MethodId>) = (callees.library.iter().copied())
            .partition(|&callee| self.translator.is_declared(callee));
        let unknown = callees.unknown && !self.translator.is_declared(named);
        let believed = (callees.unknown && !unknown).then_some(named);
        if unknown {
            let site = self.site(line, What::Unknown(named));
            self.push(Effect::Does(Atomicity::CMPD), site);
            ends.push(self.cursor);
        }
        for callee in library {
            self.cursor = fork;
            self.library_call(at, callee, args, leaked);
            ends.push(self.cursor);
        }
        let called: Vec<MethodId> = (callees.translated.iter().copied())
            .chain(declared)
            .chain(believed)
            .collect();
        if !called.is_empty() {
            self.cursor = fork;
            self.program_call(at, named, &called, args, leaked);
            ends.push(self.cursor);
        }
        if !callees.handed.is_empty() {
            self.cursor = fork;
            self.handed_call(named, &callees.handed, line);
            ends.push(self.cursor);
        }
        if ends.is_empty() {
            return;
        }
        self.meet(&ends, line);
    }

    /// Calls one of these methods of the input.
    fn program_call(
        &mut self,
        at: InstrId,
        named: MethodId,
        callees: &[MethodId],
        args: &[ValueId],
        leaked: &Leaked,
    ) {
        let line = self.shape.body.instr(at).line;
        let mut accessed: Vec<(ValueId, bool)> = Vec::new();
        for &callee in callees {
            for (position, &arg) in args.iter().enumerate() {
                if let Some(&write) = self.translator.touched.get(&(callee, position)) {
                    accessed.push((arg, write));
                }
            }
        }
        for (arg, write) in accessed {
            self.elements(line, arg, write, true, leaked);
        }
        let mut targets = Vec::new();
        for &callee in callees {
            let world = self.translator.world;
            let key = if world.is_translated(callee) {
                let touched = self.translator.touched;
                Key::called(world, touched, self.key, self.shape, leaked, callee, args)
            } else {
                Key::bodiless(callee)
            };
            if let Some(&receiver) = args.first()
                && !world.table().method(callee).flags.is_static()
                && self.translator.excludes(self.shape, receiver, callee)
            {
                continue;
            }
            let mut actuals = self.translator.call_actuals(self.shape, at, callee, args);
            actuals.0.extend(self.ghost_actuals(callee, args));
            if let Some(method) = self.translator.method(key) {
                let internal = self.internal_only(at, callee, args);
                targets.push(Target {
                    method,
                    actuals,
                    internal,
                });
            }
        }
        if !targets.is_empty() {
            let site = self.site(line, What::Call(named));
            self.push(Effect::Call(targets), site);
        }
    }

    /// Runs one of these methods through an object that was made of it: it has names of its own for what it captured and gets.
    fn handed_call(&mut self, named: MethodId, callees: &[MethodId], line: u16) {
        let mut targets = Vec::new();
        for &callee in callees {
            let key = Key::general(self.translator.world.table(), callee);
            if let Some(method) = self.translator.method(key) {
                targets.push(Target {
                    method,
                    actuals: Actuals(Vec::new()),
                    internal: None,
                });
            }
        }
        if !targets.is_empty() {
            let site = self.site(line, What::Call(named));
            self.push(Effect::Call(targets), site);
        }
    }

    /// The ghost argument of a receiver that must be `always_held` or `none` for this callee to run.
    fn internal_only(&self, at: InstrId, callee: MethodId, args: &[ValueId]) -> Option<Arg> {
        if let Op::Invoke { kind, .. } = self.shape.body.instr(at).op
            && kind == InvokeKind::Special
        {
            return None;
        }
        let t = &*self.translator;
        let internal = t.ghosts.internal();
        let &receiver = args.first()?;
        let class = self.shape.body.ty(receiver).class()?;
        let runs = internal.runs(callee) && !internal.is_all(class);
        let known = t.ghosts.family_of_class(class).is_some();
        (runs && known).then(|| t.ghosts.arg(self.key.method, receiver))
    }

    /// The ghost arguments that a callee gets.
    fn ghost_actuals(&self, callee: MethodId, args: &[ValueId]) -> Vec<(Root, Arg)> {
        let t = &*self.translator;
        if t.ghosts.is_empty() {
            return Vec::new();
        }
        let info = t.world.table().method(callee);
        let receiver = usize::from(!info.flags.is_static());
        let own = t.ghosts.ghost_of(info.class).filter(|_| receiver == 1);
        let params = t.ghosts.params_of(callee, info.params.len());
        own.map(|ghost| (0, ghost))
            .into_iter()
            .chain(params.into_iter().map(|(i, ghost)| (i + receiver, ghost)))
            .filter_map(|(position, ghost)| {
                let arg = t.ghosts.arg(self.key.method, *args.get(position)?);
                Some((Root::Ghost(ghost), arg))
            })
            .collect()
    }

    fn library_call(&mut self, at: InstrId, callee: MethodId, args: &[ValueId], leaked: &Leaked) {
        let line = self.shape.body.instr(at).line;
        let world = self.translator.world;
        if is_clone(world, callee) {
            self.shallow_copy(line, args, leaked);
            return;
        }
        let touched = library_touches(world, self.shape, callee, args);
        let (mut does, known) = self.library_effect(callee, args, leaked);
        // Section 7.3: nobody waits for the lock of a container that one thread alone has.
        if does == Atomicity::ATOMIC && self.is_own_container(callee, args, leaked) {
            does = Atomicity::MOVER;
        }
        for (arg, write) in touched {
            self.elements(line, arg, write, true, leaked);
        }
        if does != Atomicity::CONST {
            let what = if known {
                What::Library(callee)
            } else {
                What::Unmodelled(callee)
            };
            let site = self.site(line, what);
            if let Some((field, write)) = self.held_content(callee, args, leaked) {
                self.translator.sites.add_content(site, field, write);
            }
            self.push(Effect::Does(does), site);
        }
        let asked = world.asked(self.key.method, callee, args);
        if asked.is_empty() {
            return;
        }
        // Any number of questions, in any order.
        let site = self.site(line, What::Entry);
        self.push(Effect::Skip, site);
        let head = self.cursor;
        for question in asked {
            self.cursor = head;
            let arg = [question.whom];
            self.one_of(at, question.method, &question.callees, &arg, leaked);
            if let Some(head) = head {
                self.link(self.cursor, head);
            }
        }
        self.cursor = head;
    }

    /// The field whose content a call accesses, if its receiver is a container that the field holds, and whether it may write it.
    fn held_content(
        &self,
        callee: MethodId,
        args: &[ValueId],
        leaked: &Leaked,
    ) -> Option<(FieldId, bool)> {
        let t = &*self.translator;
        let classes = t.world.table();
        let info = classes.method(callee);
        let &receiver = args.first().filter(|_| !info.flags.is_static())?;
        let name = classes.method_name(callee);
        let holds_content = self.has_content(info.class);
        if !holds_content || name == "<init>" || self.is_confined(receiver, leaked) {
            return None;
        }
        let mut sources: Vec<Source> = (t.content.sources(t.world, self.shape, receiver))
            .into_iter()
            .collect();
        sources.sort_unstable();
        let field = sources.into_iter().find_map(|source| match source {
            Source::Field(_, field) => Some(field),
            _ => None,
        })?;
        let effect = t.world.program.library().effect(classes, callee);
        let said = effect.and_then(|effect| effect.access.or(effect.touches));
        let write = said.map_or_else(|| !only_reads(name), |access| access != Access::Read);
        Some((field, write))
    }

    fn has_content(&self, class: ClassId) -> bool {
        let classes = self.translator.world.table();
        let mut all = classes.supertypes(class).iter().chain([&class]);
        all.any(|&class| is_container(classes.class_name(class)))
    }

    /// Whether the receiver is a container of the platform that no other thread can know.
    fn is_own_container(&self, callee: MethodId, args: &[ValueId], leaked: &Leaked) -> bool {
        let info = self.translator.world.table().method(callee);
        !info.flags.is_static()
            && self.has_content(info.class)
            && (args.first()).is_some_and(|&receiver| self.is_confined(receiver, leaked))
    }

    /// What a library method is as a step, and whether that is known of it or only the worst that it can be.
    fn library_effect(
        &self,
        callee: MethodId,
        args: &[ValueId],
        leaked: &Leaked,
    ) -> (Atomicity, bool) {
        let world = self.translator.world;
        let classes = world.table();
        let receiver = usize::from(!classes.method(callee).flags.is_static());
        if let Some(model) = world.model(callee) {
            let method = self.key.method;
            let given = |operand: &Operand| match operand {
                Operand::Receiver => args.first(),
                Operand::Arg(index) => args.get(index + receiver),
            };
            let natural = |&receiver: &ValueId| world.is_natural(method, receiver);
            let ordered = !model.natural || args.first().is_some_and(natural);
            let mut plain = model.plain.iter().filter_map(given);
            let plain = plain.all(|&arg| world.is_plain_collection(method, arg));
            let mut asked = model.calls.iter().filter_map(given);
            let harmless = ordered && plain && asked.all(|&arg| self.is_value(arg));
            let own = model.own
                && (args.first()).is_some_and(|&receiver| self.is_confined(receiver, leaked));
            return if harmless && own {
                (Atomicity::CONST, true)
            } else if harmless && !model.own {
                (Basic::from(model.is).into(), true)
            } else {
                (Atomicity::CMPD, false)
            };
        }
        let Some(effect) = world.program.library().effect(classes, callee) else {
            return (Atomicity::CMPD, false);
        };
        if effect.view.is_some() {
            return (Atomicity::CONST, true);
        }
        // One step each, unless user code takes part.
        let atomics = classes
            .class_name(classes.method(callee).class)
            .starts_with("java/util/concurrent/atomic/");
        let plain = !classes
            .method_descriptor(callee)
            .contains("Ljava/util/function/")
            && (atomics || args.iter().skip(receiver).all(|&arg| self.is_value(arg)));
        if effect.access.is_some() && plain {
            (Atomicity::ATOMIC, true)
        } else {
            (Atomicity::CMPD, effect.touches.is_some() && plain)
        }
    }
}

/// Library classes whose objects are their content.
fn is_container(class: &str) -> bool {
    class.starts_with("java/util/concurrent/atomic/")
        || matches!(
            class,
            "java/util/Collection"
                | "java/util/Map"
                | "java/util/Dictionary"
                | "java/util/BitSet"
                | "java/lang/AbstractStringBuilder"
                | "java/lang/StringBuffer"
        )
}

/// Whether a method of a container that nobody has described only reads it, for all that its name says.
fn only_reads(name: &str) -> bool {
    const READING: [&str; 21] = [
        "get",
        "is",
        "contains",
        "peek",
        "size",
        "length",
        "first",
        "last",
        "element",
        "iterator",
        "listIterator",
        "keys",
        "keySet",
        "values",
        "entrySet",
        "to",
        "indexOf",
        "hashCode",
        "equals",
        "charAt",
        "sub",
    ];
    READING.iter().any(|prefix| name.starts_with(prefix)) && !name.contains("And")
}

impl Translator<'_, '_> {
    /// Whether a method is known by its declaration alone.
    fn is_declared(&self, method: MethodId) -> bool {
        !self.world.is_translated(method) && self.method(Key::bodiless(method)).is_some()
    }
}
