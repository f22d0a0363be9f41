//! The code of regions, as far as class files are at hand.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use untorn_findings::{Document, Finding, Place, Region};
use untorn_program::classes::{ClassKind, Classes, Loader, Type};
use untorn_program::ir::{Body, Const, Def, Instr, Op, build_body};
use untorn_program::load::{ClassPath, Limits};
use untorn_program::{Assumptions, ClassId, FieldId, InstrId, MethodId, ValueId};

use crate::sections::Expression;

/// How many calls away from a region its callees are looked at.
const DEPTH: u32 = 3;

/// Classes that findings speak of.
#[derive(Debug, Default)]
pub struct Code {
    loader: Option<Loader>,
    /// Bodies that were built: regions of one class mostly call the same.
    bodies: RefCell<HashMap<MethodId, Option<Rc<Body>>>>,
}

impl Code {
    /// Loads the classes that the document's findings name; those that are not there stay unknown.
    pub fn of(document: &Document, path: ClassPath) -> Self {
        let mut loader = Loader::new(path, Limits::default(), Assumptions::default());
        let loaded: Vec<_> = (classes_of(&document.findings).iter())
            .filter_map(|name| loader.load_named(name).ok())
            .collect();
        loader.link(&loaded);
        // What they make is asked for its fields.
        let named: Vec<ClassId> = (loader.classes.class_ids())
            .filter(|class| loader.classes.class(*class).kind == ClassKind::Named)
            .collect();
        loader.load(named);
        Self {
            loader: Some(loader),
            bodies: RefCell::default(),
        }
    }

    fn classes(&self) -> Option<&Classes> {
        Some(&self.loader.as_ref()?.classes)
    }

    /// The body of the method that a region is or lies in.
    pub fn region(&self, region: &Region) -> Option<RegionBody<'_>> {
        let classes = self.classes()?;
        let class = classes.find(&region.class.as_deref()?.replace('.', "/"))?;
        let method = match &region.descriptor {
            Some(descriptor) => classes.declared_method(class, &region.method, descriptor)?,
            None => {
                let mut named = classes.methods_named(class, &region.method);
                let only = named.next()?;
                // Overloads cannot be told apart.
                if named.next().is_some() {
                    return None;
                }
                only
            }
        };
        self.body(classes, method)
    }

    fn body<'a>(&'a self, classes: &'a Classes, method: MethodId) -> Option<RegionBody<'a>> {
        let mut bodies = self.bodies.borrow_mut();
        let body = bodies
            .entry(method)
            .or_insert_with(|| build_body(classes, method).ok().map(Rc::new));
        Some(RegionBody {
            code: self,
            classes,
            method,
            body: Rc::clone(body.as_ref()?),
        })
    }
}

/// The names of all classes that findings speak of, with dots.
pub fn classes_of(findings: &[Finding]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for finding in findings {
        let evidence = &finding.evidence;
        names.extend(finding.region.class.clone());
        let mut add = |place: &Option<Place>| {
            names.extend(place.as_ref().and_then(|place| place.class.clone()));
        };
        for step in evidence.interleavings.iter().flat_map(|order| &order.steps) {
            add(&step.place);
        }
        for reduction in &evidence.reductions {
            for step in [&reduction.commit, &reduction.violation] {
                add(&step.place);
            }
        }
        for part in evidence.typings.iter().flat_map(|typing| &typing.parts) {
            add(&part.place);
        }
        for view in evidence
            .method_views
            .iter()
            .flat_map(|views| &views.sections)
        {
            view.places
                .iter()
                .for_each(|place| add(&Some(place.clone())));
        }
    }
    names
}

/// The name of a class without its package and the classes around it.
fn simple(class: &str) -> &str {
    class.rsplit(['/', '$']).next().unwrap_or(class)
}

