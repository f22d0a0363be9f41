//! What a source file declares, with the marks and annotations that stand at each declaration.
//!
//! A mark belongs to the declaration it stands in, before the body, or right before; a mark before or at the head of a block belongs to the block.
//! Binary names follow javac: `Outer$Inner`, `Outer$1` for anonymous and `Outer$1Local` for local classes, numbered by enclosing class in the order of the text.

use std::collections::HashMap;
use std::ops::Range;

use tree_sitter::{Node, Parser, Tree};

use crate::outline::outline;
use crate::{Arguments, Language, Mark, arguments};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DeclarationKind {
    Class,
    Method,
    Field,
    /// A block statement or the block of a `synchronized`.
    Block,
}

/// An annotation as it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Annotation {
    /// Without `@` and without a package.
    pub name: String,
    /// The text between the parentheses, if any.
    pub arguments: String,
}

/// Something declared, or a block that carries a mark or synchronizes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Declaration {
    pub kind: DeclarationKind,
    /// The binary name of the class itself, or of the class that holds it.
    pub class: String,
    /// The member's name (`<init>` for a constructor); for a class its simple name; for a block its method's.
    pub name: String,
    /// The types of a method's parameters as they are written, without annotations; for a class, its type parameters are left out.
    pub parameters: Vec<String>,
    /// The names of a method's parameters.
    pub parameter_names: Vec<String>,
    /// First and last line, from 1.
    pub lines: (u32, u32),
    /// The bytes that it takes.
    pub range: Range<usize>,
    /// Where an annotation of this declaration is inserted: before its modifiers, or where the block begins.
    pub insert_at: usize,
    /// Where a mark is inserted: after a field's name, before a method's type and name.
    pub mark_at: usize,
    pub marks: Vec<Mark>,
    pub annotations: Vec<Annotation>,
    /// For a `synchronized` block its number in the method from 1.
    pub block: Option<u32>,
    /// For a getter or setter that a compiler makes, the property that it is of.
    pub property: Option<String>,
}

impl Declaration {
    /// Whether `@SuppressWarnings`, or Kotlin's `@Suppress`, here names the tool.
    pub fn suppresses(&self, tool: &str) -> bool {
        self.annotations.iter().any(|annotation| {
            matches!(annotation.name.as_str(), "SuppressWarnings" | "Suppress")
                && annotation
                    .arguments
                    .split('"')
                    .skip(1)
                    .step_by(2)
                    .any(|name| name == tool || name == "all")
        })
    }
}

/// A parsed file.
#[derive(Debug)]
pub struct SourceFile {
    text: String,
    declarations: Vec<Declaration>,
    /// Marks that stand at nothing that can carry one, such as a statement; they speak of their line.
    loose: Vec<Mark>,
    arguments: Vec<Arguments>,
    /// Places that the parser could not make sense of.
    broken: bool,
}

impl SourceFile {
    /// Parses a file of Kotlin or Scala; Java by [`parse`](Self::parse).
    pub fn parse_as(language: Language, file_name: &str, text: String) -> Self {
        if language == Language::Java {
            return Self::parse(text);
        }
        let tree = tree(language, &text);
        let (mut declarations, mut loose) = (Vec::new(), Vec::new());
        if let Some(tree) = &tree {
            let mut marks = Vec::new();
            collect_marks(&text, tree.root_node(), &mut marks);
            (declarations, loose) = outline(language, file_name, &text, tree.root_node(), marks);
        }
        Self {
            broken: tree.is_none_or(|tree| tree.root_node().has_error()),
            text,
            declarations,
            loose,
            arguments: Vec::new(),
        }
    }

