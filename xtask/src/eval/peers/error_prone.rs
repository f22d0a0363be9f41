//! Error Prone, which is a plugin of the Java compiler: the source files of the methods at fault are compiled with it against the library's own jar.
//!
//! So it does not matter what else the library needs to be built; and its checks look at one file at a time.

use std::fs::{self, File};
use std::io::Read;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::Error;
use crate::eval::fresh;
use crate::eval::peers::Peer;
use crate::eval::peers::spotbugs::joined;
use crate::eval::subjects::is_meant;
use crate::eval::untorn::Untorn;

/// Its name in the list of pinned jars.
pub const JAR: &str = "error-prone";

/// Its checks that are about threads, all as warnings.
const CHECKS: [&str; 14] = [
    "DoubleCheckedLocking",
    "GuardedBy",
    "LockNotBeforeTry",
    "LockOnBoxedPrimitive",
    "LockOnNonEnclosingClassLiteral",
    "ModifyCollectionInEnhancedForLoop",
    "NonAtomicVolatileUpdate",
    "StaticGuardedByInstance",
    "SynchronizeOnNonFinalField",
    "ThreadJoinLoop",
    "ThreadPriorityCheck",
    "ThreadSafe",
    "UnsynchronizedOverridesSynchronized",
    "WaitNotInLoop",
];

/// What of the compiler a plugin looks into.
const EXPORTED: [&str; 8] = [
    "api",
    "file",
    "main",
    "model",
    "parser",
    "processing",
    "tree",
    "util",
];
const OPENED: [&str; 2] = ["code", "comp"];

pub fn look(
    untorn: &Untorn<'_>,
    error_prone: &[PathBuf],
    sources: Option<&Path>,
    jars: &[PathBuf],
    at_fault: &[String],
) -> Result<Peer, Error> {
    let Some(sources) = sources else {
        return Ok(Peer::not_asked("no sources"));
    };
    let folder = untorn.file("error-prone");
    fresh(&folder)?;
    let files = unpacked(sources, &folder, at_fault)?;
    if files.is_empty() {
        return Ok(Peer::not_asked("no source of it"));
    }
    // What was written for an old language may need it, and what was written for a new one does.
    for language in [&[][..], &["-source", "8"]] {
        let Some(said) = compile(untorn, error_prone, &files, jars, &folder, language)? else {
            continue;
        };
        let methods = Methods::of(untorn, &folder)?;
        let reports: Vec<(String, bool)> = warnings(&said)
            .map(|warning| {
                let names = methods.at(&warning).is_some_and(|(class, method)| {
                    (at_fault.iter()).any(|meant| is_meant(class, method, meant))
                });
                (warning.check, names)
            })
            .collect();
        return Ok(Peer::of(&reports));
    }
    Ok(Peer::not_asked("does not compile"))
}

/// What the compiler said; nothing if it refused the files.
fn compile(
    untorn: &Untorn<'_>,
    error_prone: &[PathBuf],
    files: &[PathBuf],
    jars: &[PathBuf],
    folder: &Path,
    language: &[&str],
) -> Result<Option<String>, Error> {
    let mut javac = Command::new(untorn.jdk().join("bin/javac"));
    for package in EXPORTED {
        javac.arg(format!(
            "-J--add-exports=jdk.compiler/com.sun.tools.javac.{package}=ALL-UNNAMED"
        ));
    }
    for package in OPENED {
        javac.arg(format!(
            "-J--add-opens=jdk.compiler/com.sun.tools.javac.{package}=ALL-UNNAMED"
        ));
    }
    let checks: Vec<String> = (CHECKS.iter())
        .map(|check| format!("-Xep:{check}:WARN"))
        .collect();
    javac.args([
        "-XDcompilePolicy=simple",
        "--should-stop=ifError=FLOW",
        "-Xmaxwarns",
        "10000",
    ]);
    javac.args(language);
    javac.arg("-processorpath").arg(joined(error_prone));
    javac.arg(format!(
        "-Xplugin:ErrorProne -XepDisableAllChecks -XepIgnoreUnknownCheckNames {}",
        checks.join(" ")
    ));
    javac.arg("-classpath").arg(joined(jars));
    let classes = folder.join("classes");
    fresh(&classes)?;
    javac.arg("-d").arg(classes).args(files);
    let said = untorn.file("error-prone.txt");
    let file = File::create(&said).map_err(Error::in_file("create", &said))?;
    let ended = untorn.bounded_into(&mut javac, Stdio::null(), file.into())?;
    let text = fs::read(&said).map_err(Error::in_file("read", &said))?;
    let compiled = ended.ends_with(": 0");
    Ok(compiled.then(|| String::from_utf8_lossy(&text).into_owned()))
}

