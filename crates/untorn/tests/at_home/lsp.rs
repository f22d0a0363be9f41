//! The language server, asked by a client of the protocol over its standard input and output.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use lsp_server::{Message, Notification, Request};
use lsp_types::{CodeAction, Diagnostic, DiagnosticSeverity, Hover, InitializeResult};
use serde_json::{Value, json};

use crate::program::Program;

/// The machine may be busy; a server that needs longer is broken.
const PATIENCE: Duration = Duration::from_mins(2);

const TILL: &str = r"package shop;

public class Till {
    private int sum;

    public synchronized int sum() {
        return sum;
    }

    private synchronized void set(int to) {
        sum = to;
    }

    public void add(int amount) {
        set(sum() + amount);
    }
}
";

/// An editor.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Message>,
    last: i32,
    /// What the server has said of each file.
    diagnostics: BTreeMap<String, Vec<Diagnostic>>,
    said: Vec<String>,
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Client {
    fn start(root: &Path, arguments: &[&str]) -> Self {
        let mut child = Program::command()
            .arg("lsp")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            while let Ok(Some(message)) = Message::read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut client = Self {
            child,
            input,
            messages,
            last: 0,
            diagnostics: BTreeMap::new(),
            said: Vec::new(),
        };
        let answer = client.request(
            "initialize",
            json!({
                "processId": std::process::id(),
                "capabilities": {},
                "rootUri": uri(root),
                "workspaceFolders": [{ "uri": uri(root), "name": "shop" }],
            }),
        );
        let capabilities: InitializeResult = serde_json::from_value(answer).unwrap();
        assert!(capabilities.capabilities.hover_provider.is_some());
        client.notify("initialized", json!({}));
        client
    }

    fn send(&mut self, message: &Message) {
        message.write(self.input.as_mut().unwrap()).unwrap();
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(&Message::Notification(Notification::new(
            method.to_owned(),
            params,
        )));
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last.into();
        self.send(&Message::Request(Request::new(
            id,
            method.to_owned(),
            params,
        )));
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Message::Response(response) = self.next(deadline)
                && response.id == self.last.into()
            {
                return (response.response_result)
                    .unwrap_or_else(|error| panic!("{method}: {error:?}"));
            }
        }
    }

    fn next(&mut self, deadline: Instant) -> Message {
        let left = deadline.saturating_duration_since(Instant::now());
        let message = self.messages.recv_timeout(left).unwrap();
        if let Message::Notification(note) = &message {
            match note.method.as_str() {
                "textDocument/publishDiagnostics" => {
                    let uri = note.params["uri"].as_str().unwrap().to_owned();
                    let all = serde_json::from_value(note.params["diagnostics"].clone()).unwrap();
                    self.diagnostics.insert(uri, all);
                }
                "window/showMessage" => {
                    let text = note.params["message"].as_str().unwrap();
                    self.said.push(text.to_owned());
                }
                _ => {}
            }
        }
        message
    }

    /// Reads on until the diagnostics of a file are so many.
    fn diagnostics_of(&mut self, uri: &str, count: usize) -> Vec<Diagnostic> {
        let deadline = Instant::now() + PATIENCE;
        while self.diagnostics.get(uri).map_or(0, Vec::len) != count {
            self.next(deadline);
        }
        self.diagnostics.get(uri).cloned().unwrap_or_default()
    }
}

fn uri(path: &Path) -> String {
    url::Url::from_file_path(path.canonicalize().unwrap())
        .unwrap()
        .into()
}

/// A project as Maven lays it out, compiled.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("src/main/java/shop/Till.java");
    std::fs::create_dir_all(source.parent().unwrap()).unwrap();
    std::fs::write(&source, TILL).unwrap();
    let classes = folder.path().join("target/classes");
    std::fs::create_dir_all(&classes).unwrap();
    let compiled = std::process::Command::new("javac")
        .args(["-g", "-d"])
        .arg(&classes)
        .arg(&source)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{compiled:?}");
    folder
}

/// Two threads in one method, as a run recorded them.
const TRACE: &str = "\
A|begin(shop.Till.add)|Till.java:14
A|r(shop.Till@1.sum)|Till.java:15
B|begin(shop.Till.add)|Till.java:14
B|r(shop.Till@1.sum)|Till.java:15
B|w(shop.Till@1.sum)|Till.java:15
B|end(shop.Till.add)|Till.java:16
A|w(shop.Till@1.sum)|Till.java:15
A|end(shop.Till.add)|Till.java:16
";

