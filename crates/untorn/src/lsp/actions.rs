//! What an editor offers at a finding: to suppress it in the source, or to take it into the baseline.

use std::collections::HashMap;
use std::path::Path;
use std::str::FromStr;

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, Command,
    ExecuteCommandParams, Position, Range, TextEdit, Uri, WorkspaceEdit,
};
use untorn_findings::Finding;
use untorn_sources::{Declaration, DeclarationKind, Language, SourceFile};

use super::found::Found;
use super::show::touches;
use super::workspace::{Workspace, path_of, uri_of};
use crate::failure::Failure;

/// The command that takes a finding, by its fingerprint, into the baseline.
pub const ADD_TO_BASELINE: &str = "untorn.addToBaseline";

pub fn actions(
    workspace: &Workspace,
    found: &Found,
    params: &CodeActionParams,
) -> Vec<CodeActionOrCommand> {
    let Some(path) = path_of(params.text_document.uri.as_str()) else {
        return Vec::new();
    };
    let folder = workspace.folder();
    let rows = params.range.start.line + 1..=params.range.end.line + 1;
    let mut offered = Vec::new();
    for finding in found.findings() {
        if !rows
            .clone()
            .any(|row| touches(&folder, finding, &path, row))
        {
            continue;
        }
        let name = finding.region.short_name();
        // A region of a text trace has no class, so nobody knows its declaration.
        let (class, file) = (&finding.region.class, &finding.region.file);
        let file = (class.as_deref().zip(file.as_deref()))
            .and_then(|(class, file)| folder.find(class, file));
        if let Some(edit) = file.and_then(|file| suppression(file, finding)) {
            offered.push(CodeActionOrCommand::CodeAction(CodeAction {
                title: format!("Untorn: suppress what is found of {name} here"),
                kind: Some(CodeActionKind::QUICKFIX),
                edit: Some(edit),
                ..CodeAction::default()
            }));
        }
        offered.push(CodeActionOrCommand::CodeAction(CodeAction {
            title: format!("Untorn: add {name} to the baseline"),
            kind: Some(CodeActionKind::QUICKFIX),
            command: Some(Command {
                title: "Add to the baseline".to_owned(),
                command: ADD_TO_BASELINE.to_owned(),
                arguments: Some(vec![finding.fingerprint.clone().into()]),
            }),
            ..CodeAction::default()
        }));
    }
    offered
}

/// The annotation before the declaration of the region, in the language of the file.
fn suppression(path: &Path, finding: &Finding) -> Option<WorkspaceEdit> {
    let source = Workspace::read(path)?;
    let declaration = declaration(&source, finding)?;
    let annotation = match Language::of(path)? {
        Language::Java => "@SuppressWarnings(\"untorn\")",
        Language::Kotlin => "@Suppress(\"untorn\")",
        Language::Scala => "@SuppressWarnings(Array(\"untorn\"))",
    };
    let text = source.text();
    let line_start = text[..declaration.insert_at]
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let before = &text[line_start..declaration.insert_at];
    let indent: String = before.chars().take_while(|c| c.is_whitespace()).collect();
    let position = Position::new(
        text[..declaration.insert_at].matches('\n').count() as u32,
        before.encode_utf16().count() as u32,
    );
    let edit = TextEdit {
        range: Range::new(position, position),
        new_text: format!("{annotation}\n{indent}"),
    };
    let uri = Uri::from_str(&uri_of(path)?).ok()?;
    #[allow(clippy::mutable_key_type)]
    // It is the type of the protocol; nobody changes the address.
    let changes = HashMap::from([(uri, vec![edit])]);
    Some(WorkspaceEdit {
        changes: Some(changes),
        ..WorkspaceEdit::default()
    })
}

/// The method, else the field, else the class that the finding is about.
fn declaration<'a>(source: &'a SourceFile, finding: &Finding) -> Option<&'a Declaration> {
    let region = &finding.region;
    let class = region.class.as_deref()?;
    let of = |kind: DeclarationKind, name: Option<&str>| {
        (source.declarations().iter())
            .filter(|declaration| declaration.kind == kind && declaration.class == class)
            .filter(|declaration| name.is_none_or(|name| declaration.name == name))
            // Overloads differ by their lines.
            .min_by_key(|declaration| match region.line {
                Some(line) if line < declaration.lines.0 || line > declaration.lines.1 => 1,
                _ => 0,
            })
    };
    of(DeclarationKind::Method, Some(&region.method))
        .or_else(|| of(DeclarationKind::Field, Some(region.field.as_deref()?)))
        .or_else(|| of(DeclarationKind::Class, None))
}

/// Takes a finding into the baseline, and says so.
pub fn execute(
    workspace: &Workspace,
    found: &Found,
    params: &ExecuteCommandParams,
) -> Result<String, Failure> {
    let unknown = || Failure::Usage(format!("{} is no command for a finding", params.command));
    let fingerprint = (params.arguments.first())
        .filter(|_| params.command == ADD_TO_BASELINE)
        .and_then(|argument| argument.as_str())
        .ok_or_else(unknown)?;
    let finding = found.by_fingerprint(fingerprint).ok_or_else(unknown)?;
    let path = workspace.baseline();
    let mut baseline = if path.exists() {
        crate::output::read(path)?
    } else {
        workspace.known()
    };
    baseline.findings.push(finding.clone());
    std::fs::write(path, baseline.to_json()?).map_err(|source| Failure::file(path, source))?;
    Ok(format!(
        "{} is in {} now",
        finding.region.short_name(),
        path.display()
    ))
}
