//! Findings of checks alone: which pairs of steps belong together, and which fields one thread at a time uses.

#![allow(clippy::unwrap_used)]

use std::process::Command;

use untorn_findings::{
    Document, Evidence, Finding, GuardLoss, Kind, Level, Place, Rank, Region, Typing, TypingPart,
    Verdict,
};
use untorn_program::Assumptions;
use untorn_program::load::{ClassPath, JdkChoice, Limits};
use untorn_rank::{Code, rank};

/// Comments name the two parts of each method that do not compose.
const SOURCE: &str = r#"
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

class Cases {
    private int count; private int sum; private int other; private int hash;
    private int total; private int steps; private int shown; private int asked;
    private volatile Key snapshot = new Key("a"); private volatile int[] cells = {}; private int learned;
    private final AtomicInteger users = new AtomicInteger(1); private volatile boolean closed;
    private final String text = "text";
    private Cases next;
    private View view; private Holder holder; private Key key;
    final LinkedBlockingQueue<Integer> inbox = new LinkedBlockingQueue<>();
    final CompletableFuture<Integer> result = new CompletableFuture<>();
    void record(int n) {
        count = n; // first record
        sum = n; // second record
    }
    int mean() { return sum / count; }
    void apart(int n) {
        count = n; // first apart
        other = n; // second apart
    }
    void follow(int n) {
        Cases to = next; // first follow
        to.other = n; // second follow
    }
    int hash() {
        if (hash == 0) { // first hash
            hash = text.length() * 31; // second hash
        }
        return hash;
    }
    View view() {
        if (view == null) { // first view
            view = new View(this); // second view
        }
        return view;
    }
    Key key() {
        if (key == null) { // first key
            key = new Key("text"); // second key
        }
        return key;
    }
    private Class<?> found; private Class<?> reset;
    Class<?> found(Object of) {
        if (found == null) { // first found
            found = of.getClass(); // second found
        }
        return found;
    }
    Class<?> reset(Object of) {
        if (reset == null) { // first reset
            reset = of.getClass(); // second reset
        }
        return reset;
    }
    void again() { reset = null; }
    protected void finalize() {
        count = 0; // first finalize
        sum = 0; // second finalize
    }
    Holder holder() {
        if (holder == null) { // first holder
            holder = new Holder(this); // second holder
        }
        return holder;
    }
    void serve() throws InterruptedException {
        for (int n = inbox.take(); n != 0; n = inbox.take()) {
            handle(n);
        }
    }
    void handle(int n) {
        int was = total; // first handle
        total = was + n; // second handle
    }
    void show() {
        int was = shown; // first show
        shown = was + 1; // second show
    }
    void work() {
        int was = steps; // first work
        steps = was + 1; // second work
        result.complete(steps);
    }
    int result() { return result.join() + steps; }
    void replace(int n) {
        Key now = snapshot; // first replace
        snapshot = new Key(now.name + n); // second replace
    }
    void grow() {
        int[] now = cells; // first grow
        int[] more = now.clone(); // second grow
        cells = more;
    }
    void learn() {
        int was;
        synchronized (inbox) {
            was = learned;
        } // first learn
        synchronized (inbox) { // second learn
            learned = was + 1;
        }
    }
    void forget() {
        int was;
        synchronized (inbox) {
            was = learned;
        } // first forget
        System.out.println(was);
        synchronized (inbox) { // second forget
            learned = 0;
        }
    }
    void id() {
        long id = Thread.currentThread().getId(); // first id
        asked = (int) id; // second id
    }
    void last() {
        if (users.decrementAndGet() == 0) { // first last
            closed = true; // second last
        }
    }
    void fill() {
        inbox.add(1); // first fill
        inbox.add(2); // second fill
    }
    synchronized void copyTo(Cases to) {
        int was = other; // first copyTo
        to.other = was; // second copyTo
    }
}
class Limited extends java.io.InputStream {
    private int left = 9;
    public int read() {
        int was = left; // first read of Limited
        left = was - 1; // second read of Limited
        return was;
    }
}
class Counted {
    private int left = 9;
    public int read() {
        int was = left; // first read of Counted
        left = was - 1; // second read of Counted
        return was;
    }
}
class Locking extends java.io.InputStream {
    private int left = 9;
    public synchronized void close() { left = 0; }
    public int read() {
        int was = left; // first read of Locking
        left = was - 1; // second read of Locking
        return was;
    }
}
class View { final Cases of; View(Cases of) { this.of = of; } }
class Key { final String name; Key(String name) { this.name = name; } }
class Holder { final Cases of; int used; Holder(Cases of) { this.of = of; } }
"#;