    /// Parses Java.
    pub fn parse(text: String) -> Self {
        let mut walk = Walk {
            source: &text,
            package: String::new(),
            classes: Vec::new(),
            methods: Vec::new(),
            declarations: Vec::new(),
            used: Vec::new(),
        };
        let tree = tree(Language::Java, &text);
        let mut loose = Vec::new();
        let mut arguments = Vec::new();
        if let Some(tree) = &tree {
            walk.visit(tree.root_node());
            let mut comments = Vec::new();
            collect_marks(&text, tree.root_node(), &mut comments);
            arguments = arguments::find(&text, tree.root_node(), &comments);
            comments.retain(|mark: &Mark| !mark.is_arguments() && !walk.used.contains(&mark.range));
            loose = comments;
        }
        let declarations = walk.declarations;
        Self {
            broken: tree.is_none_or(|tree| tree.root_node().has_error()),
            text,
            declarations,
            loose,
            arguments,
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// In the order of the text, an outer one before what it holds.
    pub fn declarations(&self) -> &[Declaration] {
        &self.declarations
    }

    /// Marks that belong to no declaration or block.
    pub fn loose_marks(&self) -> &[Mark] {
        &self.loose
    }

    /// Ghost arguments of types and calls.
    pub fn arguments(&self) -> &[Arguments] {
        &self.arguments
    }

    /// Whether there is some of the text that the parser makes no sense of.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// The innermost declaration of one of the kinds around a mark.
    pub fn holding(&self, mark: &Mark, kinds: &[DeclarationKind]) -> Option<&Declaration> {
        (self.declarations.iter())
            .filter(|d| kinds.contains(&d.kind))
            .filter(|d| d.range.start <= mark.range.start && mark.range.end <= d.range.end)
            .min_by_key(|d| d.range.len())
    }

    /// The innermost declaration of the kind around a line.
    pub fn around(&self, line: u32, kind: DeclarationKind) -> Option<&Declaration> {
        (self.declarations.iter())
            .filter(|d| d.kind == kind && d.lines.0 <= line && line <= d.lines.1)
            .min_by_key(|d| d.lines.1 - d.lines.0)
    }
}

fn tree(language: Language, text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).ok()?;
    parser.parse(text, None)
}

fn collect_marks(source: &str, root: Node<'_>, marks: &mut Vec<Mark>) {
    // A stack of our own: deeply nested input must not exhaust the thread's.
    let mut pending = vec![root];
    while let Some(node) = pending.pop() {
        if node.kind() == "block_comment" {
            marks.extend(Mark::of_comment(source, node));
        }
        let mut cursor = node.walk();
        let children: Vec<_> = node.children(&mut cursor).collect();
        pending.extend(children.into_iter().rev());
    }
}

/// A class that is being walked through.
struct Class {
    name: String,
    /// How many anonymous classes it holds so far, and local ones by name.
    anonymous: u32,
    locals: HashMap<String, u32>,
}

/// A method that is being walked through.
struct Method {
    name: String,
    parameters: Vec<String>,
    parameter_names: Vec<String>,
    blocks: u32,
}

struct Walk<'a> {
    source: &'a str,
    package: String,
    classes: Vec<Class>,
    methods: Vec<Method>,
    declarations: Vec<Declaration>,
    used: Vec<Range<usize>>,
}

/// What to do when the walk comes to it.
enum Task<'t> {
    Enter(Visit<'t>),
    LeaveClass,
    LeaveMethod,
}

/// A node with what tree-sitter would have to look for from the root: its parent, and the marks right before it.
struct Visit<'t> {
    node: Node<'t>,
    parent: Option<Node<'t>>,
    marks: Vec<Mark>,
}

impl Visit<'_> {
    fn parent_is(&self, kinds: &[&str]) -> bool {
        self.parent
            .is_some_and(|parent| kinds.contains(&parent.kind()))
    }
}

