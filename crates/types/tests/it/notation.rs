//! The paper's notation: what is printed reads back as the same atomicity, and malformed text is refused with its place.

use crate::terms::{World, terms};
use proptest::prelude::*;
use untorn_types::basic::Basic;
use untorn_types::locks::{FieldName, Lock, Locks, Root};
use untorn_types::notation::{NameScope, parse_atomicity, parse_lock, print_atomicity};

struct Names {
    ghosts: Vec<(String, Root)>,
}

impl Names {
    fn of(world: &World) -> Names {
        let ghosts = world
            .ghosts
            .iter()
            .map(|&g| {
                (
                    world.algebra.locks.describe(g, &[]),
                    world.algebra.locks.root_of(g),
                )
            })
            .collect();
        Names { ghosts }
    }
}

impl NameScope for Names {
    fn variable(&self, name: &str) -> Option<Root> {
        let ghost = self
            .ghosts
            .iter()
            .find(|(n, _)| n == name)
            .map(|&(_, root)| root);
        ghost.or((name == "p").then_some(Root::Param(0)))
    }
    fn field(&self, locks: &mut Locks, base: Lock, name: &str) -> Option<FieldName> {
        let instance =
            matches!(name, "lock" | "out") && !matches!(locks.root_of(base), Root::Class(_));
        (instance || name == "LOG").then(|| locks.field_name("C", name))
    }
    fn class(&self, locks: &mut Locks, name: &str) -> Option<Root> {
        (name == "java.lang.String").then(|| Root::Class(locks.class(name)))
    }
}

fn printed(text: &str) -> Result<String, String> {
    let mut world = World::new();
    let names = Names::of(&world);
    let a = parse_atomicity(&mut world.algebra, &names, text).map_err(|e| e.to_string())?;
    Ok(print_atomicity(&mut world.algebra, a, &["p".to_owned()]))
}

proptest! {
    #[test]
    fn printing_reads_back(a in terms(&Basic::ALL, true)) {
        let mut world = World::new();
        let names = Names::of(&world);
        let x = world.build(&a);
        let text = print_atomicity(&mut world.algebra, x, &["p".to_owned()]);
        let read = parse_atomicity(&mut world.algebra, &names, &text);
        prop_assert_eq!(read, Ok(x), "{}", text);
    }

    #[test]
    fn no_text_panics(text in "[()?:=. a-z\u{e9}]{0,24}") {
        let _ = printed(&text);
    }
}

#[test]
fn what_the_paper_writes_prints_as_it_does() {
    let same = [
        "atomic",
        "this ? mover : atomic",
        "p ? mover : cmpd",
        "(x = none) ? (this ? mover : atomic) : (x ? mover : error)",
        "(x = always_held) ? atomic : (x ? mover : error)",
        "this.out.lock ? (this.lock ? mover : atomic) : cmpd",
        "java.lang.String.class ? mover : atomic",
        "this.lock.readLock() ? mover : error",
        "tll ? cmpd : error",
        "this ? const : right",
    ];
    for text in same {
        assert_eq!(printed(text).as_deref(), Ok(text));
    }
}

#[test]
fn other_ways_of_writing() {
    let pairs = [
        ("this?mover:atomic", "this ? mover : atomic"),
        ("(this) ? (mover) : ((atomic))", "this ? mover : atomic"),
        ("lock ? mover : atomic", "this.lock ? mover : atomic"),
        ("x=none?atomic:cmpd", "(x = none) ? atomic : cmpd"),
        (
            "this ? (this ? mover : error) : atomic",
            "this ? mover : atomic",
        ),
        ("this ? mover : mover", "mover"),
        (
            "lock.writeLock() ? mover : atomic",
            "this.lock ? mover : atomic",
        ),
        ("always_held ? mover : atomic", "mover"),
        (
            "java.lang.String.LOG ? mover : atomic",
            "java.lang.String.LOG ? mover : atomic",
        ),
    ];
    for (text, expected) in pairs {
        assert_eq!(printed(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn malformed_text_is_an_error_with_its_place() {
    let cases = [
        ("", "at offset 0: expected a name"),
        ("this ?", "at offset 6: expected a name"),
        ("this ? mover", "at offset 12: expected `:`"),
        ("atomic atomic", "at offset 7: expected the end"),
        (
            "this = none ? mover : error",
            "at offset 0: only a ghost can be compared",
        ),
        (
            "nowhere ? mover : error",
            "at offset 0: `nowhere` is no parameter, ghost, final field or class",
        ),
        (
            "this.size ? mover : error",
            "at offset 5: `size` is no final field here",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(printed(text), Err(message.to_owned()), "{text}");
    }
    let mut world = World::new();
    let names = Names::of(&world);
    let long = parse_lock(&mut world.algebra, &names, "this.out.out.out.out.out");
    assert_eq!(
        long.unwrap_err().problem,
        "this lock expression is too long"
    );
    let deep = format!("{}atomic", "(".repeat(100_000));
    assert!(
        parse_atomicity(&mut world.algebra, &names, &deep)
            .unwrap_err()
            .problem
            .contains("nested")
    );
}
