//! Accesses to fields, static fields and array elements.
//!
//! The object's shadow word is locked or claimed before the access and freed after it, both in one exception range: an access that throws frees the word without a record.
//! Nothing is kept in local variables for fields, so objects stay alive no longer than before; `dup` puts the reference where the call wants it.
//!
//! | access | inserted before it | after it |
//! |---|---|---|
//! | `getfield` | `dup`, `lock` | `unlockStatic` |
//! | `putfield` of one slot | `dup2 pop`, `lock` | `unlockStatic` |
//! | `putfield` of two slots | `dup2_x1 pop2 dup_x2`, `lock` | `unlockStatic` |
//! | `getstatic`, `putstatic` | `lockStatic` | `unlockStatic` |
//! | array element | `dup2` into locals, `lockArray` | `unlockArray` |
//!
//! With optimistic tracking, fields are recorded before they are accessed, and those of objects that this thread alone has touched not at all ([`owned`](super::owned)).
//! `unlockStatic` frees the word that the thread holds, whatever it belongs to.
//! A static field of another class is read and dropped first: its class is then initialized while no word is held.

use untorn_channel::declare::{self, AccessKind, Target};
use untorn_channel::facts::Field;
use untorn_classfile::Op;
use untorn_classfile::read::{FieldType, MemberRef, PoolIndex};

use super::checked;
use super::guard::Guards;
use super::weave::{Category, OBJECT, Result, Weaver};
use crate::registry::FieldRef;

/// `UntornRuntime.WRITES`.
pub(super) const WRITES: i32 = 1 << 30;

/// Whether the Kotlin compiler made the field to keep a coroutine's state in while it waits: what threads do to it one after the other is in the order in which they have the coroutine.
fn is_of_coroutine(field: &MemberRef<'_>) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match &*field.name {
        // Of a body's own class, as nested functions have it.
        "label" | "result" => (field.class.rsplit('$').next()).is_some_and(is_number),
        // Spilled: the letter of its type and a number.
        name => name.split_once('$').is_some_and(|(letter, number)| {
            letter.len() == 1 && letter.as_bytes()[0].is_ascii_uppercase() && is_number(number)
        }),
    }
}

impl Weaver<'_, '_> {
    /// Instruments a field access.
    pub(super) fn field(&mut self, index: usize, op: Op, field: PoolIndex) -> Result<()> {
        let reference = self.pool.base().field_ref(field)?;
        let class = reference.class.replace('/', ".");
        let is_compilers = reference.name.starts_with("$SwitchMap$") || is_of_coroutine(&reference);
        if is_compilers || !self.subject.plan.watches(&class) {
            return Ok(());
        }
        let writes = matches!(op, Op::Putfield | Op::Putstatic);
        let is_static = matches!(op, Op::Getstatic | Op::Putstatic);
        let named = FieldRef {
            class,
            name: reference.name.to_string(),
            descriptor: reference.descriptor.to_string(),
            is_static,
        };
        if let Some(proved) = self.subject.leaves_out(&named) {
            self.counts.add(match proved {
                Field::Confined => "sites left out: proved to be of one thread",
                Field::ReadOnly | Field::Shared => "sites left out: proved to be read-only",
            });
            return Ok(());
        }
        let (id, declared) = self.subject.ids.field(self.subject.loader, &named);
        // Nobody else sees a final field change; without other writers its reads cannot conflict.
        let is_final = declared.as_ref().is_some_and(|d| d.is_final);
        if is_final && !self.facts.is_initializer() {
            return Ok(());
        }
        // Until it ends, every other thread that wants the field waits, and then sees what was written: the JVM orders that.
        if self.facts.is_class_initializer() && self.is_own(&reference, true) {
            self.counts
                .add("sites left out: static fields of a class being initialized");
            return Ok(());
        }
        // Whoever learns of the object otherwise than through what is recorded may conflict with its constructor;
        // a first run has the object's word for that.
        if self.is_under_construction(index) && (is_final || self.subject.plan.is_first) {
            self.counts
                .add("sites left out: objects under construction");
            return Ok(());
        }
        let own = self.is_own(&reference, is_static);
        let optimistic = self.subject.plan.optimistic;
        if !optimistic && !Guards::possible(&self.survey, index) {
            self.counts.add("sites left out: types not nameable");
            return Ok(());
        }
        if !is_static
            && let Some(checked) = &mut self.checked
            && let Some(class) = checked::class_of(self.pool, field)
            && checked.covers(index, (class, writes), &self.survey)
        {
            self.counts.add("sites left out: object tested just before");
            return Ok(());
        }
        let two_slots = FieldType::parse(&reference.descriptor).is_some_and(|f| f.slots() == 2);
        let is_volatile = declared.as_ref().is_some_and(|d| d.is_volatile);
        let access = declare::Access {
            kind: if writes {
                AccessKind::Write
            } else {
                AccessKind::Read
            },
            target: if is_static {
                Target::Static(id)
            } else {
                Target::Field(id)
            },
            volatile: is_volatile,
            wide: two_slots && !is_volatile,
            approximate: false,
        };
        let Some(site) = self.site(index, Some(access)) else {
            return Ok(());
        };
        let site = if writes { site | WRITES } else { site };
        self.counts.add(if is_static {
            "sites: static fields"
        } else {
            "sites: fields"
        });
        self.steer_field(index, (op, field, two_slots), id)?;
        if !optimistic {
            return self.bracket(index, (op, field, two_slots, own), id, site);
        }
        if is_static {
            self.touch_static(index, (field, two_slots, own), id, site)
        } else {
            self.touch_field(index, op, (&reference.class, two_slots), site)
        }
    }

