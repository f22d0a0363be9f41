//! What a first run tells a second one: which static regions, and whether events outside of regions, were on imprecise cycles.
//!
//! A profile is small (it names regions of the program, not executions), versioned, and mergeable: union, so in any order and any number of times.
//!
//! The file is text, one entry a line after the line `untorn-profile 1`:
//!
//! ```text
//! untorn-profile 1
//! unary
//! region  class  method  descriptor  block  hash
//! demoted class  method  descriptor  block  hash
//! text    label
//! place   thread  file  line
//! ```
//!
//! Fields are separated by tabs; a tab, line end or backslash in a name is written `\t`, `\n`, `\r`, `\\`, and an empty name `\e`.
//! A region is `demoted` if the run found out that it was not meant to be one step: in a second run it is none, so that those in it can be chosen.
//! `unary` is there if events outside of regions matter; `block` is empty for a whole method, and `hash`, that of the class file, where it is not known.
//! Two profiles whose hashes for one class differ come from different programs: see [`Profile::stale`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use untorn_model::{RegionId, RegionKind, SiteId, Tables, ThreadId};

const HEADER: &str = "untorn-profile 1";
/// What stands before the kind of a region that was not meant to be one step.
const DEMOTED: &str = "demoted-";

/// What identifies a region of a program from run to run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StaticRegion {
    /// A method or a block in it.
    Method {
        class: String,
        method: String,
        descriptor: String,
        /// The block's name; none for the whole method.
        block: Option<String>,
        /// Of the class file, so that a stale profile is noticed.
        hash: Option<String>,
    },
    /// The label of a text trace.
    Label(String),
    /// A region without a name: where it began, if that is known.
    Place {
        thread: String,
        file: String,
        line: u32,
    },
}

impl StaticRegion {
    /// The static region of an execution.
    pub fn of(tables: &Tables, region: RegionId, thread: ThreadId, site: SiteId) -> Self {
        let Some(entry) = tables.regions.get(region) else {
            let site = tables.sites.get(site);
            return Self::Place {
                thread: tables.thread_name(thread),
                file: site
                    .and_then(|site| site.file)
                    .map_or(String::new(), |file| tables.text(file).to_owned()),
                line: site.map_or(0, |site| site.line),
            };
        };
        match entry.method.and_then(|method| tables.methods.get(method)) {
            None => Self::Label(tables.text(entry.name).to_owned()),
            Some(method) => Self::Method {
                class: tables.class_name(method.class).to_owned(),
                method: tables.text(method.name).to_owned(),
                descriptor: tables.text(method.descriptor).to_owned(),
                block: (entry.kind == RegionKind::Block)
                    .then(|| tables.text(entry.name).to_owned()),
                hash: None,
            },
        }
    }

    /// The same region, whatever version of its class.
    fn without_hash(&self) -> Self {
        let mut region = self.clone();
        if let Self::Method { hash, .. } = &mut region {
            *hash = None;
        }
        region
    }

    fn class_and_hash(&self) -> Option<(&str, &str)> {
        match self {
            Self::Method {
                class,
                hash: Some(hash),
                ..
            } => Some((class, hash)),
            _ => None,
        }
    }
}

/// The static outcome of one or more first runs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Profile {
    regions: BTreeSet<StaticRegion>,
    demoted: BTreeSet<StaticRegion>,
    unary: bool,
}

/// Why a profile cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProfileError {
    #[error("line 1: not a profile of version 1 (expected `{HEADER}`)")]
    Header,
    #[error("line {line}: {what}")]
    Entry { line: usize, what: &'static str },
}

impl Profile {
    pub fn add(&mut self, region: StaticRegion) {
        self.regions.insert(region);
    }

    /// A region was not meant to be one step.
    pub fn add_demoted(&mut self, region: StaticRegion) {
        self.demoted.insert(region);
    }

    /// Events outside of regions were on a cycle.
    pub fn add_unary(&mut self) {
        self.unary = true;
    }

    pub fn has_unary(&self) -> bool {
        self.unary
    }

    /// Whether a region was on a cycle, in whatever version of its class.
    pub fn contains(&self, region: &StaticRegion) -> bool {
        let region = region.without_hash();
        match &region {
            // The hash is the last thing compared, and "unknown" sorts first.
            StaticRegion::Method { .. } => (self.regions.range(&region..))
                .next()
                .is_some_and(|found| found.without_hash() == region),
            _ => self.regions.contains(&region),
        }
    }

    pub fn regions(&self) -> impl Iterator<Item = &StaticRegion> {
        self.regions.iter()
    }

