//! Instrumented programs load, verify, and compute what they did before.

use crate::stress::{Options, stress};
use crate::support::{self, Jdk, succeed};
use std::path::Path;
use std::process::Command;
use untorn_classfile::edit::Pool;
use untorn_classfile::insn::Form;
use untorn_classfile::read::{Access, VType};
use untorn_classfile::{ClassEditor, ClassFile, EditError, Insn, MethodEditor, Op};

const ALL: Options<'_> = Options {
    hook: "untorn/test/Hook",
    members: true,
    small: false,
};

fn compile(jdk: &Jdk, out: &Path, release: Option<&str>, sources: &[&str]) {
    let mut javac = jdk.tool("javac");
    javac
        .args(["-g", "-nowarn", "-Xlint:-options", "-d"])
        .arg(out);
    javac.args(
        release
            .into_iter()
            .flat_map(|release| ["--release", release]),
    );
    javac.arg("-cp").arg(out);
    let java = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/java");
    succeed(javac.args(sources.iter().map(|source| java.join(source))));
}

/// Rewrites every class below `from` into `to`.
fn stress_tree(from: &Path, to: &Path, options: Options<'_>) -> usize {
    let mut methods = 0;
    for path in support::classes(from) {
        let bytes = std::fs::read(&path).unwrap();
        let relative = path.strip_prefix(from).unwrap();
        let (edited, counts) = stress(&bytes, options)
            .unwrap_or_else(|error| panic!("{}: {error}", relative.display()));
        methods += counts.methods;
        let target = to.join(relative);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::write(target, edited).unwrap();
    }
    methods
}

fn java(jdk: &Jdk, classpath: &[&Path]) -> Command {
    let mut java = jdk.tool("java");
    let path = std::env::join_paths(classpath).unwrap();
    java.args(["-Xverify:all", "-XX:-PrintWarnings"])
        .arg("-cp")
        .arg(path);
    java
}

#[test]
fn a_program_instrumented_everywhere_verifies_and_prints_the_same() {
    for jdk in Jdk::all() {
        let dir = tempfile::tempdir().unwrap();
        let (hook, plain, edited) = (
            dir.path().join("h"),
            dir.path().join("p"),
            dir.path().join("e"),
        );
        compile(&jdk, &hook, None, &["Hook.java"]);
        compile(&jdk, &plain, None, &["Program.java"]);
        let methods = stress_tree(&plain, &edited, ALL);
        assert!(methods > 30, "{methods}");
        let expected = succeed(java(&jdk, &[&plain]).arg("Program"));
        let mut run = java(&jdk, &[&edited, &hook]);
        let output = run
            .args(["-Dhooks=untorn.test.Hook", "Program"])
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{jdk:?}\n{errors}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{jdk:?}");
        assert!(
            errors.contains("entered=true left=true caught=true seen=true events=true locked=true"),
            "{errors}"
        );
    }
}

/// Compiles, edits each class with `edit`, and gives the directory with both versions.
fn prepared(
    jdk: &Jdk,
    source: &str,
    edit: impl Fn(&[u8]) -> Vec<u8>,
) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    compile(jdk, &dir.path().join("h"), None, &["Hook.java"]);
    compile(jdk, &dir.path().join("p"), Some("8"), &[source]);
    for path in support::classes(&dir.path().join("p")) {
        std::fs::write(&path, edit(&std::fs::read(&path).unwrap())).unwrap();
    }
    let name = source.trim_end_matches(".java").to_owned();
    (dir, name)
}

/// Edits one method of a class.
fn edit_method(
    bytes: &[u8],
    name: &str,
    edit: impl Fn(&mut MethodEditor<'_>, &mut Pool<'_>),
) -> Vec<u8> {
    let mut editor = ClassEditor::new(ClassFile::parse(bytes).unwrap());
    let index = editor
        .class()
        .methods
        .iter()
        .position(|method| method.name == name)
        .unwrap();
    let mut method = editor.method(index).unwrap().unwrap();
    edit(&mut method, &mut editor.pool);
    editor.put(method).unwrap();
    editor.finish().unwrap()
}

fn monitor_instructions(method: &MethodEditor<'_>, op: Op) -> Vec<usize> {
    (0..method.insns().len())
        .filter(|&index| method.insns()[index].op() == op)
        .collect()
}

