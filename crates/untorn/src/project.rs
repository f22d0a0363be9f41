//! The project's `untorn.toml`: where it is, and the options that it gives.
//!
//! Options of the file are put before those of the user, as if the user had written them; what the user writes wins.
//! So every option there is has its default in the file, and none is declared twice.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches, Parser};
use untorn_config::{Config, Defaults, FILE_NAME};

use crate::cli::Cli;
use crate::failure::Failure;

/// The file and what it says.
#[derive(Debug, Default)]
pub struct Project {
    pub config: Config,
    /// Absent where there is no file.
    path: Option<PathBuf>,
    has_spec: bool,
}

impl Project {
    /// The file that was named, or else the first that is found from here upward.
    pub fn open(named: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = named.map(Path::to_owned).or_else(find) else {
            return Ok(Self::default());
        };
        let text = std::fs::read_to_string(&path).map_err(|source| Failure::file(&path, source))?;
        let config = Config::from_toml(&text).map_err(|error| Failure::Input {
            path: path.display().to_string(),
            what: error.to_string(),
        })?;
        let has_spec = config.spec != untorn_spec::Specification::default();
        Ok(Self {
            config,
            path: Some(path),
            has_spec,
        })
    }

    /// What the file adds to the options that the user gave to a command.
    fn arguments(&self, command: &Command, given: &ArgMatches) -> Result<Vec<OsString>, Failure> {
        let Some(path) = &self.path else {
            return Ok(Vec::new());
        };
        let mut defaults = self.config.defaults_of(command.get_name());
        if self.has_spec {
            let path = path.display().to_string();
            // There `--spec` is what is written.
            let option = match command.get_name() {
                "infer" => "declared",
                _ => "spec",
            };
            (defaults.entry(option.to_owned())).or_insert(toml::Value::String(path));
        }
        if !self.config.packages.is_empty() {
            let patterns = self.config.packages.iter();
            let patterns = patterns.map(|pattern| toml::Value::String(pattern.to_string()));
            (defaults.entry("include".to_owned()))
                .or_insert(toml::Value::Array(patterns.collect()));
        }
        self.check_names(command)?;
        Ok(as_arguments(&defaults, command, given))
    }

    /// Refuses an option that no command has: it would be a slip of the pen.
    fn check_names(&self, command: &Command) -> Result<(), Failure> {
        let all = Cli::command();
        let has = |command: &Command, name: &str| {
            (command.get_arguments()).any(|argument| argument.get_long() == Some(name))
        };
        let unknown = |what: String| Failure::Input {
            path: self
                .path
                .as_deref()
                .map_or_else(String::new, |p| p.display().to_string()),
            what,
        };
        for (name, value) in &self.config.defaults {
            if let toml::Value::Table(own) = value {
                if all.find_subcommand(name).is_none() {
                    return Err(unknown(format!("defaults: there is no command {name}")));
                }
                for option in own.keys().filter(|_| command.get_name() == name) {
                    if !has(command, option) {
                        return Err(unknown(format!(
                            "defaults: {name} has no option --{option}"
                        )));
                    }
                }
            } else if !all.get_subcommands().any(|command| has(command, name)) {
                return Err(unknown(format!(
                    "defaults: no command has an option --{name}"
                )));
            }
        }
        Ok(())
    }
}

fn find() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let found = here.ancestors().map(|folder| folder.join(FILE_NAME));
    found.into_iter().find(|path| path.is_file())
}

/// The defaults as they would be typed, without those that the user gave or contradicted.
fn as_arguments(defaults: &Defaults, command: &Command, given: &ArgMatches) -> Vec<OsString> {
    let typed = |id: &str| {
        matches!(given.try_contains_id(id), Ok(true))
            && given.value_source(id) == Some(ValueSource::CommandLine)
    };
    let mut arguments = Vec::new();
    for (name, value) in defaults {
        let argument = (command.get_arguments()).find(|a| a.get_long() == Some(name.as_str()));
        let Some(argument) = argument else { continue };
        let against = command.get_arg_conflicts_with(argument);
        if typed(argument.get_id().as_str())
            || against.iter().any(|other| typed(other.get_id().as_str()))
        {
            continue;
        }
        let takes_value = argument.get_action().takes_values();
        let mut push = |value: &toml::Value| match value {
            toml::Value::Boolean(true) if !takes_value => {
                arguments.push(format!("--{name}").into());
            }
            toml::Value::Boolean(false) if !takes_value => {}
            toml::Value::String(text) => arguments.push(format!("--{name}={text}").into()),
            other => arguments.push(format!("--{name}={other}").into()),
        };
        match value {
            toml::Value::Array(values) => values.iter().for_each(push),
            value => push(value),
        }
    }
    arguments
}

/// The command line, completed by the project's file.
pub fn parse() -> Result<Cli, Failure> {
    let given: Vec<OsString> = std::env::args_os().collect();
    let matches = Cli::command().get_matches_from(&given);
    let as_given = |matches: &ArgMatches| {
        Cli::from_arg_matches(matches).map_err(|error| Failure::Usage(error.to_string()))
    };
    let Some((name, own)) = matches.subcommand() else {
        return as_given(&matches);
    };
    let command = Cli::command();
    let Some(command) = command
        .find_subcommand(name)
        .filter(|c| !c.has_subcommands())
    else {
        return as_given(&matches);
    };
    let named = own.try_get_one::<PathBuf>("config").ok().flatten();
    let added = Project::open(named.map(PathBuf::as_path))?.arguments(command, own)?;
    if added.is_empty() {
        return as_given(&matches);
    }
    // Behind the name of the command, before what the user wrote.
    let mut complete = given;
    complete.splice(2..2, added);
    Ok(Cli::parse_from(complete))
}
