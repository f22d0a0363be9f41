//! The hash by which a class file is known again.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A class file's hash; sixteen hexadecimal digits where it is saved, since not every reader of JSON has whole numbers of 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Hash(pub u64);

/// FNV-1a of a class file: the same in every run and version, and enough to notice that a class was compiled anew.
pub fn hash_of(bytes: &[u8]) -> Hash {
    Hash((bytes.iter()).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    }))
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{:016x}", self.0))
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        u64::from_str_radix(&text, 16)
            .map(Self)
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_saved_as_text() {
        let text = serde_json::to_string(&hash_of(b"class")).unwrap();
        assert_eq!(text.len(), 18, "{text}");
        assert_eq!(
            serde_json::from_str::<Hash>(&text).unwrap(),
            hash_of(b"class")
        );
        assert!(serde_json::from_str::<Hash>("\"no\"").is_err());
    }
}
