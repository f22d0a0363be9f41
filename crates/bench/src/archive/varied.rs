//! Findings for an archive: a hundred torn regions, each with an order of accesses of its own, and no two occurrences alike.
//!
//! The same defect of a program is found in many runs, at the same lines; threads, objects, numbers of events and how much else went on in between differ each time.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

/// Xorshift: the same findings every time.
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new() -> Self {
        Self(88_172_645_463_325_252)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}

/// A document without findings as `untorn analyze` writes it, and a finding for each of so many regions.
pub fn findings(
    untorn: &Path,
    folder: &Path,
    regions: usize,
) -> Result<(Value, Vec<Value>), Box<dyn Error>> {
    let trace = folder.join("torn.std");
    let mut dice = Dice::new();
    let mut text = String::new();
    for region in 0..regions {
        episode(&mut text, region, &mut dice)?;
    }
    fs::write(&trace, text)?;
    let output = Command::new(untorn)
        .args(["analyze", "--format", "json", "--exit-zero"])
        .arg(&trace)
        .output()?;
    let mut document: Value = serde_json::from_slice(&output.stdout)?;
    let all = document["findings"].take();
    let of = |region: usize| {
        let name = format!("step{region}");
        let mut all = all.as_array().into_iter().flatten();
        let found = all.find(|finding| finding["region"]["method"] == name.as_str());
        found.cloned().ok_or(format!("{name} is not torn"))
    };
    let findings = (0..regions).map(of).collect::<Result<_, _>>()?;
    Ok((document, findings))
}

/// A region that reads some fields under one lock and writes another under a second one, with what others do in between.
fn episode(text: &mut String, region: usize, dice: &mut Dice) -> std::fmt::Result {
    let line = 10 + dice.below(400);
    let file = format!("Cart{}.java", region / 4);
    let (first, second) = (format!("thread-a{region}-"), format!("thread-b{region}-"));
    let fields: Vec<String> = (0..2 + dice.below(5))
        .map(|field| format!("object{region}.field{field}"))
        .collect();
    let mut event = |thread: &str, what: &str, at: usize| {
        writeln!(text, "{thread}|{what}|{file}:{}", line + at)
    };
    event(&first, &format!("begin(step{region})"), 0)?;
    event(&first, &format!("acq(object{region})"), 1)?;
    for (at, field) in fields.iter().enumerate() {
        event(&first, &format!("r({field})"), 2 + at)?;
        if dice.below(3) == 0 {
            event(&first, &format!("w({field})"), 3 + at)?;
        }
    }
    event(&first, &format!("rel(object{region})"), 9)?;
    // A chain of one to three others leads back into the region.
    let others = 1 + dice.below(3);
    for other in 0..others {
        let thread = format!("{second}{other}");
        let from = &fields[dice.below(fields.len())];
        event(&thread, &format!("begin(other{region})"), 20)?;
        event(&thread, &format!("acq(object{region})"), 21)?;
        for _ in 0..=dice.below(4) {
            event(&thread, &format!("r({from})"), 22 + dice.below(5))?;
        }
        event(&thread, &format!("w({})", fields[0]), 28)?;
        event(&thread, &format!("w({})", fields[1]), 29)?;
        event(&thread, &format!("rel(object{region})"), 30)?;
        event(&thread, &format!("end(other{region})"), 31)?;
    }
    event(&first, &format!("acq(object{region})"), 10)?;
    event(&first, &format!("r({})", fields[0]), 11)?;
    event(&first, &format!("w({})", fields[1]), 12)?;
    event(&first, &format!("rel(object{region})"), 13)?;
    event(&first, &format!("end(step{region})"), 14)
}

/// A finding as another run has it: other threads, other objects, other places in the run.
pub fn vary(finding: &Value, region: usize, dice: &mut Dice) -> Result<Value, Box<dyn Error>> {
    let mut text = finding.to_string();
    for thread in ["a", "b"] {
        let name = format!("http-nio-{}-exec-{}", 8080 + dice.below(4), dice.below(200));
        text = text.replace(&format!("thread-{thread}{region}-"), &name);
    }
    let object = format!("shop.Order@{:x}.", dice.below(1 << 28));
    text = text.replace(&format!("object{region}."), &object);
    let mut finding: Value = serde_json::from_str(&text)?;
    let begun = dice.below(5_000_000) as u64;
    move_events(&mut finding["evidence"], begun, dice);
    finding["executions"] = json!({ "torn": 1 + dice.below(20), "of": 1000 + dice.below(5000) });
    finding["occurrences"] = json!(1 + dice.below(20));
    Ok(finding)
}

/// Moves numbers of events: what lay side by side in the small trace has others between.
fn move_events(value: &mut Value, begun: u64, dice: &mut Dice) {
    match value {
        Value::Array(all) => {
            let mut at = begun;
            for one in all {
                at += dice.below(400) as u64;
                move_events(one, at, dice);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                match field.as_u64() {
                    Some(number) if ["event", "begin", "end"].contains(&name.as_str()) => {
                        *field = json!(begun + number);
                    }
                    _ => move_events(field, begun, dice),
                }
            }
        }
        _ => {}
    }
}
