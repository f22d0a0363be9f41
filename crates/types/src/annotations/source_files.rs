//! Comments in sources: which class, method, field, block or line each one speaks of.
//!
//! Members are found by their binary names.
//! Overloads are told apart by the types of their parameters as they are written, and by their lines.

use untorn_program::classes::Classes;
use untorn_program::{ClassId, MethodId, Program};
use untorn_sources::{Arguments, Declaration, DeclarationKind, GivenTo, Mark, SourceFile};

use super::given::{AnnotationError, Given, Origin, Subject};
use super::words::{self, Says};
use super::{Annotations, Declared, Item};

/// Reads the comments of all sources.
pub fn read(program: &Program, all: &mut Annotations) -> Result<(), AnnotationError> {
    for source in 0..all.sources.len() {
        let mut reader = Reader {
            program,
            source,
            given: Vec::new(),
            declared: Vec::new(),
            notes: Vec::new(),
            all,
        };
        reader.read()?;
        let (given, declared, notes) = (reader.given, reader.declared, reader.notes);
        all.given.extend(given);
        all.declared_at.extend(declared);
        all.notes.extend(notes);
    }
    Ok(())
}

struct Reader<'a> {
    program: &'a Program,
    all: &'a Annotations,
    source: usize,
    given: Vec<Given>,
    declared: Vec<Declared>,
    notes: Vec<String>,
}

