//! Drivers over libraries that nobody here wrote print the same where threads are held up.
//!
//! A first run says what is torn or suspected in each; every plan that can be made of that, as far as one run can follow them, is followed in a second one.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use untorn_bench::{Class, DRIVERS, Folder};
use untorn_findings::Document;
use untorn_jdk::Jdk;
use untorn_plan::{MOST_PLANS, Plan, PlanFile};
use untorn_reproduce::plan;

/// Of the drivers, those of the usual runs.
const SLICE: [&str; 2] = ["jetty", "caffeine"];

/// Runs a driver by some command, which is ended if it hangs.
fn run(before: &[&str], jdk: &Jdk, class: &Class, size: &str) -> Output {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "200"]).args(before);
    command.arg(jdk.tool("java"));
    command.args(["-cp", &class.class_path, &class.name, "3", size]);
    command.env_remove("JAVA_TOOL_OPTIONS").output().unwrap()
}

fn seen(output: &Output) -> (Option<i32>, String) {
    let text = String::from_utf8_lossy(&output.stdout);
    (output.status.code(), text.into_owned())
}

fn saved(path: &Path) -> Document {
    Document::from_json(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn drivers_print_the_same_when_their_threads_are_held_up() {
    let corpus = std::env::var_os("UNTORN_CORPUS").expect("UNTORN_CORPUS; see CONTRIBUTING.md");
    let all = std::env::var("UNTORN_REPRODUCE").is_ok_and(|it| it == "all");
    let jdk = Jdk::for_tests().remove(0);
    let place = tempfile::tempdir().unwrap();
    let classes = place.path().join("classes");
    let folder = Folder::compile(&jdk, &classes, Some(PathBuf::from(corpus))).unwrap();
    let file = |name: &str| place.path().join(name).to_string_lossy().into_owned();
    let (findings, plans) = (file("findings.json"), file("plans.json"));
    let untorn = env!("CARGO_BIN_EXE_untorn");
    let mut all_reached = 0;
    for driver in &DRIVERS {
        if !all && !SLICE.contains(&driver.name) {
            continue;
        }
        let class = folder.class(driver).unwrap();
        let size = driver.little.to_string();
        let alone = run(&[], &jdk, &class, &size);
        assert_eq!(alone.status.code(), Some(0), "{}: {alone:?}", driver.name);
        let watch = [
            untorn,
            "run",
            "--exit-code",
            "program",
            "--output",
            &findings,
        ];
        let first = run(&[&watch[..], &["--"]].concat(), &jdk, &class, &size);
        assert_eq!(seen(&first), seen(&alone), "{}: {first:?}", driver.name);
        let found = saved(findings.as_ref()).findings;
        let made: Vec<Plan> = found.iter().filter_map(|it| plan(it, 0)).collect();
        let followed = made.len().min(MOST_PLANS);
        let made = PlanFile::new(made.into_iter().take(MOST_PLANS).collect());
        std::fs::write(&plans, made.to_json().unwrap()).unwrap();
        let steered = [&watch[..], &["--plan", &plans, "--"]].concat();
        let steered = run(&steered, &jdk, &class, &size);
        assert_eq!(seen(&steered), seen(&alone), "{}: {steered:?}", driver.name);
        let stats = saved(findings.as_ref()).stats;
        let reached = stats.keys().filter(|it| it.ends_with(" reached")).count();
        println!(
            "{}: {followed} plans, pauses at {reached} points",
            driver.name
        );
        all_reached += reached;
    }
    assert!(all_reached > 0, "nobody was held up");
}
