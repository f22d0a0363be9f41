//! What Kotlin and Scala files declare, under the names that their compilers give it: what suppressions in them speak of.
//!
//! Kotlin: functions outside of classes are in a class named after the file (`Till.kt` makes `TillKt`, unless `@file:JvmName` says otherwise); a property is a field, a getter and a setter; a companion object is `Outer$Companion`.
//! Scala: an object `Till` is the class `Till$`; a `val` or `var` is a field and the methods `x` and `x_$eq`.
//! Blocks have no numbers here and nothing is written back, so only suppressions and excerpts know these files.

use std::ops::Range;

use tree_sitter::Node;

use crate::declarations::lines;
use crate::{Annotation, Declaration, DeclarationKind, Language, Mark};

/// The declarations, and the marks that belong to none.
pub fn outline(
    language: Language,
    file_name: &str,
    text: &str,
    root: Node<'_>,
    marks: Vec<Mark>,
) -> (Vec<Declaration>, Vec<Mark>) {
    let mut outline = Outline {
        language,
        text,
        package: String::new(),
        facade: facade(file_name),
        of_file: Vec::new(),
        declarations: Vec::new(),
        heads: Vec::new(),
    };
    // A stack of our own: deeply nested input must not exhaust the thread's.
    let mut pending = vec![(root, Vec::<String>::new())];
    while let Some((node, classes)) = pending.pop() {
        let within = outline.enter(node, &classes);
        let mut cursor = node.walk();
        let children: Vec<_> = node.named_children(&mut cursor).collect();
        for child in children.into_iter().rev() {
            pending.push((child, within.clone()));
        }
    }
    outline.give(marks)
}

struct Outline<'a> {
    language: Language,
    text: &'a str,
    package: String,
    /// The class of what stands outside of classes.
    facade: String,
    /// Annotations that speak of all in the file.
    of_file: Vec<Annotation>,
    declarations: Vec<Declaration>,
    /// Where the head of each declaration is: marks in it are its own.
    heads: Vec<Range<usize>>,
}

/// `Till.kt` makes `TillKt`.
fn facade(file_name: &str) -> String {
    let stem = file_name
        .rsplit_once('.')
        .map_or(file_name, |(stem, _)| stem);
    let mut letters = stem.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    format!(
        "{}{}Kt",
        first.map_or(String::new(), String::from),
        letters.as_str()
    )
}

