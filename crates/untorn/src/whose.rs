//! Whose code a finding is in: people want to hear of their own.
//!
//! Their own are the classes of the build in the working directory (Maven's and Gradle's layouts), else what the command itself runs: directories of its class path, the package of its main class and what is beside it in the same jar.
//! If nothing of that can be found out, everything is but build tools, test frameworks and language runtimes.
//! Of what is checked without a run, everything is the user's that was named, but for the libraries that are packed into one jar with an application.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use untorn_findings::Document;

use crate::output::note;

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

    /// Finds it out for classes that are checked; nothing if all of them are the user's.
    pub fn of_checked(paths: &[PathBuf]) -> Option<Self> {
        let mut own = Self::default();
        for path in paths.iter().filter(|path| path.is_file()) {
            own.add_packed(path);
        }
        if own == Self::default() {
            return None;
        }
        // What was named beside such a jar was meant.
        for path in paths {
            if path.is_dir() {
                own.add_folder(path, 0);
            } else if main_of_packed(path).is_none() {
                own.add_classes(path);
            }
        }
        Some(own)
    }

    /// Leaves out what is torn in code that is not the user's, and says so.
    pub fn leave_out_others(&self, document: &mut Document) {
        let all = document.findings.len();
        let is_own = |class: Option<&str>| class.is_none_or(|class| self.has(class));
        (document.findings).retain(|finding| is_own(finding.region.class.as_deref()));
        (document.unproved).retain(|finding| is_own(finding.region.class.as_deref()));
        let others = all - document.findings.len();
        if others > 0 {
            let count = match others {
                1 => "1 finding is".to_owned(),
                n => format!("{n} findings are"),
            };
            note(&format!(
                "{count} in the code of others and not shown (own is {}); --all-code shows them",
                self.describe()
            ));
        }
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
        if self.add_packed(jar) {
            return;
        }
        if let Some(main) = main_class(jar) {
            self.add_main(&main);
        }
    }

    /// Adds the application of a jar that holds libraries too; any other jar is left alone.
    fn add_packed(&mut self, jar: &Path) -> bool {
        let Some(packed) = main_of_packed(jar) else {
            return false;
        };
        if packed.roots.is_empty() {
            if let Some(main) = &packed.main {
                self.add_main(main);
            }
        } else {
            // Libraries are in jars of their own inside, so what is beside them is the application.
            self.packages.extend(packed.roots);
        }
        true
    }

    /// Adds the packages of the classes in a jar.
    fn add_classes(&mut self, jar: &Path) {
        self.packages.extend(packages(jar, ""));
    }
}

/// An application that is packed together with its libraries.
struct Packed {
    main: Option<String>,
    /// Its packages, where the jar has a place of their own for them.
    roots: BTreeSet<String>,
}

/// Where applications lie in jars whose libraries are jars inside.
const PLACES: [&str; 2] = ["BOOT-INF/classes/", "WEB-INF/classes/"];

/// What is packed in a jar beside its libraries; nothing if it holds no libraries.
fn main_of_packed(jar: &Path) -> Option<Packed> {
    let names = entries(jar);
    let place = PLACES
        .iter()
        .find(|place| names.iter().any(|name| name.starts_with(**place)));
    let main = main_class(jar);
    if let Some(place) = place {
        let roots = packages(jar, place);
        return Some(Packed { main, roots });
    }
    // Each artifact of a build leaves its description behind when it is packed.
    let artifacts = (names.iter())
        .filter(|name| name.starts_with("META-INF/maven/") && name.ends_with("/pom.properties"))
        .count();
    (artifacts > 1 && main.is_some()).then_some(Packed {
        main,
        roots: BTreeSet::new(),
    })
}

/// The packages of the classes below a place in a jar.
fn packages(jar: &Path, place: &str) -> BTreeSet<String> {
    (entries(jar).iter())
        .filter_map(|name| name.strip_prefix(place))
        .filter(|name| {
            Path::new(name)
                .extension()
                .is_some_and(|ending| ending == "class")
        })
        .filter(|name| !name.starts_with("META-INF/"))
        .map(|name| match name.rsplit_once('/') {
            Some((package, _)) => package.replace('/', "."),
            None => String::new(),
        })
        .collect()
}

/// The names of what a jar holds, as far as they can be read.
fn entries(jar: &Path) -> Vec<String> {
    let archive = std::fs::File::open(jar)
        .ok()
        .and_then(|file| zip::ZipArchive::new(file).ok());
    let names = archive.iter().flat_map(zip::ZipArchive::file_names);
    (names.filter_map(Result::ok).map(Cow::into_owned)).collect()
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

    fn jar(folder: &Path, name: &str, entries: &[(&str, &str)]) -> PathBuf {
        use std::io::Write;
        let path = folder.join(name);
        let mut writer = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
        for (name, text) in entries {
            let options = zip::write::SimpleFileOptions::default();
            writer.start_file(*name, options).unwrap();
            writer.write_all(text.as_bytes()).unwrap();
        }
        writer.finish().unwrap();
        path
    }

    #[test]
    fn an_application_is_told_from_the_libraries_that_are_packed_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let boot = jar(
            folder.path(),
            "boot.jar",
            &[
                (
                    "META-INF/MANIFEST.MF",
                    "Main-Class: org.springframework.boot.loader.launch.JarLauncher\nStart-Class: com.acme.shop.App\n",
                ),
                ("BOOT-INF/classes/com/acme/shop/App.class", ""),
                ("BOOT-INF/classes/com/acme/shop/db/Table.class", ""),
                ("BOOT-INF/lib/spring-core.jar", ""),
                (
                    "org/springframework/boot/loader/launch/JarLauncher.class",
                    "",
                ),
            ],
        );
        let own = Whose::of_checked(std::slice::from_ref(&boot)).unwrap();
        assert!(own.has("com.acme.shop.App") && own.has("com.acme.shop.db.Table$Row"));
        assert!(!own.has("org.springframework.boot.loader.launch.JarLauncher"));
        let ran = self::own(&["java", "-jar", "boot.jar"], folder.path());
        assert_eq!(ran, own, "run and check agree");
        let shaded = jar(
            folder.path(),
            "shaded.jar",
            &[
                ("META-INF/MANIFEST.MF", "Main-Class: com.acme.Main\n"),
                ("META-INF/maven/com.acme/app/pom.properties", ""),
                ("META-INF/maven/com.google.guava/guava/pom.properties", ""),
                ("com/acme/Main.class", ""),
                ("com/google/common/base/Joiner.class", ""),
            ],
        );
        let own = Whose::of_checked(&[shaded]).unwrap();
        assert!(own.has("com.acme.Main") && !own.has("com.google.common.base.Joiner"));
    }

    #[test]
    fn a_library_that_is_checked_is_the_users_whatever_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let library = jar(
            folder.path(),
            "coroutines.jar",
            &[
                ("META-INF/maven/org.jetbrains/coroutines/pom.properties", ""),
                ("kotlinx/coroutines/JobSupport.class", ""),
            ],
        );
        assert_eq!(Whose::of_checked(&[library]), None);
        assert_eq!(Whose::of_checked(&[folder.path().to_owned()]), None);
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
