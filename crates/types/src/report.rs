//! Verdicts as findings: what is proved, and for the rest which parts do not compose, on source lines.

use rustc_hash::FxHashMap;
use untorn_findings::{
    Evidence, Finding, GuardLoss, Kind, Place, Region, Typing, TypingPart, Verdict as Claim,
};
use untorn_program::{MethodId, Program};

use crate::algebra::Atomicity;
use crate::analysis::{Analysis, Verdict, analyze};
use crate::front::models::BadModel;
use crate::front::{Key, Options, SiteInfo, Translation, What, translate};
use crate::guards::{Broken, Reason, SolveError};
use crate::infer::{Limits, Violation};
use crate::input::{self, Effect, Guard, NodeId, RegionId, Site};
use crate::locks::Lock;
use crate::notation::print_atomicity;
use crate::path::{Fault, Part};

/// Why there are no types.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The models that come with the crate are broken.
    #[error(transparent)]
    Model(#[from] BadModel),
    /// The solver gave up.
    #[error(transparent)]
    Solver(#[from] SolveError),
}

/// A typed program.
#[derive(Debug)]
pub struct Typed<'a> {
    program: &'a Program,
    translation: Translation,
    analysis: Analysis,
    ids: FxHashMap<Key, input::MethodId>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Regions that ought to be atomic and are not shown to be.
    pub findings: Vec<Finding>,
    /// Regions that ought to be atomic and are.
    pub proved: Vec<Region>,
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
}

impl<'a> Typed<'a> {
    /// Translates and types a program.
    pub fn new(program: &'a Program) -> Result<Typed<'a>, Error> {
        Typed::with(program, Options::default())
    }

    /// Translates and types a program, with assumptions of the user's.
    pub fn with(program: &'a Program, options: Options) -> Result<Typed<'a>, Error> {
        let mut translation = translate(program, options)?;
        let analysis = analyze(
            &mut translation.algebra,
            &translation.input,
            Limits::default(),
        )?;
        let ids = translation
            .methods
            .iter()
            .enumerate()
            .map(|(index, &key)| (key, input::MethodId(index as u32)))
            .collect();
        Ok(Typed {
            program,
            translation,
            analysis,
            ids,
        })
    }

    /// The version of a method that anyone may call.
    fn general(&self, method: MethodId) -> Option<input::MethodId> {
        let fresh = self.program.classes().is_constructor(method);
        self.ids.get(&Key { method, fresh }).copied()
    }

    /// The inferred type of a method, in the notation of annotations; nothing if it cannot be reached.
    pub fn type_of(&mut self, method: MethodId) -> Option<String> {
        let id = self.general(method)?;
        let atomicity = self.analysis.inferred.bodies[id.index()];
        Some(self.print(atomicity))
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
                return text;
            }
            Verdict::Unknown => return text,
            Verdict::Unproved(fault) => self.fault_finding(method, id, &fault),
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
                "  {} has no guard: {}{place}\n",
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
        }
    }

    /// Verdicts on all methods and blocks that ought to be atomic.
    pub fn outcome(&mut self, ought: &dyn Fn(MethodId, Option<u32>) -> bool) -> Outcome {
        let mut outcome = Outcome::default();
        let classes = self.program.classes();
        let mut methods: Vec<MethodId> =
            self.translation.methods.iter().map(|k| k.method).collect();
        methods.sort_unstable();
        methods.dedup();
        for method in methods {
            if classes.method_name(method).starts_with('<') || !ought(method, None) {
                continue;
            }
            let Some(id) = self.general(method) else {
                continue;
            };
            match self.verdict(id) {
                Verdict::Proved => outcome.proved.push(self.region(method)),
                Verdict::Unknown => {}
                Verdict::Unproved(fault) => {
                    let finding = self.fault_finding(method, id, &fault);
                    outcome.findings.push(finding);
                }
                Verdict::Undisciplined(violation) => {
                    let finding = self.undisciplined(method, id, violation);
                    outcome.findings.push(finding);
                }
            }
        }
        self.blocks(ought, &mut outcome);
        outcome
    }

