//! Running a program as it is and in every way of watching it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

// Linked in so that cargo builds the agent library first.
use untorn_agent as _;
use untorn_bench::Class;
use untorn_jdk::Jdk;

/// A way of watching: what is asked of untorn, before the command.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub name: &'static str,
    options: &'static [&'static str],
}

const fn way(name: &'static str, options: &'static [&'static str]) -> Way {
    Way { name, options }
}

/// The first option of the agent without a reader; the others are the agent's own.
const ALONE: &str = "alone";

const FIRST: &[&str] = &["run", "--mode", "first"];

/// Every way there is.
pub const WAYS: [Way; 11] = [
    way("default", &["run"]),
    way("fast", &["run", "--fast"]),
    way("locked", &["run", "--fast", "--tracking", "pessimistic"]),
    way("arrays", &["run", "--fast", "--arrays"]),
    way("stacks", &["run", "--stacks", "--with", "atomizer"]),
    way("velodrome", &["run", "--with", "velodrome"]),
    way("first", FIRST),
    way("second", &["run", "--mode", "second"]),
    way("record", &["record", "--arrays", "--stacks"]),
    way("alone", &[ALONE]),
    way("optimistic", &[ALONE, "tracking=optimistic", "arrays=on"]),
];

/// What a user would see of a run.
#[derive(Clone, PartialEq, Eq)]
pub struct Seen {
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Seen {
    fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        // What untorn itself says is documented: all of it begins so.
        let own = |line: &&str| !line.starts_with("untorn: ");
        Self {
            status: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr)
                .split_inclusive('\n')
                .filter(own)
                .collect(),
        }
    }
}

impl std::fmt::Debug for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}\n{}{}", self.status, self.out, self.err)
    }
}

/// Untorn and the agent that cargo built for this test, side by side: what lies beside the program that cargo built may be older.
fn installed() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = scratch().join("bin");
        std::fs::create_dir_all(&folder).unwrap();
        let beside = std::env::current_exe().unwrap();
        let agent = beside.with_file_name("libuntorn_agent.so");
        std::fs::copy(agent, folder.join("libuntorn_agent.so")).unwrap();
        std::fs::copy(env!("CARGO_BIN_EXE_untorn"), folder.join("untorn")).unwrap();
        folder
    })
}

pub fn agent() -> PathBuf {
    installed().join("libuntorn_agent.so")
}

pub fn untorn() -> PathBuf {
    installed().join("untorn")
}

/// A command that is ended if it hangs, and then exits with 124.
pub fn limited(program: &Path) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "300"]).arg(program);
    command.env_remove("JAVA_TOOL_OPTIONS");
    command
}

/// A scratch folder for all tests of this program, made anew.
pub fn scratch() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("harmless");
        std::fs::remove_dir_all(&folder).ok();
        std::fs::create_dir_all(&folder).unwrap();
        folder
    })
}

fn java(command: &mut Command, class: &Class, arguments: &[&str]) {
    command
        .args(["-cp", &class.class_path, &class.name])
        .args(arguments);
}

pub fn plain(jdk: &Jdk, class: &Class, arguments: &[&str]) -> Seen {
    let mut command = limited(&jdk.tool("java"));
    java(&mut command, class, arguments);
    Seen::of(&command.output().unwrap())
}

impl Way {
    /// The command, up to the arguments of the JVM.
    pub fn command(self, jdk: &Jdk, into: &Path) -> Command {
        let out = into.to_string_lossy();
        if self.options[0] == ALONE {
            let mut command = limited(&jdk.tool("java"));
            let mut option = format!("-agentpath:{}=out={out}.utr", agent().display());
            for own in &self.options[1..] {
                option = format!("{option},{own}");
            }
            command.arg(option);
            return command;
        }
        let mut command = limited(&untorn());
        command.args(self.options);
        if self.options[0] == "record" {
            command.args(["-o", &format!("{out}.utr")]);
        } else {
            command.args(["-o", &format!("{out}.json"), "--exit-code", "program"]);
        }
        if self.options.contains(&"--mode") {
            command.args(["--profile", &format!("{out}.profile")]);
        }
        command.arg("--").arg(jdk.tool("java"));
        command
    }

    pub fn watched(self, jdk: &Jdk, class: &Class, arguments: &[&str]) -> Seen {
        let folder = tempfile::tempdir().unwrap();
        let run = |way: Self| {
            let mut command = way.command(jdk, &folder.path().join("kept"));
            java(&mut command, class, arguments);
            Seen::of(&command.output().unwrap())
        };
        if self.options.contains(&"second") {
            run(way("first", FIRST));
        }
        let seen = run(self);
        let kept = std::fs::read_dir(folder.path()).unwrap().count();
        assert!(kept > 0, "{self:?} left no result\n{seen:?}");
        seen
    }
}
