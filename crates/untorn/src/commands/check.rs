//! `untorn check`: analyses of class files, without a run.

use std::ffi::OsStr;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use untorn_consistency::{Options, Outcome};
use untorn_findings::Document;
use untorn_program::load::JdkChoice;
use untorn_program::{LoadPlan, Program};
use untorn_spec::Specification;
use untorn_types::annotations::Annotations;
use untorn_types::ought::Ought;
use untorn_types::report::{Typed, granted};

use crate::budget::{Budget, Pending};
use crate::cache::Entry;
use crate::cli::OutputArgs;
use crate::code;
use crate::commands::exercise::{self, EffortArgs};
use crate::commands::reproduce::duration;
use crate::commands::unthreaded::not_for_threads;
use crate::failure::Failure;
use crate::library::declarations;
use crate::output::{deliver, note, print};
use crate::progress::Stage;
use crate::selection::specification;
use crate::whose::Whose;

/// How many subjects of one kind of assumption the counts name.
const SUBJECTS: usize = 10;

/// Check class files without running them.
#[derive(Debug, Args)]
#[command(after_help = "\
Without --main the classes are a library: any number of threads may call their methods on shared instances.

Examples:
  untorn check target/classes
  untorn check app.jar --main com.example.Main --classpath lib/a.jar:lib/b.jar
  untorn check --jdk-class java.util.Vector --stats")]
pub struct CheckArgs {
    /// Folders, jars and class files to check.
    #[arg(required_unless_present = "jdk_class", value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Which analyses to run, separated by commas.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "all"
    )]
    pub with: Vec<StaticAnalysis>,
    /// The main class: check an application from there, not a library.
    #[arg(long, value_name = "CLASS")]
    pub main: Option<String>,
    /// Folders and jars of classes that are used but not checked.
    #[arg(long, value_name = "CP")]
    pub classpath: Option<String>,
    /// The JDK whose classes are used; otherwise that of JAVA_HOME or on the PATH.
    #[arg(long, value_name = "DIR")]
    pub jdk: Option<PathBuf>,
    /// A class of the JDK to check; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub jdk_class: Vec<String>,
    /// Count the elements of an array as one variable, else as none (consistency).
    #[arg(long)]
    pub arrays: bool,
    /// Filters to switch on (consistency).
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub filter: Vec<Filter>,
    /// Filters to switch off (consistency).
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub no_filter: Vec<Filter>,
    /// Print the inferred type of these methods, named as Class.method, and why they are not proved, instead of findings (types).
    #[arg(long, value_name = "METHOD")]
    pub explain: Vec<String>,
    #[command(flatten)]
    pub types: TypesArgs,
    /// Write what is proved to this file, for untorn run --facts (types).
    ///
    /// Fields that never change, and regions that are atomic; with --main, also fields and locks of one thread.
    #[arg(long, value_name = "FILE", conflicts_with = "explain")]
    pub facts: Option<PathBuf>,
    /// What ought to be atomic: a specification file or an untorn.toml.
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// Tell objects apart by their class alone, not by where they are made: quicker, and less is proved.
    ///
    /// Large programs are looked at so anyway.
    #[arg(long)]
    pub by_class: bool,
    /// Stop after about so long, such as 90 (seconds) or 5m, and say what is known by then; so does Ctrl-C.
    #[arg(long, value_name = "TIME", value_parser = crate::duration::seconds)]
    pub budget: Option<u64>,
    /// Keep results in this folder, for the next check of the same; default: the user's cache.
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    pub cache: Option<PathBuf>,
    /// Neither use nor keep results.
    #[arg(long)]
    pub no_cache: bool,
    /// Report what is found in libraries that are packed into one jar with the application, too.
    #[arg(long)]
    pub all_code: bool,
    /// Then make clients for what is suspected, and see which of it is visibly torn.
    #[arg(long)]
    pub exercise: bool,
    /// How long to exercise in all: 60s, 5m, or seconds.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub exercise_budget: Duration,
    #[command(flatten)]
    pub exercising: EffortArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