impl<'a> Reader<'a> {
    fn file(&self) -> &'a SourceFile {
        &self.all.sources[self.source].file
    }

    fn origin(&self, mark: &Mark) -> Origin {
        Origin::Comment(self.source, mark.clone())
    }

    fn words(&self, mark: &Mark) -> Result<Says, AnnotationError> {
        words::parse(&mark.text)
            .map_err(|error| self.origin(mark).malformed(&self.all.sources, error))
    }

    fn misplaced<T>(&self, mark: &Mark, problem: &str) -> Result<T, AnnotationError> {
        Err(self
            .origin(mark)
            .misplaced(&self.all.sources, problem.to_owned()))
    }

    fn give(&mut self, mark: &Mark, of: Subject, says: Says) {
        let origin = self.origin(mark);
        self.given.push(Given { origin, of, says });
    }

    fn read(&mut self) -> Result<(), AnnotationError> {
        for (index, declaration) in self.file().declarations().iter().enumerate() {
            let item = self.item(declaration);
            if let Some(item) = item {
                self.declared.push(Declared {
                    source: self.source,
                    declaration: index,
                    item,
                });
            }
            for mark in &declaration.marks {
                let says = self.words(mark)?;
                self.declaration_mark(declaration, item, mark, says)?;
            }
        }
        for mark in self.file().loose_marks() {
            let says = self.words(mark)?;
            self.loose_mark(mark, says)?;
        }
        for arguments in self.file().arguments() {
            let says = self.words(&arguments.mark)?;
            self.arguments(arguments, says)?;
        }
        Ok(())
    }

    fn class(&self, declaration: &Declaration) -> Option<ClassId> {
        let internal = declaration.class.replace('.', "/");
        let class = self.program.classes().find(&internal)?;
        self.program.is_input(class).then_some(class)
    }

    fn item(&self, declaration: &Declaration) -> Option<Item> {
        let class = self.class(declaration)?;
        match declaration.kind {
            DeclarationKind::Class => Some(Item::Class(class)),
            DeclarationKind::Field => {
                let field = self
                    .program
                    .classes()
                    .declared_field(class, &declaration.name)?;
                Some(Item::Field(field))
            }
            DeclarationKind::Method => self.method(class, declaration).map(Item::Method),
            DeclarationKind::Block => None,
        }
    }

    /// The method of a class that a method or block declaration stands for.
    fn method(&self, class: ClassId, declaration: &Declaration) -> Option<MethodId> {
        let classes = self.program.classes();
        let mut best: Option<(u32, MethodId)> = None;
        for method in classes.methods_named(class, &declaration.name) {
            if classes.method(method).flags.is_synthetic() {
                continue;
            }
            let Some(fit) = fit(classes, method, &declaration.parameters) else {
                continue;
            };
            let inside = self
                .first_line(method)
                .is_some_and(|line| declaration.lines.0 <= line && line <= declaration.lines.1);
            let score = 2 * fit + u32::from(inside);
            if best.is_none_or(|(known, _)| score > known) {
                best = Some((score, method));
            }
        }
        best.map(|(_, method)| method)
    }

    fn first_line(&self, method: MethodId) -> Option<u32> {
        let body = self.program.body(method)?;
        let mut lines = body.instrs.iter().map(|instr| u32::from(instr.line));
        lines.find(|&line| line > 0)
    }

    fn declaration_mark(
        &mut self,
        declaration: &Declaration,
        item: Option<Item>,
        mark: &Mark,
        says: Says,
    ) -> Result<(), AnnotationError> {
        use DeclarationKind as Kind;
        let fits = match (&says, declaration.kind) {
            (Says::NoWarn, _) => true,
            (Says::Guard(..), kind) => kind == Kind::Field,
            (Says::Atomicity(_), kind) => kind != Kind::Field,
            (Says::Holds(_), kind) => matches!(kind, Kind::Method | Kind::Block),
            (Says::Ghosts { protecting, .. }, kind) => {
                kind == Kind::Class || (kind == Kind::Method && !protecting)
            }
            (Says::Assume(super::Assumed::Guarded), kind) => kind == Kind::Field,
            (Says::Assume(_), kind) => kind == Kind::Method,
            (Says::Arguments(_) | Says::GuardedByItself, _) => false,
        };
        if !fits {
            let what = match declaration.kind {
                Kind::Class => "a class",
                Kind::Method => "a method",
                Kind::Field => "a field",
                Kind::Block => "a block",
            };
            return self.misplaced(mark, &format!("this cannot be said of {what}"));
        }
        // What keeps findings from being shown is read where they are shown.
        if says == Says::NoWarn && declaration.kind != Kind::Block {
            return Ok(());
        }
        let of = match (item, declaration.kind) {
            (Some(Item::Class(class)), _) => Subject::Class(class),
            (Some(Item::Field(field)), _) => Subject::Field(field),
            (Some(Item::Method(method)), _) => Subject::Method(method),
            (None, Kind::Block) => {
                let Some(method) = self
                    .class(declaration)
                    .and_then(|class| self.method(class, declaration))
                else {
                    return Ok(());
                };
                match (&says, declaration.block) {
                    (Says::Atomicity(_), Some(number)) => {
                        Subject::Section(method, number, declaration.lines)
                    }
                    _ => Subject::Lines(method, declaration.lines.0, declaration.lines.1),
                }
            }
            // The sources may hold more than the classes.
            (None, _) => return Ok(()),
        };
        self.give(mark, of, says);
        Ok(())
    }

    fn loose_mark(&mut self, mark: &Mark, says: Says) -> Result<(), AnnotationError> {
        match says {
            Says::NoWarn => {
                if let Some(class) = self.file().declarations().first() {
                    let class = class.class.replace('.', "/");
                    let line = mark.line;
                    self.give(mark, Subject::FileLine { class, line }, says);
                }
                Ok(())
            }
            Says::Holds(_) => {
                let around = self.file().holding(mark, &[DeclarationKind::Method]);
                let Some(around) = around else {
                    return self.misplaced(mark, "this stands in no method");
                };
                let method = self.class(around).and_then(|c| self.method(c, around));
                if let Some(method) = method {
                    let of = Subject::Lines(method, mark.line, mark.block_end);
                    self.give(mark, of, says);
                }
                Ok(())
            }
            // A guard behind the declaration, on its line.
            Says::Guard(..) | Says::Assume(super::Assumed::Guarded) => {
                let on_line = |d: &&Declaration| {
                    d.kind == DeclarationKind::Field
                        && d.lines.1 == mark.line
                        && d.range.end <= mark.range.start
                };
                let mut fields = self.file().declarations().iter().filter(on_line);
                match (fields.next(), fields.next()) {
                    (Some(field), None) => {
                        if let Some(Item::Field(field)) = self.item(field) {
                            self.give(mark, Subject::Field(field), says);
                        }
                        Ok(())
                    }
                    _ => self.misplaced(mark, "there is no one field that this speaks of"),
                }
            }
            _ => self.misplaced(
                mark,
                "there is nothing that this speaks of; an atomicity stands before a method or a block in braces",
            ),
        }
    }

    fn arguments(&mut self, arguments: &Arguments, says: Says) -> Result<(), AnnotationError> {
        use DeclarationKind as Kind;
        let mark = &arguments.mark;
        let file = self.file();
        let around = |kinds: &[Kind]| file.holding(mark, kinds);
        let in_method = || {
            let around = around(&[Kind::Method])?;
            self.class(around).and_then(|c| self.method(c, around))
        };
        let subjects: Vec<Subject> = match &arguments.given_to {
            GivenTo::Nothing => {
                return self.misplaced(
                    mark,
                    "ghost arguments stand behind the type of a field, parameter or result, a supertype, `new` or a called method's name",
                );
            }
            GivenTo::FieldType => {
                let Some(field) = around(&[Kind::Field]) else {
                    return self.misplaced(mark, "this stands at no field");
                };
                let same = |d: &&Declaration| d.kind == Kind::Field && d.range == field.range;
                (file.declarations().iter().filter(same))
                    .filter_map(|field| match self.item(field) {
                        Some(Item::Field(field)) => Some(Subject::FieldType(field)),
                        _ => None,
                    })
                    .collect()
            }
            GivenTo::ParameterType(number) => in_method()
                .map(|method| {
                    // Parameters that the compiler adds come first.
                    let known = self.program.classes().method(method).params.len() as u32;
                    let written = around(&[Kind::Method]).map_or(0, |d| d.parameters.len() as u32);
                    Subject::ParameterType(method, number + known.saturating_sub(written))
                })
                .into_iter()
                .collect(),
            GivenTo::ResultType => in_method().map(Subject::ResultType).into_iter().collect(),
            GivenTo::Supertype(name) => around(&[Kind::Class])
                .and_then(|declaration| self.class(declaration))
                .map(|class| Subject::Supertype(class, name.clone()))
                .into_iter()
                .collect(),
            GivenTo::New(name) | GivenTo::Call(name) => {
                self.code_places(mark, name, matches!(arguments.given_to, GivenTo::New(_)))
            }
        };
        for of in subjects {
            self.give(mark, of, says.clone());
        }
        Ok(())
    }

    /// Where code of an expression went: its method, or every constructor for the initializer of a field.
    fn code_places(&self, mark: &Mark, name: &str, new: bool) -> Vec<Subject> {
        use DeclarationKind as Kind;
        let classes = self.program.classes();
        let make = |method: MethodId| {
            if new {
                Subject::New(method, name.to_owned(), mark.line)
            } else {
                Subject::Call(method, name.to_owned(), mark.line)
            }
        };
        let around = (self.file()).holding(mark, &[Kind::Method, Kind::Field, Kind::Class]);
        let Some(around) = around else {
            return Vec::new();
        };
        let Some(class) = self.class(around) else {
            return Vec::new();
        };
        if around.kind == Kind::Method {
            return self.method(class, around).map(make).into_iter().collect();
        }
        ["<init>", "<clinit>"]
            .iter()
            .flat_map(|name| classes.methods_named(class, name))
            .map(make)
            .collect()
    }
}

