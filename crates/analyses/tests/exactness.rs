//! The exact checkers against the brute-force oracle.

mod oracle;

use oracle::Oracle;
use untorn_trace::VecSource;

fn oracle_of(text: &str, sync_edges: bool) -> Oracle {
    let source = VecSource::from_text(text).unwrap();
    Oracle::new(
        untorn_trace::Source::tables(&source),
        source.events(),
        sync_edges,
    )
}

#[test]
fn the_oracle_sees_a_lost_update() {
    let truth = oracle_of(
        "A|begin(deposit)|1\nA|r(x)|2\nB|w(x)|3\nA|w(x)|4\nA|end|5\n",
        true,
    );
    assert_eq!(truth.first_violation, Some(3));
    assert!(truth.all.torn.contains(&0) && truth.data.blamed.contains(&0));
    assert_eq!(truth.components.len(), 1);
}

#[test]
fn the_oracle_blames_nobody_for_a_crossing_and_the_innermost_of_nested_regions() {
    let crossing =
        "A|begin(a)|1\nB|begin(b)|2\nA|w(x)|3\nB|w(y)|4\nB|r(x)|5\nA|r(y)|6\nA|end|7\nB|end|8\n";
    let truth = oracle_of(crossing, true);
    assert_eq!(truth.first_violation, Some(5));
    assert!(truth.all.torn.is_empty());
    let nested =
        "A|begin(a)|1\nA|begin(b)|2\nA|r(x)|3\nB|w(x)|4\nA|r(x)|5\nA|end|6\nA|r(x)|7\nA|end|8\n";
    let truth = oracle_of(nested, true);
    assert_eq!(truth.all.torn, [0, 1].into());
    assert_eq!(truth.all.blamed, [1].into());
}

#[test]
fn the_oracle_calls_a_region_torn_by_locks_alone_torn_but_not_by_data() {
    let text = "A|begin(a)|1\nA|acq(m)|2\nA|rel(m)|3\nB|acq(m)|4\nB|rel(m)|5\nA|acq(m)|6\nA|rel(m)|7\nA|end|8\n";
    let truth = oracle_of(text, true);
    assert!(truth.all.torn.contains(&0) && truth.data.torn.is_empty());
    assert!(!oracle_of(text, false).cyclic());
}