impl CheckArgs {
    /// Hands over what was found in the user's code.
    fn deliver(&self, mut document: Document) -> Result<ExitCode, Failure> {
        if !self.all_code
            && let Some(own) = Whose::of_checked(&self.paths)
        {
            own.leave_out_others(&mut document);
        }
        if self.exercise {
            document = exercise::after_check(document, plan(self)?, self)?;
        }
        deliver(&document, &self.output)
    }
}

/// What proofs may rest on.
#[derive(Clone, Copy, Debug, Args)]
pub struct TypesArgs {
    /// Take equals, hashCode, compareTo and toString of objects nobody has seen for harmless (types).
    #[arg(long)]
    pub pure_values: bool,
    /// Type the JDK's own bytecode where it is entered, instead of models of it (types).
    #[arg(long)]
    pub analyze_jdk: bool,
}

impl From<TypesArgs> for untorn_types::front::Options {
    fn from(args: TypesArgs) -> Self {
        Self {
            pure_values: args.pure_values,
            analyze_jdk: args.analyze_jdk,
        }
    }
}

/// The analyses of class files by their names on the command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum StaticAnalysis {
    /// All of the following.
    All,
    /// Methods that use in several critical sections what other threads change in between.
    Consistency,
    /// Proofs that methods and blocks are atomic, and why others are not proved.
    Types,
}

/// What consistency leaves out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Filter {
    /// Fields of different classes are looked at apart.
    Partition,
    /// Accesses through `this` in constructors.
    Initializers,
    /// Final fields.
    Final,
    /// Volatile fields and atomic variables.
    Volatile,
    /// Fields that nothing writes once they are initialized.
    ReadOnly,
    /// What concurrent collections hold; off unless switched on.
    Concurrent,
    /// Fields of library classes for input and output.
    Io,
    /// Methods that use no lock on the fields in question.
    Subordinate,
    /// Methods with more fields than another inconsistent one.
    Smallest,
    /// Callers of inconsistent methods.
    Lowest,
    /// Reads whose value does not leave the lock; off unless switched on.
    EscapingValues,
    /// Methods that are one critical section.
    OneSection,
    /// Methods that nobody asks to be atomic, nor those that call them.
    Specified,
}

pub fn run(args: &CheckArgs) -> Result<ExitCode, Failure> {
    let spec = specification(args.spec.as_deref())?;
    let mut plan = plan(args)?;
    if !args.explain.is_empty() {
        let program = Program::load(&plan)?;
        let mut typed = typed(&program, args.types, &args.output.source, &spec)?;
        typed.notes().for_each(|left_out| note(left_out));
        return explain(&mut typed, &program, &args.explain);
    }
    if args.facts.is_some() && !runs(args, StaticAnalysis::Types) {
        let why = "--facts: they come of --with types";
        return Err(Failure::Usage(why.to_owned()));
    }
    // Facts are not kept with results.
    let cached = if args.no_cache || args.facts.is_some() {
        None
    } else {
        cache_entry(args, &plan, &spec)?
    };
    if let Some((notes, document)) = cached.as_ref().and_then(Entry::read) {
        for text in &notes {
            note(text);
        }
        return args.deliver(document);
    }
    let budget = Budget::begin(args.budget);
    plan.hurry = budget.half();
    let mut checked = Checked {
        document: Document::new(inputs(args)),
        notes: Vec::new(),
        cut: Vec::new(),
    };
    let stage = Stage::begin("following calls and references");
    let loading = {
        let plan = plan.clone();
        Pending::begin(move || Program::load(&plan))?
    };
    match loading.wait(budget) {
        Some(program) => checked.analyze(args, &Arc::new(program?), &spec, (budget, &stage))?,
        None => checked.cut.push(MODEL),
    }
    stage.end();
    let Checked {
        mut document,
        notes,
        cut,
    } = checked;
    let code = code::of_paths(&document, &plan);
    if args.jdk_class.is_empty() {
        untorn_rank::leave_platform(&mut document);
    }
    untorn_rank::rank(&mut document, &code);
    for text in &notes {
        note(text);
    }
    if cut.is_empty() {
        if let Some(entry) = &cached {
            entry.write(&notes, &document);
        }
    } else {
        let what = cut.join(" and ");
        note(&format!(
            "{} before {what} was done: nothing is said of what that would have found or proved",
            Budget::why()
        ));
        document.stats.insert("not done in time".into(), json!(cut));
    }
    if cut.contains(&MODEL) {
        // Not clean: nobody looked.
        let nothing = json!({ "regions": 0 });
        document.stats.insert("looked at".into(), nothing);
        let delivered = args.deliver(document)?;
        return Ok(if args.output.exit_zero {
            delivered
        } else {
            ExitCode::from(2)
        });
    }
    args.deliver(document)
}

