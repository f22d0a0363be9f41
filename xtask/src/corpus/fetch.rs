//! Brings jars into the cache folder: by Maven, checked against their pins, moved into place only when right.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::corpus::checksum::sha256_of;
use crate::corpus::list::Jar;
use crate::error::Error;
use crate::process;
use crate::setup::Setup;
use crate::workspace::Workspace;

/// Pinned like everything else, so that a fetch means the same next year.
const DEPENDENCY_PLUGIN: &str = "3.8.1";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    First,
    Second,
}

pub fn folder(workspace: &Workspace) -> PathBuf {
    workspace.cache("corpus")
}

/// Returns where the jars are, in the order given, after bringing those that are missing or not as pinned.
///
/// `bring` puts `NAME.jar` for each jar into a folder; if it ends badly it is tried once more, since networks fail.
/// What it brings is trusted only after its sum was compared, and a cached jar is compared each time.
pub fn fetch(
    jars: &[&Jar],
    cache: &Path,
    mut bring: impl FnMut(&[&Jar], &Path, Attempt) -> Result<(), Error>,
) -> Result<Vec<PathBuf>, Error> {
    let missing: Vec<&Jar> = jars
        .iter()
        .copied()
        .filter(|jar| !is_as_pinned(jar, &path_in(cache, jar)))
        .collect();
    if !missing.is_empty() {
        fs::create_dir_all(cache).map_err(Error::in_file("create", cache))?;
        // Removed when it goes out of scope, so nothing half-fetched stays behind.
        let incoming = tempfile::Builder::new()
            .prefix("incoming-")
            .tempdir_in(cache)
            .map_err(Error::in_file("create a folder in", cache))?;
        let incoming = incoming.path();
        match bring(&missing, incoming, Attempt::First) {
            Err(failed @ Error::Ended { .. }) => {
                eprintln!("{failed}; trying once more.");
                bring(&missing, incoming, Attempt::Second).map_err(|cause| Error::Fetch {
                    artifacts: artifacts(&missing),
                    cause: Box::new(cause),
                })
            }
            // Without Maven, say, a second attempt would end like the first.
            other => other,
        }?;
        missing
            .iter()
            .try_for_each(|jar| accept(jar, incoming, cache))?;
    }
    Ok(jars.iter().map(|jar| path_in(cache, jar)).collect())
}

fn path_in(folder: &Path, jar: &Jar) -> PathBuf {
    folder.join(format!("{}.jar", jar.name))
}

fn is_as_pinned(jar: &Jar, path: &Path) -> bool {
    sha256_of(path).is_ok_and(|sum| sum == jar.sha256)
}

fn accept(jar: &Jar, incoming: &Path, cache: &Path) -> Result<(), Error> {
    let brought = path_in(incoming, jar);
    let fetched = sha256_of(&brought).map_err(Error::in_file("read", &brought))?;
    if fetched != jar.sha256 {
        return Err(Error::Checksum {
            artifact: jar.artifact.clone(),
            pinned: jar.sha256.clone(),
            fetched,
        });
    }
    let place = path_in(cache, jar);
    fs::rename(&brought, &place).map_err(Error::in_file("write", &place))
}