/// What the JIT says while it runs `Locks` with `edit` made to `work`.
fn compilation_log(jdk: &Jdk, edit: impl Fn(&mut MethodEditor<'_>, &mut Pool<'_>)) -> String {
    let (dir, _) = prepared(jdk, "Locks.java", |bytes| edit_method(bytes, "work", &edit));
    let mut run = java(jdk, &[&dir.path().join("p"), &dir.path().join("h")]);
    succeed(run.args(["-Xbatch", "-XX:+PrintCompilation", "Locks"]))
}

#[test]
fn the_jit_compiles_code_inserted_after_monitor_instructions() {
    for jdk in Jdk::all() {
        let log = compilation_log(&jdk, |method, pool| {
            let event = pool.method_ref("untorn/test/Hook", "event", "()V").unwrap();
            let enters = monitor_instructions(method, Op::Monitorenter);
            assert_eq!(enters.len(), 1);
            for index in enters
                .into_iter()
                .chain(monitor_instructions(method, Op::Monitorexit))
            {
                method.after(index).invoke(Op::Invokestatic, event);
            }
        });
        let compiled = |line: &&str| line.contains("Locks::work");
        assert!(
            log.lines()
                .filter(compiled)
                .any(|line| line.split_whitespace().any(|word| word == "4")),
            "{log}"
        );
        assert!(
            !log.contains("COMPILE SKIPPED") && !log.contains("not compilable"),
            "{jdk:?}\n{log}"
        );
    }
}

/// Without this the test above would show nothing: the JVM does refuse the naive place.
#[test]
fn the_jit_refuses_code_between_monitorenter_and_its_range() {
    let log = compilation_log(&Jdk::default_one(), |method, pool| {
        let event = pool.method_ref("untorn/test/Hook", "event", "()V").unwrap();
        for index in monitor_instructions(method, Op::Monitorenter) {
            method.after_within(index).invoke(Op::Invokestatic, event);
        }
    });
    assert!(
        log.contains("COMPILE SKIPPED") || log.contains("not compilable"),
        "{log}"
    );
}

/// A method with a subroutine, as compilers wrote `finally` before version 50.
fn add_subroutine(bytes: &[u8]) -> Vec<u8> {
    let mut editor = ClassEditor::new(ClassFile::parse(bytes).unwrap());
    let count = editor.pool.field_ref("Old", "count", "I").unwrap();
    let mut method = editor
        .new_method(Access::STATIC, "subroutine", "(I)I")
        .unwrap();
    let back = method.new_local(VType::Top).unwrap();
    let (body, again) = (method.new_label(), method.new_label());
    let mut code = method.append();
    code.bind(again).jump(Op::Jsr, body).jump(Op::Jsr, body);
    code.local(Op::Iload, 0)
        .op(Op::Iconst5)
        .jump(Op::IfIcmpgt, again);
    code.local(Op::Iload, 0).op(Op::Ireturn);
    code.bind(body).local(Op::Astore, back);
    code.field(Op::Getstatic, count)
        .op(Op::Iconst1)
        .op(Op::Iadd)
        .field(Op::Putstatic, count);
    code.insn(Insn::Iinc {
        index: 0,
        delta: -2,
        form: Form::Shortest,
    });
    code.local(Op::Ret, back);
    editor.put(method).unwrap();
    editor.finish().unwrap()
}

#[test]
fn class_files_without_frames_and_with_subroutines_are_instrumented_too() {
    let jdk = Jdk::default_one();
    let (dir, name) = prepared(&jdk, "Old.java", |bytes| {
        let mut old = bytes.to_vec();
        old[6..8].copy_from_slice(&49_u16.to_be_bytes());
        add_subroutine(&old)
    });
    let (plain, edited) = (dir.path().join("p"), dir.path().join("e"));
    let expected = succeed(java(&jdk, &[&plain]).arg(&name));
    assert!(expected.contains("[4]"), "the subroutine runs: {expected}");
    stress_tree(&plain, &edited, ALL);
    assert_eq!(
        succeed(java(&jdk, &[&edited, &dir.path().join("h")]).arg(&name)),
        expected
    );
}

