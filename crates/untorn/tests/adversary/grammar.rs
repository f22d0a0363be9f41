//! Library classes by a grammar, and clients that use everything of them that they can reach.
//!
//! A class has a way to lock that most of its code keeps to, methods of several steps, and ways to hand code out to clients; what it hands out may take the lock or not.
//! Whether a class is right is not known here: what types prove of it is held against runs.

use std::fmt::Write as _;

/// Random numbers that are the same for the same seed (xorshift).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..8 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// What every class has to lock with. `$` stands for the class.
const FIELDS: &str = "
    private int a, b;
    private volatile int v;
    private static int s;
    private int[] made;
    private final Object lock = new Object();
    private final Object alias = lock;
    private Object swapped = new Object();
    private final Lock re = new ReentrantLock();
    private final ReentrantReadWriteLock rw = new ReentrantReadWriteLock();
    private final StampedLock stamped = new StampedLock();
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
    private final Map<Integer, Part> parts = new ConcurrentHashMap<>();
    private Part first = new Part();
    private final Lock reading = rw.readLock(), writing = rw.writeLock();
    private final HashMap<String, Integer> map = new HashMap<>();
    private final LinkedHashMap<String, Integer> recent = new LinkedHashMap<>(16, 0.75f, true);
    private final ArrayDeque<Integer> deque = new ArrayDeque<>();
    private final java.util.concurrent.atomic.AtomicInteger count = new java.util.concurrent.atomic.AtomicInteger();
    private final StringBuffer text = new StringBuffer();
    private static class Part { int n; void hit() { n++; } }
";

/// Ways to lock; `@` stands for what is done, `$` for the class.
const GUARDS: [&str; 15] = [
    "synchronized ($.this) { @ }",
    "synchronized ($.this.lock) { @ }",
    "synchronized ($.this.alias) { @ }",
    "synchronized ($.this.swapped) { @ }",
    "synchronized ($.class) { @ }",
    "re.lock(); try { @ } finally { re.unlock(); }",
    "if (re.tryLock()) { try { @ } finally { re.unlock(); } }",
    "rw.writeLock().lock(); try { @ } finally { rw.writeLock().unlock(); }",
    "rw.readLock().lock(); try { @ } finally { rw.readLock().unlock(); }",
    "long stamp = stamped.tryWriteLock(); if (stamp != 0) { try { @ } finally { stamped.unlockWrite(stamp); } }",
    "long stamp = stamped.writeLock(); try { @ } finally { stamped.unlockWrite(stamp); }",
    "long stamp = stamped.readLock(); try { @ } finally { stamped.unlockRead(stamp); }",
    "writing.lock(); try { @ } finally { writing.unlock(); }",
    "reading.lock(); try { @ } finally { reading.unlock(); }",
    "{ @ }",
];

/// Those that exclude others.
const SOUND: [usize; 8] = [0, 1, 2, 4, 5, 7, 10, 12];

/// The last of them takes no lock.
const NO_GUARD: usize = GUARDS.len() - 1;

