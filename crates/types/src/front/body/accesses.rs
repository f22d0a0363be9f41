//! Accesses to fields, to elements of arrays, and to the content of collections.

use untorn_program::classes::ClassKind;
use untorn_program::{FieldId, ValueId};

use super::super::content::{Source, related};
use super::super::fields::has_wide_elements;
use super::super::fresh::Leaked;
use super::super::sites::What;
use super::Writer;
use crate::algebra::Atomicity;
use crate::input::{Actuals, Arg, Effect};
use crate::locks::Root;

impl Writer<'_, '_, '_> {
    /// Actuals for the owner of a field.
    fn on(&mut self, object: Option<ValueId>, field: FieldId) -> Actuals {
        let mut actuals = Vec::new();
        if let Some(object) = object {
            actuals.push((Root::This, Arg::Lock(self.name(object))));
            let t = &*self.translator;
            if let Some(ghost) = t.ghosts.ghost_of(t.world.table().field(field).class) {
                let arg = t.ghosts.arg(self.key.method, object);
                actuals.push((Root::Ghost(ghost), arg));
            }
            let owner = self.translator.world.table().field(field).class;
            let declared = self.translator.declared_actuals(self.shape, object, owner);
            actuals.extend(declared);
        }
        Actuals(actuals)
    }

    pub(super) fn access(
        &mut self,
        line: u16,
        field: FieldId,
        object: Option<ValueId>,
        write: bool,
        leaked: &Leaked,
    ) {
        let classes = self.translator.world.table();
        let initializes = classes.is_class_initializer(self.key.method)
            && classes.method(self.key.method).class == classes.field(field).class;
        let confined = match object {
            Some(object) => self.is_confined(object, leaked),
            None => initializes,
        };
        let actuals = self.on(object, field);
        let site = self.site(line, What::Access { field, write });
        let field = self.translator.field(field);
        self.push(
            Effect::Access {
                field,
                actuals,
                write,
                confined,
            },
            site,
        );
    }

    /// The elements of an array, or the content of a collection.
    pub(super) fn elements(
        &mut self,
        line: u16,
        value: ValueId,
        write: bool,
        many: bool,
        leaked: &Leaked,
    ) {
        if self.is_confined(value, leaked) {
            return;
        }
        let t = &*self.translator;
        let mut sources: Vec<Source> = t
            .content
            .sources(t.world, self.shape, value)
            .into_iter()
            .collect();
        sources.sort_unstable();
        for source in sources {
            match source {
                Source::Field(_, field) if !write && self.translator.world.is_frozen(field) => {}
                Source::Field(object, field) => {
                    let t = &*self.translator;
                    if t.content.owns(t.world, field) {
                        self.owned(line, object, field, write, many, leaked);
                    } else {
                        let field = Some(field);
                        self.unowned(line, value, What::Unowned { field, write }, many);
                    }
                }
                // What a caller passes, the caller accounts for; strangers' arrays are nobody's.
                Source::Param(_) if self.key.within => {}
                // Never given to anyone.
                Source::Made(_) => {}
                Source::Param(position) if position > 0 || !self.shape.body.has_receiver => {
                    self.unowned(line, value, What::Passed { write }, many);
                }
                Source::Param(_) | Source::Other => {
                    let field = None;
                    self.unowned(line, value, What::Unowned { field, write }, many);
                }
            }
        }
    }

    fn owned(
        &mut self,
        line: u16,
        object: Option<ValueId>,
        field: FieldId,
        write: bool,
        many: bool,
        leaked: &Leaked,
    ) {
        let confined = object.is_some_and(|object| self.is_confined(object, leaked));
        let actuals = self.on(object, field);
        let site = self.site(line, What::Elements { field, write });
        let field = self.translator.content_of(field);
        let effect = Effect::Access {
            field,
            actuals,
            write,
            confined,
        };
        if many {
            self.push_repeated(effect, site);
        } else {
            self.push(effect, site);
        }
    }

    fn unowned(&mut self, line: u16, value: ValueId, what: What, many: bool) {
        let world = self.translator.world;
        let class = self.shape.body.ty(value).class();
        let array = class.filter(|&c| matches!(world.table().class(c).kind, ClassKind::Array(_)));
        let single = array.is_some_and(|class| !has_wide_elements(world, class)) && !many;
        let does = if single {
            Atomicity::ATOMIC
        } else {
            Atomicity::CMPD
        };
        let site = self.site(line, what);
        self.push(Effect::Does(does), site);
    }

    /// `Object.clone` reads every field of the receiver, or every element.
    pub(super) fn shallow_copy(&mut self, line: u16, args: &[ValueId], leaked: &Leaked) {
        let Some(&receiver) = args.first() else {
            return;
        };
        let Some(class) = self.shape.body.ty(receiver).class() else {
            return;
        };
        let classes = self.translator.world.table();
        if matches!(classes.class(class).kind, ClassKind::Array(_)) {
            self.elements(line, receiver, false, true, leaked);
            return;
        }
        for class in related(self.translator.world, class) {
            for field in classes.class(class).fields.clone() {
                if !classes.field(field).flags.is_static() {
                    self.access(line, field, Some(receiver), false, leaked);
                }
            }
        }
    }
}