/// How well written parameter types fit a method's; nothing if they cannot.
fn fit(classes: &Classes, method: MethodId, written: &[String]) -> Option<u32> {
    let types = parameter_types(classes.method_descriptor(method));
    // Constructors of inner classes and enums have parameters that nobody wrote.
    let added = types.len().checked_sub(written.len())?;
    if added > 0 && !classes.is_constructor(method) {
        return None;
    }
    let mut score = if added == 0 { 1 } else { 0 };
    for (written, known) in written.iter().zip(&types[added..]) {
        let (written, written_depth) = erased(written);
        let (known, known_depth) = erased(known);
        if written_depth != known_depth || is_primitive(&written) != is_primitive(&known) {
            return None;
        }
        if written == known {
            score += 2;
        } else if is_primitive(&written) {
            return None;
        }
    }
    Some(score)
}

fn is_primitive(name: &str) -> bool {
    matches!(
        name,
        "boolean" | "byte" | "char" | "short" | "int" | "long" | "float" | "double"
    )
}

/// The simple name of a type without type arguments, and the number of its dimensions.
fn erased(text: &str) -> (String, usize) {
    let depth = text.matches('[').count();
    let mut plain = String::new();
    let mut nested = 0u32;
    let mut comment = false;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if comment {
            comment = !(letter == '*' && letters.peek() == Some(&'/'));
            if !comment {
                letters.next();
            }
            continue;
        }
        match letter {
            '/' if letters.peek() == Some(&'*') => comment = true,
            '<' => nested += 1,
            '>' => nested = nested.saturating_sub(1),
            '[' | ']' => {}
            c if nested == 0 && !c.is_whitespace() => plain.push(c),
            _ => {}
        }
    }
    let simple = plain.rsplit(['.', '$']).next().unwrap_or_default();
    (simple.to_owned(), depth)
}

/// The parameter types of a descriptor, as Java writes them.
fn parameter_types(descriptor: &str) -> Vec<String> {
    let mut types = Vec::new();
    let inner = descriptor
        .strip_prefix('(')
        .and_then(|d| d.split(')').next())
        .unwrap_or_default();
    let mut rest = inner;
    while !rest.is_empty() {
        let depth = rest.len() - rest.trim_start_matches('[').len();
        let (name, length) = match rest.as_bytes().get(depth) {
            Some(b'L') => {
                let end = rest.find(';').unwrap_or(rest.len() - 1);
                (rest[depth + 1..end].replace('/', "."), end + 1)
            }
            Some(letter) => {
                let name = match letter {
                    b'Z' => "boolean",
                    b'B' => "byte",
                    b'C' => "char",
                    b'S' => "short",
                    b'I' => "int",
                    b'J' => "long",
                    b'F' => "float",
                    _ => "double",
                };
                (name.to_owned(), depth + 1)
            }
            None => break,
        };
        types.push(format!("{name}{}", "[]".repeat(depth)));
        rest = rest.get(length..).unwrap_or_default();
    }
    types
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_and_compiled_types_meet() {
        assert_eq!(
            parameter_types("(I[JLjava/util/Map$Entry;[[Z)V"),
            ["int", "long[]", "java.util.Map$Entry", "boolean[][]"]
        );
        assert_eq!(erased("Map.Entry<K, V[]>"), ("Entry".to_owned(), 1));
        assert_eq!(erased("ListElem /*# <x> */"), ("ListElem".to_owned(), 0));
        assert_eq!(erased("java.util.Map$Entry"), ("Entry".to_owned(), 0));
    }
}
