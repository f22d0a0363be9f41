//! Whether a region that is not shown atomic can be torn, or whether somebody only cannot see.
//!
//! A second typing takes what nobody knows for harmless: unknown and undescribed calls touch nothing.
//! What is proved then is *unproved* for want of knowledge.
//! For the rest, first around the parts that do not compose and then anywhere in the region, the two accesses of the region are looked for that another method can come between: a method that anyone may call, by whose accesses neither order of the two is equivalent to what happens, and which no lock keeps out.
//!
//! May miss: a tear that takes more than one other method, two objects that have no name, or accesses deep in recursions.
//! May over-report: the other method may never run at that time, or on that object.

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_findings::{Finding, Region, Verdict as Claim};
use untorn_program::MethodId;
use untorn_program::classes::ClassKind;

use super::Typed;
use crate::algebra::Atomicity;
use crate::analysis::assuming;
use crate::front::{FieldKey, What};
use crate::infer::{Inferred, Limits, infer};
use crate::input::{self, Effect, Guard, NodeId, RegionId, Site};
use crate::locks::{Lock, Locks, Root};
use crate::path::Fault;

/// The typing in which nobody does harm of whom nothing is known.
#[derive(Debug)]
pub(super) struct Optimist {
    input: input::Program,
    inferred: Inferred,
}

/// One access to what other threads may access too.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Access {
    what: FieldKey,
    write: bool,
    site: Site,
    /// Whose field, in the words of the method that is looked at.
    object: Option<Lock>,
    /// Locks held there, in the same words.
    held: Vec<Lock>,
}

/// Accesses of methods, callees included, and who accesses what.
#[derive(Debug, Default)]
pub(super) struct Accesses {
    of: FxHashMap<input::MethodId, Vec<Access>>,
    /// By field the open methods that access it.
    by: Option<FxHashMap<FieldKey, Vec<input::MethodId>>>,
}

/// More accesses of one method are not looked at.
const MOST_ACCESSES: usize = 400;
/// More methods that access one field are not looked at.
const MOST_METHODS: usize = 40;
/// More accesses on either side of a tear are not looked at.
const MOST_PARTS: usize = 24;
/// More pairs of accesses of one region are not looked at.
const MOST_PAIRS: usize = 2000;

