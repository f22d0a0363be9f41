//! What the user says of methods, fields and lines that the dynamic analyses should take for granted.
//!
//! The annotations of the Atomizer paper (section 4): `assume_atomic` and `assume_mover` on methods, `assume_guarded` on fields, `no_warn` on a line, and the guards of its Figure 8.
//! They come as patterns over names; [`Resolved`] matches them with the tables of a trace, each entry once, when it first appears.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use untorn_model::{LockId, LockKind, MethodId, ObjectId, Part, RegionId, SiteId, Tables, VarId};

/// A name in which `*` stands for any text without a dot and `**` for any text, as in the specification.
///
/// A method is `pkg.Class.method`, with or without its descriptor; a block in it is `pkg.Class.method@1`; a region of a text trace is its label.
/// A field is `pkg.Class.field`; a location of a text trace is its token.
/// A line is `File.java:12`; a place of a text trace is its token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern(String);

impl Pattern {
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    /// Whether the pattern matches the whole text.
    pub fn matches(&self, text: &str) -> bool {
        untorn_spec::name_matches(&self.0, text)
    }
}

impl From<&str> for Pattern {
    fn from(pattern: &str) -> Self {
        Self::new(pattern)
    }
}

/// The lock that is declared to protect a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Guard {
    /// The monitor of the object that holds the field.
    This,
    /// The first lock whose name matches.
    Named(Pattern),
}

/// What to take for granted.
#[derive(Clone, Debug, Default)]
pub struct Assumptions {
    /// Methods that are one step which cannot move.
    pub atomic: Vec<Pattern>,
    /// Methods that are no step at all.
    pub mover: Vec<Pattern>,
    /// Fields whose accesses never race.
    pub guarded: Vec<Pattern>,
    /// Lines that neither lockset nor reduction look at.
    pub no_warn: Vec<Pattern>,
    /// The protecting lock of each field, `P` of the paper; the first match counts.
    pub guards: Vec<(Pattern, Guard)>,
}

/// What is assumed of a method or region.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Assumed {
    #[default]
    Nothing,
    Atomic,
    Mover,
}

/// Assumptions matched with the tables of one trace.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    assumptions: Assumptions,
    methods: Vec<Assumed>,
    regions: Vec<Assumed>,
    guarded: Vec<bool>,
    no_warn: Vec<bool>,
    /// By location the index of its guard in the assumptions, from 1; 0 for none.
    guards: Vec<u32>,
    monitors: HashMap<ObjectId, LockId, FxBuildHasher>,
    /// By guard the lock that was first to match its name.
    named: Vec<Option<LockId>>,
    locks_seen: usize,
}

impl Resolved {
    pub fn new(assumptions: Assumptions) -> Self {
        Self {
            named: vec![None; assumptions.guards.len()],
            assumptions,
            ..Self::default()
        }
    }

    /// Matches what is new in the tables; call it before each batch.
    pub fn grow(&mut self, tables: &Tables) {
        let all = &self.assumptions;
        if !all.atomic.is_empty() || !all.mover.is_empty() {
            for i in self.methods.len()..tables.methods.len() {
                let names = method_names(tables, MethodId(i as u32));
                self.methods.push(assumed(all, &names));
            }
            for i in self.regions.len()..tables.regions.len() {
                let names = region_names(tables, RegionId(i as u32));
                self.regions.push(assumed(all, &names));
            }
        }
        if !all.no_warn.is_empty() {
            for i in self.no_warn.len()..tables.sites.len() {
                let name = tables.site_name(SiteId(i as u32)).unwrap_or_default();
                self.no_warn.push(any(&all.no_warn, &[name]));
            }
        }
        if !all.guarded.is_empty() || !all.guards.is_empty() {
            for i in self.guarded.len()..tables.vars().len() {
                let names = field_names(tables, VarId(i as u32));
                self.guarded.push(any(&all.guarded, &names));
                let guard = (all.guards.iter())
                    .position(|(field, _)| names.iter().any(|name| field.matches(name)));
                self.guards.push(guard.map_or(0, |at| at as u32 + 1));
            }
        }
        if !all.guards.is_empty() {
            for i in self.locks_seen..tables.locks.len() {
                self.see_lock(tables, LockId(i as u32));
            }
            self.locks_seen = tables.locks.len();
        }
    }