impl<'a> Walk<'a> {
    fn text(&self, node: Node<'_>) -> &'a str {
        self.source.get(node.byte_range()).unwrap_or("")
    }

    fn visit(&mut self, root: Node<'_>) {
        let mut pending = vec![Task::Enter(Visit {
            node: root,
            parent: None,
            marks: Vec::new(),
        })];
        while let Some(task) = pending.pop() {
            match task {
                Task::LeaveClass => {
                    self.classes.pop();
                }
                Task::LeaveMethod => {
                    self.methods.pop();
                }
                Task::Enter(visit) => {
                    match self.enter(&visit) {
                        Scope::Class => pending.push(Task::LeaveClass),
                        Scope::Method => pending.push(Task::LeaveMethod),
                        Scope::None => {}
                    }
                    let children = self.children(&visit);
                    pending.extend(children.into_iter().rev().map(Task::Enter));
                }
            }
        }
    }

    /// The named children, each with the marks in comments that stand right before it.
    fn children<'t>(&self, visit: &Visit<'t>) -> Vec<Visit<'t>> {
        let mut cursor = visit.node.walk();
        let mut children = Vec::new();
        let mut marks: Vec<Mark> = Vec::new();
        // The row on which something other than a comment or an opening brace last ended.
        let mut occupied = None;
        for node in visit.node.children(&mut cursor) {
            match node.kind() {
                "line_comment" => {}
                "block_comment" => marks.extend(own_mark(self.source, node)),
                kind => {
                    // A mark behind something on an earlier line belongs to that line.
                    let row = node.start_position().row as u32 + 1;
                    marks.retain(|mark| occupied != Some(mark.line) || mark.line == row);
                    let mut before = std::mem::take(&mut marks);
                    if visit.node.kind() == "synchronized_statement" && kind == "block" {
                        before = visit.marks.iter().cloned().chain(before).collect();
                    }
                    occupied = (kind != "{").then_some(node.end_position().row as u32 + 1);
                    if node.is_named() {
                        children.push(Visit {
                            node,
                            parent: Some(visit.node),
                            marks: before,
                        });
                    }
                }
            }
        }
        children
    }

    fn enter(&mut self, visit: &Visit<'_>) -> Scope {
        let node = visit.node;
        match node.kind() {
            "package_declaration" => {
                let mut cursor = node.walk();
                let name = (node.named_children(&mut cursor))
                    .find(|child| matches!(child.kind(), "scoped_identifier" | "identifier"));
                self.package = name.map_or("", |name| self.text(name)).to_owned();
                Scope::None
            }
            "class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "record_declaration"
            | "annotation_type_declaration" => {
                self.class(visit);
                Scope::Class
            }
            // The body of `new C() { … }` and of an enum constant is an anonymous class.
            "class_body" if self.is_anonymous(visit) => {
                let name = match self.classes.last_mut() {
                    Some(outer) => {
                        outer.anonymous += 1;
                        format!("{}${}", outer.name, outer.anonymous)
                    }
                    None => String::new(),
                };
                self.push_class(name);
                Scope::Class
            }
            "method_declaration"
            | "constructor_declaration"
            | "compact_constructor_declaration" => {
                self.method(visit);
                Scope::Method
            }
            "field_declaration" | "constant_declaration" => {
                self.field(visit);
                Scope::None
            }
            "block" => {
                self.block(visit);
                Scope::None
            }
            _ => Scope::None,
        }
    }

    fn is_anonymous(&self, body: &Visit<'_>) -> bool {
        !self.classes.is_empty() && body.parent_is(&["object_creation_expression", "enum_constant"])
    }

    fn push_class(&mut self, name: String) {
        self.classes.push(Class {
            name,
            anonymous: 0,
            locals: HashMap::new(),
        });
    }

    fn class(&mut self, visit: &Visit<'_>) {
        let node = visit.node;
        let simple = node
            .child_by_field_name("name")
            .map_or("", |name| self.text(name))
            .to_owned();
        let is_local =
            visit.parent_is(&["block", "switch_block_statement_group", "constructor_body"]);
        let name = match self.classes.last_mut() {
            None if self.package.is_empty() => simple.clone(),
            None => format!("{}.{simple}", self.package),
            Some(outer) if is_local => {
                let number = outer.locals.entry(simple.clone()).or_default();
                *number += 1;
                format!("{}${number}{simple}", outer.name)
            }
            Some(outer) => format!("{}${simple}", outer.name),
        };
        let head_end = node
            .child_by_field_name("body")
            .map_or(node.end_byte(), |body| body.start_byte());
        let mark_at = node
            .child_by_field_name("name")
            .map_or(node.start_byte(), |name| name.end_byte());
        self.declare(
            visit,
            DeclarationKind::Class,
            name.clone(),
            simple,
            Default::default(),
            head_end,
            mark_at,
        );
        self.push_class(name);
    }

    fn method(&mut self, visit: &Visit<'_>) {
        let node = visit.node;
        let name = if node.kind() == "method_declaration" {
            node.child_by_field_name("name")
                .map_or("", |name| self.text(name))
        } else {
            "<init>"
        };
        let parameters = node
            .child_by_field_name("parameters")
            .map_or_else(Vec::new, |list| self.parameters(list));
        let (parameters, parameter_names): (Vec<String>, Vec<String>) =
            parameters.into_iter().unzip();
        let class = self
            .classes
            .last()
            .map_or(String::new(), |class| class.name.clone());
        let head_end = node
            .child_by_field_name("body")
            .map_or(node.end_byte(), |body| body.start_byte());
        let mark_at = after_modifiers(node);
        self.declare(
            visit,
            DeclarationKind::Method,
            class,
            name.to_owned(),
            (parameters.clone(), parameter_names.clone()),
            head_end,
            mark_at,
        );
        self.methods.push(Method {
            name: name.to_owned(),
            parameters,
            parameter_names,
            blocks: 0,
        });
    }

    /// Type and name of each.
    fn parameters(&self, list: Node<'_>) -> Vec<(String, String)> {
        let mut cursor = list.walk();
        list.named_children(&mut cursor)
            .filter_map(|parameter| match parameter.kind() {
                "formal_parameter" => {
                    let kind = parameter.child_by_field_name("type")?;
                    let dimensions =
                        (parameter.child_by_field_name("dimensions")).map_or("", |d| self.text(d));
                    let name = (parameter.child_by_field_name("name")).map_or("", |n| self.text(n));
                    Some((format!("{}{dimensions}", self.text(kind)), name.to_owned()))
                }
                "spread_parameter" => {
                    let mut cursor = parameter.walk();
                    let kind = (parameter.named_children(&mut cursor)).find(|child| {
                        !matches!(child.kind(), "modifiers" | "variable_declarator")
                    })?;
                    let mut cursor = parameter.walk();
                    let name = (parameter.named_children(&mut cursor))
                        .find(|child| child.kind() == "variable_declarator")
                        .and_then(|declarator| declarator.child_by_field_name("name"))
                        .map_or("", |name| self.text(name));
                    Some((format!("{}[]", self.text(kind)), name.to_owned()))
                }
                _ => None,
            })
            .collect()
    }

    fn field(&mut self, visit: &Visit<'_>) {
        let node = visit.node;
        let class = self
            .classes
            .last()
            .map_or(String::new(), |class| class.name.clone());
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            let Some(name) = declarator.child_by_field_name("name") else {
                continue;
            };
            let text = self.text(name).to_owned();
            self.declare(
                visit,
                DeclarationKind::Field,
                class.clone(),
                text,
                Default::default(),
                node.end_byte(),
                name.end_byte(),
            );
        }
    }

    fn block(&mut self, visit: &Visit<'_>) {
        let node = visit.node;
        let synchronizes = visit.parent_is(&["synchronized_statement"]);
        let statement = visit.parent.filter(|_| synchronizes).unwrap_or(node);
        if visit.parent_is(&[
            "method_declaration",
            "lambda_expression",
            "constructor_declaration",
        ]) {
            return;
        }
        let mut marks = visit.marks.clone();
        marks.extend(first_mark(self.source, node));
        if marks.is_empty() && !synchronizes {
            return;
        }
        self.used
            .extend(marks.iter().map(|mark| mark.range.clone()));
        let class = self
            .classes
            .last()
            .map_or(String::new(), |class| class.name.clone());
        let (name, parameters, names, block) = match self.methods.last_mut() {
            Some(method) => {
                method.blocks += u32::from(synchronizes);
                let number = synchronizes.then_some(method.blocks);
                (
                    method.name.clone(),
                    method.parameters.clone(),
                    method.parameter_names.clone(),
                    number,
                )
            }
            None => (String::new(), Vec::new(), Vec::new(), None),
        };
        self.declarations.push(Declaration {
            kind: DeclarationKind::Block,
            class,
            name,
            parameters,
            parameter_names: names,
            lines: lines(statement),
            range: statement.byte_range(),
            insert_at: statement.start_byte(),
            mark_at: statement.start_byte(),
            marks,
            annotations: Vec::new(),
            block,
            property: None,
        });
    }

    fn declare(
        &mut self,
        visit: &Visit<'_>,
        kind: DeclarationKind,
        class: String,
        name: String,
        (parameters, parameter_names): (Vec<String>, Vec<String>),
        head_end: usize,
        mark_at: usize,
    ) {
        let node = visit.node;
        let mut marks = visit.marks.clone();
        marks_within(self.source, node, head_end, &mut marks);
        self.used
            .extend(marks.iter().map(|mark| mark.range.clone()));
        let annotations = self.annotations(node);
        self.declarations.push(Declaration {
            kind,
            class,
            name,
            parameters,
            parameter_names,
            lines: lines(node),
            range: node.byte_range(),
            insert_at: node.start_byte(),
            mark_at,
            marks,
            annotations,
            block: None,
            property: None,
        });
    }

    fn annotations(&self, node: Node<'_>) -> Vec<Annotation> {
        let mut cursor = node.walk();
        let Some(modifiers) = node
            .children(&mut cursor)
            .find(|child| child.kind() == "modifiers")
        else {
            return Vec::new();
        };
        let mut cursor = modifiers.walk();
        (modifiers.named_children(&mut cursor))
            .filter(|child| matches!(child.kind(), "annotation" | "marker_annotation"))
            .filter_map(|annotation| {
                let name = self.text(annotation.child_by_field_name("name")?);
                let arguments = (annotation.child_by_field_name("arguments"))
                    .map_or("", |list| self.text(list));
                let inner = arguments
                    .strip_prefix('(')
                    .and_then(|text| text.strip_suffix(')'));
                Some(Annotation {
                    name: name.rsplit('.').next().unwrap_or(name).to_owned(),
                    arguments: inner.unwrap_or("").to_owned(),
                })
            })
            .collect()
    }
}

