//! What goes wrong around the program does not go wrong in it: no disk, no memory.

use std::path::Path;
use std::process::{Command, Output};

use untorn_jdk::Jdk;

use crate::soak;
use crate::watching::{agent, limited, untorn};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs the soak for two seconds: long enough to fill what is small.
fn finish(mut command: Command) -> Output {
    let run = command
        .args(["-cp", &soak::classes(), "Soak", "2"])
        .output()
        .unwrap();
    assert_eq!(text(&run.stdout), "lost 0\n", "{run:?}");
    run
}

/// The device on which every write finds no space.
const FULL: &str = "/dev/full";

#[test]
fn a_full_disk_stops_the_recording_and_not_the_program() {
    for jdk in Jdk::for_tests() {
        let mut record = limited(&untorn());
        record
            .args(["record", "-o", FULL, "--"])
            .arg(jdk.tool("java"));
        let run = finish(record);
        // The recording failed, whatever became of the program.
        assert_eq!(run.status.code(), Some(2), "{run:?}");
        let said = text(&run.stderr);
        assert!(
            said.contains("untorn: /dev/full: No space left on device"),
            "{said}"
        );

        let mut alone = limited(&jdk.tool("java"));
        alone.arg(format!("-agentpath:{}=out={FULL}", agent().display()));
        let run = finish(alone);
        assert_eq!(run.status.code(), Some(0), "{run:?}");
        let said = text(&run.stderr);
        assert!(
            said.contains("untorn: /dev/full: No space left on device"),
            "{said}"
        );
    }
}

#[test]
fn without_memory_to_share_the_program_runs_unwatched_and_untorn_says_why() {
    let jdk = Jdk::for_tests().remove(0);
    // The limit is untorn's alone: the shell that it starts lifts it again.
    let script =
        r#"ulimit -Sv 500000; exec "$0" run -- sh -c 'ulimit -Sv unlimited; exec "$0" "$@"' "$@""#;
    let mut shell = limited(Path::new("sh"));
    shell
        .args(["-c", script])
        .arg(untorn())
        .arg(jdk.tool("java"));
    let run = finish(shell);
    assert_eq!(run.status.code(), Some(2), "{run:?}");
    let said = text(&run.stderr);
    assert!(said.contains("memory"), "{said}");
    assert!(said.contains("the program runs unwatched"), "{said}");
    assert!(!said.contains("does it run java?"), "{said}");
}
