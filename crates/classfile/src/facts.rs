//! What a class file says that matters for which regions ought to be atomic.
//!
//! The agent and the program model both ask here, so that they decide alike.

use crate::Result;
use crate::candidates::{find_handed_over, is_tiny};
use crate::insn::{Insn, Op};
use crate::monitors::{Monitors, Protected, catches_all};
use crate::read::{Access, Attributes, ClassFile, Code, ConstantPool, Entry, MemberRef, Method};
use crate::spinning::spins;
use untorn_spec::{
    ClassFacts, FieldFacts, MethodFacts, Waiting, is_interrupting_call, is_starting_call,
    makes_concurrent, waiting_call,
};

/// The facts of a class, for [`untorn_spec::Specification::decide`].
///
/// `synchronized` blocks are counted by their `monitorenter` instructions, in the order of the code.
pub fn facts_of(class: &ClassFile<'_>) -> Result<ClassFacts> {
    let mut methods = Vec::with_capacity(class.methods.len());
    for method in &class.methods {
        methods.push(method_facts(class, method)?);
    }
    find_spinning(class, &mut methods)?;
    find_handed_over(class, &mut methods);
    let makes_concurrent = class.pool.entries().any(|(index, entry)| {
        let called = || class.pool.method_ref(index).ok();
        matches!(entry, Entry::Method { .. })
            && called().is_some_and(|called| makes_concurrent(&dotted(&called.class), &called.name))
    });
    Ok(ClassFacts {
        name: dotted(&class.name),
        super_name: class.super_name.as_deref().map(dotted),
        interfaces: class
            .interface_names()
            .map(|name| name.map(|name| dotted(&name)))
            .collect::<Result<_>>()?,
        is_interface: class.access.has(Access::INTERFACE),
        annotations: annotations(&class.attributes, &class.pool)?,
        fields: class
            .fields
            .iter()
            .map(|field| {
                Ok(FieldFacts {
                    name: field.name.to_string(),
                    descriptor: field.descriptor.to_string(),
                    is_static: field.is_static(),
                    is_final: field.access.has(Access::FINAL),
                    is_volatile: field.access.has(Access::VOLATILE),
                    annotations: annotations(&field.attributes, &class.pool)?,
                })
            })
            .collect::<Result<_>>()?,
        makes_concurrent,
        methods,
    })
}

fn dotted(internal: &str) -> String {
    internal.replace('/', ".")
}

fn annotations(attributes: &Attributes<'_>, pool: &ConstantPool<'_>) -> Result<Vec<String>> {
    let all = attributes.annotations(pool)?;
    Ok(all
        .iter()
        .map(|annotation| annotation.simple_name().to_owned())
        .collect())
}

fn method_facts(class: &ClassFile<'_>, method: &Method<'_>) -> Result<MethodFacts> {
    let mut facts = MethodFacts {
        name: method.name.to_string(),
        descriptor: method.descriptor.to_string(),
        is_private: method.access.has(Access::PRIVATE),
        is_static: method.is_static(),
        is_synchronized: method.access.has(Access::SYNCHRONIZED),
        is_synthetic: method.access.has(Access::SYNTHETIC) || method.attributes.is_synthetic(),
        annotations: annotations(&method.attributes, &class.pool)?,
        ..MethodFacts::default()
    };
    let Some(code) = method.code(&class.pool)? else {
        return Ok(facts);
    };
    facts.has_code = true;
    facts.line = code
        .line_numbers()?
        .iter()
        .min_by_key(|number| number.start)
        .map_or(0, |number| number.line.into());
    for next in code.instructions() {
        match next? {
            (_, Insn::Plain(Op::Monitorenter)) => facts.blocks += 1,
            (_, Insn::Invoke { method, .. }) => {
                if let Ok(called) = class.pool.method_ref(method) {
                    let owner = dotted(&called.class);
                    let (name, descriptor) = (&called.name, &called.descriptor);
                    facts.interrupts |= is_interrupting_call(&owner, name, descriptor);
                    facts.waits |= waiting_call(&owner, name, descriptor) == Some(Waiting::Before);
                    facts.starts_threads |= is_starting_call(&owner, name, descriptor);
                }
            }
            _ => {}
        }
    }
    facts.is_getter = is_getter(&code);
    facts.is_tiny = is_tiny(&code, class);
    facts.unstructured = facts.blocks > 0 && !is_structured(&code, &class.pool).unwrap_or(false);
    Ok(facts)
}

/// Whether the blocks of a body nest.
fn is_structured(code: &Code<'_>, pool: &ConstantPool<'_>) -> Result<bool> {
    let (offsets, insns): (Vec<u32>, Vec<Insn>) = code.decode()?.into_iter().unzip();
    let number = |offset: u32| number_of(&offsets, offset);
    let ranges: Vec<Protected> = (code.exceptions.iter())
        .map(|entry| Protected {
            start: number(entry.start),
            end: number(entry.end),
            handler: number(entry.handler),
            catches_all: catches_all(entry.catch_type, pool),
        })
        .collect();
    Ok(Monitors::of(&insns, |target| Some(number(target)), &ranges).is_structured())
}

/// The number of the instruction at an offset.
fn number_of(offsets: &[u32], offset: u32) -> usize {
    offsets.partition_point(|&at| at < offset)
}

/// Whether a body gives out a field of its object or class, and does nothing else.
fn is_getter(code: &Code<'_>) -> bool {
    let mut insns = code.instructions().map_while(Result::ok);
    let mut next = || insns.next().map(|(_, insn)| insn);
    let mut first = next();
    if matches!(
        first,
        Some(Insn::Local {
            op: Op::Aload,
            index: 0,
            ..
        })
    ) {
        first = next();
    }
    matches!(
        first,
        Some(Insn::Field {
            op: Op::Getfield | Op::Getstatic,
            ..
        })
    ) && next().is_some_and(|insn| insn.is_return())
}

/// Marks the methods that spin; it takes all to know which ones only give out a field.
fn find_spinning(class: &ClassFile<'_>, methods: &mut [MethodFacts]) -> Result<()> {
    for (index, method) in class.methods.iter().enumerate() {
        if methods[index].waits {
            continue;
        }
        let Some(code) = method.code(&class.pool)? else {
            continue;
        };
        let jumps_back = |(at, insn): (u32, Insn)| insn.targets().any(|to| to <= at);
        if !(code.instructions().map_while(Result::ok)).any(jumps_back) {
            continue;
        }
        let Ok(decoded) = code.decode() else {
            continue;
        };
        let (offsets, insns): (Vec<u32>, Vec<Insn>) = decoded.into_iter().unzip();
        let is_getter = |called: &MemberRef<'_>| {
            called.class == class.name && gives_out(methods, &called.name, &called.descriptor)
        };
        let number = |target| Some(number_of(&offsets, target));
        if !spins(&insns, number, &class.pool, is_getter).is_empty() {
            methods[index].waits = true;
            methods[index].interrupts = true;
        }
    }
    Ok(())
}

fn gives_out(methods: &[MethodFacts], name: &str, descriptor: &str) -> bool {
    let same = |method: &&MethodFacts| method.name == name && method.descriptor == descriptor;
    (methods.iter().find(same)).is_some_and(|method| method.is_getter)
}
