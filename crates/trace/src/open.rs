//! Opens a trace, whatever it is: `.utr` or text, plain or packed, a file or a pipe.
//!
//! Content decides, never the name.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use crate::utr::MAGIC;
use crate::{Error, Source, TextOptions, TextSource, UtrSource};

/// How a trace is opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OpenOptions {
    /// Of a text trace, leave out what cannot be read, and count it.
    pub lenient: bool,
}

/// How a file is packed as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compression {
    None,
    Gzip,
    Zstd,
}

/// Opens the trace at a path; `-` is the standard input.
pub fn open(path: &Path, options: OpenOptions) -> Result<Box<dyn Source + Send>, Error> {
    if path.as_os_str() == "-" {
        return open_stdin(options);
    }
    Opened::file(path)?.source(options)
}

/// Opens the trace that the standard input brings.
pub fn open_stdin(options: OpenOptions) -> Result<Box<dyn Source + Send>, Error> {
    Opened::stream("standard input".to_owned(), io::stdin())?.source(options)
}

/// Counts the bytes that pass.
struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

type Input = Box<dyn Read + Send>;

/// An input, unpacked, of which the beginning is known.
pub(crate) struct Opened {
    pub name: String,
    pub compression: Compression,
    /// A `.utr` file that can be mapped as it is.
    file: Option<File>,
    /// Bytes of the file taken so far, and how many there are.
    taken: Arc<AtomicU64>,
    pub size: Option<u64>,
    beginning: Vec<u8>,
    rest: Input,
}

/// What the beginning of an input tells.
pub(crate) enum Content {
    Utr(File),
    Text(Input),
}

impl Opened {
    pub fn file(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let failed = |error| Error::io(&name, error);
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(Error::Directory { file: name });
        }
        // Pipes and devices have no size and cannot be mapped.
        let mappable = if metadata.is_file() {
            Some(file.try_clone().map_err(failed)?)
        } else {
            None
        };
        let size = metadata.is_file().then_some(metadata.len());
        Self::new(name.clone(), Box::new(file), mappable, size)
    }

    pub fn stream(name: String, input: impl Read + Send + 'static) -> Result<Self, Error> {
        Self::new(name, Box::new(input), None, None)
    }

    fn new(
        name: String,
        input: Input,
        file: Option<File>,
        size: Option<u64>,
    ) -> Result<Self, Error> {
        let failed = |error| Error::io(&name, error);
        let taken = Arc::<AtomicU64>::default();
        let mut input: Input = Box::new(Counted {
            inner: input,
            count: Arc::clone(&taken),
        });
        let beginning = read_beginning(&mut input).map_err(failed)?;
        let packed = match beginning.as_slice() {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Compression::Zstd,
            _ => Compression::None,
        };
        if packed == Compression::None {
            return Ok(Self {
                name,
                compression: packed,
                file,
                taken,
                size,
                beginning,
                rest: input,
            });
        }
        let whole = io::Cursor::new(beginning).chain(input);
        let mut unpacked: Input = if packed == Compression::Gzip {
            Box::new(MultiGzDecoder::new(whole))
        } else {
            Box::new(zstd::Decoder::new(whole).map_err(failed)?)
        };
        let beginning = read_beginning(&mut unpacked).map_err(failed)?;
        Ok(Self {
            name,
            compression: packed,
            file: None,
            taken,
            size,
            beginning,
            rest: unpacked,
        })
    }

    /// Tells what the input is; a `.utr` trace that is no plain file is copied into a temporary one.
    pub fn content(self) -> Result<(String, Content), Error> {
        let name = self.name;
        if self.beginning.is_empty() {
            return Err(Error::Empty { file: name });
        }
        let magic = self.beginning.get(..8).unwrap_or(&self.beginning);
        // The first byte of the magic begins no text.
        if magic[0] == MAGIC[0] && MAGIC.starts_with(magic) {
            let file = match self.file {
                Some(mut file) => file.seek(SeekFrom::Start(0)).map(|_| file),
                None => copy(&self.beginning, self.rest),
            };
            let file = file.map_err(|error| Error::io(&name, error))?;
            return Ok((name, Content::Utr(file)));
        }
        if looks_binary(&self.beginning) {
            return Err(Error::NotATrace { file: name });
        }
        let whole = io::Cursor::new(self.beginning).chain(self.rest);
        Ok((name, Content::Text(Box::new(whole))))
    }

    pub fn source(self, options: OpenOptions) -> Result<Box<dyn Source + Send>, Error> {
        let (taken, size) = (Arc::clone(&self.taken), self.size);
        match self.content()? {
            (name, Content::Utr(file)) => Ok(Box::new(UtrSource::new(name, file)?)),
            (name, Content::Text(input)) => {
                let text = TextOptions {
                    lenient: options.lenient,
                };
                let source = TextSource::with_progress(name, input, text, taken, size);
                Ok(Box::new(source))
            }
        }
    }
}

fn read_beginning(input: &mut Input) -> io::Result<Vec<u8>> {
    let mut beginning = Vec::new();
    input.take(4096).read_to_end(&mut beginning)?;
    Ok(beginning)
}

/// Zero bytes, or mostly what no UTF-8 text contains.
fn looks_binary(beginning: &[u8]) -> bool {
    let text = String::from_utf8_lossy(beginning);
    let odd = |c: &char| *c == '\u{fffd}' || c.is_control() && !c.is_ascii_whitespace();
    beginning.contains(&0) || 8 * text.chars().filter(odd).count() > text.chars().count()
}

fn copy(beginning: &[u8], rest: Input) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(beginning)?;
    io::copy(&mut BufReader::with_capacity(256 << 10, rest), &mut file)?;
    Ok(file)
}
