//! One run of a program, and what it cost.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use untorn_bench::programs::MEASURE;
use untorn_bench::{Folder, Program};
use untorn_jdk::Jdk;

use super::mode::{Mode, Profile};

type Error = Box<dyn std::error::Error>;

/// Seconds.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Of the program's threads on a processor.
    pub program: f64,
    /// Of all processes on a processor.
    pub total: f64,
    pub wall: f64,
}

/// Where programs are run.
pub struct Place {
    jdk: Jdk,
    programs: Folder,
    folder: PathBuf,
    untorn: PathBuf,
    tracking: String,
    /// The programs whose first run has been made, with their threads.
    profiled: RefCell<BTreeSet<(&'static str, u32)>>,
}

impl Place {
    pub fn new(jdk: Jdk, programs: Folder, folder: &Path) -> Result<Self, Error> {
        let untorn = std::env::current_exe()?.with_file_name("untorn");
        if !untorn.is_file() {
            return Err(format!("{} is not built", untorn.display()).into());
        }
        Ok(Self {
            jdk,
            programs,
            folder: folder.to_owned(),
            untorn,
            tracking: std::env::var("UNTORN_BENCH_TRACKING").unwrap_or("optimistic".to_owned()),
            profiled: RefCell::default(),
        })
    }

    pub fn has(&self, program: &Program) -> bool {
        self.programs.class(program).is_some()
    }

    /// Runs a program once, alone or in a mode.
    pub fn run(
        &self,
        program: &Program,
        threads: u32,
        size: u32,
        mode: Option<&Mode>,
    ) -> Result<Cost, Error> {
        if mode.is_some_and(|mode| mode.profile == Profile::Read)
            && self.profiled.borrow_mut().insert((program.name, threads))
        {
            self.once(program, threads, size, &["--mode", "first"], true)?;
        }
        match mode {
            None => self.once(program, threads, size, &["alone"], false),
            Some(mode) if mode.facts => {
                let facts = self.facts(program)?;
                let mut options = mode.options.to_vec();
                options.extend(["--facts", &facts]);
                self.once(program, threads, size, &options, false)
            }
            Some(mode) => {
                let profile = mode.profile != Profile::None;
                self.once(program, threads, size, mode.options, profile)
            }
        }
    }

    /// The file with what a check proves of a program and its jars, made once.
    ///
    /// What measures starts programs by reflection, so any client may use them.
    fn facts(&self, program: &Program) -> Result<String, Error> {
        let file = self.folder.join(format!("{}.facts.json", program.name));
        if !file.is_file() {
            let class = self.programs.class(program).ok_or("no jars")?;
            let mut check = Command::new(&self.untorn);
            check.args([
                "check",
                "--with",
                "types",
                "--by-class",
                "--exit-zero",
                "-o",
            ]);
            check.arg(self.folder.join("checked.json"));
            check.arg("--facts").arg(&file);
            let checked = check.args(class.class_path.split(':')).output()?;
            let said = String::from_utf8_lossy(&checked.stderr);
            if !checked.status.success() {
                return Err(format!("{check:?} ended with {}\n{said}", checked.status).into());
            }
            eprint!("  {}: {said}", program.name);
        }
        Ok(file.display().to_string())
    }

    fn once(
        &self,
        program: &Program,
        threads: u32,
        size: u32,
        options: &[&str],
        profile: bool,
    ) -> Result<Cost, Error> {
        let class = self.programs.class(program).ok_or("no jars")?;
        let told = self.folder.join("program");
        fs::remove_file(&told).ok();
        let mut command = if options == ["alone"] {
            Command::new(self.jdk.tool("java"))
        } else {
            let mut command = Command::new(&self.untorn);
            command.args([
                "run",
                "--exclude",
                "measure.*",
                "--exit-code",
                "program",
                "-o",
            ]);
            command.arg(self.folder.join("findings.json")).args(options);
            command.args(["--tracking", &self.tracking]);
            if profile {
                let file = format!("{}-{threads}.prof", program.name);
                command.arg("--profile").arg(self.folder.join(file));
            }
            command.arg("--").arg(self.jdk.tool("java"));
            command
        };
        // Threads of the compiler that come and go could not be told from the program's.
        command.args(["-XX:-UseDynamicNumberOfCompilerThreads", "-cp"]);
        command.args([&class.class_path, MEASURE]).arg(&told);
        command.args([&class.name, &threads.to_string(), &size.to_string()]);
        let (before, start) = (of_children(), Instant::now());
        let run = command.stdin(Stdio::null()).output()?;
        let wall = start.elapsed().as_secs_f64();
        let total = of_children() - before;
        if !run.status.success() {
            let said = String::from_utf8_lossy(&run.stderr);
            return Err(format!("{command:?} ended with {}\n{said}", run.status).into());
        }
        // A run with facts says how much they save.
        let said = String::from_utf8_lossy(&run.stderr);
        for line in said
            .lines()
            .filter(|line| line.contains("by what was proved"))
        {
            eprintln!("  {}: {line}", program.name);
        }
        let nanos: f64 = fs::read_to_string(&told)?.trim().parse()?;
        Ok(Cost {
            program: nanos / 1e9,
            total,
            wall,
        })
    }
}

/// Seconds on a processor of all children that have ended, with theirs.
fn of_children() -> f64 {
    /// Linux counts here in hundredths of a second, whatever its own clock does.
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name in parentheses may hold spaces; the times are the 14th and 15th words behind it.
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let words: Vec<f64> = rest
        .split_ascii_whitespace()
        .skip(13)
        .take(2)
        .filter_map(|word| word.parse().ok())
        .collect();
    words.iter().sum::<f64>() / TICKS
}
