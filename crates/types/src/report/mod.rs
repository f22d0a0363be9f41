//! Verdicts as findings: what is proved, and for the rest which parts do not compose, on source lines.

mod blame;
mod conflict;
mod finding;
mod granted;
mod racy;

pub use blame::signature;
pub use granted::granted;

use rustc_hash::FxHashMap;
use untorn_findings::{Assumed, Finding, Region};
use untorn_program::{MethodId, Program};

use crate::algebra::{Atomicity, Valuation};
use crate::analysis::{Analysis, Verdict, analyze};
use crate::annotations::{AnnotationError, Annotations, Entered, enter};
use crate::front::{Front, Key, Options, Translation};
use crate::guards::{SolveError, infer_guards};
use crate::infer::Limits;
use crate::input::{self, Guard, RegionId, Site};
use crate::locks::{Lock, Root};
use crate::notation::print_atomicity;
use crate::path::Fault;

/// Why there are no types.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The solver gave up.
    #[error(transparent)]
    Solver(#[from] SolveError),
    /// A declaration makes no sense.
    #[error(transparent)]
    Annotation(#[from] AnnotationError),
}

/// A typed program.
#[derive(Debug)]
pub struct Typed<'a> {
    pub(crate) program: &'a Program,
    pub(crate) translation: Translation,
    pub(crate) analysis: Analysis,
    pub(crate) entered: Entered,
    pub(crate) annotations: Annotations,
    ids: FxHashMap<Key, input::MethodId>,
    /// For each method an access that races on a plain field, its own or a callee's.
    racy: Vec<Option<Site>>,
    optimist: Option<conflict::Optimist>,
    accesses: conflict::Accesses,
    /// How many proofs each call of unknown code stops.
    stops: FxHashMap<MethodId, usize>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Regions that ought to be atomic and are not shown to be.
    pub findings: Vec<Finding>,
    /// Regions that ought to be atomic and are.
    pub proved: Vec<Region>,
    /// Regions that are atomic in every sequentially consistent run, but access plain fields in a race.
    pub proved_if_sequential: Vec<Region>,
    /// What was believed, and the proofs that rest on it.
    pub assumed: Vec<Assumed>,
}

/// How much there was to do.
#[derive(Debug, Clone, Copy, Default, serde::Serialize)]
pub struct Counts {
    /// Versions of methods with a body.
    pub bodies: usize,
    /// Fields, owned content included.
    pub fields: usize,
    /// Fields and content with a lock that guards every access.
    pub guarded: usize,
    /// Those with a lock that guards every write.
    pub write_guarded: usize,
    /// Those that never change once others see them.
    pub final_fields: usize,
    /// Clauses of the guard problem.
    pub clauses: usize,
    /// Independent parts of the guard problem.
    pub components: usize,
    /// How often a body was solved.
    pub solved: usize,
    /// Nodes of the shared decision diagram.
    pub diagram: usize,
    /// Subatomicity constraints: bodies, implementations, declarations and started threads.
    pub constraints: usize,
    /// Guards and atomicities that were declared, so that they are only checked.
    pub declared: usize,
}

