//! `untorn infer`: writes what the types found into a copy of the sources, or as a specification.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use untorn_program::{LoadPlan, Program};
use untorn_sources::{Declaration, Edits, Form, SourceFile};
use untorn_spec::{Atomicity, Guard, Pattern, Specification};
use untorn_types::annotations::{Annotations, Inferred, Item, Parameters, Written};
use untorn_types::front::Options;
use untorn_types::report::Typed;

use super::check::load_plan;
use crate::failure::Failure;
use crate::library::{declarations, roots};
use crate::output::{note, print};
use crate::progress::Stage;
use crate::selection::specification;

/// Infer guards and atomicities, and write them down.
///
/// The sources themselves are never touched.
#[derive(Debug, Args)]
#[command(after_help = "\
Without --annotate and --spec the result is printed.
A copy with comments compiles as it is; one with annotations needs untorn-annotations.jar on the class path.
What is declared already is checked and left as it is.

Examples:
  untorn infer target/classes --source src/main/java
  untorn infer target/classes --source src/main/java --annotate annotated
  untorn infer app.jar --spec inferred.toml")]
pub struct InferArgs {
    /// Folders, jars and class files.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The sources of these classes.
    #[arg(long, value_name = "DIR")]
    pub source: Vec<PathBuf>,
    /// Write an annotated copy of the sources into this folder, which must not exist or be empty.
    #[arg(long, value_name = "OUT_DIR", requires = "source")]
    pub annotate: Option<PathBuf>,
    /// How the copy is annotated.
    #[arg(long, value_enum, default_value_t = Style::Comments, requires = "annotate")]
    pub style: Style,
    /// Write the result as a specification into this file, which must not exist.
    #[arg(long, value_name = "OUT.toml")]
    pub spec: Option<PathBuf>,
    /// The main class: infer for an application from there, not for a library.
    #[arg(long, value_name = "CLASS")]
    pub main: Option<String>,
    /// Folders and jars of classes that are used but not annotated.
    #[arg(long, value_name = "CP")]
    pub classpath: Option<String>,
    /// The JDK whose classes are used; otherwise that of JAVA_HOME or on the PATH.
    #[arg(long, value_name = "DIR")]
    pub jdk: Option<PathBuf>,
    /// What is declared already: a specification file or an untorn.toml.
    #[arg(long, value_name = "FILE")]
    pub declared: Option<PathBuf>,
    /// The project's file; default: the first untorn.toml from here upward.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print counts of what was seen and done.
    #[arg(long)]
    pub stats: bool,
}

/// How inferred declarations are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Style {
    /// As comments, such as /*# guarded_by this */.
    Comments,
    /// As annotations of untorn-annotations.jar.
    Annotations,
}

