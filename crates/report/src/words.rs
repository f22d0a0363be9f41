//! Findings in plain words: the headline, and what a step does.

use untorn_findings::{Finding, Interleaving, Level, Place, Rank, Region, Step, Verdict};

/// How many of the steps that came between are named.
const NAMED_BETWEEN: usize = 3;

/// One sentence that says what is torn, by which accesses, and who came between.
///
/// Made from the recorded order where there is one; otherwise the sentence of the analysis.
pub fn headline(finding: &Finding) -> String {
    let torn = (finding.evidence.interleavings.iter())
        .find_map(|interleaving| torn_sentence(finding, interleaving));
    torn.unwrap_or_else(|| sentence(&short_words(&finding.message)))
}

fn torn_sentence(finding: &Finding, interleaving: &Interleaving) -> Option<String> {
    let (leaves, enters) = torn_steps(interleaving)?;
    let region = &finding.region;
    let torn = match finding.verdict {
        Verdict::Observed | Verdict::Reproduced => "was torn",
        Verdict::Suspected | Verdict::Unproved => "can be torn",
    };
    let mut acts: Vec<Act<'_>> = Vec::new();
    for step in between(interleaving, leaves, enters) {
        let same = step.target == leaves.target && step.target == enters.target;
        let target = if same {
            "it".to_owned()
        } else {
            short(&step.target)
        };
        Act::add(&mut acts, &step.thread, verb(step), target);
    }
    let others = acts_text(&acts);
    if others.is_empty() {
        return None;
    }
    let second = if enters.target != leaves.target {
        format!("{} is {}", short(&enters.target), done(enters))
    } else if enters.op == leaves.op {
        "again".to_owned()
    } else {
        done(enters)
    };
    Some(format!(
        "{} {torn}: {} is {}{} and {second}{}, and {} in between.",
        region.short_name(),
        short(&leaves.target),
        done(leaves),
        at(leaves, region),
        at(enters, region),
        others,
    ))
}

/// What a thread did, in a row: some verbs on some locations.
struct Act<'a> {
    thread: &'a str,
    verbs: Vec<String>,
    targets: Vec<String>,
}

impl<'a> Act<'a> {
    /// Adds to the last act where the sentence stays true: one verb on several locations, or several on one.
    fn add(acts: &mut Vec<Self>, thread: &'a str, verb: String, target: String) {
        if let Some(last) = acts.last_mut()
            && last.thread == thread
        {
            if last.verbs == [verb.as_str()] {
                if !last.targets.contains(&target) {
                    last.targets.push(target);
                }
                return;
            }
            if last.targets == [target.as_str()] {
                if !last.verbs.contains(&verb) {
                    last.verbs.push(verb);
                }
                return;
            }
        }
        acts.push(Self {
            thread,
            verbs: vec![verb],
            targets: vec![target],
        });
    }
}

/// `thread auditor reads a and b`, `thread A reads and writes a, then thread B writes it`; the first few of them.
fn acts_text(acts: &[Act<'_>]) -> String {
    let mut text = String::new();
    let mut thread = "";
    for act in acts.iter().take(NAMED_BETWEEN) {
        let mut targets = act.targets.clone();
        if targets.len() > NAMED_BETWEEN {
            let more = targets.len() - NAMED_BETWEEN;
            targets.truncate(NAMED_BETWEEN);
            targets.push(format!("{more} more"));
        }
        let does = format!("{} {}", enumeration(&act.verbs), enumeration(&targets));
        if act.thread == thread {
            text.push_str(&format!(" and {does}"));
        } else {
            let then = if thread.is_empty() { "" } else { ", then " };
            text.push_str(&format!("{then}thread {} {does}", act.thread));
            thread = act.thread;
        }
    }
    if acts.len() > NAMED_BETWEEN {
        text.push_str(", and more,");
    }
    text
}

/// The steps at which the path leaves the blamed region and enters it again.
pub fn torn_steps(interleaving: &Interleaving) -> Option<(&Step, &Step)> {
    let (from, to) = interleaving.torn?;
    let step = |n| interleaving.steps.iter().find(|step| step.n == n);
    step(from).zip(step(to))
}

/// What other threads did between two steps of one.
pub fn between<'a>(
    interleaving: &'a Interleaving,
    from: &'a Step,
    to: &'a Step,
) -> impl Iterator<Item = &'a Step> {
    (interleaving.steps.iter())
        .filter(move |step| step.n > from.n && step.n < to.n && step.thread != from.thread)
}

