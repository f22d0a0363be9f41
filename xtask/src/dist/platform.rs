//! Which systems there are packages for, what each registry calls them, and how to build for them from here.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::process::{self, find_program, search_path};
use crate::setup::Setup;
use crate::workspace::Workspace;

/// The profile of what is shipped (`Cargo.toml`).
const PROFILE: &str = "dist";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    pub triple: String,
    arm: bool,
}

impl Platform {
    pub fn of(triple: &str) -> Result<Self, Error> {
        let arm = match triple {
            "x86_64-unknown-linux-gnu" => false,
            "aarch64-unknown-linux-gnu" => true,
            _ => return Err(Error::Platform(triple.to_owned())),
        };
        Ok(Self {
            triple: triple.to_owned(),
            arm,
        })
    }

    /// In names of archives.
    pub fn name(&self) -> String {
        self.triple.replace("-unknown", "")
    }

    pub fn debian(&self) -> &'static str {
        if self.arm { "arm64" } else { "amd64" }
    }

    pub fn processor(&self) -> &'static str {
        if self.arm { "aarch64" } else { "x86_64" }
    }

    /// The folder of the program in the jar that carries it.
    pub fn maven(&self) -> String {
        format!("linux-{}", self.processor())
    }

    /// Builds programs and agent, and says where they are.
    pub fn build(
        &self,
        setup: &Setup,
        workspace: &Workspace,
        host: &str,
    ) -> Result<PathBuf, Error> {
        let mut build = process::cargo(&["build", "--locked", "--profile", PROFILE]);
        build.args(["--package", "untorn", "--package", "untorn-archive"]);
        let mut built = workspace.cache(PROFILE);
        if self.triple != host {
            self.demand_tools()?;
            build.args(["--target", &self.triple]);
            built = workspace.cache(&self.triple).join(PROFILE);
            let name = self.triple.replace('-', "_");
            let compiler = self.compiler();
            build.env(
                format!("CARGO_TARGET_{}_LINKER", name.to_uppercase()),
                &compiler,
            );
            build.env(format!("CC_{name}"), &compiler);
        }
        // The same bytes, wherever it is built.
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
        let mut flags = vec![remap(workspace.root(), "/untorn")];
        flags.extend(home.map(|home| remap(&home, "/cargo")));
        build.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
        eprintln!("$ {}", process::shown(&build));
        process::run(setup.tell(&mut build))?;
        Ok(built)
    }

    fn compiler(&self) -> String {
        format!("{}-linux-gnu-gcc", self.processor())
    }

    /// What building for another processor takes, or what to install.
    fn demand_tools(&self) -> Result<(), Error> {
        let said = process::output(Command::new("rustc").args([
            "--print",
            "target-libdir",
            "--target",
            &self.triple,
        ]))?;
        let library = PathBuf::from(String::from_utf8_lossy(&said).trim());
        if !library.is_dir() {
            return Err(Error::Missing {
                what: "Rust's standard library for the target",
                refusal: format!("{} is not there", library.display()),
                remedy: format!("Install it with `rustup target add {}`.", self.triple),
            });
        }
        let compiler = self.compiler();
        if find_program(&[&compiler], &search_path()).is_none() {
            return Err(Error::Missing {
                what: "a C compiler and linker for the target",
                refusal: format!("{compiler} is not on PATH"),
                remedy: format!(
                    "Install it, for example with `sudo apt-get install gcc-{}-linux-gnu`.",
                    self.processor().replace('_', "-")
                ),
            });
        }
        Ok(())
    }
}

fn remap(from: &Path, to: &str) -> String {
    format!("--remap-path-prefix={}={to}", from.display())
}

/// The oldest version of glibc that has every symbol which the programs ask for.
pub fn libc<'p>(programs: impl IntoIterator<Item = &'p Vec<u8>>) -> String {
    const NAME: &[u8] = b"GLIBC_2.";
    let newest = (programs.into_iter())
        .flat_map(|program| {
            let windows = program.windows(NAME.len()).enumerate();
            let named = windows.filter(|(_, window)| *window == NAME);
            named.filter_map(|(at, _)| {
                let digits: String = (program[at + NAME.len()..].iter())
                    .take_while(|byte| byte.is_ascii_digit())
                    .map(|&byte| char::from(byte))
                    .collect();
                digits.parse::<u32>().ok()
            })
        })
        .max();
    format!("2.{}", newest.unwrap_or(17))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_symbol_of_the_c_library_decides() {
        assert_eq!(
            libc([
                &b"..GLIBC_2.4\0GLIBC_2.34\0GLIBC_2.2.5\0GLIBC_2.".to_vec(),
                &b"GLIBC_2.28".to_vec()
            ]),
            "2.34"
        );
        assert_eq!(libc([&b"static".to_vec()]), "2.17");
    }

    #[test]
    fn a_platform_without_packages_is_refused_by_name() {
        let error = Platform::of("riscv64gc-unknown-linux-gnu").unwrap_err();
        assert!(error.to_string().contains("riscv64gc-unknown-linux-gnu"));
        let arm = Platform::of("aarch64-unknown-linux-gnu").unwrap();
        assert_eq!((arm.debian(), arm.processor()), ("arm64", "aarch64"));
        assert_eq!(arm.name(), "aarch64-linux-gnu");
    }

    #[test]
    fn a_target_that_is_not_installed_is_named_with_the_remedy() {
        // No Rust was ever shipped for it, so it is installed nowhere; rustc knows it all the same.
        let platform = Platform {
            triple: "aarch64_be-unknown-linux-gnu".to_owned(),
            arm: true,
        };
        let error = platform.demand_tools().unwrap_err().to_string();
        assert!(
            error.contains("rustup target add aarch64_be-unknown-linux-gnu"),
            "{error}"
        );
    }
}
