//! Whom a cycle of transactions blames (paper 002, section 3.3).
//!
//! *Blame assignment* of the paper: a transaction is blamed if its outgoing edge is created earlier than its incoming edge, so that it completes the cycle.
//! An edge is created by the later of its two events.
//! A region that is torn is always among those; in a cycle in which nobody is torn by itself, too, somebody completes it.

use untorn_findings::{Interleaving, Region};

/// The regions of a cycle whose transactions complete it.
pub fn blamed(cycle: &Interleaving) -> impl Iterator<Item = &Region> {
    let holder = |n: u32| {
        let step = cycle.steps.iter().find(|step| step.n == n)?;
        step.transaction
    };
    // Steps are numbered in the order of the run.
    (cycle.transactions.iter().zip(0u32..)).filter_map(move |(transaction, own)| {
        let crossing = || {
            (cycle.edges.iter())
                .map(|edge| (holder(edge.from), holder(edge.to), edge.to))
                .filter(|(from, to, _)| from != to)
        };
        let leaves = crossing().filter(|(from, ..)| *from == Some(own));
        let enters = crossing().filter(|(_, to, _)| *to == Some(own));
        let first_left = leaves.map(|(.., created)| created).min()?;
        let last_entered = enters.map(|(.., created)| created).max()?;
        (first_left < last_entered)
            .then_some(transaction.region.as_ref())
            .flatten()
    })
}

#[cfg(test)]
mod tests {
    use untorn_findings::{Edge, EdgeKind, Step, Transaction};

    use super::*;

    /// Steps by the number of the transaction that they are in; transactions are called A, B and so on.
    fn cycle(steps: &[u32], edges: &[(u32, u32)]) -> Interleaving {
        let names = 0..=steps.iter().copied().max().unwrap_or_default();
        Interleaving {
            transactions: names
                .map(|number| Transaction {
                    region: Some(Region {
                        method: char::from(b'A' + number as u8).to_string(),
                        ..Region::default()
                    }),
                    thread: String::new(),
                    begin: 0,
                    end: None,
                })
                .collect(),
            steps: (steps.iter().zip(1..))
                .map(|(transaction, n)| Step {
                    n,
                    transaction: Some(*transaction),
                    thread: String::new(),
                    event: None,
                    op: String::new(),
                    target: String::new(),
                    place: None,
                    within: None,
                    locks: Vec::new(),
                    stack: Vec::new(),
                })
                .collect(),
            edges: (edges.iter())
                .map(|&(from, to)| Edge {
                    from,
                    to,
                    kind: EdgeKind::Data,
                    approximate: false,
                })
                .collect(),
            analysis: String::new(),
            torn: None,
        }
    }

    fn names(cycle: &Interleaving) -> Vec<&str> {
        blamed(cycle).map(|region| region.method.as_str()).collect()
    }

    #[test]
    fn who_is_left_before_it_is_entered_is_blamed() {
        // A (1), B (2) (3), A (4): A is torn, and completes the cycle.
        assert_eq!(names(&cycle(&[0, 1, 1, 0], &[(1, 2), (3, 4)])), ["A"]);
    }

    #[test]
    fn who_completes_a_cycle_in_which_nobody_is_torn_is_blamed() {
        // A (1), B (2), then B (3) after A's first, and A (4) after B's first: no path leaves one of them and comes back.
        assert_eq!(names(&cycle(&[0, 1, 1, 0], &[(1, 3), (2, 4)])), ["A"]);
        assert_eq!(names(&cycle(&[0, 1, 0, 1], &[(2, 3), (1, 4)])), ["B"]);
    }

    #[test]
    fn whoever_is_entered_before_it_is_left_is_not_blamed() {
        // A -> B -> C -> A: only A was left when the cycle came back.
        let three = cycle(&[0, 1, 1, 2, 2, 0], &[(1, 2), (3, 4), (5, 6)]);
        assert_eq!(names(&three), ["A"]);
        // The edges between others are no edges of its own.
        assert_eq!(names(&cycle(&[0, 1, 1], &[(1, 2)])), [""; 0]);
    }
}
