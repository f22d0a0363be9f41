//! What fuzzing runs: the readers on arbitrary bytes, and what must hold of whatever they accept.
//!
//! The fuzz targets and the tests call the same functions, so a finding of one is a test of the other.

use std::io::Cursor;

use untorn_model::{Event, EventIndex, Tables};

use crate::utr::repair;
use crate::{
    Error, OrderedWriter, Source, TextOptions, TextSource, TextWriter, UtrOptions, UtrSource,
    VecSource,
};

/// Reads bytes as a text trace, strictly and leniently; an error names a broken promise.
pub fn text(bytes: &[u8]) -> Result<(), String> {
    for lenient in [false, true] {
        let input = Cursor::new(bytes.to_vec());
        let mut source = TextSource::new("text", input, TextOptions { lenient });
        match drain(&mut source) {
            Err(error) if lenient && !bytes.is_empty() => {
                return Err(format!("a lenient reader failed: {error}"));
            }
            Err(error) => one_line(&error)?,
            Ok(events) => {
                accepted(source.tables(), &events)?;
                written_again(source.tables(), &events)?;
            }
        }
    }
    Ok(())
}

/// Reads bytes as a `.utr` trace, as they are and with every checksum made right; an error names a broken promise.
pub fn utr(bytes: &[u8]) -> Result<(), String> {
    utr_as_it_is(bytes.to_vec())?;
    let mut repaired = bytes.to_vec();
    repair(&mut repaired);
    utr_as_it_is(repaired)
}

fn utr_as_it_is(bytes: Vec<u8>) -> Result<(), String> {
    let read = UtrSource::from_bytes("utr", bytes).and_then(|mut source| {
        let events = drain(&mut source)?;
        Ok((source, events))
    });
    let (source, events) = match read {
        Err(error) => return one_line(&error),
        Ok(read) => read,
    };
    accepted(source.tables(), &events)?;
    let len = events.len() as u64;
    let (from, to) = (len / 3, len - len / 4);
    let mut again = Vec::new();
    if let Some(replay) = Source::replay(&source) {
        (replay.replay(EventIndex(from)..EventIndex(to), &mut |batch| {
            again.extend_from_slice(batch.events);
        }))
        .map_err(|error| format!("a replay failed: {error}"))?;
    }
    if again != events[from as usize..to as usize] {
        return Err("a replay gave other events".to_owned());
    }
    Ok(())
}

fn drain(source: &mut dyn Source) -> Result<Vec<Event>, Error> {
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    loop {
        source.fill(&mut batch)?;
        if batch.is_empty() {
            return Ok(all);
        }
        all.append(&mut batch);
    }
}

fn one_line(error: &Error) -> Result<(), String> {
    let message = error.to_string();
    if message.lines().count() == 1 && message.len() < 1000 {
        Ok(())
    } else {
        Err(format!("a message of more than a line: {message}"))
    }
}

/// Whatever is accepted has known ids, is well-formed, and can be written as `.utr` and read again.
fn accepted(tables: &Tables, events: &[Event]) -> Result<(), String> {
    let checked = VecSource::new(tables.clone(), events.to_vec())
        .map_err(|error| format!("accepted, but {error}"))?;
    if checked.events() != events {
        return Err("a lock operation has the wrong depth".to_owned());
    }
    let copied = || -> Result<Vec<Event>, Error> {
        let mut writer = OrderedWriter::new("copy", Vec::new(), UtrOptions { compress: true })?;
        writer.write(tables, events)?;
        drain(&mut UtrSource::from_bytes("copy", writer.finish(tables)?)?)
    };
    match copied() {
        Ok(copy) if copy == events => Ok(()),
        Ok(_) => Err("a copy has other events".to_owned()),
        Err(error) => Err(format!("a copy failed: {error}")),
    }
}

/// Text that was read gives itself when written and read again.
fn written_again(tables: &Tables, events: &[Event]) -> Result<(), String> {
    let write = |tables: &Tables, events: &[Event]| -> Result<Vec<u8>, Error> {
        let mut writer = TextWriter::new("written", Vec::new());
        writer.write(tables, events)?;
        writer.finish()
    };
    let round = || -> Result<bool, Error> {
        let once = write(tables, events)?;
        if once.is_empty() {
            return Ok(true);
        }
        let input = Cursor::new(once.clone());
        let mut source = TextSource::new("written", input, TextOptions::default());
        let events = drain(&mut source)?;
        Ok(write(source.tables(), &events)? == once)
    };
    match round() {
        Ok(true) => Ok(()),
        Ok(false) => Err("text changed when written and read".to_owned()),
        Err(error) => Err(format!("text that was read cannot be read again: {error}")),
    }
}
