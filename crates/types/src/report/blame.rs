//! Which single access took the guard away from what a region's parts access.

use untorn_program::{FieldId, MethodId};

use super::Typed;
use crate::basic::Basic;
use crate::guards::{Broken, Reason};
use crate::input::{self, Effect, NodeId};
use crate::path::Fault;

impl Typed<'_> {
    /// A sentence on the access that broke the guard of one of the parts; empty if no guard is missing there.
    pub(super) fn blame(&mut self, id: input::MethodId, fault: &Fault) -> String {
        let Fault::Torn(tear) = fault else {
            return String::new();
        };
        let nodes = [tear.second.node, tear.first.node];
        let broken = nodes.into_iter().find_map(|node| {
            let mut visited = Vec::new();
            self.loss_at(id, node, &mut visited)
        });
        broken.map_or_else(String::new, |broken| self.blame_text(&broken))
    }

    /// The lost guard behind a step: that of the field it accesses, or that of the first such field in what it calls.
    fn loss_at(
        &mut self,
        id: input::MethodId,
        node: NodeId,
        visited: &mut Vec<input::MethodId>,
    ) -> Option<Broken> {
        let body = self.translation.input.methods[id.index()].body.as_ref()?;
        match &body.nodes.get(node.index())?.effect {
            Effect::Access {
                field,
                confined: false,
                ..
            } => {
                let guarded = &self.analysis.guarded;
                let mut all = guarded.broken.iter().chain(&guarded.weak);
                all.find(|broken| broken.field == *field).cloned()
            }
            Effect::Call(targets) => {
                let callees: Vec<input::MethodId> = targets.iter().map(|t| t.method).collect();
                callees.into_iter().find_map(|callee| {
                    if visited.contains(&callee) {
                        return None;
                    }
                    visited.push(callee);
                    let steps = self.steps_of(callee);
                    let mut steps = steps.into_iter();
                    steps.find_map(|step| self.loss_at(callee, step, visited))
                })
            }
            _ => None,
        }
    }

    /// The nodes of a body that are no movers in some context.
    fn steps_of(&mut self, id: input::MethodId) -> Vec<NodeId> {
        let algebra = &mut self.translation.algebra;
        let paths = self.analysis.inferred.paths(
            algebra,
            &self.translation.input,
            &self.analysis.discipline,
            id,
        );
        let Some(paths) = paths else {
            return Vec::new();
        };
        let is_step = |basic: &Basic| matches!(basic, Basic::Atomic | Basic::Cmpd);
        (0..paths.effects.len() as u32)
            .map(NodeId)
            .filter(|node| {
                algebra
                    .outcomes(paths.effects[node.index()])
                    .iter()
                    .any(is_step)
            })
            .collect()
    }

    fn blame_text(&self, broken: &Broken) -> String {
        let key = self.translation.fields[broken.field.index()];
        let Reason::Access {
            method,
            node,
            through,
        } = &broken.reason
        else {
            return String::new();
        };
        let Some(site) = self.site(*method, *node) else {
            return String::new();
        };
        let (Some(lock), Some(info)) = (broken.candidate, self.translation.sites.get(site)) else {
            return String::new();
        };
        let what = if key.content {
            format!("what {} holds", self.field_text(key.field))
        } else {
            self.field_text(key.field)
        };
        let caller = through.last().map_or_else(String::new, |&(caller, _)| {
            let caller = self.translation.methods[caller.index()].method;
            format!(", called from {}", self.method_text(caller))
        });
        let line = match info.line {
            0 => String::new(),
            line => format!(" at line {line}"),
        };
        let more = match broken.accesses {
            0 | 1 => String::new(),
            2 => ", and so does one more access".to_owned(),
            n => format!(", and so do {} more accesses", n - 1),
        };
        format!(
            " No lock guards every access to {what}: {} comes{line} without {}{caller}{more}.",
            self.method_text(info.method),
            self.describe_lock(lock),
        )
    }

    /// A field as it is called in a sentence.
    pub(super) fn field_text(&self, field: FieldId) -> String {
        let classes = self.program.classes();
        let class = classes.class_name(classes.field(field).class);
        format!("{}.{}", simple(class), classes.field_name(field))
    }

    /// A method as it is called in a sentence.
    pub(super) fn method_text(&self, method: MethodId) -> String {
        let classes = self.program.classes();
        let class = classes.class_name(classes.method(method).class);
        signature(
            simple(class),
            classes.method_name(method),
            classes.method_descriptor(method),
        )
    }
}

/// The name of a class without its package.
fn simple(class: &str) -> &str {
    class.rsplit('/').next().unwrap_or(class)
}

/// `Vector.add(int, Object)`: a method with the simple names of its parameters' classes.
pub fn signature(class: &str, name: &str, descriptor: &str) -> String {
    let mut parameters = Vec::new();
    let inside = descriptor.split(')').next().unwrap_or_default();
    let mut rest = inside.trim_start_matches('(');
    while !rest.is_empty() {
        let element = rest.trim_start_matches('[');
        let dimensions = rest.len() - element.len();
        let end = match element.find(';') {
            Some(end) if element.starts_with('L') => end + 1,
            _ => element.len().min(1),
        };
        let text = match &element[..end] {
            "Z" => "boolean",
            "B" => "byte",
            "C" => "char",
            "S" => "short",
            "I" => "int",
            "J" => "long",
            "F" => "float",
            "D" => "double",
            class => simple(class.trim_start_matches('L').trim_end_matches(';')),
        };
        parameters.push(format!("{text}{}", "[]".repeat(dimensions)));
        rest = &element[end..];
    }
    format!("{class}.{name}({})", parameters.join(", "))
}

#[cfg(test)]
mod tests {
    use super::signature;

    #[test]
    fn a_signature_shows_what_tells_methods_apart() {
        let text = signature("Vector", "add", "(I[[Ljava/lang/Object;J)Ljava/util/List;");
        assert_eq!(text, "Vector.add(int, Object[][], long)");
        assert_eq!(signature("A", "b", "()V"), "A.b()");
        assert_eq!(signature("A", "b", "(L"), "A.b()", "broken text ends");
    }
}
