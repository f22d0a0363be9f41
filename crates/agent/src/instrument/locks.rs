//! Hooks in the platform's own locks, so that every lock operation is seen whoever makes it.
//!
//! A call names a class, and that tells too little: a lock is taken through a method reference, a subclass, a wrapper or code that is not watched, and given up through an interface.
//! So the methods of the locks themselves tell the runtime, and rewritten code only says which locks are the program's ([`watchLock`](super::calls)): those carry an entry, in a hidden field.
//! Without one, as in all that the platform uses for itself, a hook is a load and a test.
//!
//! The entry hangs on what all views and conditions of a lock have in common: its synchronizer, or the `StampedLock` itself.
//! Releases are told before they happen and acquisitions after, so that what was recorded of a lock never lags behind what others may see.
//! Whatever comes first also makes sure that there is enough stack for what follows: an error between what the platform does and what is recorded of it would lose one of the two.

use untorn_classfile::edit::{Label, Snippet};
use untorn_classfile::read::{Access, PoolIndex};
use untorn_classfile::{ClassEditor, ClassFile, EditError, MethodEditor, Op};

use super::weave::{HOOKS, RUNTIME};
use crate::Registry;
use crate::loaders::Loader;

const OBJECT: &str = "Ljava/lang/Object;";
/// What the synchronizers of all locks extend, with queues of either kind.
const SYNCHRONIZER: &str = "java/util/concurrent/locks/AbstractOwnableSynchronizer";
const STAMPED: &str = "java/util/concurrent/locks/StampedLock";
/// Apart from the entry that the same object has as a monitor.
const ENTRY: &str = "$untornLock";

/// A class of locks: the field that leads to what carries the entry, and what its methods do.
struct Kind {
    class: &'static str,
    carrier: Option<(&'static str, &'static str)>,
    methods: &'static [(&'static [&'static str], Does)],
}

#[derive(Clone, Copy)]
enum Does {
    /// Takes the lock, if the result is none, true or not zero.
    Take(Mode),
    Give(Mode),
    /// Waits for a condition.
    Wait,
    Notify,
    /// Turns one kind of hold into another, by its stamp.
    Convert(Mode),
}

/// As `UntornRuntime` numbers them.
#[derive(Clone, Copy)]
enum Mode {
    Exclusive = 0,
    Shared = 1,
    /// A stamp that holds nothing.
    Optimistic = 2,
}

const TAKES: &[&str] = &["lock", "lockInterruptibly", "tryLock"];

const CONDITION: &[(&[&str], Does)] = &[
    (
        &["await", "awaitNanos", "awaitUntil", "awaitUninterruptibly"],
        Does::Wait,
    ),
    (&["signal", "signalAll"], Does::Notify),
];

const KINDS: [Kind; 6] = [
    Kind {
        class: "java/util/concurrent/locks/ReentrantLock",
        carrier: Some(("sync", "Ljava/util/concurrent/locks/ReentrantLock$Sync;")),
        methods: &[
            (TAKES, Does::Take(Mode::Exclusive)),
            (&["unlock"], Does::Give(Mode::Exclusive)),
        ],
    },
    Kind {
        class: "java/util/concurrent/locks/ReentrantReadWriteLock$WriteLock",
        carrier: Some((
            "sync",
            "Ljava/util/concurrent/locks/ReentrantReadWriteLock$Sync;",
        )),
        methods: &[
            (TAKES, Does::Take(Mode::Exclusive)),
            (&["unlock"], Does::Give(Mode::Exclusive)),
        ],
    },
    Kind {
        class: "java/util/concurrent/locks/ReentrantReadWriteLock$ReadLock",
        carrier: Some((
            "sync",
            "Ljava/util/concurrent/locks/ReentrantReadWriteLock$Sync;",
        )),
        methods: &[
            (TAKES, Does::Take(Mode::Shared)),
            (&["unlock"], Does::Give(Mode::Shared)),
        ],
    },
    Kind {
        class: "java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject",
        carrier: Some((
            "this$0",
            "Ljava/util/concurrent/locks/AbstractQueuedSynchronizer;",
        )),
        methods: CONDITION,
    },
    Kind {
        class: "java/util/concurrent/locks/AbstractQueuedLongSynchronizer$ConditionObject",
        carrier: Some((
            "this$0",
            "Ljava/util/concurrent/locks/AbstractQueuedLongSynchronizer;",
        )),
        methods: CONDITION,
    },
    // Its views call these, and `unlock` calls `unlockRead` or `unlockWrite`.
    Kind {
        class: STAMPED,
        carrier: None,
        methods: &[
            (
                &["writeLock", "writeLockInterruptibly", "tryWriteLock"],
                Does::Take(Mode::Exclusive),
            ),
            (
                &["readLock", "readLockInterruptibly", "tryReadLock"],
                Does::Take(Mode::Shared),
            ),
            (
                &["unlockWrite", "tryUnlockWrite", "unstampedUnlockWrite"],
                Does::Give(Mode::Exclusive),
            ),
            (
                &["unlockRead", "tryUnlockRead", "unstampedUnlockRead"],
                Does::Give(Mode::Shared),
            ),
            (&["tryConvertToWriteLock"], Does::Convert(Mode::Exclusive)),
            (&["tryConvertToReadLock"], Does::Convert(Mode::Shared)),
            (
                &["tryConvertToOptimisticRead"],
                Does::Convert(Mode::Optimistic),
            ),
        ],
    },
];

/// Whether [`edit`] has something to do for a class, by its name with slashes.
pub fn concerns(class: &str) -> bool {
    class == SYNCHRONIZER || KINDS.iter().any(|kind| kind.class == class)
}

/// The class with its hooks; new ids are declared in `ids`.
pub fn edit(bytes: &[u8], ids: &Registry) -> Result<Vec<u8>, EditError> {
    let mut editor = ClassEditor::new(ClassFile::parse(bytes)?);
    let class = editor.class().name.to_string();
    if [SYNCHRONIZER, STAMPED].contains(&&*class) {
        // The hooks that read it are in several classes of the package.
        let hidden = Access(Access::TRANSIENT.0 | Access::SYNTHETIC.0);
        editor.add_field(hidden, ENTRY, OBJECT)?;
    }
    let Some(kind) = KINDS.iter().find(|kind| kind.class == class) else {
        return editor.finish();
    };
    let id = ids.class(Loader::BOOT, &class.replace('/', "."), None, None);
    for index in 0..editor.class().methods.len() {
        let method = &editor.class().methods[index];
        let (name, descriptor) = (method.name.to_string(), method.descriptor.to_string());
        let does = (kind.methods.iter()).find(|(names, _)| names.contains(&name.as_str()));
        let Some(&(_, does)) = does else {
            continue;
        };
        let Some(body) = editor.method(index)? else {
            continue;
        };
        let method = ids.method(id, &name, &descriptor);
        // Where it happened if no watched call leads here.
        let Some(site) = ids.site(method, 0, None) else {
            continue;
        };
        let hook = Hook {
            class: &class,
            carrier: kind.carrier,
            result: descriptor.rsplit(')').next().unwrap_or_default(),
            site: site as i32,
        };
        let body = hook.insert(&mut editor, body, does)?;
        editor.put(body)?;
        if matches!(does, Does::Take(_)) {
            // Reserved stack, which some of them ask for, delays the error to their end, when the lock is taken.
            editor.drop_annotations(index);
        }
    }
    editor.finish()
}

/// What is inserted into one method.
struct Hook<'h> {
    class: &'h str,
    carrier: Option<(&'h str, &'h str)>,
    /// The descriptor of what the method returns.
    result: &'h str,
    site: i32,
}

