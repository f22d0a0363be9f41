//! `untorn trace`: looks into traces and changes their form.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use untorn_model::{Event, Tables};
use untorn_trace::info::{Info, Layout, summary};
use untorn_trace::{
    Compression, Error, OpenOptions, OrderedWriter, Source, TextWriter, UtrOptions, open,
};

use crate::cli::{InputArgs, TraceArgs, TraceCommand};
use crate::failure::Failure;
use crate::output::{print, tell};
use crate::progress::Bar;

pub fn run(args: &TraceArgs) -> Result<ExitCode, Failure> {
    match &args.command {
        TraceCommand::Info { trace, input } => {
            let info = summary(trace, options(input))?;
            print(&describe(&info))?;
            tell(&info.notes);
        }
        TraceCommand::Cat { trace, input } => cat(trace, input)?,
        TraceCommand::Convert {
            trace,
            out,
            no_compress,
            input,
        } => convert(trace, out, !no_compress, input)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn options(input: &InputArgs) -> OpenOptions {
    OpenOptions {
        lenient: input.lenient,
    }
}

fn describe(info: &Info) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{:<12} {value}", format!("{name}:"));
    };
    line("trace", info.name.clone());
    let packed = match info.compression {
        Compression::None => "",
        Compression::Gzip => ", gzip",
        Compression::Zstd => ", zstd",
    };
    let form = match &info.layout {
        Layout::Text => format!("STD text{packed}"),
        Layout::Utr {
            version,
            ordered,
            complete,
            ..
        } => format!(
            ".utr version {version}, {}{}{packed}",
            if *ordered {
                "totally ordered"
            } else {
                "ordered by edges"
            },
            if *complete {
                ""
            } else {
                ", cut off before its end"
            },
        ),
    };
    line("form", form);
    if let Some(size) = info.size {
        let per_event = size as f64 / (info.events.max(1)) as f64;
        line("size", format!("{size} bytes, {per_event:.1} per event"));
    }
    line("events", info.events.to_string());
    for (kind, count) in &info.kinds {
        line(&format!("  {}", kind.name()), count.to_string());
    }
    line("threads", info.threads.len().to_string());
    for (name, events) in &info.threads {
        line(&format!("  {name}"), format!("{events} events"));
    }
    for (name, count) in [
        ("classes", info.classes),
        ("methods", info.methods),
        ("objects", info.objects),
        ("locations", info.variables),
        ("locks", info.locks),
        ("regions", info.regions),
        ("sites", info.sites),
    ] {
        line(name, count.to_string());
    }
    if let Layout::Utr { chunks, .. } = &info.layout {
        for chunk in chunks {
            line(
                &format!("{} chunks", chunk.kind),
                format!(
                    "{} ({} compressed), {} bytes, {} unpacked",
                    chunk.count, chunk.packed, chunk.stored, chunk.raw
                ),
            );
        }
    }
    text
}

/// Writes every event of a source, telling the user how far it is.
fn copy(
    source: &mut dyn Source,
    mut write: impl FnMut(&Tables, &[Event]) -> Result<(), Error>,
) -> Result<(), Failure> {
    let mut events = Vec::new();
    let mut bar = Bar::new();
    loop {
        source.fill(&mut events)?;
        if events.is_empty() {
            break;
        }
        write(source.tables(), &events)?;
        bar.update(source.progress());
    }
    drop(bar);
    tell(&source.notes());
    Ok(())
}

fn cat(trace: &Path, input: &InputArgs) -> Result<(), Failure> {
    let mut source = open(trace, options(input))?;
    let out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let mut writer = TextWriter::new("standard output", out);
    copy(source.as_mut(), |tables, events| {
        writer.write(tables, events)
    })
    .map_err(closed)?;
    let mut out = writer.finish().map_err(|error| closed(error.into()))?;
    out.flush().map_err(Failure::output)
}

/// A reader of our output that stops early, as `head` does, is no failure.
fn closed(failure: Failure) -> Failure {
    match failure {
        Failure::Trace(Error::Io { source, .. })
            if source.kind() == std::io::ErrorKind::BrokenPipe =>
        {
            Failure::OutputClosed
        }
        other => other,
    }
}

fn convert(trace: &Path, out: &Path, compress: bool, input: &InputArgs) -> Result<(), Failure> {
    let ending = out
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or("");
    if !matches!(ending, "utr" | "std" | "txt") {
        return Err(Failure::Usage(format!(
            "{}: the ending says which form to write: .utr, or .std for text",
            out.display()
        )));
    }
    let mut source = open(trace, options(input))?;
    let name = out.display().to_string();
    // Written beside and renamed, so that a failed conversion leaves no half file and may read and write one path.
    let part = out.with_extension(format!("{ending}.part"));
    let file = File::create(&part).map_err(|error| Failure::file(&part, error))?;
    let written = if ending == "utr" {
        write_utr(&mut *source, &name, file, compress)
    } else {
        write_text(&mut *source, &name, file)
    };
    if let Err(failure) = written {
        let _ = std::fs::remove_file(&part);
        return Err(failure);
    }
    std::fs::rename(&part, out).map_err(|error| Failure::file(out, error))
}

fn write_utr(
    source: &mut dyn Source,
    name: &str,
    file: File,
    compress: bool,
) -> Result<(), Failure> {
    let options = UtrOptions { compress };
    let mut writer = OrderedWriter::new(name, file, options)?;
    copy(source, |tables, events| writer.write(tables, events))?;
    writer.finish(source.tables())?;
    Ok(())
}

fn write_text(source: &mut dyn Source, name: &str, file: File) -> Result<(), Failure> {
    let mut writer = TextWriter::new(name, BufWriter::with_capacity(1 << 16, file));
    copy(source, |tables, events| writer.write(tables, events))?;
    let mut out = writer.finish()?;
    out.flush().map_err(|error| Failure::File {
        path: name.to_owned(),
        source: error,
    })
}
