//! The program on folders and on a server that speaks S3, and the same files read by another engine.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use untorn_archive::ENTERED;
use untorn_findings::{Document, Evidence, Executions, Finding, Kind, Region, Verdict};

const SECRET: &str = "a-secret-that-nobody-may-see";

/// Findings of a run, as they are saved: `add` torn so often of a hundred, `size` never.
fn save(folder: &Path, name: &str, torn: u64) -> PathBuf {
    let region = |method: &str| Region {
        class: Some("shop.Cart".into()),
        method: method.into(),
        descriptor: Some("()V".into()),
        ..Region::default()
    };
    let mut document = Document::new(vec![name.to_owned()]);
    document.stats.insert("aerodrome".into(), json!({}));
    document.stats.insert(
        ENTERED.into(),
        json!([
            { "region": region("add"), "entered": 100 },
            { "region": region("size"), "entered": 50 },
        ]),
    );
    let mut finding = Finding::new(
        "aerodrome",
        Kind::Torn,
        Verdict::Observed,
        region("add"),
        "Cart.add is torn".into(),
        Evidence::default(),
    );
    finding.executions = Some(Executions { torn, of: 100 });
    document.findings.push(finding);
    let path = folder.join(format!("{name}.json"));
    fs::write(&path, document.to_json().unwrap()).unwrap();
    path
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_untorn-archive"));
    command.env("UNTORN_ARCHIVE_TIMEOUT", "3");
    command
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let said = said(&output);
    assert!(!said.contains(SECRET), "{said}");
    output
}

fn said(output: &Output) -> String {
    let both = [output.stdout.clone(), output.stderr.clone()].concat();
    String::from_utf8(both).unwrap()
}

#[test]
fn files_are_imported_once_and_bad_ones_named() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("saved");
    fs::create_dir(&saved).unwrap();
    save(&saved, "one", 1);
    save(&saved, "two", 2);
    fs::write(saved.join("bad.json"), "{ \"schema\": ").unwrap();
    let archive = folder.path().join("archive");
    let import = || {
        let mut command = program();
        command
            .args(["import", "--project", "shop", "--archive"])
            .arg(&archive);
        run(command.arg(&saved))
    };
    let output = import();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("bad.json: "), "{}", said(&output));
    assert!(
        said(&output).contains("2 runs imported"),
        "{}",
        said(&output)
    );
    let output = import();
    assert!(
        said(&output).contains("2 were in the archive already"),
        "{}",
        said(&output)
    );
    let profile = folder.path().join("first.prof");
    fs::write(&profile, "untorn-profile 1\nunary\n").unwrap();
    let mut command = program();
    command
        .args(["import", "--project", "shop", "--archive"])
        .arg(&archive);
    assert!(run(command.arg(&profile)).status.success());
    let merged = run(program().args(["merge-profile", "--archive"]).arg(&archive));
    assert_eq!(said(&merged), "untorn-profile 1\nunary\n");
    let output = run(program().args(["info", "--archive"]).arg(&archive));
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        said(&output).contains("shop: 3 runs, 2 findings, 2 of them observed"),
        "{}",
        said(&output)
    );
}

#[test]
fn a_place_without_an_archive_is_no_empty_archive() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(program()
        .args(["info", "--archive"])
        .arg(folder.path().join("shp")));
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said(&output).contains("there is no archive"),
        "{}",
        said(&output)
    );
}

/// The Python with DuckDB and an S3 server.
fn python() -> PathBuf {
    let python = std::env::var_os("UNTORN_TEST_PYTHON").filter(|python| !python.is_empty());
    python.map(PathBuf::from).expect(
        "UNTORN_TEST_PYTHON names no Python; `cargo xtask setup --export` makes one or says why",
    )
}

