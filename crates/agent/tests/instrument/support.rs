//! JDKs, compiling, and running rewritten programs against a runtime patched into java.base.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

use untorn_agent::Registry;
use untorn_agent::instrument::{self, Outcome, Plan, Reason};
use untorn_agent::jdk;
use untorn_agent::loaders::Loader;
use untorn_channel::Config;

/// A Java installation.
#[derive(Debug, Clone)]
pub struct Jdk(untorn_jdk::Jdk);

impl Jdk {
    /// The JDKs to test on.
    pub fn all() -> Vec<Self> {
        let jdks: Vec<Self> = (untorn_jdk::Jdk::for_tests().into_iter())
            .map(Self)
            .filter(|jdk| jdk.0.tool("jimage").is_file())
            .collect();
        assert!(!jdks.is_empty(), "tests need a JDK 17 or later");
        jdks
    }

    pub fn tool(&self, name: &str) -> Command {
        Command::new(self.0.tool(name))
    }

    pub fn compile(&self, out: &Path, arguments: &[&str], sources: &[&Path]) {
        let mut javac = self.tool("javac");
        javac
            .args(["-g", "-nowarn", "-Xlint:-options", "-d"])
            .arg(out);
        succeed(javac.args(arguments).args(sources));
    }

    /// The classes of the platform that the agent edits, edited, below a new directory.
    fn edited_platform(&self, out: &Path) {
        let raw = tempfile::tempdir().unwrap();
        let mut jimage = self.tool("jimage");
        jimage.arg("extract").arg("--dir").arg(raw.path());
        jimage.arg(
            "--include=regex:/java.base/(java/lang/(Class|Thread|VirtualThread)|jdk/internal/reflect/Reflection).class",
        );
        succeed(jimage.arg(self.0.home().join("lib/modules")));
        let root = raw.path().join("java.base");
        for path in classes(&root) {
            let edited = jdk::edit(&std::fs::read(&path).unwrap()).unwrap();
            write(&out.join(path.strip_prefix(&root).unwrap()), &edited);
        }
    }
}

/// Where the Java files of these tests are.
pub fn java_source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/instrument/java")
        .join(name)
}

pub fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?} failed:\n{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Every class file below a directory, sorted.
pub fn classes(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![dir.to_path_buf()];
    while let Some(dir) = pending.pop() {
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|ext| ext == "class") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

pub fn write(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// What the agent would patch in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runtime {
    /// The product's, which records nothing since no agent connects it.
    Real,
    /// The tests' own, which writes down what is called.
    Recorder,
}

impl Runtime {
    /// A directory with its classes and the edited ones of the platform, made once per run of the tests.
    fn unpacked(self, jdk: &Jdk) -> PathBuf {
        static MADE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
        let patch = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("{self:?}"))
            .join(jdk.0.home().file_name().unwrap());
        let mut made = MADE.lock().unwrap();
        if !made.contains(&patch) {
            std::fs::remove_dir_all(&patch).ok();
            self.unpack(jdk, &patch);
            made.push(patch.clone());
        }
        patch
    }

    fn unpack(self, jdk: &Jdk, patch: &Path) {
        if self == Self::Recorder {
            let sources = java_source("recorder");
            let module = format!("java.base={}", sources.display());
            jdk.compile(
                patch,
                &["--patch-module", &module],
                &[
                    &sources.join("java/lang/UntornRuntime.java"),
                    &sources.join("java/lang/UntornHooks.java"),
                    &sources.join("java/lang/UntornThread.java"),
                ],
            );
            return;
        }
        for path in classes(&Path::new(env!("OUT_DIR")).join("java")) {
            let name = path.file_name().unwrap();
            let bytes = std::fs::read(&path).unwrap();
            write(&patch.join("java/lang").join(name), &bytes);
        }
        jdk.edited_platform(patch);
    }
}

/// A program in two versions, and a runtime for the second.
#[derive(Debug)]
pub struct Program {
    dir: tempfile::TempDir,
    patch: PathBuf,
    jdk: Jdk,
    pub registry: Registry,
    pub counts: BTreeMap<&'static str, u64>,
}

impl Program {
    /// Compiles a source file and rewrites its classes.
    pub fn new(jdk: &Jdk, source: &Path, runtime: Runtime, config: &Config) -> Self {
        let dir = tempfile::tempdir().unwrap();
        jdk.compile(&dir.path().join("plain"), &[], &[source]);
        Self::of_classes(jdk, dir, runtime, config)
    }

    /// Rewrites the classes below `plain` in a directory.
    pub fn of_classes(
        jdk: &Jdk,
        dir: tempfile::TempDir,
        runtime: Runtime,
        config: &Config,
    ) -> Self {
        let patch = runtime.unpacked(jdk);
        let mut program = Self {
            dir,
            patch,
            jdk: jdk.clone(),
            registry: Registry::new(None),
            counts: BTreeMap::new(),
        };
        program.rewrite(config);
        program
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn rewrite(&mut self, config: &Config) {
        let plan = Plan::new(config).unwrap();
        let (plain, rewritten) = (self.path("plain"), self.path("rewritten"));
        for path in classes(&plain) {
            let bytes = std::fs::read(&path).unwrap();
            let bytes = match instrument::rewrite(&bytes, &plan, &self.registry, Loader::BOOT) {
                Outcome::Rewritten(bytes, counts) => {
                    for (name, amount) in counts.0 {
                        *self.counts.entry(name).or_default() += amount;
                    }
                    bytes
                }
                Outcome::Untouched(Reason::Nothing | Reason::NotWatched) => bytes,
                Outcome::Untouched(reason) => panic!("{}: {reason}", path.display()),
            };
            write(&rewritten.join(path.strip_prefix(&plain).unwrap()), &bytes);
        }
    }

    pub fn run_plain(&self, arguments: &[&str]) -> Output {
        let mut java = self.jdk.tool("java");
        java.args(["-Xverify:all", "-XX:-PrintWarnings", "-Xshare:off", "-cp"])
            .arg(self.path("plain"));
        java.args(arguments).output().unwrap()
    }

    pub fn run_rewritten(&self, arguments: &[&str]) -> Output {
        let mut java = self.jdk.tool("java");
        java.args(["-Xverify:all", "-XX:-PrintWarnings", "-Xshare:off"])
            .arg("--patch-module")
            .arg(format!("java.base={}", self.patch.display()))
            .arg("-cp")
            .arg(self.path("rewritten"));
        java.args(arguments).output().unwrap()
    }
}
