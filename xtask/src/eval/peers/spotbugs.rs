//! SpotBugs on the same jars: what its patterns for concurrency say of the methods at fault.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::eval::peers::Peer;
use crate::eval::subjects::is_meant;
use crate::eval::untorn::{SEPARATOR, Untorn};

/// Its name in the list of pinned jars.
pub const JAR: &str = "spotbugs";

pub fn look(
    untorn: &Untorn<'_>,
    spotbugs: &[PathBuf],
    jars: &[PathBuf],
    at_fault: &[String],
) -> Result<Peer, Error> {
    let Some((library, others)) = jars.split_first() else {
        return Ok(Peer::not_asked("no jar"));
    };
    let mut command = Command::new(untorn.java_program());
    command.args([
        "-Xmx1g",
        "-cp",
        &joined(spotbugs),
        "edu.umd.cs.findbugs.FindBugs2",
    ]);
    command.args([
        "-low",
        "-bugCategories",
        "MT_CORRECTNESS",
        "-xml",
        "-output",
    ]);
    let output = untorn.file("spotbugs.xml");
    let _ = std::fs::remove_file(&output);
    command.arg(&output);
    if !others.is_empty() {
        command.args(["-auxclasspath", &joined(others)]);
    }
    command.arg(library);
    let ended = untorn.bounded(&mut command)?;
    Ok(peer(&output, at_fault, &ended))
}

pub fn joined(jars: &[PathBuf]) -> String {
    let jars: Vec<String> = jars.iter().map(|jar| jar.display().to_string()).collect();
    jars.join(SEPARATOR)
}

fn peer(output: &Path, at_fault: &[String], ended: &str) -> Peer {
    match std::fs::read_to_string(output) {
        Ok(xml) if xml.contains("</BugCollection>") => {
            let reports: Vec<(String, bool)> = reports(&xml)
                .map(|report| {
                    let names = report.is_of(at_fault);
                    (report.pattern, names)
                })
                .collect();
            Peer::of(&reports)
        }
        _ => Peer::not_asked(ended),
    }
}

struct Report {
    pattern: String,
    /// Classes and names of the methods that it speaks of.
    methods: Vec<(String, String)>,
}

impl Report {
    fn is_of(&self, at_fault: &[String]) -> bool {
        let mut named = self.methods.iter();
        named.any(|(class, method)| at_fault.iter().any(|meant| is_meant(class, method, meant)))
    }
}

/// The elements `BugInstance`, with the elements `Method` in them.
fn reports(xml: &str) -> impl Iterator<Item = Report> {
    xml.split("<BugInstance ").skip(1).map(|rest| {
        let element = rest.split("</BugInstance>").next().unwrap_or(rest);
        let methods = element.split("<Method ").skip(1).filter_map(|method| {
            Some((attribute(method, "classname")?, attribute(method, "name")?))
        });
        Report {
            pattern: attribute(element, "type").unwrap_or_default(),
            methods: methods.collect(),
        }
    })
}

fn attribute(element: &str, name: &str) -> Option<String> {
    let tag = element.split('>').next()?;
    let start = tag
        .match_indices(name)
        .find(|(at, _)| tag[..*at].is_empty() || tag[..*at].ends_with(' '))?
        .0;
    let value = tag[start + name.len()..].strip_prefix("=\"")?;
    Some(
        value
            .split('"')
            .next()?
            .replace("&lt;", "<")
            .replace("&gt;", ">"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_and_their_methods_are_read() {
        let xml = r#"<BugCollection><BugInstance type="AT_X" priority="3">
            <Class classname="p.C"/><Method classname="p.C" name="m" signature="()V"><SourceLine/></Method></BugInstance>
            <BugInstance type="IS2" priority="2"><Class classname="p.D"/></BugInstance></BugCollection>"#;
        let all: Vec<Report> = reports(xml).collect();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].pattern, "AT_X");
        assert!(all[0].is_of(&["C.m".to_owned()]) && !all[1].is_of(&["C.m".to_owned()]));
    }
}
