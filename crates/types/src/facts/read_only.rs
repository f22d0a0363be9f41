//! Fields that are written only while their objects are made, or their class is initialized: they could be declared final.
//!
//! Every body of the analyzed classes is looked at, whether anything calls it or not, and each by itself:
//! a constructor writes fields of its object before anything but accesses to its fields and a superclass's constructor that does likewise has got hold of the object.
//! So it does not matter who else runs, what reflection calls, or who extends the class; only another writer does, and a writer names the field in its class file.
//! Ways around the bytecode (handles, updaters, offsets) count as writers where any is in sight.

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_classfile::ClassFile;
use untorn_classfile::read::Entry;
use untorn_library::scope::scope;
use untorn_program::heap::{Handle, handles, names_asked_for};
use untorn_program::ir::{Body, InvokeKind, Op};
use untorn_program::{BlockId, ClassId, FieldId, MethodId, Program, ValueId};

/// What is known of all fields of the analyzed classes.
#[derive(Debug)]
pub struct ReadOnly {
    written: FxHashSet<FieldId>,
    /// Names and descriptors of fields that code may write which cannot be read.
    unreadable: FxHashSet<(String, String)>,
    names: FxHashMap<FieldId, (String, String)>,
}

struct Search<'p> {
    program: &'p Program,
    found: ReadOnly,
    /// Of constructors, whether anything else gets hold of their object while they run.
    leaking: FxHashMap<MethodId, bool>,
}

impl ReadOnly {
    pub fn find(program: &Program) -> Self {
        let mut search = Search {
            program,
            found: Self {
                written: FxHashSet::default(),
                unreadable: FxHashSet::default(),
                names: FxHashMap::default(),
            },
            leaking: FxHashMap::default(),
        };
        let table = program.classes();
        for &class in program.inputs() {
            for &field in &table.class(class).fields {
                let descriptor = table.names.name(table.field(field).descriptor);
                let name = (table.field_name(field).to_owned(), descriptor.to_owned());
                search.found.names.insert(field, name);
            }
            for &method in &table.class(class).methods {
                search.method(class, method);
            }
        }
        search.found
    }

    pub fn contains(&self, field: FieldId) -> bool {
        let named = self.names.get(&field);
        !self.written.contains(&field)
            && named.is_some_and(|named| !self.unreadable.contains(named))
    }
}

impl Search<'_> {
    fn method(&mut self, class: ClassId, method: MethodId) {
        let table = self.program.classes();
        if !table.method(method).has_code {
            return;
        }
        let Some(body) = self.program.body(method) else {
            self.give_up(class);
            return;
        };
        self.find_handles(class, body);
        let own = |field: FieldId| table.field(field).class == class;
        let leaked = table.is_constructor(method).then(|| self.leaked(body));
        for block in body.block_ids() {
            let mut is_leaked = leaked.as_ref().is_none_or(|leaked| leaked[block.index()]);
            for (_, instr) in body.block_instrs(block) {
                match instr.op {
                    Op::PutField { object, field, .. } => {
                        let made_here = body.receiver() == Some(object) && own(field);
                        if is_leaked || !made_here {
                            self.found.written.insert(field);
                        }
                    }
                    Op::PutStatic { field, .. }
                        if !table.is_class_initializer(method) || !own(field) =>
                    {
                        self.found.written.insert(field);
                    }
                    _ => {}
                }
                is_leaked = is_leaked || self.leaks(body, &instr.op);
            }
        }
    }

    /// A class has code that cannot be read: it may write what its constants name.
    fn give_up(&mut self, class: ClassId) {
        let file = ClassFile::parse(&self.program.classes().class(class).bytes);
        let Ok(file) = file else { return };
        for (index, entry) in file.pool.entries() {
            if matches!(entry, Entry::Field { .. })
                && let Ok(named) = file.pool.field_ref(index)
            {
                let named = (named.name.to_string(), named.descriptor.to_string());
                self.found.unreadable.insert(named);
            }
        }
    }

    /// Fields that may be written through something that the body makes.
    fn find_handles(&mut self, class: ClassId, body: &Body) {
        let table = self.program.classes();
        let nest = |of: ClassId| table.class_name(of).split('$').next();
        for handle in handles(table, body) {
            match handle {
                Handle::Field(field) => {
                    self.found.written.insert(field);
                }
                Handle::SomeField => {
                    let mates = self.program.inputs().iter();
                    for &mate in mates.filter(|&&mate| nest(mate) == nest(class)) {
                        self.found.written.extend(&table.class(mate).fields);
                    }
                }
                Handle::Methods(..) => {}
            }
        }
        for name in names_asked_for(body) {
            let inputs = self.program.inputs().iter();
            let named = inputs.filter_map(|&input| table.declared_field(input, name));
            self.found.written.extend(named);
        }
    }

    /// Of every block of a constructor, whether something else may know the object at its entry.
    fn leaked(&mut self, body: &Body) -> Vec<bool> {
        let mut leaked = vec![false; body.blocks.len()];
        let mut work: Vec<BlockId> = Vec::new();
        for block in body.block_ids() {
            let phis = &body.block(block).phis;
            let named = phis.iter().flat_map(|phi| &phi.inputs);
            // Under another name it could go anywhere.
            if named.copied().any(|input| Some(input) == body.receiver()) {
                leaked[block.index()] = true;
            }
            let mut instrs = body.block_instrs(block);
            if leaked[block.index()] || instrs.any(|(_, instr)| self.leaks(body, &instr.op)) {
                work.push(block);
            }
        }
        while let Some(block) = work.pop() {
            let at = body.block(block);
            let next = at.succs.iter().copied();
            for next in next.chain(at.handlers.iter().map(|handler| handler.block)) {
                if !std::mem::replace(&mut leaked[next.index()], true) {
                    work.push(next);
                }
            }
        }
        leaked
    }

    /// Whether an instruction of a constructor lets anything else know its object.
    fn leaks(&mut self, body: &Body, op: &Op) -> bool {
        let Some(this) = body.receiver() else {
            return false;
        };
        let names = |values: &[ValueId]| values.contains(&this);
        match op {
            Op::GetField { .. } => false,
            Op::PutField { value, .. } => *value == this,
            Op::Invoke { kind, method, args } => {
                let made = *kind == InvokeKind::Special
                    && self.program.classes().is_constructor(*method)
                    && args.first() == Some(&this);
                if made {
                    names(&args[1..]) || self.constructor_leaks(*method)
                } else {
                    names(args)
                }
            }
            other => {
                let mut named = false;
                other.for_each_operand(|value| named |= value == this);
                named
            }
        }
    }

    fn constructor_leaks(&mut self, constructor: MethodId) -> bool {
        if let Some(&known) = self.leaking.get(&constructor) {
            return known;
        }
        // A constructor that calls itself never ends.
        self.leaking.insert(constructor, true);
        let table = self.program.classes();
        let class = table.method(constructor).class;
        let leaks = if self.program.is_input(class) {
            match self.program.body(constructor) {
                Some(body) => {
                    body.blocks.iter().any(|block| {
                        let inputs = block.phis.iter().flat_map(|phi| &phi.inputs);
                        inputs.copied().any(|input| Some(input) == body.receiver())
                    }) || body.instrs.iter().any(|instr| self.leaks(body, &instr.op))
                }
                None => true,
            }
        } else {
            !scope()
                .quiet_constructors
                .contains(&table.class_name(class))
        };
        self.leaking.insert(constructor, leaks);
        leaks
    }
}
