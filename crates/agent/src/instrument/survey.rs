//! What has to be known of a method body before anything is inserted.
//!
//! Types come from the editor; exception ranges are those of the file, by instruction number.

use rustc_hash::FxHashMap;
use untorn_classfile::edit::{Pool, State};
use untorn_classfile::read::{FieldType, MethodType, PoolIndex, VType};
use untorn_classfile::{EditError, Held, Insn, MethodEditor, Monitors, Op, Protected, catches_all};

/// An exception range of the file.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    pub start: usize,
    pub end: usize,
    pub handler: usize,
    pub catch_type: PoolIndex,
}

#[derive(Debug)]
pub struct Survey {
    pub ranges: Vec<Range>,
    /// Types before instructions: at handlers, in ranges, and at `monitorexit`.
    states: FxHashMap<usize, State>,
    reach: Vec<Reach>,
    monitors: Monitors,
    /// Field accesses whose object is what local variable 0 was at first.
    this: Vec<bool>,
    /// Of field accesses, the local variable that has the object.
    loaded: FxHashMap<usize, u16>,
    /// From this instruction on, local variable 0 may have been used for more than accesses to its fields.
    used: usize,
    /// How many slots of the stack are used before each instruction that is reached.
    heights: Vec<Option<u16>>,
}

/// Whether an instruction can be given code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Never,
    /// In a constructor that has not called that of its superclass.
    BeforeSuper,
    Usual,
}

impl Survey {
    pub fn new(body: &mut MethodEditor<'_>, pool: &Pool<'_>) -> Result<Self, EditError> {
        let ranges: Vec<Range> = body
            .code()
            .exceptions
            .iter()
            .map(|entry| Range {
                start: body.index_at(entry.start),
                end: body.index_at(entry.end),
                handler: body.index_at(entry.handler),
                catch_type: entry.catch_type,
            })
            .collect();
        let protected: Vec<Protected> = ranges
            .iter()
            .map(|range| Protected {
                start: range.start,
                end: range.end,
                handler: range.handler,
                catches_all: catches_all(range.catch_type, pool.base()),
            })
            .collect();
        let mut survey = Self {
            ranges,
            states: FxHashMap::default(),
            reach: vec![Reach::Never; body.insns().len()],
            monitors: Monitors::of(body.insns(), |label| body.target(label), &protected),
            this: Vec::new(),
            loaded: FxHashMap::default(),
            used: 0,
            heights: vec![None; body.insns().len()],
        };
        survey.follow_types(body, pool)?;
        survey.find_this(body, pool)?;
        Ok(survey)
    }

    fn follow_types(
        &mut self,
        body: &mut MethodEditor<'_>,
        pool: &Pool<'_>,
    ) -> Result<(), EditError> {
        let mut wanted = vec![false; body.insns().len()];
        for range in &self.ranges {
            let covered = range.start..range.end.min(wanted.len());
            wanted
                .get_mut(covered)
                .unwrap_or_default()
                .iter_mut()
                .for_each(|wanted| *wanted = true);
            if let Some(handler) = wanted.get_mut(range.handler) {
                *handler = true;
            }
        }
        let mut states = body.states(pool)?;
        for (index, &wanted) in wanted.iter().enumerate() {
            let exit = states.insn(index).op() == Op::Monitorexit;
            let Some(state) = states.at(index)? else {
                continue;
            };
            self.heights[index] = u16::try_from(state.stack.len()).ok();
            self.reach[index] = if state.is_before_super() {
                Reach::BeforeSuper
            } else {
                Reach::Usual
            };
            if wanted || exit {
                self.states.insert(index, state.clone());
            }
        }
        Ok(())
    }

