//! Facts for runs: which accesses cannot conflict and which regions are proved, each bound to the hash of its class file.
//!
//! What is read-only is found on the class files alone ([`read_only`]), and holds whatever else is loaded, as long as that does not write the field.
//! What is confined to one thread, and which locks are, rests on a closed world and a call graph with nothing left out ([`whole`]).

mod read_only;

use std::collections::{BTreeMap, BTreeSet};

use untorn_classfile::{ClassFile, Insn, Op as Instruction};
use untorn_facts::{Class, Facts, Field, Monitor, Region, SCHEMA, hash_of};
use untorn_program::classes::{Class as Loaded, Classes};
use untorn_program::load::Origin;
use untorn_program::{Assumption, ClassId, FieldId, MethodId, Program};

use crate::annotations::Annotations;
use crate::front::{Confined, Front, Options};
use crate::report::{Outcome, granted};
use read_only::ReadOnly;

/// What a run may take for granted, of a program and of what was proved of it.
pub fn facts(program: &Program, options: Options, outcome: &Outcome) -> Facts {
    let table = program.classes();
    let read_only = ReadOnly::find(program);
    let mut assumptions = granted(program, options);
    let confined = match whole(program, options) {
        Ok(()) => Front::new(program, options, &Annotations::default()).confined(),
        Err(why) => {
            assumptions.push(format!("nothing is confined to a thread: {why}"));
            Confined::default()
        }
    };
    let mut classes = BTreeMap::new();
    for id in table.class_ids() {
        let class = table.class(id);
        if class.bytes.is_empty() || class.origin == Origin::Jdk {
            continue;
        }
        let known = Known {
            table,
            class,
            is_input: program.is_input(id),
        };
        let known = known.facts(&read_only, &confined);
        classes.insert(dotted(table.class_name(id)), known);
    }
    Facts {
        schema: SCHEMA.to_owned(),
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        main: program
            .is_application()
            .then(|| main_class(program))
            .flatten(),
        assumptions,
        classes,
        proved: outcome.proved.iter().filter_map(region).collect(),
    }
}

/// Whether the call graph has everything that may run; what is missing if not.
fn whole(program: &Program, options: Options) -> Result<(), String> {
    if !program.is_application() {
        return Err(
            "any client may use the classes; --main says where a program starts".to_owned(),
        );
    }
    if options.pure_values {
        return Err("it was only assumed that values are harmless".to_owned());
    }
    for (kind, what) in [
        (Assumption::Reflection, "reflective calls are not followed"),
        (
            Assumption::UnknownBootstrap,
            "dynamic calls are not understood",
        ),
        (Assumption::UnreadableBody, "methods cannot be read"),
    ] {
        if let Some((_, first, _)) = program.assumptions().iter().find(|(of, ..)| *of == kind) {
            let count = program.assumptions().subjects(kind);
            return Err(format!("{count} {what}, {first} among them"));
        }
    }
    let table = program.classes();
    let native = table.class_ids().find_map(|id| {
        let class = table.class(id);
        let own = class.origin != Origin::Jdk && !class.bytes.is_empty();
        let mut methods = class.methods.iter().filter(|_| own).copied();
        methods.find(|&method| table.method(method).flags.is_native())
    });
    match native {
        Some(method) => Err(format!(
            "{} is native",
            dotted(&table.describe_method(method))
        )),
        None => Ok(()),
    }
}

fn main_class(program: &Program) -> Option<String> {
    let heap = program.heap();
    let main = heap
        .roots()
        .iter()
        .find(|root| root.kind == untorn_program::heap::RootKind::Main)?;
    let table = program.classes();
    let class = table.method(heap.node(main.node).method).class;
    Some(dotted(table.class_name(class)))
}

fn region(proved: &untorn_findings::Region) -> Option<Region> {
    Some(Region {
        class: proved.class.clone()?,
        method: proved.method.clone(),
        descriptor: proved.descriptor.clone()?,
        block: proved.block,
    })
}

fn dotted(internal: &str) -> String {
    internal.replace('/', ".")
}

/// A class file that was read.
struct Known<'p> {
    table: &'p Classes,
    class: &'p Loaded,
    is_input: bool,
}

impl Known<'_> {
    fn facts(&self, read_only: &ReadOnly, confined: &Confined) -> Class {
        let above = self.class.superclass;
        let fields = self.class.fields.iter();
        Class {
            hash: hash_of(&self.class.bytes),
            above: above.map(|id: ClassId| dotted(self.table.class_name(id))),
            analyzed: self.is_input,
            fields: (fields.filter(|field| !self.table.field(**field).missing))
                .map(|&field| (self.key(field), self.field(field, read_only, confined)))
                .collect(),
            locks: self.locks(confined),
        }
    }

    fn key(&self, field: FieldId) -> String {
        let info = self.table.field(field);
        untorn_facts::key(
            self.table.field_name(field),
            self.table.names.name(info.descriptor),
        )
    }

    fn field(&self, field: FieldId, read_only: &ReadOnly, confined: &Confined) -> Field {
        if !self.is_input || self.table.field(field).flags.is_final() {
            // The agent knows what final fields are.
            Field::Shared
        } else if read_only.contains(field) {
            Field::ReadOnly
        } else if confined.fields.contains(&field) {
            Field::Confined
        } else {
            Field::Shared
        }
    }

    fn locks(&self, confined: &Confined) -> BTreeSet<Monitor> {
        let mut locks = BTreeSet::new();
        if !self.is_input {
            return locks;
        }
        let monitor = |method: MethodId, block| Monitor {
            method: self.table.method_name(method).to_owned(),
            descriptor: self.table.method_descriptor(method).to_owned(),
            block,
        };
        let own = self.class.methods.iter().copied();
        for method in own.filter(|method| confined.methods.contains(method)) {
            locks.insert(monitor(method, None));
        }
        for &(method, offset) in &confined.blocks {
            if self.class.methods.contains(&method)
                && let Some(block) = self.number(method, offset)
            {
                locks.insert(monitor(method, Some(block)));
            }
        }
        locks
    }

    /// The number of the block whose `monitorenter` stands at an offset, counted as in the specification.
    fn number(&self, method: MethodId, offset: u32) -> Option<u32> {
        let class = ClassFile::parse(&self.class.bytes).ok()?;
        let own = class.methods.iter().find(|own| {
            own.name == self.table.method_name(method)
                && own.descriptor == self.table.method_descriptor(method)
        })?;
        let code = own.code(&class.pool).ok()??;
        let mut number = 0;
        for (at, insn) in code.decode().ok()? {
            number += u32::from(matches!(insn, Insn::Plain(Instruction::Monitorenter)));
            if at == offset {
                return Some(number);
            }
        }
        None
    }
}
