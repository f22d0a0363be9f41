//! A transformation that uses everything the editor offers, everywhere it can.

use untorn_classfile::edit::{Pool, States};
use untorn_classfile::insn::Form;
use untorn_classfile::read::{Access, FieldType, VType};
use untorn_classfile::{ClassEditor, ClassFile, EditError, Insn, MethodEditor, Op, PoolIndex};

/// What to do beyond method bodies.
#[derive(Debug, Clone, Copy)]
pub struct Options<'o> {
    /// Internal name of the class that inserted code calls.
    pub hook: &'o str,
    /// Add a field and a method to every class that is no interface.
    pub members: bool,
    /// Only a call on entry: what a caller falls back to when a method gets too large.
    pub small: bool,
}

/// What happened to a class.
#[derive(Debug, Default, Clone, Copy)]
pub struct Counts {
    pub methods: usize,
    /// Methods that only took the small form.
    pub fallbacks: usize,
}

/// The class with every method hooked.
pub fn stress(bytes: &[u8], options: Options<'_>) -> Result<(Vec<u8>, Counts), EditError> {
    let mut editor = ClassEditor::new(ClassFile::parse(bytes)?);
    let mut counts = Counts::default();
    if editor.class().name == "java/lang/Object" {
        // With code in `finalize` every object of the JVM would have to be finalized.
        return Ok((bytes.to_vec(), counts));
    }
    for index in 0..editor.class().methods.len() {
        let Some(mut method) = editor.method(index)? else {
            continue;
        };
        counts.methods += 1;
        let plan = if options.small {
            Vec::new()
        } else {
            plan(&mut method, &editor.pool, editor.class())?
        };
        instrument(&mut method, &plan, index, &mut editor.pool, options)?;
        match editor.put(method) {
            Err(EditError::MethodTooLarge { .. }) => {
                counts.fallbacks += 1;
                if let Some(mut method) = editor.method(index)? {
                    instrument(
                        &mut method,
                        &[],
                        index,
                        &mut editor.pool,
                        Options {
                            small: true,
                            ..options
                        },
                    )?;
                    editor.put(method)?;
                }
            }
            other => other?,
        }
    }
    if options.members && !editor.class().access.has(Access::INTERFACE) {
        add_members(&mut editor)?;
    }
    Ok((editor.finish()?, counts))
}

#[derive(Debug, Clone, Copy)]
enum Site {
    /// A field access whose receiver, if any, lies below this many slots.
    Field {
        receiver_below: Option<u16>,
    },
    Lock,
    Unlock,
    Return,
    Call,
}

fn plan(
    method: &mut MethodEditor<'_>,
    pool: &Pool<'_>,
    class: &ClassFile<'_>,
) -> Result<Vec<(usize, Site)>, EditError> {
    let mut sites = Vec::new();
    let mut states = method.states(pool)?;
    for index in 0..states.len() {
        let insn = states.insn(index).clone();
        let site = match insn {
            Insn::Field { op, field } => {
                let field = class.pool.field_ref(field)?;
                let slots = FieldType::parse(&field.descriptor).map_or(1, FieldType::slots);
                let below = match op {
                    Op::Getfield => Some(0),
                    Op::Putfield => Some(slots),
                    _ => None,
                };
                if !is_visible(&mut states, index, below)? {
                    continue;
                }
                Site::Field {
                    receiver_below: below,
                }
            }
            Insn::Plain(Op::Monitorenter) => Site::Lock,
            Insn::Plain(Op::Monitorexit) => Site::Unlock,
            Insn::Invoke {
                op: Op::Invokestatic | Op::Invokevirtual,
                ..
            } => Site::Call,
            ref insn if insn.is_return() => Site::Return,
            _ => continue,
        };
        if states.at(index)?.is_some() {
            sites.push((index, site));
        }
    }
    Ok(sites)
}

/// Whether control reaches an access and its receiver, if it has one, is constructed.
fn is_visible(
    states: &mut States<'_, '_, '_>,
    index: usize,
    below: Option<u16>,
) -> Result<bool, EditError> {
    let Some(state) = states.at(index)? else {
        return Ok(false);
    };
    Ok(below.is_none_or(|below| {
        matches!(
            state.peek(below as usize),
            Some(VType::Object(_) | VType::Null)
        )
    }))
}

