//! Marks, annotations, names, snippets and write-back on Java text.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use untorn_sources::{Declaration, DeclarationKind, Edits, Folder, Form, GivenTo, SourceFile};

const QUEUE: &str = r#"package shop;

/*# ghost lock */
class Queue<T> {
    private int size /*# guarded_by this */ = 0;
    @GuardedBy("this") Object head, tail;

    Queue(int[] start) { }

    /*# this ? mover : atomic */
    public synchronized void add(java.util.List<T> item, int n[]) {
        size++; /*# no_warn */
    }

    @SuppressWarnings({"unchecked", "untorn"})
    public /*# atomic */ Object take(Object... hints) {
        /*# atomic */ { size--; }
        synchronized (this) { return head; }
    }

    static class Inner {
        Runnable task = new Runnable() { public void run() { class Local { int x; } } };
        Runnable other = new Runnable() { public void run() { synchronized (this) { } } };
    }
}
"#;

fn find<'a>(
    file: &'a SourceFile,
    kind: DeclarationKind,
    class: &str,
    name: &str,
) -> &'a Declaration {
    (file.declarations().iter())
        .find(|d| d.kind == kind && d.class == class && d.name == name)
        .unwrap_or_else(|| panic!("no {kind:?} {class} {name} in {:#?}", file.declarations()))
}

fn marks(declaration: &Declaration) -> Vec<&str> {
    declaration
        .marks
        .iter()
        .map(|mark| mark.text.as_str())
        .collect()
}

#[test]
fn marks_belong_to_what_they_stand_at() {
    let file = SourceFile::parse(QUEUE.to_owned());
    let of = |kind, name| marks(find(&file, kind, "shop.Queue", name));
    assert_eq!(of(DeclarationKind::Class, "Queue"), ["ghost lock"]);
    assert_eq!(of(DeclarationKind::Field, "size"), ["guarded_by this"]);
    assert!(of(DeclarationKind::Field, "tail").is_empty());
    assert_eq!(
        of(DeclarationKind::Method, "add"),
        ["this ? mover : atomic"]
    );
    assert_eq!(of(DeclarationKind::Method, "take"), ["atomic"]);
    assert_eq!(of(DeclarationKind::Block, "take"), ["atomic"]);
    let loose: Vec<_> = file
        .loose_marks()
        .iter()
        .map(|mark| (mark.text.as_str(), mark.line, mark.column))
        .collect();
    assert_eq!(loose, [("no_warn", 12, 17)]);
}

#[test]
fn names_are_those_of_the_class_files() {
    let file = SourceFile::parse(QUEUE.to_owned());
    find(&file, DeclarationKind::Class, "shop.Queue$Inner", "Inner");
    find(&file, DeclarationKind::Method, "shop.Queue$Inner$1", "run");
    find(
        &file,
        DeclarationKind::Field,
        "shop.Queue$Inner$1$1Local",
        "x",
    );
    let block = find(&file, DeclarationKind::Block, "shop.Queue$Inner$2", "run");
    assert_eq!(block.block, Some(1));
    assert_eq!(
        find(&file, DeclarationKind::Method, "shop.Queue", "<init>").parameters,
        ["int[]"]
    );
    assert_eq!(
        find(&file, DeclarationKind::Method, "shop.Queue", "add").parameters,
        ["java.util.List<T>", "int[]"]
    );
    assert_eq!(
        find(&file, DeclarationKind::Method, "shop.Queue", "take").parameters,
        ["Object[]"]
    );
}

#[test]
fn annotations_and_suppressions_are_read() {
    let file = SourceFile::parse(QUEUE.to_owned());
    let head = find(&file, DeclarationKind::Field, "shop.Queue", "head");
    assert_eq!(
        (
            head.annotations[0].name.as_str(),
            head.annotations[0].arguments.as_str()
        ),
        ("GuardedBy", "\"this\"")
    );
    let take = find(&file, DeclarationKind::Method, "shop.Queue", "take");
    assert!(take.suppresses("untorn") && !take.suppresses("other"));
    assert!(!find(&file, DeclarationKind::Method, "shop.Queue", "add").suppresses("untorn"));
    assert_eq!(
        file.around(12, DeclarationKind::Method).unwrap().name,
        "add"
    );
}

#[test]
fn what_is_written_back_is_read_again() {
    let file = SourceFile::parse(QUEUE.to_owned());
    let mut edits = Edits::default();
    let tail = find(&file, DeclarationKind::Field, "shop.Queue", "tail");
    edits
        .annotate(&file, tail, Form::Mark, "guarded_by this")
        .unwrap();
    let constructor = find(&file, DeclarationKind::Method, "shop.Queue", "<init>");
    edits
        .annotate(&file, constructor, Form::Mark, "mover")
        .unwrap();
    let add = find(&file, DeclarationKind::Method, "shop.Queue", "add");
    edits
        .annotate(&file, add, Form::Annotation, "Atomic")
        .unwrap();
    assert!(edits.annotate(&file, tail, Form::Mark, "x */ y").is_err());
    let again = SourceFile::parse(edits.apply(&file));
    assert!(
        again.text().contains("head, tail /*# guarded_by this */;"),
        "{}",
        again.text()
    );
    assert!(
        again
            .text()
            .contains("    @Atomic\n    public synchronized void add("),
        "{}",
        again.text()
    );
    assert_eq!(
        marks(find(
            &again,
            DeclarationKind::Method,
            "shop.Queue",
            "<init>"
        )),
        ["mover"]
    );
    assert_eq!(
        find(&again, DeclarationKind::Method, "shop.Queue", "add").annotations[0].name,
        "Atomic"
    );
}

