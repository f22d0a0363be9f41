//! Untorn beside what people work with: servers that go on, and editors.

#![allow(clippy::unwrap_used)]

mod interim;
mod kotlin;
mod lsp;
mod partial;
#[path = "../program/mod.rs"]
#[allow(dead_code, reason = "others use more of it")]
mod program;

use std::process::Command;

use program::Program;

/// Sleeps until its standard input ends.
const SLEEPER: &str = "
public class Sleeper {
    public static void main(String[] args) throws Exception {
        System.out.println(ProcessHandle.current().pid());
        System.in.read();
        System.out.println(\"ended\");
    }
}
";

#[test]
fn a_running_jvm_refuses_the_agent_and_says_why_and_goes_on() {
    use std::io::{BufRead, BufReader, Read};
    let program = Program::compile("Sleeper", SLEEPER);
    let mut child = Command::new("java")
        .args(["-cp", &program.classes(), "Sleeper"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut pid = String::new();
    output.read_line(&mut pid).unwrap();
    let library = std::env::current_exe().unwrap();
    let library = library.with_file_name("libuntorn_agent.so");
    let loaded = Command::new("jcmd")
        .args([pid.trim(), "JVMTI.agent_load", library.to_str().unwrap()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&loaded.stdout).into_owned();
    assert!(said.contains("return code: -1"), "{said}");
    drop(child.stdin.take());
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert_eq!(rest.trim(), "ended");
    let mut errors = String::new();
    let mut stream = child.stderr.take().unwrap();
    stream.read_to_string(&mut errors).unwrap();
    assert!(
        errors.contains("has to be there when a JVM starts"),
        "{errors}"
    );
    assert!(child.wait().unwrap().success());
}
