//! A Java program compiled for a test, and untorn run on it.

use std::process::{Command, Output};

// Linked in so that cargo builds the agent library first.
use untorn_agent as _;
use untorn_jdk::tool;

pub struct Program {
    folder: tempfile::TempDir,
    main: &'static str,
}

impl Program {
    pub fn compile(main: &'static str, source: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(format!("{main}.java"));
        std::fs::write(&file, source).unwrap();
        let javac = Command::new(tool("javac"))
            .arg("-d")
            .arg(folder.path().join("classes"))
            .arg(file)
            .output()
            .unwrap();
        assert!(javac.status.success(), "{javac:?}");
        Self { folder, main }
    }

    /// A file beside the program.
    pub fn file(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    pub fn classes(&self) -> String {
        self.file("classes")
    }

    /// Untorn alone.
    pub fn untorn(arguments: &[&str]) -> Output {
        Self::command().args(arguments).output().unwrap()
    }

    /// Untorn on a run of the program.
    pub fn watched(&self, options: &[&str]) -> Output {
        self.watched_with(options, &[])
    }

    /// Untorn on a run of the program with arguments.
    pub fn watched_with(&self, options: &[&str], arguments: &[&str]) -> Output {
        Self::command()
            .args(options)
            .arg("--")
            .arg(tool("java"))
            .args(["-cp", &self.classes(), self.main])
            .args(arguments)
            .output()
            .unwrap()
    }

    pub fn command() -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_untorn"));
        let beside_this_test = std::env::current_exe().unwrap();
        command.env(
            "UNTORN_AGENT",
            beside_this_test.with_file_name("libuntorn_agent.so"),
        );
        command
    }
}
