//! A trace that never ends: a budget and Ctrl-C report what was read.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::program::Program;

const TORN: &str = "\
A|begin(sell)|Till.java:1
A|r(left)|Till.java:2
B|w(left)|Till.java:9
A|w(left)|Till.java:3
A|end(sell)|Till.java:4
";

/// Analyzes a trace that begins with a tear and goes on until nobody reads; `act` gets the process once it reads.
fn analyzed(options: &[&str], act: impl FnOnce(u32)) -> (Option<i32>, String, String) {
    let mut child = Program::command()
        .args(["analyze", "-", "--with", "velodrome"])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let (read, reads) = std::sync::mpsc::channel();
    let writer = std::thread::spawn(move || {
        let more = "C|r(other)|Till.java:7\n".repeat(1000);
        let mut alive = input.write_all(TORN.as_bytes()).is_ok();
        while alive {
            alive = input.write_all(more.as_bytes()).is_ok();
            read.send(()).ok();
        }
    });
    // More than a pipe holds was taken, so somebody reads.
    for _ in 0..20 {
        reads.recv().unwrap();
    }
    act(child.id());
    // One that goes on for ever is ended, and then fails by its status.
    let (ended, ends) = std::sync::mpsc::channel();
    let pid = child.id().to_string();
    let watch = std::thread::spawn(move || {
        if ends.recv_timeout(Duration::from_mins(1)).is_err() {
            Command::new("kill").args(["-KILL", &pid]).status().unwrap();
        }
    });
    let output = child.wait_with_output().unwrap();
    ended.send(()).ok();
    watch.join().unwrap();
    writer.join().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn a_budget_and_ctrl_c_report_the_beginning_of_a_trace_and_say_so() {
    let (status, out, said) = analyzed(&["--budget", "1s"], |_| {});
    assert_eq!(status, Some(1), "{said}");
    assert!(out.contains("sell was torn"), "{out}");
    assert!(said.contains("the budget was spent"), "{said}");

    let (status, out, said) = analyzed(&[], |pid| {
        let sent = Command::new("kill")
            .args(["-INT", &pid.to_string()])
            .status();
        assert!(sent.unwrap().success());
    });
    assert_eq!(status, Some(1), "{said}");
    assert!(out.contains("sell was torn"), "{out}");
    assert!(said.contains("stopped"), "{said}");
}
