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
            "List.addPair is declared `atomic` (List.java:34:5), but is `this ? mover : cmpd`: it calls List.add(int) (line 36), and then calls List.add(int) (line 37)"
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

/// `always_held` guards nothing, not even through the ghost of what is around.
#[test]
fn a_lock_that_all_hold_guards_nothing_inside_either() {
    let fixture = Declared::of("Nest.java");
    let outcome = fixture.types().outcome();
    assert!(
        !outcome.proved.contains(&"Nest.bump".to_owned()),
        "{:?}",
        outcome.proved
    );
    assert!(!outcome.found.is_empty());
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

#[test]
fn annotations_of_class_files_are_known_by_their_simple_names() {
    let fixture = Declared::of("Annotated.java");
    let mut types = fixture.types();
    types.guard("annotated/Cache.hits", "no_guard");
    types.guard("annotated/Cache.all", "guarded_by annotated.Cache.class");
    types.guard("annotated/Cache.rows", "guarded_by annotated.Cache.TABLE");
    types.guard("annotated/Cache.odd", "guarded_by this.passed");
    types.guard("annotated/Cache.prose", "guarded_by this");
    types.guard("annotated/Cache$Inner.mine", "guarded_by this.this$0");
    types.expect("annotated/Cache.fill", "this.content ? mover : atomic");
    let outcome = types.outcome();
    assert!(
        outcome.messages.iter().any(|message| message.starts_with(
            "annotated.Cache.hits is declared guarded_by this (annotated.Cache.hits @GuardedBy), but this is not held here (annotated.Cache.torn line 43)."
        )),
        "{:?}",
        outcome.messages
    );
    for torn in ["Cache.torn", "Cache.count", "Cache.hits"] {
        assert!(
            outcome.found.contains(&torn.to_owned()),
            "{:?}",
            outcome.found
        );
    }
    // Not asked for: declared compound, assumed, or in a class that is not thread-safe.
    for silent in ["Cache.twice", "Cache.assumed", "Plain.two"] {
        assert!(
            !outcome.found.contains(&silent.to_owned()),
            "{:?}",
            outcome.found
        );
    }
    let assumed: Vec<&str> = outcome
        .assumed
        .iter()
        .map(|(what, _)| what.as_str())
        .collect();
    assert!(
        assumed.contains(&"this.passed excludes others"),
        "{assumed:?}"
    );
    assert!(
        assumed.contains(&"annotated.Cache.assumed()V is one step"),
        "{assumed:?}"
    );
    let notes = types.notes();
    assert!(
        notes.iter().any(|note| note.starts_with("annotated.Cache.prose @GuardedBy: `the` is no parameter")),
        "{notes:?}"
    );
}

#[test]
fn a_malformed_annotation_is_an_error_with_its_place() {
    // Comments are nothing to the compiler, so one compiled class serves all of them.
    let around = |line: &str| {
        format!(
            "package p;\nclass A {{\n    final Object lock = new Object();\n    Object moving;\n    int x;\n{line}\n    void set() {{ x++; moving = this; }}\n}}\n"
        )
    };
    let mut fixture = Declared::compiled(
        "A.java",
        &around(
            "int a; static int b; A c; void m() { { x++; } } int k() { int y = 0; return y; } void n() { a++; }",
        ),
    );
    let mut with = |line: &str| {
        fixture.text = around(line);
        fixture.error_by("")
    };
    for (line, expected) in [
        (
            "    int a /*# guarded_by lokc */;",
            "A.java:6:26: `lokc` is no parameter, ghost, final field or class",
        ),
        (
            "    int a /*# guarded_by moving */;",
            "A.java:6:26: `moving` is no parameter, ghost, final field or class",
        ),
        (
            "    int a /*# guarded_by */;",
            "A.java:6:25: expected a lock",
        ),
        (
            "    int a /*# guarded_by always_held */;",
            "A.java:6:26: this lock excludes nobody",
        ),
        (
            "    static int b /*# guarded_by this */;",
            "A.java:6:33: there is no `this` here",
        ),
        (
            "    /*# this ? mover */ void m() {}",
            "A.java:6:21: expected `:`",
        ),
        (
            "    /*# this ?\n        mover : sometimes */ void m() {}",
            "A.java:7:17: `sometimes` is no parameter, ghost, final field or class",
        ),
        (
            "    /*# guarded_by this */ void m() {}",
            "A.java:6:5: this cannot be said of a method",
        ),
        (
            "    /*# guradedby this */ int a;",
            "A.java:6:9: no annotation begins with `guradedby`;",
        ),
        (
            "    void m() { /*# atomic */ x++; }",
            "A.java:6:16: there is nothing that this speaks of;",
        ),
        (
            "    void m() { /*# cmpd */ { x++; } }",
            "A.java:6:16: of a block only `atomic` can be said",
        ),
        (
            "    A /*# <this> */ c;",
            "A.java:6:7: the type has 0 ghosts, and 1 are given",
        ),
        (
            "    int k() { int /*# <this> */ y = 0; return y; }",
            "A.java:6:19: ghost arguments stand behind",
        ),
        (
            "    int a /*# guarded_by this */; /*# guarded_by lock */\n    void n() { a++; }",
            "A.java:6:35: this contradicts guarded_by this at A.java:6:11",
        ),
    ] {
        let found = with(line);
        assert!(found.starts_with(expected), "{line}: {found}");
    }
}

#[test]
fn the_specification_declares_too() {
    let text = "package p;\nclass A {\n    private int x;\n    private int racy;\n    public synchronized void add() { x++; }\n    public void two() { add(); add(); }\n    public int peek() { return x; }\n    public void tear() { racy++; racy++; }\n}\n";
    let spec = "
[[guard]]
field = \"p.A.x\"
by = \"this\"

[[atomicity]]
method = \"p.A.two\"
is = \"cmpd\"

[[assume]]
what = \"guarded\"
of = \"p.A.racy\"
";
    let fixture = Declared::compiled("A.java", text);
    let mut types = fixture.types_by(spec);
    types.expect("p/A.tear", "mover");
    let outcome = types.outcome();
    // Without its guard the method that keeps it is no longer one step.
    assert_eq!(outcome.found, ["A.add", "A.x"], "{:?}", outcome.messages);
    assert!(
        outcome.messages[1].starts_with("p.A.x is declared guarded_by this (specification, guard 1 (p.A.x)), but this is not held here (p.A.peek line 7)"),
        "{:?}",
        outcome.messages
    );
    assert_eq!(outcome.assumed.len(), 1);
    let wrong = spec.replace("by = \"this\"", "by = \"that\"");
    assert_eq!(
        fixture.error_by(&wrong),
        "specification, guard 1 (p.A.x): `that` is no parameter, ghost, final field or class"
    );
}

/// What is inferred can be read again, and then nothing is left to infer; what can be torn stays undeclared, so that it is reported again.
#[test]
fn what_is_inferred_reads_back() {
    let text = "package p;\nclass A {\n    private final Object lock = new Object();\n    private int x;\n    private int racy;\n    public void add(A other) { synchronized (lock) { x++; help(); } synchronized (other) { } }\n    private void help() { x--; }\n    public void tear() { racy++; }\n}\n";
    let fixture = Declared::compiled("A.java", text);
    let mut types = fixture.types();
    let written = types.inferred();
    assert_eq!(
        written,
        [
            "p.A.<init>: mover",
            "p.A.add: this.lock ? (other ? mover : atomic) : (other ? atomic : cmpd)",
            "p.A.help: this.lock ? mover : error",
            "p.A.racy: no_guard",
            "p.A.tear: not atomic: Between where it reads A.racy (line 8) and where it writes A.racy (line 8), A.tear() writes A.racy (line 8).",
            "p.A.x: guarded_by this.lock",
        ]
    );
}

#[test]
fn ghosts_of_methods_and_atomic_classes() {
    let fixture = Declared::of("Cell.java");
    let mut types = fixture.types();
    types.expect("cell/Sums.twice", "z ? mover : error");
    types.expect("cell/Owner.given", "this ? mover : atomic");
    types.expect("cell/Owner.inferred", "this ? mover : atomic");
    types.expect("cell/Owner.torn", "this ? mover : cmpd");
    let outcome = types.outcome();
    assert_eq!(outcome.found, ["Owner.torn"], "{:?}", outcome.messages);
    assert!(
        outcome.messages[0].starts_with("Owner.torn is declared `atomic` (Cell.java:21:1), but is"),
        "{:?}",
        outcome.messages
    );
}

#[test]
fn an_override_keeps_to_what_the_overridden_method_declares() {
    let fixture = Declared::compiled(
        "Tally.java",
        "class Tally {
            protected int count;

            /*# atomic */
            public synchronized void add() { count++; }

            public synchronized void both() { add(); count++; }
        }

        class Loose extends Tally {
            public void add() { super.add(); super.add(); }
        }

        class Strict extends Tally {
            public synchronized void add() { count += 2; }
        }
        ",
    );
    let mut types = fixture.types();
    let outcome = types.outcome();
    let said = |text: &str| {
        outcome
            .messages
            .iter()
            .any(|message| message.contains(text))
    };
    assert!(
        said(
            "Loose.add is `this ? mover : cmpd`, but Tally.add, which it overrides, is declared `atomic`"
        ),
        "{:?}",
        outcome.messages
    );
    assert!(!said("Strict.add is"), "{:?}", outcome.messages);
}
