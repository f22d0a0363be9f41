//! Classes link under the agent if they do without it.

#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::process::Command;

use support::{jdks, version, watched};
use untorn_channel::Config;
use untorn_channel::config::Tracking;
use untorn_live::watch;

/// It refers to a class that is not there, and never needs it.
const OPTIONAL: &str = "
public class Optional {
    static boolean present = false;

    static int go(int i) {
        if (present) {
            Missing[] all = new Missing[1];
            all[i] = null;
            Missing one = all[i];
            synchronized (one) {
                all[i] = one;
            }
        }
        String[] texts = {\"a\", \"b\"};
        texts[i] = \"c\";
        return texts[i].length();
    }

    public static void main(String[] arguments) {
        if (go(1) != 1) throw new AssertionError();
    }
}

class Missing {}
";

/// The last version whose types the verifier finds out by itself, loading what it must compare.
const INFERRED: u8 = 49;

#[test]
fn an_old_class_that_refers_to_a_missing_one_links() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("Optional.java");
    fs::write(&source, OPTIONAL).unwrap();
    let oldest = jdks().into_iter().min_by_key(|jdk| version(jdk)).unwrap();
    let compiled = Command::new(oldest.join("bin/javac"))
        .args(["--release", "8", "-Xlint:-options", "-d"])
        .args([folder.path(), &source])
        .status()
        .unwrap();
    assert!(compiled.success());
    fs::remove_file(folder.path().join("Missing.class")).unwrap();
    let class = folder.path().join("Optional.class");
    let mut bytes = fs::read(&class).unwrap();
    bytes[7] = INFERRED;
    fs::write(&class, bytes).unwrap();
    for jdk in jdks() {
        for tracking in [Tracking::Optimistic, Tracking::Pessimistic] {
            let mut options = watched(&jdk, &[], "Optional", &[]);
            let classes = options.command.len() - 2;
            options.command[classes] = folder.path().into();
            options.config = Config {
                arrays: true,
                tracking,
                ..Config::default()
            };
            let (status, _) = watch(&options, |_, _| ()).unwrap();
            assert!(status.success(), "{status} on {}", jdk.display());
        }
    }
}
