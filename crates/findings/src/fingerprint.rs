//! A name for a defect that survives new runs and moved lines.
//!
//! It is made of what the region is called and, for a cycle that blames nobody, of what its other regions are called.
//! Lines, threads, objects, keys, verdicts and the analyses that noticed are left out: they differ from run to run.
//! So are the locations of a tear: which of its fields tear a region is a matter of the schedule.

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
        let field = field.map(without_instances);
        for part in [class, Some(method), descriptor, field.as_deref()] {
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

/// Names of locations without the numbers of their objects and without keys and indices: `Map[]` for `Map@7["k"]`.
fn without_instances(names: &str) -> String {
    let mut kept = String::with_capacity(names.len());
    let mut rest = names.chars().peekable();
    let mut quoted = false;
    while let Some(letter) = rest.next() {
        match letter {
            // A key is text of the program, in which brackets mean nothing.
            '"' => quoted = !quoted,
            _ if quoted => {}
            '@' => while rest.next_if(char::is_ascii_alphanumeric).is_some() {},
            '[' => {
                kept.push('[');
                while rest.next_if(|next| !matches!(next, ']' | '"')).is_some() {}
            }
            other => kept.push(other),
        }
    }
    // Several keys of one collection are one location.
    let mut parts: Vec<&str> = kept.split(", ").collect();
    parts.dedup();
    parts.join(", ")
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
