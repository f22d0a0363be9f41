//! The sentence of a finding: what is done in parts, and who can come between.

use untorn_findings::{LockView, MethodViews, Place, Region};

/// How many names a sentence has.
const MOST_NAMES: usize = 4;

/// One sentence in plain words; `outer` is the lock that is held all the time, if there is one.
pub fn message(region: &Region, views: &MethodViews, outer: Option<&str>) -> String {
    let apart = match outer {
        Some(lock) => format!("in critical sections of their own while it holds {lock}"),
        None => "not in one critical section".to_owned(),
    };
    let name = |field: &str| {
        if views.library {
            let class = views.class.rsplit('.').next().unwrap_or(&views.class);
            format!("{class}.{field}")
        } else {
            field.to_owned()
        }
    };
    let torn = format!("{} can be torn", region.short_name());
    match torn_pair(views) {
        Some((first, later, field, other)) if field == other => {
            let (did, does) = (done(first, &field), done(later, &field));
            let does = if did == does { "again" } else { does };
            format!(
                "{torn}: {} is {did}{} and {does}{}, {apart}, and {} in between",
                name(&field),
                at(first, region),
                at(later, region),
                interferes(region, views, &[&field], "it"),
            )
        }
        Some((first, later, field, other)) => format!(
            "{torn}: {} is {}{} and {} is {}{}, {apart}, and {} in between",
            name(&field),
            done(first, &field),
            at(first, region),
            name(&other),
            done(later, &other),
            at(later, region),
            interferes(region, views, &[&field, &other], "them"),
        ),
        None => {
            let fields = fields(&views.view);
            let shown: Vec<String> = fields
                .iter()
                .take(MOST_NAMES)
                .map(|field| name(field))
                .collect();
            let more = match fields.len().saturating_sub(MOST_NAMES) {
                0 => String::new(),
                more => format!(" and {more} more fields"),
            };
            let all: Vec<&str> = fields.iter().map(String::as_str).collect();
            format!(
                "{torn}: it uses {}{more} in more than one critical section, and {} in between",
                shown.join(", "),
                interferes(region, views, &all, "them"),
            )
        }
    }
}

/// Two sections of the method, and the fields by which others can come between them: one field that both use, else two.
pub fn torn_pair(views: &MethodViews) -> Option<(&LockView, &LockView, String, String)> {
    let written: Vec<String> = (views.interfering.iter())
        .flat_map(|view| &view.accesses)
        .filter_map(|access| access.strip_suffix(": write").map(str::to_owned))
        .collect();
    let uses = |view: &LockView, field: &str| fields(&view.accesses).iter().any(|own| own == field);
    let writes = |view: &LockView, field: &str| done(view, field) == "written";
    // What is written after a look tells more than what is looked at twice.
    for acts in [true, false] {
        for (number, first) in views.sections.iter().enumerate() {
            for later in views.sections[number + 1..].iter().rev() {
                for field in fields(&first.accesses) {
                    let fits = uses(later, &field) && (!acts || writes(later, &field));
                    if fits && written.contains(&field) {
                        return Some((first, later, field.clone(), field));
                    }
                }
            }
        }
    }
    let (first, rest) = views.sections.split_first()?;
    let later = rest.last()?;
    let field = fields(&first.accesses).into_iter().next()?;
    let other = fields(&later.accesses)
        .into_iter()
        .find(|other| *other != field)?;
    Some((first, later, field, other))
}

/// `Account.deposit can write it`, by one that writes the fields, another method if there is one.
fn interferes(region: &Region, views: &MethodViews, of: &[&str], object: &str) -> String {
    let writes = |view: &&LockView| {
        (view.accesses.iter())
            .any(|access| (access.strip_suffix(": write")).is_some_and(|field| of.contains(&field)))
    };
    let is_other = |view: &&LockView| view.method != *region;
    // A thread that exists once does not come between its own steps.
    let alone = !views.thread.contains(", ")
        && !views.thread.starts_with("clients")
        && !views.thread.contains("(many)");
    let comes = |view: &&LockView| !alone || view.thread != views.thread;
    let mut writers = views.interfering.iter().filter(writes).filter(comes);
    let first = writers.clone().find(is_other).or_else(|| writers.next());
    match first {
        Some(view) if view.method == *region => format!("another call of it can write {object}"),
        Some(view) => format!("{} can write {object}", view.method.short_name()),
        None => "others can come".to_owned(),
    }
}

fn done(view: &LockView, field: &str) -> &'static str {
    let written = format!("{field}: write");
    if view.accesses.contains(&written) {
        "written"
    } else {
        "read"
    }
}

/// ` at line 12`, or with the file if that is not the method's own.
fn at(view: &LockView, region: &Region) -> String {
    let Some(Place {
        file: Some(file),
        line: Some(line),
        ..
    }) = view.places.first()
    else {
        return String::new();
    };
    if region.file.as_ref() == Some(file) {
        format!(" at line {line}")
    } else {
        format!(" at {file}:{line}")
    }
}

/// The names of entries, each once.
pub fn fields(entries: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for entry in entries {
        if let Some((name, _)) = entry.rsplit_once(": ")
            && !names.iter().any(|known| known == name)
        {
            names.push(name.to_owned());
        }
    }
    names
}