fn line_of(mark: &str) -> u32 {
    let at = (SOURCE.lines()).position(|line| line.ends_with(&format!("// {mark}")));
    at.unwrap_or_else(|| panic!("no line has {mark}")) as u32 + 1
}

fn code(document: &Document) -> Code {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Cases.java");
    std::fs::write(&file, SOURCE).unwrap();
    let compiled = Command::new(untorn_jdk::tool("javac"))
        .arg(&file)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{compiled:?}");
    let path = ClassPath::open(
        &[],
        &[folder.path().to_owned()],
        &JdkChoice::None,
        None,
        Limits::default(),
        &mut Assumptions::default(),
    );
    Code::of(document, path.unwrap())
}

/// What types say of a method whose two parts do not compose.
fn untypable(method: &str, first: &str, second: &str) -> Finding {
    let place = |mark: &str| Place {
        class: Some("Cases".to_owned()),
        method: Some(method.to_owned()),
        file: Some("Cases.java".to_owned()),
        line: (method != "read").then(|| line_of(&format!("{mark} {method}"))),
    };
    let part = |what: &str, mark: &str| TypingPart {
        what: what.to_owned(),
        atomicity: "atomic".to_owned(),
        place: Some(place(mark)),
    };
    let lost = GuardLoss {
        field: "Cases.other".to_owned(),
        candidate: Some("this".to_owned()),
        held: None,
        place: Some(place("second")),
        why: "this is not held here".to_owned(),
    };
    let typing = Typing {
        atomicity: "cmpd".to_owned(),
        parts: vec![part(first, "first"), part(second, "second")],
        released: None,
        guards_lost: vec![lost],
    };
    let region = Region {
        class: Some("Cases".to_owned()),
        ..Region::labelled(method)
    };
    let evidence = Evidence {
        typings: vec![typing],
        ..Evidence::default()
    };
    Finding::new(
        "types",
        Kind::Untypable,
        Verdict::Suspected,
        region,
        String::new(),
        evidence,
    )
}

fn judged(finding: Finding) -> Rank {
    let mut document = Document::new(Vec::new());
    document.findings = vec![finding];
    let code = code(&document);
    rank(&mut document, &code);
    document.findings.remove(0).rank.unwrap()
}

#[test]
fn two_fields_belong_together_if_another_method_uses_both() {
    let together = judged(untypable(
        "record",
        "writes Cases.count",
        "writes Cases.sum",
    ));
    assert!(together.level > Level::Low, "{together:?}");
    let apart = judged(untypable(
        "apart",
        "writes Cases.count",
        "writes Cases.other",
    ));
    assert_eq!(apart.level, Level::Low, "{apart:?}");
}

#[test]
fn what_no_access_guards_in_a_class_with_locks_is_kept_to_one_thread_otherwise() {
    let level = |held: Option<u32>| {
        let mut finding = untypable("record", "writes Cases.count", "writes Cases.sum");
        finding.evidence.typings[0].guards_lost[0].held = held;
        judged(finding).level
    };
    assert!(level(Some(0)) < level(Some(3)));
    assert_eq!(level(None), level(Some(3)), "nobody counted");
}

#[test]
fn the_way_to_an_object_is_no_pair() {
    let rank = judged(untypable(
        "follow",
        "reads Cases.next",
        "writes Cases.other",
    ));
    assert_eq!(rank.level, Level::Low, "{rank:?}");
}

#[test]
fn fields_that_one_thread_at_a_time_uses_are_low_and_named() {
    let update = |method: &str, field: &str| {
        judged(untypable(
            method,
            &format!("reads Cases.{field}"),
            &format!("writes Cases.{field}"),
        ))
    };
    for (method, field, idiom) in [
        ("hash", "hash", "racy single check"),
        ("view", "view", "racy single check"),
        ("key", "key", "racy single check"),
        ("found", "found", "racy single check"),
        ("handle", "total", "message loop"),
        ("work", "steps", "publication"),
    ] {
        let rank = update(method, field);
        assert_eq!(rank.level, Level::Low, "{method}: {rank:?}");
        assert_eq!(rank.idiom.as_deref(), Some(idiom), "{method}: {rank:?}");
    }
    // The same code, where nothing keeps others away or what is made has a state.
    for (method, field) in [("show", "shown"), ("holder", "holder"), ("reset", "reset")] {
        let rank = update(method, field);
        assert_eq!(rank.level, Level::High, "{method}: {rank:?}");
    }
}

