//! Rewritten programs load, verify, and do what they did before.

use std::path::Path;

use untorn_channel::Config;
use untorn_channel::config::Tracking;

use crate::support::{Jdk, Program, Runtime, classes, java_source, text};

/// As by default, and with everything that can be asked for.
fn configurations() -> [Config; 3] {
    let everything = Config {
        arrays: true,
        stacks: true,
        spec: Some("heuristic = \"all-methods\"\ninclude = [\"**\"]".to_owned()),
        ..Config::default()
    };
    let optimistic = Config {
        tracking: Tracking::Optimistic,
        ..everything.clone()
    };
    [Config::default(), everything, optimistic]
}

/// Runs a program as it is and rewritten in every way, interpreted and compiled.
fn check_same(source: &str) {
    let main = source.trim_end_matches(".java");
    let only = format!("-XX:CompileCommand=compileonly,{main}*::*");
    let modes: [&[&str]; 2] = [&["-Xint"], &["-Xcomp", "-XX:CompileCommand=quiet", &only]];
    for jdk in Jdk::all() {
        for config in configurations() {
            let program = Program::new(&jdk, &java_source(source), Runtime::Real, &config);
            let plain = program.run_plain(&[main]);
            assert!(plain.status.success(), "{}", text(&plain.stderr));
            for mode in modes {
                let rewritten = program.run_rewritten(&[mode, &[main]].concat());
                assert_eq!(
                    text(&rewritten.stdout),
                    text(&plain.stdout),
                    "{jdk:?} {mode:?} {config:?}\n{}",
                    text(&rewritten.stderr)
                );
                assert_eq!(rewritten.status.code(), plain.status.code());
                assert_eq!(text(&rewritten.stderr), text(&plain.stderr));
            }
        }
    }
}

#[test]
fn a_program_of_every_access_and_monitor_prints_the_same() {
    check_same("Torture.java");
}

#[test]
fn a_program_of_every_library_call_prints_the_same() {
    check_same("Library.java");
}

#[test]
fn class_files_without_frames_are_rewritten_too() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../classfile/tests/it/java/Old.java");
    let jdk = Jdk::all().remove(0);
    for config in configurations() {
        let dir = tempfile::tempdir().unwrap();
        let plain = dir.path().join("plain");
        jdk.compile(&plain, &["--release", "8"], &[&source]);
        for path in classes(&plain) {
            let mut bytes = std::fs::read(&path).unwrap();
            // The last version that JVMs verify by inference alone.
            bytes[6..8].copy_from_slice(&49_u16.to_be_bytes());
            std::fs::write(&path, bytes).unwrap();
        }
        let program = Program::of_classes(&jdk, dir, Runtime::Real, &config);
        assert!(program.counts["sites: fields"] > 0, "{:?}", program.counts);
        let plain = program.run_plain(&["Old"]);
        assert!(plain.status.success(), "{}", text(&plain.stderr));
        let rewritten = program.run_rewritten(&["Old"]);
        assert_eq!(
            text(&rewritten.stdout),
            text(&plain.stdout),
            "{}",
            text(&rewritten.stderr)
        );
    }
}

/// Methods near the limit of the class file format, in which different things are repeated.
fn large_program() -> String {
    let repeat = |line: &str, times: usize| line.repeat(times);
    format!(
        "public class Large {{
            int field; int[] cells = new int[4];
            synchronized int arrays() {{ int[] a = cells; field++; {} return a[1]; }}
            synchronized int fields() {{ {} return field; }}
            synchronized int full() {{ {} return field; }}
            public static void main(String[] args) {{
                Large large = new Large();
                System.out.println(large.arrays() + \" \" + large.fields() + \" \" + large.full());
            }}
        }}",
        repeat("a[1]++;", 3000),
        repeat("field++;", 5000),
        // Leaves less room than the lock's events take.
        repeat("field++;", 6540) + &repeat("field = field;", 14),
    )
}

#[test]
fn methods_too_large_for_everything_are_instrumented_less() {
    let jdk = Jdk::all().remove(0);
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("Large.java");
    std::fs::write(&source, large_program()).unwrap();
    let config = Config {
        arrays: true,
        ..Config::default()
    };
    let program = Program::new(&jdk, &source, Runtime::Real, &config);
    for (name, amount) in [
        ("methods too large for arrays and library calls", 1),
        ("methods too large for fields", 1),
        ("methods untouched: too large", 1),
    ] {
        assert_eq!(
            program.counts.get(name),
            Some(&amount),
            "{name}: {:?}",
            program.counts
        );
    }
    let plain = program.run_plain(&["Large"]);
    let rewritten = program.run_rewritten(&["Large"]);
    assert_eq!(text(&plain.stdout), "3000 5001 11541\n");
    assert_eq!(
        text(&rewritten.stdout),
        text(&plain.stdout),
        "{}",
        text(&rewritten.stderr)
    );
}