#[test]
fn files_are_found_by_package_and_lines_beyond_the_end_are_none() {
    let folder = tempfile::tempdir().unwrap();
    for package in ["a/shop", "b/bank"] {
        let path = folder.path().join(package);
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("Queue.java"), QUEUE).unwrap();
    }
    let sources = Folder::open(&[folder.path().to_owned()]).unwrap();
    let path = sources.find("shop.Queue$Inner", "Queue.java").unwrap();
    assert!(path.ends_with("a/shop/Queue.java"));
    assert!(sources.find("other.Queue", "Queue.java").is_none());
    assert!(sources.find("shop.Queue", "Other.java").is_none());
    let file = Folder::read(path).unwrap();
    let snippet = file.snippet(5, 1).unwrap();
    assert_eq!(
        snippet
            .lines
            .iter()
            .map(|line| line.number)
            .collect::<Vec<_>>(),
        [4, 5, 6]
    );
    assert!(snippet.lines[1].text.contains("guarded_by"));
    assert!(file.snippet(1000, 2).is_none() && file.snippet(0, 2).is_none());
    assert!(Folder::open(&[folder.path().join("missing")]).is_err());
}

proptest! {
    #[test]
    fn damaged_sources_do_not_hurt(cut in 0..QUEUE.len(), junk in "[{}();/*#@a ]{0,20}") {
        let mut text = QUEUE.to_owned();
        text.replace_range(cut..(cut + 7).min(QUEUE.len()), &junk);
        let file = SourceFile::parse(text);
        for declaration in file.declarations() {
            prop_assert!(file.text().is_char_boundary(declaration.mark_at));
            prop_assert!(file.text().is_char_boundary(declaration.insert_at));
        }
    }
}

#[test]
fn deep_nesting_does_not_exhaust_the_stack() {
    let depth = 20_000;
    let text = format!(
        "class A {{ void m() {{ {}{} }} }}",
        "{".repeat(depth),
        "}".repeat(depth)
    );
    let file = SourceFile::parse(text);
    assert_eq!(find(&file, DeclarationKind::Method, "A", "m").lines, (1, 1));
}

#[test]
fn ghost_arguments_know_what_they_are_given_to() {
    let file = SourceFile::parse(
        "class D /*# ghost y */ extends C /*# <y> */ implements I /*# <none> */, J {\n\
         \x20   List<String> /*# <this> */ all = new List /*# <this> */ (), more;\n\
         \x20   a.b.C /*# <y> */ take(int n, E /*# <y> */ e) { return e.find /*# <y> */ (n); }\n\
         \x20   int x = 1 /*# <y> */;\n\
         }\n"
        .to_owned(),
    );
    let given: Vec<_> = (file.arguments().iter())
        .map(|arguments| arguments.given_to.clone())
        .collect();
    assert_eq!(
        given,
        [
            GivenTo::Supertype("C".into()),
            GivenTo::Supertype("I".into()),
            GivenTo::FieldType,
            GivenTo::New("List".into()),
            GivenTo::ResultType,
            GivenTo::ParameterType(1),
            GivenTo::Call("find".into()),
            GivenTo::Nothing,
        ]
    );
    // Arguments are no marks of the declarations around them.
    let class = find(&file, DeclarationKind::Class, "D", "D");
    assert_eq!(marks(class), ["ghost y"]);
    let take = find(&file, DeclarationKind::Method, "D", "take");
    assert!(take.marks.is_empty() && take.parameter_names == ["n", "e"]);
    assert!(file.loose_marks().is_empty());
    let around = file.holding(&file.arguments()[6].mark, &[DeclarationKind::Method]);
    assert_eq!(around.map(|d| d.name.as_str()), Some("take"));
}

#[test]
fn a_byte_of_a_mark_has_a_place_in_the_text() {
    let source = "class A {\n  /*# this ?\n      mover : e\u{e9} */ void m() { f(); /*# no_warn */\n  }\n}\n";
    let file = SourceFile::parse(source.to_owned());
    let mark = &find(&file, DeclarationKind::Method, "A", "m").marks[0];
    assert_eq!(mark.text, "this ? mover : e\u{e9}");
    let place = |word: &str| mark.place(source, mark.text.find(word).unwrap());
    assert_eq!(place("this"), (2, 7));
    assert_eq!(place("?"), (2, 12));
    assert_eq!(place("mover"), (3, 7));
    assert_eq!(place("e\u{e9}"), (3, 15));
    assert_eq!(mark.place(source, mark.text.len()), (3, 17));
    // A statement's mark knows where its block ends.
    assert_eq!(file.loose_marks()[0].block_end, 4);
}
