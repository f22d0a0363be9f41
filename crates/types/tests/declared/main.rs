//! The paper's programs with annotations in comments, compiled by javac: the type of each method, printed exactly, and what is wrong with it.

#![allow(clippy::unwrap_used)]

mod support;

use support::{Declared, error};

#[test]
fn list_and_element_with_ghost_lock() {
    let fixture = Declared::of("List.java");
    let mut types = fixture.types();
    types.expect("list/ListElem.get", "x ? mover : error");
    types.expect("list/ListElem.rest", "x ? mover : error");
    types.expect("list/List.add", "this ? mover : atomic");
    types.expect("list/List.addPair", "this ? mover : cmpd");
    types.expect("list/List.get", "this ? mover : atomic");
    types.expect("list/List.sum", "this ? mover : atomic");
    types.guard("list/ListElem.num", "guarded_by x");
    types.guard("list/ListElem.next", "guarded_by x");
    types.guard("list/List.elems", "guarded_by this");
    let outcome = types.outcome();
    assert_eq!(outcome.found, ["List.addPair"], "{:?}", outcome.messages);
    assert!(
        outcome.messages[0].starts_with(
            "List.addPair is declared `atomic` (List.java:34:5), but is `this ? mover : cmpd`: it calls list.List.add(I)V (line 36), and then calls list.List.add(I)V (line 37)"
        ),
        "{:?}",
        outcome.messages
    );
    assert_eq!(
        outcome.proved,
        [
            "List.add",
            "List.add block 1",
            "List.get",
            "List.get block 1",
            "List.sum",
            "ListElem.get",
            "ListElem.rest"
        ]
    );
    // Whoever calls an element from outside must hold its lock.
    assert_eq!(outcome.assumed.len(), 2, "{:?}", outcome.assumed);
    assert!(
        outcome.assumed[0]
            .0
            .contains("holds x when it calls list.ListElem.get"),
        "{:?}",
        outcome.assumed
    );
}

#[test]
fn ghost_arguments_must_agree() {
    let problem = error("BadList.java");
    assert_eq!(
        problem,
        "BadList.java:12:1: in list.BadList.put()V an object with the ghost argument `this.other` is used where `this` is wanted"
    );
}

#[test]
fn account() {
    let fixture = Declared::of("Account.java");
    let mut types = fixture.types();
    types.expect("bank/Account.read", "this ? mover : atomic");
    types.expect("bank/Account.set", "this ? mover : atomic");
    types.expect("bank/Account.deposit", "this ? mover : cmpd");
    types.expect("bank/Account.depositLocked", "this ? mover : atomic");
    let outcome = types.outcome();
    // `deposit` ought to be atomic because its class synchronizes; the others because somebody says so.
    assert_eq!(
        outcome.found,
        [
            "Account.blocks",
            "Account.blocks block 3",
            "Account.deposit",
            "Account.depositDeclared"
        ],
        "{:?}",
        outcome.messages
    );
    // A block that only a caller with the lock reaches is atomic there.
    assert!(
        outcome.proved.contains(&"Account.help block 1".to_owned()),
        "{:?}",
        outcome.proved
    );
    assert!(
        outcome
            .proved
            .contains(&"Account.blocks block 2".to_owned()),
        "{:?}",
        outcome.proved
    );
    assert!(outcome.assumed.is_empty());
}

#[test]
fn buffer_append_and_string_compare() {
    let fixture = Declared::of("Text.java");
    let mut types = fixture.types();
    types.expect("text/Text.contentEquals", "sb ? mover : cmpd");
    types.expect("text/Text.contentEqualsLocked", "sb ? mover : atomic");
    types.expect("text/Buffer.length", "this ? mover : atomic");
    types.expect(
        "text/Buffer.append",
        "this ? (sb ? mover : cmpd) : (sb ? atomic : cmpd)",
    );
    types.guard("text/Buffer.first", "guarded_by this");
    // What is declared compound is not asked to be atomic.
    assert_eq!(types.outcome().found, ["Buffer.append"]);
}

