//! Small programs with a forced schedule, as Java sources.
//!
//! A program has a few slots, each an object or a static field, and two or three threads.
//! Every access is a step with a number, and `Stage` makes the threads take them in that order.
//! Some steps lie in regions, which are methods whose names begin so; the others lie outside of all.
//! Steps that use a slot in the same way share the instruction, and may take it several times, also in regions of their own: so some accesses repeat others that are recorded.

use std::fmt::Write;

/// Xorshift: the same programs for the same seed, on every machine.
#[derive(Debug)]
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An object whose constructor writes nothing.
    Plain,
    /// One whose constructor writes its fields.
    Written,
    /// One that inherits its fields.
    Inheriting,
    /// One whose superclass is the platform's.
    OfPlatform,
    Volatile,
    /// One whose fields are accessed by instructions, an updater and a variable handle.
    Handled,
    Static,
    Array,
    Atomic,
    Map,
    ConcurrentMap,
    List,
}

/// Its fields are accessed by handles as well, which a check does not follow everywhere.
const HANDLED: &str = "    static class Handled {\n        \
             volatile int x; long y;\n        \
             static final java.util.concurrent.atomic.AtomicIntegerFieldUpdater<Handled> X =\n            \
                 java.util.concurrent.atomic.AtomicIntegerFieldUpdater.newUpdater(Handled.class, \"x\");\n        \
             static final java.lang.invoke.VarHandle Y;\n        \
             static {\n            \
                 try {\n                \
                     Y = java.lang.invoke.MethodHandles.lookup().findVarHandle(Handled.class, \"y\", long.class);\n            \
                 } catch (ReflectiveOperationException e) {\n                \
                     throw new ExceptionInInitializerError(e);\n            \
                 }\n        \
             }\n    \
         }\n";

/// What a generated program uses.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub kinds: &'static [Kind],
    /// Whether a thread of the program makes some of the objects, and not only the one that starts it.
    pub racing: bool,
}

struct Slot {
    kind: Kind,
    /// Made by the thread that uses it first.
    racing: bool,
    /// Found in a static field that is watched, and not by way of the stage.
    published: bool,
    made: bool,
}

impl Slot {
    fn class(&self) -> &'static str {
        match self.kind {
            Kind::Plain => "Plain",
            Kind::Written => "Written",
            Kind::Inheriting => "Inheriting",
            Kind::OfPlatform => "OfPlatform",
            Kind::Volatile => "Volatile",
            Kind::Handled => "Handled",
            Kind::Static => "Object",
            Kind::Array => "int[]",
            Kind::Atomic => "java.util.concurrent.atomic.AtomicInteger",
            Kind::Map => "java.util.HashMap",
            Kind::ConcurrentMap => "java.util.concurrent.ConcurrentHashMap",
            Kind::List => "java.util.ArrayList",
        }
    }

    fn made(&self) -> String {
        match self.kind {
            Kind::Array => "new int[2]".to_owned(),
            Kind::List => "new java.util.ArrayList(java.util.List.of(1, 2))".to_owned(),
            _ => format!("new {}()", self.class()),
        }
    }

    fn reference(&self, slot: usize) -> String {
        if self.published {
            format!("slot{slot}")
        } else {
            format!("(({}) Stage.get({slot}))", self.class())
        }
    }

    /// Statements that put a fresh object there.
    fn put(&self, slot: usize) -> String {
        let made = self.made();
        if self.published {
            format!("slot{slot} = {made};")
        } else {
            format!("Stage.put({slot}, {made});")
        }
    }

    /// A statement that uses what is there.
    fn access(&self, slot: usize, dice: &mut Dice) -> String {
        let it = self.reference(slot);
        match self.kind {
            Kind::Static => {
                let field = dice.of(&["a", "b"]);
                match dice.below(5) {
                    0 | 1 => format!("int v = {field}{slot};"),
                    2 | 3 => format!("{field}{slot} = 1;"),
                    _ => format!("{field}{slot}++;"),
                }
            }
            Kind::Array => {
                let index = dice.below(2);
                match dice.below(2) {
                    0 => format!("int v = {it}[{index}];"),
                    _ => format!("{it}[{index}] = 1;"),
                }
            }
            Kind::Handled => {
                let change = dice.of(&[
                    "int v = it.x;",
                    "it.x = 1;",
                    "long v = it.y;",
                    "it.y++;",
                    "int v = Handled.X.get(it);",
                    "Handled.X.set(it, 2);",
                    "Handled.X.compareAndSet(it, 1, 2);",
                    "Handled.X.updateAndGet(it, v -> v + 1);",
                    "long v = (long) Handled.Y.getVolatile(it);",
                    "Handled.Y.setRelease(it, 3L);",
                    "long v = (long) Handled.Y.getAndAdd(it, 4L);",
                ]);
                format!("Handled it = {it}; {change}")
            }
            Kind::Atomic => dice_call(&it, dice, &["get()", "set(1)", "incrementAndGet()"]),
            Kind::Map | Kind::ConcurrentMap => dice_call(
                &it,
                dice,
                &[
                    "containsKey(\"k\")",
                    "get(\"l\")",
                    "put(\"k\", 1)",
                    "put(\"l\", 1)",
                    "remove(\"k\")",
                ],
            ),
            Kind::List => dice_call(
                &it,
                dice,
                &["size()", "get(0)", "get(1)", "add(3)", "set(0, 4)"],
            ),
            _ => {
                let field = dice.of(&["x", "x", "y"]);
                match dice.below(5) {
                    0 | 1 => format!("long v = {it}.{field};"),
                    2 | 3 => format!("{it}.{field} = 1;"),
                    _ => format!("{it}.{field}++;"),
                }
            }
        }
    }
}