fn runs(args: &CheckArgs, analysis: StaticAnalysis) -> bool {
    args.with.contains(&StaticAnalysis::All) || args.with.contains(&analysis)
}

/// What all analyses need.
const MODEL: &str = "the program model";

/// The place in the cache for what these arguments ask for.
fn cache_entry(
    args: &CheckArgs,
    plan: &LoadPlan,
    spec: &Specification,
) -> Result<Option<Entry>, Failure> {
    let options = format!(
        "{:?} {} {} {:?} {:?} {:?} {:?} {}",
        args.with,
        args.by_class,
        args.all_code,
        args.main,
        args.jdk_class,
        options(args),
        args.types,
        serde_json::to_string(spec)?
    );
    let folder = args.cache.as_deref();
    Ok(Entry::of(folder, plan, &args.output.source, &options))
}

/// What a check has come to so far.
struct Checked {
    document: Document,
    notes: Vec<String>,
    /// What was not done in time.
    cut: Vec<&'static str>,
}

impl Checked {
    fn analyze(
        &mut self,
        args: &CheckArgs,
        program: &Arc<Program>,
        spec: &Specification,
        (budget, stage): (Budget, &Stage),
    ) -> Result<(), Failure> {
        let stats = &mut self.document.stats;
        stats.insert("program".into(), program_stats(program));
        if args.main.is_none() {
            not_for_threads(program, spec).put_into(stats);
        }
        if program.heap().given_up().by_class && !args.by_class {
            self.notes.push(
                "objects are told apart by their class alone, since more would take too long: less is proved than could be"
                    .to_owned(),
            );
        }
        stage.next("method consistency and types for atomicity");
        let consistency = if runs(args, StaticAnalysis::Consistency) {
            let (program, options, spec) = (Arc::clone(program), options(args), spec.clone());
            let check = move || untorn_consistency::check(&program, &options, &spec);
            Some(Pending::begin(check)?)
        } else {
            None
        };
        let types = if runs(args, StaticAnalysis::Types) {
            let (program, spec) = (Arc::clone(program), spec.clone());
            let (options, sources) = (args.types, args.output.source.clone());
            let check = move || prove(&program, options, &sources, &spec);
            Some(Pending::begin(check)?)
        } else {
            None
        };
        let mut findings = Vec::new();
        match consistency.map(|pending| pending.wait(budget)) {
            Some(Some(outcome)) => {
                let counts = consistency_stats(&outcome);
                self.document.stats.insert("consistency".into(), counts);
                findings.extend(outcome.findings);
            }
            Some(None) => self.cut.push("consistency"),
            None => {}
        }
        match types.map(|pending| pending.wait(budget)) {
            Some(Some(proved)) => {
                let (outcome, stats, notes) = proved?;
                if let Some(path) = &args.facts {
                    write_facts(path, program, args.types, &outcome)?;
                }
                self.notes.extend(notes);
                self.document.stats.insert("types".into(), stats);
                findings.extend(outcome.findings);
                self.document.proved = outcome.proved;
                self.document.assumed = outcome.assumed;
                self.document.proved_if_sequential = outcome.proved_if_sequential;
            }
            Some(None) => {
                self.cut.push("types");
                if let Some(path) = &args.facts {
                    note(&format!(
                        "{}: no facts, since types were not done",
                        path.display()
                    ));
                }
            }
            None => {}
        }
        self.document.take(findings);
        Ok(())
    }
}