    /// Finds accesses to what `aload_0` loaded, in a straight line, and where it is used for anything else.
    fn find_this(&mut self, body: &MethodEditor<'_>, pool: &Pool<'_>) -> Result<(), EditError> {
        let insns = body.insns();
        self.this = vec![false; insns.len()];
        self.used = 0;
        let replaced = insns
            .iter()
            .any(|insn| matches!(insn, Insn::Local { op, index: 0, .. } if *op != Op::Aload));
        let mut entered = vec![false; insns.len()];
        let targets = insns.iter().flat_map(Insn::targets);
        let targets = targets.filter_map(|target| body.target(target));
        for index in targets.chain(self.ranges.iter().map(|range| range.handler)) {
            if let Some(entered) = entered.get_mut(index) {
                *entered = true;
            }
        }
        let mut loads: Vec<bool> = insns.iter().map(loads_this).collect();
        for (index, insn) in insns.iter().enumerate() {
            let below = match *insn {
                Insn::Field {
                    op: Op::Getfield, ..
                } => 1,
                Insn::Field {
                    op: Op::Putfield,
                    field,
                } => {
                    let kind = pool.base().field_ref(field)?.descriptor;
                    1 + FieldType::parse(&kind).map_or(1, FieldType::slots)
                }
                _ => continue,
            };
            let Some((maker, copied)) = self.maker(insns, &entered, index, below, pool) else {
                continue;
            };
            if let Insn::Local {
                op: Op::Aload,
                index: local,
                ..
            } = insns[maker]
                && !insns[maker..index].iter().any(|insn| stores(insn, local))
            {
                self.loaded.insert(index, local);
            }
            if loads_this(&insns[maker]) && !replaced {
                self.this[index] = true;
                // The other copy may go anywhere.
                loads[maker] &= copied;
            }
        }
        if replaced {
            return Ok(());
        }
        // Before the constructor above has run, nobody can be given the object.
        let first = (loads.iter().zip(&self.reach))
            .position(|(&loads, &reach)| loads && reach != Reach::BeforeSuper)
            .unwrap_or(insns.len());
        let back = insns.iter().enumerate().skip(first).flat_map(|(_, insn)| {
            let targets = insn.targets().filter_map(|target| body.target(target));
            targets.filter(|&target| target < first)
        });
        let caught = (self.ranges.iter())
            .filter(|range| range.end > first)
            .map(|range| range.handler);
        self.used = back.chain(caught).fold(first, usize::min);
        Ok(())
    }

    /// The instruction that put there what is so many slots below the top before another one, if no way leads in or out between, and whether it was copied since.
    fn maker<T: Copy>(
        &self,
        insns: &[Insn<T>],
        entered: &[bool],
        index: usize,
        below: u16,
        pool: &Pool<'_>,
    ) -> Option<(usize, bool)> {
        let height = |at: usize| self.heights.get(at).copied().flatten();
        let mut place = height(index)?.checked_sub(below)?;
        let (mut at, mut copied) = (index, false);
        while !entered[at] {
            at = at.checked_sub(1)?;
            let insn = &insns[at];
            let before = height(at)?;
            if before == place {
                if insn.op() != Op::Dup {
                    return (height(at + 1)? == place + 1).then_some((at, copied));
                }
                copied = true;
                place -= 1;
            } else if before - taken(insn, pool)?.min(before) <= place {
                return None;
            }
        }
        None
    }

    /// Whether at an instruction nobody has got what local variable 0 was at first from this method.
    pub fn is_unused(&self, index: usize) -> bool {
        index < self.used
    }

    /// Whether the object of a field access is surely what local variable 0 was at first.
    pub fn takes_this(&self, index: usize) -> bool {
        self.this.get(index) == Some(&true)
    }

    /// The local variable that has the object of a field access when it is made, if it was loaded from one.
    pub fn loaded(&self, index: usize) -> Option<u16> {
        self.loaded.get(&index).copied()
    }

    /// Whether code may be put at an instruction.
    pub fn is_usual(&self, index: usize) -> bool {
        self.reach.get(index) == Some(&Reach::Usual)
    }

    /// The types before an instruction, if it is one of those that were kept.
    pub fn state(&self, index: usize) -> Option<&State> {
        self.states.get(&index)
    }

    /// The monitors held before an instruction.
    pub fn held(&self, index: usize) -> Held {
        self.monitors.held(index)
    }

    /// The block that a `monitorexit` closes, by its number from 1.
    pub fn closes(&self, index: usize) -> Option<u32> {
        self.monitors.closes(index)
    }

    /// The ranges that cover an instruction, in the order in which they are tried; those behind one that catches everything never are.
    pub fn enclosing(&self, index: usize) -> Vec<usize> {
        let mut found = Vec::new();
        for (number, range) in self.ranges.iter().enumerate() {
            if range.start <= index && index < range.end {
                found.push(number);
                if range.catch_type.is_none() {
                    break;
                }
            }
        }
        found
    }

    /// Whether something catches everything that an instruction throws.
    pub fn catches_all(&self, index: usize) -> bool {
        self.enclosing(index)
            .last()
            .is_some_and(|&last| self.ranges[last].catch_type.is_none())
    }

    /// Whether an exception at this instruction leads back to it, as in the handlers that compilers write for blocks.
    pub fn leads_back(&self, index: usize, body: &MethodEditor<'_>) -> bool {
        let insns = body.insns();
        let mut seen = vec![false; insns.len()];
        let mut pending: Vec<usize> = self
            .enclosing(index)
            .iter()
            .map(|&number| self.ranges[number].handler)
            .collect();
        while let Some(at) = pending.pop() {
            if at == index {
                return true;
            }
            match seen.get_mut(at) {
                Some(seen) if !*seen => *seen = true,
                _ => continue,
            }
            pending.extend(insns[at].targets().filter_map(|target| body.target(target)));
            if insns[at].falls_through() {
                pending.push(at + 1);
            }
        }
        false
    }

