//! Hooks in the platform's own executors and futures, by the [model](super::model) (`models/platform.toml`).
//!
//! A task is run, and a future completed, by code that no program calls itself, so calls alone do not show the order.
//! A hook is one call of the runtime at the entry of a method, before its returns, or before a call that it makes.

use rustc_hash::FxHashMap;
use serde::Deserialize;
use untorn_classfile::read::{Access, MemberRef};
use untorn_classfile::{ClassEditor, ClassFile, EditError, Insn, MethodEditor, Op};

use super::model::{Effect, ModelError, Operand};
use super::weave::{CONTEXT, RUNTIME};
use crate::Registry;
use crate::loaders::Loader;

const FILE: &str = "platform.toml";

/// A row of the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hook {
    class: String,
    /// All overloads; what a platform does not have is skipped.
    methods: Vec<String>,
    /// `entry`, `return`, or the method without arguments, as `CLASS.NAME`, before whose calls it stands.
    at: String,
    effect: Effect,
    #[serde(default)]
    on: Operand,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    hook: Vec<Hook>,
}

/// All hooks, by class.
#[derive(Debug, Clone)]
pub struct Platform(FxHashMap<String, Vec<Hook>>);

impl Platform {
    pub(super) fn builtin() -> Result<Self, ModelError> {
        let text = include_str!("../../models/platform.toml");
        let rows: Rows =
            toml::from_str(text).map_err(|source| ModelError::Toml { file: FILE, source })?;
        let mut hooks: FxHashMap<String, Vec<Hook>> = FxHashMap::default();
        for hook in rows.hook {
            hooks.entry(hook.class.clone()).or_default().push(hook);
        }
        Ok(Self(hooks))
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
            let hooks = self.0.get(&class).into_iter().flatten();
            let hooks: Vec<&Hook> = hooks
                .filter(|hook| {
                    hook.methods.contains(&name)
                        && !is_static
                        && (hook.on != Operand::Arg0 || descriptor.starts_with("(L"))
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
                    hook.insert(&mut editor, &mut body, site as i32)?;
                }
            }
            if body.is_edited() {
                editor.put(body)?;
            }
        }
        editor.finish()
    }
}

impl Hook {
    fn insert<'a>(
        &self,
        editor: &mut ClassEditor<'a>,
        body: &mut MethodEditor<'a>,
        site: i32,
    ) -> Result<(), EditError> {
        let name = match self.effect {
            Effect::Signal => "signal",
            Effect::Await => "await",
            // The file is our own, and a test reads it: there are no others.
            _ => return Ok(()),
        };
        let descriptor = format!("(Ljava/lang/Object;IL{CONTEXT};)V");
        let event = editor.pool.method_ref(RUNTIME, name, &descriptor)?;
        let context = format!("(Z)L{CONTEXT};");
        let context = editor.pool.method_ref(RUNTIME, "context", &context)?;
        let is_call = |called: &MemberRef<'_>| {
            called.descriptor == "()V" && self.at == format!("{}.{}", called.class, called.name)
        };
        let mut places = Vec::new();
        for (index, insn) in body.insns().iter().enumerate() {
            let here = match insn {
                Insn::Invoke { method, .. } => is_call(&editor.pool.base().method_ref(*method)?),
                _ => self.at == "return" && insn.is_return(),
            };
            if here {
                places.push(Some(index));
            }
        }
        if self.at == "entry" {
            places.push(None);
        }
        let slot = u16::from(self.on == Operand::Arg0);
        let of_call = !matches!(self.at.as_str(), "entry" | "return");
        for place in places {
            let mut code = match place {
                None => body.at_entry(),
                Some(index) => body.before(index),
            };
            if of_call {
                code.op(Op::Dup);
            } else {
                code.local(Op::Aload, slot);
            }
            code.push_int(site, &mut editor.pool)?
                .op(Op::Iconst1)
                .invoke(Op::Invokestatic, context)
                .invoke(Op::Invokestatic, event);
        }
        Ok(())
    }
}