#[test]
fn who_finalizes_an_object_is_alone_with_it() {
    let rank = judged(untypable(
        "finalize",
        "writes Cases.count",
        "writes Cases.sum",
    ));
    assert_eq!(rank.level, Level::Low, "{rank:?}");
}

#[test]
fn a_stream_without_locks_is_used_by_one_thread_at_a_time() {
    let read = |class: &str| {
        let mut finding = untypable(
            "read",
            &format!("reads {class}.left"),
            &format!("writes {class}.left"),
        );
        finding.region.class = Some(class.to_owned());
        for (part, mark) in (finding.evidence.typings[0].parts.iter_mut()).zip(["first", "second"])
        {
            let place = part.place.as_mut().unwrap();
            place.class = Some(class.to_owned());
            place.line = Some(line_of(&format!("{mark} read of {class}")));
        }
        judged(finding).level
    };
    assert_eq!(read("Limited"), Level::Low);
    assert_eq!(read("Counted"), Level::High, "no stream");
    assert_eq!(read("Locking"), Level::High, "it takes a lock elsewhere");
}

#[test]
fn the_views_that_maps_keep_of_themselves_are_no_evidence() {
    let rank = judged(untypable(
        "record",
        "reads java.util.HashMap.entrySet",
        "writes java.util.HashMap.entrySet",
    ));
    assert_eq!(rank.level, Level::Low, "{rank:?}");
}

#[test]
fn what_is_copied_under_the_own_lock_may_go_to_an_object_of_the_caller() {
    let rank = judged(untypable(
        "copyTo",
        "reads Cases.other",
        "writes Cases.other",
    ));
    assert_eq!(rank.level, Level::Low, "{rank:?}");
}

#[test]
fn what_is_replaced_by_something_made_of_it_is_lost() {
    let replaced = judged(untypable(
        "replace",
        "reads Cases.snapshot",
        "writes Cases.snapshot",
    ));
    assert_eq!(replaced.level, Level::High, "{replaced:?}");
    let grown = judged(untypable(
        "grow",
        "reads Cases.cells",
        "reads what Cases.cells holds",
    ));
    assert_eq!(grown.level, Level::High, "{grown:?}");
}

#[test]
fn what_was_learned_under_a_lock_is_stale_when_it_is_taken_again() {
    let locks = |method: &str| {
        let finding = untypable(method, "gives back Cases.inbox", "takes Cases.inbox");
        judged(finding)
    };
    let learned = locks("learn");
    assert_eq!(learned.level, Level::High, "{learned:?}");
    assert_eq!(locks("forget").level, Level::Low);
}

#[test]
fn who_counts_to_nothing_is_alone_and_a_queue_is_filled_one_by_one() {
    let counts = "calls java.util.concurrent.atomic.AtomicInteger.decrementAndGet()";
    let last = judged(untypable("last", counts, "writes Cases.closed"));
    assert_eq!(last.idiom.as_deref(), Some("claim by compareAndSet"));
    let adds = "calls java.util.concurrent.LinkedBlockingQueue.add(java.lang.Object)";
    let filled = judged(untypable("fill", adds, adds));
    assert_eq!(filled.idiom.as_deref(), Some("filling a queue"));
}

#[test]
fn what_the_platform_says_and_what_a_library_may_call_is_no_evidence() {
    let asked = untypable("id", "calls java.lang.Thread.getId()", "writes Cases.asked");
    assert_eq!(judged(asked).level, Level::Low);
    let mut guessed = untypable(
        "fill",
        "calls java.util.Collection.size()",
        "reads other.Ring.size",
    );
    guessed.evidence.typings[0].parts[1].place = Some(Place {
        class: Some("other.Ring".to_owned()),
        method: Some("length".to_owned()),
        file: Some("Ring.java".to_owned()),
        line: Some(7),
    });
    let rank = judged(guessed);
    assert_eq!(rank.level, Level::Low);
    assert!(rank.reasons[0].contains("guess"), "{rank:?}");
}
