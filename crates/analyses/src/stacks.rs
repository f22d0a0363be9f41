//! Call stacks from entries, exits and regions, kept as a tree of calling contexts.
//!
//! A context is the path of frames that led to a place.
//! Equal paths are one node, so remembering where something happened is one number and no copy, and memory grows with the distinct contexts of a run and not with its length.
//!
//! Regions and methods may interleave when an exception leaves several frames at once: the end of a region then also leaves the methods above it, and an exit that finds no such method is ignored.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use untorn_findings::{Place, Region};
use untorn_model::{Event, EventIndex, MethodId, Op, RegionId, SiteId, ThreadId};

use crate::Describe;

/// A frame of a call stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Frame {
    Method(MethodId),
    Region(RegionId),
}

/// A path of frames, as a node of the context tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ContextId(u32);

impl ContextId {
    /// Outside of all that is recorded.
    pub const ROOT: Self = Self(0);
}

#[derive(Clone, Copy, Debug)]
struct Node {
    parent: ContextId,
    call: Call,
    /// Where the frame was entered first.
    site: SiteId,
    depth: u32,
    /// The child taken last: calls repeat.
    last_child: ContextId,
    /// Who was here first, for regions without a name.
    thread: ThreadId,
    event: EventIndex,
}

/// What tells the children of a context apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Call {
    frame: Frame,
    /// Unknown if places do not count.
    site: SiteId,
    /// A region without a name is one thread's.
    thread: Option<ThreadId>,
}

/// The contexts of a run, and where each thread is now.
#[derive(Clone, Debug)]
pub struct Stacks {
    nodes: Vec<Node>,
    children: HashMap<(ContextId, Call), ContextId, FxBuildHasher>,
    current: Vec<ContextId>,
    by_site: bool,
}

impl Default for Stacks {
    fn default() -> Self {
        let root = Node {
            parent: ContextId::ROOT,
            call: Call {
                frame: Frame::Region(RegionId::ANONYMOUS),
                site: SiteId::UNKNOWN,
                thread: None,
            },
            site: SiteId::UNKNOWN,
            depth: 0,
            last_child: ContextId::ROOT,
            thread: ThreadId::default(),
            event: EventIndex::default(),
        };
        Self {
            nodes: vec![root],
            children: HashMap::default(),
            current: Vec::new(),
            by_site: true,
        }
    }
}

impl Stacks {
    /// Contexts that do not depend on where a frame was entered: the regions and methods alone.
    pub fn without_sites() -> Self {
        Self {
            by_site: false,
            ..Self::default()
        }
    }

    /// Makes room for threads of these numbers; call it before each batch.
    pub fn grow(&mut self, threads: usize) {
        if self.current.len() < threads {
            self.current.resize(threads, ContextId::ROOT);
        }
    }

    /// Follows an event; those that neither enter nor leave anything change nothing.
    pub fn follow(&mut self, index: EventIndex, event: &Event) {
        match event.op {
            Op::Begin(region) => self.enter(index, event, Frame::Region(region)),
            Op::Enter(method) => self.enter(index, event, Frame::Method(method)),
            Op::End(_) => self.end(event.thread),
            Op::Exit(method) => self.exit(event.thread, method),
            _ => {}
        }
    }

    /// Where a thread is.
    #[inline]
    pub fn current(&self, thread: ThreadId) -> ContextId {
        self.current[thread.index()]
    }

    /// How many frames a context has.
    #[inline]
    pub fn depth(&self, context: ContextId) -> u32 {
        self.node(context).depth
    }

    fn node(&self, context: ContextId) -> &Node {
        &self.nodes[context.0 as usize]
    }

    fn enter(&mut self, index: EventIndex, event: &Event, frame: Frame) {
        let anonymous = frame == Frame::Region(RegionId::ANONYMOUS);
        let call = Call {
            frame,
            site: if self.by_site || anonymous {
                event.site
            } else {
                SiteId::UNKNOWN
            },
            thread: anonymous.then_some(event.thread),
        };
        let parent = self.current(event.thread);
        let last = self.node(parent).last_child;
        let child = if last != ContextId::ROOT && self.node(last).call == call {
            last
        } else {
            self.child(parent, call, index, event)
        };
        self.current[event.thread.index()] = child;
    }

    fn child(
        &mut self,
        parent: ContextId,
        call: Call,
        index: EventIndex,
        event: &Event,
    ) -> ContextId {
        let nodes = &mut self.nodes;
        let child = *self.children.entry((parent, call)).or_insert_with(|| {
            nodes.push(Node {
                parent,
                call,
                site: event.site,
                depth: nodes[parent.0 as usize].depth + 1,
                last_child: ContextId::ROOT,
                thread: event.thread,
                event: index,
            });
            ContextId(nodes.len() as u32 - 1)
        });
        nodes[parent.0 as usize].last_child = child;
        child
    }

    fn end(&mut self, thread: ThreadId) {
        let mut at = self.current(thread);
        while at != ContextId::ROOT {
            let node = self.node(at);
            at = node.parent;
            if matches!(node.call.frame, Frame::Region(_)) {
                self.current[thread.index()] = at;
                return;
            }
        }
    }

