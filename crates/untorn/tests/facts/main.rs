//! Facts: what a check writes, that a run leaves out what they say and nothing that tears, and that they are never silently wrong.

#![allow(clippy::unwrap_used)]

#[path = "../../../agent/tests/differential/generate.rs"]
#[allow(dead_code)]
mod generate;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use generate::{Kind, Shape, program};
// Linked in so that cargo builds the agent library first.
use untorn_agent as _;
use untorn_facts::{Facts, Field, Region};
use untorn_jdk::tool;

/// How many generated programs of each shape are run.
const PROGRAMS: u64 = 40;

/// Compiled classes, and what else a test keeps beside them.
struct Place(tempfile::TempDir);

impl Place {
    fn compile(sources: &[PathBuf]) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        place.recompile(sources);
        place
    }

    /// One of the programs beside this test.
    fn of(name: &str) -> Self {
        Self::compile(&[source(name)])
    }

    fn recompile(&self, sources: &[PathBuf]) {
        let javac = Command::new(tool("javac"))
            .args(["-g", "-nowarn", "-Xlint:none", "-d"])
            .arg(self.file("classes"))
            .args(sources)
            .output()
            .unwrap();
        assert!(javac.status.success(), "{javac:?}");
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.file(name).display().to_string()
    }

    /// Checks the classes and gives what is proved.
    fn check(&self, options: &[&str]) -> Facts {
        let (classes, file) = (self.text("classes"), self.text("facts.json"));
        let mut arguments = vec!["check", &classes, "--exit-zero", "--facts", &file];
        arguments.extend(options);
        let check = untorn(&arguments);
        assert_eq!(check.status.code(), Some(0), "{}", said(&check));
        Facts::from_json(&std::fs::read_to_string(&file).unwrap()).unwrap()
    }

    /// The two operations of the shop as regions.
    fn regions(&self) -> String {
        let spec = "heuristic = \"none\"\ninclude = [\"*.sell\", \"*.twice\"]\n";
        std::fs::write(self.file("spec.toml"), spec).unwrap();
        self.text("spec.toml")
    }

    fn run(&self, options: &[&str], program: &[&str]) -> Output {
        let (java, classes) = (tool("java").display().to_string(), self.text("classes"));
        let mut arguments = vec!["run", "--format", "json", "--all-code"];
        arguments.extend(options);
        arguments.extend(["--", &java, "-cp", &classes]);
        arguments.extend(program);
        untorn(&arguments)
    }
}

/// How the shop is watched, whose stage forces the order.
const FORCED: [&str; 4] = ["--exclude", "Stage", "--with", "aerodrome"];

fn source(name: &str) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/facts");
    tests.join(format!("{name}.java"))
}

/// What makes threads take their steps in order.
fn stage() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../agent/tests/java/Stage.java")
}

fn untorn(arguments: &[&str]) -> Output {
    let beside_this_test = std::env::current_exe().unwrap();
    Command::new(env!("CARGO_BIN_EXE_untorn"))
        .args(arguments)
        .env(
            "UNTORN_AGENT",
            beside_this_test.with_file_name("libuntorn_agent.so"),
        )
        .output()
        .unwrap()
}

fn said(run: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr)
    )
}

/// What a run saw torn, as `Class.method`.
fn torn(run: &Output) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(&run.stdout);
    let start = text.find('{').unwrap_or_else(|| panic!("{}", said(run)));
    let document: serde_json::Value = serde_json::from_str(&text[start..]).unwrap();
    (document["findings"].as_array().unwrap().iter())
        .filter(|finding| finding["kind"] == "torn" && finding["verdict"] == "observed")
        .map(|finding| {
            let region = &finding["region"];
            let word = |name: &str| region[name].as_str().unwrap_or_default().to_owned();
            format!("{}.{}", word("class"), word("method"))
        })
        .collect()
}

/// Every field whose name says what is to be known of it, and whether it is.
fn fields(facts: &Facts) -> Vec<(String, bool)> {
    let mut all = Vec::new();
    for (class, known) in &facts.classes {
        for (key, field) in &known.fields {
            let name = key.split(' ').next().unwrap();
            let ends = [
                ("ReadOnly", Field::ReadOnly),
                ("Confined", Field::Confined),
                ("Shared", Field::Shared),
            ];
            for (end, expected) in ends {
                if name.ends_with(end) {
                    all.push((format!("{class}.{name}"), *field == expected));
                }
            }
        }
    }
    all
}

