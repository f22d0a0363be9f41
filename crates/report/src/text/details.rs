//! The pieces of evidence under a headline, by their sort.

use untorn_findings::{
    EdgeKind, Evidence, Finding, Interleaving, LockView, MethodViews, Place, Reduction, Region,
    Step, Typing, ViewConflict,
};

use super::{INDENT, NUMBER, Page, interleaving};
use crate::words::{at_place, enumeration, label, place_text, short, torn_steps};

impl Page<'_> {
    pub(super) fn evidence(&mut self, finding: &Finding) {
        let evidence = &finding.evidence;
        if self.options.verbose {
            self.all(evidence);
            return;
        }
        // One argument convinces; the others are told in a sentence each.
        if let Some(first) = evidence.interleavings.first() {
            self.order(first);
        } else if let Some(first) = evidence.reductions.first() {
            self.reduction(first);
        } else if let Some(first) = evidence.views.first() {
            self.views(first);
        } else if let Some(first) = evidence.method_views.first() {
            self.method_views(first);
        } else if let Some(first) = evidence.typings.first() {
            self.typing(first);
        } else if let Some(first) = evidence.races.first() {
            self.steps(&first.accesses.iter().collect::<Vec<_>>());
        }
    }

    fn all(&mut self, evidence: &Evidence) {
        evidence.interleavings.iter().for_each(|it| self.order(it));
        evidence.reductions.iter().for_each(|it| self.reduction(it));
        evidence.views.iter().for_each(|it| self.views(it));
        evidence
            .method_views
            .iter()
            .for_each(|it| self.method_views(it));
        evidence.typings.iter().for_each(|it| self.typing(it));
        for race in &evidence.races {
            self.steps(&race.accesses.iter().collect::<Vec<_>>());
        }
    }

    /// Who is blamed, and why it is nobody else.
    pub(super) fn blame(&mut self, finding: &Finding) {
        let evidence = &finding.evidence;
        let torn =
            (evidence.interleavings.iter()).find_map(|it| torn_steps(it).map(|steps| (it, steps)));
        if let Some((interleaving, (leaves, enters))) = torn {
            let path: Vec<String> = path(interleaving)
                .iter()
                .map(|n| format!("({n})"))
                .collect();
            let mut text = format!(
                "{}, since the order {} leaves it at ({}) and comes back at ({}): no schedule that runs it without interruption has these conflicts in this order.",
                finding.region.short_name(),
                path.join("→"),
                leaves.n,
                enters.n
            );
            if !evidence.enclosing.is_empty() {
                let names: Vec<String> =
                    evidence.enclosing.iter().map(Region::short_name).collect();
                text.push_str(&format!(" It is torn within {}.", enumeration(&names)));
            }
            self.labelled("Blamed", &text);
        } else if !finding.group.is_empty() {
            let mut names = vec![finding.region.short_name()];
            names.extend(finding.group.iter().map(Region::short_name));
            self.labelled(
                "Blamed",
                &format!("nobody alone: {} together.", enumeration(&names)),
            );
        }
    }

    fn order(&mut self, it: &Interleaving) {
        self.blank();
        let drawn = interleaving::draw(it, INDENT, self.width, self.style);
        self.out.push_str(&drawn);
        if self.options.verbose {
            for edge in &it.edges {
                let why = match edge.kind {
                    EdgeKind::Program => "same thread",
                    EdgeKind::Data => "same location, and one writes",
                    EdgeKind::Sync => "synchronization",
                };
                let doubt = if edge.approximate {
                    ", approximate"
                } else {
                    ""
                };
                self.paragraph(
                    INDENT,
                    &format!("({}) before ({}): {why}{doubt}", edge.from, edge.to),
                );
            }
        }
        let marked: Vec<(String, &Place)> = (it.steps.iter())
            .flat_map(|step| {
                let places = step.within.iter().chain(&step.place);
                places.map(|place| (format!("({})", step.n), place))
            })
            .collect();
        self.sources(&marked);
    }

    fn reduction(&mut self, it: &Reduction) {
        self.steps(&[&it.entry, &it.commit, &it.violation]);
    }

    /// Steps of one thread, or of several in no recorded order, one below the other.
    fn steps(&mut self, steps: &[&Step]) {
        self.blank();
        for (index, step) in steps.iter().enumerate() {
            let locks: Vec<String> = step.locks.iter().map(|lock| short(lock)).collect();
            let held = if locks.is_empty() {
                String::new()
            } else {
                format!(", holding {}", locks.join(", "))
            };
            let place = at_place(step.place.as_ref());
            self.numbered(
                &format!("({})", index + 1),
                &format!("{}: {}{place}{held}", step.thread, label(step)),
            );
            if self.options.verbose {
                for frame in &step.stack {
                    let place = place_text(frame).unwrap_or_default();
                    let method = frame.method.as_deref().unwrap_or("?");
                    let class = frame.class.as_deref().map_or_else(String::new, |class| {
                        format!("{}.", class.rsplit('.').next().unwrap_or(class))
                    });
                    self.paragraph(INDENT + 6, &format!("in {class}{method}  {place}"));
                }
            }
        }
        let marked: Vec<(String, &Place)> = (steps.iter().enumerate())
            .filter_map(|(i, step)| Some((format!("({})", i + 1), step.place.as_ref()?)))
            .collect();
        self.sources(&marked);
    }

    fn views(&mut self, it: &ViewConflict) {
        self.blank();
        let views = std::iter::once((&it.maximal, "together"))
            .chain(it.diverging.iter().map(|view| (view, "apart")));
        let mut marked = Vec::new();
        for (number, (view, how)) in views.enumerate() {
            let mark = format!("({})", number + 1);
            let fields: Vec<String> = view.fields.iter().map(|field| short(field)).collect();
            self.numbered(
                &mark,
                &format!(
                    "{}: {} {how} under {}{}",
                    view.thread,
                    enumeration(&fields),
                    short(&view.lock),
                    at_places(&view.places)
                ),
            );
            marked.extend(view.places.iter().map(|place| (mark.clone(), place)));
        }
        self.sources(&marked);
    }

    fn method_views<'v>(&mut self, it: &'v MethodViews) {
        self.blank();
        let mut marked = Vec::new();
        let mut number = 1..;
        let mut threads: Vec<&str> = Vec::new();
        let mut list = |page: &mut Self, view: &'v LockView, who: &str| {
            let mark = format!("({})", number.next().unwrap_or_default());
            let under = match view.lock.as_str() {
                "" => " without a lock".to_owned(),
                lock => format!(" under {}", short(lock)),
            };
            let (what, at) = (view.accesses.join(", "), at_places(&view.places));
            page.numbered(&mark, &format!("{who}{what}{under}{at}"));
            marked.extend(view.places.iter().map(|place| (mark.clone(), place)));
            if !threads.contains(&view.thread.as_str()) {
                threads.push(&view.thread);
            }
        };
        self.paragraph(INDENT, "The method, one critical section after the other:");
        for view in &it.sections {
            list(self, view, "");
        }
        if it.sections.is_empty() {
            self.paragraph(INDENT + NUMBER, &it.view.join(", "));
        }
        // What only reads disturbs nobody.
        let writes =
            |view: &&LockView| view.accesses.iter().any(|entry| entry.ends_with(": write"));
        let all = self.options.verbose || !it.interfering.iter().any(|view| writes(&view));
        self.paragraph(INDENT, "In between, other threads can run:");
        for view in it.interfering.iter().filter(|view| all || writes(view)) {
            list(self, view, &format!("{}: ", view.method.short_name()));
        }
        self.sources(&marked);
        self.blank();
        self.labelled("Threads", &threads.join("; "));
    }

    fn typing(&mut self, it: &Typing) {
        self.blank();
        let mut marked = Vec::new();
        for (number, part) in (1..).zip(&it.parts) {
            let mark = format!("({number})");
            let place = at_place(part.place.as_ref());
            self.numbered(
                &mark,
                &format!("{} is {}{place}", part.what, part.atomicity),
            );
            marked.extend(part.place.iter().map(|place| (mark.clone(), place)));
        }
        if let Some(released) = &it.released {
            let place = at_place(released.place.as_ref());
            self.paragraph(
                INDENT,
                &format!("given up between them: {}{place}", released.what),
            );
            marked.extend((released.place.iter()).map(|place| ("(-)".to_owned(), place)));
        }
        for lost in &it.guards_lost {
            let place = at_place(lost.place.as_ref());
            let guard = lost.candidate.as_deref().map_or_else(
                || format!("{} has no guard", lost.field),
                |guard| format!("{} would be guarded by {guard}", lost.field),
            );
            self.paragraph(INDENT, &format!("{guard}: {}{place}", lost.why));
        }
        self.sources(&marked);
    }
}

/// ` at A.java:1, A.java:2`, or nothing.
fn at_places(places: &[Place]) -> String {
    let places: Vec<String> = places.iter().filter_map(place_text).collect();
    if places.is_empty() {
        String::new()
    } else {
        format!(" at {}", places.join(", "))
    }
}

/// The numbers of the steps along the path that leaves and comes back, in its order.
fn path(interleaving: &Interleaving) -> Vec<u32> {
    let Some((from, to)) = interleaving.torn else {
        return Vec::new();
    };
    let mut path = vec![from];
    let mut at = from;
    while at != to {
        let next = (interleaving.edges.iter())
            .filter(|edge| edge.from == at && edge.to > at)
            .map(|edge| edge.to)
            .min();
        match next {
            Some(next) => path.push(next),
            None => return vec![from, to],
        }
        at = path[path.len() - 1];
    }
    path
}
