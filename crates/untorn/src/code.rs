//! The class files that findings are judged by.

use std::collections::BTreeMap;
use std::path::PathBuf;

use untorn_findings::{Document, Finding};
use untorn_program::load::{ClassPath, JdkChoice, Limits};
use untorn_program::{Assumptions, LoadPlan};
use untorn_rank::{Code, classes_of};

use crate::failure::Failure;

/// Of the class files of a program, those that findings speak of.
pub fn named(all: &BTreeMap<String, Vec<u8>>, findings: &[Finding]) -> BTreeMap<String, Vec<u8>> {
    (classes_of(findings).into_iter())
        .filter_map(|name| {
            let bytes = all.get(&name)?.clone();
            Some((name, bytes))
        })
        .collect()
}

/// Code from class files that a program has sent, by the names of their classes with dots.
pub fn of_files(document: &Document, files: &BTreeMap<String, Vec<u8>>) -> Result<Code, Failure> {
    if files.is_empty() {
        return Ok(Code::default());
    }
    let folder = tempfile::tempdir()
        .map_err(|source| Failure::file("a temporary folder".as_ref(), source))?;
    for (name, bytes) in files {
        let mut path = folder.path().to_owned();
        // A forged name must not lead out of the folder.
        let parts: Vec<&str> = name.split('.').collect();
        if parts
            .iter()
            .any(|part| part.is_empty() || part.contains(['/', '\\']))
        {
            continue;
        }
        path.extend(&parts);
        path.set_file_name(format!("{}.class", parts[parts.len() - 1]));
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|source| Failure::file(parent, source))?;
        }
        std::fs::write(&path, bytes).map_err(|source| Failure::file(&path, source))?;
    }
    Ok(of_paths(
        document,
        &LoadPlan {
            inputs: vec![folder.path().to_owned()],
            ..LoadPlan::default()
        },
    ))
}

/// Code from the files that were analyzed; what cannot be read stays unknown, the analysis has complained of it.
pub fn of_paths(document: &Document, plan: &LoadPlan) -> Code {
    // Only what findings name is read, so the inputs are places to look a class up in.
    let places: Vec<PathBuf> = plan.inputs.iter().chain(&plan.classpath).cloned().collect();
    let path = ClassPath::open(
        &[],
        &places,
        &JdkChoice::None,
        plan.release,
        Limits::default(),
        &mut Assumptions::default(),
    );
    path.map_or_else(|_| Code::default(), |path| Code::of(document, path))
}
