//! In a first run: accesses to an object that was tested just before.
//!
//! A first run records no access; it only needs every object to be this thread's own, or read-shared, when it is accessed.
//! That was seen to by the test before an earlier access to the same object and stays so until the thread's next safe point.
//! So a second access needs no test if nothing between the two can lead to a safe point: no call, no jump backwards, no lock, nothing that may load or initialize a class, and no test of another object, which may have to wait for another thread and answer meanwhile.
//! A test for a read is good for reads only.
//!
//! What is followed is the one object tested last, as the value of a local variable, forward over all ways that meet at an instruction.

use untorn_classfile::edit::{Label, Pool};
use untorn_classfile::read::{Entry, PoolIndex};
use untorn_classfile::{Insn, MethodEditor, Op};

use super::survey::{Survey, stores};

/// The object that was tested last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tested {
    /// The local variable that holds it.
    local: u16,
    /// The class through which its field was named: its word is the one that was looked at, and it is loaded.
    class: PoolIndex,
    for_writes: bool,
}

impl Tested {
    fn meet(self, other: Self) -> Option<Self> {
        let same = (self.local, self.class) == (other.local, other.class);
        same.then_some(Self {
            for_writes: self.for_writes && other.for_writes,
            ..self
        })
    }
}

/// What is known where ways meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrival {
    /// No jump seen so far leads here.
    Below,
    /// Jumps from above do, with this in common.
    Jumps(Option<Tested>),
    /// Reached from below or by an exception.
    Anyhow,
}

#[derive(Debug)]
pub struct Checked {
    now: Option<Tested>,
    /// Whether the instruction above the current one leads to it.
    falls: bool,
    /// Whether elements of arrays are tested as well.
    arrays: bool,
    arrivals: Vec<Arrival>,
}

impl Checked {
    pub fn new(body: &MethodEditor<'_>, survey: &Survey, arrays: bool) -> Self {
        let insns = body.insns();
        let mut arrivals = vec![Arrival::Below; insns.len()];
        let back = insns.iter().enumerate().flat_map(|(from, insn)| {
            let targets = insn.targets().filter_map(|target| body.target(target));
            targets.filter(move |&target| target <= from)
        });
        for at in back.chain(survey.ranges.iter().map(|range| range.handler)) {
            if let Some(arrival) = arrivals.get_mut(at) {
                *arrival = Arrival::Anyhow;
            }
        }
        Self {
            now: None,
            falls: true,
            arrays,
            arrivals,
        }
    }

    /// Comes to an instruction; instructions are gone through in their order.
    pub fn arrive(&mut self, index: usize) {
        self.now = match self.arrivals[index] {
            Arrival::Below => self.now.filter(|_| self.falls),
            Arrival::Jumps(known) if self.falls => self
                .now
                .and_then(|now| known.and_then(|known| known.meet(now))),
            Arrival::Jumps(known) => known,
            Arrival::Anyhow => None,
        };
    }

    /// Whether an access needs no test, as its object was tested before; if not, its own test counts from here on.
    pub fn covers(
        &mut self,
        index: usize,
        (class, writes): (PoolIndex, bool),
        survey: &Survey,
    ) -> bool {
        let tested = survey.loaded(index).map(|local| Tested {
            local,
            class,
            for_writes: writes,
        });
        let before = (self.now.zip(tested)).and_then(|(now, tested)| {
            let same = (now.local, now.class) == (tested.local, tested.class);
            same.then_some(now)
        });
        if before.is_some_and(|now| now.for_writes || !writes) {
            return true;
        }
        self.now = tested;
        false
    }

    /// Leaves an instruction.
    pub fn leave(&mut self, index: usize, body: &MethodEditor<'_>, pool: &Pool<'_>) {
        let insn = &body.insns()[index];
        if !self.keeps(insn, pool) {
            self.now = None;
        }
        for target in insn.targets().filter_map(|target| body.target(target)) {
            if let Some(arrival) = self.arrivals.get_mut(target) {
                *arrival = match *arrival {
                    Arrival::Below => Arrival::Jumps(self.now),
                    Arrival::Jumps(known) => Arrival::Jumps(
                        known.and_then(|known| self.now.and_then(|now| known.meet(now))),
                    ),
                    Arrival::Anyhow => Arrival::Anyhow,
                };
            }
        }
        self.falls = insn.falls_through();
    }

    /// Whether what is known before an instruction holds after it, as it leads to no safe point.
    fn keeps(&self, insn: &Insn<Label>, pool: &Pool<'_>) -> bool {
        let Some(now) = self.now else {
            return true;
        };
        match *insn {
            Insn::Local { .. } => !stores(insn, now.local),
            // Of another class it may have to be loaded.
            Insn::Field {
                op: Op::Getfield | Op::Putfield,
                field,
            } => class_of(pool, field) == Some(now.class),
            Insn::Ldc { constant, .. } => matches!(
                pool.base().entry(constant),
                Some(
                    Entry::Integer(_)
                        | Entry::Float(_)
                        | Entry::Long(_)
                        | Entry::Double(_)
                        | Entry::String { .. }
                )
            ),
            Insn::Plain(op) => {
                let of_array = (Op::Iaload..=Op::Saload).contains(&op)
                    || (Op::Iastore..=Op::Sastore).contains(&op);
                !(matches!(op, Op::Monitorenter | Op::Monitorexit) || self.arrays && of_array)
            }
            Insn::Push { .. }
            | Insn::Iinc { .. }
            | Insn::Jump { .. }
            | Insn::Switch(_)
            | Insn::NewArray(_) => true,
            _ => false,
        }
    }
}

/// The class through which a field is named.
pub fn class_of(pool: &Pool<'_>, field: PoolIndex) -> Option<PoolIndex> {
    match pool.base().entry(field) {
        Some(Entry::Field { class, .. }) => Some(class),
        _ => None,
    }
}