/// What is done in several steps, with a pause in which others may come.
const ACTIONS: [&str; 26] = [
    "$.this.a++; Work.on(pause); $.this.a++;",
    "$.this.a++; Work.on(pause); $.this.b++;",
    "if ($.this.a > 0) { Work.on(pause); $.this.a--; } else $.this.a++;",
    "int seen = $.this.a; Work.on(pause); $.this.b = seen + 1;",
    "$.this.v++; Work.on(pause);",
    "$.this.v = pause; Work.on(pause); $.this.b = $.this.v;",
    "s++; Work.on(pause); s++;",
    "if (made == null) { Work.on(pause); made = new int[2]; } made[0]++; Work.on(pause); made[1]++;",
    "try { $.this.a++; Work.on(pause); if ($.this.a % 3 == 0) throw new IllegalStateException(); $.this.b++; } catch (IllegalStateException e) { $.this.a--; } finally { $.this.b++; }",
    "for (Runnable each : listeners) each.run(); $.this.a++;",
    "$.this.a++; for (Runnable each : listeners) each.run(); $.this.b++;",
    "Part part = first; part.hit(); Work.on(pause); part.hit();",
    "for (Part part : parts.values()) { part.hit(); Work.on(pause); part.n++; }",
    "parts.values().stream().forEach(part -> { part.n++; Work.on(pause); part.n++; });",
    "parts.put(pause & 1, first); first = new Part(); Work.on(pause); first.n++;",
    "Part own = new Part(); own.hit(); Work.on(pause); own.hit(); $.this.a += own.n;",
    "Integer n = map.get(\"k\"); Work.on(pause); map.put(\"k\", n == null ? 1 : n + 1);",
    "Integer n = recent.get(\"k\"); Work.on(pause); if (n == null) recent.put(\"k\", 1); else recent.get(\"j\");",
    "if (recent.get(\"k\") == recent.get(\"j\")) Work.on(pause); recent.get(\"j\");",
    "deque.add(pause); Work.on(pause); deque.poll();",
    "int n = count.get(); Work.on(pause); count.set(n + 1);",
    "for (;;) { int n = count.get(); Work.on(pause); if (count.compareAndSet(n, n + 1)) break; }",
    "text.append('x'); Work.on(pause); text.setLength(0);",
    "StringBuffer own = new StringBuffer(); own.append('x'); Work.on(pause); own.append($.this.a); $.this.b += own.length();",
    "if (made == null) { synchronized ($.this) { if (made == null) { Work.on(pause); made = new int[2]; } } } made[0]++;",
    "try { $.this.a++; Work.on(pause); Object none = null; none.hashCode(); } catch (NullPointerException e) { $.this.a--; }",
];

