//! Every fixture method says in its name what is to be reported of it: `…Bad` is, all others are not.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;

use support::{application, library, named, reported};
use untorn_consistency::Options;
use untorn_program::Assumption;

#[test]
fn library_methods_get_the_verdict_in_their_name() {
    let program = library();
    let bad = named(program, "Bad");
    let ok = named(program, "Ok");
    assert!(
        bad.len() >= 20 && ok.len() >= 30,
        "{} {}",
        bad.len(),
        ok.len()
    );
    assert_eq!(reported(program, &Options::default()), bad);
}

/// The names of the methods that an application's own code may have reported.
fn bad(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn updaters_of_one_account_are_reported() {
    let program = application("Updaters");
    let found = reported(&program, &Options::default());
    assert_eq!(found, bad(&["Updaters$Account.updateBad"]));
}

#[test]
fn a_single_thread_is_never_reported() {
    for main in ["Alone$SingleThreaded", "Alone$OneWorker"] {
        let found = reported(&application(main), &Options::default());
        assert_eq!(found, bad(&[]), "{main}");
    }
}

#[test]
fn accounts_that_each_thread_makes_for_itself_are_not_reported() {
    let program = application("Alone$ThreadLocals");
    assert_eq!(reported(&program, &Options::default()), bad(&[]));
}

#[test]
fn methods_are_judged_by_the_objects_they_are_called_on() {
    let program = application("Contexts");
    let found = reported(&program, &Options::default());
    assert_eq!(found, bad(&["Contexts$Worker.sharedBad"]));
}

#[test]
fn steps_on_synchronized_collections_are_reported() {
    let program = application("Steps");
    let found = reported(&program, &Options::default());
    let expected = ["Steps.countBad", "Steps.firstBad", "Steps.iterateBad"];
    assert_eq!(found, bad(&expected));
}

#[test]
fn containers_and_wrappers_of_the_program_are_told_apart() {
    let program = application("Boxes");
    let found = reported(&program, &Options::default());
    let expected = ["Boxes$Worker.sharedBad", "Boxes$Worker.wrappedBad"];
    assert_eq!(found, bad(&expected));
}

#[test]
fn reflection_is_followed_where_constants_name_what_it_reaches() {
    let program = application("ByName");
    let found = reported(&program, &Options::default());
    assert_eq!(found, bad(&["ByName$Account.updateBad"]));
    // One class is named by an argument: forName, getDeclaredConstructor and newInstance of it are assumptions.
    assert_eq!(program.assumptions().count(Assumption::Reflection), 3);
}
