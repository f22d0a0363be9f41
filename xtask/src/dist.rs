//! `cargo xtask dist`: what a user installs, in `dist/`.
//!
//! Everything is packed from bytes in memory in a fixed order and with fixed times, so the same program gives the same files.
//! The program describes its own command line: `untorn generate completions SHELL` prints a completion script,
//! and `untorn generate man DIR` writes a page per command.

mod bill;
mod debian;
mod image;
mod maven;
mod platform;
mod tree;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use sha2::{Digest, Sha256};

use crate::annotations;
use crate::error::Error;
use crate::process;
use crate::setup::Setup;
use crate::workspace::Workspace;
use platform::Platform;
use tree::{Tree, gzip};

const VERSION: &str = env!("CARGO_PKG_VERSION");
const AGENT: &str = "libuntorn_agent.so";
/// The program that `untorn archive` starts, beside itself.
const ARCHIVE: &str = "untorn-archive";

/// Shells, the file name under which each looks for a completion script, and where a system keeps it.
const COMPLETIONS: [(&str, &str, Option<&str>); 5] = [
    (
        "bash",
        "untorn.bash",
        Some("usr/share/bash-completion/completions/untorn"),
    ),
    (
        "zsh",
        "_untorn",
        Some("usr/share/zsh/vendor-completions/_untorn"),
    ),
    (
        "fish",
        "untorn.fish",
        Some("usr/share/fish/vendor_completions.d/untorn.fish"),
    ),
    ("elvish", "untorn.elv", None),
    ("powershell", "_untorn.ps1", None),
];

/// Files of the repository that go with the program.
const DOCUMENTS: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Packs the program into dist/: archive, Debian package, container image, wheel, Maven repository, sums.
///
/// What an earlier run left there is removed first.
#[derive(clap::Args)]
#[command(
    after_help = "Example: cargo xtask dist --target x86_64-unknown-linux-gnu --target aarch64-unknown-linux-gnu"
)]
pub struct Arguments {
    /// The system to build for, as rustc names it; default: this one
    #[arg(long, value_name = "TRIPLE")]
    target: Vec<String>,
    /// The folder to fill; default: dist/
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Pack what the release build has made for this system instead of building anew
    #[arg(long, conflicts_with = "target")]
    no_build: bool,
    /// Leave out the Maven repository with the plugins
    #[arg(long)]
    no_maven: bool,
    /// Use this as Maven's local repository, so that the user's own does not get to know what is built here
    #[arg(long, value_name = "DIR")]
    maven_local: Option<PathBuf>,
    /// How much to compress, 0 to 9
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(0..=9))]
    level: u32,
}

/// What is shipped of one platform.
#[derive(Debug)]
struct Built {
    platform: Platform,
    program: Vec<u8>,
    archive: Vec<u8>,
    agent: Vec<u8>,
}

