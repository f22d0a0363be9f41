//! `untorn lsp`: a language server over saved findings, and over what a check finds when a file is saved.
//!
//! The server itself analyzes nothing: findings come from `untorn report` and `untorn check`, run as commands, so suppressions, baseline and project file mean here what they mean everywhere.
//! The newest check replaces the one before; saved findings stay beside it.

mod actions;
mod found;
mod show;
mod workspace;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::thread;

use clap::Args;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{self as told, Notification as _};
use lsp_types::request::{self as asked, Request as _};
use lsp_types::{
    CodeActionProviderCapability, ExecuteCommandOptions, HoverProviderCapability, InitializeParams,
    MessageType, PublishDiagnosticsParams, SaveOptions, ServerCapabilities, ShowMessageParams,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, Uri,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure::Failure;
use found::Found;
use workspace::Workspace;

/// Speak the language server protocol on standard input and output, for editors.
#[derive(Debug, Args)]
#[command(after_help = "\
An editor starts it in the folder of a project. Findings come from the files that are named,
else from untorn.json, target/untorn and build/untorn; classes are checked whenever a source is saved.

Examples:
  untorn lsp
  untorn lsp run.json --source src --classes out/production")]
pub struct LspArgs {
    /// Saved findings to show.
    #[arg(value_name = "FINDINGS")]
    pub findings: Vec<PathBuf>,
    /// Folders of sources; default: the usual ones of Maven and Gradle, also in modules.
    #[arg(long, value_name = "DIR")]
    pub source: Vec<PathBuf>,
    /// Folders of classes to check when a source is saved; default: the usual ones.
    #[arg(long, value_name = "DIR")]
    pub classes: Vec<PathBuf>,
    /// Do not check anything; show saved findings only.
    #[arg(long)]
    pub no_check: bool,
    /// Findings that are known and not shown; the action adds to it.
    #[arg(long, value_name = "FILE", default_value = "untorn-baseline.json")]
    pub baseline: PathBuf,
}

pub fn run(args: &LspArgs) -> Result<ExitCode, Failure> {
    let (connection, threads) = Connection::stdio();
    let failed = |error: &dyn std::fmt::Display| Failure::Usage(format!("lsp: {error}"));
    let capabilities = serde_json::to_value(capabilities())?;
    let params = connection
        .initialize(capabilities)
        .map_err(|error| failed(&error))?;
    let params: InitializeParams = serde_json::from_value(params)?;
    let mut server = Server {
        workspace: Workspace::open(args, &params),
        connection: &connection,
        found: Found::default(),
        published: BTreeSet::new(),
        checking: None,
        again: false,
    };
    server.reload(true);
    if !args.no_check {
        server.check();
    }
    let ended = server.serve();
    drop(connection);
    ended.map_err(|error| failed(&error))?;
    threads.join().map_err(|error| failed(&error))?;
    Ok(ExitCode::SUCCESS)
}

fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(
            TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::NONE),
                save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions {
                    include_text: Some(false),
                })),
                ..TextDocumentSyncOptions::default()
            },
        )),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        code_action_provider: Some(CodeActionProviderCapability::Simple(true)),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: vec![actions::ADD_TO_BASELINE.to_owned()],
            ..ExecuteCommandOptions::default()
        }),
        ..ServerCapabilities::default()
    }
}

struct Server<'a> {
    workspace: Workspace,
    connection: &'a Connection,
    found: Found,
    /// Files that have diagnostics in the editor.
    published: BTreeSet<String>,
    /// What a check that goes on will yield.
    checking: Option<crossbeam::Receiver<workspace::Checked>>,
    /// Something was saved while a check went on.
    again: bool,
}

use crossbeam_channel as crossbeam;