impl<'a> Outline<'a> {
    fn text(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    /// Takes a node, and says within which classes what it holds stands, innermost last.
    fn enter(&mut self, node: Node<'_>, classes: &[String]) -> Vec<String> {
        let mut within = classes.to_vec();
        match (self.language, node.kind()) {
            (Language::Kotlin, "package_header") | (Language::Scala, "package_clause") => {
                let mut cursor = node.walk();
                let name = (node.named_children(&mut cursor)).find(|child| {
                    matches!(child.kind(), "qualified_identifier" | "package_identifier")
                });
                let name = name.map_or("", |name| self.text(name)).replace(' ', "");
                // Clauses of Scala add up.
                if !self.package.is_empty() {
                    self.package.push('.');
                }
                self.package.push_str(&name);
            }
            (Language::Kotlin, "file_annotation") => {
                let said = annotation(self.text(node));
                match said.arguments.split('"').nth(1) {
                    Some(name) if said.name == "JvmName" => name.clone_into(&mut self.facade),
                    _ => self.of_file.push(said),
                }
            }
            (Language::Kotlin, "class_declaration" | "object_declaration" | "companion_object")
            | (
                Language::Scala,
                "class_definition" | "trait_definition" | "enum_definition" | "object_definition"
                | "package_object",
            ) => {
                let name = self.class(node, classes);
                within.push(name);
            }
            (_, "function_declaration" | "function_definition" | "secondary_constructor") => {
                let name = match node.child_by_field_name("name") {
                    Some(name) => self.text(name).trim_matches('`').to_owned(),
                    None => "<init>".to_owned(),
                };
                // A function in a function belongs to the method around it, which a report names.
                if !in_function(node) {
                    self.declare(node, DeclarationKind::Method, self.holder(classes), name);
                }
            }
            (Language::Kotlin, "property_declaration") if !in_function(node) => {
                for name in self.named(node, "variable_declaration") {
                    self.property(node, classes, &name);
                }
            }
            // Only parameters with `val` or `var` are properties; the others are no fields that anybody names.
            (Language::Kotlin, "class_parameter") => {
                let mut cursor = node.walk();
                let children: Vec<_> = node.children(&mut cursor).collect();
                let name = children.iter().find(|child| child.kind() == "identifier");
                let is_property =
                    (children.iter()).any(|child| matches!(self.text(*child), "val" | "var"));
                if let Some(name) = name.filter(|_| is_property) {
                    let name = self.text(*name).trim_matches('`').to_owned();
                    self.property(node, classes, &name);
                }
            }
            (Language::Scala, "val_definition" | "var_definition") if !in_function(node) => {
                let pattern = node.child_by_field_name("pattern");
                if let Some(name) = pattern.filter(|pattern| pattern.kind() == "identifier") {
                    let name = self.text(name).to_owned();
                    let class = self.holder(classes);
                    self.declare(node, DeclarationKind::Field, class.clone(), name.clone());
                    for method in [name.clone(), format!("{name}_$eq")] {
                        self.declare(node, DeclarationKind::Method, class.clone(), method);
                    }
                }
            }
            _ => {}
        }
        within
    }

    /// The identifiers of the children of a kind.
    fn named(&self, node: Node<'_>, kind: &str) -> Vec<String> {
        let mut cursor = node.walk();
        (node.named_children(&mut cursor))
            .filter(|child| child.kind() == kind)
            .filter_map(|child| {
                let mut cursor = child.walk();
                let mut parts = child.named_children(&mut cursor);
                let name = parts.find(|part| part.kind() == "identifier")?;
                Some(self.text(name).trim_matches('`').to_owned())
            })
            .collect()
    }

    /// The class that holds what stands in these.
    fn holder(&self, classes: &[String]) -> String {
        match classes.last() {
            Some(class) => class.clone(),
            None => self.qualified(&self.facade),
        }
    }

    fn qualified(&self, name: &str) -> String {
        if self.package.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.package)
        }
    }

    fn class(&mut self, node: Node<'_>, classes: &[String]) -> String {
        let simple = match node.child_by_field_name("name") {
            Some(name) => self.text(name).trim_matches('`').to_owned(),
            None => "Companion".to_owned(),
        };
        let mut name = match classes.last() {
            // The class of a Scala object ends with the sign already.
            Some(outer) if outer.ends_with('$') => format!("{outer}{simple}"),
            Some(outer) => format!("{outer}${simple}"),
            None => self.qualified(&simple),
        };
        if matches!(node.kind(), "object_definition" | "package_object") {
            name.push('$');
        }
        self.declare(node, DeclarationKind::Class, name.clone(), simple);
        name
    }

    /// A property of Kotlin: its field, its getter and its setter.
    fn property(&mut self, node: Node<'_>, classes: &[String], name: &str) {
        let class = self.holder(classes);
        self.declare(node, DeclarationKind::Field, class.clone(), name.to_owned());
        for method in accessors(name) {
            self.declare(node, DeclarationKind::Method, class.clone(), method);
            if let Some(accessor) = self.declarations.last_mut() {
                accessor.property = Some(name.to_owned());
            }
        }
    }

    fn declare(&mut self, node: Node<'_>, kind: DeclarationKind, class: String, name: String) {
        let mut cursor = node.walk();
        let body = (node.children(&mut cursor)).find(|child| {
            matches!(
                child.kind(),
                "class_body"
                    | "enum_class_body"
                    | "function_body"
                    | "template_body"
                    | "enum_body"
                    | "block"
                    | "getter"
                    | "setter"
            ) || node.child_by_field_name("body") == Some(*child)
        });
        let head_end = body.map_or(node.end_byte(), |body| body.start_byte());
        self.heads.push(node.start_byte()..head_end);
        self.declarations.push(Declaration {
            kind,
            class,
            name,
            parameters: Vec::new(),
            parameter_names: Vec::new(),
            lines: lines(node),
            range: node.byte_range(),
            insert_at: node.start_byte(),
            mark_at: node.start_byte(),
            marks: Vec::new(),
            annotations: self.annotations(node),
            block: None,
            property: None,
        });
    }

    /// Annotations among the modifiers, or right at the declaration.
    fn annotations(&self, node: Node<'_>) -> Vec<Annotation> {
        let mut found = self.of_file.clone();
        let mut pending = vec![node];
        while let Some(holder) = pending.pop() {
            let mut cursor = holder.walk();
            for child in holder.named_children(&mut cursor) {
                match child.kind() {
                    "annotation" => found.push(annotation(self.text(child))),
                    "modifiers" => pending.push(child),
                    _ => {}
                }
            }
        }
        found
    }

    /// Gives each mark to the declaration in whose head it stands, or before which; the rest speak of their lines.
    fn give(mut self, marks: Vec<Mark>) -> (Vec<Declaration>, Vec<Mark>) {
        let mut loose = Vec::new();
        for mark in marks {
            let line_start = self.text[..mark.range.start]
                .rfind('\n')
                .map_or(0, |at| at + 1);
            let alone = self.text[line_start..mark.range.start].trim().is_empty();
            let mut taken = false;
            for (head, declaration) in self.heads.iter().zip(&mut self.declarations) {
                let inside = head.contains(&mark.range.start);
                let before = alone
                    && mark.range.end <= head.start
                    && is_blank(&self.text[mark.range.end..head.start]);
                if inside || before {
                    declaration.marks.push(mark.clone());
                    taken = true;
                }
            }
            if !taken {
                loose.push(mark);
            }
        }
        (self.declarations, loose)
    }
}

