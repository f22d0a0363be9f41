//! Drivers over libraries that nobody here wrote, and the bundled example.

use std::path::{Path, PathBuf};

use untorn_bench::programs::compile;
use untorn_bench::{Class, DRIVERS, Folder, KERNELS, Program};
use untorn_jdk::Jdk;

use crate::watching::{WAYS, Way, plain, scratch};

/// Which programs and how much of them.
enum Extent {
    /// Each program in two ways, so that together they meet every way and every JDK.
    Slice,
    /// Every way on every JDK, of all programs or of the named ones.
    All(Vec<String>),
}

impl Extent {
    fn asked() -> Self {
        match std::env::var("UNTORN_HARMLESS") {
            Err(_) => Self::Slice,
            Ok(all) if all == "all" => Self::All(Vec::new()),
            Ok(names) => Self::All(names.split(',').map(str::to_owned).collect()),
        }
    }

    fn has(&self, name: &str) -> bool {
        match self {
            Self::Slice => true,
            Self::All(names) => names.is_empty() || names.iter().any(|one| one == name),
        }
    }

    fn ways(&self, number: usize, jdks: &[Jdk]) -> Vec<(Way, Jdk)> {
        let pairs = WAYS
            .iter()
            .flat_map(|way| jdks.iter().map(|jdk| (*way, jdk.clone())));
        match self {
            Self::All(_) => pairs.collect(),
            Self::Slice => [2 * number, 2 * number + 1]
                .map(|i| {
                    (
                        WAYS[i % WAYS.len()],
                        jdks[(i + i / WAYS.len()) % jdks.len()].clone(),
                    )
                })
                .into(),
        }
    }
}

fn check(name: &str, number: usize, class: &Class, arguments: &[&str], extent: &Extent) {
    for (way, jdk) in extent.ways(number, &Jdk::for_tests()) {
        let expected = plain(&jdk, class, arguments);
        assert_eq!(expected.status, Some(0), "{name}: {expected:?}");
        let start = std::time::Instant::now();
        let seen = way.watched(&jdk, class, arguments);
        assert_eq!(seen, expected, "{name} in the way {way:?} on {jdk:?}");
        eprintln!(
            "{name} {} on {}: the same, {:.1} s",
            way.name,
            jdk.major(),
            start.elapsed().as_secs_f64()
        );
    }
}

#[test]
fn drivers_print_the_same_when_they_are_watched() {
    let corpus = std::env::var_os("UNTORN_CORPUS").expect("UNTORN_CORPUS; see CONTRIBUTING.md");
    let corpus = Some(PathBuf::from(corpus));
    let jdk = Jdk::for_tests().remove(0);
    let folder = Folder::compile(&jdk, &scratch().join("programs"), corpus).unwrap();
    let extent = Extent::asked();
    let programs: Vec<&Program> = DRIVERS.iter().chain(&KERNELS).collect();
    for (number, program) in programs.into_iter().enumerate() {
        if !extent.has(program.name) {
            continue;
        }
        let class = folder.class(program).expect(program.name);
        let size = program.little.to_string();
        check(program.name, number, &class, &["3", &size], &extent);
    }
}

#[test]
fn the_bundled_example_prints_the_same_when_it_is_watched() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bank/src/bank");
    let sources: Vec<PathBuf> = std::fs::read_dir(sources)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let classes = scratch().join("bank");
    compile(&Jdk::for_tests()[0], &sources, "", &classes).unwrap();
    let class = Class {
        class_path: classes.to_string_lossy().into_owned(),
        name: "bank.Main".to_owned(),
    };
    let extent = Extent::asked();
    if extent.has("bank") {
        check("bank", 0, &class, &["100"], &extent);
    }
}
