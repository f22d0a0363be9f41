//! Compiles annotated sources, reads them, types them and compares.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use untorn_program::{ClassId, LoadPlan, MethodId, Program};
use untorn_sources::SourceFile;
use untorn_spec::Specification;
use untorn_types::annotations::{Annotations, Item, NamedSource, Parameters};
use untorn_types::front::Options;
use untorn_types::ought::Ought;
use untorn_types::report::{Error, Typed};

/// A loaded program and the text of its source.
pub struct Declared {
    program: Program,
    name: String,
    pub text: String,
    _folder: TempDir,
}

/// Its types.
pub struct Types<'a> {
    program: &'a Program,
    typed: Typed<'a>,
}

/// What was found, in words.
#[derive(Debug)]
pub struct Outcome {
    pub found: Vec<String>,
    pub messages: Vec<String>,
    pub proved: Vec<String>,
    pub assumed: Vec<(String, Vec<String>)>,
}

/// The error that a fixture's annotations are.
pub fn error(fixture: &str) -> String {
    let fixture = Declared::of(fixture);
    match fixture.typed() {
        Err(error) => error.to_string(),
        Ok(_) => unreachable!("the annotations are fine"),
    }
}

impl Declared {
    /// A source of `tests/declared/fixtures`.
    pub fn of(name: &str) -> Declared {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/declared/fixtures")
            .join(name);
        Self::compiled(name, &std::fs::read_to_string(path).unwrap())
    }

    /// A source by its text.
    pub fn compiled(name: &str, text: &str) -> Declared {
        let folder = TempDir::new().unwrap();
        let source = folder.path().join(name);
        std::fs::write(&source, text).unwrap();
        let classes = folder.path().join("classes");
        let result = Command::new(untorn_jdk::tool("javac"))
            .args(["-nowarn", "-g", "-d"])
            .arg(&classes)
            .arg(source)
            .output()
            .unwrap();
        assert!(
            result.status.success(),
            "javac failed: {}",
            String::from_utf8_lossy(&result.stderr)
        );
        let plan = LoadPlan {
            inputs: vec![classes],
            ..LoadPlan::default()
        };
        Declared {
            program: Program::load(&plan).unwrap(),
            name: name.to_owned(),
            text: text.to_owned(),
            _folder: folder,
        }
    }

    fn typed(&self) -> Result<Typed<'_>, Error> {
        self.typed_by("")
    }

    /// The error that a specification is.
    pub fn error_by(&self, spec: &str) -> String {
        match self.typed_by(spec) {
            Err(error) => error.to_string(),
            Ok(_) => "no error".to_owned(),
        }
    }

    fn typed_by(&self, spec: &str) -> Result<Typed<'_>, Error> {
        let spec = Specification::from_toml(spec).unwrap();
        let source = NamedSource {
            path: self.name.clone(),
            file: SourceFile::parse(self.text.clone()),
        };
        let annotations = Annotations::read(&self.program, vec![source], &spec)?;
        Typed::with_annotations(&self.program, Options::default(), annotations)
    }

    pub fn types(&self) -> Types<'_> {
        self.types_by("")
    }

    /// The types under a specification.
    pub fn types_by(&self, spec: &str) -> Types<'_> {
        Types {
            program: &self.program,
            typed: self.typed_by(spec).unwrap(),
        }
    }
}

impl Types<'_> {
    fn class(&self, name: &str) -> (ClassId, String) {
        let (head, tail) = match name.find('(') {
            Some(at) => (&name[..at], &name[at..]),
            None => (name, ""),
        };
        let (class, member) = head.rsplit_once('.').unwrap();
        let class = self.program.classes().find(class).unwrap();
        (class, format!("{member}{tail}"))
    }

    fn method(&self, name: &str) -> MethodId {
        let (class, member) = self.class(name);
        let classes = self.program.classes();
        let (name, descriptor) = match member.find('(') {
            Some(at) => (&member[..at], Some(&member[at..])),
            None => (member.as_str(), None),
        };
        let found: Vec<MethodId> = classes
            .methods_named(class, name)
            .filter(|&m| descriptor.is_none_or(|d| classes.method_descriptor(m) == d))
            .collect();
        assert_eq!(found.len(), 1, "{member} names {} methods", found.len());
        found[0]
    }

    /// The type of `package/Class.method`.
    pub fn expect(&mut self, name: &str, atomicity: &str) {
        let method = self.method(name);
        assert_eq!(
            self.typed.type_of(method).as_deref(),
            Some(atomicity),
            "{name}"
        );
    }

    /// The guard of `package/Class.field`.
    pub fn guard(&self, name: &str, guard: &str) {
        let (class, field) = self.class(name);
        let field = self
            .program
            .classes()
            .declared_field(class, &field)
            .unwrap();
        assert_eq!(
            self.typed.guard_of(field, false).as_deref(),
            Some(guard),
            "{name}"
        );
    }

    /// What was left out.
    pub fn notes(&self) -> Vec<String> {
        self.typed.notes().cloned().collect()
    }

    /// What would be written, sorted.
    pub fn inferred(&mut self) -> Vec<String> {
        let (inferred, unwritable) = self.typed.inferred(Parameters::Named);
        assert_eq!(unwritable, 0);
        let classes = self.program.classes();
        let mut lines: Vec<String> = (inferred.iter())
            .map(|inferred| {
                let name = match inferred.item {
                    Item::Field(field) => classes.describe_field(field),
                    Item::Method(method) => {
                        let class = classes.class_name(classes.method(method).class);
                        format!("{class}.{}", classes.method_name(method))
                    }
                    Item::Class(class) => classes.class_name(class).to_owned(),
                };
                format!("{}: {}", name.replace('/', "."), inferred.written.comment())
            })
            .collect();
        lines.sort();
        lines
    }

    /// All verdicts, sorted.
    pub fn outcome(&mut self) -> Outcome {
        let spec = Specification::default();
        let ought = Ought::new(self.program, &spec);
        let outcome = self
            .typed
            .outcome(&|method, block| ought.be_atomic(method, block));
        let mut findings: Vec<(String, String)> = (outcome.findings.iter())
            .map(|finding| (finding.region.short_name(), finding.message.clone()))
            .collect();
        findings.sort();
        let names = |regions: &[untorn_findings::Region]| {
            let mut names: Vec<String> = regions
                .iter()
                .map(untorn_findings::Region::short_name)
                .collect();
            names.sort();
            names
        };
        Outcome {
            proved: names(&outcome.proved),
            assumed: (outcome.assumed.iter())
                .map(|assumed| (assumed.what.clone(), names(&assumed.proofs)))
                .collect(),
            found: findings.iter().map(|(name, _)| name.clone()).collect(),
            messages: findings.into_iter().map(|(_, message)| message).collect(),
        }
    }
}
