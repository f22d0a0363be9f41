//! The views as they are compared: restricted to the locations that matter, and those of threads that did the same only once.
//!
//! Whether the views of a thread get along with a maximal view depends on which views it generated, and not on which thread it is.
//! So threads with the same views, under the same locks, form a *group* whose views are looked at once; a program that starts ten thousand threads for the same work has a few groups.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use untorn_model::{LockId, Tables, ThreadId, VarId};

use super::catalog::{Catalog, SeenId, Vars};
use super::sections::{Access, compact};
use crate::lock_sets::LockSetId;
use crate::stacks::ContextId;

/// A way in which views of the same locations came about.
#[derive(Clone, Debug)]
pub struct Way {
    fields: u32,
    pub lock: LockId,
    /// The locks of the critical sections around it.
    pub enclosing: LockSetId,
    /// The views in the catalog that it stands for.
    pub seen: Vec<SeenId>,
}

/// Where a thread generated a view.
#[derive(Clone, Debug)]
pub struct Origin {
    pub lock: LockId,
    pub context: ContextId,
    /// The locations that are compared, and the places where it accessed them.
    pub accesses: Vec<Access>,
}

/// A view of a group of threads, however often and in whatever ways it came about.
#[derive(Clone, Debug)]
pub struct View {
    pub group: u32,
    pub fields: u32,
    ways: Vec<u32>,
}

/// What is compared.
#[derive(Clone, Debug)]
pub struct Projection<'a> {
    catalog: &'a Catalog,
    tables: &'a Tables,
    /// The locations of views, sorted.
    fields: Vec<Vec<VarId>>,
    ways: Vec<Way>,
    /// By view in the catalog the way that stands for it here, if one does.
    way_of: Vec<Option<u32>>,
    /// The threads that have the same views in the same ways, sorted; the groups are sorted by their first threads.
    pub groups: Vec<Vec<ThreadId>>,
    /// Sorted by group.
    pub views: Vec<View>,
}

impl<'a> Projection<'a> {
    /// The views restricted to some locations; equal ones of a thread are one, empty ones none.
    ///
    /// Who accesses a location accesses all that share storage with it.
    /// With `among`, only those that have one of these locations.
    pub fn new(
        catalog: &'a Catalog,
        tables: &'a Tables,
        among: Option<&Vars>,
        keep: impl Fn(VarId) -> bool,
    ) -> Self {
        let mut this = Self {
            catalog,
            tables,
            fields: Vec::new(),
            ways: Vec::new(),
            way_of: Vec::new(),
            groups: Vec::new(),
            views: Vec::new(),
        };
        this.project(among, keep);
        this.group();
        this
    }

    fn project(&mut self, among: Option<&Vars>, keep: impl Fn(VarId) -> bool) {
        let mut fields_ids: HashMap<Vec<VarId>, u32, FxBuildHasher> = HashMap::default();
        let mut way_ids: HashMap<(u32, LockId, LockSetId), u32, FxBuildHasher> = HashMap::default();
        let mut way_of = Vec::with_capacity(self.catalog.seen().len());
        for (i, it) in self.catalog.seen().iter().enumerate() {
            if among.is_some_and(|vars| self.catalog.is_apart_from(it, vars)) {
                way_of.push(None);
                continue;
            }
            let accesses = with_overlapping(self.tables, self.catalog.accesses(it));
            let vars = accesses.iter().map(|access| access.var);
            let vars: Vec<VarId> = vars.filter(|&var| keep(var)).collect();
            if vars.is_empty() {
                way_of.push(None);
                continue;
            }
            let all = &mut self.fields;
            let fields = *fields_ids.entry(vars).or_insert_with_key(|vars| {
                all.push(vars.clone());
                all.len() as u32 - 1
            });
            let (lock, enclosing, ways) = (it.lock, it.enclosing, &mut self.ways);
            let way = *way_ids.entry((fields, lock, enclosing)).or_insert_with(|| {
                ways.push(Way {
                    fields,
                    lock,
                    enclosing,
                    seen: Vec::new(),
                });
                ways.len() as u32 - 1
            });
            self.ways[way as usize].seen.push(SeenId(i as u32));
            way_of.push(Some(way));
        }
        self.way_of = way_of;
    }

    fn group(&mut self) {
        let mut ids: HashMap<Vec<u32>, usize, FxBuildHasher> = HashMap::default();
        for (thread, own) in self.catalog.of_threads().iter().enumerate() {
            let mut ways: Vec<u32> = (own.iter())
                .filter_map(|generated| self.way_of[generated.seen.index()])
                .collect();
            if ways.is_empty() {
                continue;
            }
            // Those of the same locations side by side.
            ways.sort_unstable_by_key(|&way| (self.ways[way as usize].fields, way));
            ways.dedup();
            let (groups, views, all) = (&mut self.groups, &mut self.views, &self.ways);
            let group = *ids.entry(ways).or_insert_with_key(|ways| {
                let alike = |a: &u32, b: &u32| all[*a as usize].fields == all[*b as usize].fields;
                views.extend(ways.chunk_by(alike).map(|ways| View {
                    group: groups.len() as u32,
                    fields: all[ways[0] as usize].fields,
                    ways: ways.to_vec(),
                }));
                groups.push(Vec::new());
                groups.len() - 1
            });
            self.groups[group].push(ThreadId(thread as u32));
        }
    }

    pub fn vars(&self, view: usize) -> &[VarId] {
        &self.fields[self.views[view].fields as usize]
    }

    pub fn threads(&self, view: usize) -> &[ThreadId] {
        &self.groups[self.views[view].group as usize]
    }

    pub fn ways(&self, view: usize) -> impl Iterator<Item = &Way> {
        let ways = self.views[view].ways.iter();
        ways.map(|&way| &self.ways[way as usize])
    }

    /// Where a thread generated a view that one in the catalog stands for.
    pub fn origin(&self, thread: ThreadId, view: usize, seen: SeenId) -> Option<Origin> {
        let (context, accesses) = self.catalog.generated(thread, seen)?;
        let vars = self.vars(view);
        let mut accesses = with_overlapping(self.tables, accesses);
        accesses.retain(|access| vars.binary_search(&access.var).is_ok());
        Some(Origin {
            lock: self.catalog.seen()[seen.index()].lock,
            context,
            accesses,
        })
    }

    /// Where a thread generated a view first.
    pub fn first_origin(&self, thread: ThreadId, view: usize) -> Option<Origin> {
        let fields = self.views[view].fields;
        let own = self.catalog.of_threads().get(thread.index())?;
        let first = own.iter().find(|generated| {
            let way = self.way_of[generated.seen.index()];
            way.is_some_and(|way| self.ways[way as usize].fields == fields)
        })?;
        self.origin(thread, view, first.seen)
    }
}

/// The accesses of a view and, at the same places, to all that shares storage with what they access; sorted, each location once.
fn with_overlapping(tables: &Tables, accesses: &[Access]) -> Vec<Access> {
    let mut all = accesses.to_vec();
    if tables.any_overlaps() {
        for access in accesses {
            let others = tables.overlapping(access.var);
            all.extend(others.iter().map(|&var| Access { var, ..*access }));
        }
        compact(&mut all);
    }
    all
}
