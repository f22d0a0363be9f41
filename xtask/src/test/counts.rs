//! Adds up what the test programs say, from the lines that Rust's test harness prints.
//!
//! A program opens with `running N tests`, prints `test NAME ... OUTCOME` for each and closes with `test result: …`.
//! The closing line is what counts; a program that never gets there has crashed, and the tests it left open count as failed.

use std::fmt;

#[derive(Debug, Default)]
pub struct Counts {
    total: Totals,
    /// The program that is running, between its opening and its closing line.
    open: Option<Program>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
    /// Skipped tests that say why, as `NAME: REASON`.
    pub skips: Vec<String>,
    crashed: u64,
}

#[derive(Debug, Default)]
struct Program {
    announced: u64,
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Counts {
    pub fn see(&mut self, line: &str) {
        if let Some(announced) = announced_tests(line) {
            self.give_up_on_open();
            self.open = Some(Program {
                announced,
                ..Program::default()
            });
        } else if let Some((_, result)) = line.split_once("test result: ") {
            // Searched for anywhere in the line: a test's child may have written the start of it.
            self.total.passed += number_before(result, " passed");
            self.total.failed += number_before(result, " failed");
            self.total.skipped += number_before(result, " ignored");
            self.open = None;
        } else if let Some((name, outcome)) = line
            .strip_prefix("test ")
            .and_then(|test| test.split_once(" ... "))
        {
            self.see_outcome(name, outcome);
        }
    }

    fn see_outcome(&mut self, name: &str, outcome: &str) {
        let Some(open) = &mut self.open else { return };
        if outcome == "ok" {
            open.passed += 1;
        } else if outcome == "FAILED" {
            open.failed += 1;
        } else if outcome == "ignored" {
            open.skipped += 1;
        } else if let Some(reason) = outcome.strip_prefix("ignored, ") {
            open.skipped += 1;
            self.total.skips.push(format!("{name}: {reason}"));
        }
    }

    fn give_up_on_open(&mut self) {
        if let Some(program) = self.open.take() {
            let reported = program.passed + program.failed + program.skipped;
            self.total.passed += program.passed;
            self.total.skipped += program.skipped;
            self.total.failed += program.failed + program.announced.saturating_sub(reported).max(1);
            self.total.crashed += 1;
        }
    }

    pub fn finish(mut self) -> Totals {
        self.give_up_on_open();
        self.total
    }
}

impl Totals {
    /// Why this is not a good run, if it is not.
    pub fn complaints(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        if self.failed > 0 {
            complaints.push(format!("tests: {} failed", self.failed));
        }
        if self.crashed > 0 {
            complaints.push(format!(
                "tests: {} test programs ended before they reported",
                self.crashed
            ));
        }
        let unexplained = self.skipped.saturating_sub(self.skips.len() as u64);
        if unexplained > 0 {
            complaints.push(format!(
                "tests: {unexplained} skipped without a reason (state it: `#[ignore = \"reason\"]`)"
            ));
        }
        if self.passed + self.failed == 0 {
            complaints.push("tests: none ran".to_owned());
        }
        complaints
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        )
    }
}

/// N of `running N tests`.
fn announced_tests(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("running ")?;
    rest.strip_suffix(" tests")
        .or_else(|| rest.strip_suffix(" test"))?
        .parse()
        .ok()
}

fn number_before(text: &str, label: &str) -> u64 {
    let digits = text
        .find(label)
        .map_or("", |end| text[..end].rsplit(' ').next().unwrap_or(""));
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(output: &str) -> Totals {
        let mut counts = Counts::default();
        output
            .lines()
            .for_each(|line| counts.see(line.trim_start()));
        counts.finish()
    }

    #[test]
    fn sums_over_programs_and_doc_tests() {
        let totals = totals(
            "running 2 tests
            test a::b ... ok
            test a::c - should panic ... ok

            test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

            running 1 test
            test crates/model/src/lib.rs - Id (line 12) ... ok
            test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.10s",
        );
        assert_eq!(totals.to_string(), "3 passed, 0 failed, 0 skipped");
        assert!(totals.complaints().is_empty());
    }

    #[test]
    fn a_failure_counts_and_is_complained_about() {
        let totals = totals(
            "running 2 tests
            test a ... FAILED
            test b ... ok
            test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        );
        assert_eq!(totals.to_string(), "1 passed, 1 failed, 0 skipped");
        assert_eq!(totals.complaints(), ["tests: 1 failed"]);
    }

    #[test]
    fn a_skip_needs_a_reason() {
        let totals = totals(
            "running 3 tests
            test a ... ok
            test b ... ignored
            test c ... ignored, needs a second machine ... really
            test result: ok. 1 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        );
        assert_eq!(totals.to_string(), "1 passed, 0 failed, 2 skipped");
        assert_eq!(totals.skips, ["c: needs a second machine ... really"]);
        assert_eq!(totals.complaints().len(), 1, "{:?}", totals.complaints());
        assert!(totals.complaints()[0].contains("1 skipped without a reason"));
    }

    #[test]
    fn a_crash_fails_the_tests_that_never_reported() {
        let totals = totals(
            "running 5 tests
            test a ... ok
            test b ... ignored, slow
            test c ... FAILED
            running 1 test
            test d ... ok
            test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
            running 1 test
            test e ... ok",
        );
        // c failed, two more of the first five never reported, and the last program died after its only test.
        assert_eq!(totals.to_string(), "3 passed, 4 failed, 1 skipped");
        assert!(
            totals
                .complaints()
                .iter()
                .any(|complaint| complaint.contains("2 test programs ended"))
        );
    }

    #[test]
    fn no_test_at_all_is_a_failure() {
        let totals = totals(
            "running 0 tests
            test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        );
        assert_eq!(totals.complaints(), ["tests: none ran"]);
    }

    #[test]
    fn a_result_line_that_follows_stray_output_still_counts() {
        let totals = totals(
            "running 1 test
            stray bytes of a childtest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
        );
        assert_eq!(totals.to_string(), "1 passed, 0 failed, 0 skipped");
        assert!(totals.complaints().is_empty());
    }
}