/// What is the same on all platforms.
#[derive(Debug, Default)]
struct Shared {
    /// By file name.
    documents: Vec<(&'static str, Vec<u8>)>,
    completions: Vec<Vec<u8>>,
    pages: Vec<(String, Vec<u8>)>,
    annotations: Vec<u8>,
}

pub fn run(arguments: &Arguments, workspace: &Workspace) -> Result<ExitCode, Error> {
    let mut setup = Setup::prepare()?;
    let host = bill::host()?;
    let targets = if arguments.target.is_empty() {
        vec![host.clone()]
    } else {
        arguments.target.clone()
    };
    let platforms = (targets.iter())
        .map(|target| Platform::of(target))
        .collect::<Result<Vec<_>, _>>()?;
    let mut built = Vec::new();
    for platform in platforms {
        let folder = if arguments.no_build {
            workspace
                .untorn()?
                .parent()
                .map(Path::to_owned)
                .unwrap_or_default()
        } else {
            platform.build(&setup, workspace, &host)?
        };
        built.push(Built {
            program: program(&folder.join("untorn"), arguments.no_build)?,
            archive: program(&folder.join(ARCHIVE), arguments.no_build)?,
            // Beside the program it may be missing or old: cargo leaves the one that is inside the program here.
            agent: read(&folder.join("deps").join(AGENT))?,
            platform,
        });
    }
    let jdk = setup.jdk_homes().next().ok_or(Error::Absent {
        what: "JDK",
        needed_for: "it compiles the annotations",
    })?;
    let jar = annotations::build(jdk, workspace.root(), &workspace.cache("annotations"))?;
    // A program for another processor cannot be asked; that of this one says the same.
    let speaker = if arguments.no_build || targets.contains(&host) {
        let folder = if arguments.no_build {
            "release"
        } else {
            "dist"
        };
        workspace.cache(folder).join("untorn")
    } else {
        workspace.untorn()?
    };
    let shared = Shared::gather(&speaker, workspace.root(), &jar)?;
    let dist = (arguments.output.clone()).unwrap_or_else(|| workspace.root().join("dist"));
    empty(&dist)?;
    for one in &built {
        let parts = bill::parts(workspace.root(), &one.platform.triple)?;
        let papers = [
            ("untorn.cdx.json", bill::cyclonedx(VERSION, &parts)),
            (
                "THIRD-PARTY-LICENSES.txt",
                bill::licences(&parts)?.into_bytes(),
            ),
        ];
        pack(one, &shared, &papers, &dist, arguments.level)?;
    }
    if !arguments.no_maven {
        let programs: Vec<_> = (built.iter())
            .map(|one| (one.platform.maven(), one.program.as_slice()))
            .collect();
        let local = arguments.maven_local.as_deref();
        maven::deploy(&mut setup, workspace, &programs, local, &dist.join("maven"))?;
    }
    write_sums(&dist)?;
    for file in files_in(&dist)? {
        println!("{}", file.display());
    }
    Ok(ExitCode::SUCCESS)
}

impl Shared {
    fn gather(untorn: &Path, root: &Path, annotations: &Path) -> Result<Self, Error> {
        let mut shared = Self {
            annotations: read(annotations)?,
            ..Self::default()
        };
        for name in DOCUMENTS {
            shared.documents.push((name, read(&root.join(name))?));
        }
        for (shell, ..) in COMPLETIONS {
            let mut command = Command::new(untorn);
            let script = process::output(command.args(["generate", "completions", shell]))?;
            shared.completions.push(script);
        }
        let pages = tempfile::tempdir().map_err(Error::in_file("create", &std::env::temp_dir()))?;
        process::run(
            Command::new(untorn)
                .args(["generate", "man"])
                .arg(pages.path()),
        )?;
        for page in files_in(pages.path())? {
            let name = page.file_name().unwrap_or_default().to_string_lossy();
            shared.pages.push((name.into_owned(), read(&page)?));
        }
        Ok(shared)
    }
}

/// Writes the archive, the package, the image and the wheel of one platform.
fn pack(
    built: &Built,
    shared: &Shared,
    papers: &[(&'static str, Vec<u8>)],
    dist: &Path,
    level: u32,
) -> Result<(), Error> {
    let platform = &built.platform;
    let libc = platform::libc([&built.program, &built.archive]);
    let write = |name: String, bytes: std::io::Result<Vec<u8>>| {
        let path = dist.join(name);
        (bytes.and_then(|bytes| fs::write(&path, bytes))).map_err(Error::in_file("write", &path))
    };
    let documents: Vec<_> = shared.documents.iter().chain(papers).cloned().collect();

    let mut archive = Tree::default();
    archive.add_program("bin/untorn", built.program.as_slice());
    archive.add_program(format!("bin/{ARCHIVE}"), built.archive.as_slice());
    archive.add(format!("lib/{AGENT}"), built.agent.as_slice());
    archive.add(
        format!("lib/{}", annotations::JAR),
        shared.annotations.as_slice(),
    );
    for ((_, file, _), script) in COMPLETIONS.iter().zip(&shared.completions) {
        archive.add(format!("completions/{file}"), script.as_slice());
    }
    for (name, page) in &shared.pages {
        archive.add(format!("man/{name}"), page.as_slice());
    }
    for (name, bytes) in &documents {
        archive.add(*name, bytes.as_slice());
    }
    let name = format!("untorn-{VERSION}-{}", platform.name());
    let tar = archive.tar(&format!("{name}/"));
    write(
        format!("{name}.tar.gz"),
        tar.and_then(|tar| gzip(&tar, level)),
    )?;

    let mut system = Tree::default();
    system.add_program("usr/bin/untorn", built.program.as_slice());
    system.add_program(format!("usr/bin/{ARCHIVE}"), built.archive.as_slice());
    system.add(format!("usr/lib/untorn/{AGENT}"), built.agent.as_slice());
    system.add(
        format!("usr/share/java/{}", annotations::JAR),
        shared.annotations.as_slice(),
    );
    for ((.., place), script) in COMPLETIONS.iter().zip(&shared.completions) {
        if let Some(place) = place {
            system.add(*place, script.as_slice());
        }
    }
    for (name, page) in &shared.pages {
        let page = gzip(page, 9).map_err(Error::in_file("compress", Path::new(name)))?;
        system.add(format!("usr/share/man/man1/{name}.gz"), page);
    }
    for (name, bytes) in &documents {
        system.add(format!("usr/share/doc/untorn/{name}"), bytes.as_slice());
    }
    system.add(
        "usr/share/doc/untorn/copyright",
        [&b"MIT OR Apache-2.0\n\n"[..], &read_licences(&documents)].concat(),
    );
    let control = debian::Control {
        version: VERSION,
        architecture: platform.debian(),
        libc: &libc,
    };
    write(
        format!("untorn_{VERSION}_{}.deb", platform.debian()),
        debian::package(&control, &system, level),
    )?;

    let mut image = Tree::default();
    image.add_program("usr/local/bin/untorn", built.program.as_slice());
    image.add_program(format!("usr/local/bin/{ARCHIVE}"), built.archive.as_slice());
    for (name, bytes) in &documents {
        image.add(
            format!("usr/local/share/doc/untorn/{name}"),
            bytes.as_slice(),
        );
    }
    write(
        format!("{name}.oci.tar"),
        image::image(
            VERSION,
            platform.debian(),
            &image,
            "/usr/local/bin/untorn",
            level,
        ),
    )?;

    write(
        wheel::name(VERSION, &libc, platform.processor()),
        wheel::wheel(
            VERSION,
            &libc,
            platform.processor(),
            &[("untorn", &built.program), (ARCHIVE, &built.archive)],
            &documents,
            level,
        ),
    )
}

fn read_licences(documents: &[(&str, Vec<u8>)]) -> Vec<u8> {
    (documents.iter())
        .filter(|(name, _)| name.starts_with("LICENSE"))
        .flat_map(|(_, bytes)| bytes.clone())
        .collect()
}

/// The sums of all files, as `sha256sum --check` reads them.
fn write_sums(dist: &Path) -> Result<(), Error> {
    let mut lines = String::new();
    for file in files_in(dist)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        lines += &format!("{}  {name}\n", sum(&read(&file)?));
    }
    let sums = dist.join("SHA256SUMS");
    fs::write(&sums, lines).map_err(Error::in_file("write", &sums))
}

fn sum(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn empty(folder: &Path) -> Result<(), Error> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(Error::in_file("remove", folder))?;
    }
    fs::create_dir_all(folder).map_err(Error::in_file("create", folder))
}

/// A program as it is shipped; what a release build made for debuggers is left out.
fn program(file: &Path, strip: bool) -> Result<Vec<u8>, Error> {
    if !strip {
        return read(file);
    }
    let small =
        tempfile::NamedTempFile::new().map_err(Error::in_file("create", &std::env::temp_dir()))?;
    let mut command = Command::new("strip");
    command.arg("--strip-debug").arg("-o").arg(small.path());
    process::run_quietly(command.arg(file))?;
    read(small.path())
}

fn read(file: &Path) -> Result<Vec<u8>, Error> {
    fs::read(file).map_err(Error::in_file("read", file))
}

/// The files of a folder itself, by name.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::in_file("list", folder))? {
        let path = entry.map_err(Error::in_file("list", folder))?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
