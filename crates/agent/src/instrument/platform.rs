//! Hooks in the platform's own executors and futures, by the [library model](untorn_library::platform).
//!
//! A task is run, and a future completed, by code that no program calls itself, so calls alone do not show the order.
//! A hook is one call of the runtime at the entry of a method, before its returns, or before a call that it makes.

use rustc_hash::FxHashMap;
use untorn_classfile::read::{Access, MemberRef};
use untorn_classfile::{ClassEditor, ClassFile, EditError, Insn, MethodEditor, Op};
use untorn_library::platform::{At, Effect, Hook, Subject, hooks};

use super::weave::{CONTEXT, RUNTIME};
use crate::Registry;
use crate::loaders::Loader;

/// All hooks, by class.
#[derive(Debug, Clone)]
pub struct Platform(FxHashMap<&'static str, Vec<&'static Hook>>);

impl Platform {
    pub(super) fn builtin() -> Self {
        let mut by_class: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for hook in hooks() {
            by_class.entry(hook.class).or_default().push(hook);
        }
        Self(by_class)
    }

    /// Whether a class, by its name with slashes, has hooks.
    pub fn concerns(&self, class: &str) -> bool {
        self.0.contains_key(class)
    }

    /// The class with its hooks; new ids are declared in `ids`.
    pub fn edit(&self, bytes: &[u8], ids: &Registry) -> Result<Vec<u8>, EditError> {
        let mut editor = ClassEditor::new(ClassFile::parse(bytes)?);
        let class = editor.class().name.to_string();
        let id = ids.class(Loader::BOOT, &class.replace('/', "."), None, None);
        for index in 0..editor.class().methods.len() {
            let method = &editor.class().methods[index];
            let (name, descriptor) = (method.name.to_string(), method.descriptor.to_string());
            let is_static = method.access.has(Access::STATIC);
            let hooks = self.0.get(&*class).into_iter().flatten();
            let hooks: Vec<_> = hooks
                .filter(|hook| {
                    hook.methods.contains(&&*name)
                        && !is_static
                        && (hook.on != Subject::Arg0 || descriptor.starts_with("(L"))
                })
                .collect();
            if hooks.is_empty() {
                continue;
            }
            let Some(mut body) = editor.method(index)? else {
                continue;
            };
            let method = ids.method(id, &name, &descriptor);
            for hook in hooks {
                if let Some(site) = ids.site(method, 0, None) {
                    insert(hook, &mut editor, &mut body, site as i32)?;
                }
            }
            if body.is_edited() {
                editor.put(body)?;
            }
        }
        editor.finish()
    }
}

/// Inserts a hook into the body of a method.
fn insert<'a>(
    hook: &Hook,
    editor: &mut ClassEditor<'a>,
    body: &mut MethodEditor<'a>,
    site: i32,
) -> Result<(), EditError> {
    let name = match hook.effect {
        Effect::Signal => "signal",
        Effect::Await => "await",
        // The library has no other hooks.
        _ => return Ok(()),
    };
    let descriptor = format!("(Ljava/lang/Object;IL{CONTEXT};)V");
    let event = editor.pool.method_ref(RUNTIME, name, &descriptor)?;
    let context = format!("(Z)L{CONTEXT};");
    let context = editor.pool.method_ref(RUNTIME, "context", &context)?;
    let is_call = |called: &MemberRef<'_>| match hook.at {
        At::Call { class, name } => {
            called.descriptor == "()V" && called.class == class && called.name == name
        }
        At::Entry | At::Return => false,
    };
    let mut places = Vec::new();
    for (index, insn) in body.insns().iter().enumerate() {
        let here = match insn {
            Insn::Invoke { method, .. } => is_call(&editor.pool.base().method_ref(*method)?),
            _ => hook.at == At::Return && insn.is_return(),
        };
        if here {
            places.push(Some(index));
        }
    }
    if hook.at == At::Entry {
        places.push(None);
    }
    let slot = u16::from(hook.on == Subject::Arg0);
    for place in places {
        let mut code = match place {
            None => body.at_entry(),
            Some(index) => body.before(index),
        };
        match hook.at {
            At::Call { .. } => {
                code.op(Op::Dup);
            }
            At::Entry | At::Return => {
                code.local(Op::Aload, slot);
            }
        }
        code.push_int(site, &mut editor.pool)?
            .op(Op::Iconst1)
            .invoke(Op::Invokestatic, context)
            .invoke(Op::Invokestatic, event);
    }
    Ok(())
}