#[test]
fn another_engine_reads_the_same_numbers() {
    let python = python();
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    for (version, torn) in [("1.0", 3), ("1.1", 4)] {
        let file = save(folder.path(), version, torn);
        let mut command = program();
        command.args(["import", "--project", "shop", "--program-version", version]);
        assert!(
            run(command.arg("--archive").arg(&archive).arg(file))
                .status
                .success()
        );
    }
    let question = r"
import duckdb, sys
files = lambda table: f'{sys.argv[1]}/{table}/**/*.parquet'
print(duckdb.sql(f'''SELECT g.method, sum(g.entered)::INT, sum(g.whole)::INT, sum(g.torn)::INT,
    count(DISTINCT r.version), g.project FROM read_parquet('{files('regions')}', hive_partitioning = true) g
    JOIN read_parquet('{files('runs')}') r USING (run) GROUP BY ALL ORDER BY 1''').fetchall())
print(duckdb.sql(f'''SELECT fingerprint, verdict, json_extract_string(finding, '$.message'), count(*)
    FROM read_parquet('{files('findings')}') GROUP BY ALL''').fetchall())
";
    let mut command = Command::new(python);
    let output = run(command.args(["-c", question]).arg(&archive));
    let said = said(&output);
    assert!(
        said.starts_with("[('add', 200, 193, 7, 2, 'shop'), ('size', 100, 100, 0, 2, 'shop')]\n"),
        "{said}"
    );
    assert!(
        said.contains("'observed', 'Cart.add is torn', 2)]"),
        "{said}"
    );
}

/// A server of its own, ended with the test.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(python: &Path) -> Self {
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let mut child = Command::new(python)
            .args([
                "-m",
                "moto.server",
                "-H",
                "127.0.0.1",
                "-p",
                &port.to_string(),
            ])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It says when it listens, and must not block on what it says later.
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (told, listening) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if line.contains("Running on") {
                    let _ = told.send(());
                }
            }
        });
        listening
            .recv_timeout(Duration::from_mins(2))
            .expect("the server starts");
        Self {
            child,
            url: format!("http://127.0.0.1:{port}"),
        }
    }

    fn tell<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command
            .env("AWS_ENDPOINT_URL", &self.url)
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", "somebody")
            .env("AWS_SECRET_ACCESS_KEY", SECRET)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_object_store_holds_what_it_acknowledged() {
    let python = python();
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(&python);
    let bucket = r"
import boto3, os
boto3.client('s3', endpoint_url=os.environ['AWS_ENDPOINT_URL']).create_bucket(Bucket='runs')
";
    let made = run(server.tell(Command::new(&python).args(["-c", bucket])));
    assert!(made.status.success(), "{}", said(&made));
    let import = |server: &Server, file: &Path| {
        let mut command = program();
        command.args([
            "import",
            "--project",
            "shop",
            "--archive",
            "s3://runs/untorn",
        ]);
        run(server.tell(command.arg(file)))
    };
    let ask = |server: &Server, what: &str| {
        let mut command = program();
        run(server.tell(command.args([what, "--archive", "s3://runs/untorn"])))
    };
    for name in ["one", "two", "three"] {
        let output = import(&server, &save(folder.path(), name, 1));
        assert!(output.status.success(), "{}", said(&output));
    }
    let output = ask(&server, "compact");
    assert!(
        said(&output).contains("3 batches united into 1"),
        "{}",
        said(&output)
    );
    let output = ask(&server, "info");
    assert!(
        said(&output).contains("shop: 3 runs, 3 findings"),
        "{}",
        said(&output)
    );
    // A bucket that is not there, and one that went away.
    let mut command = program();
    command.args(["import", "--project", "shop", "--archive", "s3://other/x"]);
    let output = run(server.tell(command.arg(save(folder.path(), "four", 1))));
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("s3://other/x"), "{}", said(&output));
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let begun = Instant::now();
    let output = import(&server, &save(folder.path(), "five", 1));
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(
        said(&output).contains("s3://runs/untorn"),
        "{}",
        said(&output)
    );
    assert!(
        begun.elapsed() < Duration::from_mins(1),
        "it gives up in time"
    );
}

#[test]
fn a_table_of_saved_findings_keeps_their_whole_form() {
    let folder = tempfile::tempdir().unwrap();
    let file = save(folder.path(), "one", 1);
    let saved: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let archive = folder.path().join("archive");
    let mut command = program();
    command
        .args(["import", "--project", "shop", "--archive"])
        .arg(&archive);
    assert!(run(command.arg(&file)).status.success());
    let opened = untorn_archive::Archive::open(archive.to_str().unwrap()).unwrap();
    let mut kept = Vec::new();
    let everything = untorn_archive::Narrow::default();
    let table = untorn_archive::Table::Findings;
    opened
        .read(table, &["finding"], &everything, &mut |columns, row| {
            kept.push(serde_json::from_str::<Value>(columns[0].text(row).unwrap()).unwrap());
        })
        .unwrap();
    assert_eq!(kept, [saved["findings"][0].clone()]);
}
