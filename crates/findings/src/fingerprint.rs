//! A name for a defect that survives new runs and moved lines.
//!
//! It is made of what the region is called and, for a cycle that blames nobody, of what its other regions are called.
//! Lines, threads, object numbers and the analyses that noticed are left out: they differ from run to run.

use sha2::{Digest, Sha256};

use crate::Region;

/// The fingerprint of a finding about `region`, with the other regions of its group.
pub fn fingerprint(region: &Region, group: &[Region]) -> String {
    // A cycle is the same whichever of its regions is named first.
    let mut members: Vec<_> = std::iter::once(region)
        .chain(group)
        .map(Region::identity)
        .collect();
    members.sort_unstable();
    let mut hash = Sha256::new();
    for (class, method, descriptor, block, field) in members {
        for part in [class, Some(method), descriptor, field] {
            hash.update(part.unwrap_or("").as_bytes());
            hash.update([0]);
        }
        hash.update(block.unwrap_or(0).to_le_bytes());
    }
    hash.finalize()[..10]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_do_not_matter_and_names_do() {
        let mut region = Region {
            class: Some("bank.Account".into()),
            method: "deposit".into(),
            descriptor: Some("(I)V".into()),
            line: Some(12),
            ..Region::default()
        };
        let before = fingerprint(&region, &[]);
        region.line = Some(40);
        assert_eq!(fingerprint(&region, &[]), before);
        region.block = Some(1);
        assert_ne!(fingerprint(&region, &[]), before);
        let (a, b) = (Region::labelled("a"), Region::labelled("b"));
        assert_eq!(
            fingerprint(&a, std::slice::from_ref(&b)),
            fingerprint(&b, std::slice::from_ref(&a))
        );
    }
}
