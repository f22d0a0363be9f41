//! Bad input is one line on standard error and status 2, never a panic.

#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn untorn(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_untorn"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || {
        // A reader that has seen enough closes the pipe: that is its right.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    output
}

/// The one line of a refused input.
fn refusal(arguments: &[&str], input: &[u8]) -> String {
    let output = untorn(arguments, input);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    assert_eq!(stderr.lines().count(), 1, "{arguments:?}: {stderr}");
    assert!(stderr.len() < 400, "{arguments:?}: {} bytes", stderr.len());
    assert!(!stderr.contains("panicked"), "{stderr}");
    stderr
}

fn write(folder: &Path, name: &str, content: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn each_bad_input_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let good = "T1|begin(m)|A.java:1\nT1|w(x)|A.java:2\nT1|end(m)|A.java:3\n";
    let std = write(at, "good.std", good.as_bytes());
    let utr = at.join("good.utr").to_str().unwrap().to_owned();
    assert!(
        untorn(&["trace", "convert", &std, &utr], b"")
            .status
            .success()
    );
    let bytes = std::fs::read(&utr).unwrap();
    let mut other_version = bytes.clone();
    other_version[8] ^= 0x40;
    let mut damaged = bytes.clone();
    let middle = bytes.len() / 2;
    damaged[middle] ^= 0xff;
    let long_line = vec![b'x'; 10 << 20];
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("empty", Vec::new(), "empty"),
        (
            "garbage",
            (0..2000u32)
                .map(|i| (i.wrapping_mul(2654435761) >> 13) as u8)
                .collect(),
            "",
        ),
        ("version", other_version, ""),
        ("damaged", damaged, "offset"),
        ("long", long_line, ":1"),
        ("utf8", b"T1|w(\xff\xfe)|A.java:1\n".to_vec(), ":1"),
        ("thread", b"4294967296|w(x)|A.java:1\n".to_vec(), ":1"),
        ("blank", b"T1|w(x)|l\n\nT1|w(x)|l\n".to_vec(), ":2"),
        ("unmatched", b"T1|end|l\n".to_vec(), ":1"),
        ("not held", b"T1|rel(m)|l\n".to_vec(), ":1"),
        ("held", b"T1|acq(m)|l\nT2|acq(m)|l\n".to_vec(), ":2"),
        (
            "joined",
            b"T1|fork(T2)|l\nT1|join(T2)|l\nT2|w(x)|l\n".to_vec(),
            ":3",
        ),
        ("running", b"T2|w(x)|l\nT1|fork(T2)|l\n".to_vec(), ":2"),
    ];
    for (name, content, word) in &cases {
        let path = write(at, name, content);
        for command in [
            vec!["analyze", &path],
            vec!["trace", "info", &path],
            vec!["trace", "cat", &path],
        ] {
            // What was fine before the fault may have been printed.
            if command[1] == "cat" && *word == ":2" || *word == ":3" {
                continue;
            }
            let line = refusal(&command, b"");
            assert!(line.contains(word), "{name}: {line}");
        }
        refusal(&["analyze", "-"], content);
    }
    refusal(&["analyze", at.to_str().unwrap()], b"");
    refusal(&["analyze", at.join("missing").to_str().unwrap()], b"");
    refusal(
        &[
            "trace",
            "convert",
            &std,
            at.join("out.xyz").to_str().unwrap(),
        ],
        b"",
    );
    refusal(
        &[
            "trace",
            "convert",
            &std,
            at.join("no/such/folder.utr").to_str().unwrap(),
        ],
        b"",
    );
    refusal(
        &[
            "analyze",
            &std,
            "-o",
            at.join("no/such/findings").to_str().unwrap(),
        ],
        b"",
    );
}

#[test]
fn a_cut_file_is_used_up_to_the_cut_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for i in 0..200_000 {
        text.push_str(&format!("T{}|w(x{})|A.java:{}\n", i % 5, i % 1000, i % 77));
    }
    let std = write(folder.path(), "long.std", text.as_bytes());
    let utr = folder.path().join("long.utr").to_str().unwrap().to_owned();
    assert!(
        untorn(&["trace", "convert", &std, &utr], b"")
            .status
            .success()
    );
    let bytes = std::fs::read(&utr).unwrap();
    let cut = write(folder.path(), "cut.utr", &bytes[..bytes.len() * 3 / 4]);
    let output = untorn(&["trace", "cat", &cut], b"");
    assert_eq!(output.status.code(), Some(0));
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(note.contains("ends in the middle"), "{note}");
    let kept = String::from_utf8(output.stdout).unwrap();
    assert!(!kept.is_empty() && text.starts_with(&kept));
}

#[test]
fn lenient_reading_skips_and_counts() {
    let text = b"T1|w(x)|l\nnonsense\n\nT1|end|l\nT1|r(x)|l\n";
    refusal(&["trace", "cat", "-"], b"nonsense\n");
    let output = untorn(&["trace", "cat", "--lenient", "-"], text);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "T1|w(x)|l\nT1|r(x)|l\n"
    );
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(
        notes.contains("2 lines") && notes.contains("1 events"),
        "{notes}"
    );
}

#[test]
fn a_failed_conversion_leaves_no_file_behind() {
    let folder = tempfile::tempdir().unwrap();
    let bad = write(folder.path(), "bad.std", b"T1|w(x)|l\nnonsense\n");
    let out = folder.path().join("out.utr");
    refusal(&["trace", "convert", &bad, out.to_str().unwrap()], b"");
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["bad.std"]);
}

#[test]
fn packed_text_and_pipes_are_read_like_plain_files() {
    let text = b"T1|w(x)|l\nT2|r(x)|l\n";
    let child = Command::new("gzip")
        .arg("-c")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut gzip = child.unwrap();
    gzip.stdin.take().unwrap().write_all(text).unwrap();
    let packed = gzip.wait_with_output().unwrap().stdout;
    let output = untorn(&["trace", "cat", "-"], &packed);
    assert_eq!(output.stdout, text);
}

#[test]
fn a_class_path_that_is_not_there_is_refused_wherever_one_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().to_str().unwrap();
    let missing = format!("{there}/missing.jar");
    let no_folder = format!("{there}/missing/*");
    for command in ["check", "infer"] {
        for path in [&missing, &no_folder] {
            let both = format!("{there}:{path}");
            let said = refusal(&[command, there, "--classpath", &both], b"");
            assert!(
                said.contains("--classpath") && said.contains(path),
                "{said}"
            );
        }
    }
}
