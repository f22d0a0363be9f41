//! Which language a file is written in.

use std::path::Path;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Language {
    Java,
    Kotlin,
    Scala,
}

impl Language {
    /// By the ending of the name; none if it is no source that we read.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "java" => Some(Self::Java),
            "kt" | "kts" => Some(Self::Kotlin),
            "scala" | "sc" => Some(Self::Scala),
            _ => None,
        }
    }

    pub(crate) fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::Java => tree_sitter_java::LANGUAGE.into(),
            Self::Kotlin => tree_sitter_kotlin_ng::LANGUAGE.into(),
            Self::Scala => tree_sitter_scala::LANGUAGE.into(),
        }
    }
}