    /// Regions that were not meant to be one step.
    pub fn demoted(&self) -> impl Iterator<Item = &StaticRegion> {
        self.demoted.iter()
    }

    /// Takes up what another run saw.
    pub fn merge(&mut self, other: &Self) {
        self.regions.extend(other.regions.iter().cloned());
        self.demoted.extend(other.demoted.iter().cloned());
        self.unary |= other.unary;
    }

    /// Writes the hash of each class into its regions, as the run that made the profile saw them.
    ///
    /// A class that several loaders have in several versions has several hashes, and its regions one entry for each.
    #[must_use]
    pub fn with_hashes(self, hashes_of: impl Fn(&str) -> Vec<String>) -> Self {
        let mut regions = BTreeSet::new();
        for region in self.regions {
            let hashes = match &region {
                StaticRegion::Method { class, .. } => hashes_of(class),
                _ => Vec::new(),
            };
            for new in &hashes {
                let mut region = region.clone();
                if let StaticRegion::Method { hash, .. } = &mut region {
                    *hash = Some(new.clone());
                }
                regions.insert(region);
            }
            if hashes.is_empty() {
                regions.insert(region);
            }
        }
        Self {
            regions,
            demoted: self.demoted,
            unary: self.unary,
        }
    }

    /// The classes of which the program at hand has a version that is not one of those here.
    pub fn stale(&self, hashes_of: impl Fn(&str) -> Vec<String>) -> BTreeSet<&str> {
        let mut known: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (class, hash) in (self.regions.iter()).filter_map(StaticRegion::class_and_hash) {
            known.entry(class).or_default().insert(hash);
        }
        known.retain(|class, known| {
            let now = hashes_of(class);
            now.iter().any(|hash| !known.contains(hash.as_str()))
        });
        known.into_keys().collect()
    }

    /// Reads what [`fmt::Display`] wrote.
    pub fn parse(text: &str) -> Result<Self, ProfileError> {
        let mut lines = text.lines().enumerate();
        if lines.next().map(|(_, line)| line) != Some(HEADER) {
            return Err(ProfileError::Header);
        }
        let mut profile = Self::default();
        for (i, line) in lines {
            if line.is_empty() {
                continue;
            }
            let error = |what| ProfileError::Entry { line: i + 1, what };
            let mut fields = line.split('\t');
            let kind = fields.next().unwrap_or("");
            let fields = (fields.map(unescape))
                .collect::<Option<Vec<Option<String>>>>()
                .ok_or(error("a backslash that escapes nothing"))?;
            let (demoted, kind) = match kind.strip_prefix(DEMOTED) {
                Some(kind) => (true, kind),
                None => (false, kind),
            };
            let region = match (kind, fields.as_slice()) {
                ("unary", []) if !demoted => {
                    profile.unary = true;
                    continue;
                }
                ("text", [Some(label)]) => StaticRegion::Label(label.clone()),
                ("place", [Some(thread), Some(file), Some(line)]) => StaticRegion::Place {
                    thread: thread.clone(),
                    file: file.clone(),
                    line: line
                        .parse()
                        .map_err(|_| error("a line that is no number"))?,
                },
                ("region", [Some(class), Some(method), Some(descriptor), block, hash]) => {
                    StaticRegion::Method {
                        class: class.clone(),
                        method: method.clone(),
                        descriptor: descriptor.clone(),
                        block: block.clone(),
                        hash: hash.clone(),
                    }
                }
                ("unary" | "text" | "place" | "region", _) => {
                    return Err(error("too many or too few fields, or an empty one"));
                }
                _ => return Err(error("an entry of no known kind")),
            };
            if demoted {
                profile.add_demoted(region);
            } else {
                profile.add(region);
            }
        }
        Ok(profile)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADER}")?;
        if self.unary {
            writeln!(f, "unary")?;
        }
        let demoted = (self.demoted.iter()).map(|region| (DEMOTED, region));
        let regions = (self.regions.iter()).map(|region| ("", region));
        for (mark, region) in regions.chain(demoted) {
            f.write_str(mark)?;
            match region {
                StaticRegion::Method {
                    class,
                    method,
                    descriptor,
                    block,
                    hash,
                } => writeln!(
                    f,
                    "region\t{}\t{}\t{}\t{}\t{}",
                    escape(class),
                    escape(method),
                    escape(descriptor),
                    block.as_deref().map(escape).unwrap_or_default(),
                    hash.as_deref().map(escape).unwrap_or_default()
                )?,
                StaticRegion::Label(label) => writeln!(f, "text\t{}", escape(label))?,
                StaticRegion::Place { thread, file, line } => {
                    writeln!(f, "place\t{}\t{}\t{line}", escape(thread), escape(file))?;
                }
            }
        }
        Ok(())
    }
}

