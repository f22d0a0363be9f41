//! Conflicts as findings: one for each region, or for each set of fields that no region encloses, whatever the instances.

use hashbrown::HashMap;
use serde_json::json;
use untorn_findings::{Evidence, Finding, Kind, Region, Verdict, ViewConflict};
use untorn_model::{SiteId, ThreadId};

use super::consistency::{Conflict, Counts};
use super::projection::{Origin, Projection};
use crate::stacks::{ContextId, Stacks};
use crate::symbols::Symbol;
use crate::{Describe, Outcome};

pub const NAME: &str = "views";

/// How many conflicts over different fields are kept for one region.
const KEPT: usize = 5;

/// How many fields a message names.
const SAID: usize = 4;

/// What a finding is about.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum About {
    Region(ContextId),
    /// No region is around the diverging views.
    Fields(Vec<Symbol>),
}

#[derive(Clone, Debug)]
struct Group {
    occurrences: u64,
    kept: Vec<(Vec<Symbol>, Conflict)>,
}

/// What was found so far, one finding for each region or set of fields.
#[derive(Clone, Debug, Default)]
pub struct Found {
    findings: Vec<Finding>,
    at: HashMap<Region, usize>,
    pub counts: Counts,
}

impl Found {
    /// Adds a finding to what is known of its region, which may be reached on several paths.
    fn add(&mut self, finding: Finding) {
        match self.at.get(&finding.region) {
            Some(&known) => {
                let known = &mut self.findings[known];
                known.occurrences += finding.occurrences;
                let room = KEPT.saturating_sub(known.evidence.views.len());
                let more = finding.evidence.views.into_iter().take(room);
                known.evidence.views.extend(more);
            }
            None => {
                self.at.insert(finding.region.clone(), self.findings.len());
                self.findings.push(finding);
            }
        }
    }

    /// Hands everything over.
    pub fn finish(&mut self, outcome: &mut Outcome) {
        let counts = self.counts;
        let stats = json!({
            "distinct_views": counts.views,
            "maximal_views": counts.maximal,
            "incompatible": counts.incompatible,
            "not_compared": counts.left_out,
        });
        if counts.left_out > 0 {
            outcome.notes.push(format!(
                "views: {} of {} maximal views were not compared, since there are too many; what they would show may be missing",
                counts.left_out, counts.maximal
            ));
        }
        outcome.stats.insert(NAME.to_owned(), stats);
        outcome.findings.append(&mut self.findings);
    }
}

/// Collects conflicts by what they are about.
pub struct Reporter<'a> {
    describe: Describe<'a>,
    stacks: &'a Stacks,
    views: &'a Projection<'a>,
    groups: Vec<Group>,
    by_subject: HashMap<About, usize>,
}

impl<'a> Reporter<'a> {
    pub fn new(describe: Describe<'a>, stacks: &'a Stacks, views: &'a Projection<'a>) -> Self {
        Self {
            describe,
            stacks,
            views,
            groups: Vec::new(),
            by_subject: HashMap::new(),
        }
    }

    pub fn add(&mut self, conflict: Conflict) {
        let symbols = Symbol::of_all(self.describe.tables, &conflict.fields);
        let about = if conflict.region == ContextId::ROOT {
            About::Fields(symbols.clone())
        } else {
            About::Region(conflict.region)
        };
        let groups = &mut self.groups;
        let at = *self.by_subject.entry(about).or_insert_with(|| {
            groups.push(Group {
                occurrences: 0,
                kept: Vec::new(),
            });
            groups.len() - 1
        });
        let group = &mut groups[at];
        group.occurrences += conflict.times;
        let known = group.kept.iter().any(|(known, _)| *known == symbols);
        if group.kept.len() < KEPT && !known {
            group.kept.push((symbols, conflict));
        }
    }

    /// Hands over one finding for each region or set of fields.
    pub fn finish(&self, found: &mut Found) {
        for group in &self.groups {
            found.add(self.finding(group));
        }
    }

    /// What a finding is about if no region encloses both views.
    fn fields_as_region(&self, symbols: &[Symbol]) -> Region {
        let tables = self.describe.tables;
        let parts: Vec<Region> = symbols.iter().map(|symbol| symbol.region(tables)).collect();
        let class = parts[0].class.clone();
        let same_class = parts.iter().all(|part| part.class == class);
        let names: Vec<String> = (parts.into_iter())
            .map(|part| match (part.class, part.field) {
                (Some(class), Some(field)) if !same_class => format!("{class}.{field}"),
                (_, field) => field.unwrap_or_default(),
            })
            .collect();
        Region {
            class: if same_class { class } else { None },
            field: Some(names.join(", ")),
            ..Region::default()
        }
    }

    fn finding(&self, group: &Group) -> Finding {
        let tables = self.describe.tables;
        let (symbols, conflict) = &group.kept[0];
        let mut regions = self.stacks.regions(conflict.region, self.describe);
        let region = if regions.is_empty() {
            self.fields_as_region(symbols)
        } else {
            regions.remove(0)
        };
        let names: Vec<String> = symbols.iter().map(|symbol| symbol.name(tables)).collect();
        let [with_maximal, apart] = conflict.threads;
        let subject = if conflict.region == ContextId::ROOT {
            tables.thread_name(apart)
        } else {
            region.short_name()
        };
        let mut fields = names[..names.len().min(SAID)].join(", ");
        if names.len() > SAID {
            fields += &format!(" and {} more", names.len() - SAID);
        }
        let message = format!(
            "{subject} uses {fields} apart, which {} uses as one under lock {}",
            tables.thread_name(with_maximal),
            (self.views.first_origin(with_maximal, conflict.maximal))
                .map_or_else(String::new, |origin| tables.lock_name(origin.lock)),
        );
        let evidence = Evidence {
            views: group
                .kept
                .iter()
                .filter_map(|kept| self.conflict(&kept.1))
                .collect(),
            enclosing: regions,
            ..Evidence::default()
        };
        let mut finding = Finding::new(
            NAME,
            Kind::ViewInconsistency,
            Verdict::Suspected,
            region,
            message,
            evidence,
        );
        finding.occurrences = group.occurrences;
        finding
    }

    fn conflict(&self, conflict: &Conflict) -> Option<ViewConflict> {
        let names = (conflict.fields.iter()).map(|&var| self.describe.tables.var_name(var));
        let [with_maximal, apart] = conflict.threads;
        let maximal = (self.views).first_origin(with_maximal, conflict.maximal)?;
        let diverging = (conflict.diverging.iter().zip(conflict.seen)).map(|(&view, seen)| {
            let origin = self.views.origin(apart, view, seen);
            origin.or_else(|| self.views.first_origin(apart, view))
        });
        Some(ViewConflict {
            fields: names.collect(),
            maximal: self.view(with_maximal, &maximal),
            diverging: (diverging.flatten())
                .map(|origin| self.view(apart, &origin))
                .collect(),
        })
    }

    fn view(&self, thread: ThreadId, origin: &Origin) -> untorn_findings::View {
        let tables = self.describe.tables;
        let mut sites: Vec<SiteId> = origin.accesses.iter().map(|access| access.site).collect();
        sites.sort_unstable();
        sites.dedup();
        untorn_findings::View {
            thread: tables.thread_name(thread),
            lock: tables.lock_name(origin.lock),
            fields: (origin.accesses.iter())
                .map(|access| tables.var_name(access.var))
                .collect(),
            places: (sites.iter())
                .filter_map(|&site| self.describe.place(site))
                .collect(),
            region: (self.stacks.regions(origin.context, self.describe))
                .into_iter()
                .next(),
        }
    }
}
