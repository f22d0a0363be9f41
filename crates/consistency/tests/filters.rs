//! Each filter is a switch: switching it changes exactly what it is about.

#![allow(clippy::unwrap_used)]

mod support;

use support::{library, reported, run};
use untorn_consistency::Options;

/// What is reported of a nested class of `Filters` under given options.
fn of(class: &str, options: &Options) -> Vec<String> {
    let prefix = format!("Filters${class}");
    let own = reported(library(), options).into_iter().filter_map(|name| {
        let (owner, method) = name.rsplit_once('.')?;
        (owner == prefix).then(|| method.to_owned())
    });
    own.collect()
}

/// What is reported by default, and with one filter switched.
fn switched(class: &str, switch: impl FnOnce(&mut Options)) -> (Vec<String>, Vec<String>) {
    let mut options = Options::default();
    switch(&mut options);
    (of(class, &Options::default()), of(class, &options))
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn fields_of_several_classes_are_looked_at_apart() {
    let (on, off) = switched("Partition", |options| options.partition = false);
    assert_eq!(on, names(&[]));
    assert!(off.contains(&"inStepsOk".to_owned()), "{off:?}");
}

#[test]
fn constructors_write_before_anyone_reads() {
    let (on, off) = switched("Initializers", |options| options.initializers = false);
    assert_eq!(on, names(&[]));
    assert!(off.contains(&"sumOk".to_owned()), "{off:?}");
}

#[test]
fn volatile_fields_are_in_no_view() {
    let (on, off) = switched("Volatiles", |options| options.volatile_fields = false);
    assert_eq!((on, off), (names(&[]), names(&["incrementOk"])));
}

#[test]
fn what_atomic_variables_hold_goes_with_volatile_fields() {
    let (on, off) = switched("Atomics", |options| options.volatile_fields = false);
    assert_eq!((on, off), (names(&[]), names(&["incrementOk"])));
}

#[test]
fn what_concurrent_collections_hold_can_be_left_out() {
    let (off, on) = switched("Concurrents", |options| options.concurrent = true);
    assert_eq!((off, on), (names(&["countBad"]), names(&[])));
}

#[test]
fn final_fields_are_in_no_view() {
    // A final field is read-only as well: without that filter it is this one that leaves it out.
    let with_final = |final_fields| Options {
        final_fields,
        read_only_fields: false,
        ..Options::default()
    };
    assert_eq!(of("Finals", &with_final(true)), names(&[]));
    assert_eq!(of("Finals", &with_final(false)), names(&["sumOk"]));
}

#[test]
fn fields_that_nothing_writes_are_in_no_view() {
    let (on, off) = switched("ReadOnly", |options| options.read_only_fields = false);
    assert_eq!((on, off), (names(&[]), names(&["sumOk"])));
}

#[test]
fn reads_that_only_decide_do_not_leave_the_lock() {
    let (off, on) = switched("Tested", |options| options.escaping_values = true);
    assert_eq!((off, on), (names(&["useTestedBad"]), names(&[])));
}

#[test]
fn values_that_are_returned_do_leave_the_lock() {
    let (off, on) = switched("Levels", |options| options.escaping_values = true);
    assert_eq!(
        (off, on),
        (names(&["incrementBad"]), names(&["incrementBad"]))
    );
}

#[test]
fn callers_of_reported_methods_are_named_with_them_only() {
    let (on, off) = switched("Levels", |options| options.lowest = false);
    assert_eq!(on, names(&["incrementBad"]));
    assert_eq!(off, names(&["callsItOk", "incrementBad"]));
    let findings = run(library(), &Options::default()).findings;
    let finding = findings
        .iter()
        .find(|finding| finding.region.short_name() == "Filters$Levels.incrementBad")
        .unwrap();
    let enclosing: Vec<String> = (finding.evidence.enclosing.iter())
        .map(|region| region.method.clone())
        .collect();
    assert_eq!(enclosing, names(&["callsItOk"]));
}

#[test]
fn larger_views_give_way_to_smaller_ones() {
    let (on, off) = switched("Sizes", |options| options.smallest = false);
    assert_eq!(
        (on, off),
        (names(&["smallBad"]), names(&["largeOk", "smallBad"]))
    );
}

#[test]
fn what_gives_way_to_a_smaller_view_is_named_there() {
    let findings = run(library(), &Options::default()).findings;
    let notes = (findings.iter())
        .find(|finding| finding.region.short_name() == "Filters$Sizes.smallBad")
        .map(|finding| finding.evidence.notes.join("; "))
        .unwrap();
    assert!(notes.contains("Filters$Sizes.largeOk"), "{notes}");
}

#[test]
fn arrays_are_one_variable_if_asked_for() {
    let (off, on) = switched("Arrays", |options| options.arrays = true);
    assert_eq!((off, on), (names(&[]), names(&["incrementOk"])));
}

#[test]
fn input_and_output_of_the_library_are_left_out() {
    let (on, off) = switched("Output", |options| options.io = false);
    assert_eq!((on, off), (names(&[]), names(&["firstOk"])));
}

#[test]
fn methods_without_locks_of_their_own_are_left_to_their_callers() {
    let literal = |options: &mut Options| {
        options.subordinate = false;
        options.one_section = false;
    };
    let (on, off) = switched("Bare", literal);
    assert_eq!((on, off), (names(&[]), names(&["addOk", "get", "set"])));
}

#[test]
fn one_critical_section_is_no_inconsistency() {
    let literal = Options {
        one_section: false,
        ..Options::default()
    };
    let all = reported(library(), &literal);
    assert!(all.contains("Account.depositOk"), "{all:?}");
    assert!(!reported(library(), &Options::default()).contains("Account.depositOk"));
}
