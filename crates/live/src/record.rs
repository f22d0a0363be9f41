//! Writes a live process to a trace file.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use untorn_trace::{Error, OrderedWriter, Source, UtrOptions};

use crate::LiveSource;

/// How much of a run a kill of the writing process may cost.
const FLUSH: Duration = Duration::from_secs(1);

/// Writes the process's events, to its end.
pub fn record(source: &mut LiveSource, path: &Path, options: UtrOptions) -> Result<(), Error> {
    let name = path.display().to_string();
    let file = File::create(path).map_err(|source| Error::Io {
        file: name.clone(),
        source,
    })?;
    let mut writer = OrderedWriter::new(name, file, options)?;
    let mut batch = Vec::new();
    let mut flushed = Instant::now();
    loop {
        source.fill(&mut batch)?;
        if batch.is_empty() {
            break;
        }
        writer.write(source.tables(), &batch)?;
        if flushed.elapsed() > FLUSH {
            writer.flush(source.tables())?;
            flushed = Instant::now();
        }
    }
    writer.finish(source.tables())?;
    Ok(())
}