#[test]
fn vector_and_what_implements_its_collection() {
    let fixture = Declared::of("Vec.java");
    let mut types = fixture.types();
    types.expect("vec/Vec.indexOf", "this ? mover : atomic");
    types.expect("vec/Vec.remove", "this ? mover : atomic");
    types.expect("vec/TornBag.size", "this ? mover : atomic");
    types.expect("vec/TornBag.copyTo", "this ? mover : cmpd");
    let outcome = types.outcome();
    assert_eq!(outcome.found, ["TornBag.copyTo"], "{:?}", outcome.messages);
    assert!(
        outcome.messages[0].contains("but Bag.copyTo, which it implements, is declared `this ? mover : atomic` (Vec.java:8:5)"),
        "{:?}",
        outcome.messages
    );
}

#[test]
fn observable_with_protected_vector_lock() {
    let fixture = Declared::of("Observable.java");
    let mut types = fixture.types();
    let vector = "(x = none) ? (this ? mover : atomic) : (x ? mover : error)";
    types.expect("watch/Vector.add", vector);
    types.expect("watch/Vector.contains", vector);
    types.expect("watch/Observable.addObserver", "this ? mover : atomic");
    types.expect(
        "watch/Unprotected.addObserver",
        "this.obs ? (this ? mover : atomic) : cmpd",
    );
    assert_eq!(types.outcome().found, ["Unprotected.addObserver"]);
}

#[test]
fn synchronized_wrapper_counter() {
    let fixture = Declared::of("Counter.java");
    let mut types = fixture.types();
    types.expect(
        "count/Counter.inc",
        "(lock1 = always_held) ? atomic : (lock1 ? mover : error)",
    );
    types.expect("count/UnsyncCounter.inc", "lock2 ? mover : error");
    types.expect("count/SyncCounter.inc", "this ? mover : atomic");
    let outcome = types.outcome();
    assert!(outcome.found.is_empty(), "{:?}", outcome.messages);
    assert!(
        outcome.proved.contains(&"SyncCounter.inc".to_owned()),
        "{:?}",
        outcome.proved
    );
}

#[test]
fn print_writer() {
    let fixture = Declared::of("PrintWriter.java");
    let mut types = fixture.types();
    let one = "this.out.lock ? (this.lock ? mover : atomic) : atomic";
    types.expect("print/Writer.write", "this.lock ? mover : atomic");
    types.expect("print/PrintWriter.print", one);
    types.expect("print/PrintWriter.println()V", one);
    types.expect(
        "print/PrintWriter.println(I)V",
        "this.out.lock ? (this.lock ? mover : atomic) : cmpd",
    );
    // The method is declared compound; its block is not.
    let outcome = types.outcome();
    assert_eq!(
        outcome.found,
        ["PrintWriter.println block 1"],
        "{:?}",
        outcome.messages
    );
}

#[test]
fn lazily_cached_permission_alloc_loop_and_escapes() {
    let fixture = Declared::of("Lazy.java");
    let mut types = fixture.types();
    types.expect("lazy/Permission.check", "cmpd");
    types.expect("lazy/Permission.hash", "const");
    types.expect("lazy/Alloc.alloc", "this ? mover : cmpd");
    types.expect("lazy/Escapes.trusted", "this.lock ? mover : error");
    types.expect("lazy/Escapes.fromHere", "atomic");
    types.expect("lazy/Escapes.assumed", "mover");
    types.expect("lazy/Escapes.callsNext", "atomic");
    types.expect("lazy/Escapes.callsNextTwice", "cmpd");
    types.guard("lazy/Escapes.count", "guarded_by this.lock");
    let outcome = types.outcome();
    assert_eq!(
        outcome.found,
        ["Escapes.callsNextTwice"],
        "{:?}",
        outcome.messages
    );
    let rests = |what: &str| -> Vec<String> {
        let (_, proofs) = outcome
            .assumed
            .iter()
            .find(|(known, _)| known.contains(what))
            .unwrap();
        proofs.clone()
    };
    assert_eq!(rests("next()V is one step"), ["Escapes.callsNext"]);
    assert_eq!(rests("racy is always protected"), ["Escapes.assumed"]);
    assert_eq!(
        rests("holds lock when it calls"),
        [
            "Escapes.fromHere",
            "Escapes.locked",
            "Escapes.locked block 1",
            "Escapes.trusted"
        ]
    );
    assert_eq!(
        rests("lock is held in"),
        [
            "Escapes.fromHere",
            "Escapes.locked",
            "Escapes.locked block 1",
            "Escapes.trusted"
        ]
    );
    assert_eq!(rests("what line 22 does"), ["Permission.hash"]);
}
