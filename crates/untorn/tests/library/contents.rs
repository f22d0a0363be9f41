//! Tears of what atomics and collections hold, each forced once: they are data, so each is observed.

use std::collections::BTreeMap;

use crate::program::Program;
use crate::verdicts;

/// Runs a region in one thread, and in its middle a change in another one; both have used the object before.
const FRAME: &str = r"
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

public class Contents {
    static final ThreadLocal<Runnable> TURN = new ThreadLocal<>();

    static void between() {
        Runnable turn = TURN.get();
        if (turn != null) turn.run();
    }

    static void torn(Runnable region, Runnable change, Runnable use) throws Exception {
        use.run();
        CyclicBarrier middle = new CyclicBarrier(2);
        Thread other = new Thread(() -> {
            use.run();
            meet(middle);
            meet(middle);
            change.run();
            meet(middle);
        });
        other.start();
        meet(middle);
        TURN.set(() -> {
            TURN.set(null);
            meet(middle);
            meet(middle);
        });
        region.run();
        other.join();
    }

    static void meet(CyclicBarrier middle) {
        try {
            middle.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
    }

    CLASSES

    public static void main(String[] arguments) throws Exception {
        CALLS
    }
}
";

/// A class with regions: its body with `NEW` for what makes the object, and for each region the change that tears it.
struct Shape {
    body: &'static str,
    use_: &'static str,
    tears: &'static [(&'static str, &'static str)],
}

const LIST: Shape = Shape {
    body: r#"
        final List<String> all = NEW;
        { all.add("a"); all.add("b"); }
        void adds() { int n = all.size(); between(); all.add("c" + n); }
        void first() { if (!all.isEmpty()) { between(); all.get(0); } }
        void last() { int n = all.size(); between(); try { all.get(n - 1); } catch (RuntimeException gone) { } }
        void sets() { String s = all.get(1); between(); all.set(1, s + "."); }
        void counts() { int n = all.size(); between(); all.size(); }
    "#,
    use_: "all.size()",
    tears: &[
        ("adds", "all.add(\"x\")"),
        ("first", "all.remove(0)"),
        ("sets", "all.set(1, \"y\")"),
        ("counts", "all.add(\"z\")"),
        ("last", "all.clear()"),
    ],
};

/// What is iterated over by its elements while others are added.
const WALKED: Shape = Shape {
    body: r#"
        final Collection<String> all = NEW;
        { all.add("a"); all.add("b"); all.add("c"); }
        void loops() {
            int n = 0;
            try { for (String s : all) if (n++ == 0) between(); } catch (ConcurrentModificationException seen) { }
        }
        void steps() {
            int n = 0;
            Iterable<String> some = all;
            try {
                for (Iterator<String> i = some.iterator(); i.hasNext(); i.next()) if (n++ == 1) between();
            } catch (ConcurrentModificationException seen) { }
        }
        void removes() {
            Iterator<String> i = all.iterator();
            i.next();
            between();
            try { i.remove(); } catch (ConcurrentModificationException seen) { }
        }
        void adds() { int n = all.size(); between(); all.add("c" + n); }
    "#,
    use_: "all.size()",
    tears: &[
        ("loops", "all.add(\"x\")"),
        ("steps", "all.remove(\"x\")"),
        ("removes", "all.add(\"y\")"),
        ("adds", "all.add(\"z\")"),
    ],
};

const DEQUE: Shape = Shape {
    body: r#"
        final Deque<String> all = NEW;
        { for (int i = 0; i < 9; i++) all.add("a" + i); }
        void takes() { if (!all.isEmpty()) { between(); all.poll(); } }
        void peeks() { all.peek(); between(); all.peekFirst(); }
        void pushes() { int n = all.size(); between(); all.push("p" + n); }
    "#,
    use_: "all.size()",
    tears: &[
        ("takes", "all.poll()"),
        ("peeks", "all.pop()"),
        ("pushes", "all.offer(\"x\")"),
    ],
};

const VECTOR: Shape = Shape {
    body: r#"
        final Vector<String> all = NEW;
        { all.add("a"); all.add("b"); }
        void adds() { int n = all.size(); between(); all.addElement("c" + n); }
        void walks() {
            int n = 0;
            for (Enumeration<String> e = all.elements(); e.hasMoreElements(); e.nextElement()) if (n++ == 0) between();
        }
    "#,
    use_: "all.size()",
    tears: &[("adds", "all.add(\"x\")"), ("walks", "all.add(\"y\")")],
};

const MAP: Shape = Shape {
    body: r#"
        final Map<String, Integer> all = NEW;
        { all.put("a", 1); all.put("b", 2); }
        void once() { if (!all.containsKey("k")) { between(); all.put("k", 1); } }
        void counts() { Integer n = all.get("a"); between(); all.put("a", n + 1); }
        void room() { if (all.size() < 9) { between(); all.put("room", 1); } }
        void keys() { int n = all.keySet().size(); between(); all.size(); }
        void has() { boolean b = all.keySet().contains("v"); between(); all.get("v"); }
    "#,
    use_: "all.size()",
    tears: &[
        ("once", "all.put(\"k\", 2)"),
        ("counts", "all.put(\"a\", 7)"),
        ("room", "all.put(\"other\", 7)"),
        ("keys", "all.remove(\"b\")"),
        ("has", "all.putIfAbsent(\"v\", 7)"),
    ],
};

const WALKED_MAP: Shape = Shape {
    body: r#"
        final Map<String, Integer> all = NEW;
        { all.put("a", 1); all.put("b", 2); all.put("c", 3); }
        void entries() {
            int n = 0;
            try {
                for (Map.Entry<String, Integer> e : all.entrySet()) if (n++ == 0) between();
            } catch (ConcurrentModificationException seen) { }
        }
        void keys() {
            int n = 0;
            try { for (String k : all.keySet()) if (n++ == 0) between(); } catch (ConcurrentModificationException seen) { }
        }
        void values() {
            int n = 0;
            try { for (int v : all.values()) if (n++ == 0) between(); } catch (ConcurrentModificationException seen) { }
        }
    "#,
    use_: "all.size()",
    tears: &[
        ("entries", "all.put(\"x\", 7)"),
        ("keys", "all.remove(\"x\")"),
        ("values", "all.put(\"y\", 7)"),
    ],
};

const SET: Shape = Shape {
    body: r#"
        final Set<String> all = NEW;
        { all.add("a"); }
        void once() { if (!all.contains("k")) { between(); all.add("k"); } }
        void room() { if (all.size() < 9) { between(); all.add("room"); } }
        void takes() { if (all.contains("a")) { between(); all.remove("a"); } }
    "#,
    use_: "all.size()",
    tears: &[
        ("once", "all.add(\"k\")"),
        ("room", "all.add(\"other\")"),
        ("takes", "all.remove(\"a\")"),
    ],
};

/// An atomic with a value of its own: what reads, what writes, what the other does.
const fn atomic(
    body: &'static str,
    use_: &'static str,
    change: &'static [(&'static str, &'static str)],
) -> Shape {
    Shape {
        body,
        use_,
        tears: change,
    }
}

const ATOMICS: [(&str, Shape); 13] = [
    (
        "Updater",
        atomic(
            "volatile int n; static final AtomicIntegerFieldUpdater<Updater> N = AtomicIntegerFieldUpdater.newUpdater(Updater.class, \"n\"); void use() { N.get(this); } void other() { N.getAndIncrement(this); } void adds() { int x = N.get(this); between(); N.set(this, x + 1); }",
            "use()",
            &[("adds", "other()")],
        ),
    ),
    (
        "LongUpdater",
        atomic(
            "volatile long n; static final AtomicLongFieldUpdater<LongUpdater> N = AtomicLongFieldUpdater.newUpdater(LongUpdater.class, \"n\"); void use() { N.get(this); } void other() { N.incrementAndGet(this); } void adds() { long x = N.get(this); between(); N.compareAndSet(this, x + 1, 7); }",
            "use()",
            &[("adds", "other()")],
        ),
    ),
    (
        "ReferenceUpdater",
        atomic(
            "volatile String n; static final AtomicReferenceFieldUpdater<ReferenceUpdater, String> N = AtomicReferenceFieldUpdater.newUpdater(ReferenceUpdater.class, String.class, \"n\"); void use() { N.get(this); } void other() { N.set(this, \"x\"); } void adds() { String x = N.get(this); between(); N.updateAndGet(this, y -> x); }",
            "use()",
            &[("adds", "other()")],
        ),
    ),
    (
        "Handle",
        atomic(
            "int n; static final java.lang.invoke.VarHandle N; static { try { N = java.lang.invoke.MethodHandles.lookup().findVarHandle(Handle.class, \"n\", int.class); } catch (ReflectiveOperationException e) { throw new Error(e); } } void use() { int x = (int) N.getVolatile(this); } void other() { int x = (int) N.getAndAdd(this, 3); } void adds() { int x = (int) N.getVolatile(this); between(); N.setVolatile(this, x + 1); }",
            "use()",
            &[("adds", "other()")],
        ),
    ),
    (
        "Integer",
        atomic(
            "final AtomicInteger n = new AtomicInteger(); void adds() { int x = n.get(); between(); n.set(x + 1); }",
            "n.get()",
            &[("adds", "n.incrementAndGet()")],
        ),
    ),
    (
        "Updated",
        atomic(
            "final AtomicInteger n = new AtomicInteger(); void adds() { int x = n.intValue(); between(); n.updateAndGet(y -> y + x); }",
            "n.get()",
            &[("adds", "n.getAndAdd(3)")],
        ),
    ),
    (
        "Long",
        atomic(
            "final AtomicLong n = new AtomicLong(); void adds() { long x = n.get(); between(); n.lazySet(x + 1); }",
            "n.get()",
            &[("adds", "n.set(7)")],
        ),
    ),
    (
        "Boolean",
        atomic(
            "final AtomicBoolean n = new AtomicBoolean(); void flips() { boolean x = n.get(); between(); n.set(!x); }",
            "n.get()",
            &[("flips", "n.compareAndSet(false, true)")],
        ),
    ),
    (
        "Reference",
        atomic(
            "final AtomicReference<String> n = new AtomicReference<>(\"\"); void adds() { String x = n.get(); between(); n.getAndSet(x + 1); }",
            "n.get()",
            &[("adds", "n.set(\"b\")")],
        ),
    ),
    (
        "Element",
        atomic(
            "final AtomicIntegerArray n = new AtomicIntegerArray(3); void adds() { int x = n.get(1); between(); n.set(1, x + 1); }",
            "n.get(1)",
            &[("adds", "n.incrementAndGet(1)")],
        ),
    ),
    (
        "LongElement",
        atomic(
            "final AtomicLongArray n = new AtomicLongArray(3); void adds() { long x = n.get(1); between(); n.set(1, x + 1); }",
            "n.get(1)",
            &[("adds", "n.getAndAdd(1, 4)")],
        ),
    ),
    (
        "Stamped",
        atomic(
            "final AtomicStampedReference<String> n = new AtomicStampedReference<>(\"\", 0); void adds() { int x = n.getStamp(); between(); n.set(\"a\", x + 1); }",
            "n.getStamp()",
            &[("adds", "n.set(\"b\", 7)")],
        ),
    ),
    (
        "Markable",
        atomic(
            "final AtomicMarkableReference<String> n = new AtomicMarkableReference<>(\"\", false); void flips() { boolean x = n.isMarked(); between(); n.set(\"a\", !x); }",
            "n.isMarked()",
            &[("flips", "n.set(\"b\", true)")],
        ),
    ),
];

/// Changes that do not concern what the region looks at.
const WHOLE: Shape = Shape {
    body: r#"
        final List<String> list = new ArrayList<>(List.of("a", "b", "c"));
        final Map<String, Integer> map = new HashMap<>(Map.of("a", 1, "b", 2));
        final Set<String> set = new HashSet<>(Set.of("a"));
        final AtomicIntegerArray cells = new AtomicIntegerArray(2);
        { map.put("n", null); }
        final AtomicInteger value = new AtomicInteger();
        final AtomicReference<String> text = new AtomicReference<>("");
        void use() { list.size(); map.size(); set.size(); cells.get(0); cells.get(1); value.get(); text.get(); }
        void sizes() { int n = list.size(); between(); list.size(); }
        void first() { String s = list.get(0); between(); list.get(0); }
        void second() { String s = list.get(0); between(); list.get(0); }
        void mapSizes() { int n = map.size(); between(); map.size(); }
        void nulls() { int n = map.size(); between(); map.size(); }
        void keys() { int n = map.get("a"); between(); map.get("a"); }
        void setSizes() { int n = set.size(); between(); set.size(); }
        void removed() { int n = set.size(); between(); set.size(); }
        void cells() { int n = cells.get(0); between(); cells.get(0); }
        void known() { int n = map.get("a"); between(); map.get("a"); }
        void unknown() { boolean b = map.containsKey("z"); between(); map.get("z"); }
        void unreplaced() { boolean b = map.containsKey("z"); between(); map.get("z"); }
        void kept() { int n = map.get("a"); between(); map.get("a"); }
        void held() { boolean b = set.contains("a"); between(); set.contains("a"); }
        void missing() { boolean b = set.contains("z"); between(); set.contains("z"); }
        void failed() { int n = value.get(); between(); value.get(); }
        void exchanged() { int n = value.get(); between(); value.get(); }
        void unset() { String s = text.get(); between(); text.get(); }
    "#,
    use_: "use()",
    tears: &[
        ("sizes", "list.set(0, \"x\")"),
        ("first", "list.add(\"y\")"),
        ("second", "list.set(1, \"z\")"),
        ("mapSizes", "map.put(\"a\", 7)"),
        ("nulls", "map.put(\"n\", 7)"),
        ("keys", "map.put(\"b\", 7)"),
        ("setSizes", "set.add(\"a\")"),
        ("removed", "set.remove(\"none\")"),
        ("cells", "cells.set(1, 7)"),
        ("known", "map.putIfAbsent(\"a\", 9)"),
        ("unknown", "map.remove(\"z\")"),
        ("unreplaced", "map.replace(\"z\", 9)"),
        ("kept", "map.replace(\"a\", 99, 9)"),
        ("held", "set.add(\"a\")"),
        ("missing", "set.remove(\"z\")"),
        ("failed", "value.compareAndSet(99, 7)"),
        ("exchanged", "value.compareAndExchange(99, 7)"),
        ("unset", "text.weakCompareAndSetPlain(\"no\", \"x\")"),
    ],
};

/// What is found of programs that tear each region once, in both ways of tracking.
fn check(kinds: &[(&str, &str, &Shape)], expected: &str) {
    let (mut classes, mut calls, mut regions) = (String::new(), String::new(), Vec::new());
    for (name, made, shape) in kinds {
        let body = shape.body.replace("NEW", made);
        classes += &format!("static class {name} {{ {body} }}\n");
        calls += &format!("{name} of{name} = new {name}();\n");
        for (region, change) in shape.tears {
            let of = |text: &str| format!("() -> of{name}.{text}");
            let (region_of, change, use_) =
                (of(&format!("{region}()")), of(change), of(shape.use_));
            calls += &format!("torn({region_of}, {change}, {use_});\n");
            regions.push(format!("{name}.{region}"));
        }
    }
    let source = FRAME.replace("CLASSES", &classes).replace("CALLS", &calls);
    let program = Program::compile("Contents", &source);
    let (out, spec) = (program.file("found.json"), program.file("spec.toml"));
    let quoted: Vec<String> = regions
        .iter()
        .map(|region| format!("\"Contents${region}\""))
        .collect();
    let include = format!("heuristic = \"none\"\ninclude = [{}]\n", quoted.join(", "));
    std::fs::write(&spec, include).unwrap();
    let mut wanted: BTreeMap<String, String> = BTreeMap::new();
    if !expected.is_empty() {
        wanted.extend(
            regions
                .into_iter()
                .map(|region| (region, expected.to_owned())),
        );
    }
    for tracking in ["pessimistic", "optimistic"] {
        let options = [
            "run",
            "--with",
            "doublechecker",
            "--exit-zero",
            "--tracking",
            tracking,
            "--spec",
            &spec,
            "-o",
            &out,
        ];
        let run = program.watched(&options);
        let mut found = verdicts(&out, &run);
        if expected.is_empty() {
            found.retain(|_, verdict| verdict == "observed");
        }
        assert_eq!(found, wanted, "{tracking}: {run:?}");
    }
}

#[test]
fn what_an_atomic_holds_is_one_location() {
    let kinds: Vec<(&str, &str, &Shape)> = ATOMICS
        .iter()
        .map(|(name, shape)| (*name, "", shape))
        .collect();
    check(&kinds, "observed");
}

#[test]
fn lists_and_queues_tear_by_every_name() {
    check(
        &[
            ("Array", "new ArrayList<>()", &LIST),
            ("Linked", "new LinkedList<>()", &LIST),
            ("Vectored", "new Vector<>()", &LIST),
            ("Copied", "new CopyOnWriteArrayList<>()", &LIST),
            (
                "Synchronized",
                "Collections.synchronizedList(new ArrayList<>())",
                &LIST,
            ),
            ("ArrayQueue", "new ArrayDeque<>()", &DEQUE),
            ("LinkedQueue", "new LinkedList<>()", &DEQUE),
            ("ConcurrentQueue", "new ConcurrentLinkedDeque<>()", &DEQUE),
            ("Old", "new Vector<>()", &VECTOR),
        ],
        "observed",
    );
}

#[test]
fn maps_and_sets_tear_by_every_name() {
    check(
        &[
            ("Hash", "new HashMap<>()", &MAP),
            ("Tree", "new TreeMap<>()", &MAP),
            ("LinkedHash", "new LinkedHashMap<>()", &MAP),
            ("Table", "new Hashtable<>()", &MAP),
            ("Concurrent", "new ConcurrentHashMap<>()", &MAP),
            ("SkipList", "new ConcurrentSkipListMap<>()", &MAP),
            (
                "Synchronized",
                "Collections.synchronizedMap(new HashMap<>())",
                &MAP,
            ),
            ("HashSets", "new HashSet<>()", &SET),
            ("TreeSets", "new TreeSet<>()", &SET),
            ("LinkedSets", "new LinkedHashSet<>()", &SET),
            ("KeySets", "ConcurrentHashMap.newKeySet()", &SET),
            ("SkipSets", "new ConcurrentSkipListSet<>()", &SET),
            ("CopiedSets", "new CopyOnWriteArraySet<>()", &SET),
            (
                "SynchronizedSets",
                "Collections.synchronizedSet(new HashSet<>())",
                &SET,
            ),
        ],
        "observed",
    );
}

#[test]
fn iteration_is_torn_by_what_is_added_meanwhile() {
    check(
        &[
            ("Array", "new ArrayList<>()", &WALKED),
            ("Linked", "new LinkedList<>()", &WALKED),
            ("Vectored", "new Vector<>()", &WALKED),
            ("Hash", "new HashSet<>()", &WALKED),
            ("Tree", "new TreeSet<>()", &WALKED),
            ("LinkedHash", "new LinkedHashSet<>()", &WALKED),
            (
                "Synchronized",
                "Collections.synchronizedList(new ArrayList<>())",
                &WALKED,
            ),
            ("HashMaps", "new HashMap<>()", &WALKED_MAP),
            ("TreeMaps", "new TreeMap<>()", &WALKED_MAP),
            ("LinkedMaps", "new LinkedHashMap<>()", &WALKED_MAP),
            ("Tables", "new Hashtable<>()", &WALKED_MAP),
            (
                "SynchronizedMaps",
                "Collections.synchronizedMap(new HashMap<>())",
                &WALKED_MAP,
            ),
        ],
        "observed",
    );
}

#[test]
fn calls_that_give_the_same_in_either_order_are_never_observed() {
    check(&[("Whole", "", &WHOLE)], "");
}
