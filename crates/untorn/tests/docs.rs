//! The documentation is true: its commands run and print what it shows, and its pages on analyses are those of the code.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::{ROOT, agent, copy};

/// Where the page of each analysis is written: in the header of its module.
const ANALYSES: [(&str, &str); 8] = [
    ("aerodrome", "analyses/src/aerodrome/mod.rs"),
    ("atomizer", "analyses/src/atomizer/mod.rs"),
    ("consistency", "consistency/src/lib.rs"),
    ("doublechecker", "analyses/src/doublechecker/mod.rs"),
    ("lockset", "analyses/src/lockset/mod.rs"),
    ("types", "types/src/lib.rs"),
    ("velodrome", "analyses/src/velodrome.rs"),
    ("views", "analyses/src/views/mod.rs"),
];

fn is_blessing() -> bool {
    std::env::var_os("UNTORN_BLESS").is_some()
}

/// The header of a module as a page: without the comment signs, with links that lead to other pages.
fn page(name: &str, source: &str) -> String {
    let header = source.lines().take_while(|line| line.starts_with("//!"));
    let body: Vec<&str> = header
        .map(|line| {
            line.trim_start_matches("//!")
                .strip_prefix(' ')
                .unwrap_or_default()
        })
        .collect();
    let body = relink(&body.join("\n"));
    format!(
        "# {name}\n\n<!-- Made from the header of the analysis's own module; change it there and run the tests with UNTORN_BLESS=1. -->\n\n{}\n",
        body.trim()
    )
}

/// `[text](crate::x)` becomes a link to the page of x, or the text alone; `[`Name`]` becomes the name.
fn relink(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let (before, from) = rest.split_at(open);
        out.push_str(before);
        let Some(close) = from.find(']') else { break };
        let label = &from[1..close];
        let after = &from[close + 1..];
        let target = (after.strip_prefix('(')).and_then(|t| t.split_once(')'));
        match target {
            Some((target, tail)) if target.contains("::") => {
                let last = target.rsplit("::").next().unwrap();
                if ANALYSES.iter().any(|(name, _)| *name == last) {
                    out.push_str(&format!("[{label}]({last}.md)"));
                } else {
                    out.push_str(label);
                }
                rest = tail;
            }
            None if label.starts_with('`') && label.ends_with('`') => {
                out.push_str(label);
                rest = after;
            }
            _ => {
                out.push_str(&from[..=close]);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[test]
fn the_page_of_each_analysis_is_its_modules_header() {
    for (name, module) in ANALYSES {
        let source = std::fs::read_to_string(Path::new(ROOT).join("crates").join(module)).unwrap();
        let page = page(name, &source);
        assert!(page.lines().count() > 5, "{module} has no header");
        let path = Path::new(ROOT)
            .join("docs/analyses")
            .join(format!("{name}.md"));
        if is_blessing() {
            std::fs::write(&path, &page).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            kept,
            page,
            "{}: run the tests with UNTORN_BLESS=1",
            path.display()
        );
    }
}

/// One command of a page and the output shown under it, if any.
#[derive(Debug)]
struct Example {
    line: usize,
    command: String,
    shown: Vec<String>,
}

fn examples(text: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut inside = false;
    let mut open = false;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            inside = !inside && line == "```sh";
            open = false;
        } else if inside && let Some(command) = line.strip_prefix("$ ") {
            examples.push(Example {
                line: index + 1,
                command: command.to_owned(),
                shown: Vec::new(),
            });
            open = true;
        } else if inside
            && open
            && let Some(last) = examples.last_mut()
        {
            last.shown.push(line.to_owned());
        }
    }
    examples
}

/// Whether the output has the shown lines one after the other; `…` stands for any lines.
fn fits(shown: &[String], output: &str) -> bool {
    let mut lines = output.lines().map(str::trim_end).peekable();
    let mut skipping = false;
    for line in shown {
        if line.trim() == "…" {
            skipping = true;
            continue;
        }
        if skipping {
            if !lines.any(|actual| actual == line.trim_end()) {
                return false;
            }
        } else if lines.next() != Some(line.trim_end()) {
            return false;
        }
        skipping = false;
    }
    skipping || lines.next().is_none()
}

fn pages(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            into.push(path);
        }
    }
}

#[test]
fn every_command_in_the_documentation_runs_and_prints_what_is_shown() {
    let program = Path::new(env!("CARGO_BIN_EXE_untorn"));
    let programs = program.parent().unwrap();
    let java = std::env::var_os("JAVA_HOME").map(|home| PathBuf::from(home).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(programs.to_owned())
        .chain(java)
        .chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).unwrap();
    let mut all = vec![Path::new(ROOT).join("README.md")];
    pages(&Path::new(ROOT).join("docs"), &mut all);
    let mut ran = 0;
    for page in all {
        let text = std::fs::read_to_string(&page).unwrap();
        let examples = examples(&text);
        if examples.is_empty() {
            continue;
        }
        if examples
            .iter()
            .any(|e| e.command.contains("untorn run") || e.command.contains("untorn record"))
        {
            agent();
        }
        // A page is read from top to bottom, so its commands share a folder.
        let folder = tempfile::tempdir().unwrap();
        copy(
            &Path::new(ROOT).join("examples"),
            &folder.path().join("examples"),
        );
        for example in examples {
            let output = Command::new("sh")
                .args(["-c", &example.command])
                .current_dir(folder.path())
                .env("PATH", &path)
                .env_remove("JAVA_TOOL_OPTIONS")
                .output()
                .unwrap();
            let (out, err) = (
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr),
            );
            let at = format!("{}:{}: {}", page.display(), example.line, example.command);
            assert!(
                matches!(output.status.code(), Some(0 | 1)),
                "{at}\n{out}{err}"
            );
            if !example.shown.is_empty() {
                assert!(
                    fits(&example.shown, &format!("{out}{err}")),
                    "{at} prints\n{out}{err}"
                );
            }
            ran += 1;
        }
    }
    assert!(ran > 10, "only {ran} commands");
}