/// `read balance`, as a step is labelled in tables.
pub fn label(step: &Step) -> String {
    format!("{} {}", step.op, short(&step.target))
}

/// `reads`, before the name of what it concerns.
fn verb(step: &Step) -> String {
    let op = step.op.as_str();
    let word = match op.strip_prefix("volatile ").unwrap_or(op) {
        "read" => "reads",
        "write" => "writes",
        "update" => "updates",
        "acquire" | "acquire shared" => "takes",
        "release" | "release shared" => "releases",
        "fork" => "starts",
        "join" => "awaits",
        other => return format!("does {other} of"),
    };
    word.to_owned()
}

/// `read`, after the name of what is.
fn done(step: &Step) -> String {
    let op = step.op.as_str();
    let word = match op.strip_prefix("volatile ").unwrap_or(op) {
        "read" => "read",
        "write" => "written",
        "update" => "updated",
        "acquire" | "acquire shared" => "taken",
        "release" | "release shared" => "given up",
        "fork" => "started",
        "join" => "awaited",
        other => return format!("used by {other}"),
    };
    word.to_owned()
}

/// ` at line 12` in the region's own file, ` at File.java:12` elsewhere, nothing where no place is known.
fn at(step: &Step, region: &Region) -> String {
    // The line to repair is in the region, not in what it calls.
    let Some(place) = step.within.as_ref().or(step.place.as_ref()) else {
        return String::new();
    };
    match place.line {
        Some(line) if place.file.is_some() && place.file == region.file => {
            format!(" at line {line}")
        }
        _ => place_text(place).map_or_else(String::new, |text| format!(" at {text}")),
    }
}

/// `File.java:12`, or nothing where no file is known.
pub fn place_text(place: &Place) -> Option<String> {
    let file = place.file.as_ref()?;
    Some(match place.line {
        Some(line) => format!("{file}:{line}"),
        None => file.clone(),
    })
}

/// A location without the package of its object's class: `Account@7.balance` for `bank.Account@7.balance`.
///
/// A lock with its expression keeps that: `account (Account@m3)` for `account (bank.Account@m3)`.
pub fn short(target: &str) -> String {
    if let Some((before, rest)) = target.split_once('(')
        && !before.contains('@')
    {
        return format!("{before}({}", short(rest));
    }
    match target.split_once('@') {
        Some((class, rest)) if !class.contains(char::is_whitespace) => {
            let simple = class.rsplit('.').next().unwrap_or(class);
            format!("{simple}@{rest}")
        }
        _ => target.to_owned(),
    }
}

/// What a lock is called in advice: as the source calls it, if that is known.
pub fn spoken(lock: &str) -> String {
    match lock.split_once(" (") {
        Some((expression, _)) => expression.to_owned(),
        None => short(lock),
    }
}

/// A sentence with every location in it shortened.
pub fn short_words(text: &str) -> String {
    let words: Vec<String> = text.split(' ').map(short).collect();
    words.join(" ")
}

/// A text in which methods have no package and no descriptor: `calls Account.balance` for `calls bank.Account.balance()J`.
pub fn plain_names(text: &str) -> String {
    let plain = |word: &str| match word.split_once('(') {
        Some((name, _)) if name.contains('.') => {
            let mut parts: Vec<&str> = name.rsplit(['.', '/']).take(2).collect();
            parts.reverse();
            parts.join(".")
        }
        _ => word.to_owned(),
    };
    let words: Vec<String> = text.split(' ').map(plain).collect();
    words.join(" ")
}