fn assert_as_named(facts: &Facts, least: usize) {
    let all = fields(facts);
    assert!(all.len() >= least, "{all:?}");
    let wrong: Vec<_> = all.iter().filter(|(_, right)| !right).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn a_field_is_read_only_if_it_is_written_before_anybody_knows_its_object() {
    let place = Place::of("Rules");
    let facts = place.check(&[]);
    assert_eq!(facts.main, None);
    assert_as_named(&facts, 19);
    let bytes = std::fs::read(place.file("classes/Rules.class")).unwrap();
    assert_eq!(facts.classes["Rules"].hash, untorn_facts::hash_of(&bytes));
}

#[test]
fn what_only_one_thread_knows_is_confined_in_a_closed_world_alone() {
    let place = Place::of("Alone");
    let facts = place.check(&["--main", "Alone"]);
    assert_eq!(facts.main.as_deref(), Some("Alone"));
    assert_as_named(&facts, 5);
    let locks = &facts.classes["Alone$Scratch"].locks;
    assert!(locks.iter().any(|lock| lock.method == "add"), "{locks:?}");
    let main = &facts.classes["Alone"].locks;
    assert!(main.iter().any(|lock| lock.block == Some(1)), "{main:?}");

    let library = place.check(&[]);
    assert_eq!((library.counts().1, library.counts().2), (0, 0));
}

#[test]
fn what_is_confined_is_left_out_only_where_the_world_is_closed() {
    let place = Place::of("Alone");
    let facts = place.text("facts.json");
    place.check(&["--main", "Alone"]);
    let closed = said(&place.run(&["--facts", &facts], &["Alone"]));
    assert!(!closed.contains(" 0 of fields and "), "{closed}");
    assert!(
        !closed.contains("differ") && !closed.contains("may be missing"),
        "{closed}"
    );

    // Another main class may do with the same objects what it likes.
    let other = place.file("Other.java");
    std::fs::write(
        &other,
        "public class Other { public static void main(String[] a) throws Exception { Alone.main(a); } }",
    )
    .unwrap();
    place.recompile(&[source("Alone"), other]);
    let open = said(&place.run(&["--facts", &facts], &["Other"]));
    assert!(open.contains(" 0 of fields and 0 of locks"), "{open}");
}

#[test]
fn a_class_that_differs_is_watched_whole() {
    let place = Place::compile(&[source("Shop"), stage()]);
    let facts = place.text("facts.json");
    let spec = place.regions();
    let mut watched = FORCED.to_vec();
    watched.extend(["--spec", &spec, "--facts", &facts]);
    std::fs::remove_file(place.file("classes/Shop$Intruder.class")).unwrap();
    place.check(&[]);
    let same = place.run(&watched, &["Shop"]);
    assert_eq!(
        torn(&same),
        ["Shop$Stock.sell".to_owned()].into(),
        "{}",
        said(&same)
    );
    assert!(
        !said(&same).contains(": 0 of fields that never change"),
        "{}",
        said(&same)
    );

    let text = std::fs::read_to_string(source("Shop")).unwrap();
    let changed = text.replace("left = to;", "left = to; limit = to;");
    let changed = changed.replace("else stock.sell();", "else stock.twice();");
    assert_ne!(text, changed);
    let file = place.file("Shop.java");
    std::fs::write(&file, changed).unwrap();
    place.recompile(&[file, stage()]);
    let run = place.run(&watched, &["Shop"]);
    assert_eq!(
        torn(&run),
        ["Shop$Stock.twice".to_owned()].into(),
        "{}",
        said(&run)
    );
    assert!(said(&run).contains("2 classes differ"), "{}", said(&run));
    assert!(!said(&run).contains("may be missing"), "{}", said(&run));
}

#[test]
fn a_class_that_nobody_checked_breaks_what_it_writes_and_that_is_said() {
    let place = Place::compile(&[source("Shop"), stage()]);
    let intruder = place.file("classes/Shop$Intruder.class");
    let bytes = std::fs::read(&intruder).unwrap();
    std::fs::remove_file(&intruder).unwrap();
    place.check(&[]);
    std::fs::write(&intruder, bytes).unwrap();
    let (facts, shop) = (place.text("facts.json"), ["Shop", "intruder"]);
    let spec = place.regions();
    let mut options = FORCED.to_vec();
    options.extend(["--spec", &spec]);
    let without = place.run(&options, &shop);
    let twice: BTreeSet<_> = ["Shop$Stock.twice".to_owned()].into();
    assert_eq!(torn(&without), twice, "{}", said(&without));
    let mut with = options.clone();
    with.extend(["--facts", &facts]);
    let run = place.run(&with, &shop);
    assert!(
        torn(&run) == twice || said(&run).contains("findings may be missing"),
        "{}",
        said(&run)
    );
}

#[test]
fn a_proved_region_that_is_torn_is_said_loudly() {
    let place = Place::compile(&[source("Shop"), stage()]);
    let mut facts = place.check(&[]);
    assert!(!facts.proved.iter().any(|region| region.method == "sell"));
    let wrong = Region {
        class: "Shop$Stock".to_owned(),
        method: "sell".to_owned(),
        descriptor: "()V".to_owned(),
        block: None,
    };
    facts.proved.insert(wrong);
    let file = place.text("facts.json");
    std::fs::write(&file, facts.to_json().unwrap()).unwrap();
    let spec = place.regions();
    let mut options = FORCED.to_vec();
    options.extend(["--spec", &spec, "--exit-zero", "--facts", &file]);
    let run = place.run(&options, &["Shop"]);
    assert_eq!(run.status.code(), Some(2), "{}", said(&run));
    let line = "untorn: error: Shop$Stock.sell was proved atomic, and this run tore it";
    assert!(said(&run).contains(line), "{}", said(&run));
}

#[test]
fn files_that_are_no_facts_are_named() {
    let place = Place::of("Alone");
    let file = place.text("wrong.json");
    std::fs::write(&file, "{}").unwrap();
    for name in [&file, "/no/such/facts.json"] {
        let run = place.run(&["--facts", name], &["Alone"]);
        assert_eq!(run.status.code(), Some(2));
        assert!(said(&run).contains(name), "{}", said(&run));
    }
}

/// Generated programs with a forced order of steps, run with and without facts: the same regions are torn.
fn tear_alike(shape: Shape, seed: u64, main: bool) {
    let sources = tempfile::tempdir().unwrap();
    let mut all = "public final class All { public static void main(String[] a) throws Exception {"
        .to_owned();
    let mut files = vec![stage()];
    for number in 0..PROGRAMS {
        let name = format!("P{number}");
        let file = sources.path().join(format!("{name}.java"));
        std::fs::write(&file, program(&name, seed + number, shape)).unwrap();
        files.push(file);
        all += &format!(" {name}.play();");
    }
    let file = sources.path().join("All.java");
    std::fs::write(&file, all + " } }").unwrap();
    files.push(file);
    let place = Place::compile(&files);
    let facts = place.check(if main { &["--main", "All"] } else { &[] });
    let (read_only, ..) = facts.counts();
    assert!(read_only > 0);

    let spec = place.text("spec.toml");
    std::fs::write(&spec, "heuristic = \"none\"\ninclude = [\"*.region*\"]\n").unwrap();
    let options = [
        "--with",
        "aerodrome",
        "--exit-zero",
        "--exclude",
        "Stage",
        "--spec",
        &spec,
    ];
    let without = place.run(&options, &["All"]);
    let expected = torn(&without);
    assert!(expected.len() as u64 * 10 > PROGRAMS, "only {expected:?}");
    let file = place.text("facts.json");
    let mut with = options.to_vec();
    with.extend(["--facts", &file]);
    let with = place.run(&with, &["All"]);
    assert!(
        !said(&with).contains("proved, 0 of"),
        "nothing was left out: {}",
        said(&with)
    );
    assert!(!said(&with).contains("may be missing"), "{}", said(&with));
    let found = torn(&with);
    let missing: Vec<_> = expected.difference(&found).collect();
    let more: Vec<_> = found.difference(&expected).collect();
    assert!(
        missing.is_empty() && more.is_empty(),
        "missing {missing:?}, more {more:?}"
    );
}

const OBJECTS: &[Kind] = &[Kind::Written, Kind::Inheriting, Kind::Plain, Kind::Static];

#[test]
fn objects_that_one_thread_made_tear_alike_with_facts_and_without() {
    let shape = Shape {
        kinds: OBJECTS,
        racing: false,
    };
    tear_alike(shape, 1, false);
}

#[test]
fn objects_that_a_racing_thread_made_tear_alike_with_facts_and_without() {
    let shape = Shape {
        kinds: OBJECTS,
        racing: true,
    };
    tear_alike(shape, 1_000_000, true);
}