/// Takes the files of the classes of these methods out of a jar of sources.
fn unpacked(sources: &Path, folder: &Path, at_fault: &[String]) -> Result<Vec<PathBuf>, Error> {
    let wanted: Vec<String> = (at_fault.iter())
        .filter_map(|method| Some(method.rsplit_once('.')?.0))
        .map(|class| format!("{}.java", class.split('$').next().unwrap_or(class)))
        .collect();
    let in_zip = |source: zip::result::ZipError| Error::File {
        action: "read",
        path: sources.to_owned(),
        source: source.into(),
    };
    let jar = File::open(sources).map_err(Error::in_file("read", sources))?;
    let mut archive = zip::ZipArchive::new(jar).map_err(in_zip)?;
    let mut files = Vec::new();
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).map_err(in_zip)?;
        let name = entry.enclosed_name().unwrap_or_default();
        let Some(file) =
            (name.file_name()).filter(|file| wanted.iter().any(|wanted| *file == wanted.as_str()))
        else {
            continue;
        };
        let mut text = Vec::new();
        (entry.read_to_end(&mut text)).map_err(Error::in_file("read", sources))?;
        // Two classes may have one name; their files must not.
        let place = folder.join(files.len().to_string());
        fs::create_dir_all(&place).map_err(Error::in_file("create", &place))?;
        let place = place.join(file);
        fs::write(&place, text).map_err(Error::in_file("write", &place))?;
        files.push(place);
    }
    Ok(files)
}

#[derive(Debug, PartialEq, Eq)]
struct Warning {
    file: PathBuf,
    line: u32,
    check: String,
}

/// The lines `FILE:LINE: warning: [CHECK] …`.
fn warnings(said: &str) -> impl Iterator<Item = Warning> {
    said.lines().filter_map(|text| {
        let (place, rest) = text.split_once(": warning: [")?;
        let (file, line) = place.rsplit_once(':')?;
        let (check, _) = rest.split_once(']')?;
        Some(Warning {
            file: PathBuf::from(file),
            line: line.parse().ok()?,
            check: check.to_owned(),
        })
        .filter(|warning| CHECKS.contains(&warning.check.as_str()))
    })
}

/// The lines of a method, as a class file tells them.
#[derive(Debug, PartialEq, Eq)]
struct Lines {
    /// The file's name, without its folder.
    file: String,
    class: String,
    method: String,
    range: RangeInclusive<u32>,
}

struct Methods(Vec<Lines>);

impl Methods {
    /// Of the classes that were compiled into the folder.
    fn of(untorn: &Untorn<'_>, folder: &Path) -> Result<Self, Error> {
        let mut classes = Vec::new();
        class_files(&folder.join("classes"), &mut classes)?;
        let said = untorn.file("javap.txt");
        let file = File::create(&said).map_err(Error::in_file("create", &said))?;
        let mut javap = Command::new(untorn.jdk().join("bin/javap"));
        javap.args(["-p", "-l"]).args(classes);
        untorn.bounded_into(&mut javap, file.into(), Stdio::null())?;
        let text = fs::read_to_string(&said).map_err(Error::in_file("read", &said))?;
        Ok(Self(lines_in(&text)))
    }

