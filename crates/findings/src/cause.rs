//! Which findings have one cause, so that one repair mends them all.
//!
//! - *Types:* the method in which both parts lie that do not compose, where that is one which the region calls; else the access that breaks a guard.
//!   Every method that cannot be proved because of it is affected.
//!   What nobody found a conflict of keeps apart from what somebody did: else the evidence of a tear would be hidden behind what only nobody knows.
//! - *Orders of events:* a tear whose both ends lie in one method that is no region itself; the regions that call it are affected.
//! - *Method views:* the same critical sections, reached from several methods; of methods that reach the critical sections of a class only through other classes, all that reach those of this class.
//! - *Cycles* through a region that is torn by itself are another sight of that tear.

use std::collections::HashMap;

use crate::{Evidence, Finding, Kind, LockView, Place, Region, Verdict, fingerprint};

/// Unites findings of one cause: the one that holds the cause, or else the first, keeps its name; the others are affected.
///
/// Where several regions can show one cause, the schedule decides which of them does, so the fingerprint is the cause's.
pub fn unite_causes(findings: Vec<Finding>) -> Vec<Finding> {
    let mut united: Vec<Finding> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    // Who only calls a method that is a finding itself joins that one, whatever its cause is.
    let (inner, outer): (Vec<Finding>, Vec<Finding>) =
        fold_cycles(findings).into_iter().partition(|finding| {
            finding.kind != Kind::Untypable || untypable_inside(finding).is_none()
        });
    for mut finding in inner.into_iter().chain(outer) {
        let Some(cause) = cause(&finding) else {
            united.push(finding);
            continue;
        };
        let unproved = finding.verdict == Verdict::Unproved;
        let alike = |known: &Finding| (known.verdict == Verdict::Unproved) == unproved;
        let callee = untypable_inside(&finding).filter(|_| finding.kind == Kind::Untypable);
        let own = callee.and_then(|callee| {
            let is_callee =
                |region: &Region| region.class == callee.class && region.method == callee.method;
            (united.iter()).position(|known| {
                known.kind == Kind::Untypable
                    && alike(known)
                    && (is_callee(&known.region) || known.affected.iter().any(is_callee))
            })
        });
        if let Some(at) = own {
            united[at].affect(finding);
            continue;
        }
        let name = fingerprint(&cause, &[]);
        match known.get(&name) {
            Some(&at) if !alike(&united[at]) => united.push(finding),
            Some(&at) => {
                finding.fingerprint.clone_from(&name);
                let holds = |finding: &Finding| {
                    finding.region.class == cause.class && finding.region.method == cause.method
                };
                // What the program only calls stands for nothing that it does itself.
                let own = |finding: &Finding| {
                    let class = finding.region.class.as_deref();
                    class.is_none_or(|class| !is_platform(class))
                };
                let tells = |finding: &Finding| (holds(finding), own(finding));
                if tells(&finding) > tells(&united[at]) {
                    std::mem::swap(&mut united[at], &mut finding);
                }
                united[at].affect(finding);
            }
            None => {
                finding.fingerprint.clone_from(&name);
                known.insert(name, united.len());
                united.push(finding);
            }
        }
    }
    united
}

/// What identifies the cause of a finding, if that is something else than its region.
fn cause(finding: &Finding) -> Option<Region> {
    match finding.kind {
        Kind::Untypable => untypable_inside(finding).or_else(|| broken_guard(&finding.evidence)),
        Kind::MethodInconsistency => far_sections(finding).or_else(|| shared_sections(finding)),
        Kind::Torn => torn_inside(finding),
        _ => None,
    }
}

/// The method that has both parts which do not compose, if the region calls it.
fn untypable_inside(finding: &Finding) -> Option<Region> {
    let typing = finding.evidence.typings.first()?;
    let [.., first, last] = typing.parts.as_slice() else {
        return None;
    };
    let leads = first.leads_to(last);
    let (first, last) = (first.place.as_ref()?, last.place.as_ref()?);
    // One part that does not compose with itself, at the end of a way that many take.
    if leads {
        return (!is_inside(last, &finding.region)).then(|| method_of(last))?;
    }
    let same = first.class == last.class && first.method == last.method;
    (same && !is_inside(first, &finding.region)).then(|| method_of(first))?
}

