//! A thread that is thrown out of a call of the library leaves the library object locked; nobody waits for it for ever.

#![allow(clippy::unwrap_used)]

mod support;

use support::{jdks, watched};
use untorn_channel::Config;
use untorn_channel::config::Tracking;
use untorn_live::watch;
use untorn_trace::Source;

#[test]
fn an_object_that_was_given_up_is_used_on() {
    for jdk in jdks() {
        let mut options = watched(&jdk, &["-Xint"], "OutOfStack", &[]);
        options.config = Config {
            tracking: Tracking::Optimistic,
            ..Config::default()
        };
        let (status, _) = watch(&options, |_, source| {
            let mut batch = Vec::new();
            loop {
                source.fill(&mut batch).unwrap();
                if batch.is_empty() {
                    return;
                }
                batch.clear();
            }
        })
        .unwrap();
        // The program's guard ends it with 7 if it hangs.
        assert!(status.success(), "{status} on {jdk:?}");
    }
}
