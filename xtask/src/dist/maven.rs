//! The Maven artifacts (`integrations/`), built and put into a repository in the file system.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::error::Error;
use crate::process;
use crate::setup::Setup;
use crate::workspace::Workspace;

/// Builds everything below `integrations/` with the programs inside, and leaves a repository in `to`.
///
/// The sources are copied, so that what Maven leaves behind does not lie among them.
pub fn deploy(
    setup: &mut Setup,
    workspace: &Workspace,
    programs: &[(String, &[u8])],
    local: Option<&Path>,
    to: &Path,
) -> Result<(), Error> {
    let maven = setup.maven()?;
    let work = workspace.cache("integrations");
    if work.exists() {
        fs::remove_dir_all(&work).map_err(Error::in_file("remove", &work))?;
    }
    for name in ["integrations", "annotations"] {
        copy(&workspace.root().join(name), &work.join(name))?;
    }
    for (platform, program) in programs {
        let folder = work
            .join("programs")
            .join("dev/untorn/program")
            .join(platform);
        fs::create_dir_all(&folder).map_err(Error::in_file("create", &folder))?;
        let file = folder.join("untorn");
        fs::write(&file, program).map_err(Error::in_file("write", &file))?;
    }
    fs::create_dir_all(to).map_err(Error::in_file("create", to))?;
    let mut command = Command::new(maven);
    command
        .args(["--batch-mode", "--quiet", "-DskipTests", "deploy"])
        .arg(format!(
            "-Duntorn.programs={}",
            work.join("programs").display()
        ))
        .arg(format!(
            "-DaltDeploymentRepository=dist::default::file:{}",
            to.display()
        ))
        .arg("--file")
        .arg(work.join("integrations"));
    if let Some(local) = local {
        command.arg(format!("-Dmaven.repo.local={}", local.display()));
    }
    process::run_quietly(setup.tell(&mut command))
}

fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    fs::create_dir_all(to).map_err(Error::in_file("create", to))?;
    for entry in fs::read_dir(from).map_err(Error::in_file("list", from))? {
        let path = entry.map_err(Error::in_file("list", from))?.path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() && name != "target" {
            copy(&path, &to.join(name))?;
        } else if path.is_file() {
            fs::copy(&path, to.join(name)).map_err(Error::in_file("copy", &path))?;
        }
    }
    Ok(())
}
