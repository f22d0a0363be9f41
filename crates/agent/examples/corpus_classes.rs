//! Writes every class of jars and directories below one directory, for a class loader of the program to define.
//!
//! `cargo run --release -p untorn-agent --example corpus_classes -- OUT JAR|DIR...`
//! A directory is an extracted run-time image, a module each: no loader of a program may define its classes, and the agent watches none of them.
//! They are therefore copied into packages below `copy`, with every mention of each other; only what the JVM itself refers to, most of `java/lang`, keeps its name and is not copied.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [out, inputs @ ..] = &args[..] else {
        eprintln!("usage: corpus_classes OUT JAR|DIR...");
        return ExitCode::FAILURE;
    };
    let mut writer = Writer {
        out: out.as_ref(),
        written: 0,
        kept_out: 0,
    };
    for input in inputs {
        let input = Path::new(input);
        let done = if input.is_dir() {
            writer.image(input)
        } else {
            writer.jar(input)
        };
        if let Err(error) = done {
            eprintln!("{}: {error}", input.display());
            return ExitCode::FAILURE;
        }
    }
    println!(
        "{} classes, {} left out (descriptions of modules, further versions of a class, java.lang)",
        writer.written, writer.kept_out
    );
    ExitCode::SUCCESS
}

struct Writer<'o> {
    out: &'o Path,
    written: usize,
    kept_out: usize,
}

impl Writer<'_> {
    fn jar(&mut self, jar: &Path) -> Outcome<()> {
        let mut archive = zip::ZipArchive::new(std::fs::File::open(jar)?)?;
        for index in 0..archive.len() {
            let mut file = archive.by_index(index)?;
            let name = file.name()?.into_owned();
            if !is_class(Path::new(&name)) {
                continue;
            }
            if name.starts_with("META-INF/") || name.ends_with("module-info.class") {
                self.kept_out += 1;
                continue;
            }
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            self.write(&name, &bytes)?;
        }
        Ok(())
    }

    fn image(&mut self, folder: &Path) -> Outcome<()> {
        for module in std::fs::read_dir(folder)? {
            let module = module?.path();
            self.module(&module, &module)?;
        }
        Ok(())
    }

    fn module(&mut self, root: &Path, folder: &Path) -> Outcome<()> {
        if !folder.is_dir() {
            return Ok(());
        }
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                self.module(root, &path)?;
            } else if is_class(&path) {
                let name = path.strip_prefix(root)?.to_string_lossy().into_owned();
                if name == "module-info.class" || !is_copied(name.as_bytes()) {
                    self.kept_out += 1;
                    continue;
                }
                let copied = relocated(&std::fs::read(&path)?).ok_or("no class file")?;
                self.write(&format!("copy/{name}"), &copied)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> Outcome<()> {
        let target = self.out.join(name);
        if let Some(folder) = target.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(target, bytes)?;
        self.written += 1;
        Ok(())
    }
}

fn is_class(path: &Path) -> bool {
    path.extension().is_some_and(|ext| ext == "class")
}

/// Where packages of the platform begin.
const ROOTS: [&[u8]; 9] = [
    b"java/",
    b"javax/",
    b"jdk/",
    b"sun/",
    b"com/sun/",
    b"org/w3c/",
    b"org/xml/",
    b"org/ietf/",
    b"org/jcp/",
];

/// Packages below `java/lang` to which the JVM itself does not refer.
const FREE: [&[u8]; 4] = [b"classfile/", b"foreign/", b"management/", b"module/"];

/// Classes outside `java/lang` from which classes in it inherit.
const INHERITED: [&[u8]; 2] = [
    b"java/security/Permission",
    b"java/security/BasicPermission",
];

/// Whether a class whose name begins here is copied.
fn is_copied(name: &[u8]) -> bool {
    let whole = |class: &&[u8]| {
        let rest = name.strip_prefix(*class);
        rest.is_some_and(|rest| rest.first().is_none_or(|&next| b";.<".contains(&next)))
    };
    let of_language = name.strip_prefix(b"java/lang/");
    ROOTS.iter().any(|root| name.starts_with(root))
        && of_language.is_none_or(|rest| FREE.iter().any(|package| rest.starts_with(package)))
        && !INHERITED.iter().any(whole)
}

/// A text of the constant pool with the names of copied classes changed, in names, descriptors and signatures alike.
fn renamed(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for (index, &byte) in text.iter().enumerate() {
        let starts = match index.checked_sub(1).map(|before| text[before]) {
            None => true,
            // The L of a descriptor stands at its beginning or behind another type.
            Some(b'L') => index < 2 || b"[;()<:*+-BCDFIJSZV".contains(&text[index - 2]),
            Some(_) => false,
        };
        if starts && is_copied(&text[index..]) {
            out.extend_from_slice(b"copy/");
        }
        out.push(byte);
    }
    out
}

/// A class file with all texts of its constant pool renamed; `None` if it is none.
fn relocated(bytes: &[u8]) -> Option<Vec<u8>> {
    let short = |at: usize| {
        Some(usize::from(u16::from_be_bytes([
            *bytes.get(at)?,
            *bytes.get(at + 1)?,
        ])))
    };
    let mut out = bytes.get(..10)?.to_vec();
    let count = short(8)?;
    let (mut at, mut index) = (10, 1);
    while index < count {
        let tag = *bytes.get(at)?;
        let length = match tag {
            1 => {
                let text = bytes.get(at + 3..at + 3 + short(at + 1)?)?;
                let new = renamed(text);
                out.push(tag);
                out.extend_from_slice(&u16::try_from(new.len()).ok()?.to_be_bytes());
                out.extend_from_slice(&new);
                at += 3 + text.len();
                index += 1;
                continue;
            }
            7 | 8 | 16 | 19 | 20 => 3,
            15 => 4,
            3 | 4 | 9..=12 | 17 | 18 => 5,
            5 | 6 => 9,
            _ => return None,
        };
        out.extend_from_slice(bytes.get(at..at + length)?);
        at += length;
        index += if length == 9 { 2 } else { 1 };
    }
    out.extend_from_slice(bytes.get(at..)?);
    Some(out)
}
