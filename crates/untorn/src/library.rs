//! The sources that the user gave: what they say of findings, and the lines that reports show.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use untorn_findings::{Document, Finding, Place, Step, Suppressed, SuppressedBy};
use untorn_report::{Excerpts, Listing};
use untorn_sources::{Declaration, DeclarationKind, Folder, Mark, SourceFile};
use untorn_types::annotations::NamedSource;

use crate::failure::Failure;

/// How a person says in the sources that nothing is to be reported.
pub const NO_WARN: &str = "no_warn";

/// Folders of sources, with the files read so far.
#[derive(Debug)]
pub struct Library {
    folder: Folder,
    read: RefCell<HashMap<PathBuf, Option<Rc<SourceFile>>>>,
}

impl Library {
    pub fn open(paths: &[PathBuf]) -> Result<Self, Failure> {
        let folder = Folder::open(paths).map_err(|error| Failure::Usage(error.to_string()))?;
        Ok(Self {
            folder,
            read: RefCell::default(),
        })
    }

    fn path(&self, class: Option<&str>, file: &str) -> Option<&Path> {
        match class {
            Some(class) => self.folder.find(class, file),
            // Without a class, two files of one name cannot be told apart.
            None => {
                let named = |path: &&Path| path.file_name().is_some_and(|name| name == file);
                let all: Vec<&Path> = self.folder.files().into_iter().filter(named).collect();
                (all.len() == 1).then(|| all[0])
            }
        }
    }

    pub(crate) fn file(&self, class: Option<&str>, file: &str) -> Option<Rc<SourceFile>> {
        let path = self.path(class, file)?;
        let mut read = self.read.borrow_mut();
        let parsed = read.entry(path.to_owned()).or_insert_with(|| {
            // A file that cannot be read is told of once, and its lines are not shown.
            (Folder::read(path).map_err(|error| eprintln!("untorn: note: {error}")))
                .ok()
                .map(Rc::new)
        });
        parsed.clone()
    }

    /// The lines that a document speaks of; tells of sources that do not fit.
    pub fn excerpts(&self, document: &Document) -> Excerpts {
        let excerpts = Excerpts::collect(document, &mut |class, name| {
            let file = self.file(class, name)?;
            let path = self.path(class, name)?;
            Some(Listing {
                path: path.display().to_string().replace('\\', "/"),
                lines: file.text().lines().map(str::to_owned).collect(),
            })
        });
        for mismatch in excerpts.mismatches() {
            eprintln!("untorn: note: {mismatch}");
        }
        excerpts
    }

    /// Moves what the sources say not to report to the document's suppressed findings.
    pub fn suppress(&self, document: &mut Document) {
        let mut kept = Vec::new();
        for finding in std::mem::take(&mut document.findings) {
            match self.reason(&finding) {
                Some(reason) => document.suppressed.push(Suppressed {
                    finding,
                    by: SuppressedBy::Source,
                    reason: Some(reason),
                }),
                None => kept.push(finding),
            }
        }
        document.findings = kept;
    }

    fn reason(&self, finding: &Finding) -> Option<String> {
        self.declared(finding)
            .or_else(|| self.marked_lines(finding))
    }

    /// An annotation or mark at the method, field, block or class, or at a class around it.
    fn declared(&self, finding: &Finding) -> Option<String> {
        let region = &finding.region;
        let name = region.file.clone().or_else(|| {
            // The finding about a field has no file; its class names it.
            let top = region
                .class
                .as_deref()?
                .rsplit('.')
                .next()?
                .split('$')
                .next()?;
            Some(format!("{top}.java"))
        })?;
        let file = self.file(region.class.as_deref(), &name)?;
        (file.declarations().iter())
            .filter(|declaration| is_around(declaration, finding))
            .find_map(|declaration| {
                if declaration.suppresses("untorn") {
                    Some(format!("@SuppressWarnings at {}", declaration.name))
                } else if declaration.marks.iter().any(is_no_warn) {
                    Some(format!("/*# {NO_WARN} */ at {}", declaration.name))
                } else {
                    None
                }
            })
    }

    /// Every piece of evidence has a step on a line with a mark.
    fn marked_lines(&self, finding: &Finding) -> Option<String> {
        let evidence = &finding.evidence;
        let ends = |torn: Option<(u32, u32)>, step: &&Step| {
            torn.is_none_or(|(from, to)| step.n == from || step.n == to)
        };
        let orders = evidence.interleavings.iter().map(|it| {
            let steps = it.steps.iter().filter(|step| ends(it.torn, step));
            steps.filter_map(|step| step.place.as_ref()).collect()
        });
        let reductions = evidence.reductions.iter().map(|it| {
            let steps = [&it.commit, &it.violation];
            steps
                .into_iter()
                .filter_map(|step| step.place.as_ref())
                .collect()
        });
        let arguments: Vec<Vec<&Place>> = orders.chain(reductions).collect();
        let silent = !arguments.is_empty()
            && (arguments.iter()).all(|places| places.iter().any(|place| self.is_marked(place)));
        silent.then(|| format!("/*# {NO_WARN} */ at a line of the evidence"))
    }

    fn is_marked(&self, place: &Place) -> bool {
        let (Some(name), Some(line)) = (&place.file, place.line) else {
            return false;
        };
        self.file(place.class.as_deref(), name).is_some_and(|file| {
            (file.loose_marks().iter()).any(|mark| mark.line == line && is_no_warn(mark))
        })
    }
}

/// The folders among the sources.
pub fn roots(paths: &[PathBuf]) -> Vec<PathBuf> {
    (paths.iter().filter(|path| path.is_dir()).cloned()).collect()
}

/// Every Java file of the sources, parsed, for what is declared in it.
pub fn declarations(paths: &[PathBuf]) -> Result<Vec<NamedSource>, Failure> {
    let folder = Folder::open(paths).map_err(|error| Failure::Usage(error.to_string()))?;
    (folder.java().into_iter())
        .map(|path| {
            let file = Folder::read(path).map_err(|error| Failure::Usage(error.to_string()))?;
            Ok(NamedSource {
                path: path.display().to_string(),
                file,
            })
        })
        .collect()
}

fn is_no_warn(mark: &Mark) -> bool {
    mark.text == NO_WARN
}

fn is_around(declaration: &Declaration, finding: &Finding) -> bool {
    let region = &finding.region;
    let (first, last) = declaration.lines;
    let holds_line = region
        .line
        .is_some_and(|line| first <= line && line <= last);
    let class = region.class.as_deref();
    match declaration.kind {
        DeclarationKind::Class => {
            let outer = class.is_some_and(|class| {
                class == declaration.class
                    || class
                        .strip_prefix(&declaration.class)
                        .is_some_and(|r| r.starts_with('$'))
            });
            outer || (class.is_none() && holds_line)
        }
        DeclarationKind::Field => {
            class == Some(&declaration.class) && region.field.as_ref() == Some(&declaration.name)
        }
        DeclarationKind::Method => {
            let same = class == Some(&declaration.class) && region.method == declaration.name;
            // Overloads differ by their lines; a class file names a line inside the method.
            (same && (region.line.is_none() || holds_line)) || (class.is_none() && holds_line)
        }
        DeclarationKind::Block => {
            class == Some(&declaration.class)
                && region.method == declaration.name
                && region.block.is_some()
                && region.block == declaration.block
        }
    }
}