impl<'a> Typed<'a> {
    /// Translates and types a program.
    pub fn new(program: &'a Program) -> Result<Typed<'a>, Error> {
        Typed::with(program, Options::default())
    }

    /// Translates and types a program, with assumptions of the user's.
    pub fn with(program: &'a Program, options: Options) -> Result<Typed<'a>, Error> {
        Typed::with_annotations(program, options, Annotations::default())
    }

    /// Translates and types a program, with what its programmers declare.
    ///
    /// Where ghosts are declared, there are no others.
    pub fn with_annotations(
        program: &'a Program,
        options: Options,
        annotations: Annotations,
    ) -> Result<Typed<'a>, Error> {
        let front = Front::new(program, options, &annotations);
        let typed = |translation: &mut Translation| -> Result<(Analysis, Entered), Error> {
            let entered = enter(program, translation, &annotations)?;
            let Translation { algebra, input, .. } = translation;
            let analysis = analyze(algebra, input, &entered.assumed, Limits::default())?;
            Ok((analysis, entered))
        };
        let ghosts = annotations.ghosts()?;
        let (mut translation, (analysis, entered)) = if ghosts.is_empty() {
            // Ghosts that lead nowhere are no error: there are types without them.
            let mut translation = front.translate(|translation| {
                let before = translation.input.clone();
                let entered = enter(program, translation, &annotations);
                let guarded = infer_guards(&mut translation.algebra.locks, &translation.input);
                translation.input = before;
                entered.ok()?;
                Some(guarded.ok()?.proven())
            });
            match typed(&mut translation) {
                Err(Error::Solver(_)) => {
                    translation = front.translate(|_| None);
                    let found = typed(&mut translation)?;
                    (translation, found)
                }
                found => (translation, found?),
            }
        } else {
            let mut translation = front.translate_declared(&ghosts, &annotations)?;
            let found = typed(&mut translation)?;
            (translation, found)
        };
        let ids = translation
            .methods
            .iter()
            .enumerate()
            .map(|(index, &key)| (key, input::MethodId(index as u32)))
            .collect();
        let racy = racy::find(program, &mut translation, &analysis);
        Ok(Typed {
            program,
            translation,
            analysis,
            entered,
            annotations,
            ids,
            racy,
            optimist: None,
            accesses: conflict::Accesses::default(),
            stops: FxHashMap::default(),
        })
    }

    /// What was declared and left out, and why.
    pub fn notes(&self) -> impl Iterator<Item = &String> {
        self.annotations.notes.iter().chain(&self.entered.notes)
    }

    /// What was declared.
    pub fn annotations(&self) -> &Annotations {
        &self.annotations
    }

    /// The version of a method that anyone may call.
    pub(crate) fn general(&self, method: MethodId) -> Option<input::MethodId> {
        let key = Key::general(self.program.classes(), method);
        self.ids.get(&key).copied()
    }

    /// The inferred type of a method, in the notation of annotations; nothing if it cannot be reached.
    pub fn type_of(&mut self, method: MethodId) -> Option<String> {
        let id = self.general(method)?;
        let inferred = &self.analysis.inferred;
        // A method without a body has nothing but its declaration.
        let atomicity = if self.translation.input.methods[id.index()].body.is_some() {
            inferred.bodies[id.index()]
        } else {
            inferred.methods[id.index()]
        };
        Some(self.print_in(method, atomicity))
    }

    /// The type of a method and why it is not proved, as text.
    pub fn explain(&mut self, method: MethodId) -> String {
        let name = self
            .program
            .classes()
            .describe_method(method)
            .replace('/', ".");
        let (Some(id), Some(atomicity)) = (self.general(method), self.type_of(method)) else {
            return format!("{name}: not reached, so not typed\n");
        };
        let mut text = format!("{name}: {atomicity}\n");
        let finding = match self.verdict(id) {
            Verdict::Proved => {
                text.push_str("  proved: atomic in every context\n");
                if let Some(race) = self.race_of(method) {
                    text.push_str(&format!(
                        "  for sequentially consistent runs only, since it {race} in a race\n"
                    ));
                }
                return text;
            }
            Verdict::Unknown => return text,
            Verdict::Unproved(fault) => self.method_finding(method, id, &fault),
            Verdict::Undisciplined(violation) => self.undisciplined(method, id, violation),
        };
        text.push_str(&format!("  {}\n", finding.message));
        for lost in finding.evidence.typings.iter().flat_map(|t| &t.guards_lost) {
            let place = lost.place.as_ref().map_or_else(String::new, |place| {
                format!(
                    " ({}.{} line {})",
                    place.class.as_deref().unwrap_or_default(),
                    place.method.as_deref().unwrap_or_default(),
                    place.line.unwrap_or_default()
                )
            });
            text.push_str(&format!(
                "  {} has no guard for all its accesses: {}{place}\n",
                lost.field, lost.why
            ));
        }
        text
    }

    /// Whether a method is atomic in every context; nothing if it cannot be reached or has no body.
    pub fn is_proved(&mut self, method: MethodId) -> Option<bool> {
        let id = self.general(method)?;
        match self.verdict(id) {
            Verdict::Proved => Some(true),
            Verdict::Unknown => None,
            _ => Some(false),
        }
    }

    /// The access to a plain field in a race that a method's proof rests on, in words.
    pub fn race_of(&self, method: MethodId) -> Option<String> {
        let site = self.racy[self.general(method)?.index()]?;
        let info = self.translation.sites.get(site)?;
        Some(self.describe(info))
    }

    pub(crate) fn add_proved(&self, id: input::MethodId, region: Region, outcome: &mut Outcome) {
        if self.racy[id.index()].is_some() {
            outcome.proved_if_sequential.push(region);
        } else {
            outcome.proved.push(region);
        }
    }

    /// The guard of a field as the user writes it, or of what it owns.
    pub fn guard_of(&self, field: untorn_program::FieldId, content: bool) -> Option<String> {
        let index = self
            .translation
            .fields
            .iter()
            .position(|key| key.field == field && key.content == content)?;
        Some(match *self.analysis.discipline.guards.get(index)? {
            Guard::Final => "final".to_owned(),
            Guard::NoGuard => "no_guard".to_owned(),
            Guard::GuardedBy(lock) => format!("guarded_by {}", self.describe_lock(lock)),
            Guard::WriteGuardedBy(lock) => format!("write_guarded_by {}", self.describe_lock(lock)),
        })
    }

    /// Counts for the statistics.
    pub fn counts(&self) -> Counts {
        let guards = &self.analysis.discipline.guards;
        let count = |wanted: fn(&Guard) -> bool| guards.iter().filter(|g| wanted(g)).count();
        let bodies = &self.translation.input.methods;
        Counts {
            bodies: bodies.iter().filter(|m| m.body.is_some()).count(),
            fields: guards.len(),
            guarded: count(|g| matches!(g, Guard::GuardedBy(_))),
            write_guarded: count(|g| matches!(g, Guard::WriteGuardedBy(_))),
            final_fields: count(|g| matches!(g, Guard::Final)),
            clauses: self.analysis.guarded.size.0,
            components: self.analysis.guarded.size.1,
            solved: self.analysis.inferred.solved,
            diagram: self.translation.algebra.nodes(),
            constraints: bodies
                .iter()
                .map(|m| usize::from(m.body.is_some()) + m.overrides.len())
                .sum::<usize>()
                + self.entered.bounds.len()
                + self.translation.input.threads.len(),
            declared: self.entered.guards.len() + self.entered.bounds.len(),
        }
    }

    /// How long the guards took to find.
    pub fn solving(&self) -> std::time::Duration {
        self.analysis.solving
    }

    /// Verdicts on all methods and blocks that ought to be atomic.
    pub fn outcome(&mut self, ought: &dyn Fn(MethodId, Option<u32>) -> bool) -> Outcome {
        let mut outcome = Outcome::default();
        let broken = self.broken_declarations();
        outcome.findings = broken.findings;
        let classes = self.program.classes();
        let mut methods: Vec<MethodId> =
            self.translation.methods.iter().map(|k| k.method).collect();
        methods.sort_unstable();
        methods.dedup();
        for method in methods {
            let said = self.entered.ought.get(&method).copied();
            let wanted = said.unwrap_or_else(|| ought(method, None));
            if classes.method_name(method).starts_with('<')
                || !wanted
                || broken.methods.contains(&method)
            {
                continue;
            }
            let Some(id) = self.general(method) else {
                continue;
            };
            match self.verdict(id) {
                Verdict::Proved => self.add_proved(id, self.region(method), &mut outcome),
                Verdict::Unknown => {}
                Verdict::Unproved(fault) => {
                    let finding = self.method_finding(method, id, &fault);
                    outcome.findings.push(finding);
                }
                Verdict::Undisciplined(violation) => {
                    let finding = self.undisciplined(method, id, violation);
                    outcome.findings.push(finding);
                }
            }
        }
        self.blocks(ought, &mut outcome);
        self.asserted_blocks(&mut outcome);
        self.believed(&mut outcome);
        outcome
    }

    fn blocks(&mut self, ought: &dyn Fn(MethodId, Option<u32>) -> bool, outcome: &mut Outcome) {
        let mut verdicts: Vec<(MethodId, u32, u16, input::MethodId, bool, RegionId)> = Vec::new();
        for (index, (key, block)) in self.translation.blocks.clone().into_iter().enumerate() {
            let general = self.general(key.method);
            let asserted =
                (self.entered.asserted.iter()).any(|a| a.region == RegionId(index as u32));
            if general != self.ids.get(&key).copied()
                || asserted
                || !ought(key.method, Some(block.number))
            {
                continue;
            }
            let Some(id) = general else { continue };
            let proved = self.analysis.proves_region(
                &mut self.translation.algebra,
                &self.translation.input,
                id,
                RegionId(index as u32),
            );
            let region = RegionId(index as u32);
            verdicts.push((key.method, block.number, block.line, id, proved, region));
        }
        verdicts.sort_unstable();
        verdicts.dedup_by_key(|v| (v.0, v.1, v.2, v.3, v.4));
        for (method, number, line, id, proved, block) in verdicts {
            let mut region = self.region(method);
            region.block = Some(number);
            region.line = (line > 0).then_some(u32::from(line));
            if proved {
                self.add_proved(id, region, outcome);
                continue;
            }
            let finding = self.block_finding(method, id, region, block);
            outcome.findings.push(finding);
        }
    }

    /// Why a block is not proved.
    fn block_finding(
        &mut self,
        method: MethodId,
        id: input::MethodId,
        region: Region,
        block: RegionId,
    ) -> Finding {
        if let Some(violation) = self.analysis.indiscipline() {
            let mut finding = self.undisciplined(method, id, violation);
            finding.region = region;
            return finding;
        }
        let algebra = &mut self.translation.algebra;
        let (program, discipline) = (&self.translation.input, &self.analysis.discipline);
        let inferred = &self.analysis.inferred;
        let paths = inferred.paths(algebra, program, discipline, id);
        let inside = paths.and_then(|paths| paths.regions.get(&block).copied());
        let inside = inside.unwrap_or(Atomicity::CMPD);
        let fault = inferred.explain_region(algebra, program, discipline, id, block);
        let fault = fault.unwrap_or(Fault::Above(Valuation::default()));
        // Locks that only the body has names for say nothing to a reader.
        let local = |lock: &Lock| matches!(algebra.locks.root_of(*lock), Root::Local(_));
        let hidden: Vec<Lock> = algebra.support(inside).into_iter().filter(local).collect();
        let shown = hidden
            .into_iter()
            .fold(inside, |a, lock| algebra.forget(a, lock));
        let atomicity = self.print_in(method, shown);
        self.judged(region, atomicity, id, Some(block), &fault)
    }

    /// Why a method is not proved.
    fn method_finding(&mut self, method: MethodId, id: input::MethodId, fault: &Fault) -> Finding {
        let body = self.analysis.inferred.bodies[id.index()];
        let atomicity = self.print_in(method, body);
        let region = self.region(method);
        self.judged(region, atomicity, id, None, fault)
    }

    fn verdict(&mut self, method: input::MethodId) -> Verdict {
        self.analysis.verdict(
            &mut self.translation.algebra,
            &self.translation.input,
            method,
        )
    }

    /// An atomicity in the words of a method.
    pub(crate) fn print_in(&mut self, method: MethodId, atomicity: Atomicity) -> String {
        let names = self.annotations.all_parameter_names(self.program, method);
        print_atomicity(&mut self.translation.algebra, atomicity, &names)
    }

    pub(crate) fn describe_lock(&self, lock: Lock) -> String {
        self.translation.algebra.locks.describe(lock, &[])
    }

    pub(crate) fn region(&self, method: MethodId) -> Region {
        let classes = self.program.classes();
        let class = classes.method(method).class;
        let line = self.program.body(method).and_then(|body| {
            body.instrs
                .iter()
                .map(|instr| instr.line)
                .find(|&line| line > 0)
        });
        Region {
            class: Some(classes.class_name(class).replace('/', ".")),
            method: classes.method_name(method).to_owned(),
            descriptor: Some(classes.method_descriptor(method).to_owned()),
            file: self.file(method),
            line: line.map(u32::from),
            ..Region::default()
        }
    }

    fn file(&self, method: MethodId) -> Option<String> {
        let classes = self.program.classes();
        let class = classes.method(method).class;
        let name = classes.class(class).source_file?;
        Some(classes.names.name(name).to_owned())
    }
}
