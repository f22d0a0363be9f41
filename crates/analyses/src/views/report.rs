//! Conflicts as findings: one for each region and set of fields, whatever the instances.

use hashbrown::HashMap;
use serde_json::json;
use untorn_findings::{Evidence, Finding, Kind, Region, Verdict, ViewConflict};
use untorn_model::{SiteId, VarId};

use super::catalog::{Origin, View};
use super::consistency::{Conflict, Conflicts};
use crate::stacks::Stacks;
use crate::symbols::Symbol;
use crate::{Describe, Outcome};

pub const NAME: &str = "views";

pub struct Reporter<'a> {
    pub describe: Describe<'a>,
    pub stacks: &'a Stacks,
    pub views: &'a [View],
}

impl Reporter<'_> {
    pub fn report(&self, conflicts: &Conflicts, outcome: &mut Outcome) {
        let mut at: HashMap<(Region, Vec<Symbol>), usize> = HashMap::new();
        let mut findings: Vec<Finding> = Vec::new();
        for conflict in &conflicts.found {
            let symbols = self.symbols(&conflict.fields);
            let mut regions = self.stacks.regions(conflict.context, self.describe);
            let region = if regions.is_empty() {
                self.fields_as_region(&symbols)
            } else {
                regions.remove(0)
            };
            match at.get(&(region.clone(), symbols.clone())) {
                Some(&known) => findings[known].occurrences += 1,
                None => {
                    findings.push(self.finding(conflict, &symbols, region.clone(), regions));
                    at.insert((region, symbols), findings.len() - 1);
                }
            }
        }
        let stats = json!({
            "distinct_views": self.views.len(),
            "maximal_views": conflicts.maximal,
            "incompatible": conflicts.incompatible,
        });
        outcome.stats.insert(NAME.to_owned(), stats);
        outcome.findings.append(&mut findings);
    }

    fn symbols(&self, fields: &[VarId]) -> Vec<Symbol> {
        let mut symbols: Vec<Symbol> = (fields.iter())
            .map(|&var| Symbol::of(self.describe.tables, var))
            .collect();
        symbols.sort_unstable();
        symbols.dedup();
        symbols
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

    fn finding(
        &self,
        conflict: &Conflict,
        symbols: &[Symbol],
        region: Region,
        enclosing: Vec<Region>,
    ) -> Finding {
        let tables = self.describe.tables;
        let names: Vec<String> = symbols.iter().map(|symbol| symbol.name(tables)).collect();
        let maximal = &self.views[conflict.maximal];
        let diverging = (conflict.diverging.iter().zip(conflict.origins))
            .map(|(&view, origin)| self.view(&self.views[view], origin))
            .collect();
        let view = self.view(maximal, maximal.origins[0]);
        let message = format!(
            "{} uses {} apart, which {} uses as one under lock {}",
            region.short_name(),
            names.join(", "),
            view.thread,
            view.lock,
        );
        let names = (conflict.fields.iter()).map(|&var| tables.var_name(var));
        let conflict = ViewConflict {
            fields: names.collect(),
            maximal: view,
            diverging,
        };
        let evidence = Evidence {
            views: vec![conflict],
            enclosing,
            ..Evidence::default()
        };
        Finding::new(
            NAME,
            Kind::ViewInconsistency,
            Verdict::Suspected,
            region,
            message,
            evidence,
        )
    }

    fn view(&self, view: &View, origin: Origin) -> untorn_findings::View {
        let tables = self.describe.tables;
        let mut sites: Vec<SiteId> = view.accesses.iter().map(|access| access.site).collect();
        sites.sort_unstable();
        sites.dedup();
        untorn_findings::View {
            thread: tables.thread_name(view.thread),
            lock: tables.lock_name(origin.lock),
            fields: view.vars.iter().map(|&var| tables.var_name(var)).collect(),
            places: (sites.iter())
                .filter_map(|&site| self.describe.place(site))
                .collect(),
            region: (self.stacks.regions(origin.context, self.describe))
                .into_iter()
                .next(),
        }
    }
}
