//! The project in the editor: where its sources, classes and saved findings are, and the commands that look at them.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use lsp_types::InitializeParams;
use untorn_findings::Document;
use untorn_sources::{Folder, SourceFile};
use url::Url;

use super::LspArgs;

/// How deep modules of a build are looked for.
const DEEPEST: usize = 4;
/// Where Maven and Gradle have sources, and what is compiled from them.
const SOURCES: [&str; 6] = [
    "src/main/java",
    "src/main/kotlin",
    "src/main/scala",
    "src/test/java",
    "src/test/kotlin",
    "src/test/scala",
];
const CLASSES: [&str; 5] = [
    "target/classes",
    "build/classes/java/main",
    "build/classes/kotlin/main",
    "build/classes/scala/main",
    "bin/main",
];
const FINDINGS: [&str; 6] = [
    "untorn.json",
    "target/untorn/test.json",
    "target/untorn/check.json",
    "build/untorn/test/test.json",
    "build/untorn/check/check.json",
    "build/untorn/test.json",
];

/// What a check yields, or why it does not.
pub type Checked = Result<Document, String>;

#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    sources: Vec<PathBuf>,
    named_findings: Vec<PathBuf>,
    named_classes: Vec<PathBuf>,
    checks: bool,
    baseline: PathBuf,
    /// When the saved findings were last written.
    newest: RefCell<Vec<(PathBuf, Option<SystemTime>)>>,
}

impl Workspace {
    pub fn open(args: &LspArgs, params: &InitializeParams) -> Self {
        #[allow(deprecated)] // Older editors say no more than this.
        let old = params.root_uri.as_ref().map(|uri| uri.as_str().to_owned());
        let folders = params.workspace_folders.as_ref();
        let uri = folders
            .and_then(|folders| folders.first())
            .map(|folder| folder.uri.as_str().to_owned())
            .or(old);
        let root = uri
            .and_then(|uri| path_of(&uri))
            .or_else(|| std::env::current_dir().ok())
            .unwrap_or_default();
        let below = |paths: &[PathBuf]| paths.iter().map(|path| root.join(path)).collect();
        let mut sources: Vec<PathBuf> = below(&args.source);
        if sources.is_empty() {
            sources = usual(&root, &SOURCES);
        }
        Self {
            named_findings: below(&args.findings),
            named_classes: below(&args.classes),
            checks: !args.no_check,
            baseline: root.join(&args.baseline),
            sources,
            root,
            newest: RefCell::default(),
        }
    }

    /// Looks many places up at once.
    pub fn folder(&self) -> Folder {
        Folder::open(&self.sources).unwrap_or_default()
    }

    pub fn read(path: &Path) -> Option<SourceFile> {
        Folder::read(path).ok()
    }

    pub fn baseline(&self) -> &Path {
        &self.baseline
    }

    /// What is in the baseline.
    pub fn known(&self) -> Document {
        let text = fs::read_to_string(&self.baseline).unwrap_or_default();
        Document::from_json(&text).unwrap_or_else(|_| Document::new(Vec::new()))
    }

    /// The saved findings, if any of them was written since they were read last, or if all are wanted.
    pub fn saved(&self, all: bool) -> Result<Option<Document>, String> {
        let mut files = self.named_findings.clone();
        if files.is_empty() {
            files = usual(&self.root, &FINDINGS);
        }
        let written = |path: &PathBuf| fs::metadata(path).and_then(|data| data.modified()).ok();
        let now: Vec<_> = (files.iter())
            .map(|path| (path.clone(), written(path)))
            .collect();
        if self.newest.replace(now.clone()) == now && !all {
            return Ok(None);
        }
        if files.is_empty() {
            return Ok(Some(Document::new(Vec::new())));
        }
        self.run("report", &files).map(Some)
    }

    /// A check of the classes, to be run elsewhere; none if there is nothing to check.
    pub fn check(&self) -> Option<impl FnOnce() -> Checked + Send + use<>> {
        let mut classes = self.named_classes.clone();
        if classes.is_empty() {
            classes = usual(&self.root, &CLASSES);
        }
        if classes.is_empty() || !self.checks {
            return None;
        }
        let (root, sources) = (self.root.clone(), self.sources.clone());
        Some(move || run(&root, &sources, "check", &classes))
    }

    fn run(&self, command: &str, inputs: &[PathBuf]) -> Checked {
        run(&self.root, &self.sources, command, inputs)
    }
}

/// Runs a command of this program in the project, and reads the findings that it yields.
fn run(root: &Path, sources: &[PathBuf], command: &str, inputs: &[PathBuf]) -> Checked {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut child = Command::new(own);
    child.arg(command).args(inputs).current_dir(root);
    for source in sources {
        child.arg("--source").arg(source);
    }
    child.args(["--exit-zero", "--format", "json"]);
    let output = (child.stdin(Stdio::null()).output()).map_err(|error| error.to_string())?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or("it said nothing");
        return Err(format!("untorn {command} failed: {last}"));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Document::from_json(&text).map_err(|error| format!("untorn {command}: {error}"))
}

/// Those of the usual places that are there, in the project and its modules.
fn usual(root: &Path, places: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = pending.pop() {
        found.extend(
            (places.iter())
                .map(|place| folder.join(place))
                .filter(|path| path.exists()),
        );
        if depth == DEEPEST {
            continue;
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let skipped = ["src", "target", "build", "bin", "node_modules"];
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let name = name.to_string_lossy();
            if is_folder && !name.starts_with('.') && !skipped.contains(&&*name) {
                pending.push((entry.path(), depth + 1));
            }
        }
    }
    found.sort();
    found
}

pub fn path_of(uri: &str) -> Option<PathBuf> {
    Url::parse(uri).ok()?.to_file_path().ok()
}

pub fn uri_of(path: &Path) -> Option<String> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    Url::from_file_path(path).ok().map(String::from)
}
