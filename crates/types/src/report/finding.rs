//! Findings in words: the parts that do not compose, the lock given back between them, and the guards that were lost.

use untorn_findings::{
    Evidence, Finding, GuardLoss, Kind, Place, Region, Typing, TypingPart, Verdict as Claim,
};
use untorn_program::MethodId;

use super::Typed;
use crate::algebra::{Atomicity, Valuation};
use crate::front::{SiteInfo, What};
use crate::guards::{Broken, Reason};
use crate::infer::Violation;
use crate::input::{self, Effect, NodeId, Site};
use crate::path::{Fault, Part};

impl Typed<'_> {
    pub(crate) fn place(&self, site: Site) -> Option<Place> {
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

    pub(super) fn describe(&self, info: &SiteInfo) -> String {
        let verb = |write: bool| if write { "writes" } else { "reads" };
        match info.what {
            What::Entry => "begins".to_owned(),
            What::Access { field, write } => {
                format!("{} {}", verb(write), self.field_text(field))
            }
            What::Elements { field, write } => {
                format!("{} what {} holds", verb(write), self.field_text(field))
            }
            What::Unowned {
                field: Some(field),
                write,
            } => {
                let spilled = self.translation.shared_content.get(&field);
                let place = spilled.map_or_else(String::new, |(method, line)| {
                    let line = match line {
                        0 => String::new(),
                        line => format!(" line {line}"),
                    };
                    format!(" since {}{line}", self.method_text(*method))
                });
                format!(
                    "{} what {} holds, which others may hold too{place}",
                    verb(write),
                    self.field_text(field)
                )
            }
            What::Unowned { field: None, write } => {
                format!("{} an object that others may hold too", verb(write))
            }
            What::Passed { write } => format!(
                "{} the content of an argument, which its caller may share",
                verb(write)
            ),
            What::Acquire(lock) => format!("takes {}", self.describe_lock(lock)),
            What::Release(lock) => format!("gives back {}", self.describe_lock(lock)),
            What::Call(method) => format!("calls {}", self.method_text(method)),
            What::Library(method) => format!("calls {}", self.method_text(method)),
            What::Unmodelled(method) => {
                format!("calls {}, which is not analyzed", self.method_text(method))
            }
            What::Unknown(method) => format!(
                "calls {}, of which not every implementation is known",
                self.method_text(method)
            ),
            What::Text => "turns a value into text by a method of its own".to_owned(),
            What::Dynamic => "runs a dynamic call site that is not understood".to_owned(),
        }
    }

    pub(crate) fn site(&self, method: input::MethodId, node: NodeId) -> Option<Site> {
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
        let what = info.map_or_else(String::new, |info| self.describe(info));
        TypingPart {
            what,
            atomicity: atomicity.to_owned(),
            place: site.and_then(|site| self.place(site)),
        }
    }

    /// Follows a compound call into its callee, down to the parts that do not compose.
    pub(super) fn deepest(
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
            let mut targets = targets.clone();
            targets.retain(|target| !visited.contains(&target.method));
            let inner = targets.iter().find_map(|target| {
                let inner = self.fault_in_call((id, node, target), &tear.situation)?;
                Some((target.method, inner))
            });
            let Some((callee, inner)) = inner else { break };
            calls.push(self.part(id, node, tear.first.atomicity.name()));
            visited.push(callee);
            (id, fault) = (callee, inner);
        }
        (calls, id, fault)
    }

    /// Why a callee is compound where it is called, or else even when every lock it asks for is held.
    fn fault_in_call(
        &mut self,
        call: (input::MethodId, NodeId, &input::Target),
        situation: &Valuation,
    ) -> Option<Fault> {
        let here = self.analysis.inferred.explain_call(
            &mut self.translation.algebra,
            &self.translation.input,
            &self.analysis.discipline,
            call,
            situation,
        );
        here.or_else(|| self.essential_fault(call.2.method))
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

    pub(crate) fn fault_finding(
        &mut self,
        method: MethodId,
        id: input::MethodId,
        fault: &Fault,
    ) -> Finding {
        let body = self.analysis.inferred.bodies[id.index()];
        let atomicity = self.print_in(method, body);
        let region = self.region(method);
        let (calls, id, fault) = self.deepest(id, fault);
        self.told((region, atomicity), calls, id, &fault, Claim::Suspected)
    }

    /// A finding on a region of this type, told from the calls down to where its parts do not compose.
    pub(super) fn told(
        &mut self,
        (region, atomicity): (Region, String),
        calls: Vec<TypingPart>,
        id: input::MethodId,
        fault: &Fault,
        claim: Claim,
    ) -> Finding {
        let name = region.short_name();
        let part = |part: &Part| self.part(id, part.node, part.atomicity.name());
        let (parts, released, nodes) = match fault {
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
        let mut message = message(&name, &calls, &parts, released.as_ref());
        message.push_str(&self.blame(id, fault));
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
        Finding::new("types", Kind::Untypable, claim, region, message, evidence)
    }

    pub(super) fn undisciplined(
        &mut self,
        method: MethodId,
        id: input::MethodId,
        violation: Violation,
    ) -> Finding {
        let body = self.analysis.inferred.bodies[id.index()];
        let atomicity = self.print_in(method, body);
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
            let guarded = &self.analysis.guarded;
            let mut all = guarded.broken.iter().chain(&guarded.weak);
            let broken = all.find(|broken| broken.field == field);
            if let Some(loss) = broken.map(|broken| self.loss(broken))
                && !lost.contains(&loss)
            {
                lost.push(loss);
            }
        }
        lost
    }

    pub(crate) fn loss(&self, broken: &Broken) -> GuardLoss {
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
        let counted = broken.candidate.is_some() && matches!(broken.reason, Reason::Access { .. });
        GuardLoss {
            field,
            candidate,
            held: counted.then(|| u32::try_from(broken.kept).unwrap_or(u32::MAX)),
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
        [one] if one.atomicity == "cmpd" => {
            text.push_str(&format!("{}, which is not one step.", at(one)));
        }
        // The same step in the next round of a loop.
        [one] => text.push_str(&format!(
            "{}, and then does so again; others can come in between.",
            at(one)
        )),
        [first, second, ..] => {
            let between = released
                .filter(|part| part.what != first.what)
                .map_or_else(String::new, |part| format!(", {}", at(part)));
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
