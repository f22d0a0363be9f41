//! Whose code a finding is in: people want to hear of their own.
//!
//! Their own are the classes of the build in the working directory (Maven's and Gradle's layouts), else what the command itself runs: directories of its class path, the package of its main class and what is beside it in the same jar.
//! If nothing of that can be found out, everything is but build tools, test frameworks and language runtimes.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Packages of those that nobody asks about.
const TOOLS: [&str; 27] = [
    "groovy.",
    "junit.",
    "kotlin.",
    "kotlinx.",
    "scala.",
    "org.apache.groovy.",
    "org.apache.maven.",
    "org.assertj.",
    "org.codehaus.classworlds.",
    "org.codehaus.groovy.",
    "org.codehaus.mojo.",
    "org.codehaus.plexus.",
    "org.eclipse.aether.",
    "org.eclipse.sisu.",
    "org.fusesource.jansi.",
    "org.gradle.",
    "worker.org.gradle.",
    "net.rubygrapefruit.",
    "org.hamcrest.",
    "org.jline.",
    "org.junit.",
    "org.opentest4j.",
    "org.mockito.",
    "org.openjdk.jmh.",
    "org.testng.",
    "org.springframework.boot.loader.",
    "sbt.",
];

/// Domains under which many people write.
const HOSTS: [&str; 7] = [
    "com.github.",
    "com.google.",
    "io.github.",
    "org.apache.",
    "org.eclipse.",
    "org.jetbrains.",
    "org.springframework.",
];

/// Files that a build has at its root.
const BUILDS: [&str; 6] = [
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "build.sbt",
];
/// Where builds keep the classes that they compile, from the folder of a module.
const CLASSES: [&str; 3] = ["target/classes", "target/test-classes", "build/classes"];
/// Modules are looked for so many folders deep.
const DEEP: usize = 3;
/// And packages below a folder of classes.
const DEEPEST_PACKAGE: usize = 24;

/// What is the user's own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Whose {
    /// Packages, without what is below them; none if that is not known.
    packages: BTreeSet<String>,
    /// Packages with what is below them.
    roots: BTreeSet<String>,
}

impl Whose {
    /// Finds it out for a command that was run in a folder.
    pub fn of(command: &[OsString], folder: &Path) -> Self {
        let mut own = Self::default();
        if BUILDS.iter().any(|name| folder.join(name).is_file()) {
            own.add_build(folder, DEEP);
        }
        if own.packages.is_empty() {
            own.add_command(command, folder);
        }
        own
    }

    /// Whether a class, by its name with dots, is the user's own.
    pub fn has(&self, class: &str) -> bool {
        let package = class.rsplit_once('.').map_or("", |(package, _)| package);
        if self.packages.is_empty() && self.roots.is_empty() {
            return !TOOLS.iter().any(|tool| class.starts_with(tool));
        }
        let below = |root: &String| {
            package == root
                || package
                    .strip_prefix(root.as_str())
                    .is_some_and(|rest| rest.starts_with('.'))
        };
        self.packages.contains(package) || self.roots.iter().any(below)
    }

    /// What was found out, in words.
    pub fn describe(&self) -> String {
        let mut names: Vec<String> = (self.roots.iter().map(|root| format!("{root}.**")))
            .chain(self.packages.iter().map(|package| match package.as_str() {
                "" => "classes without a package".to_owned(),
                package => format!("{package}.*"),
            }))
            .collect();
        if names.is_empty() {
            return "everything but build tools, test frameworks and language runtimes".to_owned();
        }
        let more = names.len().saturating_sub(3);
        names.truncate(3);
        let mut text = names.join(", ");
        if more > 0 {
            text.push_str(&format!(" and {more} more"));
        }
        text
    }

