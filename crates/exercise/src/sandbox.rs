//! Limits for a process that calls code which nobody has called: no files changed but in one folder, and no TCP.
//!
//! They are Landlock's, which Linux has since 5.13, and for TCP since 6.7; where the kernel has less, less is limited, and that is said.
//! Not limited are UDP, reading files, and signals to processes of the same user.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, path_beneath_rules,
};

/// What may be written to beside the folder: nothing that stays.
const HARMLESS: [&str; 2] = ["/dev/null", "/dev/zero"];

/// How much of the limits this kernel has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Restricted {
    Fully,
    Partly,
    Not,
}

/// Why the limits could not be set.
#[derive(Debug, thiserror::Error)]
#[error("the limits could not be set: {0}")]
pub struct SandboxError(#[from] RulesetError);

/// Limits this process, and all that it becomes or starts.
pub fn restrict(folder: &Path) -> Result<Restricted, SandboxError> {
    let abi = ABI::V4;
    let writable = HARMLESS.iter().map(Path::new).chain([folder]);
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_write(abi))?
        .handle_access(AccessNet::from_all(abi))?
        .create()?
        .add_rules(path_beneath_rules(writable, AccessFs::from_write(abi)))?
        .restrict_self()?;
    Ok(match status.ruleset {
        RulesetStatus::FullyEnforced => Restricted::Fully,
        RulesetStatus::PartiallyEnforced => Restricted::Partly,
        RulesetStatus::NotEnforced => Restricted::Not,
    })
}