    fn see_lock(&mut self, tables: &Tables, id: LockId) {
        let Some(lock) = tables.locks.get(id) else {
            return;
        };
        if lock.kind == LockKind::Monitor
            && let Some(object) = lock.object
        {
            self.monitors.entry(object).or_insert(id);
        }
        let name = tables.text(lock.name);
        for (slot, (_, guard)) in self.named.iter_mut().zip(&self.assumptions.guards) {
            if let Guard::Named(pattern) = guard
                && slot.is_none()
                && pattern.matches(name)
            {
                *slot = Some(id);
            }
        }
    }

    #[inline]
    pub fn of_method(&self, method: MethodId) -> Assumed {
        self.methods
            .get(method.index())
            .copied()
            .unwrap_or_default()
    }

    #[inline]
    pub fn of_region(&self, region: RegionId) -> Assumed {
        self.regions
            .get(region.index())
            .copied()
            .unwrap_or_default()
    }

    /// Whether the accesses of a location are assumed to be protected.
    #[inline]
    pub fn is_guarded(&self, var: VarId) -> bool {
        self.guarded
            .get(var.index())
            .is_some_and(|guarded| *guarded)
    }

    /// Whether nothing that happens at a place is looked at.
    #[inline]
    pub fn is_silenced(&self, site: SiteId) -> bool {
        !self.no_warn.is_empty() && self.no_warn.get(site.index()).is_some_and(|silent| *silent)
    }

    /// Whether a location has a declared guard, and the lock that it stands for if that was seen.
    pub fn guard(&self, tables: &Tables, var: VarId) -> Option<Option<LockId>> {
        let at = (*self.guards.get(var.index())?).checked_sub(1)? as usize;
        Some(match self.assumptions.guards[at].1 {
            Guard::This => {
                let object = tables.vars().get(var)?.object;
                self.monitors.get(&object).copied()
            }
            Guard::Named(_) => self.named[at],
        })
    }
}

fn any(patterns: &[Pattern], names: &[String]) -> bool {
    patterns
        .iter()
        .any(|pattern| names.iter().any(|name| pattern.matches(name)))
}

fn assumed(all: &Assumptions, names: &[String]) -> Assumed {
    if any(&all.mover, names) {
        Assumed::Mover
    } else if any(&all.atomic, names) {
        Assumed::Atomic
    } else {
        Assumed::Nothing
    }
}

fn method_names(tables: &Tables, id: MethodId) -> Vec<String> {
    let Some(method) = tables.methods.get(id) else {
        return Vec::new();
    };
    let class = tables.class_name(method.class);
    let name = format!("{class}.{}", tables.text(method.name));
    let full = format!("{name}{}", tables.text(method.descriptor));
    vec![name, full]
}

fn region_names(tables: &Tables, id: RegionId) -> Vec<String> {
    match tables.regions.get(id) {
        Some(region) => match region.method {
            Some(method) => {
                let mut names = method_names(tables, method);
                if let Some(block) = tables.block_number(region) {
                    for name in &mut names {
                        name.push_str(&format!("@{block}"));
                    }
                }
                names
            }
            None => vec![tables.text(region.name).to_owned()],
        },
        None => Vec::new(),
    }
}

fn field_names(tables: &Tables, id: VarId) -> Vec<String> {
    match tables.vars().get(id).map(|var| var.part) {
        Some(Part::Field(field)) => vec![tables.field_name(field)],
        _ => vec![tables.var_name(id)],
    }
}