pub fn run(args: &InferArgs) -> Result<ExitCode, Failure> {
    // Refused before the work, not after it.
    if let Some(folder) = &args.annotate {
        must_be_empty(folder, &args.source)?;
    }
    if let Some(file) = &args.spec {
        must_not_exist(file)?;
    }
    let spec = specification(args.declared.as_deref())?;
    let stage = Stage::begin("reading classes");
    let program = Program::load(&plan(args)?)?;
    stage.next("reading sources");
    let sources = declarations(&args.source)?;
    let annotations =
        Annotations::read(&program, sources, &spec).map_err(untorn_types::report::Error::from)?;
    stage.next("typing");
    let mut typed = Typed::with_annotations(&program, Options::default(), annotations)?;
    stage.end();
    for left_out in typed.notes() {
        note(left_out);
    }
    let (inferred, unwritable) = typed.inferred(Parameters::Named);
    // Class files and specifications are read without sources.
    let (numbered, _) = typed.inferred(Parameters::Numbered);
    if unwritable > 0 {
        note(&format!(
            "{unwritable} types or guards speak of locks that cannot be named where they would stand; they are not written"
        ));
    }
    if let Some(folder) = &args.annotate {
        let written = match args.style {
            Style::Comments => &inferred,
            Style::Annotations => &numbered,
        };
        annotate(&typed, written, args, folder)?;
    }
    if let Some(file) = &args.spec {
        write_spec(&program, &numbered, file)?;
    }
    if args.annotate.is_none() && args.spec.is_none() {
        print(&listed(&program, &inferred))?;
    }
    if args.stats {
        print(&stats(&typed, &inferred))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn plan(args: &InferArgs) -> Result<LoadPlan, Failure> {
    load_plan(
        &args.paths,
        args.classpath.as_deref(),
        args.jdk.clone(),
        args.main.clone(),
    )
}

fn must_be_empty(folder: &Path, sources: &[PathBuf]) -> Result<(), Failure> {
    let refuse = |why: &str| {
        Err(Failure::Usage(format!(
            "{}: {why}; name a new folder",
            folder.display()
        )))
    };
    if folder.is_dir() {
        let mut entries =
            std::fs::read_dir(folder).map_err(|source| Failure::file(folder, source))?;
        if entries.next().is_some() {
            return refuse("the folder is not empty");
        }
    } else if folder.exists() {
        return refuse("this is no folder");
    }
    // A copy inside the sources would be read as a source the next time.
    let place = std::path::absolute(folder).map_err(|source| Failure::file(folder, source))?;
    for source in sources {
        let source = std::path::absolute(source).map_err(|error| Failure::file(source, error))?;
        if place.starts_with(&source) {
            return refuse("the folder lies in the sources");
        }
    }
    Ok(())
}

fn must_not_exist(file: &Path) -> Result<(), Failure> {
    if file.exists() {
        return Err(Failure::Usage(format!(
            "{}: the file exists; name a new one",
            file.display()
        )));
    }
    Ok(())
}

/// Writes the copy: every Java file, annotated where there is something to say.
fn annotate(
    typed: &Typed<'_>,
    inferred: &[Inferred],
    args: &InferArgs,
    folder: &Path,
) -> Result<(), Failure> {
    let by_item: HashMap<Item, &Written> = (inferred.iter())
        .map(|inferred| (inferred.item, &inferred.written))
        .collect();
    let annotations = typed.annotations();
    let (mut files, mut written) = (0, 0);
    let mut targets: HashMap<PathBuf, &str> = HashMap::new();
    for (index, source) in annotations.sources.iter().enumerate() {
        let relative = relative(Path::new(&source.path), &roots(&args.source));
        let target = folder.join(&relative);
        if let Some(other) = targets.insert(target.clone(), &source.path) {
            return Err(Failure::Usage(format!(
                "{other} and {} would both be copied to {}",
                source.path,
                target.display()
            )));
        }
        let mut edits = Edits::default();
        for declared in annotations.declared_at.iter().filter(|d| d.source == index) {
            let declaration = &source.file.declarations()[declared.declaration];
            let Some(what) = by_item.get(&declared.item) else {
                continue;
            };
            if shares(&source.file, declaration) {
                note(&format!(
                    "{}:{}: {} is declared together with others, so its guard is not written",
                    source.path, declaration.lines.0, declaration.name
                ));
                continue;
            }
            let (form, text) = match args.style {
                _ if matches!(what, Written::Torn(_)) => (Form::Remark, what.comment()),
                Style::Comments => (Form::Mark, what.comment()),
                Style::Annotations => match annotation(what) {
                    Some(text) => (Form::Annotation, text),
                    None => continue,
                },
            };
            edits
                .annotate(&source.file, declaration, form, &text)
                .map_err(|error| Failure::Input {
                    path: source.path.clone(),
                    what: error.to_string(),
                })?;
            written += 1;
        }
        let parent = target.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(|error| Failure::file(parent, error))?;
        std::fs::write(&target, edits.apply(&source.file))
            .map_err(|error| Failure::file(&target, error))?;
        files += 1;
    }
    note(&format!(
        "{written} annotations in {files} files below {}",
        folder.display()
    ));
    Ok(())
}

/// Whether one declaration declares several fields, of which a comment could not tell which it means.
fn shares(file: &SourceFile, declaration: &Declaration) -> bool {
    let same =
        |other: &&Declaration| other.kind == declaration.kind && other.range == declaration.range;
    file.declarations().iter().filter(same).count() > 1
}

fn annotation(what: &Written) -> Option<String> {
    const PACKAGE: &str = "untorn.annotations";
    Some(match what {
        Written::GuardedBy(lock) => format!("{PACKAGE}.GuardedBy(\"{lock}\")"),
        Written::WriteGuardedBy(lock) => format!("{PACKAGE}.WriteGuardedBy(\"{lock}\")"),
        // There is no annotation for it, and it is found again.
        Written::NoGuard | Written::Torn(_) => return None,
        Written::Atomicity { text, .. } if text == "cmpd" => format!("{PACKAGE}.NotAtomic"),
        Written::Atomicity { text, .. } if text == "atomic" => format!("{PACKAGE}.Atomic"),
        Written::Atomicity { text, .. } => format!("{PACKAGE}.Atomic(\"{text}\")"),
    })
}

fn relative(path: &Path, roots: &[PathBuf]) -> PathBuf {
    let within = roots.iter().find_map(|root| path.strip_prefix(root).ok());
    within.map_or_else(
        || PathBuf::from(path.file_name().unwrap_or(path.as_os_str())),
        Path::to_owned,
    )
}

/// The member as the specification names it.
fn pattern(program: &Program, item: Item) -> Option<Pattern> {
    let classes = program.classes();
    let text = match item {
        Item::Field(field) => classes.describe_field(field),
        Item::Method(method) => {
            let class = classes.class_name(classes.method(method).class);
            let name = format!("{class}.{}", classes.method_name(method));
            let name = name.replace('/', ".");
            return format!("{name}{}", classes.method_descriptor(method))
                .parse()
                .ok();
        }
        Item::Class(class) => classes.class_name(class).to_owned(),
    };
    text.replace('/', ".").parse().ok()
}

fn write_spec(program: &Program, inferred: &[Inferred], file: &Path) -> Result<(), Failure> {
    let mut spec = Specification::default();
    for Inferred { item, written } in inferred {
        let Some(pattern) = pattern(program, *item) else {
            continue;
        };
        match written {
            Written::GuardedBy(by) | Written::WriteGuardedBy(by) => spec.guard.push(Guard {
                field: pattern,
                by: by.clone(),
                writes_only: matches!(written, Written::WriteGuardedBy(_)),
            }),
            Written::NoGuard => spec.guard.push(Guard {
                field: pattern,
                by: "none".to_owned(),
                writes_only: false,
            }),
            Written::Atomicity { text, .. } => spec.atomicity.push(Atomicity {
                method: pattern,
                is: text.clone(),
            }),
            Written::Torn(_) => {}
        }
    }
    let text = (spec.to_toml()).map_err(|error| Failure::Usage(error.to_string()))?;
    std::fs::write(file, text).map_err(|source| Failure::file(file, source))?;
    note(&format!(
        "{} guards and {} atomicities in {}",
        spec.guard.len(),
        spec.atomicity.len(),
        file.display()
    ));
    Ok(())
}

fn listed(program: &Program, inferred: &[Inferred]) -> String {
    let classes = program.classes();
    let mut lines: Vec<String> = (inferred.iter())
        .map(|Inferred { item, written }| {
            let name = match item {
                Item::Field(field) => classes.describe_field(*field),
                Item::Method(method) => classes.describe_method(*method),
                Item::Class(class) => classes.class_name(*class).to_owned(),
            };
            format!("{}: {}", name.replace('/', "."), written.comment())
        })
        .collect();
    lines.sort();
    lines.into_iter().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{line}");
        text
    })
}

fn stats(typed: &Typed<'_>, inferred: &[Inferred]) -> String {
    let guards = (inferred.iter())
        .filter(|i| !matches!(i.written, Written::Atomicity { .. } | Written::Torn(_)))
        .count();
    let torn = (inferred.iter())
        .filter(|i| matches!(i.written, Written::Torn(_)))
        .count();
    let atomic = (inferred.iter())
        .filter(|i| matches!(i.written, Written::Atomicity { atomic: true, .. }))
        .count();
    let mut text = String::new();
    let _ = writeln!(text, "inferred guards: {guards}");
    let _ = writeln!(
        text,
        "inferred atomicities: {}",
        inferred.len() - guards - torn
    );
    let _ = writeln!(text, "of them atomic in every context: {atomic}");
    let _ = writeln!(text, "methods with evidence of a tear: {torn}");
    for (kind, count) in typed.annotations().counts() {
        let _ = writeln!(text, "declared ({kind}): {count}");
    }
    text
}
