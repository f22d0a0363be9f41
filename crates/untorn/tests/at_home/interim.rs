//! What was found so far, while the program goes on.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use untorn_findings::Document;

use crate::program::Program;

/// Tears a method for sure, says so by a file, and is silent until another file is there.
const SERVER: &str = r#"
import java.nio.file.*;
import java.util.concurrent.*;

public class Server {
    int count;
    void add(CyclicBarrier between) throws Exception {
        int before = count;
        between.await();
        between.await();
        count = before + 1;
    }
    public static void main(String[] args) throws Exception {
        Server server = new Server();
        CyclicBarrier between = new CyclicBarrier(2);
        Thread torn = new Thread(() -> {
            try { server.add(between); } catch (Exception e) { throw new RuntimeException(e); }
        });
        torn.start();
        between.await();
        server.count = 7;
        between.await();
        torn.join();
        Files.createFile(Path.of(args[0]));
        while (!Files.exists(Path.of(args[1]))) { Thread.sleep(20); }
        System.out.println("ended " + server.count);
    }
}
"#;

const SPEC: &str = "include = [\"Server.add\"]\n";

fn wait_for(what: &str, mut is: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(2);
    while !is() {
        assert!(Instant::now() < deadline, "still not: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A run that goes on until the file `stop` is there; killed with the value.
struct Run {
    program: Program,
    child: Child,
    runtime: tempfile::TempDir,
}

impl Drop for Run {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Run {
    fn begin(options: &[&str]) -> Self {
        let program = Program::compile("Server", SERVER);
        let runtime = tempfile::tempdir().unwrap();
        std::fs::write(program.file("spec.toml"), SPEC).unwrap();
        let child = Program::command()
            .env("XDG_RUNTIME_DIR", runtime.path())
            .args(["run", "--spec", &program.file("spec.toml")])
            .args(options)
            .args(["--", "java", "-cp", &program.classes(), "Server"])
            .args([program.file("torn"), program.file("stop")])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let run = Self {
            program,
            child,
            runtime,
        };
        wait_for("torn", || Path::new(&run.program.file("torn")).exists());
        run
    }

    fn status(&self, arguments: &[&str]) -> std::process::Output {
        Program::command()
            .env("XDG_RUNTIME_DIR", self.runtime.path())
            .arg("status")
            .args(arguments)
            .output()
            .unwrap()
    }

    fn goes_on(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    fn stop(&mut self) -> std::process::ExitStatus {
        std::fs::write(self.program.file("stop"), "").unwrap();
        self.child.wait().unwrap()
    }
}

fn torn(text: &str) -> Vec<String> {
    let document = Document::from_json(text).unwrap();
    (document.findings.iter())
        .filter(|finding| finding.verdict.is_seen())
        .map(|finding| finding.region.short_name())
        .collect()
}

#[test]
fn a_silent_program_is_asked_by_status_and_by_signal_and_goes_on() {
    let report = tempfile::tempdir().unwrap();
    let report = report.path().join("report.json");
    let mut run = Run::begin(&["--report-every", "1h", "-o", report.to_str().unwrap()]);
    let pid = run.child.id().to_string();

    let asked = run.status(&["--format", "json", "--exit-zero"]);
    let said = String::from_utf8_lossy(&asked.stderr).into_owned();
    assert!(asked.status.success(), "{said}");
    assert_eq!(
        torn(&String::from_utf8_lossy(&asked.stdout)),
        ["Server.add"]
    );
    assert!(said.contains("the program goes on"), "{said}");
    assert!(run.goes_on());

    // As text, with the status of findings.
    let asked = run.status(&[&pid]);
    assert_eq!(asked.status.code(), Some(1));
    let text = String::from_utf8_lossy(&asked.stdout).into_owned();
    assert!(text.contains("Server.add"), "{text}");

    assert!(!report.exists());
    let sent = Command::new("kill").args(["-USR1", &pid]).status().unwrap();
    assert!(sent.success());
    wait_for("a report", || report.exists());
    assert_eq!(
        torn(&std::fs::read_to_string(&report).unwrap()),
        ["Server.add"]
    );
    assert!(run.goes_on());

    std::fs::remove_file(&report).unwrap();
    assert_eq!(run.stop().code(), Some(1));
    assert_eq!(
        torn(&std::fs::read_to_string(&report).unwrap()),
        ["Server.add"]
    );
    let after = run.status(&[]);
    assert_eq!(after.status.code(), Some(2));
    let said = String::from_utf8_lossy(&after.stderr).into_owned();
    assert!(said.contains("no untorn run of yours goes on"), "{said}");
}

#[test]
fn reports_come_every_so_often_and_a_fast_run_says_that_it_has_none_yet() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("so-far.json");
    let mut run = Run::begin(&[
        "--fast",
        "--report-every",
        "1s",
        "-o",
        report.to_str().unwrap(),
    ]);
    for _ in 0..2 {
        wait_for("a report with the tear", || {
            std::fs::read_to_string(&report).is_ok_and(|text| torn(&text) == ["Server.add"])
        });
        std::fs::remove_file(&report).unwrap();
    }
    assert!(run.goes_on());
    assert_eq!(run.stop().code(), Some(1));

    let mut run = Run::begin(&["--fast", "-o", report.to_str().unwrap()]);
    let asked = run.status(&["--format", "json"]);
    assert_eq!(
        torn(&String::from_utf8_lossy(&asked.stdout)),
        Vec::<String>::new()
    );
    let said = String::from_utf8_lossy(&asked.stderr).into_owned();
    assert!(said.contains("--report-every"), "{said}");
    assert_eq!(run.stop().code(), Some(1));
}
