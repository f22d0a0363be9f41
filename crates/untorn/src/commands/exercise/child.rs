//! The JVM that calls what nobody has called: its class path, its limits, its end.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use untorn_exercise::{Job, MAIN, Restricted, Results, restrict, unpack};
use untorn_live::signals;
use untorn_program::LoadPlan;
use untorn_program::load::JdkChoice;

use super::args::SandboxArgs;
use crate::failure::Failure;
use crate::output::note;

/// How much longer than it was told a process may take.
const GRACE: Duration = Duration::from_secs(15);
/// From one look to the next.
const NAP: Duration = Duration::from_millis(20);

/// A folder for everything that a process may write, with the driver in it.
#[derive(Debug)]
pub struct Child {
    folder: tempfile::TempDir,
    java: PathBuf,
    class_path: OsString,
}

impl Child {
    pub fn new(plan: &LoadPlan) -> Result<Self, Failure> {
        let folder = tempfile::Builder::new()
            .prefix("untorn-exercise")
            .tempdir()
            .map_err(|error| Failure::file("a temporary folder".as_ref(), error))?;
        let driver = folder.path().join("driver");
        let unpacked =
            unpack(&driver).and_then(|()| std::fs::create_dir(folder.path().join("tests")));
        unpacked.map_err(|error| Failure::file(&driver, error))?;
        let mut entries = vec![driver];
        for path in plan.inputs.iter().chain(&plan.classpath) {
            let path = std::path::absolute(path).map_err(|error| Failure::file(path, error))?;
            entries.push(path);
        }
        let class_path = std::env::join_paths(entries).map_err(|error| {
            Failure::Usage(format!("the class path cannot be written down: {error}"))
        })?;
        let home = match &plan.jdk {
            JdkChoice::Home(home) => Some(home.clone()),
            _ => std::env::var_os("JAVA_HOME").map(PathBuf::from),
        };
        let java = home.map_or_else(|| "java".into(), |home| home.join("bin/java"));
        Ok(Self {
            folder,
            java,
            class_path,
        })
    }

    pub fn tests(&self) -> PathBuf {
        self.folder.path().join("tests")
    }

    /// The command of the driver with these options of the JVM, limited; and where its results go.
    pub fn command(
        &self,
        job: &Job<'_>,
        options: &[OsString],
    ) -> Result<(Vec<OsString>, PathBuf), Failure> {
        let folder = self.folder.path();
        let (file, results) = (folder.join("job"), folder.join("results"));
        std::fs::write(&file, job.to_text()).map_err(|error| Failure::file(&file, error))?;
        std::fs::remove_file(&results).ok();
        let own =
            std::env::current_exe().map_err(|error| Failure::file("untorn".as_ref(), error))?;
        let mut command: Vec<OsString> =
            vec![own.into(), "sandbox".into(), folder.into(), "--".into()];
        command.push(self.java.clone().into());
        command.extend(options.iter().cloned());
        let of_folder = |name: &str| {
            let mut option = OsString::from(format!("-D{name}="));
            option.push(folder);
            option
        };
        command.extend([of_folder("java.io.tmpdir"), of_folder("user.home")]);
        let fixed = [
            "-Xmx512m",
            "-XX:-UsePerfData",
            "-Xshare:auto",
            "-Djava.awt.headless=true",
            "-cp",
        ];
        command.extend(fixed.map(OsString::from));
        command.push(self.class_path.clone());
        command.push(MAIN.into());
        command.extend([file.into(), results.clone().into(), self.tests().into()]);
        Ok((command, results))
    }

    /// Runs the driver to its end, or until its time is up; what it said by then.
    pub fn run(
        &self,
        job: &Job<'_>,
        options: &[OsString],
        tick: &mut dyn FnMut(&Results),
    ) -> Result<Results, Failure> {
        let (command, results) = self.command(job, options)?;
        let program = Path::new(&command[0]).to_owned();
        let spawned = Command::new(&program)
            .args(&command[1..])
            .current_dir(self.folder.path())
            .env_remove("JAVA_TOOL_OPTIONS")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut child = spawned.map_err(|error| Failure::file(&program, error))?;
        let end = Instant::now() + job.time + GRACE;
        loop {
            let waited = child
                .try_wait()
                .map_err(|error| Failure::file(&program, error))?;
            if waited.is_some() {
                break;
            }
            if Instant::now() > end || signals::is_end_asked_for() {
                child.kill().ok();
                child.wait().ok();
                break;
            }
            tick(&read(&results));
            std::thread::sleep(NAP);
        }
        Ok(read(&results))
    }
}

/// What a driver has written so far.
pub fn read(results: &Path) -> Results {
    let bytes = std::fs::read(results).unwrap_or_default();
    Results::read(&String::from_utf8_lossy(&bytes))
}

/// `untorn sandbox`: sets the limits and becomes the command.
pub fn sandbox(args: &SandboxArgs) -> Result<ExitCode, Failure> {
    use std::os::unix::process::CommandExt;
    match restrict(&args.folder) {
        Ok(Restricted::Fully) => {}
        Ok(Restricted::Partly) => note("this kernel limits files, and not TCP"),
        Ok(Restricted::Not) => note("this kernel limits neither files nor TCP"),
        Err(error) => return Err(Failure::Usage(error.to_string())),
    }
    let failed = Command::new(&args.command[0])
        .args(&args.command[1..])
        .exec();
    Err(Failure::file(args.command[0].as_ref(), failed))
}
