//! `untorn status`: what runs that go on have found so far.

use std::process::ExitCode;

use crate::cli::StatusArgs;
use crate::duration::words;
use crate::failure::Failure;
use crate::interim::door;
use crate::output::{deliver, note};

pub fn run(args: &StatusArgs) -> Result<ExitCode, Failure> {
    let pid = match (args.pid, door::runs()?.as_slice()) {
        (Some(pid), runs) if runs.contains(&pid) => pid,
        (Some(pid), _) => {
            return Err(Failure::Usage(format!(
                "no untorn run of yours has the process id {pid}; name the process of untorn, not that of the program"
            )));
        }
        (None, [only]) => *only,
        (None, []) => return Err(Failure::Usage("no untorn run of yours goes on".to_owned())),
        (None, several) => {
            let ids: Vec<String> = several.iter().map(u32::to_string).collect();
            return Err(Failure::Usage(format!(
                "several runs go on, name one: {}",
                ids.join(", ")
            )));
        }
    };
    let answer = door::ask(pid)?;
    note(&format!(
        "{}, process {pid}, running for {}: findings so far; the program goes on",
        answer.command,
        words(answer.running)
    ));
    answer.notes.iter().for_each(|text| note(text));
    deliver(&answer.document, &args.output)
}