impl Typed<'_> {
    /// What is said of a method, or a block in it, that is not proved because of a fault.
    pub(super) fn judged(
        &mut self,
        region: Region,
        atomicity: String,
        id: input::MethodId,
        block: Option<RegionId>,
        fault: &Fault,
    ) -> Finding {
        let known = (region.clone(), atomicity.clone());
        let suspicion = self.optimistically(|typed| typed.suspicion(known.0, known.1, id, block));
        if let Some(finding) = suspicion {
            return finding;
        }
        let (calls, id, fault) = self.deepest(id, fault);
        self.count_stops(id, &fault);
        self.told((region, atomicity), calls, id, &fault, Claim::Unproved)
    }

    /// Counts the calls that nobody knows and that a proof ends at.
    fn count_stops(&mut self, id: input::MethodId, fault: &Fault) {
        let Fault::Torn(tear) = fault else {
            return;
        };
        let mut found: Vec<MethodId> = [tear.first.node, tear.second.node]
            .into_iter()
            .filter_map(|node| {
                let site = self.site(id, node)?;
                match self.translation.sites.get(site)?.what {
                    What::Unmodelled(method) | What::Unknown(method) => Some(method),
                    _ => None,
                }
            })
            .collect();
        found.dedup();
        for method in found {
            *self.stops.entry(method).or_default() += 1;
        }
    }

    /// The calls of unknown code that proofs end at, those first that stop most, and how many each stops.
    pub fn stops(&self) -> Vec<(String, usize)> {
        let classes = self.program.classes();
        let mut all: Vec<(String, usize)> = (self.stops.iter())
            .map(|(&method, &count)| (classes.describe_method(method).replace('/', "."), count))
            .collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        all
    }

    /// Under the second typing.
    fn optimistically<R>(&mut self, look: impl FnOnce(&mut Self) -> R) -> R {
        let mut optimist = match self.optimist.take() {
            Some(optimist) => optimist,
            None => self.believe(),
        };
        std::mem::swap(&mut self.translation.input, &mut optimist.input);
        std::mem::swap(&mut self.analysis.inferred, &mut optimist.inferred);
        let found = look(self);
        std::mem::swap(&mut self.translation.input, &mut optimist.input);
        std::mem::swap(&mut self.analysis.inferred, &mut optimist.inferred);
        self.optimist = Some(optimist);
        found
    }

    fn believe(&mut self) -> Optimist {
        let mut input = self.translation.input.clone();
        let sites = &self.translation.sites;
        let nodes = (input.methods.iter_mut())
            .filter_map(|method| method.body.as_mut())
            .flat_map(|body| &mut body.nodes);
        for node in nodes {
            let Effect::Does(does) = &mut node.effect else {
                continue;
            };
            match sites.get(node.site).map(|info| info.what) {
                // At least it accesses what it is called on.
                Some(What::Unmodelled(_)) if sites.content(node.site).is_some() => {
                    *does = Atomicity::ATOMIC;
                }
                Some(
                    What::Unmodelled(_)
                    | What::Unknown(_)
                    | What::Text
                    | What::Dynamic
                    | What::Passed { .. }
                    | What::Unowned { field: None, .. },
                ) => *does = Atomicity::CONST,
                _ => {}
            }
        }
        let algebra = &mut self.translation.algebra;
        let assumed = assuming(&input, &self.entered.assumed);
        let inferred = infer(
            algebra,
            &assumed,
            &self.analysis.discipline,
            Limits::default(),
        );
        Optimist { input, inferred }
    }

    /// The finding on a region that another method can come into; nothing if it is proved by this typing, or nobody is found.
    fn suspicion(
        &mut self,
        region: Region,
        atomicity: String,
        id: input::MethodId,
        block: Option<RegionId>,
    ) -> Option<Finding> {
        let fault = self.fault(id, block)?;
        let (calls, at, inner) = self.deepest(id, &fault);
        let conflict = self.most_telling(id, block, &fault, (at, &inner))?;
        let mut finding = self.told((region, atomicity), calls, at, &inner, Claim::Suspected);
        finding.message.push_str(&self.conflict_text(&conflict));
        Some(finding)
    }

    /// In words, the accesses of a method that another method can come between.
    pub(crate) fn evidence(&mut self, id: input::MethodId) -> Option<String> {
        self.optimistically(|typed| {
            let fault = typed.fault(id, None)?;
            let (_, at, inner) = typed.deepest(id, &fault);
            let conflict = typed.most_telling(id, None, &fault, (at, &inner))?;
            Some(typed.conflict_text(&conflict).trim().to_owned())
        })
    }

    /// The conflict that says most of why a region is not atomic: that of the parts at the end of the chain of calls, or else of any two accesses.
    fn most_telling(
        &mut self,
        id: input::MethodId,
        block: Option<RegionId>,
        fault: &Fault,
        (at, inner): (input::MethodId, &Fault),
    ) -> Option<[Access; 3]> {
        let inside = block.map(|block| self.nodes_in(id, block));
        let of = |method| inside.as_ref().filter(|_| method == id);
        (self.conflict(at, inner, of(at)))
            .or_else(|| self.conflict(id, fault, of(id)))
            .or_else(|| self.any_conflict(id, inside.as_ref()))
    }

    /// The nodes of a block.
    fn nodes_in(&self, id: input::MethodId, block: RegionId) -> FxHashSet<NodeId> {
        let mut inside = FxHashSet::default();
        let Some(body) = &self.translation.input.methods[id.index()].body else {
            return inside;
        };
        let begins = |node: &input::Node| matches!(node.effect, Effect::Begin { region, .. } if region == block);
        let first = (0..body.nodes.len() as u32).map(NodeId);
        let mut work: Vec<(NodeId, u32)> = first
            .filter(|node| begins(&body.nodes[node.index()]))
            .map(|node| (node, 0))
            .collect();
        let mut seen = FxHashSet::default();
        while let Some((at, depth)) = work.pop() {
            let Some(node) = body.nodes.get(at.index()) else {
                continue;
            };
            if !seen.insert((at, depth)) || depth > 20 {
                continue;
            }
            inside.insert(at);
            let depth = match node.effect {
                Effect::Begin { .. } => depth + 1,
                Effect::End => depth.saturating_sub(1),
                _ => depth,
            };
            if depth > 0 {
                work.extend(node.next.iter().map(|&next| (next, depth)));
            }
        }
        inside
    }

    /// Any two accesses of a method, the second behind the first, that another method can come between.
    fn any_conflict(
        &mut self,
        id: input::MethodId,
        inside: Option<&FxHashSet<NodeId>>,
    ) -> Option<[Access; 3]> {
        let nodes = self.translation.input.methods[id.index()].body.as_ref();
        let count = nodes.map_or(0, |body| body.nodes.len()) as u32;
        let mut at: Vec<(NodeId, Vec<Access>)> = Vec::new();
        for node in (0..count).map(NodeId) {
            if inside.is_none_or(|inside| inside.contains(&node)) {
                let mut all = self.accesses_at(id, node);
                all.truncate(MOST_PARTS);
                if !all.is_empty() {
                    at.push((node, all));
                }
            }
        }
        let mut pairs: Vec<(bool, &Access, &Access)> = Vec::new();
        'pairs: for (node, firsts) in &at {
            let next = self.next_of(id, *node);
            let mut behind = FxHashSet::default();
            for next in next {
                behind.extend(self.reachable_from(id, next));
            }
            for (_, seconds) in at.iter().filter(|(other, _)| behind.contains(other)) {
                for first in firsts {
                    for second in seconds {
                        pairs.push((same_variable(first, second), first, second));
                        if pairs.len() >= MOST_PAIRS {
                            break 'pairs;
                        }
                    }
                }
            }
        }
        pairs.sort_by_key(|(same, ..)| !same);
        let mut tried = FxHashSet::default();
        for (_, first, second) in pairs {
            if tried.insert((first, second))
                && let Some(between) = self.intruder(first, second, None)
            {
                return Some([first.clone(), second.clone(), between]);
            }
        }
        None
    }

    fn next_of(&self, id: input::MethodId, node: NodeId) -> Vec<NodeId> {
        let body = self.translation.input.methods[id.index()].body.as_ref();
        let node = body.and_then(|body| body.nodes.get(node.index()));
        node.map_or_else(Vec::new, |node| node.next.clone())
    }

    fn fault(&mut self, id: input::MethodId, block: Option<RegionId>) -> Option<Fault> {
        let algebra = &mut self.translation.algebra;
        let (input, discipline) = (&self.translation.input, &self.analysis.discipline);
        let inferred = &self.analysis.inferred;
        match block {
            Some(block) => inferred.explain_region(algebra, input, discipline, id, block),
            None => {
                let body = inferred.bodies[id.index()];
                if crate::analysis::is_atomic(algebra, body) {
                    return None;
                }
                let bound = algebra.excused(Atomicity::ATOMIC, body);
                inferred.explain(algebra, input, discipline, id, bound)
            }
        }
    }

    /// An access of another method that can come between two accesses of this one, with these.
    fn conflict(
        &mut self,
        id: input::MethodId,
        fault: &Fault,
        inside: Option<&FxHashSet<NodeId>>,
    ) -> Option<[Access; 3]> {
        let Fault::Torn(tear) = fault else {
            return None;
        };
        let cut = tear.trail.iter().position(|&at| at == tear.first.node)?;
        let mut before: Vec<Access> = Vec::new();
        for &node in tear.trail[..=cut].iter().rev() {
            before.extend(self.accesses_at(id, node));
        }
        let mut after = Vec::new();
        for node in self.reachable_from(id, tear.second.node) {
            if after.len() >= MOST_PARTS {
                break;
            }
            if inside.is_some_and(|inside| !inside.contains(&node)) {
                continue;
            }
            after.extend(self.accesses_at(id, node));
        }
        before.truncate(MOST_PARTS);
        after.truncate(MOST_PARTS);
        let released = tear.released.and_then(|(_, lock)| lock);
        let mut pairs: Vec<(&Access, &Access)> = (before.iter())
            .flat_map(|first| after.iter().map(move |second| (first, second)))
            .collect();
        // Two accesses to one thing say most.
        pairs.sort_by_key(|(first, second)| !same_variable(first, second));
        let mut tried = FxHashSet::default();
        for (first, second) in pairs {
            if !tried.insert((first, second)) {
                continue;
            }
            if let Some(between) = self.intruder(first, second, released) {
                return Some([first.clone(), second.clone(), between]);
            }
        }
        None
    }

    /// The nodes that control can reach from one, nearest first.
    fn reachable_from(&self, id: input::MethodId, from: NodeId) -> Vec<NodeId> {
        let Some(body) = &self.translation.input.methods[id.index()].body else {
            return Vec::new();
        };
        let mut all = vec![from];
        let mut seen: FxHashSet<NodeId> = all.iter().copied().collect();
        let mut at = 0;
        while let Some(node) = all.get(at).and_then(|node| body.nodes.get(node.index())) {
            at += 1;
            for &next in &node.next {
                if next.index() < body.nodes.len() && seen.insert(next) {
                    all.push(next);
                }
            }
        }
        all
    }

    fn intruder(
        &mut self,
        first: &Access,
        second: &Access,
        released: Option<Lock>,
    ) -> Option<Access> {
        let kept: Vec<Lock> = (first.held.iter().copied())
            .filter(|lock| second.held.contains(lock) && Some(*lock) != released)
            .collect();
        let excluding = |typed: &mut Self, mine: &Access| typed.seen_from(&kept, mine.object);
        let (around_first, around_second) = (excluding(self, first), excluding(self, second));
        for method in self.methods_on(first.what) {
            let theirs = self.accesses_of(method, &mut Vec::new());
            for one in theirs.iter().filter(|one| one.what == first.what) {
                if self.is_kept_out(one, &around_first) {
                    continue;
                }
                if same_variable(first, second) {
                    let torn = if self.is_updated(first.what) {
                        one.write || first.write && second.write
                    } else {
                        tears(first.write, one.write, second.write)
                    };
                    if torn {
                        return Some(one.clone());
                    }
                    continue;
                }
                let other = theirs.iter().find(|other| {
                    other.what == second.what
                        && (first.write || one.write)
                        && (second.write || other.write)
                        && (other.what != one.what || other.object != one.object)
                });
                if let Some(other) = other.cloned()
                    && !self.is_kept_out(&other, &around_second)
                {
                    return Some(if one.write { one.clone() } else { other });
                }
            }
        }
        None
    }

    /// Whether who writes this reads it too: a container is changed by what it holds, other than an array.
    fn is_updated(&self, what: FieldKey) -> bool {
        let classes = self.program.classes();
        let class = classes.field(what.field).ty.class();
        what.content && class.is_some_and(|c| !matches!(classes.class(c).kind, ClassKind::Array(_)))
    }

    /// Locks as they look from an object: `this` is the object itself.
    fn seen_from(&mut self, held: &[Lock], object: Option<Lock>) -> Vec<Lock> {
        let locks = &mut self.translation.algebra.locks;
        let mut seen = Vec::new();
        for &lock in held {
            if matches!(locks.root_of(lock), Root::Class(_)) {
                seen.push(lock);
            } else if let Some(object) = object {
                seen.extend(locks.rebase(lock, object, Locks::THIS));
            }
        }
        seen
    }

    fn is_kept_out(&mut self, access: &Access, around: &[Lock]) -> bool {
        let own = self.seen_from(&access.held, access.object);
        own.iter().any(|lock| {
            let locks = &mut self.translation.algebra.locks;
            // A reader is kept out by a writer, but not by a reader.
            let shared = locks.shared(*lock);
            around.contains(lock) || around.contains(&shared)
        })
    }

    /// Methods that anyone may call, holding nothing, and that access this.
    fn methods_on(&mut self, what: FieldKey) -> Vec<input::MethodId> {
        if self.accesses.by.is_none() {
            let mut by: FxHashMap<FieldKey, Vec<input::MethodId>> = FxHashMap::default();
            let started: FxHashSet<input::MethodId> = (self.translation.input.threads.iter())
                .map(|t| t.run)
                .collect();
            for index in 0..self.translation.input.methods.len() {
                let id = input::MethodId(index as u32);
                let key = self.translation.methods[index];
                let general = self.general(key.method) == Some(id);
                let open = self.translation.input.methods[index].open || started.contains(&id);
                let name = self.program.classes().method_name(key.method);
                // Nobody comes in between by making another object.
                if !open || !general || name == "<init>" || name == "<clinit>" {
                    continue;
                }
                let mut all: Vec<FieldKey> = (self.accesses_of(id, &mut Vec::new()).iter())
                    .map(|access| access.what)
                    .collect();
                all.sort_unstable_by_key(|key| (key.field, key.content));
                all.dedup();
                for what in all {
                    let methods = by.entry(what).or_default();
                    if methods.len() < MOST_METHODS {
                        methods.push(id);
                    }
                }
            }
            self.accesses.by = Some(by);
        }
        let by = self.accesses.by.as_ref();
        by.and_then(|by| by.get(&what)).cloned().unwrap_or_default()
    }

    /// What a method accesses, those that it calls included.
    fn accesses_of(&mut self, id: input::MethodId, open: &mut Vec<input::MethodId>) -> Vec<Access> {
        if let Some(known) = self.accesses.of.get(&id) {
            return known.clone();
        }
        if open.contains(&id) || open.len() > 40 {
            return Vec::new();
        }
        open.push(id);
        let nodes = self.translation.input.methods[id.index()].body.as_ref();
        let count = nodes.map_or(0, |body| body.nodes.len());
        let mut all: Vec<Access> = Vec::new();
        let mut seen = FxHashSet::default();
        for node in 0..count as u32 {
            for access in self.accesses_within(id, NodeId(node), open) {
                let same = (
                    access.what,
                    access.write,
                    access.object,
                    access.held.clone(),
                );
                if all.len() < MOST_ACCESSES && seen.insert(same) {
                    all.push(access);
                }
            }
        }
        open.pop();
        // Within a recursion some accesses are missing, as said above; looking again at each of its methods would take forever.
        self.accesses.of.insert(id, all.clone());
        all
    }

    fn accesses_at(&mut self, id: input::MethodId, node: NodeId) -> Vec<Access> {
        self.accesses_within(id, node, &mut vec![id])
    }

    fn accesses_within(
        &mut self,
        id: input::MethodId,
        node: NodeId,
        open: &mut Vec<input::MethodId>,
    ) -> Vec<Access> {
        let body = self.translation.input.methods[id.index()].body.as_ref();
        let Some(node_here) = body.and_then(|body| body.nodes.get(node.index())) else {
            return Vec::new();
        };
        let site = node_here.site;
        let held = || self.analysis.inferred.held_at(id, node);
        let content = |field, write| Access {
            what: FieldKey {
                field,
                content: true,
            },
            write,
            site,
            object: None,
            held: held(),
        };
        match &node_here.effect {
            Effect::Access {
                field,
                actuals,
                write,
                confined: false,
            } => {
                let guard = self.analysis.discipline.guards.get(field.index());
                if matches!(guard, Some(Guard::Final)) {
                    return Vec::new();
                }
                let slots = &self.analysis.discipline.slots;
                let owner = (actuals.substitution(slots).pairs().iter())
                    .find_map(|&(root, lock)| lock.filter(|_| root == Root::This));
                vec![Access {
                    what: self.translation.fields[field.index()],
                    write: *write,
                    site,
                    object: owner,
                    held: held(),
                }]
            }
            Effect::Does(_) => {
                let sites = &self.translation.sites;
                let unowned = match sites.get(site).map(|info| info.what) {
                    Some(What::Unowned {
                        field: Some(field),
                        write,
                    }) => Some((field, write)),
                    _ => None,
                };
                let found = unowned.or_else(|| sites.content(site));
                found
                    .map(|(field, write)| content(field, write))
                    .into_iter()
                    .collect()
            }
            Effect::Call(targets) => {
                let held = held();
                let targets = targets.clone();
                let mut all = Vec::new();
                for target in targets {
                    let slots = self.analysis.discipline.slots.clone();
                    let theta = target.actuals.substitution(&slots);
                    for mut access in self.accesses_of(target.method, open) {
                        let locks = &mut self.translation.algebra.locks;
                        access.object = access.object.and_then(|lock| theta.apply(locks, lock));
                        access.held = (access.held.iter())
                            .filter_map(|&lock| theta.apply(locks, lock))
                            .chain(held.iter().copied())
                            .collect();
                        access.held.sort_unstable();
                        access.held.dedup();
                        all.push(access);
                        if all.len() >= MOST_ACCESSES {
                            return all;
                        }
                    }
                }
                all
            }
            _ => Vec::new(),
        }
    }

    fn conflict_text(&self, [first, second, between]: &[Access; 3]) -> String {
        let sites = &self.translation.sites;
        let Some(info) = sites.get(between.site) else {
            return String::new();
        };
        let at = |site: Site| {
            let line = sites.get(site).map_or(0, |info| info.line);
            if line == 0 {
                String::new()
            } else {
                format!(" (line {line})")
            }
        };
        let named = |access: &Access| {
            let verb = if access.write { "writes" } else { "reads" };
            let what = self.field_text(access.what.field);
            let what = if access.what.content {
                format!("what {what} holds")
            } else {
                what
            };
            format!("{verb} {what}{}", at(access.site))
        };
        let method: MethodId = info.method;
        format!(
            " Between where it {} and where it {}, {} {}.",
            named(first),
            named(second),
            self.method_text(method),
            named(between),
        )
    }
}

/// Whether two accesses are to one thing, for all that their names say.
fn same_variable(first: &Access, second: &Access) -> bool {
    first.what == second.what && (first.what.content || first.object == second.object)
}

/// Whether an access between two others to the same thing is in no order before or after both.
fn tears(first: bool, between: bool, second: bool) -> bool {
    if between {
        !(first && second)
    } else {
        first && second
    }
}

#[cfg(test)]
mod tests {
    use super::tears;

    #[test]
    fn what_tears_is_what_no_order_explains() {
        const READ: bool = false;
        const WRITE: bool = true;
        assert!(tears(READ, WRITE, READ));
        assert!(tears(READ, WRITE, WRITE), "an update is lost");
        assert!(tears(WRITE, WRITE, READ));
        assert!(tears(WRITE, READ, WRITE), "what is not done yet is seen");
        assert!(!tears(WRITE, WRITE, WRITE));
        assert!(!tears(READ, READ, WRITE));
        assert!(!tears(WRITE, READ, READ));
    }
}