impl Server<'_> {
    fn serve(&mut self) -> Result<(), lsp_server::ProtocolError> {
        loop {
            let never = crossbeam::never();
            let checked = self.checking.as_ref().unwrap_or(&never);
            crossbeam::select! {
                recv(self.connection.receiver) -> message => match message {
                    Ok(Message::Request(request)) => {
                        if self.connection.handle_shutdown(&request)? {
                            return Ok(());
                        }
                        self.request(request);
                    }
                    Ok(Message::Notification(note)) => self.notification(&note),
                    Ok(Message::Response(_)) => {}
                    // The editor is gone.
                    Err(_) => return Ok(()),
                },
                recv(checked) -> checked => {
                    self.checking = None;
                    match checked {
                        Ok(Ok(document)) => {
                            self.found.checked = document;
                            self.publish();
                        }
                        Ok(Err(why)) => self.say(MessageType::WARNING, &why),
                        Err(_) => {}
                    }
                    if std::mem::take(&mut self.again) {
                        self.check();
                    }
                }
            }
        }
    }

    fn notification(&mut self, note: &Notification) {
        match note.method.as_str() {
            told::DidSaveTextDocument::METHOD => {
                self.reload(false);
                self.check();
            }
            told::DidChangeWatchedFiles::METHOD => self.reload(true),
            told::DidOpenTextDocument::METHOD => self.reload(false),
            _ => {}
        }
    }

    fn request(&mut self, request: Request) {
        let id = request.id.clone();
        let answer = match request.method.as_str() {
            asked::HoverRequest::METHOD => parsed(request.params)
                .map(|params| value(&show::hover(&self.workspace, &self.found, &params))),
            asked::CodeActionRequest::METHOD => parsed(request.params)
                .map(|params| value(&actions::actions(&self.workspace, &self.found, &params))),
            asked::ExecuteCommand::METHOD => parsed(request.params).map(|params| {
                match actions::execute(&self.workspace, &self.found, &params) {
                    Ok(said) => {
                        self.say(MessageType::INFO, &said);
                        self.reload(true);
                    }
                    Err(failure) => self.say(MessageType::ERROR, &failure.to_string()),
                }
                Value::Null
            }),
            other => Err((
                ErrorCode::MethodNotFound,
                format!("untorn does not know {other}"),
            )),
        };
        let response = match answer {
            Ok(value) => Response::new_ok(id, value),
            Err((code, message)) => Response::new_err(id, code as i32, message),
        };
        self.send(Message::Response(response));
    }

    /// Reads saved findings that have changed, or all.
    fn reload(&mut self, all: bool) {
        match self.workspace.saved(all) {
            Ok(Some(document)) => self.found.saved = document,
            Ok(None) => return,
            Err(why) => self.say(MessageType::WARNING, &why),
        }
        self.publish();
    }

    /// Begins a check of the classes, or remembers that another one is wanted.
    fn check(&mut self) {
        if self.checking.is_some() {
            self.again = true;
            return;
        }
        let Some(check) = self.workspace.check() else {
            return;
        };
        let (sender, receiver) = crossbeam::bounded(1);
        self.checking = Some(receiver);
        thread::spawn(move || {
            // The server may have ended.
            sender.send(check()).ok();
        });
    }

    /// Tells the editor of every file that has findings, and of those that have none any more.
    fn publish(&mut self) {
        let baseline = self.workspace.known();
        self.found.leave_out(&baseline);
        let by_file = show::diagnostics(&self.workspace, &self.found);
        let now: BTreeSet<String> = by_file.keys().cloned().collect();
        let mut all: BTreeMap<String, Vec<lsp_types::Diagnostic>> = by_file;
        for gone in self.published.difference(&now) {
            all.insert(gone.clone(), Vec::new());
        }
        for (uri, diagnostics) in all {
            if let Ok(uri) = Uri::from_str(&uri) {
                self.tell::<told::PublishDiagnostics>(PublishDiagnosticsParams {
                    uri,
                    diagnostics,
                    version: None,
                });
            }
        }
        self.published = now;
    }

    fn say(&self, typ: MessageType, message: &str) {
        self.tell::<told::ShowMessage>(ShowMessageParams {
            typ,
            message: format!("Untorn: {message}"),
        });
    }

    fn tell<N: told::Notification>(&self, params: N::Params) {
        let note = Notification::new(N::METHOD.to_owned(), params);
        self.send(Message::Notification(note));
    }

    fn send(&self, message: Message) {
        // An editor that is gone hears nothing.
        self.connection.sender.send(message).ok();
    }
}

fn parsed<T: DeserializeOwned>(params: Value) -> Result<T, (ErrorCode, String)> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

fn value(answer: &impl Serialize) -> Value {
    serde_json::to_value(answer).unwrap_or(Value::Null)
}
