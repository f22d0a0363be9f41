//! How a command is started so that its JVMs load the agent.
//!
//! `java` itself gets `-agentpath` as its first argument.
//! Any other command (a build tool, a script) gets it through `JAVA_TOOL_OPTIONS`, which every JVM below it reads and announces with a "Picked up" line on standard error.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Error;

const LIBRARY: &str = "libuntorn_agent.so";
/// Where the library is, if a person says so.
const AGENT: &str = "UNTORN_AGENT";
const TOOL_OPTIONS: &str = "JAVA_TOOL_OPTIONS";
/// Instrumented methods grow, and the JVM would interpret those beyond its limit forever.
const JIT_OPTION: &str = "-XX:-DontCompileHugeMethods";

/// The agent library: where the environment says, else beside the executable or where packages put libraries.
pub fn agent_library() -> Result<PathBuf, Error> {
    if let Some(path) = env::var_os(AGENT).map(PathBuf::from) {
        // Whoever names a library does not want another one.
        return (path.is_file().then(|| path.canonicalize().ok()).flatten())
            .ok_or(Error::NoSuchAgent { path });
    }
    let executable = env::current_exe().unwrap_or_default();
    let executable = executable.canonicalize().unwrap_or(executable);
    let beside = executable.parent().unwrap_or(Path::new("."));
    let candidates = ["", "../lib", "../lib/untorn"];
    (candidates.iter())
        .map(|folder| beside.join(folder).join(LIBRARY))
        .find(|path| path.is_file())
        .and_then(|path| path.canonicalize().ok())
        .ok_or_else(|| Error::NoAgent {
            beside: beside.to_owned(),
        })
}

/// A command and how to start it.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    pub command: &'a [OsString],
    pub agent: &'a Path,
    pub socket: &'a Path,
}

impl Launch<'_> {
    fn agent_option(&self) -> OsString {
        let mut option = OsString::from("-agentpath:");
        option.push(self.agent);
        option.push("=socket=");
        option.push(self.socket);
        option
    }

    /// What JVMs that the program starts should find in their environment.
    pub fn for_children(&self) -> String {
        format!("{} {JIT_OPTION}", self.agent_option().to_string_lossy())
    }

    pub fn command(&self) -> Result<Command, Error> {
        let (program, arguments) = self.command.split_first().ok_or(Error::NoCommand)?;
        let agent = self.agent_option();
        let mut command = Command::new(program);
        if is_java(program) {
            command.arg(agent).arg(JIT_OPTION);
        } else {
            let mut options = env::var_os(TOOL_OPTIONS).unwrap_or_default();
            for option in [agent.as_os_str(), OsStr::new(JIT_OPTION)] {
                if !options.is_empty() {
                    options.push(" ");
                }
                options.push(option);
            }
            command.env(TOOL_OPTIONS, options);
        }
        command.args(arguments);
        Ok(command)
    }
}

fn is_java(program: &OsStr) -> bool {
    Path::new(program).file_name() == Some(OsStr::new("java"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(words: &[&str]) -> Command {
        let command: Vec<OsString> = words.iter().map(OsString::from).collect();
        Launch {
            command: &command,
            agent: Path::new("/lib/agent.so"),
            socket: Path::new("/tmp/s"),
        }
        .command()
        .unwrap()
    }

    #[test]
    fn java_gets_the_agent_as_an_argument_before_its_own() {
        let command = launch(&["/opt/jdk/bin/java", "-cp", "x", "Main"]);
        let arguments: Vec<_> = command.get_args().collect();
        assert_eq!(
            arguments,
            [
                "-agentpath:/lib/agent.so=socket=/tmp/s",
                JIT_OPTION,
                "-cp",
                "x",
                "Main"
            ]
        );
        assert_eq!(command.get_envs().count(), 0);
    }

    #[test]
    fn other_commands_get_it_through_the_environment() {
        let command = launch(&["mvn", "test"]);
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["test"]);
        let (name, value) = command.get_envs().next().unwrap();
        assert_eq!(name, TOOL_OPTIONS);
        let value = value.unwrap().to_str().unwrap();
        assert!(value.ends_with(&format!(
            "-agentpath:/lib/agent.so=socket=/tmp/s {JIT_OPTION}"
        )));
    }

    #[test]
    fn no_command_is_an_error() {
        let launch = Launch {
            command: &[],
            agent: Path::new(""),
            socket: Path::new(""),
        };
        assert!(matches!(launch.command(), Err(Error::NoCommand)));
    }
}