    fn blocks(&mut self, ought: &dyn Fn(MethodId, Option<u32>) -> bool, outcome: &mut Outcome) {
        let mut verdicts: Vec<(MethodId, u32, u16, bool)> = Vec::new();
        for (index, (key, block)) in self.translation.blocks.clone().into_iter().enumerate() {
            let general = self.general(key.method);
            if general != self.ids.get(&key).copied() || !ought(key.method, Some(block.number)) {
                continue;
            }
            let Some(id) = general else { continue };
            let proved = self.analysis.proves_region(
                &mut self.translation.algebra,
                &self.translation.input,
                id,
                RegionId(index as u32),
            );
            verdicts.push((key.method, block.number, block.line, proved));
        }
        verdicts.sort_unstable();
        verdicts.dedup();
        for (method, number, line, proved) in verdicts {
            let mut region = self.region(method);
            region.block = Some(number);
            region.line = (line > 0).then_some(u32::from(line));
            if proved {
                outcome.proved.push(region);
                continue;
            }
            let message = format!("The types do not show {} atomic.", region.short_name());
            outcome.findings.push(Finding::new(
                "types",
                Kind::Untypable,
                Claim::Suspected,
                region,
                message,
                Evidence::default(),
            ));
        }
    }

    fn verdict(&mut self, method: input::MethodId) -> Verdict {
        self.analysis.verdict(
            &mut self.translation.algebra,
            &self.translation.input,
            method,
        )
    }

    fn print(&mut self, atomicity: Atomicity) -> String {
        print_atomicity(&mut self.translation.algebra, atomicity, &[])
    }

    fn describe_lock(&self, lock: Lock) -> String {
        self.translation.algebra.locks.describe(lock, &[])
    }

    fn region(&self, method: MethodId) -> Region {
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
        let package = classes.package(class);
        let file = classes.names.name(name);
        Some(if package.is_empty() {
            file.to_owned()
        } else {
            format!("{package}/{file}")
        })
    }

    fn place(&self, site: Site) -> Option<Place> {
        let info = self.translation.sites.get(site)?;
        let classes = self.program.classes();
        Some(Place {
            class: Some(
                classes
                    .class_name(classes.method(info.method).class)
                    .replace('/', "."),
            ),
            method: Some(classes.method_name(info.method).to_owned()),
            file: self.file(info.method),
            line: (info.line > 0).then_some(u32::from(info.line)),
        })
    }

    fn describe(&self, info: &SiteInfo) -> String {
        let classes = self.program.classes();
        let verb = |write: bool| if write { "writes" } else { "reads" };
        let simple = |text: String| text.replace('/', ".");
        match info.what {
            What::Entry => "begins".to_owned(),
            What::Access { field, write } => {
                simple(format!("{} {}", verb(write), classes.describe_field(field)))
            }
            What::Elements { field, write } => simple(format!(
                "{} what {} holds",
                verb(write),
                classes.describe_field(field)
            )),
            What::Unowned {
                field: Some(field),
                write,
            } => {
                let spilled = self.translation.shared_content.get(&field);
                let place = spilled.map_or_else(String::new, |(method, line)| {
                    format!(" since {} line {line}", classes.describe_method(*method))
                });
                simple(format!(
                    "{} what {} holds, which others may hold too{place}",
                    verb(write),
                    classes.describe_field(field)
                ))
            }
            What::Unowned { field: None, write } => {
                format!("{} an object that others may hold too", verb(write))
            }
            What::Acquire(lock) => format!("takes {}", self.describe_lock(lock)),
            What::Release(lock) => format!("gives back {}", self.describe_lock(lock)),
            What::Call(method) => simple(format!("calls {}", classes.describe_method(method))),
            What::Library(method) => simple(format!(
                "calls {}, which is not analyzed",
                classes.describe_method(method)
            )),
            What::Unknown(method) => simple(format!(
                "calls {}, of which not every implementation is known",
                classes.describe_method(method)
            )),
            What::Text => "turns a value into text by a method of its own".to_owned(),
            What::Dynamic => "runs a dynamic call site that is not understood".to_owned(),
        }
    }

