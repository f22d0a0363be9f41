//! What an archive of many runs costs: importing it, its size beside the JSON, and every named question, with DuckDB on the same files beside.
//!
//! A hundred regions are torn, each in a way of its own, and no two occurrences are alike ([`varied`]).
//! `UNTORN_ARCHIVE_RUNS` gives another number of runs than 10,000.
//! With `--ballista`, the heaviest question is asked of Ballista too ([`ballista`]).

mod ballista;
mod varied;

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use crate::Outcome;
use varied::Dice;

const REGIONS: usize = 200;
const FINDINGS: usize = 20;
/// How many of the regions are torn now and then.
const TORN: usize = REGIONS / 2;
/// The option that asks Ballista, too.
pub const BALLISTA: &str = "--ballista";
/// The named questions, and what makes DuckDB understand them.
const QUESTIONS: [&[&str]; 6] = [
    &["top"],
    &["trend"],
    &["trend", "--by-version"],
    &["new"],
    &["flaky"],
    &["steady"],
];

pub fn run() -> Outcome {
    let program = env::current_exe()?.with_file_name("untorn-archive");
    if !program.is_file() {
        return Err(format!("{} is not built", program.display()).into());
    }
    let runs: usize = match env::var("UNTORN_ARCHIVE_RUNS") {
        Ok(number) => number.parse()?,
        Err(_) => 10_000,
    };
    let folder = tempfile::tempdir()?;
    let saved = folder.path().join("saved");
    fs::create_dir(&saved)?;
    let untorn = program.with_file_name("untorn");
    let (template, known) = varied::findings(&untorn, folder.path(), TORN)?;
    let bytes = generate(&saved, (&template, &known), runs)?;
    let archive = folder.path().join("archive");
    // Versions of the program come one after the other.
    let mut imported = Cost::default();
    for version in fs::read_dir(&saved)? {
        let version = version?.path();
        let name = version.file_name().unwrap_or_default().to_os_string();
        let mut import = Command::new(&program);
        import.args(["import", "--project", "shop", "--archive"]);
        import.arg(&archive).arg("--program-version").arg(name);
        imported.add(&measured(import.arg(&version))?);
    }
    let kept = size(&archive)?;
    println!(
        "{runs} runs of {REGIONS} regions and {FINDINGS} findings: {:.0} runs/s, peak {} MB; {} MB as JSON, {} MB in the archive, {:.1} %",
        runs as f64 / imported.wall.as_secs_f64(),
        imported.peak_kb / 1000,
        bytes / 1_000_000,
        kept / 1_000_000,
        100.0 * kept as f64 / bytes as f64,
    );
    println!("| question | s | peak MB | DuckDB, s |");
    println!("|---|---|---|---|");
    let python = env::var_os("UNTORN_TEST_PYTHON").map(PathBuf::from);
    let mut heaviest: Option<(Duration, &[&str])> = None;
    for question in QUESTIONS {
        let mut ask = Command::new(&program);
        ask.args(question).arg("--archive").arg(&archive);
        let cost = measured(&mut ask)?;
        let other = match &python {
            Some(python) => duckdb(python, &program, question, &archive)?,
            None => "not to be had".to_owned(),
        };
        println!(
            "| {} | {:.2} | {} | {other} |",
            question.join(" "),
            cost.wall.as_secs_f64(),
            cost.peak_kb / 1000,
        );
        if heaviest.is_none_or(|(wall, _)| wall < cost.wall) {
            heaviest = Some((cost.wall, question));
        }
    }
    if env::args().any(|word| word == BALLISTA)
        && let Some((_, question)) = heaviest
    {
        ballista::compare(&program, question, &archive)?;
    }
    Ok(())
}

