//! ARCHITECTURE.md shows every crate with the crates it uses, as the manifests say; `UNTORN_BLESS=1` draws it anew.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

const BEGIN: &str = "<!-- Drawn from the manifests; run the tests with UNTORN_BLESS=1. -->\n";
const END: &str = "<!-- End of what was drawn. -->\n";

#[test]
fn the_picture_of_the_crates_is_that_of_the_manifests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = root.join("ARCHITECTURE.md");
    let text = fs::read_to_string(&page).unwrap();
    let begin = text.find(BEGIN).expect("the picture has a beginning") + BEGIN.len();
    let end = begin + text[begin..].find(END).expect("the picture has an end");
    let drawn = draw(&edges(root));
    if std::env::var_os("UNTORN_BLESS").is_some() {
        fs::write(&page, [&text[..begin], &drawn, &text[end..]].concat()).unwrap();
        return;
    }
    assert_eq!(
        &text[begin..end],
        drawn,
        "run this test with UNTORN_BLESS=1"
    );
}

#[test]
fn every_crate_has_its_place_in_the_code_map() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let missing: Vec<String> = edges(root)
        .into_keys()
        .filter(|name| {
            let path = if name == "xtask" {
                name.clone()
            } else {
                format!("crates/{name}")
            };
            !text.contains(&format!("\n### `{path}`\n"))
        })
        .collect();
    assert!(missing.is_empty(), "not in ARCHITECTURE.md: {missing:?}");
}

/// Which crates of the workspace each one uses, not counting its tests.
fn edges(root: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut folders: Vec<_> = fs::read_dir(root.join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.push(root.join("xtask"));
    folders
        .iter()
        .filter(|folder| folder.join("Cargo.toml").is_file())
        .map(|folder| {
            let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
            let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
            let manifest: toml::Table = manifest.parse().unwrap();
            let used = ["dependencies", "build-dependencies"]
                .iter()
                .filter_map(|kind| manifest.get(*kind)?.as_table())
                .flat_map(|table| table.keys())
                .filter_map(|used| match used.strip_prefix("untorn-") {
                    None if used == "untorn" => Some("untorn".to_owned()),
                    short => short.map(str::to_owned),
                })
                .collect();
            (name, used)
        })
        .collect()
}

/// One line a crate, those that use nothing first, each below all that it uses.
fn draw(edges: &BTreeMap<String, BTreeSet<String>>) -> String {
    let mut heights: BTreeMap<&str, usize> = BTreeMap::new();
    while heights.len() < edges.len() {
        let before = heights.len();
        for (name, used) in edges {
            let below: Option<Vec<usize>> = used
                .iter()
                .map(|used| heights.get(used.as_str()).copied())
                .collect();
            if let Some(below) = below {
                let height = below.iter().max().map_or(0, |most| most + 1);
                heights.insert(name, height);
            }
        }
        assert!(heights.len() > before, "crates use each other in a circle");
    }
    let width = edges.keys().map(String::len).max().unwrap_or(0);
    let mut order: Vec<(usize, &str)> = heights.iter().map(|(name, at)| (*at, *name)).collect();
    order.sort_unstable();
    let mut text = String::from("```\n");
    for (at, (height, name)) in order.iter().enumerate() {
        if at > 0 && order[at - 1].0 != *height {
            text.push('\n');
        }
        let used: Vec<&str> = edges[*name].iter().map(String::as_str).collect();
        if used.is_empty() {
            writeln!(text, "{name}").unwrap();
        } else {
            writeln!(text, "{name:width$}  uses  {}", used.join(", ")).unwrap();
        }
    }
    text.push_str("```\n");
    text
}