#[test]
fn jumps_too_far_for_sixteen_bits_are_widened_and_the_program_still_runs() {
    let jdk = Jdk::default_one();
    let dir = tempfile::tempdir().unwrap();
    let (hook, plain, edited) = (
        dir.path().join("h"),
        dir.path().join("p"),
        dir.path().join("e"),
    );
    compile(&jdk, &hook, None, &["Hook.java"]);
    compile(&jdk, &plain, None, &["Program.java"]);
    stress_tree(&plain, &edited, ALL);
    for path in support::classes(&edited) {
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, pad(&bytes)).unwrap();
    }
    let padded = std::fs::read(edited.join("Program.class")).unwrap();
    let padded = ClassFile::parse(&padded).unwrap();
    let bodies = padded
        .methods
        .iter()
        .filter_map(|method| method.code(&padded.pool).unwrap());
    let wide = bodies
        .flat_map(|code| code.decode().unwrap())
        .filter(|(_, insn)| insn.op() == Op::GotoW);
    assert!(wide.count() > 10);
    let expected = succeed(java(&jdk, &[&plain]).arg("Program"));
    assert_eq!(
        succeed(java(&jdk, &[&edited, &hook]).arg("Program")),
        expected
    );
}

/// Puts so much idle code into each method that jumps across it no longer fit.
fn pad(bytes: &[u8]) -> Vec<u8> {
    let mut editor = ClassEditor::new(ClassFile::parse(bytes).unwrap());
    for index in 0..editor.class().methods.len() {
        let Some(mut method) = editor.method(index).unwrap() else {
            continue;
        };
        let count = method.insns().len();
        if count < 4 || method.code().bytecode.len() > 20_000 {
            continue;
        }
        let mut before = method.before(if index % 2 == 0 { count / 2 } else { count / 3 });
        for _ in 0..33_000 {
            before.op(Op::Nop);
        }
        editor.put(method).unwrap();
    }
    editor.finish().unwrap()
}

#[test]
fn a_method_past_64_kib_is_refused_and_the_class_stays_usable() {
    let jdk = Jdk::default_one();
    let (dir, name) = prepared(&jdk, "Locks.java", |bytes| {
        let mut editor = ClassEditor::new(ClassFile::parse(bytes).unwrap());
        let mut method = editor.method(1).unwrap().unwrap();
        let mut code = method.before(0);
        for _ in 0..70_000 {
            code.op(Op::Nop);
        }
        let refused = editor.put(method);
        assert!(
            matches!(refused, Err(EditError::MethodTooLarge { length: 70_000.. })),
            "{refused:?}"
        );
        editor.finish().unwrap()
    });
    succeed(java(&jdk, &[&dir.path().join("p")]).arg(&name));
}

#[test]
fn java_base_instrumented_everywhere_starts_a_jvm_and_verifies() {
    let jdk = Jdk::default_one();
    let dir = tempfile::tempdir().unwrap();
    let (source, plain, edited) = (
        dir.path().join("java/lang"),
        dir.path().join("p"),
        dir.path().join("e"),
    );
    let inside = Options {
        hook: "java/lang/Hook",
        members: false,
        small: false,
    };
    let methods = stress_tree(&jdk.module("java.base"), &edited, inside);
    assert!(methods > 50_000, "{methods}");
    std::fs::remove_file(edited.join("module-info.class")).unwrap();
    // Before the module system is up, only packages that java.base is known to have can be found.
    std::fs::create_dir_all(&source).unwrap();
    let hook = include_str!("java/Hook.java").replace("package untorn.test", "package java.lang");
    std::fs::write(source.join("Hook.java"), hook).unwrap();
    let mut javac = jdk.tool("javac");
    javac
        .arg("--patch-module")
        .arg(format!("java.base={}", dir.path().display()))
        .arg("-d")
        .arg(&edited);
    succeed(javac.arg(source.join("Hook.java")));
    compile(&jdk, &plain, None, &["Program.java", "LoadAll.java"]);

    let expected = succeed(java(&jdk, &[&plain]).arg("Program"));
    let patched = || {
        let mut java = java(&jdk, &[&plain]);
        java.arg("--patch-module")
            .arg(format!("java.base={}", edited.display()));
        java
    };
    assert_eq!(succeed(patched().arg("Program")), expected);
    let loaded = succeed(patched().arg("LoadAll").arg(&edited).arg("jdk"));
    assert!(loaded.ends_with("incomplete=0 refused=0\n"), "{loaded}");
}
