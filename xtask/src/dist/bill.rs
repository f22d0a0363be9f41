//! What the program is made of: a bill of materials in CycloneDX's form, and the licences of everything in it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::error::Error;
use crate::process;

/// One crate that is linked into what is shipped.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    pub name: String,
    pub version: String,
    licence: String,
    /// Its folder, where its licences are.
    folder: String,
    /// Whether somebody else wrote it.
    foreign: bool,
}

/// The crates that the shipped programs link, for one target.
pub fn parts(root: &Path, target: &str) -> Result<BTreeSet<Part>, Error> {
    let mut command = process::cargo(&["metadata", "--format-version", "1", "--locked"]);
    command
        .args(["--filter-platform", target])
        .current_dir(root);
    let said = process::output(&mut command)?;
    let metadata: Value = serde_json::from_slice(&said).map_err(|source| Error::Answer {
        command: process::shown(&command),
        source,
    })?;
    Ok(linked(
        &metadata,
        &["untorn", "untorn-agent", "untorn-archive"],
    ))
}

fn linked(metadata: &Value, roots: &[&str]) -> BTreeSet<Part> {
    let list = |value: &'_ Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages: HashMap<String, Value> = (list(&metadata["packages"]).into_iter())
        .map(|package| (text(&package["id"]), package))
        .collect();
    let nodes: HashMap<String, Value> = (list(&metadata["resolve"]["nodes"]).into_iter())
        .map(|node| (text(&node["id"]), node))
        .collect();
    let mut open: Vec<String> = (packages.iter())
        .filter(|(_, package)| roots.contains(&text(&package["name"]).as_str()))
        .map(|(id, _)| id.clone())
        .collect();
    let mut seen: BTreeSet<String> = open.iter().cloned().collect();
    while let Some(id) = open.pop() {
        let Some(node) = nodes.get(&id) else { continue };
        for dependency in list(&node["deps"]) {
            // What only tests or builds use is not shipped.
            let ships = list(&dependency["dep_kinds"])
                .iter()
                .any(|kind| kind["kind"].is_null());
            let id = text(&dependency["pkg"]);
            if ships && seen.insert(id.clone()) {
                open.push(id);
            }
        }
    }
    (seen.iter().filter_map(|id| packages.get(id)))
        .map(|package| {
            let manifest = text(&package["manifest_path"]);
            Part {
                name: text(&package["name"]),
                version: text(&package["version"]),
                licence: text(&package["license"]),
                folder: (Path::new(&manifest).parent())
                    .map_or_else(String::new, |folder| folder.display().to_string()),
                foreign: !package["source"].is_null(),
            }
        })
        .collect()
}

/// The bill as CycloneDX 1.5.
pub fn cyclonedx(version: &str, parts: &BTreeSet<Part>) -> Vec<u8> {
    let components: Vec<Value> = (parts.iter())
        .filter(|part| part.name != "untorn")
        .map(|part| {
            let purl = format!("pkg:cargo/{}@{}", part.name, part.version);
            let mut component = json!({
                "type": "library",
                "bom-ref": purl,
                "name": part.name,
                "version": part.version,
                "purl": purl,
            });
            if !part.licence.is_empty() {
                // Older manifests separate licences by a slash.
                let expression = part.licence.replace('/', " OR ").replace("  ", " ");
                component["licenses"] = json!([{ "expression": expression }]);
            }
            component
        })
        .collect();
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": {
            "type": "application", "bom-ref": "untorn", "name": "untorn", "version": version,
            "licenses": [{ "expression": "MIT OR Apache-2.0" }],
        }},
        "components": components,
    });
    let mut text = serde_json::to_vec_pretty(&bill).unwrap_or_default();
    text.push(b'\n');
    text
}

/// The licences of what others wrote, each text once with the names of whom it is of.
pub fn licences(parts: &BTreeSet<Part>) -> Result<String, Error> {
    let mut of: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut all = String::from("Untorn contains these works of others.\n\n");
    for part in parts.iter().filter(|part| part.foreign) {
        all += &format!("{} {}  {}\n", part.name, part.version, part.licence);
        let folder = Path::new(&part.folder);
        let mut files: Vec<_> = (fs::read_dir(folder).map_err(Error::in_file("list", folder))?)
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.is_file() && is_licence(path))
            .collect();
        files.sort();
        for file in files {
            let bytes = fs::read(&file).map_err(Error::in_file("read", &file))?;
            let text = String::from_utf8_lossy(&bytes).trim().replace('\r', "");
            let whose = format!("{} {}", part.name, part.version);
            of.entry(text).or_default().push(whose);
        }
    }
    for (text, whose) in of {
        all += &format!("\n{}\n{}\n\n{text}\n", "=".repeat(72), whose.join(", "));
    }
    Ok(all)
}

fn is_licence(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_ascii_uppercase();
    ["LICEN", "COPYING", "NOTICE", "UNLICENSE", "COPYRIGHT"]
        .iter()
        .any(|start| name.starts_with(start))
}

/// Which system the command is for, by the name that rustc gives it.
pub fn host() -> Result<String, Error> {
    let said = process::output(Command::new("rustc").arg("-vV"))?;
    let said = String::from_utf8_lossy(&said).into_owned();
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_builds_and_tests_use_is_not_in_the_bill() {
        let package = |name: &str| json!({ "id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0", "source": "registry", "manifest_path": "/x/Cargo.toml" });
        let to = |name: &str, kind: Value| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
        let packages = ["untorn", "linked", "deeper", "tests", "builds"].map(package);
        let metadata = json!({
            "packages": packages,
            "resolve": { "nodes": [
                { "id": "untorn", "deps": [to("linked", Value::Null), to("tests", json!("dev")), to("builds", json!("build"))] },
                { "id": "linked", "deps": [to("deeper", Value::Null)] },
                { "id": "deeper", "deps": [] },
            ]},
        });
        let parts = linked(&metadata, &["untorn"]);
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["deeper", "linked", "untorn"]);
        let bill: Value = serde_json::from_slice(&cyclonedx("0.1.0", &parts)).unwrap();
        assert_eq!(bill["components"][0]["purl"], "pkg:cargo/deeper@1.0.0");
        assert_eq!(
            bill["components"][0]["licenses"][0]["expression"],
            "MIT OR Apache-2.0"
        );
    }
}
