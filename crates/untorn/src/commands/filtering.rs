//! A run that is checked by doublechecker alone: only transactions that may lie on a cycle are looked at.

use serde_json::{Map, Value, json};
use untorn_analyses::Outcome;
use untorn_analyses::doublechecker::Dependences;
use untorn_live::{Filtered, LiveSource, Room};

use crate::cli::RunArgs;
use crate::output::note;
use crate::selection::{AnalysisName, RunMode};

/// Whether nobody needs the rest of the run.
pub fn suffices(args: &RunArgs, default: &[AnalysisName]) -> bool {
    let with = match args.selection.with.as_slice() {
        [] => default,
        with => with,
    };
    // Call stacks come from all of a thread's calls.
    let all_calls = args.watch.stacks;
    !all_calls
        && match args.selection.mode {
            RunMode::Single => with == [AnalysisName::Doublechecker],
            RunMode::Second => args.selection.with != [AnalysisName::Velodrome],
            RunMode::First | RunMode::Precise => false,
        }
}

/// What filtering a run has counted.
pub struct Counts {
    filtered: Filtered,
    stats: Map<String, Value>,
}

/// Hears a run to its end; from then on the source yields what may lie on a cycle.
pub fn filter(source: &mut LiveSource) -> Counts {
    let mut dependences = Dependences::default();
    let filtered = source.filter(&mut dependences, Room::default());
    let (scanned, graph) = (filtered.scanned, dependences.counts());
    let stats = [
        ("regular_transactions", scanned.regular_transactions),
        ("accesses_inside", scanned.accesses_inside),
        ("accesses_outside", scanned.accesses_outside),
        ("graph_nodes", graph.nodes),
        ("graph_edges", graph.edges),
        ("sccs", graph.components),
        ("most_graph_nodes", graph.most_nodes as u64),
        ("records_scanned", scanned.records),
        ("records_decoded", filtered.wanted),
        ("records_dropped", filtered.dropped_records),
        ("searches", filtered.searches),
        ("bytes_spilled", filtered.spilled),
        ("most_undecided_bytes", filtered.most_bytes),
    ];
    Counts {
        filtered,
        stats: stats
            .into_iter()
            .map(|(name, count)| (name.to_owned(), json!(count)))
            .collect(),
    }
}

impl Counts {
    /// Puts what is true of the whole run in the place of what was counted on its excerpt.
    pub fn put_into(self, outcome: &mut Outcome) {
        for finding in &mut outcome.findings {
            finding.executions = None;
        }
        outcome.executions.clear();
        let counted = outcome.stats.entry("doublechecker").or_insert(json!({}));
        if let Value::Object(counted) = counted {
            counted.extend(self.stats);
        }
        let (stretches, records) = (
            self.filtered.dropped_stretches,
            self.filtered.dropped_records,
        );
        if stretches > 0 {
            note(&format!(
                "{stretches} stretches of threads ({records} records) that may lie on a cycle were left out for lack of room: what tears there is not reported"
            ));
        }
    }
}