fn instrument(
    method: &mut MethodEditor<'_>,
    plan: &[(usize, Site)],
    number: usize,
    pool: &mut Pool<'_>,
    options: Options<'_>,
) -> Result<(), EditError> {
    let enter = pool.method_ref(options.hook, "enter", "()Ljava/lang/Object;")?;
    if options.small {
        method
            .at_entry()
            .invoke(Op::Invokestatic, enter)
            .op(Op::Pop);
        return Ok(());
    }
    let stamp = pool.method_ref(options.hook, "stamp", "()J")?;
    let event = pool.method_ref(options.hook, "event", "()V")?;
    let exit = pool.method_ref(options.hook, "exit", "()V")?;
    let see = pool.method_ref(options.hook, "see", "(Ljava/lang/Object;)V")?;
    let lock = pool.method_ref(options.hook, "lock", "(Ljava/lang/Object;)V")?;
    let caught = pool.method_ref(options.hook, "caught", "(Ljava/lang/Throwable;)V")?;

    let object = pool.object_type("java/lang/Object")?;
    let time = method.new_kept_local(VType::Long)?;
    let context = method.new_kept_local(object)?;
    method
        .at_entry()
        .invoke(Op::Invokestatic, stamp)
        .local(Op::Lstore, time);
    method
        .at_entry()
        .invoke(Op::Invokestatic, enter)
        .local(Op::Astore, context);

    for &(index, site) in plan {
        match site {
            Site::Field { receiver_below } => {
                let mut before = method.before(index);
                match receiver_below {
                    Some(0) => drop(before.op(Op::Dup).invoke(Op::Invokestatic, see)),
                    Some(1) => drop(
                        before
                            .op(Op::Dup2)
                            .op(Op::Pop)
                            .invoke(Op::Invokestatic, see),
                    ),
                    Some(_) => {
                        before
                            .op(Op::Dup2X1)
                            .op(Op::Pop2)
                            .op(Op::Dup)
                            .invoke(Op::Invokestatic, see);
                        before.op(Op::DupX2).op(Op::Pop);
                    }
                    None => {}
                }
                if index % 2 == 0 {
                    let skip = method.new_label();
                    method
                        .before(index)
                        .local(Op::Aload, context)
                        .jump(Op::Ifnull, skip);
                    method
                        .before(index)
                        .invoke(Op::Invokestatic, event)
                        .bind(skip);
                }
                let (there, end) = (method.new_label(), method.new_label());
                let mut after = method.after(index);
                after
                    .local(Op::Aload, context)
                    .jump(Op::Ifnonnull, there)
                    .op(Op::Nop)
                    .jump(Op::Goto, end);
                after.bind(there).invoke(Op::Invokestatic, event).bind(end);
            }
            Site::Lock => {
                let saved = method.new_local(object)?;
                method.before(index).op(Op::Dup).local(Op::Astore, saved);
                let skip = method.new_label();
                let mut after = method.after(index);
                after.local(Op::Aload, saved).invoke(Op::Invokestatic, lock);
                after
                    .local(Op::Aload, context)
                    .jump(Op::Ifnull, skip)
                    .invoke(Op::Invokestatic, event)
                    .bind(skip);
            }
            Site::Unlock => {
                method
                    .before(index)
                    .op(Op::Dup)
                    .invoke(Op::Invokestatic, lock);
                method.after(index).invoke(Op::Invokestatic, event);
            }
            Site::Return => {
                let mut before = method.before(index);
                before
                    .local(Op::Lload, time)
                    .op(Op::Pop2)
                    .invoke(Op::Invokestatic, exit);
            }
            Site::Call => {
                let insn = method.insns()[index].clone();
                method.replace(index).op(Op::Nop).insn(insn);
            }
        }
    }
    let Some(first) = method.after_super(pool)? else {
        return Ok(());
    };
    let end = method.insns().len();
    if first < end {
        let (start, end) = (method.boundary(first), method.boundary(end));
        let kept: &[(u16, VType)] = if number.is_multiple_of(2) {
            &[]
        } else {
            &[(context, object)]
        };
        let mut handler = method.handler(start, end, PoolIndex::NONE, kept, pool)?;
        if !kept.is_empty() {
            handler.local(Op::Aload, context).op(Op::Pop);
        }
        handler
            .op(Op::Dup)
            .invoke(Op::Invokestatic, caught)
            .invoke(Op::Invokestatic, exit)
            .op(Op::Athrow);
    }
    Ok(())
}

fn add_members(editor: &mut ClassEditor<'_>) -> Result<(), EditError> {
    let own = editor.class().name.clone().into_owned();
    let static_one = Access::PRIVATE.with(Access::STATIC).with(Access::SYNTHETIC);
    editor.add_field(
        Access::PUBLIC
            .with(Access::TRANSIENT)
            .with(Access::SYNTHETIC),
        "untorn$state",
        "J",
    )?;
    editor.add_field(static_one, "untorn$count", "I")?;
    let count = editor.pool.field_ref(&own, "untorn$count", "I")?;
    let mut method = editor.new_method(static_one, "untorn$probe", "(IJLjava/lang/String;)I")?;
    let sum = method.new_local(VType::Integer)?;
    let (again, done) = (method.new_label(), method.new_label());
    let mut code = method.append();
    code.op(Op::Iconst0).local(Op::Istore, sum);
    code.bind(again).local(Op::Iload, 0).jump(Op::Ifle, done);
    code.field(Op::Getstatic, count)
        .local(Op::Iload, sum)
        .op(Op::Iadd)
        .local(Op::Istore, sum);
    code.insn(Insn::Iinc {
        index: 0,
        delta: -1,
        form: Form::Shortest,
    })
    .jump(Op::Goto, again);
    code.bind(done).local(Op::Iload, sum).op(Op::Ireturn);
    editor.put(method)
}
