//! What an archive holds.

use std::collections::BTreeSet;
use std::process::ExitCode;

use untorn_archive::{Narrow, Table};

use crate::args::NarrowArgs;
use crate::{Failure, complain, open, print};

pub fn run(args: &NarrowArgs) -> Result<ExitCode, Failure> {
    let archive = open(&args.place)?;
    let (files, complaints) = archive.readable(&Table::ALL, &args.narrow())?;
    let mut text = String::new();
    for table in Table::ALL {
        let (count, bytes) = files.extent(table);
        let name = table.name();
        text.push_str(&format!("{name:<10}{count:>8} files {bytes:>14} bytes\n"));
    }
    for project in files.projects() {
        let narrow = Narrow {
            project: Some(project.clone()),
            ..args.narrow()
        };
        let (mut runs, mut findings, mut observed) = (0, 0, 0);
        let mut versions = BTreeSet::new();
        let columns = ["version", "findings", "observed"];
        archive.read(Table::Runs, &columns, &narrow, &mut |columns, row| {
            runs += 1;
            versions.extend(columns[0].text(row).map(str::to_owned));
            findings += columns[1].number(row).unwrap_or(0);
            observed += columns[2].number(row).unwrap_or(0);
        })?;
        let versions = match versions.len() {
            0 => String::new(),
            count => format!(", {count} versions of the program"),
        };
        text.push_str(&format!(
            "{project}: {runs} runs, {findings} findings, {observed} of them observed{versions}\n"
        ));
    }
    print(&text)?;
    Ok(complain(&complaints))
}