/// Writes the documents of all runs, in a folder for each version of the program, and says how many bytes they have.
fn generate(
    saved: &Path,
    (template, known): (&Value, &[Value]),
    runs: usize,
) -> Result<u64, Box<dyn Error>> {
    let mut dice = Dice::new();
    let region = |number: usize| json!({ "class": format!("shop.part{}.Cart{}", number % 7, number / 4), "method": format!("step{number}"), "descriptor": "()V", "file": format!("Cart{}.java", number / 4), "line": number });
    let mut bytes = 0;
    for run in 0..runs {
        let folder = saved.join(format!("1.{}", run * 10 / runs));
        fs::create_dir_all(&folder)?;
        let mut document = template.clone();
        let entered: Vec<Value> = (0..REGIONS)
            .map(|number| json!({ "region": region(number), "entered": 1 + dice.below(5000), "transactions": dice.below(5000) }))
            .collect();
        document["stats"]["regions entered"] = Value::Array(entered);
        document["stats"]["aerodrome"] = json!({});
        let mut findings = Vec::new();
        for _ in 0..FINDINGS {
            let number = dice.below(TORN);
            let mut finding = varied::vary(&known[number], number, &mut dice)?;
            finding["region"] = region(number);
            finding["fingerprint"] = json!(format!("{:032x}", number * 7919));
            findings.push(finding);
        }
        document["findings"] = Value::Array(findings);
        let text = serde_json::to_string_pretty(&document)?;
        bytes += text.len() as u64;
        let path = folder.join(format!("{run}.json"));
        fs::write(&path, text)?;
        // An archive files runs under the day on which they were saved.
        let age = Duration::from_hours(24) * (30 - run as u32 * 30 / runs as u32);
        let file = fs::File::options().write(true).open(&path)?;
        file.set_modified(SystemTime::now() - age)?;
    }
    Ok(bytes)
}

#[derive(Default)]
struct Cost {
    wall: Duration,
    peak_kb: u64,
}

impl Cost {
    fn add(&mut self, other: &Self) {
        self.wall += other.wall;
        self.peak_kb = self.peak_kb.max(other.peak_kb);
    }
}

/// Runs a program to its end, and looks at its memory all the while.
fn measured(command: &mut Command) -> Result<Cost, Box<dyn Error>> {
    let begun = Instant::now();
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut peak_kb = 0;
    let status = format!("/proc/{}/status", child.id());
    loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|peak| peak.split_whitespace().next()?.parse().ok());
        peak_kb = peak_kb.max(peak.unwrap_or(0));
        if let Some(status) = child.try_wait()? {
            if !status.success() {
                return Err(format!("{command:?} ended with {status}").into());
            }
            return Ok(Cost {
                wall: begun.elapsed(),
                peak_kb,
            });
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The seconds that DuckDB takes for the same question, without those that Python takes to start.
fn duckdb(
    python: &Path,
    program: &Path,
    question: &[&str],
    archive: &Path,
) -> Result<String, Box<dyn Error>> {
    let printed = Command::new(program)
        .args(question)
        .arg("--print-sql")
        .arg("--archive")
        .arg(archive)
        .output()?;
    // What DataFusion calls `first_value` as an aggregate is `first` there.
    let sql = String::from_utf8(printed.stdout)?.replace("first_value(", "first(");
    let script = r#"
import duckdb, sys, time
archive, sql = sys.argv[1], sys.argv[2]
begun = time.time()
db = duckdb.connect()
for table in ['runs', 'regions', 'findings']:
    db.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{archive}/{table}/**/*.parquet', hive_partitioning = true, hive_types_autocast = false)")
db.execute(sql).fetchall()
print(f'{time.time() - begun:.2f}')
"#;
    let output = Command::new(python)
        .args(["-c", script])
        .arg(archive)
        .arg(&sql)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// The bytes of all files below a folder.
fn size(folder: &Path) -> Result<u64, Box<dyn Error>> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let about = entry.metadata()?;
        sum += if about.is_dir() {
            size(&entry.path())?
        } else {
            about.len()
        };
    }
    Ok(sum)
}