/// Writes what a run may take for granted, and says how much that is.
fn write_facts(
    path: &Path,
    program: &Program,
    options: TypesArgs,
    outcome: &untorn_types::report::Outcome,
) -> Result<(), Failure> {
    let facts = untorn_types::facts::facts(program, options.into(), outcome);
    std::fs::write(path, facts.to_json()?).map_err(|error| Failure::file(path, error))?;
    let (read_only, confined, locks) = facts.counts();
    let mut said = format!(
        "{}: {} regions proved, {read_only} fields that are never written once they are known, {confined} fields and {locks} locks of one thread",
        path.display(),
        facts.proved.len()
    );
    let none = "nothing is confined to a thread: ";
    if let Some(why) = facts
        .assumptions
        .iter()
        .find_map(|text| text.strip_prefix(none))
    {
        said += &format!(" ({why})");
    }
    note(&said);
    Ok(())
}

/// What types find, with counts and notes.
fn prove(
    program: &Program,
    options: TypesArgs,
    sources: &[PathBuf],
    spec: &Specification,
) -> Result<(untorn_types::report::Outcome, Value, Vec<String>), Failure> {
    let clock = Instant::now();
    let mut typed = typed(program, options, sources, spec)?;
    let time = clock.elapsed();
    let notes = typed.notes().cloned().collect();
    let ought = Ought::new(program, spec);
    let outcome = typed.outcome(&|method, block| ought.be_atomic(method, block));
    let mut stats = types_stats(&typed, &outcome, time)?;
    stats["proofs take for granted"] = granted(program, options.into()).into();
    Ok((outcome, stats, notes))
}

fn typed<'p>(
    program: &'p Program,
    options: TypesArgs,
    sources: &[PathBuf],
    spec: &Specification,
) -> Result<Typed<'p>, Failure> {
    let sources = declarations(sources)?;
    let annotations =
        Annotations::read(program, sources, spec).map_err(untorn_types::report::Error::from)?;
    Ok(Typed::with_annotations(
        program,
        options.into(),
        annotations,
    )?)
}

