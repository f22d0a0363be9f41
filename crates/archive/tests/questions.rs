//! Named questions against answers counted by hand over random runs, and what goes wrong when asking.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use untorn_archive::{Archive, Batch, ENTERED, Moment, Narrow, Question, Rows, RunFacts};
use untorn_findings::{Document, Evidence, Executions, Finding, Kind, Region, Verdict};

/// A small generator: the same seed gives the same runs.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// One run as it was made up: how often each method was entered and torn.
struct Made {
    day: u64,
    version: String,
    service: String,
    methods: BTreeMap<String, (u64, u64)>,
}

const DAY: i64 = 86_400_000;
/// 1 March 2026.
const START: i64 = 1_772_323_200_000;

fn make(seed: u64, runs: u64) -> Vec<Made> {
    let mut random = Random(seed);
    (0..runs)
        .map(|number| {
            let day = number * 6 / runs;
            let methods = (0..8)
                .filter_map(|method| {
                    if random.below(4) == 0 {
                        return None;
                    }
                    let entered = 1 + random.below(1000);
                    // Some are never torn, some from a later day on, some now and then.
                    let torn = match method {
                        0 | 1 => 0,
                        2 if day < 4 => 0,
                        _ if random.below(3) > 0 => 0,
                        _ => 1 + random.below(entered),
                    };
                    Some((format!("m{method}"), (entered, torn)))
                })
                .collect();
            Made {
                day,
                version: format!("1.{}", day / 2),
                service: format!("s{}", random.below(3)),
                methods,
            }
        })
        .collect()
}

fn document(made: &Made) -> Document {
    let region = |method: &str| Region {
        class: Some("shop.Cart".into()),
        method: method.into(),
        descriptor: Some("()V".into()),
        ..Region::default()
    };
    let mut document = Document::new(vec!["shop".to_owned()]);
    document.stats.insert("doublechecker".into(), json!({}));
    let entered = (made.methods.iter())
        .map(|(method, (entered, _))| json!({ "region": region(method), "entered": entered }));
    document
        .stats
        .insert(ENTERED.into(), Value::Array(entered.collect()));
    for (method, &(of, torn)) in made.methods.iter().filter(|(_, counts)| counts.1 > 0) {
        let mut finding = Finding::new(
            "doublechecker",
            Kind::Torn,
            Verdict::Observed,
            region(method),
            format!("{method} is torn"),
            Evidence::default(),
        );
        finding.executions = Some(Executions { torn, of });
        document.findings.push(finding);
    }
    document
}

fn fill(place: &Path, all: &[Made]) -> Archive {
    let archive = Archive::open(place.to_str().unwrap()).unwrap();
    for (number, made) in all.iter().enumerate() {
        let at = Moment(START + made.day as i64 * DAY + number as i64);
        let facts = RunFacts {
            command: "run".into(),
            service: Some(made.service.clone()),
            version: Some(made.version.clone()),
            ..RunFacts::default()
        };
        let number = number.to_le_bytes();
        let rows = Rows::of_document(&document(made), &facts, at, &[&number]).unwrap();
        let batch = Batch {
            project: "shop".into(),
            day: at.day(),
            runs: vec![rows],
        };
        archive.append(&batch).unwrap();
    }
    archive
}

fn program(place: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_untorn-archive"))
        .args(words)
        .arg("--archive")
        .arg(place)
        .output()
        .unwrap()
}