fn escape(text: &str) -> String {
    if text.is_empty() {
        return "\\e".to_owned();
    }
    (text.replace('\\', "\\\\"))
        .replace('\t', "\\t")
        .replace('\n', "\\n")
        .replace('\r', "\\r")
}

/// The name in a field, none if the field is empty; `None` for what no name is written as.
#[expect(clippy::option_option, reason = "bad fields and empty ones differ")]
fn unescape(text: &str) -> Option<Option<String>> {
    if text.is_empty() {
        return Some(None);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next()? {
            '\\' => out.push('\\'),
            't' => out.push('\t'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            'e' => {}
            _ => return None,
        }
    }
    Some(Some(out))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name() -> impl Strategy<Value = String> {
        "[a-c\\\\\t\n\r é$]{0,4}"
    }

    fn region() -> impl Strategy<Value = StaticRegion> {
        let some = || prop::option::of("[a-b]{0,2}");
        prop_oneof![
            (name(), name(), name(), some(), some()).prop_map(
                |(class, method, descriptor, block, hash)| StaticRegion::Method {
                    class,
                    method,
                    descriptor,
                    block,
                    hash
                }
            ),
            name().prop_map(StaticRegion::Label),
            (name(), name(), 0..9u32).prop_map(|(thread, file, line)| StaticRegion::Place {
                thread,
                file,
                line
            }),
        ]
    }

    fn profile() -> impl Strategy<Value = Profile> {
        let some = || prop::collection::btree_set(region(), 0..6);
        (some(), some(), any::<bool>()).prop_map(|(regions, demoted, unary)| Profile {
            regions,
            demoted,
            unary,
        })
    }

    fn union(a: &Profile, b: &Profile) -> Profile {
        let mut all = a.clone();
        all.merge(b);
        all
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(profile in profile()) {
            prop_assert_eq!(Profile::parse(&profile.to_string()), Ok(profile));
        }

        #[test]
        fn merging_is_commutative_associative_and_idempotent(
            a in profile(), b in profile(), c in profile()
        ) {
            prop_assert_eq!(union(&a, &b), union(&b, &a));
            prop_assert_eq!(union(&union(&a, &b), &c), union(&a, &union(&b, &c)));
            prop_assert_eq!(union(&a, &a), a.clone());
            prop_assert_eq!(union(&a, &Profile::default()), a);
        }

        #[test]
        fn a_merged_profile_contains_what_its_parts_do(a in profile(), b in profile()) {
            let all = union(&a, &b);
            for region in a.regions().chain(b.regions()) {
                prop_assert!(all.contains(region));
                prop_assert!(all.contains(&region.without_hash()));
            }
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "(untorn-profile 1\n)?[a-z\\\\\t\n]{0,40}") {
            let _ = Profile::parse(&text);
        }
    }

    #[test]
    fn bad_input_is_an_error_with_its_line() {
        assert_eq!(Profile::parse(""), Err(ProfileError::Header));
        assert_eq!(
            Profile::parse("untorn-profile 2\n"),
            Err(ProfileError::Header)
        );
        let error = Profile::parse("untorn-profile 1\nunary\nregion\tA\tb\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 3: too many or too few fields, or an empty one"
        );
        let error = Profile::parse("untorn-profile 1\ntext\ta\\x\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2: a backslash that escapes nothing"
        );
        let error = Profile::parse("untorn-profile 1\nplace\tt\tf\tx\n").unwrap_err();
        assert_eq!(error.to_string(), "line 2: a line that is no number");
    }

    #[test]
    fn a_changed_class_is_noticed() {
        let mut profile = Profile::default();
        profile.add(StaticRegion::Method {
            class: "bank.Account".to_owned(),
            method: "deposit".to_owned(),
            descriptor: "(I)V".to_owned(),
            block: None,
            hash: None,
        });
        let hashes = |all: &[&str]| all.iter().map(|&one| one.to_owned()).collect::<Vec<_>>();
        let profile = profile.with_hashes(|_| hashes(&["old", "other"]));
        assert_eq!(profile.regions().count(), 2);
        for now in [&["old"][..], &["other", "old"], &[]] {
            assert!(profile.stale(|_| hashes(now)).is_empty(), "{now:?}");
        }
        let stale = profile.stale(|_| hashes(&["old", "new"]));
        assert_eq!(stale.into_iter().collect::<Vec<_>>(), ["bank.Account"]);
    }
}
