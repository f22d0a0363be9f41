//! Loops that wait: they read until another thread has written.
//!
//! `while (!ready);` and `while (turn != me) Thread.yield();` change nothing themselves, so whatever ends them comes from outside.
//! A loop is the stretch from a jump's earlier target to the jump, as compilers lay loops out.
//! It spins if it reads what threads share, writes nothing of it, calls nothing but questions, and does not walk: a local variable that it changes is set before it is used in each round.
//! Where it says by `Thread.yield` or `Thread.onSpinWait` that it waits, it may count its rounds and ask by other names, too.

use crate::insn::{Insn, Op};
use crate::read::{ConstantPool, MemberRef};

/// The jumps back of loops that spin, by their numbers.
///
/// `target` gives the number of the instruction that a jump names; `is_getter` tells of methods that the class declares whether they only give a field out.
pub fn spins<T: Copy>(
    insns: &[Insn<T>],
    target: impl Fn(T) -> Option<usize>,
    pool: &ConstantPool<'_>,
    is_getter: impl Fn(&MemberRef<'_>) -> bool,
) -> Vec<usize> {
    let mut found = Vec::new();
    for (index, insn) in insns.iter().enumerate() {
        if !matches!(insn, Insn::Jump { .. }) {
            continue;
        }
        let starts = insn.targets().filter_map(&target);
        for start in starts.filter(|&start| start <= index) {
            if does_spin(&insns[start..=index], pool, &is_getter) {
                found.push(index);
            }
        }
    }
    found
}

fn does_spin<T: Copy>(
    body: &[Insn<T>],
    pool: &ConstantPool<'_>,
    is_getter: &impl Fn(&MemberRef<'_>) -> bool,
) -> bool {
    let (mut reads, mut yields, mut changes_place) = (false, false, false);
    let mut asks = false;
    let (mut asks_freely, mut tries, mut keeps) = (false, false, false);
    for (at, insn) in body.iter().enumerate() {
        match *insn {
            Insn::Field {
                op: Op::Getfield | Op::Getstatic,
                ..
            } => reads = true,
            Insn::Plain(op) if (Op::Iaload..=Op::Saload).contains(&op) => reads = true,
            Insn::Invoke { method, .. } => {
                let Ok(called) = pool.method_ref(method) else {
                    return false;
                };
                match question(&called, is_getter) {
                    Question::Yields => yields = true,
                    Question::Asks => {
                        asks = true;
                        reads = true;
                    }
                    Question::MayAsk => {
                        asks_freely = true;
                        reads = true;
                    }
                    Question::Tries => tries = true,
                    Question::AboutSelf => {}
                    Question::Other => return false,
                }
            }
            Insn::Local { op, index, .. } if is_store(op) => {
                changes_place |= uses(&body[..at], index);
                keeps = true;
            }
            Insn::Iinc { .. } => changes_place = true,
            Insn::Field { .. }
            | Insn::InvokeDynamic { .. }
            | Insn::Switch(_)
            | Insn::NewArray(_)
            | Insn::MultiNewArray { .. }
            | Insn::Type { op: Op::New, .. } => return false,
            Insn::Plain(op)
                if (Op::Iastore..=Op::Sastore).contains(&op)
                    || matches!(op, Op::Monitorenter | Op::Monitorexit | Op::Athrow) =>
            {
                return false;
            }
            _ => {}
        }
    }
    // A loop that reads a value and tries to replace it goes on by itself; one that only tries waits until it may.
    let retries = tries && (asks || keeps);
    (reads || tries) && (yields || !changes_place && !asks_freely && !retries)
}

fn is_store(op: Op) -> bool {
    matches!(
        op,
        Op::Istore | Op::Lstore | Op::Fstore | Op::Dstore | Op::Astore
    )
}

fn uses<T: Copy>(insns: &[Insn<T>], local: u16) -> bool {
    insns.iter().any(|insn| match *insn {
        Insn::Local { op, index, .. } => index == local && !is_store(op),
        Insn::Iinc { index, .. } => index == local,
        _ => false,
    })
}

/// What a call says of the loop that makes it.
enum Question {
    /// The loop waits.
    Yields,
    /// It reads what others change, and changes nothing.
    Asks,
    /// Its name says so.
    MayAsk,
    /// It takes something if it is free.
    Tries,
    /// It is about the thread itself, or a value.
    AboutSelf,
    Other,
}

fn question(called: &MemberRef<'_>, is_getter: &impl Fn(&MemberRef<'_>) -> bool) -> Question {
    let takes_nothing = called.descriptor.starts_with("()");
    match (&*called.class, &*called.name) {
        ("java/lang/Thread", "yield" | "onSpinWait") => Question::Yields,
        ("java/lang/Thread", "currentThread" | "interrupted" | "isInterrupted") => {
            Question::AboutSelf
        }
        (class, "compareAndSet") if class.starts_with("java/util/concurrent/atomic/") => {
            Question::Tries
        }
        (class, "get" | "getAcquire" | "getOpaque" | "getPlain")
            if class.starts_with("java/util/concurrent/atomic/") =>
        {
            Question::Asks
        }
        _ if is_getter(called) => Question::Asks,
        (_, name) if takes_nothing && begins(name, "is") => Question::Asks,
        (_, name)
            if takes_nothing
                && (begins(name, "get")
                    || begins(name, "has")
                    || name == "poll"
                    || name == "peek") =>
        {
            Question::MayAsk
        }
        // Values are boxed and unboxed on the way.
        (class, name)
            if class.starts_with("java/lang/")
                && (name == "valueOf" || name == "equals" || name.ends_with("Value")) =>
        {
            Question::AboutSelf
        }
        _ => Question::Other,
    }
}

/// Whether a name is this word, or begins with it and another word follows.
fn begins(name: &str, word: &str) -> bool {
    name.strip_prefix(word)
        .is_some_and(|rest| rest.chars().next().is_none_or(char::is_uppercase))
}