/// Prints the types of the methods that the names fit.
fn explain(
    typed: &mut Typed<'_>,
    program: &Program,
    names: &[String],
) -> Result<ExitCode, Failure> {
    let mut text = String::new();
    for name in names {
        let fitting = methods_named(program, name);
        if fitting.is_empty() {
            return Err(Failure::Usage(format!(
                "{name}: no checked method has this name; write it as Class.method"
            )));
        }
        for method in fitting {
            text.push_str(&typed.explain(method));
        }
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Methods of the checked classes called `Class.method` or `package.Class.method`.
fn methods_named(program: &Program, name: &str) -> Vec<untorn_program::MethodId> {
    let classes = program.classes();
    let Some((class, method)) = name.rsplit_once('.') else {
        return Vec::new();
    };
    let fits = |internal: &str| {
        let dotted = internal.replace('/', ".");
        dotted == class || dotted.ends_with(&format!(".{class}"))
    };
    program
        .inputs()
        .iter()
        .filter(|&&input| fits(classes.class_name(input)))
        .flat_map(|&input| classes.methods_named(input, method))
        .collect()
}

/// How many of the calls that stop proofs are listed.
const STOPS_SHOWN: usize = 100;

fn types_stats(
    typed: &Typed<'_>,
    outcome: &untorn_types::report::Outcome,
    time: Duration,
) -> Result<Value, Failure> {
    let mut counts = serde_json::to_value(typed.counts())?;
    let share = |blocks: bool| {
        let proved = (outcome.proved.iter())
            .chain(&outcome.proved_if_sequential)
            .filter(|region| region.block.is_some() == blocks)
            .count();
        let open = (outcome.findings.iter())
            .filter(|finding| finding.region.block.is_some() == blocks)
            .count();
        format!("{proved} of {}", proved + open)
    };
    if let Some(counts) = counts.as_object_mut() {
        counts.insert("typing".into(), milliseconds(time).into());
        counts.insert(
            "solving guards".into(),
            milliseconds(typed.solving()).into(),
        );
        counts.extend(annotation_stats(typed.annotations()));
        let stops = typed.stops().into_iter().take(STOPS_SHOWN);
        let stops: Vec<String> = stops
            .map(|(call, count)| format!("{count} {call}"))
            .collect();
        if !stops.is_empty() {
            counts.insert("unknown calls that stop most proofs".into(), stops.into());
        }
        counts.insert("methods proved".into(), share(false).into());
        counts.insert("blocks proved".into(), share(true).into());
        counts.insert(
            "proved with a race on plain fields".into(),
            outcome.proved_if_sequential.len().into(),
        );
    }
    Ok(counts)
}

/// How many annotations of each kind there are, for each thousand lines of source where these are known.
fn annotation_stats(annotations: &Annotations) -> Map<String, Value> {
    let mut stats = Map::new();
    let lines = annotations.lines();
    let mut all = 0;
    for (kind, count) in annotations.counts() {
        all += count;
        stats.insert(format!("annotations ({kind})"), per_thousand(count, lines));
    }
    stats.insert("annotations".into(), per_thousand(all, lines));
    if lines > 0 {
        stats.insert("lines of source".into(), lines.into());
    }
    stats
}

fn per_thousand(count: usize, lines: usize) -> Value {
    if lines == 0 {
        return count.into();
    }
    let rate = count as f64 * 1000.0 / lines as f64;
    format!("{count} ({rate:.1} per 1000 lines)").into()
}

fn plan(args: &CheckArgs) -> Result<LoadPlan, Failure> {
    let plan = load_plan(
        &args.paths,
        args.classpath.as_deref(),
        args.jdk.clone(),
        args.main.clone(),
    )?;
    Ok(LoadPlan {
        jdk_classes: args.jdk_class.clone(),
        by_class: args.by_class,
        packed_are_libraries: !args.all_code,
        ..plan
    })
}

/// What to load, from the options that name it.
pub fn load_plan(
    paths: &[PathBuf],
    classpath: Option<&str>,
    jdk: Option<PathBuf>,
    main: Option<String>,
) -> Result<LoadPlan, Failure> {
    Ok(LoadPlan {
        inputs: paths.to_vec(),
        classpath: class_path(classpath)?,
        jdk: jdk.map_or(JdkChoice::Discover, JdkChoice::Home),
        main,
        ..LoadPlan::default()
    })
}

/// The files and folders of a class path; `lib/*` stands for the jars in `lib`, as it does for `java`.
///
/// What is not there is an error: without it classes would be missing that the user has named.
fn class_path(text: Option<&str>) -> Result<Vec<PathBuf>, Failure> {
    let mut all = Vec::new();
    let paths = text.into_iter().flat_map(std::env::split_paths);
    for path in paths.filter(|path| *path != Path::new("")) {
        let failed = |source| Failure::File {
            path: format!("--classpath: {}", path.display()),
            source,
        };
        if path.file_name() == Some(OsStr::new("*")) {
            let folder = path.parent().filter(|folder| *folder != Path::new(""));
            let folder = folder.unwrap_or(Path::new("."));
            let entries = folder
                .read_dir()
                .and_then(Iterator::collect::<Result<Vec<_>, _>>);
            let mut jars: Vec<PathBuf> = (entries.map_err(failed)?.iter().map(DirEntry::path))
                .filter(|path| {
                    path.extension()
                        .is_some_and(|e| e.eq_ignore_ascii_case("jar"))
                })
                .collect();
            jars.sort();
            all.append(&mut jars);
        } else {
            path.metadata().map_err(failed)?;
            all.push(path);
        }
    }
    Ok(all)
}

fn inputs(args: &CheckArgs) -> Vec<String> {
    let paths = args.paths.iter().map(|path| path.display().to_string());
    paths.chain(args.jdk_class.iter().cloned()).collect()
}

fn options(args: &CheckArgs) -> Options {
    let mut options = Options {
        arrays: args.arrays,
        specified: true,
        ..Options::default()
    };
    for (filters, on) in [(&args.filter, true), (&args.no_filter, false)] {
        for filter in filters {
            *switch(&mut options, *filter) = on;
        }
    }
    options
}

fn switch(options: &mut Options, filter: Filter) -> &mut bool {
    match filter {
        Filter::Partition => &mut options.partition,
        Filter::Initializers => &mut options.initializers,
        Filter::Final => &mut options.final_fields,
        Filter::Volatile => &mut options.volatile_fields,
        Filter::ReadOnly => &mut options.read_only_fields,
        Filter::Concurrent => &mut options.concurrent,
        Filter::Io => &mut options.io,
        Filter::Subordinate => &mut options.subordinate,
        Filter::Smallest => &mut options.smallest,
        Filter::Lowest => &mut options.lowest,
        Filter::EscapingValues => &mut options.escaping_values,
        Filter::OneSection => &mut options.one_section,
        Filter::Specified => &mut options.specified,
    }
}

fn consistency_stats(outcome: &Outcome) -> Value {
    let stats = &outcome.stats;
    let of = |(reported, all): (usize, usize)| format!("{reported} of {all}");
    let mut counts = json!({
        "symbolic execution": milliseconds(stats.execution),
        "checking": milliseconds(stats.checking),
        "threads": stats.threads,
        "methods in contexts": stats.contexts,
        "calls with widened contexts": stats.widened,
        "variables": stats.variables,
        "lock views": stats.lock_views,
        "inconsistent views that nobody asks to be atomic": stats.not_asked,
        "inconsistent views (app)": stats.reports.0,
        "inconsistent views (lib)": stats.reports.1,
        "methods reported of those with views (app)": of(stats.app_methods),
        "methods reported of those with views (lib)": of(stats.lib_methods),
    });
    if let (Some(peak), Some(counts)) = (peak_memory(), counts.as_object_mut()) {
        counts.insert("peak memory".into(), peak.into());
    }
    counts
}

fn program_stats(program: &Program) -> Value {
    let stats = program.stats();
    let given_up = program.heap().given_up();
    let together: Vec<&str> = (given_up.classes.iter().take(SUBJECTS))
        .map(|class| program.classes().class_name(*class))
        .collect();
    let mut assumptions: Map<String, Value> = Map::new();
    for (kind, subject, _) in program.assumptions().iter() {
        let entry = assumptions.entry(words(&format!("{kind:?}")));
        let subjects = entry.or_insert_with(|| json!({"count": 0, "first": []}));
        let count = subjects["count"].as_u64().unwrap_or(0) + 1;
        subjects["count"] = count.into();
        if let Some(first) = subjects["first"].as_array_mut()
            && first.len() < SUBJECTS
        {
            first.push(subject.into());
        }
    }
    json!({
        "classes checked": stats.input_classes,
        "classes loaded": stats.loaded_classes,
        "reachable methods": stats.reachable_methods,
        "abstract objects": stats.objects,
        "shared objects": stats.shared_objects,
        "objects told apart by": if given_up.by_class { "class" } else { "place" },
        "classes with receivers taken together": {"count": given_up.classes.len(), "first": together},
        "fields taken together": given_up.fields,
        "abstract threads": stats.threads,
        "loading": milliseconds(stats.load_time + stats.body_time),
        "points-to": milliseconds(stats.heap_time),
        "threads and sharing": milliseconds(stats.thread_time),
        "assumptions": assumptions,
    })
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

/// `MissingClass` as `missing class`.
fn words(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

/// The most memory this process had, where the system tells.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().to_owned())
}
