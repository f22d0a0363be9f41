//! JUnit's XML, which most build servers show: a test for each finding, failed if it is worth a look.

use untorn_findings::{Document, Finding};

use crate::kinds::info;
use crate::show::{Show, shown};
use crate::words::{headline, place_text};
use crate::{places, repair};

/// The document as XML text.
pub fn render(document: &Document) -> String {
    let worth = shown(document, Show::Worth);
    let all = document.findings.len();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out += &format!(
        "<testsuites>\n  <testsuite name=\"untorn\" tests=\"{all}\" failures=\"{}\" skipped=\"{}\">\n",
        worth.len(),
        all - worth.len()
    );
    for finding in &document.findings {
        let failed = (worth.iter()).any(|one| one.fingerprint == finding.fingerprint);
        out += &test(finding, failed);
    }
    out + "  </testsuite>\n</testsuites>\n"
}

fn test(finding: &Finding, failed: bool) -> String {
    let says = escape(&headline(finding));
    let inner = if failed {
        let mut text = headline(finding);
        if let Some(place) = place_text(&places::shown(finding)) {
            text += &format!("\nat {place}");
        }
        for suggestion in repair::suggestions(finding) {
            text += &format!("\nSuggestion: {suggestion}");
        }
        let kind = info(finding.kind).id;
        format!(
            "<failure message=\"{says}\" type=\"{kind}\">{}</failure>",
            escape(&text)
        )
    } else {
        format!("<skipped message=\"{says}\"/>")
    };
    format!(
        "    <testcase name=\"{}\" classname=\"{}\">\n      {inner}\n    </testcase>\n",
        escape(&finding.region.short_name()),
        escape(finding.region.class.as_deref().unwrap_or("unknown")),
    )
}

/// XML cannot say most control characters at all, escaped or not.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\n' => out += "&#10;",
            '\t' => out.push(' '),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                out.push('\u{fffd}');
            }
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_class_files_do_not_break_the_xml() {
        assert_eq!(
            escape("<init> & \"x\"\u{1}\n"),
            "&lt;init&gt; &amp; &quot;x&quot;\u{fffd}&#10;"
        );
    }
}
