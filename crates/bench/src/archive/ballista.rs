//! The heaviest named question asked of Ballista, beside our own answer: a scheduler and two executors as processes on this machine, over the same files.
//!
//! `cargo xtask bench archive --ballista` installs the three programs first; `UNTORN_BALLISTA` names the folder that they are in.
//! No test does, since they take as long to build as all of Untorn.

use std::env;
use std::error::Error;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take until it listens.
const PATIENCE: Duration = Duration::from_mins(1);
const EXECUTORS: usize = 2;

/// A process that ends with the measurement.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended already needs no end.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Asks the question of both, compares the answers, and prints how long each took.
pub fn compare(program: &Path, question: &[&str], archive: &Path) -> Result<(), Box<dyn Error>> {
    let folder = env::var_os("UNTORN_BALLISTA").map(PathBuf::from);
    let folder = folder.ok_or("UNTORN_BALLISTA does not say where Ballista's programs are")?;
    let programs = folder.join("bin");
    let work = tempfile::tempdir()?;
    let ask = |more: &[&str]| -> Result<String, Box<dyn Error>> {
        let output = Command::new(program)
            .args(question)
            .args(more)
            .arg("--archive")
            .arg(archive)
            .output()?;
        Ok(String::from_utf8(output.stdout)?)
    };
    let begun = Instant::now();
    let own = ask(&["--format", "csv"])?;
    let alone = begun.elapsed();
    let sql = work.path().join("question.sql");
    fs::write(&sql, tables(archive) + &ask(&["--print-sql"])? + ";\n")?;
    let nothing = work.path().join("nothing.sql");
    fs::write(&nothing, tables(archive))?;

    let port = free_port()?;
    let _scheduler = start(
        Command::new(programs.join("ballista-scheduler"))
            .args(["--bind-host", "127.0.0.1", "--external-host", "127.0.0.1"])
            .args(["--bind-port", &port.to_string()]),
        port,
    )?;
    let mut executors = Vec::new();
    for number in 0..EXECUTORS {
        let (data, control, health) = (free_port()?, free_port()?, free_port()?);
        let folder = work.path().join(format!("executor{number}"));
        fs::create_dir(&folder)?;
        executors.push(start(
            Command::new(programs.join("ballista-executor"))
                .args(["--scheduler-host", "127.0.0.1"])
                .args(["--scheduler-port", &port.to_string()])
                .args(["--bind-host", "127.0.0.1", "--external-host", "127.0.0.1"])
                .args(["--bind-port", &data.to_string()])
                .args(["--bind-grpc-port", &control.to_string()])
                .args(["--bind-health-port", &health.to_string()])
                .args(["--vcores", "1"])
                .arg("--work-dir")
                .arg(&folder),
            data,
        )?);
    }
    let client = |file: &Path| -> Result<(String, Duration), Box<dyn Error>> {
        let begun = Instant::now();
        let output = Command::new(programs.join("ballista-cli"))
            .args(["--host", "127.0.0.1", "--port", &port.to_string()])
            .args(["--format", "csv", "--quiet", "--file"])
            .arg(file)
            .output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        Ok((String::from_utf8(output.stdout)?, begun.elapsed()))
    };
    let (_, idle) = client(&nothing)?;
    let (answer, took) = client(&sql)?;
    let rows = |text: &str| -> Vec<String> { text.trim().lines().map(str::to_owned).collect() };
    let (own, theirs) = (rows(&own), rows(&answer));
    if own != theirs {
        return Err(format!("Ballista answers otherwise:\n{own:?}\n{theirs:?}").into());
    }
    println!(
        "Ballista, {EXECUTORS} executors: {} in {:.2} s, {:.2} s of it to connect and name the tables; untorn-archive {:.2} s; the same {} rows",
        question.join(" "),
        took.as_secs_f64(),
        idle.as_secs_f64(),
        alone.as_secs_f64(),
        own.len().saturating_sub(1),
    );
    Ok(())
}

/// What makes an engine of DataFusion's kind know the tables that named questions ask.
fn tables(archive: &Path) -> String {
    let archive = archive.display();
    (["runs", "regions", "findings"].iter())
        .map(|table| {
            format!(
                "CREATE EXTERNAL TABLE {table} STORED AS PARQUET PARTITIONED BY (project, day) LOCATION '{archive}/{table}/';\n"
            )
        })
        .collect()
}

/// Starts a server and waits until it listens.
fn start(command: &mut Command, port: u16) -> Result<Server, Box<dyn Error>> {
    let server = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut server = Server(server.map_err(|error| format!("{command:?}: {error}"))?);
    let begun = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if let Some(status) = server.0.try_wait()? {
            return Err(format!("{command:?} ended with {status}").into());
        }
        if begun.elapsed() > PATIENCE {
            return Err(format!("{command:?} does not listen").into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(server)
}

fn free_port() -> Result<u16, Box<dyn Error>> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