    fn add_build(&mut self, folder: &Path, deep: usize) {
        for classes in CLASSES {
            // Gradle has a folder for each language and set of sources between.
            let skipped = if classes == "build/classes" { 2 } else { 0 };
            self.add_folder(&folder.join(classes), skipped);
        }
        if deep == 0 {
            return;
        }
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_module = !name.starts_with('.') && !["src", "target", "build"].contains(&&*name);
            if is_module && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.add_build(&entry.path(), deep - 1);
            }
        }
    }

    /// Adds the packages of classes below a folder, or below those that lie so deep in it.
    fn add_folder(&mut self, folder: &Path, skipped: usize) {
        if skipped == 0 {
            self.add_packages(folder, "", DEEPEST_PACKAGE);
            return;
        }
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            self.add_folder(&entry.path(), skipped - 1);
        }
    }

    fn add_packages(&mut self, folder: &Path, package: &str, deep: usize) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
                continue;
            };
            if path.extension().is_some_and(|ending| ending == "class") {
                self.packages.insert(package.to_owned());
            } else if deep > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let below = match package {
                    "" => name.to_owned(),
                    package => format!("{package}.{name}"),
                };
                self.add_packages(&path, &below, deep - 1);
            }
        }
    }

    /// Adds what a command line of `java` runs; of any other nothing is known.
    fn add_command(&mut self, command: &[OsString], folder: &Path) {
        let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
        let Some((program, arguments)) = words.split_first() else {
            return;
        };
        if Path::new(&**program)
            .file_name()
            .is_none_or(|name| name != "java")
        {
            return;
        }
        let mut path: Vec<PathBuf> = Vec::new();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match &**argument {
                "-jar" => {
                    if let Some(jar) = arguments.next() {
                        self.add_jar(&folder.join(&**jar));
                    }
                    return;
                }
                "-cp" | "-classpath" | "--class-path" => {
                    let given = arguments.next().map(ToString::to_string);
                    path = std::env::split_paths(&given.unwrap_or_default()).collect();
                }
                "-p" | "--module-path" | "--add-opens" | "--add-exports" | "--add-modules"
                | "--add-reads" => {
                    arguments.next();
                }
                option if option.starts_with('-') || option.starts_with('@') => {}
                main => {
                    for place in path.iter().map(|place| folder.join(place)) {
                        if place.is_dir() {
                            self.add_folder(&place, 0);
                        }
                    }
                    self.add_main(main);
                    return;
                }
            }
        }
    }

    /// Adds what belongs to whoever wrote the main class: the first parts of its package, as domains are given out.
    fn add_main(&mut self, main: &str) {
        match main.rsplit_once('.') {
            Some((package, _)) => {
                let hosted = HOSTS.iter().any(|host| package.starts_with(host));
                let parts = package.split('.').take(if hosted { 3 } else { 2 });
                self.roots.insert(parts.collect::<Vec<_>>().join("."))
            }
            None => self.packages.insert(String::new()),
        };
    }

    fn add_jar(&mut self, jar: &Path) {
        if let Some(main) = main_class(jar) {
            self.add_main(&main);
        }
    }
}

/// The class that a jar starts, by its manifest; of one that starts others, that one.
fn main_class(jar: &Path) -> Option<String> {
    let mut archive = zip::ZipArchive::new(std::fs::File::open(jar).ok()?).ok()?;
    let mut text = String::new();
    let manifest = archive.by_name("META-INF/MANIFEST.MF").ok()?;
    manifest.take(1 << 20).read_to_string(&mut text).ok()?;
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim().to_owned())
    };
    value("Start-Class:").or_else(|| value("Main-Class:"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn own(command: &[&str], folder: &Path) -> Whose {
        let command: Vec<OsString> = command.iter().map(OsString::from).collect();
        Whose::of(&command, folder)
    }

    fn touch(folder: &Path, name: &str) {
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, "").unwrap();
    }

    #[test]
    fn a_build_has_the_classes_that_it_compiles() {
        let folder = tempfile::tempdir().unwrap();
        touch(folder.path(), "pom.xml");
        touch(folder.path(), "target/classes/shop/Stock.class");
        touch(
            folder.path(),
            "core/build/classes/java/main/shop/db/Table.class",
        );
        let own = own(&["mvn", "test"], folder.path());
        assert!(own.has("shop.Stock") && own.has("shop.db.Table$Row"));
        assert!(!own.has("org.apache.maven.Maven") && !own.has("com.google.common.base.Joiner"));
        assert!(!own.has("shop.web.Page"), "nobody compiled it here");
    }

    #[test]
    fn a_command_has_its_main_class_and_its_folders() {
        let folder = tempfile::tempdir().unwrap();
        touch(folder.path(), "out/util/Queue.class");
        let own = own(
            &[
                "/usr/bin/java",
                "-Xmx1g",
                "-cp",
                "out:lib/all.jar",
                "bank.app.Main",
                "-jar",
            ],
            folder.path(),
        );
        assert!(own.has("bank.app.Main") && own.has("bank.app.db.Row") && own.has("util.Queue"));
        assert!(!own.has("bank.Account") && !own.has("Plain"));
        let command = ["java", "-cp", "x.jar", "com.acme.boot.Start"];
        let acme = self::own(&command, folder.path());
        assert!(acme.has("com.acme.core.Engine") && !acme.has("com.other.Lib"));
        let plain = Whose::of(
            &["java".into(), "-cp".into(), "x.jar".into(), "Main".into()],
            folder.path(),
        );
        assert!(plain.has("Counter") && !plain.has("org.junit.Assert"));
    }

    #[test]
    fn what_nobody_knows_is_all_but_tools() {
        let folder = tempfile::tempdir().unwrap();
        let own = own(&["./start.sh"], folder.path());
        assert!(own.has("shop.Stock") && own.has("org.h2.Driver"));
        assert!(
            !own.has("kotlinx.coroutines.JobSupport") && !own.has("org.gradle.internal.Factory")
        );
    }
}
