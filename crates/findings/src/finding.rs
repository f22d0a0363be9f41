//! A finding: one region, one verdict, and why.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Evidence, Executions, Level, Rank, Reproduction};

/// What ought to be atomic and is not: a method, a block in it, or the label of a region in a text trace.
#[derive(
    Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, JsonSchema,
)]
pub struct Region {
    /// The binary name of the class, with dots; absent for a text trace.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub class: Option<String>,
    /// The method's name, or the label of a region in a text trace.
    pub method: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub descriptor: Option<String>,
    /// Which block of the method it is, counted from 1 in the order of the text; absent for the whole method.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub block: Option<u32>,
    /// Set where the finding is about a field and not about a region, as a race is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub field: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u32>,
}

impl Region {
    /// A region of a text trace.
    pub fn labelled(label: impl Into<String>) -> Self {
        Self {
            method: label.into(),
            ..Self::default()
        }
    }

    /// Whether both name the same piece of program, wherever its text has moved to.
    pub fn same_as(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }

    pub(crate) fn identity(&self) -> (Option<&str>, &str, Option<&str>, Option<u32>, Option<&str>) {
        (
            self.class.as_deref(),
            &self.method,
            self.descriptor.as_deref(),
            self.block,
            self.field.as_deref(),
        )
    }

    /// `Account.deposit`, with the class's simple name, for headlines.
    pub fn short_name(&self) -> String {
        let simple = |class: &str| class.rsplit('.').next().unwrap_or(class).to_owned();
        let mut name = match &self.class {
            Some(class) if self.method.is_empty() => simple(class),
            Some(class) => format!("{}.{}", simple(class), self.method),
            None => self.method.clone(),
        };
        if let Some(field) = &self.field {
            if !name.is_empty() {
                name.push('.');
            }
            name.push_str(&headline(field));
        }
        if let Some(block) = self.block {
            name.push_str(&format!(" block {block}"));
        }
        name
    }
}

/// Fields for a headline: of many the first few, with the simple names of their classes.
fn headline(fields: &str) -> Cow<'_, str> {
    const SHOWN: usize = 4;
    let names: Vec<&str> = fields.split(", ").collect();
    if names.len() <= SHOWN {
        return Cow::Borrowed(fields);
    }
    let simple = |name: &str| {
        let class = name.rfind('.').and_then(|field| name[..field].rfind('.'));
        class.map_or(name, |dot| &name[dot + 1..]).to_owned()
    };
    let shown: Vec<String> = (names.iter().take(SHOWN))
        .map(|name| simple(name))
        .collect();
    let more = names.len() - SHOWN;
    Cow::Owned(format!("{} and {more} more", shown.join(", ")))
}

/// How strong a claim is, the weakest first; `proved` regions are listed apart in the document.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Types cannot show the region atomic, and nobody showed a conflict either: a state, never a finding.
    Unproved,
    /// Some analysis holds that the region can be torn.
    Suspected,
    /// A recorded run shows the region torn by data conflicts alone; never wrong.
    Observed,
    /// Observed in a run that was steered, with a plan that shows it again.
    Reproduced,
}

impl Verdict {
    /// Whether a run showed the region torn.
    pub fn is_seen(self) -> bool {
        self >= Self::Observed
    }
}

/// What kind of finding it is; the strongest where several were merged.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Another thread was seen between two parts of the region.
    Torn,
    /// A cycle in which no region is torn by itself; all are named.
    Cycle,
    /// The region is ordered only by its own fork and join of another thread.
    ForkJoin,
    /// The steps of the region do not reduce to one.
    Reduction,
    /// The region's critical sections divide what another thread treats as one.
    ViewInconsistency,
    /// The method's critical sections divide what another method's lock treats as one; found without a run.
    MethodInconsistency,
    /// The types do not show the region atomic.
    Untypable,
    /// A field without a lock that all its accesses hold.
    Race,
}

/// What was found about one region.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    pub region: Region,
    pub verdict: Verdict,
    /// The other regions of a cycle that blames nobody.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub group: Vec<Region>,
    /// Who says so.
    pub analyses: Vec<String>,
    pub kind: Kind,
    /// One sentence for a person.
    pub message: String,
    pub evidence: Evidence,
    /// Other regions that the same cause spoils: what mends this one mends them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub affected: Vec<Region>,
    /// How often it was seen.
    pub occurrences: u64,
    /// How often its region was executed, if that was counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub executions: Option<Executions>,
    /// How much it deserves a look, once that was judged.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rank: Option<Rank>,
    /// What steered runs have shown of it, if there were any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reproduction: Option<Reproduction>,
    /// The same for the same defect in another run, or after lines have moved.
    pub fingerprint: String,
}

impl Finding {
    /// A finding of one analysis, seen once, with its fingerprint.
    pub fn new(
        analysis: &str,
        kind: Kind,
        verdict: Verdict,
        region: Region,
        message: String,
        evidence: Evidence,
    ) -> Self {
        let fingerprint = crate::fingerprint(&region, &[]);
        Self {
            region,
            verdict,
            group: Vec::new(),
            analyses: vec![analysis.to_owned()],
            kind,
            message,
            evidence,
            affected: Vec::new(),
            occurrences: 1,
            executions: None,
            rank: None,
            reproduction: None,
            fingerprint,
        }
    }

    /// How much it deserves a look; what nobody judged is neither hidden nor pushed.
    pub fn level(&self) -> Level {
        self.rank.as_ref().map_or(Level::Medium, |rank| rank.level)
    }

    /// Takes in a finding of the same cause, whose region becomes an affected one.
    pub(crate) fn affect(&mut self, other: Self) {
        self.verdict = self.verdict.max(other.verdict);
        for region in std::iter::once(other.region).chain(other.affected) {
            let known = |known: &Region| known.same_as(&region);
            if !self.region.same_as(&region) && !self.affected.iter().any(known) {
                self.affected.push(region);
            }
        }
        self.affected.sort();
    }

    /// Names the other regions of a cycle that blames nobody.
    pub fn with_group(mut self, mut group: Vec<Region>) -> Self {
        group.sort();
        group.dedup();
        self.fingerprint = crate::fingerprint(&self.region, &group);
        self.group = group;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_headline_names_the_first_few_of_many_fields() {
        let of = |names: &[&str]| Region {
            field: Some(names.join(", ")),
            ..Region::default()
        };
        let few = ["a.b.C.x", "a.b.D.y"];
        assert_eq!(of(&few).short_name(), "a.b.C.x, a.b.D.y");
        let many = ["a.b.C.x", "D.y", "z", "a.E.[*]", "a.F.v", "a.G.w"];
        assert_eq!(of(&many).short_name(), "C.x, D.y, z, E.[*] and 2 more");
    }
}
