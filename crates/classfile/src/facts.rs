//! What a class file says that matters for which regions ought to be atomic.
//!
//! The agent and the program model both ask here, so that they decide alike.

use crate::insn::{Insn, Op};
use crate::read::{Access, Attributes, ClassFile, ConstantPool, Method};
use crate::{Error, Result};
use untorn_spec::{ClassFacts, FieldFacts, MethodFacts, is_interrupting_call};

/// The facts of a class, for [`untorn_spec::Specification::decide`].
///
/// `synchronized` blocks are counted by their `monitorenter` instructions, in the order of the code.
pub fn facts_of(class: &ClassFile<'_>) -> Result<ClassFacts> {
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
        methods: class
            .methods
            .iter()
            .map(|method| method_facts(class, method))
            .collect::<Result<_>>()?,
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
            (_, Insn::Invoke { method, .. }) if !facts.interrupts => {
                facts.interrupts = interrupts(class, method).unwrap_or(false);
            }
            _ => {}
        }
    }
    Ok(facts)
}

fn interrupts(class: &ClassFile<'_>, method: crate::PoolIndex) -> Result<bool, Error> {
    let called = class.pool.method_ref(method)?;
    Ok(is_interrupting_call(
        &dotted(&called.class),
        &called.name,
        &called.descriptor,
    ))
}
