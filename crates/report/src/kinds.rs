//! What each kind of finding is, once for all faces.

use untorn_findings::Kind;

/// A kind of finding in words.
#[derive(Clone, Copy, Debug)]
pub struct KindInfo {
    pub kind: Kind,
    /// Its name in files, on the command line and in suppressions.
    pub id: &'static str,
    pub title: &'static str,
    /// One sentence on what was found.
    pub short: &'static str,
    /// What it means and what to do, in Markdown, one sentence a line.
    pub help: &'static str,
}

/// Every kind, strongest first.
pub const KINDS: [KindInfo; 8] = [
    KindInfo {
        kind: Kind::Torn,
        id: "torn",
        title: "Torn region",
        short: "Another thread was seen between two parts of a region that ought to be one step.",
        help: "The order of accesses shown has no equivalent in which the region runs without interruption.\n\
            If the verdict is *observed*, data alone shows it and it happened in the recorded run.\n\
            Make the region one critical section, or take it out of the specification if others may see its parts.",
    },
    KindInfo {
        kind: Kind::Cycle,
        id: "cycle",
        title: "Cycle of regions",
        short: "Several regions ran in an order that no serial execution has, though none is torn by itself.",
        help: "Each region sees something that another did before, and does something that another sees after.\n\
            Give the regions a lock in common.",
    },
    KindInfo {
        kind: Kind::ForkJoin,
        id: "fork-join",
        title: "Region around its own threads",
        short: "The region starts and awaits threads, so what they do comes between its parts.",
        help: "A region that starts another thread and waits for it cannot be one step.\n\
            Mostly this is meant so: take the region out of the specification.",
    },
    KindInfo {
        kind: Kind::Reduction,
        id: "reduction",
        title: "Region that does not reduce to one step",
        short: "After the point at which the region takes effect comes a step that cannot be moved before it.",
        help: "The locking seen in the run does not show that the region's steps can be pushed together.\n\
            Another schedule may tear it, though this run need not have.\n\
            Hold one lock over all of it, or protect each variable with one lock everywhere.",
    },
    KindInfo {
        kind: Kind::ViewInconsistency,
        id: "view-inconsistency",
        title: "Fields used as one here and apart there",
        short: "One thread uses some fields together under a lock; another uses them in separate critical sections.",
        help: "Fields that one thread reads or writes under one hold of a lock seem to belong together.\n\
            A thread that takes the lock once for each of them can see or leave them in different states.",
    },
    KindInfo {
        kind: Kind::MethodInconsistency,
        id: "method-inconsistency",
        title: "Method that divides what another method's lock unites",
        short: "The method's critical sections divide fields that another method uses under one lock.",
        help: "Found without a run: the method may use values that were fetched in different critical sections.\n\
            Merge its critical sections, or take the lock in the method itself.",
    },
    KindInfo {
        kind: Kind::Untypable,
        id: "untypable",
        title: "Region that types do not show atomic",
        short: "The parts of the region do not compose to one step.",
        help: "Found without a run: some path through the region has parts that others can come between, as far as guards and locks tell.\n\
            Hold the lock over both parts, or declare the guard or atomicity that the types did not find.",
    },
    KindInfo {
        kind: Kind::Race,
        id: "race",
        title: "Field without a common lock",
        short: "No lock is held at all accesses of the field.",
        help: "Two threads access the field and one of them writes, with no lock in common.\n\
            Guard all accesses by one lock, or make the field volatile if nothing is computed from its old value.",
    },
];

/// The words for a kind.
pub fn info(kind: Kind) -> &'static KindInfo {
    let found = KINDS.iter().find(|info| info.kind == kind);
    // A test holds the list to be complete.
    found.unwrap_or(&KINDS[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_words_under_the_name_it_is_saved_with() {
        for info in &KINDS {
            let saved = serde_json::to_value(info.kind).unwrap();
            assert_eq!(saved, info.id);
            assert_eq!(super::info(info.kind).id, info.id);
        }
        // The schema lists the kinds there are.
        let schema: serde_json::Value =
            serde_json::from_str(&untorn_findings::schema().unwrap()).unwrap();
        let all = schema["$defs"]["Kind"]["oneOf"].as_array().unwrap();
        assert_eq!(all.len(), KINDS.len());
    }
}