    /// The class and the method that a warning is in: of several, that with the fewest lines.
    fn at(&self, warning: &Warning) -> Option<(&str, &str)> {
        let file = warning.file.file_name()?;
        (self.0.iter())
            .filter(|it| file == it.file.as_str() && it.range.contains(&warning.line))
            .min_by_key(|it| it.range.end() - it.range.start())
            .map(|it| (it.class.as_str(), it.method.as_str()))
    }
}

fn class_files(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Error> {
    let entries = fs::read_dir(folder).map_err(Error::in_file("read", folder))?;
    for entry in entries {
        let path = entry.map_err(Error::in_file("read", folder))?.path();
        if path.is_dir() {
            class_files(&path, found)?;
        } else if path.extension().is_some_and(|ending| ending == "class") {
            found.push(path);
        }
    }
    Ok(())
}

/// What `javap -l` printed of methods; a lambda counts as the method that it stands in.
fn lines_in(text: &str) -> Vec<Lines> {
    let mut found: Vec<Lines> = Vec::new();
    let (mut file, mut class, mut method) = (String::new(), String::new(), None);
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("Compiled from \"") {
            name.trim_end_matches('"').clone_into(&mut file);
        } else if !line.starts_with(' ') {
            let words = line.split([' ', '<', '{']);
            let mut words = words.skip_while(|word| !["class", "interface"].contains(word));
            if let Some(name) = words.nth(1) {
                name.clone_into(&mut class);
            }
        } else if let Some((head, _)) = line.split_once('(') {
            let name = head.rsplit([' ', '.']).next().unwrap_or(head);
            let lambda = name.strip_prefix("lambda$");
            let outer = lambda.and_then(|name| name.rsplit_once('$'));
            method = Some(outer.map_or(name, |(outer, _)| outer).to_owned());
        } else if let Some(number) = line.trim().strip_prefix("line ") {
            let number = number.split(':').next().and_then(|it| it.parse().ok());
            let (Some(number), Some(method)) = (number, &method) else {
                continue;
            };
            match found.last_mut() {
                Some(it) if it.class == class && it.method == *method => {
                    it.range = (*it.range.start()).min(number)..=(*it.range.end()).max(number);
                }
                _ => found.push(Lines {
                    file: file.clone(),
                    class: class.clone(),
                    method: method.clone(),
                    range: number..=number,
                }),
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_has_its_file_line_and_check() {
        let said = "a/B.java:12: warning: [DoubleCheckedLocking] Double-checked locking\n    if (x)\n\
                    a/B.java:3: warning: [deprecation] old\nNote: x\n1 warning\n";
        let all: Vec<Warning> = warnings(said).collect();
        assert_eq!(all.len(), 1);
        assert_eq!(
            (all[0].line, all[0].check.as_str()),
            (12, "DoubleCheckedLocking")
        );
    }

    #[test]
    fn methods_have_the_lines_that_javap_prints() {
        let text = "Compiled from \"B.java\"\npublic class a.B$C<T> extends a.D {\n  a.B$C();\n    LineNumberTable:\n      line 3: 0\n\n  \
                    public T get(java.lang.Object) throws a.E;\n    LineNumberTable:\n      line 7: 0\n      line 9: 4\n}\n";
        let lines: Vec<_> = lines_in(text)
            .into_iter()
            .map(|it| (it.file, it.class, it.method, it.range))
            .collect();
        let of = |method: &str| ("B.java".to_owned(), "a.B$C".to_owned(), method.to_owned());
        let [(file, class, method), (_, _, get)] = [of("B$C"), of("get")];
        assert_eq!(
            lines,
            [
                (file.clone(), class.clone(), method, 3..=3),
                (file, class, get, 7..=9)
            ]
        );
    }
}