fn broken_guard(evidence: &Evidence) -> Option<Region> {
    let lost = (evidence.typings.iter()).find_map(|typing| typing.guards_lost.first())?;
    let place = lost.place.as_ref()?;
    Some(Region {
        field: Some(lost.field.clone()),
        ..method_of(place)?
    })
}

/// Critical sections that the region reaches only through classes whose fields they are not about.
///
/// Where the region's class is another one, too, it composes what is none of its business, as does everybody who calls two things that lead there: together they are one finding, about that class.
/// Where the fields are those of the region's class, methods that use them alike and call the same ones that lead back there are one.
fn far_sections(finding: &Finding) -> Option<Region> {
    let views = finding.evidence.method_views.first()?;
    let of = outermost(&views.class);
    let is_of = |class: Option<&str>| class.is_some_and(|class| outermost(class) == of);
    let locked: Vec<&LockView> = (views.sections.iter())
        .filter(|section| !section.lock.is_empty())
        .collect();
    let near = |section: &&LockView| {
        let class = section.method.class.as_deref();
        let both_platform = is_platform(&views.class) && class.is_some_and(is_platform);
        is_of(class) || both_platform || section.method.same_as(&finding.region)
    };
    if locked.is_empty() || locked.iter().any(near) {
        return None;
    }
    let class = finding.region.class.as_deref();
    if !is_of(class) {
        return Some(Region {
            class: Some(views.class.clone()),
            field: Some("through others".to_owned()),
            ..Region::default()
        });
    }
    let mut called: Vec<String> = (locked.iter())
        .map(|section| section.method.short_name())
        .collect();
    called.sort();
    called.dedup();
    let own = views
        .sections
        .iter()
        .filter(|section| section.lock.is_empty());
    let used: Vec<&str> = own
        .flat_map(|section| section.accesses.iter().map(String::as_str))
        .collect();
    Some(Region {
        class: class.map(str::to_owned),
        method: called.join(", "),
        field: Some(used.join(", ")),
        ..Region::default()
    })
}

/// The class whose file a nested class is declared in.
fn outermost(class: &str) -> &str {
    class.split('$').next().unwrap_or(class)
}

fn is_platform(class: &str) -> bool {
    ["java.", "javax.", "jdk."]
        .iter()
        .any(|package| class.starts_with(package))
}

fn shared_sections(finding: &Finding) -> Option<Region> {
    let views = finding.evidence.method_views.first()?;
    let mut places = (views.sections.iter()).flat_map(|section| &section.places);
    let first = places.clone().next()?;
    let foreign = |place: &Place| !is_inside(place, &finding.region);
    let cause = Region {
        field: Some(views.class.clone()),
        ..method_of(first)?
    };
    places.all(foreign).then_some(cause)
}

fn torn_inside(finding: &Finding) -> Option<Region> {
    let (from, to) = (finding.evidence.interleavings.iter()).find_map(|order| {
        let (from, to) = order.torn?;
        let place = |n| order.steps.iter().find(|step| step.n == n)?.place.as_ref();
        place(from).zip(place(to))
    })?;
    let same = from.class == to.class && from.method == to.method;
    (same && !is_inside(from, &finding.region)).then(|| method_of(from))?
}

fn method_of(place: &Place) -> Option<Region> {
    Some(Region {
        class: place.class.clone(),
        method: place.method.clone()?,
        ..Region::default()
    })
}

fn is_inside(place: &Place, region: &Region) -> bool {
    place.class == region.class && place.method.as_ref() == Some(&region.method)
}

