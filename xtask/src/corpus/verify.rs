//! Every class of the pinned jars and of the JDKs' own images, rewritten by the agent in every way while a JVM loads and verifies it.
//!
//! The loader is run without the agent first: a class that the JVM refuses even so (its class path is incomplete, or it cannot be copied out of its module) says nothing.
//! With the agent the same classes must be linked, and not one more refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::process::{self, shown};
use crate::setup::Setup;
use crate::workspace::Workspace;

/// How classes are rewritten.
struct Way {
    name: &'static str,
    /// Of `untorn record`, or of the agent alone.
    options: Options,
}

enum Options {
    Record(&'static [&'static str]),
    /// A first run.
    First,
    Agent(&'static str),
}

/// Makes every method a region.
const EVERY_METHOD: &str = "heuristic = \"all-methods\"\ninclude = [\"**\"]\n";
/// Stands for the file with that specification.
const SPEC: &str = "SPEC";

const WAYS: [Way; 5] = [
    Way {
        name: "default",
        options: Options::Record(&[]),
    },
    Way {
        name: "arrays and stacks",
        options: Options::Record(&["--arrays", "--stacks"]),
    },
    Way {
        name: "every method a region",
        options: Options::Record(&["--arrays", "--stacks", "--spec", SPEC]),
    },
    Way {
        name: "pessimistic",
        options: Options::Agent("tracking=pessimistic,arrays=on"),
    },
    // A second run differs from a single one in the numbers of regions alone.
    Way {
        name: "first run",
        options: Options::First,
    },
];

/// What came of loading classes.
struct Loaded {
    /// On standard output: what was refused, and counts.
    seen: String,
    /// On standard error: why.
    said: String,
    /// What the agent did to classes and methods.
    counts: BTreeMap<String, String>,
}

/// What is needed to load classes.
pub struct Verify<'v> {
    pub setup: &'v Setup,
    pub workspace: &'v Workspace,
    /// Where classes are unpacked to.
    pub folder: PathBuf,
}

impl Verify<'_> {
    /// Verifies jars on every JDK, and each JDK's own classes on that JDK.
    pub fn run(&self, jars: &[PathBuf], platform: bool) -> Result<(), Error> {
        fs::create_dir_all(&self.folder).map_err(Error::in_file("make", &self.folder))?;
        let spec = self.folder.join("every-method.toml");
        fs::write(&spec, EVERY_METHOD).map_err(Error::in_file("write", &spec))?;
        let unpacked = self.unpack("jars", jars)?;
        let homes: Vec<&Path> = self.setup.jdk_homes().collect();
        for (number, home) in homes.iter().enumerate() {
            let loader = self.folder.join("loader");
            let source = self
                .workspace
                .root()
                .join("crates/classfile/tests/it/java/LoadAll.java");
            process::run(
                Command::new(homes[0].join("bin/javac"))
                    .arg("-d")
                    .arg(&loader)
                    .arg(source),
            )?;
            self.load("jars", home, &loader, &unpacked)?;
            if platform {
                let image = image(home, &self.folder.join(format!("image-{number}")))?;
                let copies = self.unpack(&format!("copies-{number}"), &[image])?;
                self.load("platform", home, &loader, &copies)?;
            }
        }
        Ok(())
    }

    fn unpack(&self, name: &str, inputs: &[PathBuf]) -> Result<PathBuf, Error> {
        let out = self.folder.join(name);
        if out.exists() {
            fs::remove_dir_all(&out).map_err(Error::in_file("remove", &out))?;
        }
        let mut command = process::cargo(&[
            "run",
            "--release",
            "--quiet",
            "--package",
            "untorn-agent",
            "--example",
            "corpus_classes",
            "--",
        ]);
        command.arg(&out).args(inputs);
        process::run(self.setup.tell(&mut command))?;
        Ok(out)
    }

    fn load(&self, what: &str, home: &Path, loader: &Path, classes: &Path) -> Result<(), Error> {
        let mut words: Vec<PathBuf> = vec![home.join("bin/java")];
        words.extend(["-Xverify:all", "-XX:-PrintWarnings", "-cp"].map(PathBuf::from));
        words.extend([loader.to_owned(), "LoadAll".into(), classes.to_owned()]);
        let plain = self
            .outcome(Command::new(&words[0]).args(&words[1..]))?
            .seen;
        println!("{what} on {}: {}", home.display(), last(&plain));
        for way in WAYS {
            let Loaded { seen, said, counts } = self.outcome(&mut self.watched(&way, &words)?)?;
            if seen != plain {
                let more = seen.lines().filter(|line| !plain.contains(*line));
                for line in more.take(20) {
                    println!("    {line}");
                }
                eprintln!("{said}");
                return Err(Error::Refused { way: way.name });
            }
            println!("  {:<22} the same", way.name);
            for (name, count) in counts {
                println!("    {count:>9} {name}");
            }
        }
        Ok(())
    }

    fn watched(&self, way: &Way, words: &[PathBuf]) -> Result<Command, Error> {
        let trace = self.folder.join("trace.utr");
        Ok(match way.options {
            Options::Record(options) => {
                let mut command = Command::new(self.workspace.untorn()?);
                command.args(["record", "--stats", "-o"]).arg(&trace);
                for &option in options {
                    if option == SPEC {
                        command.arg(self.folder.join("every-method.toml"));
                    } else {
                        command.arg(option);
                    }
                }
                command.arg("--").args(words);
                command
            }
            Options::First => {
                let mut command = Command::new(self.workspace.untorn()?);
                command.args([
                    "run",
                    "--stats",
                    "--exit-code",
                    "program",
                    "--mode",
                    "first",
                ]);
                command.arg("--profile").arg(self.folder.join("first.prof"));
                command.arg("-o").arg(self.folder.join("findings.txt"));
                command.arg("--").args(words);
                command
            }
            Options::Agent(options) => {
                let library = self.workspace.library("untorn_agent");
                let mut command = Command::new(&words[0]);
                command.arg(format!(
                    "-agentpath:{}=out={},{options}",
                    library.display(),
                    trace.display()
                ));
                command.args(&words[1..]);
                command
            }
        })
    }

    fn outcome(&self, command: &mut Command) -> Result<Loaded, Error> {
        let output = self
            .setup
            .tell(command)
            .output()
            .map_err(|source| Error::Start {
                command: shown(command),
                source,
            })?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            eprint!("{said}");
            return Err(Error::Ended {
                command: shown(command),
                status: output.status,
            });
        }
        let counts: BTreeMap<String, String> = said
            .lines()
            .filter_map(|line| line.rsplit_once(": "))
            .filter(|(name, _)| {
                ["classes", "methods", "sites left"]
                    .iter()
                    .any(|kind| name.starts_with(kind))
            })
            .map(|(name, count)| (name.to_owned(), count.to_owned()))
            .collect();
        Ok(Loaded {
            seen: String::from_utf8_lossy(&output.stdout).into_owned(),
            counts,
            said,
        })
    }
}

fn last(text: &str) -> &str {
    text.lines().next_back().unwrap_or_default()
}

/// The classes of a JDK's own image, extracted once.
pub fn image(home: &Path, into: &Path) -> Result<PathBuf, Error> {
    if !into.is_dir() {
        let mut jimage = Command::new(home.join("bin/jimage"));
        jimage
            .arg("extract")
            .arg("--dir")
            .arg(into)
            .arg(home.join("lib/modules"));
        process::run(&mut jimage)?;
    }
    Ok(into.to_owned())
}
