//! Reflection, as far as constants say what it reaches.
//!
//! `Class.forName("a.B")` and `loadClass` with a constant name give the class object of that class, as `B.class` does.
//! `newInstance` on such an object, or on a constructor taken from it, makes an instance; `invoke` on a method taken from it by a constant name calls the methods of that name.
//! Every other use is counted as [`Assumption::Reflection`], once per call.

use std::sync::Arc;

use smallvec::SmallVec;

use super::calls::{Call, Target};
use super::graph::Var;
use super::objects::{Context, ObjectKind};
use super::result::HeapField;
use super::solver::{Solver, Use};
use crate::assumptions::Assumption;
use crate::classes::ClassKind;
use crate::ids::{ClassId, InstrId, MethodId, ObjectId, Symbol};
use crate::ir::{Const, Op};

/// The number of the callback by which a reflective method calls what it reaches.
const CALLBACK: InstrId = InstrId(0);

impl Solver<'_> {
    /// Follows a call of a reflective method; says whether nothing is left to assume about it.
    pub(super) fn reflects(
        &mut self,
        call: &Call,
        method: MethodId,
        receiver: Option<ObjectId>,
        args: &[Option<Var>],
    ) -> bool {
        if !self.is_reflective(method) {
            return false;
        }
        let followed = self
            .follow_reflection(call, method, receiver, args)
            .is_some();
        if !followed && self.unfollowed.insert((call.caller, call.instr)) {
            let subject = self.classes().describe_method(method);
            self.loader.assumptions.add(Assumption::Reflection, subject);
        }
        followed
    }

    pub(super) fn is_reflective(&mut self, method: MethodId) -> bool {
        let (classes, library) = (&self.loader.classes, self.library);
        *self.reflective.entry(method).or_insert_with(|| {
            let class = classes.class_name(classes.method(method).class);
            library
                .scope()
                .is_reflection(class, classes.method_name(method))
        })
    }

    fn follow_reflection(
        &mut self,
        call: &Call,
        method: MethodId,
        receiver: Option<ObjectId>,
        args: &[Option<Var>],
    ) -> Option<()> {
        let of = receiver.map(|object| self.objects.get(object).kind);
        let classes = self.classes();
        let class = classes.class_name(classes.method(method).class).to_owned();
        let name = classes.method_name(method).to_owned();
        match (class.as_str(), name.as_str(), of) {
            ("java/lang/Class", "forName", None) => self.class_by_name(call, 0),
            ("java/lang/ClassLoader", "loadClass", Some(_)) => self.class_by_name(call, 1),
            ("java/lang/Class", "newInstance", Some(ObjectKind::ClassObject(of))) => {
                let through = self.through(call, method, receiver, args);
                self.instantiate(call, &through, of, None)
            }
            (
                "java/lang/Class",
                "getConstructor" | "getDeclaredConstructor",
                Some(ObjectKind::ClassObject(class)),
            ) => self.give_member(call, "java/lang/reflect/Constructor", class, None),
            (
                "java/lang/Class",
                "getMethod" | "getDeclaredMethod",
                Some(ObjectKind::ClassObject(class)),
            ) => {
                let name = self.constant(call, 1)?;
                let name = self.classes().names.find(&name)?;
                self.give_member(call, "java/lang/reflect/Method", class, Some(name))
            }
            (
                "java/lang/reflect/Constructor",
                "newInstance",
                Some(ObjectKind::Member { class, name: None }),
            ) => {
                let through = self.through(call, method, receiver, args);
                let args = self.elements_of(args.get(1).copied().flatten());
                self.instantiate(call, &through, class, Some(args))
            }
            (
                "java/lang/reflect/Method",
                "invoke",
                Some(ObjectKind::Member {
                    class,
                    name: Some(name),
                }),
            ) => {
                let through = self.through(call, method, receiver, args);
                self.call_by_name(&through, class, name, args)
            }
            _ => None,
        }
    }

    /// The call that a reflective method makes in its turn, like a callback: its arguments are not those of the instruction.
    fn through(
        &mut self,
        call: &Call,
        method: MethodId,
        receiver: Option<ObjectId>,
        args: &[Option<Var>],
    ) -> Call {
        let site = Context::Site(self.nodes[call.caller.index()].method, call.instr);
        let node = self.node(method, site);
        self.connect(call, node, args, receiver);
        Call {
            caller: node,
            instr: CALLBACK,
            ..call.clone()
        }
    }

    /// The constant string that a call passes.
    fn constant(&self, call: &Call, position: usize) -> Option<String> {
        let built = self.nodes[call.caller.index()].built.as_ref()?;
        let Op::Invoke { args, .. } = &built.body.instr(call.instr).op else {
            return None;
        };
        match &built.body.defining(*args.get(position)?)?.op {
            Op::Const(Const::String(text)) => Some(text.to_string()),
            _ => None,
        }
    }

    fn class_by_name(&mut self, call: &Call, position: usize) -> Option<()> {
        let name = self.constant(call, position)?.replace('.', "/");
        let class = self.loader.class_named(&name);
        self.loader.load([class]);
        if self.classes().class(class).kind != ClassKind::Loaded {
            return None;
        }
        if self.is_entered(class) {
            self.initialize(class);
        }
        let of = self.classes().well_known.class;
        let object = self.object(of, ObjectKind::ClassObject(class), Context::None);
        if let Some(result) = call.result {
            self.graph.add_object(result, object);
        }
        Some(())
    }

    fn give_member(
        &mut self,
        call: &Call,
        kind: &str,
        class: ClassId,
        name: Option<Symbol>,
    ) -> Option<()> {
        let of = self.loader.class_named(kind);
        let object = self.object(of, ObjectKind::Member { class, name }, Context::None);
        self.graph.add_object(call.result?, object);
        Some(())
    }

    /// Makes an instance by every constructor, or by the one without parameters.
    fn instantiate(
        &mut self,
        call: &Call,
        through: &Call,
        class: ClassId,
        args: Option<Var>,
    ) -> Option<()> {
        self.loader.load([class]);
        if self.classes().class(class).kind != ClassKind::Loaded {
            return None;
        }
        if self.is_entered(class) {
            self.initialize(class);
        }
        let caller = &self.nodes[call.caller.index()];
        let kind = ObjectKind::Allocated {
            method: caller.method,
            instr: call.instr,
            dimension: 0,
        };
        let context = caller.context;
        let made = self.object(class, kind, context);
        if let Some(result) = call.result {
            self.graph.add_object(result, made);
        }
        let constructors: Vec<MethodId> = self.classes().methods_named(class, "<init>").collect();
        for constructor in constructors {
            let params = self.classes().method(constructor).params.clone();
            if args.is_none() && !params.is_empty() {
                continue;
            }
            let mut passed: SmallVec<[Option<Var>; 4]> = SmallVec::from_slice(&[None]);
            passed.extend(params.iter().map(|ty| args.filter(|_| ty.is_reference())));
            let call = Call {
                result: None,
                args: passed.clone(),
                ..through.clone()
            };
            self.call_on(&call, constructor, made, &passed);
        }
        Some(())
    }

    /// Calls every method of a name, on the objects that are passed for its receiver.
    fn call_by_name(
        &mut self,
        call: &Call,
        class: ClassId,
        name: Symbol,
        args: &[Option<Var>],
    ) -> Option<()> {
        let name = self.classes().names.name(name).to_owned();
        let supertypes = self.classes().supertypes(class).to_vec();
        let methods: Vec<MethodId> = (supertypes.iter())
            .flat_map(|above| self.classes().methods_named(*above, &name))
            .collect();
        let elements = self.elements_of(args.get(2).copied().flatten());
        for method in &methods {
            let info = self.classes().method(*method);
            let (is_static, params) = (info.flags.is_static(), info.params.clone());
            let passed = params
                .iter()
                .map(|ty| ty.is_reference().then_some(elements));
            if is_static {
                let call = Call {
                    target: Target::Exact(*method),
                    args: passed.collect(),
                    ..call.clone()
                };
                self.call_static(&call, *method);
            } else if let Some(Some(receiver)) = args.get(1).copied() {
                let call = Call {
                    target: Target::Virtual(*method),
                    args: std::iter::once(Some(receiver)).chain(passed).collect(),
                    ..call.clone()
                };
                self.on_objects(receiver, Use::Call(Arc::new(call)));
            }
        }
        (!methods.is_empty()).then_some(())
    }

    /// What an array of arguments holds.
    fn elements_of(&mut self, array: Option<Var>) -> Var {
        let into = self.graph.variables(1);
        if let Some(array) = array {
            let load = Use::Load {
                field: HeapField::Elements,
                into,
                filter: None,
            };
            self.on_objects(array, load);
        }
        into
    }
}