#[test]
fn an_editor_shows_saved_findings_their_interleaving_and_what_can_be_done() {
    let project = project();
    let root = project.path();
    let source = root.join("src/main/java/shop/Till.java");
    std::fs::write(root.join("run.std"), TRACE).unwrap();
    let path = |name: &str| root.join(name).to_str().unwrap().to_owned();
    let saved = Program::untorn(&[
        "analyze",
        &path("run.std"),
        "--exit-zero",
        "-o",
        &path("untorn.json"),
    ]);
    assert!(saved.status.success(), "{saved:?}");
    let file = uri(&source);
    let mut client = Client::start(root, &["--no-check"]);
    let shown = client.diagnostics_of(&file, 1);
    let first = &shown[0];
    assert_eq!(first.source.as_deref(), Some("untorn"));
    assert!(first.message.contains("add"), "{}", first.message);
    assert!(
        first
            .severity
            .is_some_and(|level| level <= DiagnosticSeverity::WARNING)
    );
    let related = first.related_information.as_ref().unwrap();
    let lines: Vec<u32> = related
        .iter()
        .map(|it| it.location.range.start.line + 1)
        .collect();
    assert!(related.len() >= 3 && lines.contains(&15), "{related:?}");
    assert!(related.iter().all(|it| it.location.uri.as_str() == file));

    let at = |line: u32| json!({ "textDocument": { "uri": file }, "position": { "line": line - 1, "character": 9 } });
    let hover: Option<Hover> =
        serde_json::from_value(client.request("textDocument/hover", at(15))).unwrap();
    let text = serde_json::to_string(&hover.unwrap().contents).unwrap();
    assert!(
        text.contains("read") && text.contains("write") && text.contains("(3)"),
        "{text}"
    );
    assert_eq!(client.request("textDocument/hover", at(1)), Value::Null);

    let range = json!({ "start": { "line": first.range.start.line, "character": 0 }, "end": { "line": first.range.start.line, "character": 3 } });
    let asked = json!({ "textDocument": { "uri": file }, "range": range, "context": { "diagnostics": [] } });
    let actions: Vec<CodeAction> =
        serde_json::from_value(client.request("textDocument/codeAction", asked)).unwrap();
    let baseline = actions
        .iter()
        .find_map(|action| action.command.clone())
        .unwrap();
    client.request(
        "workspace/executeCommand",
        json!({ "command": baseline.command, "arguments": baseline.arguments }),
    );
    client.diagnostics_of(&file, 0);
    assert!(root.join("untorn-baseline.json").exists());
    assert!(
        client
            .said
            .iter()
            .any(|text| text.contains("untorn-baseline.json"))
    );
    assert_eq!(client.request("shutdown", Value::Null), Value::Null);
    client.notify("exit", Value::Null);
    drop(client.input.take());
    assert!(client.child.wait().unwrap().success());
}

#[test]
fn what_is_saved_is_checked_and_the_offered_annotation_suppresses() {
    let project = project();
    let root = project.path();
    let source = root.join("src/main/java/shop/Till.java");
    let file = uri(&source);
    let mut client = Client::start(root, &[]);
    let shown = client.diagnostics_of(&file, 1);
    let line = shown[0].range.start.line;
    let asked = json!({
        "textDocument": { "uri": file },
        "range": { "start": { "line": line, "character": 0 }, "end": { "line": line, "character": 1 } },
        "context": { "diagnostics": [] },
    });
    let actions: Vec<CodeAction> =
        serde_json::from_value(client.request("textDocument/codeAction", asked)).unwrap();
    let edit = actions
        .iter()
        .find_map(|action| action.edit.clone())
        .unwrap();
    let edits = serde_json::to_value(edit).unwrap()["changes"][&file].clone();
    let (at, text) = (
        &edits[0]["range"]["start"],
        edits[0]["newText"].as_str().unwrap(),
    );
    let mut lines: Vec<String> = TILL.lines().map(str::to_owned).collect();
    let (row, column) = (
        at["line"].as_u64().unwrap(),
        at["character"].as_u64().unwrap(),
    );
    lines[row as usize].insert_str(column as usize, text);
    let changed = lines.join("\n") + "\n";
    assert!(
        changed.contains("    @SuppressWarnings(\"untorn\")\n    public void add"),
        "{changed}"
    );
    std::fs::write(&source, changed).unwrap();
    client.notify(
        "textDocument/didSave",
        json!({ "textDocument": { "uri": file } }),
    );
    client.diagnostics_of(&file, 0);
}