#[cfg(test)]
mod tests {
    use untorn_model::{Class, Field, Lock, Method, Object, Region, RegionKind, Site, Var};

    use super::*;

    #[test]
    fn a_star_stays_within_dots_and_two_do_not() {
        let check = |pattern: &str, text: &str| Pattern::new(pattern).matches(text);
        assert!(check("bank.Account.get", "bank.Account.get"));
        assert!(!check("bank.Account.get", "bank.Account.getAll"));
        assert!(check("bank.*.get*", "bank.Account.getAll"));
        assert!(!check("*.get", "bank.Account.get"));
        assert!(check("**.get", "bank.Account.get"));
        assert!(check("*", "") && check("**", ""));
        assert!(check("*Account*", "Account"));
        assert!(!check("a*a", "a"));
        assert!(check("a*b*b", "abab"));
        assert!(!check("a*b*c", "acb"));
    }

    /// Two accounts with a balance; the second's monitor is used as a lock.
    fn bank() -> Tables {
        let mut t = Tables::default();
        let [account, balance, get, descriptor, one, file, monitor] = [
            "bank.Account",
            "balance",
            "get",
            "()I",
            "bank.Account.get@1",
            "Account.java",
            "monitor",
        ]
        .map(|text| t.strings.intern(text).unwrap());
        let class = (t.classes.push(Class {
            name: account,
            source_file: None,
        }))
        .unwrap();
        let field = t.fields.push(Field {
            class,
            name: balance,
        });
        let method = t.methods.push(Method {
            class,
            name: get,
            descriptor,
        });
        for (kind, name) in [(RegionKind::Method, get), (RegionKind::Block, one)] {
            t.regions.push(Region {
                kind,
                method,
                name,
                site: SiteId::UNKNOWN,
            });
        }
        for _ in 0..2 {
            let object = t.objects.push(Object {
                class: Some(class),
                name: None,
            });
            let part = Part::Field(field.unwrap());
            let object = object.unwrap();
            t.add_var(Var { object, part });
        }
        t.locks.push(Lock {
            kind: LockKind::Monitor,
            object: Some(ObjectId(1)),
            name: monitor,
        });
        t.sites.push(Site {
            method,
            file: Some(file),
            line: 7,
        });
        t
    }

    #[test]
    fn names_of_methods_blocks_fields_and_lines_are_matched() {
        let tables = bank();
        let mut resolved = Resolved::new(Assumptions {
            atomic: vec!["bank.Account.get()I".into()],
            mover: vec!["**.get@1".into()],
            guarded: vec!["bank.Account.bal*".into()],
            no_warn: vec!["Account.java:7".into()],
            guards: Vec::new(),
        });
        resolved.grow(&tables);
        assert_eq!(resolved.of_method(MethodId(0)), Assumed::Atomic);
        assert_eq!(resolved.of_region(RegionId(0)), Assumed::Atomic);
        assert_eq!(resolved.of_region(RegionId(1)), Assumed::Mover);
        assert_eq!(resolved.of_region(RegionId::ANONYMOUS), Assumed::Nothing);
        assert!(resolved.is_guarded(VarId(0)) && resolved.is_guarded(VarId(1)));
        assert!(resolved.is_silenced(SiteId(0)) && !resolved.is_silenced(SiteId::UNKNOWN));
        assert_eq!(resolved.guard(&tables, VarId(0)), None);
    }

    #[test]
    fn a_field_guarded_by_this_is_guarded_by_the_monitor_of_its_own_object() {
        let tables = bank();
        let mut resolved = Resolved::new(Assumptions {
            guards: vec![("**.balance".into(), Guard::This)],
            ..Assumptions::default()
        });
        resolved.grow(&tables);
        // Nobody has locked the first account.
        assert_eq!(resolved.guard(&tables, VarId(0)), Some(None));
        assert_eq!(resolved.guard(&tables, VarId(1)), Some(Some(LockId(0))));
    }
}