    fn site(&self, method: input::MethodId, node: NodeId) -> Option<Site> {
        let body = self
            .translation
            .input
            .methods
            .get(method.index())?
            .body
            .as_ref()?;
        Some(body.nodes.get(node.index())?.site)
    }

    fn part(&self, method: input::MethodId, node: NodeId, atomicity: &str) -> TypingPart {
        let site = self.site(method, node);
        let info = site.and_then(|site| self.translation.sites.get(site));
        TypingPart {
            what: info.map_or_else(String::new, |info| self.describe(info)),
            atomicity: atomicity.to_owned(),
            place: site.and_then(|site| self.place(site)),
        }
    }

    /// Follows a compound call into its callee, down to the parts that do not compose.
    fn deepest(
        &mut self,
        mut id: input::MethodId,
        fault: &Fault,
    ) -> (Vec<TypingPart>, input::MethodId, Fault) {
        let mut fault = fault.clone();
        let mut calls = Vec::new();
        let mut visited = vec![id];
        while let Fault::Torn(tear) = &fault {
            if tear.first.node != tear.second.node {
                break;
            }
            let node = tear.first.node;
            let body = self.translation.input.methods[id.index()].body.as_ref();
            let Some(Effect::Call(targets)) = body.map(|body| &body.nodes[node.index()].effect)
            else {
                break;
            };
            let callees: Vec<input::MethodId> = targets.iter().map(|t| t.method).collect();
            let mut next = None;
            for callee in callees {
                if !visited.contains(&callee)
                    && let Some(inner) = self.essential_fault(callee)
                {
                    next = Some((callee, inner));
                    break;
                }
            }
            let Some((callee, inner)) = next else { break };
            calls.push(self.part(id, node, tear.first.atomicity.name()));
            visited.push(callee);
            (id, fault) = (callee, inner);
        }
        (calls, id, fault)
    }

    /// Why a method is not atomic even when every lock it asks for is held.
    fn essential_fault(&mut self, method: input::MethodId) -> Option<Fault> {
        let algebra = &mut self.translation.algebra;
        let program = &self.translation.input;
        let inferred = &self.analysis.inferred;
        let discipline = &self.analysis.discipline;
        let paths = inferred.paths(algebra, program, discipline, method)?;
        let mut bound = Atomicity::ATOMIC;
        for effect in paths.effects.iter().chain([&paths.whole]) {
            for lock in algebra.support(*effect) {
                bound = algebra.held(lock, bound, Atomicity::ERROR);
            }
        }
        inferred.explain(algebra, program, discipline, method, bound)
    }

    fn fault_finding(&mut self, method: MethodId, id: input::MethodId, fault: &Fault) -> Finding {
        let body = self.analysis.inferred.bodies[id.index()];
        let atomicity = self.print(body);
        let region = self.region(method);
        let name = region.short_name();
        let (calls, id, fault) = self.deepest(id, fault);
        let part = |part: &Part| self.part(id, part.node, part.atomicity.name());
        let (parts, released, nodes) = match &fault {
            Fault::Torn(tear) => {
                let mut parts = vec![part(&tear.first)];
                if tear.second.node != tear.first.node {
                    parts.push(part(&tear.second));
                }
                let released = tear.released.map(|(node, _)| self.part(id, node, "left"));
                (parts, released, tear.trail.clone())
            }
            Fault::Undisciplined { node, trail, .. } => {
                (vec![self.part(id, *node, "error")], None, trail.clone())
            }
            Fault::Above(_) => (Vec::new(), None, Vec::new()),
        };
        let message = message(&name, &calls, &parts, released.as_ref());
        let guards_lost = self.guards_lost(id, &nodes);
        let evidence = Evidence {
            typings: vec![Typing {
                atomicity,
                parts: calls.into_iter().chain(parts).collect(),
                released,
                guards_lost,
            }],
            ..Evidence::default()
        };
        Finding::new(
            "types",
            Kind::Untypable,
            Claim::Suspected,
            region,
            message,
            evidence,
        )
    }

