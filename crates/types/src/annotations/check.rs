//! Declarations against what the analysis found: each one that does not hold is a finding.

use rustc_hash::FxHashSet;
use untorn_findings::{
    Assumed, Evidence, Finding, Kind, Place as Where, Region, Typing, Verdict as Claim,
};
use untorn_program::MethodId;

use super::enter::{Asserted, Bound};
use super::rests::resting;
use crate::algebra::Atomicity;
use crate::analysis::{assuming, is_atomic};
use crate::front::Key;
use crate::guards::Broken as Lost;
use crate::holding;
use crate::infer::{self, Limits, Violation};
use crate::input::{self, Effect, NodeId};
use crate::locks::Lock;
use crate::report::{Outcome, Typed};

/// Declarations that do not hold.
#[derive(Debug, Default)]
pub struct Broken {
    /// A finding for each.
    pub findings: Vec<Finding>,
    /// Methods whose finding this is already.
    pub methods: Vec<MethodId>,
}

impl Typed<'_> {
    /// Compares all declarations with what was found.
    pub(crate) fn broken_declarations(&mut self) -> Broken {
        let mut broken = Broken::default();
        self.broken_guards(&mut broken);
        self.broken_requirements(&mut broken);
        self.broken_bounds(&mut broken);
        self.broken_overrides(&mut broken);
        self.broken_redefinitions(&mut broken);
        self.broken_assertions(&mut broken);
        broken
    }

    fn broken_guards(&self, broken: &mut Broken) {
        let lost: Vec<&Lost> = (self.analysis.guarded.broken.iter())
            .filter(|lost| self.entered.guards.contains_key(&lost.field))
            .collect();
        for lost in lost {
            let declared = &self.entered.guards[&lost.field];
            let loss = self.loss(lost);
            let at = loss.place.as_ref().map_or_else(String::new, describe);
            let message = format!(
                "{} is declared {} ({}), but {}{at}.",
                loss.field, declared.text, declared.place, loss.why
            );
            let key = self.translation.fields[lost.field.index()];
            let classes = self.program.classes();
            let class = classes.field(key.field).class;
            let region = Region {
                class: Some(classes.class_name(class).replace('/', ".")),
                field: Some(classes.field_name(key.field).to_owned()),
                file: loss.place.as_ref().and_then(|place| place.file.clone()),
                line: loss.place.as_ref().and_then(|place| place.line),
                ..Region::default()
            };
            let typing = Typing {
                atomicity: "error".to_owned(),
                parts: Vec::new(),
                released: None,
                guards_lost: vec![loss],
            };
            broken
                .findings
                .push(finding(Kind::Race, region, message, vec![typing]));
        }
    }

    fn broken_requirements(&mut self, broken: &mut Broken) {
        for (method, lock) in self.analysis.guarded.unmet.clone() {
            let Some(place) = self.entered.requirements.get(&(method, lock)).cloned() else {
                continue;
            };
            let id = self.translation.methods[method.index()].method;
            let region = self.region(id);
            let name = self.describe_lock(lock);
            let blamed = self.caller_without(method, lock);
            let who = blamed.as_ref().map_or_else(
                || "not every caller does".to_owned(),
                |(caller, place)| format!("{caller} does not{}", describe(place)),
            );
            let message = format!(
                "Callers of {} are to hold {name} ({place}), but {who}.",
                region.short_name()
            );
            let kind = Kind::Untypable;
            broken
                .findings
                .push(finding(kind, region, message, Vec::new()));
        }
    }

    /// The first caller that does not hold a lock that a method requires.
    fn caller_without(&mut self, method: input::MethodId, lock: Lock) -> Option<(String, Where)> {
        let slots = &self.analysis.discipline.slots;
        let locks = &mut self.translation.algebra.locks;
        let (holdings, _) = holding::program_holdings(locks, &self.translation.input, slots);
        for (index, caller) in self.translation.input.methods.iter().enumerate() {
            let nodes = caller.body.iter().flat_map(|body| &body.nodes).enumerate();
            for (at, node) in nodes {
                let Effect::Call(targets) = &node.effect else {
                    continue;
                };
                let Some(target) = targets.iter().find(|target| target.method == method) else {
                    continue;
                };
                let theta = target.actuals.substitution(slots);
                let wanted = theta.apply(locks, lock);
                let state = holdings[index].get(at).and_then(Option::as_ref);
                let given = wanted.is_some_and(|wanted| {
                    self.analysis.guarded.holds[index].contains(&wanted)
                        || state.is_some_and(|state| state.held().any(|held| held == wanted))
                });
                if state.is_some() && !given {
                    let caller = self.translation.methods[index].method;
                    let name = self.region(caller).short_name();
                    let (id, node) = (input::MethodId(index as u32), NodeId(at as u32));
                    let place = self.site(id, node).and_then(|site| self.place(site));
                    return Some((name, place.unwrap_or_default()));
                }
            }
        }
        None
    }

    fn broken_bounds(&mut self, broken: &mut Broken) {
        let mut bounds: Vec<(input::MethodId, Bound)> = (self.entered.bounds.iter())
            .map(|(&id, bound)| (id, bound.clone()))
            .collect();
        bounds.sort_unstable_by_key(|(id, _)| *id);
        for (id, bound) in bounds {
            let input = &self.translation.input.methods[id.index()];
            let assumed = self.entered.assumed.iter().any(|(known, _)| *known == id);
            if input.body.is_none() || assumed {
                continue;
            }
            let body = self.analysis.inferred.bodies[id.index()];
            let algebra = &mut self.translation.algebra;
            // `atomic` alone speaks of the contexts that keep the discipline.
            let limit = if bound.atomicity == Atomicity::ATOMIC {
                algebra.excused(Atomicity::ATOMIC, body)
            } else {
                bound.atomicity
            };
            if algebra.leq(body, limit) {
                continue;
            }
            let fault = self.analysis.inferred.explain(
                &mut self.translation.algebra,
                &self.translation.input,
                &self.analysis.discipline,
                id,
                limit,
            );
            let method = self.translation.methods[id.index()].method;
            let found = self.print_in(method, body);
            let mut finding = match fault {
                Some(fault) => self.fault_finding(method, id, &fault),
                None => finding(
                    Kind::Untypable,
                    self.region(method),
                    String::new(),
                    Vec::new(),
                ),
            };
            let name = finding.region.short_name();
            let why = finding
                .message
                .strip_prefix(&format!("{name} is not shown atomic: "));
            let why = why.map_or_else(|| ".".to_owned(), |why| format!(": {why}"));
            finding.message = format!(
                "{name} is declared `{}` ({}), but is `{found}`{why}",
                bound.text, bound.place
            );
            broken.methods.push(method);
            broken.findings.push(finding);
        }
    }

    fn broken_overrides(&mut self, broken: &mut Broken) {
        for violation in self.analysis.inferred.violations.clone() {
            let Violation::Override { by, of } = violation else {
                continue;
            };
            let Some(bound) = self.entered.bounds.get(&of).cloned() else {
                continue;
            };
            let (method, above) = (
                self.translation.methods[by.index()].method,
                self.translation.methods[of.index()].method,
            );
            if broken.methods.contains(&method) {
                continue;
            }
            let own = self.analysis.inferred.methods[by.index()];
            let found = self.print_in(method, own);
            let region = self.region(method);
            let message = format!(
                "{} is `{found}`, but {}, which it implements, is declared `{}` ({}).",
                region.short_name(),
                self.region(above).short_name(),
                bound.text,
                bound.place
            );
            broken.methods.push(method);
            let kind = Kind::Untypable;
            broken
                .findings
                .push(finding(kind, region, message, Vec::new()));
        }
    }

    /// Methods that override one with a body whose declared atomicity they exceed (section 7.2).
    ///
    /// Calls through the overridden method run its overriders too, so they need no check of their own.
    fn broken_redefinitions(&mut self, broken: &mut Broken) {
        let mut bounds: Vec<(input::MethodId, Bound)> = (self.entered.bounds.iter())
            .map(|(id, bound)| (*id, bound.clone()))
            .collect();
        bounds.sort_unstable_by_key(|(id, _)| *id);
        for (of, bound) in bounds {
            let above = self.translation.methods[of.index()];
            let has_body = self.translation.input.methods[of.index()].body.is_some();
            if !has_body || above != Key::general(self.program.classes(), above.method) {
                continue;
            }
            for index in 0..self.translation.methods.len() {
                let by = self.translation.methods[index];
                let own = self.analysis.inferred.methods[index];
                if !self.redefines(by, above.method)
                    || broken.methods.contains(&by.method)
                    || self.translation.algebra.leq(own, bound.atomicity)
                {
                    continue;
                }
                let found = self.print_in(by.method, own);
                let region = self.region(by.method);
                let message = format!(
                    "{} is `{found}`, but {}, which it overrides, is declared `{}` ({}).",
                    region.short_name(),
                    self.region(above.method).short_name(),
                    bound.text,
                    bound.place
                );
                broken.methods.push(by.method);
                let kind = Kind::Untypable;
                broken
                    .findings
                    .push(finding(kind, region, message, Vec::new()));
            }
        }
    }

    /// Whether this is the general version of a method that runs instead of the other on objects of its class.
    fn redefines(&self, key: Key, above: MethodId) -> bool {
        let classes = self.program.classes();
        let class = classes.method(key.method).class;
        key.method != above
            && key == Key::general(classes, key.method)
            && !classes.is_constructor(above)
            && classes.is_subtype(class, classes.method(above).class)
            && classes.select(class, above) == Some(key.method)
    }

    /// Blocks that are asserted atomic and are not.
    fn broken_assertions(&mut self, broken: &mut Broken) {
        for asserted in self.unproved_assertions() {
            let region = self.asserted_region(&asserted);
            let inside = self.inside(&asserted);
            let found = inside.map_or_else(String::new, |a| {
                format!(": it is `{}`", self.print_in(asserted.method, a))
            });
            let message = format!(
                "A block of {} is declared `atomic` ({}), but the types do not show it{found}.",
                self.region(asserted.method).short_name(),
                asserted.place
            );
            let kind = Kind::Untypable;
            broken
                .findings
                .push(finding(kind, region, message, Vec::new()));
        }
    }

    /// Blocks that are asserted and proved; the others are findings already.
    pub(crate) fn asserted_blocks(&mut self, outcome: &mut Outcome) {
        let open = self.unproved_assertions();
        for asserted in self.entered.asserted.clone() {
            if !open.iter().any(|a| a.region == asserted.region) {
                let region = self.asserted_region(&asserted);
                if !outcome.proved.contains(&region) {
                    self.add_proved(asserted.id, region, outcome);
                }
            }
        }
    }

    /// A block that is asserted atomic; one that does not synchronize is counted behind those that do.
    fn asserted_region(&self, asserted: &Asserted) -> Region {
        let mut region = self.region(asserted.method);
        let locks = self.program.locks(asserted.method).regions().len() as u32;
        let plain = (self.entered.asserted.iter())
            .filter(|a| a.id == asserted.id && a.block.is_none() && a.region <= asserted.region)
            .count() as u32;
        region.block = asserted.block.or(Some(locks + plain));
        region.line = Some(asserted.line).filter(|&line| line > 0);
        region
    }

    /// Which proofs rest on which assumptions.
    pub(crate) fn believed(&self, outcome: &mut Outcome) {
        let resting = resting(&self.translation.input, &self.entered.assumptions);
        for (assumption, rests) in self.entered.assumptions.iter().zip(resting) {
            let names: FxHashSet<(Option<String>, String, Option<String>)> = (rests.iter())
                .map(|id| self.region(self.translation.methods[id.index()].method))
                .map(|region| (region.class, region.method, region.descriptor))
                .collect();
            let rests = |region: &&Region| {
                let Region {
                    class,
                    method,
                    descriptor,
                    ..
                } = (*region).clone();
                names.contains(&(class, method, descriptor))
            };
            let proofs = outcome.proved.iter().chain(&outcome.proved_if_sequential);
            let proofs = proofs.filter(rests).cloned().collect();
            outcome.assumed.push(Assumed {
                what: assumption.what.clone(),
                place: assumption.place.to_string(),
                proofs,
            });
        }
    }

    fn inside(&mut self, asserted: &Asserted) -> Option<Atomicity> {
        let paths = self.analysis.inferred.paths(
            &mut self.translation.algebra,
            &self.translation.input,
            &self.analysis.discipline,
            asserted.id,
        )?;
        paths.regions.get(&asserted.region).copied()
    }

    /// Asserted blocks that are compound in some context, unless no caller brings that context about.
    pub(crate) fn unproved_assertions(&mut self) -> Vec<Asserted> {
        let mut open = Vec::new();
        let broken = self.analysis.indiscipline().is_some();
        for asserted in self.entered.asserted.clone() {
            let inside = self.inside(&asserted);
            let proved =
                !broken && inside.is_some_and(|a| is_atomic(&mut self.translation.algebra, a));
            if !proved && inside.is_some() {
                open.push(asserted);
            }
        }
        open.retain(|asserted| self.contexts_occur(asserted));
        open
    }

    /// `[EXP ASSERT]`: with the compound contexts made errors, does some open method show one?
    fn contexts_occur(&mut self, open: &Asserted) -> bool {
        let mut program = self.translation.input.clone();
        for method in &mut program.methods {
            for node in method.body.iter_mut().flat_map(|body| &mut body.nodes) {
                if let Effect::Begin { region, asserted } = &mut node.effect {
                    *asserted = open.region == *region;
                }
            }
        }
        let program = assuming(&program, &self.entered.assumed).into_owned();
        let algebra = &mut self.translation.algebra;
        let known = &self.analysis.inferred.violations;
        let inferred = infer::infer(
            algebra,
            &program,
            &self.analysis.discipline,
            Limits::default(),
        );
        let breaks = |violation: &&Violation| {
            matches!(
                violation,
                Violation::Thread(..) | Violation::Undisciplined(_)
            )
        };
        let new = (inferred.violations.iter())
            .filter(breaks)
            .any(|violation| !known.contains(violation));
        new || known.iter().any(|violation| breaks(&violation))
    }
}

fn describe(place: &Where) -> String {
    let method = match (&place.class, &place.method) {
        (Some(class), Some(method)) => format!("{class}.{method} "),
        _ => String::new(),
    };
    match place.line {
        Some(line) => format!(" ({method}line {line})"),
        None => String::new(),
    }
}

fn finding(kind: Kind, region: Region, message: String, typings: Vec<Typing>) -> Finding {
    let evidence = Evidence {
        typings,
        ..Evidence::default()
    };
    Finding::new("types", kind, Claim::Suspected, region, message, evidence)
}