/// Ways to hand code out, and what a client does with it; `#` is a number, `@` the code, `o` the object.
const FORMS: [(&str, &str); 34] = [
    (
        "public Runnable e#(int pause) { return () -> { @ }; }",
        "o.e#(pause).run();",
    ),
    (
        "private void p#(int pause) { @ } public IntConsumer e#() { return this::p#; }",
        "o.e#().accept(pause);",
    ),
    (
        "public Runnable e#(int pause) { return new Runnable() { public void run() { @ } }; }",
        "o.e#(pause).run();",
    ),
    (
        "private class E# implements Runnable { int pause; public void run() { @ } } public Object e#() { return new E#(); }",
        "((Runnable) o.e#()).run();",
    ),
    (
        "public Iterator<Integer> e#(int pause) { return new Iterator<>() { public boolean hasNext() { return true; } public Integer next() { @ return 1; } }; }",
        "o.e#(pause).next();",
    ),
    (
        "private final List<IntConsumer> l# = new CopyOnWriteArrayList<>(); { l#.add(pause -> { @ }); } public List<IntConsumer> e#() { return l#; }",
        "for (IntConsumer each : o.e#()) each.accept(pause);",
    ),
    (
        "public final Map<String, IntConsumer> m# = new ConcurrentHashMap<>(); public void e#() { m#.put(\"\", pause -> { @ }); }",
        "o.e#(); o.m#.values().forEach(each -> each.accept(pause));",
    ),
    (
        "public void e#(int pause, Consumer<Runnable> client) { client.accept(() -> { @ }); }",
        "o.e#(pause, r -> r.run());",
    ),
    (
        "private class E# implements Comparable<Object> { int pause; public int compareTo(Object x) { @ return 0; } } public Comparable<Object> e#() { return new E#(); }",
        "o.e#().compareTo(o);",
    ),
    (
        "public Optional<Runnable> e#(int pause) { return Optional.of(() -> { @ }); }",
        "o.e#(pause).get().run();",
    ),
    (
        "public Runnable[] e#(int pause) { return new Runnable[] { () -> { @ } }; }",
        "o.e#(pause)[0].run();",
    ),
    (
        "public Stream<Runnable> e#(int pause) { return Stream.of(() -> { @ }); }",
        "o.e#(pause).forEach(Runnable::run);",
    ),
    (
        "public static class X# extends RuntimeException { public final Runnable what; X#(Runnable what) { this.what = what; } } public void e#(int pause) { throw new X#(() -> { @ }); }",
        "try { o.e#(pause); } catch ($.X# x) { x.what.run(); }",
    ),
    (
        "public Supplier<Runnable> e#(int pause) { return () -> () -> { @ }; }",
        "o.e#(pause).get().run();",
    ),
    (
        "public Object e#(int pause) { return new Object() { public String toString() { @ return \"\"; } }; }",
        "String.valueOf(o.e#(pause));",
    ),
    (
        "public OutputStream e#(int pause) { return new OutputStream() { public void write(int x) { @ } }; }",
        "new PrintStream(o.e#(pause), true).print('x');",
    ),
    (
        "public AutoCloseable e#(int pause) { return () -> { @ }; }",
        "o.e#(pause).close();",
    ),
    (
        "public Callable<Integer> e#(int pause) { class Local implements Callable<Integer> { public Integer call() { @ return 1; } } return new Local(); }",
        "o.e#(pause).call();",
    ),
    (
        "public interface D# { void step(int pause); default void go(int pause) { step(pause); } } private class I# implements D# { public void step(int pause) { @ } } public D# e#() { return new I#(); }",
        "o.e#().go(pause);",
    ),
    (
        "public static class Box#<T> { private T held; public synchronized void set(T next) { held = next; } public synchronized T get() { return held; } } private final Box#<Runnable> box# = new Box#<>(); public Box#<Runnable> e#(int pause) { box#.set(() -> { @ }); return box#; }",
        "o.e#(pause).get().run(); o.e#(0).set(() -> o.m0(pause));",
    ),
    (
        "public Thread e#(int pause) { return new Thread() { public void run() { @ } }; }",
        "o.e#(pause).run();",
    ),
    (
        "private static IntConsumer r#; public void e#() { r# = pause -> { @ }; } public static IntConsumer g#() { return r#; }",
        "o.e#(); $.g#().accept(pause);",
    ),
    (
        "private final Comparator<String> c# = new Comparator<>() { public int compare(String x, String y) { int pause = x.length(); @ return 0; } }; public Comparator<String> e#() { return c#.reversed(); }",
        "o.e#().compare(\"x\", \"y\");",
    ),
    (
        "private final ThreadLocal<IntConsumer> t# = ThreadLocal.withInitial(() -> pause -> { @ }); public IntConsumer e#() { return t#.get(); }",
        "o.e#().accept(pause);",
    ),
    (
        "public List<Integer> e#(int pause) { return new AbstractList<>() { public Integer get(int at) { @ return 1; } public int size() { return 1; } }; }",
        "for (int each : o.e#(pause)) { }",
    ),
    (
        "public abstract static class H# { protected abstract void hook(); public synchronized void around(int pause) { hook(); Work.on(pause); hook(); } } public IntConsumer e#() { return pause -> { @ }; }",
        "new $.H#() { int n; protected void hook() { n++; } }.around(pause); o.e#().accept(pause);",
    ),
    (
        "public void e#(int pause, Exception cause) { synchronized ($.this) { Work.on(pause); throw new IllegalStateException(cause); } } public IntConsumer f#() { return pause -> { @ }; }",
        "o.f#().accept(pause); o.e#(pause, new Exception() { public String toString() { C$.tally++; Work.on(pause); C$.tally++; return \"\"; } });",
    ),
    (
        "static class L# extends LinkedHashMap<String, String> { int n; protected boolean removeEldestEntry(Map.Entry<String, String> x) { n++; Work.on(1); n++; return size() > 2; } } private final L# l# = new L#(); public L# g#() { return l#; } public void e#(int pause) { synchronized ($.this) { l#.put(\"\" + pause, \"\"); } } public IntConsumer f#() { return pause -> { @ }; }",
        "o.e#(pause); o.g#().put(\"x\", \"\"); o.f#().accept(pause);",
    ),
    (
        "public static class W#<T> { private final Lock l = new ReentrantLock(); private T held; public void set(T next) { l.lock(); try { held = next; } finally { l.unlock(); } } public T get() { l.lock(); try { return held; } finally { l.unlock(); } } } private final W#<IntConsumer> w# = new W#<>(); public IntConsumer e#() { if (w#.get() == null) w#.set(pause -> { @ }); return w#.get(); }",
        "o.e#().accept(pause);",
    ),
    (
        "private class S# implements Serializable { private Object writeReplace() { int pause = 1; @ return \"\"; } } public Object e#() { return new S#(); }",
        "new ObjectOutputStream(new ByteArrayOutputStream()).writeObject(o.e#());",
    ),
    (
        "private void h#(int pause) { @ } private static final MethodHandle H#; static { try { H# = MethodHandles.lookup().findVirtual($.class, \"h#\", MethodType.methodType(void.class, int.class)); } catch (ReflectiveOperationException e) { throw new Error(e); } } public void e#(int pause) throws Throwable { H#.invoke(this, pause); }",
        "try { o.e#(pause); } catch (Throwable t) { throw new IllegalStateException(t); }",
    ),
    (
        "private static class N# { int n; } private static class K# implements Cloneable { private final N# part = new N#(); synchronized void two(int pause) { part.n++; Work.on(pause); part.n++; } K# copy() { try { return (K#) clone(); } catch (CloneNotSupportedException e) { throw new Error(e); } } } private final K# k# = new K#(), c# = k#.copy(); public void e#(int pause) { k#.two(pause); } public void f#(int pause) { c#.two(pause); } public IntConsumer g#() { return pause -> { @ }; }",
        "o.e#(pause); o.f#(pause); o.g#().accept(pause);",
    ),
    (
        "private static class M# { int n; } private final M#[] own# = { new M#() }; private static final M#[] all# = { new M#() }; public void e#(int pause) { synchronized ($.this) { System.arraycopy(own#, 0, all#, 0, 1); own#[0].n++; Work.on(pause); own#[0].n++; } } public static void f#(int pause) { synchronized ($.class) { all#[0].n++; Work.on(pause); all#[0].n++; } } public IntConsumer g#() { return pause -> { @ }; }",
        "o.e#(pause); $.f#(pause); o.g#().accept(pause);",
    ),
    (
        "private int u#; private static final VarHandle U#; static { try { U# = MethodHandles.lookup().findVarHandle($.class, \"u#\", int.class); } catch (ReflectiveOperationException e) { throw new Error(e); } } public void e#(int pause) { U#.getAndAdd(this, 1); } public void f#(int pause) { synchronized ($.this) { u#++; Work.on(pause); u#++; } } public IntConsumer g#() { return pause -> { @ }; }",
        "o.e#(pause); o.f#(pause); o.g#().accept(pause);",
    ),
];