/// A call of the runtime: what it takes before the entry, and behind it, before the site.
struct Call<'c> {
    name: &'static str,
    /// Copies the result of the method.
    result: Option<(&'c str, Op)>,
    stamp: bool,
    mode: Option<Mode>,
}

impl Hook<'_> {
    fn insert<'a>(
        &self,
        editor: &mut ClassEditor<'a>,
        mut body: MethodEditor<'a>,
        does: Does,
    ) -> Result<MethodEditor<'a>, EditError> {
        match does {
            Does::Take(mode) => {
                let result = match self.result {
                    "V" => None,
                    "J" => Some(("J", Op::Dup2)),
                    other => Some((other, Op::Dup)),
                };
                let taken = Call {
                    result,
                    ..plain("lockTaken", Some(mode))
                };
                self.reserve(editor, &mut body)?;
                for index in returns(&body) {
                    self.call(editor, &mut body, Some(index), &taken)?;
                }
            }
            Does::Give(mode) => {
                self.call(editor, &mut body, None, &plain("lockGiven", Some(mode)))?;
            }
            Does::Notify => {
                self.call(editor, &mut body, None, &plain("conditionNotified", None))?;
            }
            Does::Convert(mode) => {
                let converting = Call {
                    stamp: true,
                    ..plain("lockConverting", Some(mode))
                };
                let converted = Call {
                    result: Some(("J", Op::Dup2)),
                    stamp: true,
                    ..plain("lockConverted", Some(mode))
                };
                self.call(editor, &mut body, None, &converting)?;
                for index in returns(&body) {
                    self.call(editor, &mut body, Some(index), &converted)?;
                }
            }
            Does::Wait => {
                let start = body.new_label();
                self.call(editor, &mut body, None, &plain("conditionWaits", None))?;
                body.at_entry().bind(start);
                let woken = plain("conditionWoken", None);
                for index in returns(&body) {
                    self.call(editor, &mut body, Some(index), &woken)?;
                }
                self.wake(editor, &mut body, start, &woken)?;
            }
        }
        Ok(body)
    }

    /// Makes sure, at the entry of the method, that there is enough stack to take the lock, to tell of it and to give it up.
    fn reserve<'a>(
        &self,
        editor: &mut ClassEditor<'a>,
        body: &mut MethodEditor<'a>,
    ) -> Result<(), EditError> {
        let skip = body.new_label();
        let entry = self.entry(editor)?;
        let target = editor.pool.method_ref(RUNTIME, "reserve", "()V")?;
        let mut code = body.at_entry();
        entry.load(&mut code);
        code.jump(Op::Ifnull, skip)
            .invoke(Op::Invokestatic, target)
            .bind(skip);
        Ok(())
    }

    /// Inserts a call for locks that carry an entry, at the entry of the method or before an instruction.
    fn call<'a>(
        &self,
        editor: &mut ClassEditor<'a>,
        body: &mut MethodEditor<'a>,
        place: Option<usize>,
        call: &Call<'_>,
    ) -> Result<(), EditError> {
        let skip = body.new_label();
        let entry = self.entry(editor)?;
        let target = call.target(editor)?;
        let mut code = match place {
            None => body.at_entry(),
            Some(index) => body.before(index),
        };
        entry.load(&mut code);
        code.jump(Op::Ifnull, skip);
        if let Some((_, copy)) = call.result {
            code.op(copy);
        }
        if call.stamp {
            code.local(Op::Lload, 1);
        }
        entry.load(&mut code);
        if let Some(mode) = call.mode {
            code.push_int(mode as i32, &mut editor.pool)?;
        }
        code.push_int(self.site, &mut editor.pool)?
            .invoke(Op::Invokestatic, target)
            .bind(skip);
        Ok(())
    }

    /// Tells that a wait is over when it ends by an exception: in whatever way, the lock is held again.
    fn wake<'a>(
        &self,
        editor: &mut ClassEditor<'a>,
        body: &mut MethodEditor<'a>,
        start: Label,
        woken: &Call<'_>,
    ) -> Result<(), EditError> {
        let (end, handler, skip) = (body.new_label(), body.new_label(), body.new_label());
        let entry = self.entry(editor)?;
        let target = woken.target(editor)?;
        let this = [(0, editor.pool.object_type(self.class)?)];
        let throwable = editor.pool.object_type("java/lang/Throwable")?;
        let mut code = body.append();
        code.bind(end).bind(handler).frame(&this, &[throwable]);
        entry.load(&mut code);
        code.jump(Op::Ifnull, skip);
        entry.load(&mut code);
        code.push_int(self.site, &mut editor.pool)?
            .invoke(Op::Invokestatic, target)
            .bind(skip)
            .op(Op::Athrow);
        body.protect(start, end, handler, PoolIndex::NONE, false);
        Ok(())
    }

    fn entry(&self, editor: &mut ClassEditor<'_>) -> Result<Entry, EditError> {
        let (holder, carrier) = match self.carrier {
            Some((field, kind)) => {
                let carrier = editor.pool.field_ref(self.class, field, kind)?;
                (SYNCHRONIZER, Some(carrier))
            }
            None => (STAMPED, None),
        };
        Ok(Entry {
            carrier,
            entry: editor.pool.field_ref(holder, ENTRY, OBJECT)?,
        })
    }
}