    fn exit(&mut self, thread: ThreadId, method: MethodId) {
        let mut at = self.current(thread);
        while at != ContextId::ROOT {
            let node = self.node(at);
            at = node.parent;
            match node.call.frame {
                Frame::Method(entered) if entered == method => {
                    self.current[thread.index()] = at;
                    return;
                }
                Frame::Method(_) => {}
                Frame::Region(_) => return,
            }
        }
    }

    /// The context around a context; the root's is itself.
    pub fn parent(&self, context: ContextId) -> ContextId {
        self.node(context).parent
    }

    /// Every thread that has a stack.
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> + use<> {
        (0..self.current.len() as u32).map(ThreadId)
    }

    /// The longest path that two contexts share.
    pub fn common(&self, mut a: ContextId, mut b: ContextId) -> ContextId {
        while a != b {
            if self.depth(a) >= self.depth(b) {
                a = self.node(a).parent;
            } else {
                b = self.node(b).parent;
            }
        }
        a
    }

    /// The innermost region of a context, as a context that ends with it; the root outside of all regions.
    pub fn innermost_region(&self, context: ContextId) -> ContextId {
        let mut at = context;
        while at != ContextId::ROOT && !matches!(self.node(at).call.frame, Frame::Region(_)) {
            at = self.node(at).parent;
        }
        at
    }

    /// The regions of a context, innermost first.
    pub fn regions(&self, context: ContextId, describe: Describe<'_>) -> Vec<Region> {
        let mut regions = Vec::new();
        let mut at = context;
        while at != ContextId::ROOT {
            let node = self.node(at);
            if let Frame::Region(region) = node.call.frame {
                regions.push(describe.region(region, node.thread, node.event, node.site));
            }
            at = node.parent;
        }
        regions
    }

    /// The call stack of something that happened at `site` in a context, innermost first.
    ///
    /// A place that names no method lies in the innermost frame.
    /// An outer frame is shown by the place that is recorded for its entry, unless the place before already lies in the same method.
    pub fn places(&self, context: ContextId, site: SiteId, describe: Describe<'_>) -> Vec<Place> {
        let mut places: Vec<Place> = describe.place(site).into_iter().collect();
        let mut at = context;
        while at != ContextId::ROOT {
            let node = self.node(at);
            let place = Self::place_of(node, describe);
            match places.last_mut() {
                Some(last) if last.method.is_none() => {
                    last.class = place.class;
                    last.method = place.method;
                }
                Some(last) if (&last.class, &last.method) == (&place.class, &place.method) => {}
                _ => places.push(place),
            }
            at = node.parent;
        }
        places
    }

    fn place_of(node: &Node, describe: Describe<'_>) -> Place {
        let mut place = describe.place(node.site).unwrap_or_default();
        if place.method.is_none() {
            let tables = describe.tables;
            let method = match node.call.frame {
                Frame::Method(method) => Some(method),
                Frame::Region(region) => tables.regions.get(region).and_then(|r| r.method),
            };
            if let Some(method) = method.and_then(|id| tables.methods.get(id)) {
                place.class = Some(tables.class_name(method.class).to_owned());
                place.method = Some(tables.text(method.name).to_owned());
            } else if let Frame::Region(region) = node.call.frame {
                let region = describe.region(region, node.thread, node.event, node.site);
                place.method = Some(region.method);
            }
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use untorn_model::{Region, RegionKind, Tables};

    use super::*;

    #[test]
    fn equal_paths_are_one_context_and_an_end_leaves_the_methods_above() {
        let mut tables = Tables::default();
        let name = tables.strings.intern("outer").unwrap();
        let region = Region {
            kind: RegionKind::Block,
            method: None,
            name,
            site: SiteId::UNKNOWN,
        };
        tables.regions.push(region).unwrap();
        let mut stacks = Stacks::default();
        stacks.grow(1);
        let mut next = 0;
        let mut follow = |stacks: &mut Stacks, op| {
            let event = Event {
                thread: ThreadId(0),
                site: SiteId::UNKNOWN,
                op,
            };
            next += 1;
            stacks.follow(EventIndex(next), &event);
            stacks.current(ThreadId(0))
        };
        let outer = follow(&mut stacks, Op::Begin(RegionId(0)));
        let inner = follow(&mut stacks, Op::Enter(MethodId(1)));
        assert_eq!(follow(&mut stacks, Op::Exit(MethodId(1))), outer);
        let other = follow(&mut stacks, Op::Enter(MethodId(2)));
        assert_eq!(stacks.common(inner, other), outer);
        assert_eq!(follow(&mut stacks, Op::Exit(MethodId(2))), outer);
        assert_eq!(follow(&mut stacks, Op::Enter(MethodId(1))), inner);
        assert_eq!(follow(&mut stacks, Op::End(RegionId(0))), ContextId::ROOT);
        // The exit of the method that the end has left finds nothing to leave.
        let outer_again = follow(&mut stacks, Op::Begin(RegionId(0)));
        assert_eq!(outer_again, outer);
        assert_eq!(follow(&mut stacks, Op::Exit(MethodId(1))), outer);
        let describe = Describe::without_lines(&tables);
        let regions = stacks.regions(inner, describe);
        assert_eq!(regions.len(), 1);
        assert_eq!(regions[0].method, "outer");
    }
}