/// Leaves out cycles that pass a region which is torn by itself: repairing that one comes first.
fn fold_cycles(findings: Vec<Finding>) -> Vec<Finding> {
    let torn: Vec<Region> = (findings.iter())
        .filter(|finding| finding.kind == Kind::Torn)
        .map(|finding| finding.region.clone())
        .collect();
    let is_torn = |region: &Region| torn.iter().any(|other| other.same_as(region));
    let folds = |finding: &Finding| {
        finding.kind == Kind::Cycle
            && std::iter::once(&finding.region)
                .chain(&finding.group)
                .any(is_torn)
    };
    (findings.into_iter())
        .filter(|finding| !folds(finding))
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::{
        Evidence, Finding, GuardLoss, Kind, LockView, MethodViews, Place, Region, Typing,
        TypingPart, Verdict, fingerprint, merge,
    };

    fn unproved(method: &str, field: &str, line: u32) -> Finding {
        let lost = GuardLoss {
            field: field.to_owned(),
            candidate: Some("this".to_owned()),
            held: None,
            place: Some(Place {
                class: Some("Buffer".to_owned()),
                method: Some("compareTo".to_owned()),
                file: None,
                line: Some(line),
            }),
            why: "read without it".to_owned(),
        };
        let typing = Typing {
            atomicity: "cmpd".to_owned(),
            parts: Vec::new(),
            released: None,
            guards_lost: vec![lost],
        };
        Finding::new(
            "types",
            Kind::Untypable,
            Verdict::Suspected,
            Region::labelled(method),
            format!("{method} is not proved"),
            Evidence {
                typings: vec![typing],
                ..Evidence::default()
            },
        )
    }

    #[test]
    fn methods_that_one_access_spoils_are_one_finding() {
        let merged = merge(vec![
            unproved("append", "Buffer.count", 12),
            unproved("insert", "Buffer.count", 12),
            unproved("delete", "Buffer.count", 12),
            unproved("other", "Buffer.value", 14),
        ]);
        assert_eq!(merged.len(), 2);
        let names: Vec<&str> = (merged[0].affected.iter())
            .map(|region| region.method.as_str())
            .collect();
        assert_eq!(
            (merged[0].region.method.as_str(), names),
            ("append", vec!["delete", "insert"])
        );
    }

    /// A method of `class` that calls `sections`, of classes and methods, each a critical section on fields of `of`.
    fn divided(class: &str, method: &str, of: &str, sections: &[(&str, &str)]) -> Finding {
        let region = |class: &str, method: &str| Region {
            class: Some(class.to_owned()),
            method: method.to_owned(),
            ..Region::default()
        };
        let section = |(class, method): &(&str, &str)| LockView {
            method: region(class, method),
            lock: "its lock".to_owned(),
            accesses: vec!["open: write".to_owned()],
            places: Vec::new(),
            thread: "clients".to_owned(),
        };
        let views = MethodViews {
            class: of.to_owned(),
            library: false,
            view: vec!["open: write".to_owned()],
            thread: "clients".to_owned(),
            sections: sections.iter().map(section).collect(),
            interfering: Vec::new(),
            allocated_at: Vec::new(),
        };
        Finding::new(
            "consistency",
            Kind::MethodInconsistency,
            Verdict::Suspected,
            region(class, method),
            format!("{method} can be torn"),
            Evidence {
                method_views: vec![views],
                ..Evidence::default()
            },
        )
    }

    fn with_affected(findings: &[Finding]) -> Vec<(&str, Vec<&str>)> {
        (findings.iter())
            .map(|finding| {
                let affected = finding.affected.iter().map(|region| region.method.as_str());
                (finding.region.method.as_str(), affected.collect())
            })
            .collect()
    }

    #[test]
    fn who_reaches_a_class_only_through_others_is_one_finding_about_it() {
        let through = |class: &str, method: &str| {
            divided(
                class,
                method,
                "db.Closer",
                &[("java.util.Vector", "equals"), ("db.Set", "get")],
            )
        };
        let merged = merge(vec![
            through("db.Page", "find"),
            through("db.Row", "compare"),
            through("java.util.TreeMap", "put"),
            divided("db.Other", "find", "db.Registry", &[("db.Set", "get")]),
            divided(
                "db.User",
                "close",
                "db.Closer",
                &[("db.Closer", "isOpen"), ("db.Closer", "end")],
            ),
        ]);
        assert_eq!(
            with_affected(&merged),
            [
                ("find", vec![]),
                ("find", vec!["compare", "put"]),
                ("close", vec![]),
            ]
        );
    }

    #[test]
    fn methods_of_a_class_that_call_one_that_leads_back_are_one_finding() {
        let own = |method: &str, handler: &str| {
            divided("db.Rows", method, "db.Rows", &[("db.Pool", handler)])
        };
        let merged = merge(vec![
            own("getInt", "failed"),
            own("getLong", "failed"),
            own("close", "closed"),
        ]);
        assert_eq!(
            with_affected(&merged),
            [("close", vec![]), ("getInt", vec!["getLong"])]
        );
    }

    #[test]
    fn who_calls_a_method_that_is_not_proved_is_affected_by_it() {
        let part = |method: &str, line| TypingPart {
            what: "reads Pool.free".to_owned(),
            atomicity: "atomic".to_owned(),
            place: Some(Place {
                class: Some("Pool".to_owned()),
                method: Some(method.to_owned()),
                file: None,
                line: Some(line),
            }),
        };
        let of = |method: &str, inner: &str| {
            let mut finding = unproved(method, "Pool.free", 3);
            finding.region.class = Some("Pool".to_owned());
            finding.evidence.typings[0].guards_lost.clear();
            finding.evidence.typings[0].parts = vec![part(inner, 7), part(inner, 8)];
            finding
        };
        let merged = merge(vec![
            of("borrow", "grow"),
            of("evict", "evict"),
            of("grow", "grow"),
            of("prepare", "grow"),
        ]);
        let said: Vec<(&str, Vec<&str>)> = (merged.iter())
            .map(|finding| {
                let affected = finding.affected.iter().map(|region| region.method.as_str());
                (finding.region.method.as_str(), affected.collect())
            })
            .collect();
        assert_eq!(
            said,
            [("evict", vec![]), ("grow", vec!["borrow", "prepare"])]
        );
    }

    #[test]
    fn who_calls_what_is_not_one_step_by_itself_is_affected_by_it() {
        let part = |what: &str, class: &str, method: &str| TypingPart {
            what: what.to_owned(),
            atomicity: "cmpd".to_owned(),
            place: Some(Place {
                class: Some(class.to_owned()),
                method: Some(method.to_owned()),
                file: None,
                line: Some(7),
            }),
        };
        let of = |method: &str| {
            let mut finding = unproved(method, "Commands.last", 3);
            finding.region.class = Some("Commands".to_owned());
            finding.evidence.typings[0].guards_lost.clear();
            finding.evidence.typings[0].parts = vec![
                part("calls Commands.make(String)", "Commands", method),
                part("calls Words.<init>(String)", "Commands", "make"),
                part("calls Text.<init>(String)", "Words", "<init>"),
                part("writes what Text.all holds", "Text", "<init>"),
            ];
            finding
        };
        let merged = merge(vec![of("get"), of("put"), of("remove")]);
        let said: Vec<(&str, usize)> = (merged.iter())
            .map(|finding| (finding.region.method.as_str(), finding.affected.len()))
            .collect();
        assert_eq!(said, [("get", 2)]);
    }

    #[test]
    fn evidence_of_a_tear_is_not_hidden_behind_what_nobody_knows() {
        let mut unknown = unproved("append", "Buffer.count", 12);
        unknown.verdict = Verdict::Unproved;
        let merged = merge(vec![unknown, unproved("insert", "Buffer.count", 12)]);
        let said: Vec<(&str, Verdict, usize)> = (merged.iter())
            .map(|f| (f.region.method.as_str(), f.verdict, f.affected.len()))
            .collect();
        assert_eq!(
            said,
            [
                ("insert", Verdict::Suspected, 0),
                ("append", Verdict::Unproved, 0)
            ]
        );
        assert_ne!(merged[0].fingerprint, merged[1].fingerprint);
    }

    #[test]
    fn a_cycle_through_a_torn_region_is_no_finding_of_its_own() {
        let of = |kind, method: &str| {
            let region = Region::labelled(method);
            let evidence = Evidence::default();
            Finding::new(
                "velodrome",
                kind,
                Verdict::Suspected,
                region,
                String::new(),
                evidence,
            )
        };
        let through = |a: &str, b: &str| of(Kind::Cycle, a).with_group(vec![Region::labelled(b)]);
        let merged = merge(vec![
            through("a", "b"),
            through("c", "d"),
            of(Kind::Torn, "b"),
        ]);
        let names: Vec<&str> = merged.iter().map(|f| f.region.method.as_str()).collect();
        assert_eq!(names, ["b", "c"]);
    }

    #[test]
    fn keys_and_instances_are_no_part_of_a_name() {
        let of = |field: &str| {
            let region = Region {
                field: Some(field.to_owned()),
                ..Region::default()
            };
            fingerprint(&region, &[])
        };
        assert_eq!(
            of(r#"shop.Cache.map["a"]"#),
            of(r#"shop.Cache.map["b, c]d"]"#)
        );
        assert_eq!(of("int[]@9[3]"), of("int[]@12[44]"));
        assert_eq!(of("Map@7[*]"), of("Map@8[*]"));
        assert_ne!(of("shop.Cache.map"), of("shop.Cache.other"));
    }
}