/// ` at File.java:12`, or nothing.
pub fn at_place(place: Option<&Place>) -> String {
    place
        .and_then(place_text)
        .map_or_else(String::new, |text| format!(" at {text}"))
}

/// `a, b and c`.
pub fn enumeration(names: &[String]) -> String {
    match names.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// The text with a full stop at its end.
pub fn sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() || text.ends_with(['.', '!', '?']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}

/// `1 finding`, `2 findings`.
pub fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// `observed`, `suspected` and their kin.
pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced => "reproduced",
        Verdict::Observed => "observed",
        Verdict::Suspected => "suspected",
        Verdict::Unproved => "unproved",
    }
}

/// How many findings there are of each verdict that occurs, the strongest first: `1 observed, 2 suspected`.
pub fn verdict_counts(findings: &[Finding]) -> String {
    let counts: Vec<String> = [
        Verdict::Reproduced,
        Verdict::Observed,
        Verdict::Suspected,
        Verdict::Unproved,
    ]
    .into_iter()
    .map(|of| (of, findings.iter().filter(|f| f.verdict == of).count()))
    // Of the two that every report is about, none is worth saying.
    .filter(|(of, n)| *n > 0 || matches!(of, Verdict::Observed | Verdict::Suspected))
    .map(|(of, n)| format!("{n} {}", verdict(of)))
    .collect();
    counts.join(", ")
}

/// `high`, `medium` or `low`.
pub fn level(level: Level) -> &'static str {
    match level {
        Level::High => "high",
        Level::Medium => "medium",
        Level::Low => "low",
    }
}

/// `low, double-checked locking: what was read …`, or `high: lost update …; it happened …`.
pub fn rank(rank: &Rank) -> String {
    let idiom = rank.idiom.as_ref();
    let idiom = idiom.map_or_else(String::new, |idiom| format!(", {idiom}"));
    let reasons: Vec<String> = rank.reasons.iter().map(|why| short_words(why)).collect();
    sentence(&format!(
        "{}{idiom}: {}",
        level(rank.level),
        reasons.join("; ")
    ))
}

/// How often the region was seen torn, and of how many executions; nothing where once is all there is to say, or where no exact checker counted.
pub fn frequency(finding: &Finding) -> Option<String> {
    match finding.executions {
        Some(executions) if executions.torn > 0 && executions.of > 1 => Some(format!(
            "torn {} of {} executions",
            grouped(executions.torn),
            grouped(executions.of)
        )),
        // What the others count is suspicion, and nothing that anybody has seen.
        _ if finding.occurrences > 1 && !finding.evidence.interleavings.is_empty() => {
            Some(format!("{} times", grouped(finding.occurrences)))
        }
        _ => None,
    }
}

/// The other regions that the cause spoils: how many, and the first few.
pub fn affected(finding: &Finding) -> Option<String> {
    const SHOWN: usize = 3;
    if finding.affected.is_empty() {
        return None;
    }
    let all = finding.affected.len();
    let mut names: Vec<String> = (finding.affected.iter().take(SHOWN))
        .map(Region::short_name)
        .collect();
    if all > SHOWN {
        names.push(format!("{} more", all - SHOWN));
    }
    Some(format!(
        "{}: {}",
        count(all, "other region"),
        enumeration(&names)
    ))
}

/// A number with commas between its thousands.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Where a step is: `BankService.java:34 → Account.java:14` if it lies in something that the torn region calls.
pub fn step_place(step: &Step) -> Option<String> {
    let place = step.place.as_ref().and_then(place_text);
    match (step.within.as_ref().and_then(place_text), place) {
        (Some(within), Some(place)) => Some(format!("{within} → {place}")),
        (within, place) => within.or(place),
    }
}

/// The package of the region's class; nothing for the label of a text trace.
pub fn package(region: &Region) -> Option<&str> {
    let class = region.class.as_deref()?;
    Some(class.rsplit_once('.').map_or("", |(package, _)| package))
}