fn artifacts(jars: &[&Jar]) -> String {
    jars.iter()
        .map(|jar| jar.artifact.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

/// Has Maven copy exactly these files, without what it believes they depend on, in one run.
pub fn with_maven(
    maven: &Path,
    setup: &Setup,
    jars: &[&Jar],
    into: &Path,
    attempt: Attempt,
) -> Result<(), Error> {
    eprintln!("Fetching {} …", artifacts(jars));
    let project = into.join("pom.xml");
    fs::write(&project, project_of(jars)).map_err(Error::in_file("write", &project))?;
    let mut command = Command::new(maven);
    command.args([
        "--batch-mode",
        "--quiet",
        "--no-transfer-progress",
        "--strict-checksums",
        "--file",
    ]);
    command.arg(&project);
    if attempt == Attempt::Second {
        // Maven remembers failures and would repeat them without asking the repository again.
        command.arg("--update-snapshots");
    }
    command.arg(format!(
        "org.apache.maven.plugins:maven-dependency-plugin:{DEPENDENCY_PLUGIN}:copy"
    ));
    command.arg(format!("-DoutputDirectory={}", into.display()));
    process::run_quietly(setup.tell(&mut command))
}

fn project_of(jars: &[&Jar]) -> String {
    let items: String = jars
        .iter()
        .filter_map(|jar| Some((jar, jar.coordinates()?)))
        .map(item)
        .collect();
    format!(
        "<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>untorn</groupId>
  <artifactId>corpus</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <build><plugins><plugin>
    <groupId>org.apache.maven.plugins</groupId>
    <artifactId>maven-dependency-plugin</artifactId>
    <version>{DEPENDENCY_PLUGIN}</version>
    <configuration><artifactItems>
{items}    </artifactItems></configuration>
  </plugin></plugins></build>
</project>
"
    )
}

fn item((jar, [group, artifact, version]): (&&Jar, [&str; 3])) -> String {
    let classifier = (jar.classifier.as_ref()).map_or_else(String::new, |name| {
        format!("<classifier>{name}</classifier>")
    });
    format!(
        "      <artifactItem><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>\
         {classifier}<destFileName>{}.jar</destFileName></artifactItem>\n",
        jar.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::list::tests::list;
    use std::cell::RefCell;

    /// A repository in which the jar called `one` holds the bytes `one`, and so on; it logs what it is asked for.
    #[derive(Default)]
    struct Repository {
        asked: RefCell<Vec<(Vec<String>, Attempt)>>,
        failures: usize,
        damaged: bool,
    }

    impl Repository {
        fn bring(&self, jars: &[&Jar], into: &Path, attempt: Attempt) -> Result<(), Error> {
            self.asked
                .borrow_mut()
                .push((jars.iter().map(|jar| jar.name.clone()).collect(), attempt));
            if self.asked.borrow().len() <= self.failures {
                return process::run(&mut Command::new("false"));
            }
            for jar in jars {
                fs::write(
                    path_in(into, jar),
                    if self.damaged { "damaged" } else { &jar.name },
                )
                .unwrap();
            }
            Ok(())
        }

        fn fetch(&self, cache: &Path) -> Result<Vec<PathBuf>, Error> {
            let list = list();
            let jars = list.select(&[])?;
            fetch(&jars, cache, |jars, into, attempt| {
                self.bring(jars, into, attempt)
            })
        }
    }

    fn content(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_fetched_once_is_not_fetched_again() {
        let cache = tempfile::tempdir().unwrap();
        let repository = Repository::default();
        let paths = repository.fetch(cache.path()).unwrap();
        assert_eq!(
            paths,
            [cache.path().join("one.jar"), cache.path().join("two.jar")]
        );
        assert_eq!(content(cache.path()), ["one.jar", "two.jar"]);
        repository.fetch(cache.path()).unwrap();
        assert_eq!(repository.asked.borrow().len(), 1);
    }

    #[test]
    fn a_cached_jar_that_was_changed_is_fetched_again() {
        let cache = tempfile::tempdir().unwrap();
        let repository = Repository::default();
        repository.fetch(cache.path()).unwrap();
        fs::write(cache.path().join("two.jar"), "changed").unwrap();
        repository.fetch(cache.path()).unwrap();
        assert_eq!(
            repository.asked.borrow()[1],
            (vec!["two".to_owned()], Attempt::First)
        );
        assert_eq!(fs::read(cache.path().join("two.jar")).unwrap(), b"two");
    }

    #[test]
    fn a_wrong_sum_is_an_error_that_names_both_and_leaves_nothing_behind() {
        let cache = tempfile::tempdir().unwrap();
        let error = Repository {
            damaged: true,
            ..Repository::default()
        }
        .fetch(cache.path())
        .unwrap_err();
        let Error::Checksum {
            artifact,
            pinned,
            fetched,
        } = &error
        else {
            panic!("{error}")
        };
        assert_eq!(artifact, "g:one:1.0");
        assert_ne!(pinned, fetched);
        assert!(error.to_string().contains(fetched) && error.to_string().contains(pinned));
        assert!(content(cache.path()).is_empty());
    }

    #[test]
    fn one_failure_is_forgiven_and_two_are_not() {
        let cache = tempfile::tempdir().unwrap();
        let once = Repository {
            failures: 1,
            ..Repository::default()
        };
        once.fetch(cache.path()).unwrap();
        let attempts: Vec<_> = once
            .asked
            .borrow()
            .iter()
            .map(|(_, attempt)| *attempt)
            .collect();
        assert_eq!(attempts, [Attempt::First, Attempt::Second]);

        let cache = tempfile::tempdir().unwrap();
        let twice = Repository {
            failures: 2,
            ..Repository::default()
        };
        let error = twice.fetch(cache.path()).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("Maven failed twice to fetch g:one:1.0, g:two:2.0-jre: `false` ended")
        );
        assert_eq!(twice.asked.borrow().len(), 2);
        assert!(content(cache.path()).is_empty());
    }

    #[test]
    fn without_maven_there_is_no_second_attempt() {
        let cache = tempfile::tempdir().unwrap();
        let list = list();
        let mut attempts = 0;
        let error = fetch(&list.select(&[]).unwrap(), cache.path(), |_, _, _| {
            attempts += 1;
            process::run(&mut Command::new("untorn-no-such-program"))
        })
        .unwrap_err();
        assert!(matches!(error, Error::Start { .. }), "{error}");
        assert_eq!(attempts, 1);
    }

    #[test]
    fn the_project_asks_for_each_jar_under_its_name() {
        let list = list();
        let project = project_of(&list.select(&[]).unwrap());
        assert!(project.contains(
            "<groupId>g</groupId><artifactId>two</artifactId><version>2.0-jre</version><destFileName>two.jar</destFileName>"
        ));
        assert_eq!(project.matches("<artifactItem>").count(), 2);
    }
}