/// Classes of the platform whose objects never change and are as good as any other of the same content.
const VALUES: [&str; 22] = [
    "java/io/File",
    "java/lang/Boolean",
    "java/lang/Class",
    "java/lang/Double",
    "java/lang/Integer",
    "java/lang/Long",
    "java/lang/String",
    "java/lang/invoke/MethodHandle",
    "java/lang/invoke/MethodType",
    "java/lang/reflect/Constructor",
    "java/lang/reflect/Field",
    "java/lang/reflect/Method",
    "java/math/BigDecimal",
    "java/math/BigInteger",
    "java/net/URI",
    "java/net/URL",
    "java/nio/charset/Charset",
    "java/util/Locale",
    "java/util/UUID",
    "java/util/regex/Pattern",
    "javax/management/ObjectName",
    "javax/management/openmbean/CompositeType",
];

/// A method's code.
#[derive(Clone, Debug)]
pub struct RegionBody<'a> {
    code: &'a Code,
    classes: &'a Classes,
    pub method: MethodId,
    pub body: Rc<Body>,
}

impl<'a> RegionBody<'a> {
    /// The other methods of the class and of those in the same source file that are at hand, without initializers.
    pub fn neighbours(&self) -> impl Iterator<Item = RegionBody<'a>> + use<'a> {
        let (code, classes, own) = (self.code, self.classes, self.method);
        let outermost = |class: ClassId| classes.class_name(class).split('$').next();
        let file = outermost(classes.method(own).class);
        let near = classes
            .class_ids()
            .filter(move |class| outermost(*class) == file);
        near.flat_map(|class| classes.class(class).methods.iter().copied())
            .filter(move |method| *method != own && !classes.method_name(*method).starts_with('<'))
            .filter(|method| classes.method(*method).has_code)
            .filter_map(move |method| code.body(classes, method))
    }

    /// Whether a class that is at hand, and all above it that are, have no field that changes.
    pub fn has_only_final_fields(&self, class: ClassId) -> bool {
        let mut chain = self.classes.superclasses(class);
        self.classes.class(class).kind == ClassKind::Loaded
            && chain.all(|class| {
                (self.classes.class(class).fields.iter()).all(|field| {
                    let flags = self.classes.field(*field).flags;
                    flags.is_static() || flags.is_final()
                })
            })
    }

    /// Whether the fields of a class that is at hand are numbers and strings, and it has some.
    pub fn has_only_values(&self, class: ClassId) -> bool {
        let mut fields = (self.classes.superclasses(class))
            .flat_map(|class| self.classes.class(class).fields.iter())
            .map(|field| self.classes.field(*field))
            .filter(|field| !field.flags.is_static())
            .peekable();
        let is_value = |ty: Type| match ty.class() {
            Some(class) => self.classes.class_name(class) == "java/lang/String",
            None => true,
        };
        fields.peek().is_some() && fields.all(|field| is_value(field.ty))
    }

    /// Whether two methods are of one class.
    pub fn is_of_same_class(&self, other: &RegionBody<'_>) -> bool {
        self.classes.method(self.method).class == self.classes.method(other.method).class
    }

    /// Whether a field refers to objects of the platform that never change.
    pub fn refers_to_value(&self, field: FieldId) -> bool {
        let class = self.classes.field(field).ty.class();
        class.is_some_and(|class| VALUES.contains(&self.classes.class_name(class)))
    }

    /// Whether the class of the method is one of these or below one.
    pub fn is_below(&self, classes: &[&str]) -> bool {
        let own = self.classes.method(self.method).class;
        let mut above = self.classes.supertypes(own).iter();
        above.any(|above| classes.contains(&self.classes.class_name(*above)))
    }

    pub fn is_private(&self, field: FieldId) -> bool {
        self.classes.field(field).flags.is_private()
    }

    pub fn is_final(&self, field: FieldId) -> bool {
        self.classes.field(field).flags.is_final()
    }

    pub fn is_synchronized(&self) -> bool {
        self.classes.method(self.method).flags.is_synchronized()
    }

