//! The label-based editor of one method body.

use crate::edit::error::{EditError, Result};
use crate::edit::infer;
use crate::edit::pool::Pool;
use crate::edit::snippet::{Item, Label, Snippet, Spot};
use crate::edit::state::State;
use crate::edit::states::States;
use crate::edit::transfer::Context;
use crate::error::{Error, ErrorKind};
use crate::insn::{Insn, Op};
use crate::read::{Access, ClassFile, Code, FrameTable, PoolIndex, VType};

/// A method body as a list of instructions that can be added to.
///
/// Positions are the numbers of the instructions *of the file* and never shift: insertions are
/// collected and take effect when the method is put back into its
/// [`ClassEditor`](crate::edit::ClassEditor).
/// Around instruction `i` the order is
///
/// 1. the boundary, where exception ranges that end or start at `i` do so;
/// 2. what was inserted with [`into`](Self::into), reached only from above;
/// 3. the label of `i`, where jumps land;
/// 4. what was inserted with [`before`](Self::before);
/// 5. `i` itself or its [replacement](Self::replace);
/// 6. what was inserted with [`after`](Self::after), reached only from `i`.
///
/// Frames, offsets, widened jumps and all tables follow by themselves; a label in inserted code
/// gets its frame from the types found by following the code.
#[derive(Debug, Clone)]
pub struct MethodEditor<'a> {
    /// Access flags of the method, free to change.
    pub access: Access,
    pub(crate) identity: Identity,
    pub(crate) code: Code<'a>,
    pub(crate) insns: Vec<Insn<Label>>,
    /// Offset of every instruction in the file, and the code length.
    pub(crate) offsets: Vec<u32>,
    /// Frames by instruction number: of the file, or inferred if it has none.
    pub(crate) frames: FrameTable,
    /// Whether frames are written: class files before version 50 have none.
    pub(crate) framed: bool,
    inferred: bool,
    pub(crate) items: Vec<Item>,
    pub(crate) inserts: Vec<Insert>,
    pub(crate) handlers: Vec<Handler>,
    pub(crate) fresh: u32,
    pub(crate) max_locals: u32,
    /// Locals that inserted entry code sets and every frame of the file shall keep.
    pub(crate) kept_locals: Vec<(u16, VType)>,
}

/// Which method a body belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Identity {
    /// Position in the class; `None` for a new method.
    pub(crate) index: Option<usize>,
    pub(crate) name: PoolIndex,
    pub(crate) descriptor: PoolIndex,
    pub(crate) this_class: PoolIndex,
}

/// Where inserted items go; the order of the variants is their order in the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Entry,
    Into,
    Before,
    Replace,
    After,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Insert {
    pub(crate) at: u32,
    pub(crate) place: Place,
    /// First item; the snippet ends where the next one starts.
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// A new exception range.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Handler {
    pub(crate) start: Label,
    pub(crate) end: Label,
    pub(crate) target: Label,
    pub(crate) catch_type: PoolIndex,
    pub(crate) innermost: bool,
}

impl<'a> MethodEditor<'a> {
    pub(crate) fn open(class: &ClassFile<'a>, index: usize) -> Result<Option<Self>> {
        let Some(method) = class.methods.get(index) else {
            return Err(EditError::NoSuchMember {
                what: "method",
                index,
            });
        };
        let Some(code) = method.code(&class.pool)? else {
            return Ok(None);
        };
        let length = code.bytecode.len();
        let mut numbers = vec![u32::MAX; length + 1];
        let mut decoded = Vec::with_capacity(length / 2 + 1);
        let mut offsets = Vec::with_capacity(length / 2 + 2);
        for next in code.instructions() {
            let (at, insn) = next?;
            numbers[at as usize] = offsets.len() as u32;
            offsets.push(at);
            decoded.push(insn);
        }
        numbers[length] = offsets.len() as u32;
        offsets.push(length as u32);
        let number = |at: u32| match numbers.get(at as usize) {
            Some(&number) if number != u32::MAX => Ok(number),
            _ => Err(Error {
                offset: code.offset,
                kind: ErrorKind::BranchTarget(at.into()),
            }),
        };
        let mut branches = !code.exceptions.is_empty();
        let mut insns = Vec::with_capacity(decoded.len());
        for insn in decoded {
            branches |= matches!(insn, Insn::Jump { .. } | Insn::Switch(_));
            insns.push(
                insn.try_map(|target| {
                    number(target).map(|n| Label::new(Spot::Target(n as usize)))
                })?,
            );
        }
        for entry in &code.exceptions {
            for at in [entry.start, entry.end, entry.handler] {
                number(at)?;
            }
        }
        let has_table = code.attributes.find(b"StackMapTable").is_some();
        // A class of version 50 may lack frames: the JVM then infers types, as for older ones.
        let framed = class.major > 50 || class.major == 50 && (has_table || !branches);
        let mut frames = FrameTable::parse(class, method, &code)?;
        frames.relocate(number)?;
        Ok(Some(Self {
            access: method.access,
            identity: Identity {
                index: Some(index),
                name: method.name_index,
                descriptor: method.descriptor_index,
                this_class: class.this_class,
            },
            insns,
            offsets,
            frames,
            framed,
            inferred: false,
            items: Vec::new(),
            inserts: Vec::new(),
            handlers: Vec::new(),
            fresh: 0,
            max_locals: code.max_locals.into(),
            kept_locals: Vec::new(),
            code,
        }))
    }

