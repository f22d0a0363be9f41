//! Ghost arguments: marks such as `/*# <this> */` behind the name of a type or of a called method.

use tree_sitter::Node;

use crate::Mark;

/// Ghost arguments, and what they are given to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arguments {
    pub mark: Mark,
    pub given_to: GivenTo,
}

/// What ghost arguments are given to; names of types are as they are written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GivenTo {
    /// The type of the fields that this declaration declares.
    FieldType,
    /// The type of a parameter, by its number from 0.
    ParameterType(u32),
    /// The type of a method's result.
    ResultType,
    /// A supertype in `extends` or `implements`.
    Supertype(String),
    /// `new Name(…)`.
    New(String),
    /// A call of this method.
    Call(String),
    /// Anything else, which has no use for them.
    Nothing,
}

/// All ghost arguments of a file, in its order.
pub(crate) fn find(source: &str, root: Node<'_>, marks: &[Mark]) -> Vec<Arguments> {
    (marks.iter())
        .filter(|mark| mark.is_arguments())
        .map(|mark| Arguments {
            mark: mark.clone(),
            given_to: given_to(source, root, mark).unwrap_or(GivenTo::Nothing),
        })
        .collect()
}

fn given_to(source: &str, root: Node<'_>, mark: &Mark) -> Option<GivenTo> {
    let before = source.get(..mark.range.start)?.trim_end().len();
    let last = before.checked_sub(1)?;
    let mut named = root.descendant_for_byte_range(last, before)?;
    let text = |node: Node<'_>| source.get(node.byte_range()).unwrap_or("").to_owned();
    // From the last word out to the whole name, without what holds it.
    while let Some(parent) = named.parent() {
        let whole = matches!(
            parent.kind(),
            "type_arguments" | "generic_type" | "scoped_type_identifier" | "annotated_type"
        ) && parent.end_byte() == before;
        if !whole {
            break;
        }
        named = parent;
    }
    let parent = named.parent()?;
    let is_field = |name: &str| parent.child_by_field_name(name) == Some(named);
    Some(match parent.kind() {
        "field_declaration" | "constant_declaration" if is_field("type") => GivenTo::FieldType,
        "method_declaration" if is_field("type") => GivenTo::ResultType,
        "formal_parameter" if is_field("type") => {
            let list = parent.parent()?;
            let mut cursor = list.walk();
            let number = (list.named_children(&mut cursor))
                .filter(|child| matches!(child.kind(), "formal_parameter" | "spread_parameter"))
                .position(|child| child == parent)?;
            GivenTo::ParameterType(number as u32)
        }
        "object_creation_expression" if is_field("type") => GivenTo::New(text(named)),
        "method_invocation" if is_field("name") => GivenTo::Call(text(named)),
        "superclass" | "type_list" => GivenTo::Supertype(text(named)),
        _ => GivenTo::Nothing,
    })
}
