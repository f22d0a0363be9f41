//! The list of programs, and how they are compiled.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use untorn_jdk::Jdk;

/// A program to watch; it takes how many threads and how much work for each.
#[derive(Debug)]
pub struct Program {
    pub name: &'static str,
    /// The folder of its sources, which is its package.
    package: &'static str,
    /// Its main class in that package.
    class: &'static str,
    /// The pinned jars that it needs.
    pub jars: &'static [&'static str],
    /// Work for a quick test.
    pub little: u32,
    /// Work for about a second on one core.
    pub much: u32,
}

/// What a program is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Kernel,
    Compute,
    Driver,
}

impl Program {
    pub fn kind(&self) -> Kind {
        match self.package {
            "kernels" => Kind::Kernel,
            "compute" => Kind::Compute,
            _ => Kind::Driver,
        }
    }
}

const fn driver(
    name: &'static str,
    class: &'static str,
    jars: &'static [&'static str],
    little: u32,
    much: u32,
) -> Program {
    Program {
        name,
        package: "drivers",
        class,
        jars,
        little,
        much,
    }
}

const fn kernel(name: &'static str, class: &'static str, much: u32) -> Program {
    Program {
        name,
        package: "kernels",
        class,
        jars: &[],
        little: much / 1000,
        much,
    }
}

/// Programs over libraries.
pub const DRIVERS: [Program; 9] = [
    driver("h2", "H2", &["h2"], 100, 3500),
    driver("hsqldb", "Hsqldb", &["hsqldb"], 200, 9000),
    driver("lucene", "Lucene", &["lucene-core"], 150, 2000),
    driver("xalan", "Xalan", &["xalan", "serializer"], 5, 120),
    driver(
        "jetty",
        "Jetty",
        &[
            "jetty-server",
            "jetty-http",
            "jetty-io",
            "jetty-util",
            "slf4j-api",
        ],
        200,
        3500,
    ),
    driver(
        "netty",
        "Netty",
        &[
            "netty-codec",
            "netty-transport",
            "netty-resolver",
            "netty-buffer",
            "netty-common",
        ],
        1000,
        15_000,
    ),
    driver("caffeine", "Caffeine", &["caffeine"], 2000, 300_000),
    driver(
        "ehcache",
        "Ehcache",
        &["ehcache", "cache-api", "slf4j-api"],
        2000,
        600_000,
    ),
    driver("quartz", "Quartz", &["quartz", "slf4j-api"], 50, 1000),
];

/// Programs that do mostly one thing.
pub const KERNELS: [Program; 6] = [
    kernel("fields", "Fields", 6_000_000),
    kernel("tree", "Tree", 3000),
    kernel("locks", "Locks", 20_000_000),
    kernel("local", "Local", 1_000_000),
    kernel("scene", "Scene", 3000),
    kernel("turns", "Turns", 3000),
];

const fn compute(name: &'static str, class: &'static str, little: u32, much: u32) -> Program {
    Program {
        name,
        package: "compute",
        class,
        jars: &[],
        little,
        much,
    }
}

/// Programs that compute, after the kinds that the papers measure: much is read by several threads, and little is written.
pub const COMPUTE: [Program; 9] = [
    compute("raytracer", "RayTracer", 20, 7000),
    compute("sparse", "SparseMultiply", 5, 30_000),
    compute("lu", "Lu", 40, 1300),
    compute("sor", "Relaxation", 2, 6000),
    compute("molecules", "Molecules", 2, 3000),
    compute("montecarlo", "MonteCarlo", 20, 60_000),
    compute("tsp", "BranchAndBound", 1, 60),
    compute("fourier", "Fourier", 1, 150),
    compute("cipher", "Cipher", 500, 700_000),
];

/// A program that has nothing to do.
pub const HELLO: Program = kernel("hello", "Hello", 0);

/// What runs a program and measures its threads; takes a file, a class and the arguments of its main method.
pub const MEASURE: &str = "measure.Measure";

/// A class to run.
#[derive(Clone, Debug)]
pub struct Class {
    pub class_path: String,
    pub name: String,
}

/// A folder with compiled programs.
#[derive(Debug)]
pub struct Folder {
    classes: PathBuf,
    corpus: Option<PathBuf>,
}

impl Folder {
    /// Compiles the kernels, and the drivers if there is a folder with the jars.
    pub fn compile(jdk: &Jdk, classes: &Path, corpus: Option<PathBuf>) -> io::Result<Self> {
        let folder = Self {
            classes: classes.to_owned(),
            corpus,
        };
        for package in ["kernels", "compute", "measure"] {
            compile(jdk, &sources(package)?, "", classes)?;
        }
        if folder.corpus.is_some() {
            let jars = DRIVERS.iter().flat_map(|driver| driver.jars);
            let jars: Vec<String> = jars.map(|jar| folder.jar(jar)).collect();
            compile(jdk, &sources("drivers")?, &jars.join(":"), classes)?;
        }
        Ok(folder)
    }

    /// The program as a class to run; `None` without its jars.
    pub fn class(&self, program: &Program) -> Option<Class> {
        if !program.jars.is_empty() && self.corpus.is_none() {
            return None;
        }
        let mut path = vec![self.classes.to_string_lossy().into_owned()];
        path.extend(program.jars.iter().map(|jar| self.jar(jar)));
        Some(Class {
            class_path: path.join(":"),
            name: format!("{}.{}", program.package, program.class),
        })
    }

    fn jar(&self, name: &str) -> String {
        let folder = self.corpus.as_deref().unwrap_or(Path::new(""));
        folder
            .join(format!("{name}.jar"))
            .to_string_lossy()
            .into_owned()
    }
}

/// The source files of a package.
fn sources(package: &str) -> io::Result<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("java")
        .join(package);
    let mut all = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<PathBuf>>>()?;
    all.sort();
    Ok(all)
}

/// Compiles for the oldest JDK that there is to test.
pub fn compile(jdk: &Jdk, sources: &[PathBuf], class_path: &str, into: &Path) -> io::Result<()> {
    let run = Command::new(jdk.tool("javac"))
        .args(["--release", "17", "-g", "-nowarn", "-cp", class_path, "-d"])
        .arg(into)
        .args(sources)
        .output()?;
    if run.status.success() {
        Ok(())
    } else {
        Err(io::Error::other(
            String::from_utf8_lossy(&run.stderr).into_owned(),
        ))
    }
}