    /// What a synchronized method locks.
    pub fn own_monitor(&self) -> Expression {
        let method = self.classes.method(self.method);
        let class = self.classes.class_name(method.class);
        let (text, class) = if method.flags.is_static() {
            (format!("{}.class", simple(class)), "java/lang/Class")
        } else {
            ("this".to_owned(), class)
        };
        Expression {
            text,
            class: class.to_owned(),
        }
    }

    /// The class that a value is declared to be of, by its internal name.
    pub fn class_of(&self, value: ValueId) -> Option<&'a str> {
        let class = self.body.value(value).ty.class()?;
        Some(self.classes.class_name(class))
    }

    /// The name of the class that a value is a constant of.
    pub fn class_constant(&self, value: ValueId) -> Option<&'a str> {
        let Def::Instr(id) = self.body.value(value).def else {
            return None;
        };
        match self.body.instr(id).op {
            Op::Const(Const::Class(class)) => Some(simple(self.classes.class_name(class))),
            _ => None,
        }
    }

    /// The instructions at a line of the text, in the order of the code.
    pub fn at_line(&self, line: u32) -> impl Iterator<Item = InstrId> + '_ {
        (self.body.all_instrs())
            .filter(move |(_, instr)| u32::from(instr.line) == line)
            .map(|(id, _)| id)
    }

    /// The class (by its internal name) and name of the method that a call names.
    pub fn callee(&self, instr: &Instr) -> Option<(&'a str, &'a str)> {
        let Op::Invoke { method, .. } = instr.op else {
            return None;
        };
        let class = self.classes.method(method).class;
        Some((
            self.classes.class_name(class),
            self.classes.method_name(method),
        ))
    }

    /// The name of the field that an instruction reads or writes.
    pub fn field(&self, instr: &Instr) -> Option<&'a str> {
        match instr.op {
            Op::GetField { field, .. }
            | Op::PutField { field, .. }
            | Op::GetStatic { field }
            | Op::PutStatic { field, .. } => Some(self.classes.field_name(field)),
            _ => None,
        }
    }

    /// The field that an instruction reads or writes, with its class, unless it never changes.
    pub fn changing_field(&self, instr: &Instr) -> Option<String> {
        let (Op::GetField { field, .. }
        | Op::PutField { field, .. }
        | Op::GetStatic { field }
        | Op::PutStatic { field, .. }) = instr.op
        else {
            return None;
        };
        if self.is_final(field) {
            return None;
        }
        let class = self.classes.class_name(self.classes.field(field).class);
        let name = self.classes.field_name(field);
        Some(format!("{}.{name}", class.replace('/', ".")))
    }

    /// Whether an instruction accesses a volatile field.
    pub fn is_volatile(&self, instr: &Instr) -> bool {
        match instr.op {
            Op::GetField { field, .. }
            | Op::PutField { field, .. }
            | Op::GetStatic { field }
            | Op::PutStatic { field, .. } => self.classes.field(field).flags.is_volatile(),
            _ => false,
        }
    }

    /// The line at which a field of this name is written last in the text.
    pub fn written_at(&self, field: &str) -> Option<u32> {
        let writes = |instr: &&Instr| {
            matches!(instr.op, Op::PutField { .. } | Op::PutStatic { .. })
                && self.field(instr) == Some(field)
                && instr.line > 0
        };
        let last = self.body.instrs.iter().rfind(writes)?;
        Some(u32::from(last.line))
    }

    /// Class and method, as findings name them.
    pub fn name(&self) -> (String, String) {
        let method = self.classes.method(self.method);
        let class = self.classes.class_name(method.class).replace('/', ".");
        (class, self.classes.method_name(self.method).to_owned())
    }

    /// Whether the place lies in the text of this very method.
    pub fn holds(&self, place: &Place) -> bool {
        let method = self.classes.method(self.method);
        let class = self.classes.class_name(method.class).replace('/', ".");
        place.class.as_deref() == Some(class.as_str())
            && place.method.as_deref() == Some(self.classes.method_name(self.method))
    }

    /// Whether the method, or one that it calls and whose code is at hand, makes a call that is wanted.
    pub fn reaches(&self, wanted: &mut dyn FnMut(&str, &str) -> bool) -> bool {
        self.reaches_within(DEPTH, &mut HashMap::new(), wanted)
    }

    /// What was looked at as deep before, by `looked_at`, is not looked at again.
    fn reaches_within(
        &self,
        depth: u32,
        looked_at: &mut HashMap<MethodId, u32>,
        wanted: &mut dyn FnMut(&str, &str) -> bool,
    ) -> bool {
        match looked_at.get(&self.method) {
            Some(before) if *before >= depth => return false,
            _ => looked_at.insert(self.method, depth),
        };
        self.body.instrs.iter().any(|instr| {
            (self.callee(instr)).is_some_and(|(class, method)| wanted(class, method))
                || (depth > 0)
                    .then(|| self.called(instr))
                    .flatten()
                    .is_some_and(|inner| inner.reaches_within(depth - 1, looked_at, wanted))
        })
    }

    /// The calls that lead to the method of a place, directly or through others whose code is at hand.
    ///
    /// Where some lead to that very method, others that only lead to one of its name do not count: a class's own `get` is not that of its map.
    pub fn calls_to(&self, place: &Place) -> Vec<InstrId> {
        let Some(method) = place.method.as_deref() else {
            return Vec::new();
        };
        let all = |wanted: &dyn Fn(&Instr) -> bool| -> Vec<InstrId> {
            let calls = self.body.all_instrs().filter(|(_, instr)| wanted(instr));
            calls.map(|(id, _)| id).collect()
        };
        let class = place.class.as_deref().unwrap_or_default().replace('.', "/");
        let very = all(&|instr| self.leads(instr, &|of, name| name == method && of == class));
        if very.is_empty() {
            all(&|instr| self.leads_to(instr, method))
        } else {
            very
        }
    }

    /// Whether this call leads to a method of that name, directly or through others whose code is at hand.
    pub fn leads_to(&self, instr: &Instr, method: &str) -> bool {
        self.leads(instr, &|_, name| name == method)
    }

    fn leads(&self, instr: &Instr, wanted: &dyn Fn(&str, &str) -> bool) -> bool {
        let Some((class, called)) = self.callee(instr) else {
            return false;
        };
        wanted(class, called)
            || (self.called(instr)).is_some_and(|inner| {
                let wanted = &mut |class: &str, name: &str| wanted(class, name);
                inner.reaches_within(DEPTH - 1, &mut HashMap::new(), wanted)
            })
    }

    /// The one field that the method called here reads or writes, and whether it writes it.
    pub fn effect(&self, call: InstrId) -> Option<(String, bool)> {
        let inner = self.called(self.body.instr(call))?;
        let mut all = inner.body.instrs.iter().filter_map(|instr| match instr.op {
            Op::GetField { field, .. } | Op::GetStatic { field } => Some((field, false)),
            Op::PutField { field, .. } | Op::PutStatic { field, .. } => Some((field, true)),
            _ => None,
        });
        let (field, writes) = all.next()?;
        let writes = all.try_fold(writes, |writes, (other, also)| {
            (other == field).then_some(writes || also)
        })?;
        let class = self.classes.class_name(self.classes.field(field).class);
        let name = self.classes.field_name(field);
        Some((format!("{}.{name}", class.replace('/', ".")), writes))
    }

    /// The body of what a call names, if it is at hand; an overriding method may run instead.
    pub fn called(&self, instr: &Instr) -> Option<RegionBody<'a>> {
        let Op::Invoke { method, .. } = instr.op else {
            return None;
        };
        self.code.body(self.classes, method)
    }
}