fn dice_call(it: &str, dice: &mut Dice, calls: &[&str]) -> String {
    format!("{it}.{};", dice.of(calls))
}

/// The sources of one program, a class of this name.
pub fn program(name: &str, seed: u64, shape: Shape) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..8 {
        dice.below(2);
    }
    let mut slots: Vec<Slot> = (0..=dice.below(3))
        .map(|_| Slot {
            kind: shape.kinds[dice.below(shape.kinds.len())],
            racing: shape.racing && dice.one_in(2),
            published: dice.one_in(3),
            made: false,
        })
        .collect();
    for slot in slots.iter_mut().filter(|slot| slot.kind == Kind::Static) {
        slot.made = true;
    }
    let threads = 2 + dice.below(2);
    // For each step its thread, and whether a region of that thread begins before it or ends after it.
    let steps = 4 + dice.below(9);
    let order: Vec<usize> = (0..steps).map(|_| dice.below(threads)).collect();
    let mut bodies = vec![String::new(); threads];
    let mut regions = String::new();
    let mut uses: Vec<String> = Vec::new();
    let mut open = vec![None; threads];
    let mut count = 0;
    let mut initial = String::new();
    for (number, slot) in slots.iter_mut().enumerate() {
        if !slot.racing && !slot.made {
            slot.made = true;
            if slot.published {
                writeln!(initial, "        {}", slot.put(number)).ok();
            }
        }
    }
    let props: Vec<String> = slots
        .iter()
        .map(|slot| {
            let there = slot.made && !slot.published && slot.kind != Kind::Static;
            if there {
                slot.made()
            } else {
                "null".to_owned()
            }
        })
        .collect();
    for (step, &thread) in order.iter().enumerate() {
        if open[thread].is_none() && !dice.one_in(4) {
            writeln!(bodies[thread], "        region{count}();").ok();
            open[thread] = Some((count, String::new()));
            count += 1;
        }
        let number = dice.below(slots.len());
        let make = if slots[number].made {
            String::new()
        } else {
            slots[number].made = true;
            slots[number].put(number) + " "
        };
        let access = slots[number].access(number, &mut dice);
        let place = uses.iter().position(|known| *known == access);
        let place = place.unwrap_or(uses.len());
        if place == uses.len() {
            uses.push(access);
        }
        // Once, some times, or some times in a region of its own.
        let way = dice.of(&["use", "use", "uses", "regionOf"]);
        let text = format!("        Stage.at({step}); {{ {make}{way}{place}(); }} Stage.done();\n");
        match &mut open[thread] {
            Some((_, body)) => body.push_str(&text),
            None => bodies[thread].push_str(&text),
        }
        let later = order[step + 1..].iter().filter(|t| **t == thread).count();
        if (later == 0 || dice.one_in(4))
            && let Some((region, body)) = open[thread].take()
        {
            write!(
                regions,
                "    static void region{region}() {{\n{body}    }}\n"
            )
            .ok();
        }
    }
    let mut source = format!("public final class {name} {{\n");
    for (number, slot) in slots.iter().enumerate() {
        if slot.kind == Kind::Static {
            writeln!(source, "    static int a{number}, b{number};").ok();
        } else {
            writeln!(source, "    static {} slot{number};", slot.class()).ok();
        }
    }
    source.push_str(
        "    static class Plain { int x; long y; }\n    \
         static class Written { int x = 1; long y; Written() { y = 2; } }\n    \
         static class Inheriting extends Written { }\n    \
         static class OfPlatform extends java.util.EventListenerProxy<java.util.EventListener> {\n        \
             int x; long y; OfPlatform() { super(null); }\n    }\n    \
         static class Volatile { volatile int x; long y; }\n",
    );
    if shape.kinds.contains(&Kind::Handled) {
        source.push_str(HANDLED);
    }
    source.push_str(&regions);
    for (place, access) in uses.iter().enumerate() {
        writeln!(
            source,
            "    static void use{place}() {{ {access} }}\n    \
             static void uses{place}() {{ for (int i = 0; i < 3; i++) use{place}(); }}\n    \
             static void regionOf{place}() {{ uses{place}(); }}"
        )
        .ok();
    }
    for (thread, body) in bodies.iter().enumerate() {
        write!(source, "    static void part{thread}() {{\n{body}    }}\n").ok();
    }
    let parts: Vec<String> = (0..threads).map(|t| format!("{name}::part{t}")).collect();
    write!(
        source,
        "    static void play() throws InterruptedException {{\n{initial}        \
         Stage.play(new Object[] {{ {} }}, {});\n    }}\n}}\n",
        props.join(", "),
        parts.join(", ")
    )
    .ok();
    source
}