/// The answer as rows of JSON objects.
fn rows(place: &Path, words: &[&str]) -> Vec<Value> {
    let output = program(place, &[words, &["--format", "json"]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

fn name(method: &str) -> String {
    format!("shop.Cart.{method}")
}

#[test]
fn named_questions_agree_with_counting_by_hand() {
    for seed in [3, 77] {
        let folder = tempfile::tempdir().unwrap();
        let all = make(seed, 40);
        fill(folder.path(), &all);
        let place = folder.path();
        let mut sums: BTreeMap<&str, (u64, u64, u64, u64)> = BTreeMap::new();
        let mut torn_sums: BTreeMap<&str, (u64, u64, u64, BTreeSet<&str>)> = BTreeMap::new();
        for made in &all {
            for (method, &(entered, torn)) in &made.methods {
                let sum = sums.entry(method).or_default();
                sum.0 += entered;
                sum.1 += torn;
                sum.2 += 1;
                sum.3 += u64::from(torn > 0);
                if torn > 0 {
                    let sum = torn_sums.entry(method).or_default();
                    sum.0 += torn;
                    sum.1 += entered;
                    sum.2 += 1;
                    sum.3.insert(&made.service);
                }
            }
        }

        let mut top: Vec<_> = torn_sums.iter().collect();
        top.sort_by_key(|(method, sum)| (std::cmp::Reverse(sum.0), **method));
        let answer = rows(place, &["top"]);
        assert_eq!(answer.len(), top.len());
        for (row, (method, (torn, entered, runs, services))) in answer.iter().zip(top) {
            assert_eq!(row["region"], name(method), "{row}");
            assert_eq!(row["torn"], *torn, "{row}");
            assert_eq!(row["entered"], *entered, "{row}");
            assert_eq!(row["runs"], *runs, "{row}");
            let named: BTreeSet<&str> = row["services"].as_str().unwrap().split(", ").collect();
            assert_eq!(named, *services);
            let first =
                (all.iter()).find(|made| made.methods.get(*method).is_some_and(|m| m.1 > 0));
            assert_eq!(row["since_version"], first.unwrap().version, "{row}");
        }

        let steady: BTreeSet<String> = (sums.iter())
            .filter(|(_, sum)| sum.1 == 0 && sum.0 >= 2_000)
            .map(|(method, _)| name(method))
            .collect();
        let answer = rows(place, &["steady", "--executions", "2000"]);
        let answered: BTreeSet<String> = (answer.iter())
            .map(|row| row["region"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(answered, steady);

        let mut flaky: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
        for made in &all {
            for (method, &(_, torn)) in &made.methods {
                let counts = flaky
                    .entry((name(method), made.version.clone()))
                    .or_default();
                counts.0 += 1;
                counts.1 += u64::from(torn > 0);
            }
        }
        flaky.retain(|_, counts| counts.1 > 0 && counts.1 < counts.0);
        let answer = rows(place, &["flaky", "--limit", "100"]);
        let answered: BTreeMap<(String, String), (u64, u64)> = (answer.iter())
            .map(|row| {
                let text = |column: &str| row[column].as_str().unwrap().to_owned();
                let number = |column: &str| row[column].as_u64().unwrap();
                let key = (text("region"), text("version"));
                (key, (number("runs"), number("torn_in")))
            })
            .collect();
        assert_eq!(answered, flaky);

        for version in ["1.0", "1.1", "1.2"] {
            let of = |wanted: &dyn Fn(&str) -> bool| -> BTreeSet<String> {
                let runs = all.iter().filter(|made| wanted(&made.version));
                runs.flat_map(|made| made.methods.iter().filter(|(_, counts)| counts.1 > 0))
                    .map(|(method, _)| name(method))
                    .collect()
            };
            let before = of(&|other| other < version);
            let fresh: BTreeSet<String> = (of(&|other| other == version))
                .difference(&before)
                .cloned()
                .collect();
            let answer = rows(place, &["new", "--program-version", version]);
            let answered: BTreeSet<String> = (answer.iter())
                .map(|row| row["region"].as_str().unwrap().to_owned())
                .collect();
            assert_eq!(answered, fresh, "new in {version}");
        }

        let answer = rows(place, &["trend", "--by-version"]);
        let mut known: BTreeSet<&str> = BTreeSet::new();
        for (row, version) in answer.iter().zip(["1.0", "1.1", "1.2"]) {
            let runs = || all.iter().filter(|made| made.version == version);
            let found: BTreeSet<&str> = runs()
                .flat_map(|made| made.methods.iter().filter(|(_, counts)| counts.1 > 0))
                .map(|(method, _)| method.as_str())
                .collect();
            assert_eq!(row["part"], version);
            assert_eq!(row["runs"], runs().count(), "{row}");
            assert_eq!(row["findings"], found.len(), "{row}");
            assert_eq!(row["new"], found.difference(&known).count(), "{row}");
            known.extend(found);
        }
        assert_eq!(answer.len(), 3);
        assert_eq!(rows(place, &["trend"]).len(), 6);
    }
}

#[test]
fn the_specification_that_held_leaves_out_what_was_torn() {
    let folder = tempfile::tempdir().unwrap();
    let all = make(5, 30);
    fill(folder.path(), &all);
    let output = program(folder.path(), &["refine"]);
    assert!(output.status.success(), "{output:?}");
    let spec = String::from_utf8(output.stdout).unwrap();
    let torn = |method: &str| {
        (all.iter()).any(|made| made.methods.get(method).is_some_and(|counts| counts.1 > 0))
    };
    for method in (0..8).map(|number| format!("m{number}")) {
        let named = spec.contains(&format!("shop.Cart.{method}()V"));
        assert_eq!(named, torn(&method), "{method}: {spec}");
    }
    assert!(untorn_spec::Specification::from_toml(&spec).is_ok());
}

#[test]
fn answers_come_in_every_form_and_pages_need_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), &make(9, 12));
    let query = "SELECT verdict, count(*) AS findings FROM findings GROUP BY verdict";
    let output = program(folder.path(), &["query", query]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("verdict   findings\nobserved  "), "{text}");
    let output = program(folder.path(), &["query", query, "--format", "csv"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("verdict,findings\nobserved,"), "{text}");
    let none = "SELECT run FROM runs WHERE day = 'never'";
    let output = program(folder.path(), &["query", none, "--format", "csv"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "run\n");
    assert!(rows(folder.path(), &["query", none]).is_empty());
    let page = folder.path().join("trends.html");
    let output = program(
        folder.path(),
        &["report", "--output", page.to_str().unwrap()],
    );
    assert!(output.status.success(), "{output:?}");
    let page = fs::read_to_string(page).unwrap();
    for part in ["Torn most", "By version", "shop.Cart.m", "<svg"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(
        !page.contains("http://") && !page.contains("<script"),
        "{page}"
    );
}

#[test]
fn a_question_changes_nothing_and_a_bad_one_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), &make(1, 3));
    let other = folder.path().join("other.csv");
    let copy = format!("COPY runs TO '{}'", other.display());
    for bad in [
        "SELEC 1",
        "SELECT nothing FROM runs",
        "CREATE TABLE x AS SELECT 1",
        "INSERT INTO runs SELECT * FROM runs",
        &copy,
    ] {
        let output = program(folder.path(), &["query", bad]);
        assert_eq!(output.status.code(), Some(2), "{bad}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(
            said.starts_with("untorn: the question cannot be answered: "),
            "{said}"
        );
    }
    assert!(!other.exists());
}

#[test]
fn a_file_that_is_broken_behind_its_footer_is_named_and_the_rest_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let all = make(2, 10);
    let archive = fill(folder.path(), &all);
    let days = folder.path().join("findings/project=shop");
    let day = fs::read_dir(days).unwrap().next().unwrap().unwrap().path();
    let broken = fs::read_dir(day).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&broken).unwrap();
    for byte in &mut bytes[4..200] {
        *byte ^= 0x5a;
    }
    fs::write(&broken, bytes).unwrap();
    let question = "SELECT count(DISTINCT run) AS runs, max(message) FROM findings";
    let answer = archive.ask(question, &Narrow::default()).unwrap();
    assert_eq!(answer.complaints.len(), 1, "{answer:?}");
    let named = broken.file_name().unwrap().to_str().unwrap();
    assert!(answer.complaints[0].to_string().contains(named));
    let with_findings = (all.iter())
        .filter(|made| made.methods.values().any(|counts| counts.1 > 0))
        .count();
    let runs = answer.rows[0].column(0);
    let runs = arrow::array::cast::as_primitive_array::<arrow::datatypes::Int64Type>(runs);
    assert_eq!(runs.value(0), with_findings as i64 - 1);
    assert_eq!(Question::Top { limit: 1 }.title(), "Torn most");
}