enum Scope {
    None,
    Class,
    Method,
}

pub(crate) fn lines(node: Node<'_>) -> (u32, u32) {
    (
        node.start_position().row as u32 + 1,
        node.end_position().row as u32 + 1,
    )
}

/// Where the type of a method begins, after its modifiers and type parameters.
fn after_modifiers(node: Node<'_>) -> usize {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .find(|child| {
            !matches!(
                child.kind(),
                "modifiers" | "type_parameters" | "block_comment" | "line_comment"
            )
        })
        .map_or(node.start_byte(), |child| child.start_byte())
}

/// Marks inside a declaration, before `end`.
fn marks_within(source: &str, node: Node<'_>, end: usize, marks: &mut Vec<Mark>) {
    let mut pending = vec![node];
    while let Some(node) = pending.pop() {
        if node.kind() == "block_comment" {
            marks.extend(own_mark(source, node));
        }
        let mut cursor = node.walk();
        let children: Vec<_> = (node.children(&mut cursor))
            .filter(|child| {
                child.start_byte() < end && !matches!(child.kind(), "class_body" | "block")
            })
            .collect();
        pending.extend(children.into_iter().rev());
    }
    marks.sort_by_key(|mark| mark.range.start);
    marks.dedup();
}

/// A mark that is the first thing in a block, before any statement on another line.
fn first_mark(source: &str, block: Node<'_>) -> Option<Mark> {
    let first = block.named_child(0)?;
    let at_head = first.start_position().row == block.start_position().row;
    (first.kind() == "block_comment" && at_head)
        .then(|| own_mark(source, first))
        .flatten()
}

/// A mark that speaks of a declaration or a block, and not of a type in it.
fn own_mark(source: &str, node: Node<'_>) -> Option<Mark> {
    Mark::of_comment(source, node).filter(|mark| !mark.is_arguments())
}