/// A class and the code of a client for each of its entries.
pub struct Subject {
    pub name: String,
    pub source: String,
    calls: Vec<String>,
}

impl Subject {
    /// The class of a number: always the same.
    pub fn new(seed: u64, number: usize) -> Self {
        let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
        let name = format!("G{number}");
        // Most classes have a lock that excludes others, and half of them keep to it in all their methods.
        let home = if random.chance(70) {
            SOUND[random.below(SOUND.len())]
        } else {
            random.below(GUARDS.len())
        };
        let keeps = if random.chance(60) { 100 } else { 80 };
        // Few actions, so that what is handed out touches what the methods do.
        let palette: Vec<&str> = (0..2).map(|_| random.pick(&ACTIONS)).collect();
        let mut body = FIELDS.to_owned();
        let mut calls = Vec::new();
        for method in 0..2 + random.below(3) {
            let code = code(&mut random, home, keeps, &palette);
            let _ = writeln!(body, "    public void m{method}(int pause) {{ {code} }}");
            calls.push(format!("o.m{method}(pause);"));
        }
        // A method that gives up its lock in the middle.
        if random.chance(10) {
            body.push_str("    public synchronized void waits(int pause) throws InterruptedException { a++; wait(1); a++; }\n");
            calls.push("o.waits(pause);".to_owned());
        }
        if random.chance(10) {
            body.push_str("    public void swap() { swapped = new Object(); }\n");
            calls.push("o.swap();".to_owned());
        }
        if random.chance(30) {
            body.push_str("    public void listen(Runnable listener) { if (listeners.size() < 3) listeners.add(listener); }\n");
            calls.push("o.listen(() -> o.m1(0));".to_owned());
        }
        if random.chance(30) {
            body.push_str("    private static $ only; public static $ only() { if (only == null) only = new $(); return only; }\n");
            calls.push("$.only().m0(pause);".to_owned());
        }
        for form in 0..random.below(4) {
            let (declaration, call) = FORMS[random.below(FORMS.len())];
            let code = code(&mut random, home, 35, &palette);
            let number = form.to_string();
            let fill = |text: &str| text.replace('#', &number);
            let _ = writeln!(body, "    {}", fill(declaration).replace('@', &code));
            calls.push(fill(call));
        }
        let source = format!("public class {name} {{{body}}}\n").replace('$', &name);
        let calls = calls
            .into_iter()
            .map(|call| call.replace('$', &name))
            .collect();
        Self {
            name,
            source,
            calls,
        }
    }

