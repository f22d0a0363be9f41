//! `untorn report`: saved findings in any form, united or compared.

use std::process::ExitCode;

use untorn_findings::Document;
use untorn_report::diff::diff;

use crate::archive;
use crate::cli::{FailOn, Format, ReportArgs};
use crate::failure::Failure;
use crate::output::{deliver, fails, format, read, read_what_is_there, status, write};

pub fn run(args: &ReportArgs) -> Result<ExitCode, Failure> {
    if let Some(place) = &args.output.archive.archive {
        // Saved findings go into an archive by its own import, which reads them as they are.
        if !args.findings.is_empty() {
            return Err(Failure::Usage(
                "--archive shows what is in an archive; untorn archive import puts files there"
                    .to_owned(),
            ));
        }
        return archive::report(place, args.output.output.as_ref());
    }
    if args.diff {
        return compare(args);
    }
    let mut documents = Vec::new();
    let mut failed = None;
    for path in &args.findings {
        // What can be read is shown, whatever is wrong with the others.
        let (document, failure) = read_what_is_there(path);
        let whole = failure.is_none();
        let shown = document.filter(|document| whole || !document.findings.is_empty());
        documents.extend(shown.map(|document| (path.display().to_string(), document)));
        if let Some(failure) = failure
            && let Some(earlier) = failed.replace(failure)
        {
            eprintln!("untorn: {earlier}");
        }
    }
    if !documents.is_empty() {
        let status = deliver(&unite(documents), &args.output)?;
        if failed.is_none() {
            return Ok(status);
        }
    }
    // Bad input is told last, where it is seen, and is the status whatever else was found.
    failed.map_or(Ok(ExitCode::SUCCESS), Err)
}

/// One document that says what all of them say.
fn unite(mut documents: Vec<(String, Document)>) -> Document {
    if documents.len() == 1
        && let Some((_, only)) = documents.pop()
    {
        return only;
    }
    let mut united = Document::new(Vec::new());
    let mut findings = Vec::new();
    for (name, document) in documents {
        findings.extend(document.findings);
        findings.extend(document.unproved);
        united.inputs.extend(document.inputs);
        for region in document.proved {
            if !united.proved.contains(&region) {
                united.proved.push(region);
            }
        }
        for assumed in document.assumed {
            if !united.assumed.contains(&assumed) {
                united.assumed.push(assumed);
            }
        }
        for suppressed in document.suppressed {
            let fingerprint = &suppressed.finding.fingerprint;
            if !(united.suppressed.iter()).any(|s| s.finding.fingerprint == *fingerprint) {
                united.suppressed.push(suppressed);
            }
        }
        united.stats.insert(name, document.stats.into());
    }
    united.take(findings);
    united
}

fn compare(args: &ReportArgs) -> Result<ExitCode, Failure> {
    let [before, after] = args.findings.as_slice() else {
        return Err(Failure::Usage(
            "--diff compares two findings files: untorn report --diff BEFORE AFTER".to_owned(),
        ));
    };
    let (before, after) = (read(before)?, read(after)?);
    let difference = diff(&before, &after);
    let rendered = match format(&args.output) {
        Format::Text => difference.to_text(),
        Format::Json => {
            let mut text = serde_json::to_string_pretty(&difference)?;
            text.push('\n');
            text
        }
        Format::Sarif | Format::Html | Format::Gitlab | Format::Junit => {
            return Err(Failure::Usage(
                "differences come as text or json".to_owned(),
            ));
        }
    };
    write(&rendered, &args.output)?;
    let rule = args.output.fail_on;
    let fails_now = (difference.new.iter()).any(|finding| fails(finding, rule));
    let stronger = rule == FailOn::Stronger && !difference.stronger.is_empty();
    Ok(status(fails_now || stronger, &args.output))
}