    fn undisciplined(
        &mut self,
        method: MethodId,
        id: input::MethodId,
        violation: Violation,
    ) -> Finding {
        let body = self.analysis.inferred.bodies[id.index()];
        let atomicity = self.print(body);
        let region = self.region(method);
        let culprit = match violation {
            Violation::Body(m)
            | Violation::Thread(m, _)
            | Violation::Undisciplined(m)
            | Violation::Override { by: m, .. } => self.translation.methods[m.index()].method,
        };
        let message = format!(
            "Nothing is shown atomic: {} does not keep to the locks that others rely on.",
            self.program
                .classes()
                .describe_method(culprit)
                .replace('/', ".")
        );
        let typing = Typing {
            atomicity,
            parts: Vec::new(),
            released: None,
            guards_lost: Vec::new(),
        };
        let evidence = Evidence {
            typings: vec![typing],
            ..Evidence::default()
        };
        Finding::new(
            "types",
            Kind::Untypable,
            Claim::Suspected,
            region,
            message,
            evidence,
        )
    }

    /// The guards that fields on the path have lost, and why.
    fn guards_lost(&self, method: input::MethodId, nodes: &[NodeId]) -> Vec<GuardLoss> {
        let Some(body) = self.translation.input.methods[method.index()].body.as_ref() else {
            return Vec::new();
        };
        let mut lost: Vec<GuardLoss> = Vec::new();
        for node in nodes {
            let Effect::Access {
                field,
                confined: false,
                ..
            } = body.nodes[node.index()].effect
            else {
                continue;
            };
            let broken = self
                .analysis
                .guarded
                .broken
                .iter()
                .find(|b| b.field == field);
            if let Some(loss) = broken.map(|broken| self.loss(broken))
                && !lost.contains(&loss)
            {
                lost.push(loss);
            }
        }
        lost
    }

    fn loss(&self, broken: &Broken) -> GuardLoss {
        let classes = self.program.classes();
        let key = self.translation.fields[broken.field.index()];
        let mut field = classes.describe_field(key.field).replace('/', ".");
        if key.content {
            field.push_str(" (content)");
        }
        let candidate = broken.candidate.map(|lock| self.describe_lock(lock));
        let lock = candidate.clone().unwrap_or_else(|| "its lock".to_owned());
        let (place, why) = match &broken.reason {
            Reason::Access {
                method,
                node,
                through,
            } => {
                let place = self.site(*method, *node).and_then(|site| self.place(site));
                let others = match broken.accesses {
                    0 | 1 => String::new(),
                    n => format!(", and at {} more places", n - 1),
                };
                let why = match through.last() {
                    None => format!("{lock} is not held here{others}"),
                    Some(&(caller, _)) => format!(
                        "{lock} is not held here when called from {}{others}",
                        classes
                            .describe_method(self.translation.methods[caller.index()].method)
                            .replace('/', ".")
                    ),
                };
                (place, why)
            }
            Reason::Conflict => (
                None,
                format!("{lock} does not fit the guards of other fields"),
            ),
        };
        GuardLoss {
            field,
            candidate,
            place,
            why,
        }
    }
}

fn message(
    name: &str,
    calls: &[TypingPart],
    parts: &[TypingPart],
    released: Option<&TypingPart>,
) -> String {
    let at = |part: &TypingPart| {
        let line = part.place.as_ref().and_then(|place| place.line);
        let line = line.map_or_else(String::new, |line| format!(" (line {line})"));
        format!("{}{line}", part.what)
    };
    let mut text = format!("{name} is not shown atomic: it ");
    for call in calls {
        text.push_str(&at(call));
        text.push_str(", which ");
    }
    match parts {
        [one] if one.atomicity == "error" => {
            text.push_str(&format!("{} without the lock that guards it.", at(one)));
        }
        [one] => text.push_str(&format!("{}, which is not one step.", at(one))),
        [first, second, ..] => {
            let between = released.map_or_else(String::new, |part| format!(", {}", at(part)));
            text.push_str(&format!(
                "{}{between}, and then {}; others can come in between.",
                at(first),
                at(second)
            ));
        }
        [] => text.push_str("has no single place to blame."),
    }
    text
}
