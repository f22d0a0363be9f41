//! Makes any source readable again by copying it into a temporary `.utr` file.

use untorn_model::{Event, EventIndex, Kinds, Tables};

use crate::{Error, Note, OrderedWriter, Progress, Replay, Source, UtrOptions, UtrSource};

/// Reads a source to its end, and yields the same again from a file that can be replayed.
///
/// The file has no name, so it is gone with the source, whatever ends the process.
pub fn spool(mut source: Box<dyn Source + Send>) -> Result<Box<dyn Source + Send>, Error> {
    const NAME: &str = "temporary trace";
    let file = tempfile::tempfile().map_err(|error| Error::io(NAME, error))?;
    let mut writer = OrderedWriter::new(NAME, file, UtrOptions::default())?;
    let mut batch = Vec::new();
    loop {
        source.fill(&mut batch)?;
        if batch.is_empty() {
            break;
        }
        writer.write(source.tables(), &batch)?;
    }
    let file = writer.finish(source.tables())?;
    let copy = UtrSource::new(NAME, file)?;
    Ok(Box::new(Spooled { copy, source }))
}

/// The copy, with what only the original knows.
struct Spooled {
    copy: UtrSource,
    source: Box<dyn Source + Send>,
}

impl Source for Spooled {
    fn tables(&self) -> &Tables {
        self.copy.tables()
    }

    fn fill(&mut self, into: &mut Vec<Event>) -> Result<Kinds, Error> {
        self.copy.fill(into)
    }

    fn replay(&self) -> Option<&dyn Replay> {
        Source::replay(&self.copy)
    }

    fn line_of(&self, index: EventIndex) -> u64 {
        self.source.line_of(index)
    }

    fn progress(&self) -> Progress {
        self.copy.progress()
    }

    fn notes(&self) -> Vec<Note> {
        self.source.notes()
    }
}
