//! The reader on every class of a real `java.base`, against an independent reader.

use crate::support::{self, Jdk};
use java_bytecode::raw::ParseOptions;
use java_bytecode::raw::attribute::RawAttribute;
use java_bytecode::raw::file::RawClassFile;
use untorn_classfile::read::{Attributes, ConstantPool};
use untorn_classfile::{ClassFile, Insn, Result};

fn read_attributes(attributes: &Attributes<'_>, pool: &ConstantPool<'_>) -> Result<()> {
    attributes.source_file(pool)?;
    attributes.signature(pool)?;
    attributes.constant_value(pool)?;
    attributes.bootstrap_methods()?;
    attributes.inner_classes(pool)?;
    attributes.enclosing_method(pool)?;
    attributes.nest_host(pool)?;
    attributes.nest_members(pool)?;
    attributes.permitted_subclasses(pool)?;
    attributes.exceptions(pool)?;
    attributes.method_parameters(pool)?;
    attributes.record(pool)?;
    attributes.annotations(pool)?;
    attributes.parameter_annotations(pool)?;
    attributes.annotation_default(pool)?;
    Ok(())
}

fn resolve(class: &ClassFile<'_>, insn: &Insn) -> Result<()> {
    match insn {
        Insn::Ldc { constant, .. } => drop(class.pool.constant(*constant)?),
        Insn::Field { field, .. } => drop(class.pool.field_ref(*field)?),
        Insn::Invoke { method, .. } => drop(class.pool.method_ref(*method)?),
        Insn::Type { class: index, .. } => drop(class.pool.class_name(*index)?),
        Insn::InvokeDynamic { site } => {
            let site = class.pool.invoke_dynamic(*site)?;
            let bootstrap = class.bootstrap_method(site.bootstrap)?;
            class.pool.method_handle(bootstrap.handle)?;
            for argument in bootstrap.arguments {
                class.pool.constant(argument)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Asks for all there is; gives the offsets of the instructions of every body.
pub fn read_everything(class: &ClassFile<'_>) -> Result<Vec<Vec<u32>>> {
    read_attributes(&class.attributes, &class.pool)?;
    class
        .interface_names()
        .try_for_each(|name| name.map(drop))?;
    for field in &class.fields {
        read_attributes(&field.attributes, &class.pool)?;
        field.field_type()?;
    }
    let mut bodies = Vec::new();
    for method in &class.methods {
        read_attributes(&method.attributes, &class.pool)?;
        method.method_type()?;
        let Some(code) = method.code(&class.pool)? else {
            continue;
        };
        let insns = code.decode()?;
        for (_, insn) in &insns {
            resolve(class, insn)?;
        }
        code.line_numbers()?;
        code.local_variables(&class.pool)?;
        code.local_variable_types(&class.pool)?;
        code.frames(class, method)?;
        bodies.push(insns.into_iter().map(|(offset, _)| offset).collect());
    }
    Ok(bodies)
}

#[test]
fn every_instruction_of_java_base_starts_where_another_reader_says() {
    let mut instructions = 0;
    for path in support::classes(&Jdk::default_one().module("java.base")) {
        let bytes = std::fs::read(&path).unwrap();
        let class = ClassFile::parse(&bytes).unwrap();
        let other = RawClassFile::parse(bytes.clone().into(), ParseOptions::default()).unwrap();
        assert_eq!(class.methods.len(), other.methods.len());
        assert_eq!(class.fields.len(), other.fields.len());
        let bodies = read_everything(&class).unwrap();
        let others: Vec<_> = other
            .methods
            .iter()
            .flat_map(|method| &method.attributes.attributes)
            .filter_map(|attribute| match attribute {
                RawAttribute::Code(code) => Some(&code.code),
                _ => None,
            })
            .collect();
        assert_eq!(bodies.len(), others.len());
        for (offsets, other) in bodies.iter().zip(others) {
            assert_eq!(offsets.len(), other.instructions().len(), "{}", class.name);
            assert!(
                offsets
                    .iter()
                    .all(|&offset| other.byte_to_instr(offset).is_some()),
                "{}",
                class.name
            );
            instructions += offsets.len();
        }
    }
    assert!(instructions > 500_000, "{instructions}");
}
