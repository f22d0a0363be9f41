//! Single edits, seen in the code that comes out.

use crate::support::{Jdk, succeed};
use std::path::Path;
use untorn_classfile::read::{Access, Code, VType};
use untorn_classfile::{ClassEditor, ClassFile, EditError, Insn, MethodEditor, Op, PoolIndex};

/// A class with one static method `m(I)I` of `code`, and what it decodes to after `edit`.
fn method_of(code: impl Fn(&mut MethodEditor<'_>)) -> Vec<u8> {
    let seed = std::fs::read(
        Jdk::default_one()
            .module("java.base")
            .join("java/lang/Runnable.class"),
    )
    .unwrap();
    let mut editor = ClassEditor::new(ClassFile::parse(&seed).unwrap());
    let mut method = editor
        .new_method(Access::STATIC.with(Access::PUBLIC), "m", "(I)I")
        .unwrap();
    code(&mut method);
    editor.put(method).unwrap();
    editor.finish().unwrap()
}

fn edited(
    bytes: &[u8],
    edit: impl FnOnce(&mut MethodEditor<'_>, &mut ClassEditor<'_>),
) -> Result<Vec<u8>, EditError> {
    let mut editor = ClassEditor::new(ClassFile::parse(bytes)?);
    let index = editor.class().methods.len() - 1;
    let mut method = editor.method(index)?.unwrap();
    edit(&mut method, &mut editor);
    editor.put(method)?;
    editor.finish()
}

/// The opcodes of the last method, with jumps as `op->position`.
fn listing(bytes: &[u8]) -> String {
    let class = ClassFile::parse(bytes).unwrap();
    let insns = class
        .methods
        .last()
        .unwrap()
        .code(&class.pool)
        .unwrap()
        .unwrap()
        .decode()
        .unwrap();
    let number = |offset: u32| insns.iter().position(|(at, _)| *at == offset).unwrap();
    let show = |insn: &Insn| match insn {
        Insn::Jump { op, target } => format!("{}->{}", op.mnemonic(), number(*target)),
        _ => insn.op().mnemonic().to_owned(),
    };
    insns
        .iter()
        .map(|(_, insn)| show(insn))
        .collect::<Vec<_>>()
        .join(" ")
}

/// `do { n-- } while (n != 0); return n` with the loop's head at the start of the method.
fn looping(method: &mut MethodEditor<'_>) {
    let head = method.new_label();
    let mut code = method.append();
    code.bind(head)
        .local(Op::Iload, 0)
        .op(Op::Iconst1)
        .op(Op::Isub)
        .local(Op::Istore, 0);
    code.local(Op::Iload, 0)
        .jump(Op::Ifne, head)
        .local(Op::Iload, 0)
        .op(Op::Ireturn);
}

#[test]
fn jumps_land_before_code_inserted_before_and_behind_code_at_entry_or_fallen_into() {
    let bytes = method_of(looping);
    assert_eq!(
        listing(&bytes),
        "iload iconst_1 isub istore iload ifne->0 iload ireturn"
    );
    let after = edited(&bytes, |method, _| {
        method.at_entry().op(Op::Nop);
        method.into(0).op(Op::Iconst2).op(Op::Pop);
        method.before(0).op(Op::Iconst3).op(Op::Pop);
        method.after(5).op(Op::Iconst4).op(Op::Pop);
        method.replace(1).op(Op::Iconst5);
    });
    assert_eq!(
        listing(&after.unwrap()),
        "nop iconst_2 pop iconst_3 pop iload iconst_5 isub istore iload ifne->3 iconst_4 pop iload ireturn"
    );
}

#[test]
fn an_exception_range_leaves_out_entry_code_and_ends_before_its_handler() {
    let bytes = method_of(looping);
    let after = edited(&bytes, |method, editor| {
        method.at_entry().op(Op::Nop);
        let (start, end) = (method.boundary(0), method.boundary(8));
        method
            .handler(start, end, PoolIndex::NONE, &[], &mut editor.pool)
            .unwrap()
            .op(Op::Athrow);
    })
    .unwrap();
    let class = ClassFile::parse(&after).unwrap();
    let method = class.methods.last().unwrap();
    let code = method.code(&class.pool).unwrap().unwrap();
    let length = code.bytecode.len() as u32;
    assert_eq!(code.exceptions.len(), 1);
    let range = code.exceptions[0];
    assert_eq!(
        (range.start, range.end, range.handler),
        (1, length - 1, length - 1)
    );
    let frames = code.frames(&class, method).unwrap();
    let handler = frames.iter().last().unwrap();
    assert_eq!(handler.at, length - 1);
    assert!(handler.locals.is_empty());
    assert!(
        matches!(handler.stack, [VType::Object(name)] if name.text(&class.pool) == "java/lang/Throwable")
    );
}

#[test]
fn a_kept_local_is_in_every_frame_and_a_temporary_in_none_of_the_file() {
    let bytes = method_of(looping);
    let after = edited(&bytes, |method, _| {
        let kept = method.new_kept_local(VType::Long).unwrap();
        let temporary = method.new_local(VType::Integer).unwrap();
        assert_eq!((kept, temporary), (1, 3));
        method.at_entry().op(Op::Lconst1).local(Op::Lstore, kept);
        method.into(0).op(Op::Iconst0).local(Op::Istore, temporary);
    })
    .unwrap();
    let class = ClassFile::parse(&after).unwrap();
    let method = class.methods.last().unwrap();
    let code = method.code(&class.pool).unwrap().unwrap();
    let frames = code.frames(&class, method).unwrap();
    let head = frames.iter().last().unwrap();
    assert_eq!(head.locals, [VType::Integer, VType::Long, VType::Half]);
    assert_eq!((code.max_locals, code.max_stack), (4, 2));
}

#[test]
fn mistakes_are_told() {
    let bytes = method_of(looping);
    let unbound = edited(&bytes, |method, _| {
        let label = method.new_label();
        method.before(0).jump(Op::Goto, label);
    });
    assert!(
        matches!(unbound, Err(EditError::UnboundLabel(_))),
        "{unbound:?}"
    );
    let twice = edited(&bytes, |method, _| {
        let label = method.new_label();
        method.before(0).bind(label).bind(label);
    });
    assert!(
        matches!(twice, Err(EditError::LabelBoundTwice(_))),
        "{twice:?}"
    );
    let dead = edited(&bytes, |method, _| {
        method.after(7).op(Op::Nop);
    });
    assert!(
        matches!(dead, Err(EditError::Unreachable { .. })),
        "{dead:?}"
    );
    let unframed = edited(&bytes, |method, _| {
        let target = method.label(2);
        method.before(1).jump(Op::Goto, target);
    });
    assert!(
        matches!(unframed, Err(EditError::NoFrame { index: 2 })),
        "{unframed:?}"
    );
    let empty = edited(&bytes, |method, _| {
        method.before(0).op(Op::Pop);
    });
    assert!(
        matches!(empty, Err(EditError::IllTyped { .. })),
        "{empty:?}"
    );
    let different = edited(&bytes, |method, _| {
        let (other, end) = (method.new_label(), method.new_label());
        let mut code = method.before(0);
        code.local(Op::Iload, 0)
            .jump(Op::Ifeq, other)
            .op(Op::Iconst0)
            .jump(Op::Goto, end);
        code.bind(other).op(Op::AconstNull).bind(end).op(Op::Pop);
    });
    assert!(
        matches!(different, Err(EditError::Merge { .. })),
        "{different:?}"
    );
    let outside = edited(&bytes, |method, _| {
        method.before(9).op(Op::Nop);
    });
    assert!(
        matches!(outside, Err(EditError::NoSuchInstruction(9))),
        "{outside:?}"
    );
}

#[test]
fn lines_and_variables_move_with_their_code() {
    let dir = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/java/Program.java");
    succeed(
        Jdk::default_one()
            .tool("javac")
            .args(["-g", "-nowarn", "-d"])
            .arg(dir.path())
            .arg(source),
    );
    let bytes = std::fs::read(dir.path().join("Program.class")).unwrap();
    let mut editor = ClassEditor::new(ClassFile::parse(&bytes).unwrap());
    for index in 0..editor.class().methods.len() {
        let Some(mut method) = editor.method(index).unwrap() else {
            continue;
        };
        for at in 0..method.insns().len() {
            method.before(at).op(Op::Nop);
        }
        editor.put(method).unwrap();
    }
    let edited = editor.finish().unwrap();
    let (before, after) = (
        ClassFile::parse(&bytes).unwrap(),
        ClassFile::parse(&edited).unwrap(),
    );
    let (mut lines, mut variables) = (0, 0);
    for (old, new) in before.methods.iter().zip(&after.methods) {
        let (Some(old), Some(new)) = (
            old.code(&before.pool).unwrap(),
            new.code(&after.pool).unwrap(),
        ) else {
            continue;
        };
        // Every instruction got one in front, so positions double; the end is one past the last.
        let same_place = |was: u32, is: u32| {
            let number = |code: &Code<'_>, offset: u32| {
                code.decode()
                    .unwrap()
                    .iter()
                    .take_while(|(at, _)| *at < offset)
                    .count()
            };
            assert_eq!(2 * number(&old, was), number(&new, is));
        };
        for (old, new) in old
            .line_numbers()
            .unwrap()
            .iter()
            .zip(new.line_numbers().unwrap())
        {
            assert_eq!(old.line, new.line);
            same_place(old.start, new.start);
            lines += 1;
        }
        let tables = [Code::local_variables, Code::local_variable_types];
        for table in tables {
            for (old, new) in table(&old, &before.pool)
                .unwrap()
                .iter()
                .zip(table(&new, &after.pool).unwrap())
            {
                assert_eq!((&old.name, old.slot), (&new.name, new.slot));
                same_place(old.start, new.start);
                same_place(old.start + old.length, new.start + new.length);
                variables += 1;
            }
        }
    }
    assert!(lines > 80 && variables > 40, "{lines} {variables}");
}
