//! Facts that a check proved and a run uses: how many sites they save, what broke them, and whether the run contradicts them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use untorn_facts::{Facts, Region};
use untorn_findings::{Document, Kind, Verdict};

use crate::failure::Failure;
use crate::output::note;

/// What the agent counts, by these names.
const READ_ONLY: &str = "sites left out: proved to be read-only";
const CONFINED: &str = "sites left out: proved to be of one thread";
const LOCKS: &str = "sites left out: locks proved to be of one thread";
const WATCHED: [&str; 3] = ["sites: fields", "sites: static fields", "sites: blocks"];
const DIFFERING: &str = "facts: classes that differ";
const FOREIGN: &str = "facts: classes that were not analyzed";
const BROKEN: &str = "facts: sites left out before a class broke what they rest on";

/// Reads saved facts.
pub fn read(path: &Path) -> Result<Facts, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::file(path, error))?;
    Facts::from_json(&text).map_err(|error| Failure::Input {
        path: path.display().to_string(),
        what: error.to_string(),
    })
}

/// What became of facts in the processes of a run.
#[derive(Debug, Default)]
pub struct Used(BTreeMap<&'static str, u64>);

impl Used {
    /// Adds what the agent of one process counted.
    pub fn add(&mut self, counts: &BTreeMap<String, u64>) {
        let names = [READ_ONLY, CONFINED, LOCKS, DIFFERING, FOREIGN, BROKEN];
        for name in names.into_iter().chain(WATCHED) {
            let count = counts.get(name).copied().unwrap_or(0);
            *self.0.entry(name).or_default() += count;
        }
    }

    fn count(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// Says what was saved, and what did not hold.
    pub fn say(&self) {
        let [read_only, confined, locks] =
            [READ_ONLY, CONFINED, LOCKS].map(|name| self.count(name));
        let saved = read_only + confined + locks;
        let all = saved + WATCHED.iter().map(|name| self.count(name)).sum::<u64>();
        note(&format!(
            "by what was proved, {saved} of {all} accesses and locks in the code are not watched: {read_only} of fields that never change, {confined} of fields and {locks} of locks of one thread"
        ));
        let differing = self.count(DIFFERING);
        if differing > 0 {
            note(&format!(
                "{differing} classes differ from those that were checked, and are watched whole: check again to have facts about them"
            ));
        }
        let broken = self.count(BROKEN);
        if broken > 0 {
            note(&format!(
                "findings may be missing: {broken} accesses were left out before a class was loaded that breaks what was proved of them; check again with all classes, or run without --facts"
            ));
        }
    }

    /// Whether the proofs are about the program that ran.
    fn are_of_this_program(&self, facts: &Facts) -> bool {
        self.count(DIFFERING) == 0 && (facts.main.is_none() || self.count(FOREIGN) == 0)
    }

    /// Names the proved regions that the run tore; the status of such a run if that cannot be.
    pub fn contradictions(&self, facts: &Facts, document: &Document) -> Option<ExitCode> {
        let mut status = None;
        for finding in &document.findings {
            if finding.verdict < Verdict::Observed || finding.kind != Kind::Torn {
                continue;
            }
            let region = &finding.region;
            let proved = Region {
                class: region.class.clone().unwrap_or_default(),
                method: region.method.clone(),
                descriptor: region.descriptor.clone().unwrap_or_default(),
                block: region.block,
            };
            if !facts.proved.contains(&proved) {
                continue;
            }
            let name = match proved.block {
                Some(block) => format!("block {block} of {}.{}", proved.class, proved.method),
                None => format!("{}.{}", proved.class, proved.method),
            };
            if self.are_of_this_program(facts) {
                eprintln!(
                    "untorn: error: {name} was proved atomic, and this run tore it: either something that the proof takes for granted does not hold here (see assumptions in the file of facts), or this is a defect of untorn; please report it"
                );
                status = Some(ExitCode::from(2));
            } else {
                note(&format!(
                    "{name} was proved atomic in another program: {} classes differ and {} were not analyzed, so the proof says nothing here",
                    self.count(DIFFERING),
                    self.count(FOREIGN)
                ));
            }
        }
        status
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use untorn_findings::{Evidence, Finding};

    fn torn(verdict: Verdict) -> Document {
        let region = untorn_findings::Region {
            class: Some("bank.Account".to_owned()),
            method: "deposit".to_owned(),
            descriptor: Some("(J)V".to_owned()),
            ..untorn_findings::Region::default()
        };
        let mut document = Document::new(Vec::new());
        let evidence = Evidence::default();
        let message = "torn".to_owned();
        let finding = Finding::new("aerodrome", Kind::Torn, verdict, region, message, evidence);
        document.findings = vec![finding];
        document
    }

    fn proved(main: Option<&str>) -> Facts {
        let region = Region {
            class: "bank.Account".to_owned(),
            method: "deposit".to_owned(),
            descriptor: "(J)V".to_owned(),
            block: None,
        };
        Facts {
            main: main.map(str::to_owned),
            proved: [region].into(),
            ..Facts::default()
        }
    }

    fn used(name: &str) -> Used {
        let mut used = Used::default();
        used.add(&[(name.to_owned(), 1)].into());
        used
    }

    #[test]
    fn a_proved_region_that_is_seen_torn_is_a_defect() {
        let status = used(READ_ONLY).contradictions(&proved(None), &torn(Verdict::Observed));
        assert_eq!(status, Some(ExitCode::from(2)));
        let status = used(READ_ONLY).contradictions(&proved(None), &torn(Verdict::Suspected));
        assert_eq!(status, None, "a suspicion contradicts no proof");
    }

    #[test]
    fn a_proof_of_another_program_is_contradicted_by_nothing() {
        let (facts, document) = (proved(Some("bank.Main")), torn(Verdict::Observed));
        assert_eq!(used(DIFFERING).contradictions(&facts, &document), None);
        assert_eq!(used(FOREIGN).contradictions(&facts, &document), None);
        let status = used(FOREIGN).contradictions(&proved(None), &document);
        assert_eq!(status, Some(ExitCode::from(2)), "clients may be anything");
    }
}
