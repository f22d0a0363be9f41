//! Compiles fixtures, types them and compares.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use untorn_program::{ClassId, LoadPlan, MethodId, Program};
use untorn_types::report::Typed;

/// A loaded program; the folder lives as long.
pub struct Fixture {
    program: Program,
    _folder: Option<TempDir>,
}

/// The types of one class.
pub struct ClassTypes<'a> {
    program: &'a Program,
    class: ClassId,
    typed: Typed<'a>,
}

/// Classes of the JDK as a library.
pub fn jdk(classes: &[&str]) -> Fixture {
    let plan = LoadPlan {
        jdk_classes: classes.iter().map(|&name| name.to_owned()).collect(),
        ..LoadPlan::default()
    };
    Fixture {
        program: Program::load(&plan).unwrap(),
        _folder: None,
    }
}

impl Fixture {
    /// Compiles a source of `tests/front/fixtures` and loads it as a library.
    pub fn of(source: &str) -> Fixture {
        Fixture::load(source, None)
    }

    /// Compiles a source and loads it as an application.
    pub fn application(source: &str, main: &str) -> Fixture {
        Fixture::load(source, Some(main.to_owned()))
    }

    fn load(source: &str, main: Option<String>) -> Fixture {
        let folder = TempDir::new().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/front/fixtures")
            .join(source);
        let result = Command::new(untorn_jdk::tool("javac"))
            .args(["-nowarn", "-g", "-d"])
            .arg(folder.path())
            .arg(source)
            .output()
            .unwrap();
        assert!(
            result.status.success(),
            "javac failed: {}",
            String::from_utf8_lossy(&result.stderr)
        );
        let plan = LoadPlan {
            inputs: vec![folder.path().to_owned()],
            main,
            ..LoadPlan::default()
        };
        Fixture {
            program: Program::load(&plan).unwrap(),
            _folder: Some(folder),
        }
    }

    /// The methods whose names end so, those that are proved and the rest.
    pub fn proved_of_all(&self, end: &str) -> (Vec<String>, Vec<String>) {
        let classes = self.program.classes();
        let mut typed = Typed::new(&self.program).unwrap();
        let inputs = self.program.inputs().iter();
        let methods: Vec<MethodId> = inputs
            .flat_map(|&class| classes.class(class).methods.iter().copied())
            .filter(|&method| classes.method_name(method).ends_with(end))
            .collect();
        let (proved, rest): (Vec<MethodId>, Vec<MethodId>) =
            (methods.into_iter()).partition(|&method| typed.is_proved(method) == Some(true));
        let names = |methods: Vec<MethodId>| -> Vec<String> {
            methods
                .into_iter()
                .map(|m| classes.describe_method(m))
                .collect()
        };
        (names(proved), names(rest))
    }

    pub fn types(&self, class: &str) -> ClassTypes<'_> {
        ClassTypes {
            program: &self.program,
            class: self.program.classes().find(class).unwrap(),
            typed: Typed::new(&self.program).unwrap(),
        }
    }
}

impl<'a> ClassTypes<'a> {
    /// The same types, for another class.
    pub fn at(&mut self, class: &str) -> &mut ClassTypes<'a> {
        self.class = self.program.classes().find(class).unwrap();
        self
    }

    /// The method by its name, with its descriptor if there are several.
    fn method(&self, name: &str) -> MethodId {
        let classes = self.program.classes();
        let (name, descriptor) = match name.find('(') {
            Some(at) => (&name[..at], Some(&name[at..])),
            None => (name, None),
        };
        let found: Vec<MethodId> = classes
            .methods_named(self.class, name)
            .filter(|&m| descriptor.is_none_or(|d| classes.method_descriptor(m) == d))
            .collect();
        assert_eq!(found.len(), 1, "{name} names {} methods", found.len());
        found[0]
    }

    /// The type and the verdict.
    pub fn expect(&mut self, name: &str, atomicity: &str, proved: bool) {
        let method = self.method(name);
        assert_eq!(
            self.typed.type_of(method).as_deref(),
            Some(atomicity),
            "{name}"
        );
        self.prove(name, proved);
    }

    /// Whether the types prove it.
    pub fn is_proved(&mut self, name: &str) -> bool {
        let method = self.method(name);
        self.typed.is_proved(method) == Some(true)
    }

    /// The verdict alone.
    pub fn prove(&mut self, name: &str, proved: bool) {
        let method = self.method(name);
        assert_eq!(self.typed.is_proved(method), Some(proved), "{name}");
    }

    /// What is said of all methods and blocks of the class that are not proved.
    pub fn messages(&mut self) -> Vec<String> {
        let (classes, class) = (self.program.classes(), self.class);
        let outcome = self
            .typed
            .outcome(&|method, _| classes.method(method).class == class);
        outcome.findings.into_iter().map(|f| f.message).collect()
    }

    /// What is said of all methods and blocks of the class that are not proved.
    pub fn claims(&mut self) -> Vec<untorn_findings::Finding> {
        let (classes, class) = (self.program.classes(), self.class);
        let ought = |method, _| classes.method(method).class == class;
        self.typed.outcome(&ought).findings
    }

    /// The guard of a field or of its content.
    pub fn guard(&self, field: &str, content: bool, guard: &str) {
        let field = self
            .program
            .classes()
            .declared_field(self.class, field)
            .unwrap();
        assert_eq!(self.typed.guard_of(field, content).as_deref(), Some(guard));
    }
}
