//! What a location is called across the instances of a class: a report names a field once, however many objects have it.

use untorn_findings::Region;
use untorn_model::{ClassId, FieldId, Part, StrId, Tables, VarId};

/// A location without the instance it belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Symbol {
    Field(FieldId),
    /// The elements of arrays of one class.
    Elements(ClassId),
    /// What collections of one class hold under one key, or all of it.
    Entry(ClassId, Option<StrId>),
    /// A location of a text trace, or of an object whose class is unknown, stands for itself.
    Itself(VarId),
}

impl Symbol {
    pub fn of(tables: &Tables, var: VarId) -> Self {
        let Some(entry) = tables.vars().get(var) else {
            return Self::Itself(var);
        };
        let class = tables.objects.get(entry.object).and_then(|o| o.class);
        match (entry.part, class) {
            (Part::Field(field), _) => Self::Field(field),
            (Part::Element(_) | Part::Range(..), Some(class)) => Self::Elements(class),
            (Part::Key(key), Some(class)) => Self::Entry(class, Some(key)),
            (Part::Whole, Some(class)) => Self::Entry(class, None),
            _ => Self::Itself(var),
        }
    }

    /// What stands for some locations, sorted, each once.
    pub fn of_all(tables: &Tables, vars: &[VarId]) -> Vec<Self> {
        let mut symbols: Vec<Self> = vars.iter().map(|&var| Self::of(tables, var)).collect();
        symbols.sort_unstable();
        symbols.dedup();
        symbols
    }

    /// `bank.Account.balance`, `int[][..]`, `java.util.HashMap["k"]`; for a text trace its token.
    pub fn name(self, tables: &Tables) -> String {
        match self {
            Self::Field(field) => tables.field_name(field),
            Self::Elements(class) => format!("{}[..]", tables.class_name(class)),
            Self::Entry(class, Some(key)) => {
                format!("{}[\"{}\"]", tables.class_name(class), tables.text(key))
            }
            Self::Entry(class, None) => format!("{}[*]", tables.class_name(class)),
            Self::Itself(var) => tables.var_name(var),
        }
    }

    /// What a finding about this location alone is about.
    pub fn region(self, tables: &Tables) -> Region {
        let (class, field) = match self {
            Self::Field(field) => match tables.fields.get(field) {
                Some(entry) => (
                    Some(tables.class_name(entry.class).to_owned()),
                    tables.text(entry.name).to_owned(),
                ),
                None => (None, self.name(tables)),
            },
            Self::Elements(class) => (Some(tables.class_name(class).to_owned()), "[..]".to_owned()),
            Self::Entry(class, key) => {
                let entry = key.map_or_else(|| "*".to_owned(), |key| tables.text(key).to_owned());
                (
                    Some(tables.class_name(class).to_owned()),
                    format!("[{entry}]"),
                )
            }
            Self::Itself(_) => (None, self.name(tables)),
        };
        Region {
            class,
            field: Some(field),
            ..Region::default()
        }
    }
}
