//! What the agent of a steered run counts, by plan and pause point: how both sides call it.

/// By the numbers that the Java runtime uses.
pub const KINDS: [&str; 7] = [
    "reached", "met", "late", "needed", "alone", "waited", "joined",
];

/// The execution of the region came to its pause point.
pub const REACHED: &str = KINDS[0];
/// A partner came while the thread paused.
pub const MET: &str = KINDS[1];
/// Nobody came in time.
pub const LATE: &str = KINDS[2];
/// Somebody needed a lock that the thread held.
pub const NEEDED: &str = KINDS[3];
/// Nobody was there who could come: every other thread waited for something.
pub const ALONE: &str = KINDS[4];
/// A partner that came first waited.
pub const WAITED: &str = KINDS[5];
/// The region's thread came while a partner waited.
pub const JOINED: &str = KINDS[6];

const PREFIX: &str = "steering ";

/// The name of a count.
pub fn name(plan: usize, point: usize, what: &str) -> String {
    format!("{PREFIX}{plan}.{point} {what}")
}

/// What a name counts: the plan and the pause point, from 0, and one of [`KINDS`].
pub fn parse(name: &str) -> Option<(usize, usize, &'static str)> {
    let (numbers, what) = name.strip_prefix(PREFIX)?.split_once(' ')?;
    let (plan, point) = numbers.split_once('.')?;
    let kind = KINDS.iter().find(|kind| **kind == what)?;
    Some((plan.parse().ok()?, point.parse().ok()?, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_made() {
        assert_eq!(parse(&name(3, 1, MET)), Some((3, 1, MET)));
        assert_eq!(parse("classes rewritten"), None);
    }
}
