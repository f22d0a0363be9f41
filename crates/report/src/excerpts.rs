//! The source lines that a document speaks of, as far as sources were given.
//!
//! Whoever has the files hands them in once; after that every face can show them, and a document with its excerpts needs no disk.

use std::collections::{BTreeSet, HashMap};

use untorn_findings::{Document, Place};

use crate::places;

/// A source file that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listing {
    /// As the user would name it, with `/` between folders.
    pub path: String,
    pub lines: Vec<String>,
}

/// A line that a finding names and the source does not have: sources and classes differ.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mismatch {
    pub path: String,
    /// The line that was asked for.
    pub line: u32,
    /// How many lines there are.
    pub lines: usize,
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} has {} lines, but the findings speak of line {}: these are not the sources of the analyzed classes",
            self.path, self.lines, self.line
        )
    }
}

fn is_kotlin(file: &str) -> bool {
    std::path::Path::new(file)
        .extension()
        .is_some_and(|extension| extension == "kt")
}

/// Sources by package and file name.
#[derive(Debug, Default)]
pub struct Excerpts {
    listings: HashMap<(String, String), Option<Listing>>,
    mismatches: BTreeSet<Mismatch>,
}

impl Excerpts {
    /// Asks `find` once for each file that the document names, giving a class in it where one is known.
    pub fn collect(
        document: &Document,
        find: &mut dyn FnMut(Option<&str>, &str) -> Option<Listing>,
    ) -> Self {
        let mut excerpts = Self::default();
        for finding in document.findings.iter().chain(&document.unproved) {
            places::visit(finding, &mut |place| excerpts.add(place, find));
        }
        excerpts
    }

    fn add(&mut self, place: &Place, find: &mut dyn FnMut(Option<&str>, &str) -> Option<Listing>) {
        let Some(key) = key(place) else { return };
        let listing = self
            .listings
            .entry(key)
            .or_insert_with_key(|(_, file)| find(place.class.as_deref(), file));
        if let (Some(listing), Some(line)) = (listing, place.line)
            && line as usize > listing.lines.len()
            // The compiler gives what it inlines lines beyond the end of the file.
            && !place.file.as_deref().is_some_and(is_kotlin)
        {
            self.mismatches.insert(Mismatch {
                path: listing.path.clone(),
                line,
                lines: listing.lines.len(),
            });
        }
    }

    /// The file of this place, if it was found.
    pub fn listing(&self, place: &Place) -> Option<&Listing> {
        self.listings.get(&key(place)?)?.as_ref()
    }

    /// The text of this place's line.
    pub fn line(&self, place: &Place) -> Option<&str> {
        let index = (place.line? as usize).checked_sub(1)?;
        self.listing(place)?.lines.get(index).map(String::as_str)
    }

    /// The line with `around` lines before and after it, each with its number.
    pub fn around(&self, place: &Place, around: u32) -> Vec<(u32, &str)> {
        let (Some(listing), Some(line)) = (self.listing(place), place.line) else {
            return Vec::new();
        };
        if line == 0 || line as usize > listing.lines.len() {
            return Vec::new();
        }
        let first = line.saturating_sub(around).max(1);
        (first..)
            .zip(&listing.lines[first as usize - 1..])
            .take_while(|(number, _)| *number <= line.saturating_add(around))
            .map(|(number, text)| (number, text.as_str()))
            .collect()
    }

    /// Lines that were asked for and are not there, one for each file: the one furthest out.
    pub fn mismatches(&self) -> Vec<&Mismatch> {
        let mut worst: Vec<&Mismatch> = Vec::new();
        for mismatch in &self.mismatches {
            match worst.last_mut() {
                Some(last) if last.path == mismatch.path => *last = mismatch,
                _ => worst.push(mismatch),
            }
        }
        worst
    }
}

fn key(place: &Place) -> Option<(String, String)> {
    let class = place.class.as_deref().unwrap_or("");
    let package = class.rsplit_once('.').map_or("", |(package, _)| package);
    Some((package.to_owned(), place.file.clone()?))
}

#[cfg(test)]
mod tests {
    use untorn_findings::{Evidence, Finding, Kind, Region, Verdict};

    use super::*;

    fn document(lines: &[u32]) -> Document {
        let mut document = Document::new(vec![]);
        for &line in lines {
            let region = Region {
                file: Some("A.java".into()),
                line: Some(line),
                ..Region::labelled(format!("m{line}"))
            };
            document.findings.push(Finding::new(
                "velodrome",
                Kind::Torn,
                Verdict::Observed,
                region,
                String::new(),
                Evidence::default(),
            ));
        }
        document
    }

    #[test]
    fn a_line_beyond_the_end_is_a_mismatch_and_the_rest_is_still_shown() {
        let document = document(&[1, 3, 40, 50]);
        let mut asked = 0;
        let excerpts = Excerpts::collect(&document, &mut |_, file| {
            asked += 1;
            Some(Listing {
                path: format!("src/{file}"),
                lines: vec!["one".into(), "two".into(), "three".into()],
            })
        });
        assert_eq!(asked, 1);
        let at = |line| Place {
            file: Some("A.java".into()),
            line: Some(line),
            ..Place::default()
        };
        assert_eq!(excerpts.line(&at(3)), Some("three"));
        assert_eq!(excerpts.around(&at(1), 1), [(1, "one"), (2, "two")]);
        assert_eq!(excerpts.line(&at(0)), None);
        assert!(excerpts.around(&at(0), 2).is_empty());
        assert!(excerpts.around(&at(40), 2).is_empty());
        let said: Vec<String> = (excerpts.mismatches().iter())
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            said,
            [
                "src/A.java has 3 lines, but the findings speak of line 50: these are not the sources of the analyzed classes"
            ]
        );
    }
}
