//! What the source calls the locks of the evidence: `account` of `synchronized (account)`.
//!
//! A run knows a lock by its class and a number, a reader by the expression at the line.
//! Both are said, since one expression may stand for several objects; where it is not clear which expression is which lock, the number stays alone.

use untorn_findings::{Finding, Place, Region, Step};

use crate::Code;
use crate::code::RegionBody;
use crate::sections::{self, Expression};

/// Says of each lock that a step of the evidence names how the source calls it there.
pub fn fill_in(finding: &mut Finding, code: &Code) {
    let orders = finding.evidence.interleavings.iter_mut();
    for step in orders.flat_map(|order| &mut order.steps) {
        of_step(step, code);
    }
    for reduction in &mut finding.evidence.reductions {
        for step in [
            &mut reduction.entry,
            &mut reduction.commit,
            &mut reduction.violation,
        ] {
            of_step(step, code);
        }
    }
}

fn of_step(step: &mut Step, code: &Code) {
    let is_lock_step = matches!(
        step.op.split(' ').next(),
        Some("acquire" | "release" | "wait" | "wake" | "notify")
    );
    if step.locks.is_empty() && !is_lock_step {
        return;
    }
    let Some((body, line)) = step.place.as_ref().and_then(|place| at(place, code)) else {
        return;
    };
    let known = known(&body, line, &step.locks);
    if let Some(known) = &known {
        let named: Vec<Option<String>> = (step.locks.iter())
            .map(|lock| expression_of(lock, &step.locks, known).map(str::to_owned))
            .collect();
        for (lock, text) in step.locks.iter_mut().zip(named) {
            if let Some(text) = text {
                *lock = format!("{text} ({lock})");
            }
        }
    }
    if is_lock_step && !step.target.contains(' ') {
        let mut taken: Vec<_> = body
            .at_line(line)
            .filter_map(|id| sections::named(&body, id))
            .filter(|expression| may_be(&step.target, expression))
            .map(|expression| expression.text)
            .collect();
        taken.dedup();
        if let [text] = taken.as_slice() {
            step.target = format!("{text} ({})", step.target);
        }
    }
}

fn at<'a>(place: &Place, code: &'a Code) -> Option<(RegionBody<'a>, u32)> {
    let region = Region {
        class: place.class.clone(),
        method: place.method.clone()?,
        ..Region::default()
    };
    Some((code.region(&region)?, place.line?))
}

/// The expressions of the locks that the method itself holds at a line, if they are the same for all of the line that holds as many as were recorded.
fn known(body: &RegionBody<'_>, line: u32, locks: &[String]) -> Option<Vec<Expression>> {
    let mut all = body
        .at_line(line)
        .map(|id| sections::expressions(body, id))
        .filter(|held| !held.is_empty() && held.len() <= locks.len());
    let known: Vec<Expression> = all.next()?.into_iter().collect::<Option<_>>()?;
    let same = all.all(|held| {
        held.len() == known.len()
            && (held.iter().zip(&known)).all(|(a, b)| a.as_ref().is_some_and(|a| a.text == b.text))
    });
    same.then_some(known)
}

/// The one expression that a lock can be, if no other lock can be that, unless the lock has one already.
fn expression_of<'a>(lock: &str, locks: &[String], known: &'a [Expression]) -> Option<&'a str> {
    if lock.contains(' ') {
        return None;
    }
    let mut fitting = known.iter().filter(|expression| may_be(lock, expression));
    let only = fitting.next()?;
    let others = locks.iter().filter(|other| may_be(other, only)).count();
    (fitting.next().is_none() && others == 1).then_some(only.text.as_str())
}

/// Whether an object, by the name of its class and a number, may be what an expression of that class stands for.
fn may_be(lock: &str, expression: &Expression) -> bool {
    const LOCKS: &str = "java.util.concurrent.locks.";
    let class = lock.split_once('@').map_or(lock, |(class, _)| class);
    let declared = expression.class.replace('/', ".");
    // Interfaces of locks stand for any lock.
    declared == class || declared.starts_with(LOCKS) && class.starts_with(LOCKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expression(text: &str, class: &str) -> Expression {
        Expression {
            text: text.to_owned(),
            class: class.to_owned(),
        }
    }

    #[test]
    fn a_lock_is_the_only_expression_of_its_class() {
        let known = [
            expression("account", "bank/Account"),
            expression("LOG", "bank/Log"),
        ];
        let of = |lock: &str, others: &[&str]| {
            let mut locks: Vec<String> = others.iter().map(|&other| other.to_owned()).collect();
            locks.push(lock.to_owned());
            expression_of(lock, &locks, &known).map(str::to_owned)
        };
        assert_eq!(
            of("bank.Account@m3", &["bank.Log@m1"]).as_deref(),
            Some("account")
        );
        assert_eq!(of("bank.Other@m3", &[]), None);
        assert_eq!(of("account (bank.Account@m3)", &[]), None);
        // The caller may hold another account.
        assert_eq!(of("bank.Account@m3", &["bank.Account@m4"]), None);
    }
}