    /// The local variables that handlers around an instruction need, with types that suit them all.
    ///
    /// `None` if they need one that a new frame cannot name.
    pub fn needed_locals(&self, index: usize) -> Option<Vec<(u16, VType)>> {
        let mut needed: Vec<(u16, VType)> = Vec::new();
        for number in self.enclosing(index) {
            let Some(handler) = self.state(self.ranges[number].handler) else {
                continue;
            };
            for (slot, &kind) in handler.locals.iter().enumerate() {
                let slot = slot as u16;
                if matches!(kind, VType::Top | VType::Half) {
                    continue;
                }
                match needed.iter_mut().find(|(known, _)| *known == slot) {
                    None => needed.push((slot, kind)),
                    Some((_, known)) if *known == kind => {}
                    // The handlers differ; what is there now suits both.
                    Some((_, known)) => *known = self.state(index)?.local(slot),
                }
            }
        }
        let nameable = |kind: VType| {
            !matches!(
                kind,
                VType::Uninitialized(_) | VType::UninitializedThis | VType::ReturnAddress
            )
        };
        needed.sort_by_key(|&(slot, _)| slot);
        needed
            .iter()
            .all(|&(_, kind)| nameable(kind))
            .then_some(needed)
    }
}

fn loads_this<T>(insn: &Insn<T>) -> bool {
    matches!(
        insn,
        Insn::Local {
            op: Op::Aload,
            index: 0,
            ..
        }
    )
}

/// Whether an instruction may change a local variable; a value of two slots covers the next one, too.
pub fn stores<T>(insn: &Insn<T>, local: u16) -> bool {
    match *insn {
        Insn::Local { op, index, .. } => {
            let loads = matches!(
                op,
                Op::Iload | Op::Lload | Op::Fload | Op::Dload | Op::Aload | Op::Ret
            );
            !loads && (index == local || index.checked_add(1) == Some(local))
        }
        _ => false,
    }
}

/// How many slots of the stack an instruction takes or changes at most; `None` if it is not known or goes elsewhere.
fn taken<T: Copy>(insn: &Insn<T>, pool: &Pool<'_>) -> Option<u16> {
    Some(match *insn {
        Insn::Push { .. } | Insn::Ldc { .. } | Insn::Iinc { .. } | Insn::Plain(Op::Dup) => 0,
        Insn::Local { op, .. } => match op {
            Op::Iload | Op::Lload | Op::Fload | Op::Dload | Op::Aload => 0,
            Op::Ret => return None,
            _ => 2,
        },
        Insn::Field { op, .. } => match op {
            Op::Getstatic => 0,
            Op::Getfield => 1,
            Op::Putstatic => 2,
            _ => 3,
        },
        Insn::Type { op, .. } => u16::from(op != Op::New),
        Insn::NewArray(_) => 1,
        Insn::Plain(op) if (Op::AconstNull..=Op::Dconst1).contains(&op) => 0,
        Insn::Plain(op) if op < Op::Dup && insn.falls_through() => 4,
        Insn::Plain(op) if (Op::Iadd..=Op::Dcmpg).contains(&op) => computed_with(op),
        Insn::Plain(Op::Arraylength) => 1,
        Insn::Invoke { op, method, .. } => {
            let descriptor = pool.base().method_ref(method).ok()?.descriptor;
            let kind = MethodType::parse(&descriptor)?;
            kind.parameters().map(FieldType::slots).sum::<u16>() + u16::from(op != Op::Invokestatic)
        }
        _ => return None,
    })
}

/// How many slots a computation takes at most.
fn computed_with(op: Op) -> u16 {
    use Op::{D2f, D2i, Dneg, F2d, F2i, I2b, I2d, I2l, I2s, Iadd, Ineg, L2d, L2i, Lxor};
    let between = |first: Op, last: Op| (first..=last).contains(&op);
    // Of `int` and `long`, `float` and `double` the second has the odd number.
    let is_wide = (op as u8) & 1 == 1;
    if between(I2l, I2d) || between(F2i, F2d) || between(I2b, I2s) {
        1
    } else if between(L2i, L2d) || between(D2i, D2f) {
        2
    } else if between(Ineg, Dneg) {
        1 + u16::from(is_wide)
    } else if between(Iadd, Lxor) && !is_wide {
        2
    } else {
        4
    }
}