    /// A class that hands code out which does not take its lock: whoever takes `bad` for atomic is wrong.
    pub fn hole() -> Self {
        Self {
            name: "G0".to_owned(),
            source: "public class G0 { private int x; public Runnable e0(int pause) { return () -> { x++; }; } public synchronized void bad(int pause) { x++; Work.on(pause); x++; } }\n".to_owned(),
            calls: vec!["o.e0(pause).run();".to_owned(), "o.bad(pause);".to_owned()],
        }
    }

    /// The client: a task that does everything again and again, in random order.
    pub fn client(&self) -> String {
        let name = &self.name;
        let mut cases = String::new();
        for (number, call) in self.calls.iter().enumerate() {
            let _ = writeln!(cases, "                case {number} -> {{ {call} }}");
        }
        let count = self.calls.len();
        format!(
            "class C{name} {{
    static int tally;
    static Runnable task({name} o, Random random, int rounds) {{
        return () -> {{
            for (int round = 0; round < rounds; round++) {{
                int pause = random.nextInt(4);
                try {{ switch (random.nextInt({count})) {{
{cases}                }} }} catch (Exception | StackOverflowError e) {{ }}
            }}
        }};
    }}
}}
"
        )
    }
}

/// An action under the lock of the class, or another, or none.
fn code(random: &mut Random, home: usize, keeps: usize, palette: &[&str]) -> String {
    let guard = match () {
        () if random.chance(keeps) => home,
        () if random.chance(50) => NO_GUARD,
        () => random.below(GUARDS.len()),
    };
    GUARDS[guard].replace('@', random.pick(palette))
}

/// What every source begins with.
pub const IMPORTS: &str = "import java.io.*;\nimport java.lang.invoke.*;\nimport java.util.*;\nimport java.util.concurrent.*;\nimport java.util.concurrent.locks.*;\nimport java.util.function.*;\nimport java.util.stream.*;\n";

/// A pause in which other threads run, and that touches nothing: it is no step, so that what surrounds it can be proved.
pub const WORK: &str = "final class Work {
    static void on(int steps) {
        for (int i = 0; i < steps; i++) Thread.yield();
    }
}
";

/// The main class: three threads per subject, all at once.
pub fn main_class(subjects: &[Subject]) -> String {
    let mut starts = String::new();
    for subject in subjects {
        let name = &subject.name;
        let _ = writeln!(
            starts,
            "        together(seed, r -> {{ {name} o = it({name}.class, {name}::new); return C{name}.task(o, r, rounds); }});"
        );
    }
    format!(
        "public class Adversary {{
    private static final Map<Class<?>, Object> all = new HashMap<>();

    @SuppressWarnings(\"unchecked\")
    static <T> T it(Class<T> of, Supplier<T> make) {{ return (T) all.computeIfAbsent(of, any -> make.get()); }}

    static void together(long seed, Function<Random, Runnable> task) {{
        Thread[] threads = new Thread[3];
        for (int t = 0; t < threads.length; t++) threads[t] = new Thread(task.apply(new Random(seed * 31 + t)));
        for (Thread thread : threads) {{
            thread.setDaemon(true);
            thread.start();
        }}
        // What they do may be a deadlock, which is left alone.
        for (Thread thread : threads) {{
            try {{ thread.join(1500); }} catch (InterruptedException e) {{ return; }}
        }}
    }}

    public static void main(String[] arguments) {{
        long seed = Long.parseLong(arguments[0]);
        int rounds = Integer.parseInt(arguments[1]);
{starts}    }}
}}
"
    )
}