    /// Locks the word before a field access and frees it afterwards.
    fn bracket(
        &mut self,
        index: usize,
        (op, field, two_slots, own): (Op, PoolIndex, bool, bool),
        id: u32,
        site: i32,
    ) -> Result<()> {
        let is_static = matches!(op, Op::Getstatic | Op::Putstatic);
        let context = self.context()?;
        let (start, end) = self.labels();
        let unlock = self.entry("unlockStatic", "II")?;
        let (lock, number) = if is_static {
            (self.entry("lockStatic", "II")?, id as i32)
        } else {
            (self.entry("lock", "Ljava/lang/Object;I")?, 0)
        };
        let mut code = self.body.before(index);
        if is_static && !own {
            code.field(Op::Getstatic, field)
                .op(if two_slots { Op::Pop2 } else { Op::Pop });
        }
        match op {
            Op::Getfield => {}
            Op::Putfield if two_slots => {
                code.op(Op::Dup2X1).op(Op::Pop2).op(Op::DupX2);
            }
            Op::Putfield => {
                code.op(Op::Dup2).op(Op::Pop);
            }
            _ => {
                code.push_int(number, self.pool)?;
            }
        }
        code.bind(start);
        if op == Op::Getfield {
            code.op(Op::Dup);
        }
        code.push_int(site, self.pool)?
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, lock);
        self.body
            .after_within(index)
            .push_int(number, self.pool)?
            .push_int(site, self.pool)?
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, unlock)
            .bind(end);
        self.guard_access(index, (start, end))
    }

    /// Whether the class that is rewritten declares the field itself.
    pub(super) fn is_own(&self, reference: &MemberRef<'_>, is_static: bool) -> bool {
        let class = self.subject.class;
        reference.class == class.name
            && class.fields.iter().any(|field| {
                field.name == reference.name
                    && field.descriptor == reference.descriptor
                    && field.is_static() == is_static
            })
    }

    /// Instruments an array access; any other instruction is left alone.
    pub(super) fn array(&mut self, index: usize, op: Op) -> Result<()> {
        let writes = (Op::Iastore..=Op::Sastore).contains(&op);
        let reads = (Op::Iaload..=Op::Saload).contains(&op);
        if !(reads || writes) {
            return Ok(());
        }
        if !self.subject.plan.arrays {
            self.counts.add("sites left out: array elements");
            return Ok(());
        }
        if !Guards::possible(&self.survey, index) {
            self.counts.add("sites left out: types not nameable");
            return Ok(());
        }
        let element = match op {
            Op::Laload | Op::Lastore => Category::Long,
            Op::Faload | Op::Fastore => Category::Float,
            Op::Daload | Op::Dastore => Category::Double,
            Op::Aaload | Op::Aastore => Category::Reference,
            _ => Category::Int,
        };
        let access = declare::Access {
            kind: if writes {
                AccessKind::Write
            } else {
                AccessKind::Read
            },
            target: Target::Element,
            volatile: false,
            wide: matches!(element, Category::Long | Category::Double),
            approximate: false,
        };
        let Some(site) = self.site(index, Some(access)) else {
            return Ok(());
        };
        let site = if writes { site | WRITES } else { site };
        let context = self.context()?;
        let array = self.temporary(Category::Reference, 0)?;
        let number = self.temporary(Category::Int, 0)?;
        let value = match element {
            _ if !writes => None,
            // The first of these holds array or index.
            Category::Reference | Category::Int => Some(self.temporary(element, 1)?),
            _ => Some(self.temporary(element, 0)?),
        };
        let lock = self.entry("lockArray", "Ljava/lang/Object;II")?;
        let unlock = self.entry("unlockArray", "Ljava/lang/Object;II")?;
        let (start, end) = self.labels();
        let object = self.pool.class(OBJECT)?;
        let mut code = self.body.before(index);
        if let Some(value) = value {
            if element == Category::Reference {
                code.class(Op::Checkcast, object);
            }
            code.local(element.store(), value);
        }
        // What the access takes stays on the stack: the JVM's message for a null array says where array and index came from.
        code.op(Op::Dup2)
            .local(Op::Istore, number)
            .class(Op::Checkcast, object)
            .local(Op::Astore, array);
        if let Some(value) = value {
            code.local(element.load(), value);
        }
        self.steer_element(index, array, writes)?;
        let mut code = self.body.before(index);
        code.bind(start)
            .local(Op::Aload, array)
            .local(Op::Iload, number)
            .push_int(site, self.pool)?
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, lock);
        let mut code = self.body.after_within(index);
        code.local(Op::Aload, array)
            .local(Op::Iload, number)
            .push_int(site, self.pool)?
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, unlock)
            .bind(end)
            .op(Op::AconstNull)
            .local(Op::Astore, array);
        if let (Some(value), Category::Reference) = (value, element) {
            code.op(Op::AconstNull).local(Op::Astore, value);
        }
        self.guard_access(index, (start, end))?;
        self.counts.add("sites: array elements");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_compiler_keeps_of_a_coroutine_is_told_from_fields_that_people_name() {
        let is_state = |class: &str, name: &str| {
            is_of_coroutine(&MemberRef {
                class: class.into(),
                name: name.into(),
                descriptor: "I".into(),
                interface: false,
            })
        };
        for name in ["label", "result", "L$0", "I$12"] {
            assert!(is_state("shop/Cart$add$1", name), "{name}");
        }
        for name in ["label", "result", "n", "$this", "l$0", "L$", "L$x", "LL$0"] {
            assert!(!is_state("shop/Cart$Line", name), "{name}");
        }
    }
}