    /// A new method with an empty body, to be filled with [`append`](Self::append).
    pub(crate) fn empty(framed: bool, access: Access, identity: Identity, entry: &State) -> Self {
        let mut frames = FrameTable::default();
        frames.push(
            0,
            &entry.locals,
            &[],
            crate::read::frames::FrameStyle::Shortest,
        );
        Self {
            access,
            identity,
            code: Code {
                max_stack: 0,
                max_locals: entry.locals.len() as u16,
                bytecode: &[],
                exceptions: Vec::new(),
                attributes: crate::read::Attributes::default(),
                offset: 0,
            },
            insns: Vec::new(),
            offsets: vec![0],
            frames,
            framed,
            inferred: true,
            items: Vec::new(),
            inserts: Vec::new(),
            handlers: Vec::new(),
            fresh: 0,
            max_locals: entry.locals.len() as u32,
            kept_locals: Vec::new(),
        }
    }

    /// The instructions of the file.
    pub fn insns(&self) -> &[Insn<Label>] {
        &self.insns
    }

    /// The body as it stands in the file.
    pub fn code(&self) -> &Code<'a> {
        &self.code
    }

    /// Where instruction `index` stands in the file.
    pub fn offset(&self, index: usize) -> Option<u32> {
        self.offsets
            .get(index)
            .copied()
            .filter(|_| index < self.insns.len())
    }

    /// The instruction of the file that a jump to this label runs first; `None` for inserted code.
    pub fn target(&self, label: Label) -> Option<usize> {
        match label.spot() {
            Spot::Target(index) => Some(index),
            _ => None,
        }
    }

    /// Whether anything was inserted, replaced or wrapped.
    pub fn is_edited(&self) -> bool {
        !self.inserts.is_empty() || !self.handlers.is_empty() || !self.kept_locals.is_empty()
    }

    /// A label that stands nowhere yet: give it a place with [`Snippet::bind`].
    pub fn new_label(&mut self) -> Label {
        self.fresh += 1;
        Label::new(Spot::Fresh(self.fresh as usize - 1))
    }

    /// Where jumps to instruction `index` land; the number of instructions stands for the end.
    ///
    /// Inserted code can jump there only if code of the file does, too; otherwise
    /// [bind](Snippet::bind) a new label with [`into`](Self::into) or [`before`](Self::before).
    pub fn label(&self, index: usize) -> Label {
        Label::new(Spot::Target(index))
    }

    /// Where an exception range can start or end between instructions `index - 1` and `index`.
    pub fn boundary(&self, index: usize) -> Label {
        Label::new(Spot::Boundary(index))
    }

    /// Takes one or two local variable slots above all others.
    pub fn new_local(&mut self, kind: VType) -> Result<u16> {
        let slot = self.max_locals;
        self.max_locals += kind.slots().count() as u32;
        if self.max_locals > 65535 {
            return Err(EditError::TooMany("local variables"));
        }
        Ok(slot as u16)
    }

    /// As [`Self::new_local`], for a variable that code [`at_entry`](Self::at_entry) sets and all
    /// later code may use: every frame of the file keeps it.
    pub fn new_kept_local(&mut self, kind: VType) -> Result<u16> {
        let slot = self.new_local(kind)?;
        self.kept_locals.push((slot, kind));
        Ok(slot)
    }

    fn insert(&mut self, at: usize, place: Place) -> Snippet<'_> {
        let start = self.items.len() as u32;
        if let Some(last) = self.inserts.last_mut() {
            last.end = start;
        }
        self.inserts.push(Insert {
            at: at as u32,
            place,
            start,
            end: u32::MAX,
        });
        Snippet {
            items: &mut self.items,
        }
    }

    /// Code that runs once when the method is entered; no exception range of the file covers it.
    pub fn at_entry(&mut self) -> Snippet<'_> {
        self.insert(0, Place::Entry)
    }

    /// Code reached only by falling into `index` from above, protected as `index` is.
    pub fn into(&mut self, index: usize) -> Snippet<'_> {
        self.insert(index, Place::Into)
    }

    /// Code that runs whenever instruction `index` is about to run, protected as it is.
    pub fn before(&mut self, index: usize) -> Snippet<'_> {
        self.insert(index, Place::Before)
    }

    /// Code that runs when instruction `index` has run and control goes on below it.
    ///
    /// It is protected as `index` is, except next to monitors, where it is protected as the next
    /// instruction is: after a `monitorenter` the handler that releases the monitor must cover it,
    /// and after a `monitorexit` must not, else the JIT refuses to compile the method.
    pub fn after(&mut self, index: usize) -> Snippet<'_> {
        match self.insns.get(index) {
            Some(Insn::Plain(Op::Monitorenter | Op::Monitorexit)) => {
                self.insert(index + 1, Place::Into)
            }
            _ => self.insert(index, Place::After),
        }
    }

    /// As [`Self::after`], always protected as `index` itself is.
    pub fn after_within(&mut self, index: usize) -> Snippet<'_> {
        self.insert(index, Place::After)
    }

    /// Code instead of instruction `index`; a second replacement is added to the first.
    pub fn replace(&mut self, index: usize) -> Snippet<'_> {
        self.insert(index, Place::Replace)
    }

    /// Code behind the last instruction, reached only by jumps and exceptions.
    pub fn append(&mut self) -> Snippet<'_> {
        self.insert(self.insns.len(), Place::Before)
    }

    /// Sends exceptions between two labels to a new handler at the end of the method, and opens
    /// the handler: the exception is on the stack, and only `locals` are usable.
    ///
    /// Handlers of the file and earlier ones come first; `catch_type` none catches everything.
    pub fn handler(
        &mut self,
        start: Label,
        end: Label,
        catch_type: PoolIndex,
        locals: &[(u16, VType)],
        pool: &mut Pool<'_>,
    ) -> Result<Snippet<'_>> {
        self.add_handler(start, end, catch_type, locals, pool, false)
    }

    /// As [`Self::handler`], tried before all others.
    pub fn inner_handler(
        &mut self,
        start: Label,
        end: Label,
        catch_type: PoolIndex,
        locals: &[(u16, VType)],
        pool: &mut Pool<'_>,
    ) -> Result<Snippet<'_>> {
        self.add_handler(start, end, catch_type, locals, pool, true)
    }

    fn add_handler(
        &mut self,
        start: Label,
        end: Label,
        catch_type: PoolIndex,
        locals: &[(u16, VType)],
        pool: &mut Pool<'_>,
        innermost: bool,
    ) -> Result<Snippet<'_>> {
        let caught = match pool.class_type(catch_type) {
            Some(caught) => caught,
            None => pool.object_type("java/lang/Throwable")?,
        };
        let handler = self.new_label();
        self.handlers.push(Handler {
            start,
            end,
            target: handler,
            catch_type,
            innermost,
        });
        let mut snippet = self.append();
        snippet.bind(handler).frame(locals, &[caught]);
        Ok(snippet)
    }

    /// Sends exceptions between two labels to a place that exists or that inserted code binds.
    ///
    /// `innermost` ranges are tried before all others, the rest after those of the file; among
    /// themselves they keep the order in which they were added.
    pub fn protect(
        &mut self,
        start: Label,
        end: Label,
        handler: Label,
        catch_type: PoolIndex,
        innermost: bool,
    ) {
        self.handlers.push(Handler {
            start,
            end,
            target: handler,
            catch_type,
            innermost,
        });
    }

    /// The first instruction after the call of the superclass constructor (or of another one of
    /// the same class) in a constructor; 0 in any other method.
    ///
    /// `None` if there is no such call, more than one, or code below it that runs before it.
    pub fn after_super(&mut self, pool: &Pool<'_>) -> Result<Option<usize>> {
        let mut states = self.states(pool)?;
        if !states.at(0)?.is_some_and(State::is_before_super) {
            return Ok(Some(0));
        }
        let mut found = None;
        for index in 0..states.len() {
            let Insn::Invoke {
                op: Op::Invokespecial,
                ..
            } = *states.insn(index)
            else {
                continue;
            };
            let before = states.at(index)?.is_some_and(State::is_before_super);
            let after = states
                .after(index)?
                .is_some_and(|state| state.is_before_super());
            if before && !after {
                if found.is_some() {
                    return Ok(None);
                }
                found = Some(index + 1);
            }
        }
        let Some(first) = found else { return Ok(None) };
        for index in first..states.len() {
            if states.at(index)?.is_some_and(State::is_before_super) {
                return Ok(None);
            }
        }
        Ok(found)
    }

    /// The types at each instruction, found by following the code from the frames of the file.
    pub fn states<'m, 'p>(&'m mut self, pool: &'m Pool<'p>) -> Result<States<'m, 'a, 'p>> {
        self.infer(pool)?;
        Ok(States::new(self, pool))
    }

    pub(crate) fn context<'c, 'p>(&self, pool: &'c Pool<'p>) -> Context<'c, 'p> {
        Context {
            pool,
            this_class: self.identity.this_class,
        }
    }

    /// Class files without frames get the types at their jump targets by inference, once.
    pub(crate) fn infer(&mut self, pool: &Pool<'_>) -> Result<()> {
        if !self.framed && !self.inferred {
            self.frames = infer::frames(self, pool)?;
        }
        self.inferred = true;
        Ok(())
    }

    /// The instruction of the file that stands at or before an offset.
    pub fn index_at(&self, offset: u32) -> usize {
        self.offsets
            .partition_point(|&start| start <= offset)
            .saturating_sub(1)
    }
}
