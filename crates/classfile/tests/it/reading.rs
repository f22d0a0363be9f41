//! The reader on every class of a real `java.base`, against an independent reader.

use crate::support::{self, Jdk};
use java_bytecode::raw::ParseOptions;
use java_bytecode::raw::attribute::RawAttribute;
use java_bytecode::raw::file::RawClassFile;
use untorn_classfile::read::{Attributes, ConstantPool};
use untorn_classfile::{ClassFile, Insn};

fn read_attributes(attributes: &Attributes<'_>, pool: &ConstantPool<'_>) {
    attributes.source_file(pool).unwrap();
    attributes.signature(pool).unwrap();
    attributes.constant_value(pool).unwrap();
    attributes.bootstrap_methods().unwrap();
    attributes.inner_classes(pool).unwrap();
    attributes.enclosing_method(pool).unwrap();
    attributes.nest_host(pool).unwrap();
    attributes.nest_members(pool).unwrap();
    attributes.permitted_subclasses(pool).unwrap();
    attributes.exceptions(pool).unwrap();
    attributes.method_parameters(pool).unwrap();
    attributes.record(pool).unwrap();
    attributes.annotations(pool).unwrap();
    attributes.parameter_annotations(pool).unwrap();
    attributes.annotation_default(pool).unwrap();
}

fn resolve(class: &ClassFile<'_>, insn: &Insn) {
    match insn {
        Insn::Ldc { constant, .. } => drop(class.pool.constant(*constant).unwrap()),
        Insn::Field { field, .. } => drop(class.pool.field_ref(*field).unwrap()),
        Insn::Invoke { method, .. } => drop(class.pool.method_ref(*method).unwrap()),
        Insn::Type { class: index, .. } => drop(class.pool.class_name(*index).unwrap()),
        Insn::InvokeDynamic { site } => {
            let site = class.pool.invoke_dynamic(*site).unwrap();
            let bootstrap = class.bootstrap_method(site.bootstrap).unwrap();
            class.pool.method_handle(bootstrap.handle).unwrap();
            for argument in bootstrap.arguments {
                class.pool.constant(argument).unwrap();
            }
        }
        _ => {}
    }
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
        read_attributes(&class.attributes, &class.pool);
        for field in &class.fields {
            read_attributes(&field.attributes, &class.pool);
            field.field_type().unwrap();
        }
        for (method, other) in class.methods.iter().zip(&other.methods) {
            read_attributes(&method.attributes, &class.pool);
            method.method_type().unwrap();
            let Some(code) = method.code(&class.pool).unwrap() else {
                continue;
            };
            let other = other
                .attributes
                .attributes
                .iter()
                .find_map(|attribute| match attribute {
                    RawAttribute::Code(code) => Some(code),
                    _ => None,
                })
                .unwrap();
            let insns = code.decode().unwrap();
            assert_eq!(
                insns.len(),
                other.code.instructions().len(),
                "{} {}",
                class.name,
                method.name
            );
            for (offset, insn) in &insns {
                assert!(other.code.byte_to_instr(*offset).is_some());
                resolve(&class, insn);
            }
            instructions += insns.len();
            code.line_numbers().unwrap();
            code.local_variables(&class.pool).unwrap();
            code.local_variable_types(&class.pool).unwrap();
            code.frames(&class, method).unwrap();
        }
    }
    assert!(instructions > 500_000, "{instructions}");
}