/// Nothing but white space and comments of the plain kind.
fn is_blank(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        let end = if let Some(comment) = rest.strip_prefix("//") {
            comment.find('\n').map(|at| at + 2)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map(|at| at + 4)
        } else {
            return rest.is_empty();
        };
        match end {
            Some(end) => rest = rest[end..].trim_start(),
            None => return true,
        }
    }
}

/// The methods of a property of Kotlin, as its compiler names them.
fn accessors(name: &str) -> Vec<String> {
    // `isOpen` keeps its name, and is set by `setOpen`.
    if let Some(rest) = name.strip_prefix("is")
        && rest.starts_with(|first: char| !first.is_lowercase())
    {
        return vec![name.to_owned(), format!("set{rest}")];
    }
    let mut letters = name.chars();
    let first: String = letters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    let rest = letters.as_str();
    vec![format!("get{first}{rest}"), format!("set{first}{rest}")]
}

fn in_function(node: Node<'_>) -> bool {
    let mut around = node.parent();
    while let Some(parent) = around {
        match parent.kind() {
            "function_body"
            | "function_declaration"
            | "function_definition"
            | "lambda_literal"
            | "anonymous_function"
            | "block"
            | "secondary_constructor" => return true,
            "class_body" | "template_body" | "enum_class_body" | "enum_body" => return false,
            _ => around = parent.parent(),
        }
    }
    false
}

/// `@file:JvmName("X")` is `JvmName` with `"X"`.
fn annotation(text: &str) -> Annotation {
    let text = text.trim_start_matches('@').trim();
    let (name, arguments) = match text.split_once('(') {
        Some((name, rest)) => (name, rest.trim_end().strip_suffix(')').unwrap_or(rest)),
        None => (text, ""),
    };
    let name = name.rsplit([':', '.']).next().unwrap_or(name).trim();
    Annotation {
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    }
}
