//! Properties of Kotlin by their names: what compilers call `getSum` and `setSum`, people call `sum`.
//!
//! Only what sources declare as a property is renamed, and only where people read: saved findings keep the names of class files.

use std::path::Path;

use untorn_findings::{Document, Finding, Region};
use untorn_sources::Language;

use crate::library::Library;

impl Library {
    /// Names accessors after their properties.
    pub fn name_properties(&self, document: &mut Document) {
        for finding in document.findings.iter_mut().chain(&mut document.unproved) {
            self.name_in(finding);
        }
        for region in &mut document.proved {
            self.name(region);
        }
    }

    fn name_in(&self, finding: &mut Finding) {
        let Finding {
            region,
            group,
            affected,
            evidence,
            message,
            ..
        } = finding;
        let transactions = evidence
            .interleavings
            .iter_mut()
            .flat_map(|order| &mut order.transactions)
            .filter_map(|transaction| transaction.region.as_mut());
        let regions = std::iter::once(region)
            .chain(group)
            .chain(affected)
            .chain(&mut evidence.enclosing)
            .chain(transactions);
        for region in regions {
            let before = region.short_name();
            if self.name(region) {
                *message = message.replace(&before, &region.short_name());
            }
        }
    }

    /// Whether the region is an accessor, and has the name of its property now.
    fn name(&self, region: &mut Region) -> bool {
        let property = self.property(region);
        let renamed = property.is_some();
        if let Some(name) = property {
            let setter = region.method.starts_with("set");
            region.method = if setter {
                format!("{name} (set)")
            } else {
                name
            };
        }
        renamed
    }

    fn property(&self, region: &Region) -> Option<String> {
        let class = region.class.as_deref()?;
        let file = region
            .file
            .as_deref()
            .filter(|file| Language::of(Path::new(file)) == Some(Language::Kotlin))?;
        (self.file(Some(class), file)?.declarations().iter())
            .filter(|declaration| declaration.class == class && declaration.name == region.method)
            .find_map(|declaration| declaration.property.clone())
    }
}