impl Call<'_> {
    fn target(&self, editor: &mut ClassEditor<'_>) -> Result<PoolIndex, EditError> {
        let descriptor = format!(
            "({}{}{OBJECT}{}I)V",
            self.result.map_or("", |(kind, _)| kind),
            if self.stamp { "J" } else { "" },
            if self.mode.is_some() { "I" } else { "" },
        );
        editor.pool.method_ref(HOOKS, self.name, &descriptor)
    }
}

const fn plain(name: &'static str, mode: Option<Mode>) -> Call<'static> {
    Call {
        name,
        result: None,
        stamp: false,
        mode,
    }
}

/// The fields that lead to the entry of `this`.
struct Entry {
    carrier: Option<PoolIndex>,
    entry: PoolIndex,
}

impl Entry {
    /// Pushes the entry of `this`, or null.
    fn load(&self, code: &mut Snippet<'_>) {
        code.local(Op::Aload, 0);
        if let Some(carrier) = self.carrier {
            code.field(Op::Getfield, carrier);
        }
        code.field(Op::Getfield, self.entry);
    }
}

fn returns(body: &MethodEditor<'_>) -> Vec<usize> {
    let all = body.insns().iter().enumerate();
    all.filter(|(_, insn)| insn.is_return())
        .map(|(index, _)| index)
        .collect()
}
