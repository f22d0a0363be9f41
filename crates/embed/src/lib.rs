//! Puts the agent's library into the program, so that a program that was installed as one file is complete.
//!
//! Cargo builds a dependency that is also a `cdylib` before the program that depends on it, and leaves the library in its `deps` folder.
//! A build script could not take it from there, since it may run before the library is built; a macro is expanded when the program itself is compiled.
//! `cargo check` builds no library: then the macro gives no bytes, and the program that nobody runs has none.

use std::path::{Path, PathBuf};

use proc_macro::TokenStream;

const LIBRARY: &str = "libuntorn_agent.so";

/// The bytes of the agent's library, a `&'static [u8]`; empty where cargo only checks.
#[proc_macro]
pub fn agent_library(_: TokenStream) -> TokenStream {
    let built = std::env::var_os("OUT_DIR").and_then(|out| library(Path::new(&out)));
    let bytes = match built {
        Some(path) => format!("include_bytes!({:?})", path.display().to_string()),
        None => "&[]".to_owned(),
    };
    // Both forms are literals of our own making.
    bytes.parse().unwrap_or_default()
}

/// The library that cargo left beside the other dependencies; `out` is `build/PACKAGE-HASH/out` of the same profile.
fn library(out: &Path) -> Option<PathBuf> {
    let profile = out.ancestors().nth(3)?;
    let built = profile.join("deps").join(LIBRARY);
    built.is_file().then_some(built)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_found_beside_the_build_folder_or_there_is_none() {
        let root = std::env::temp_dir().join(format!("untorn-embed-{}", std::process::id()));
        let out = root.join("release/build/untorn-0123/out");
        let deps = root.join("release/deps");
        std::fs::create_dir_all(&out).unwrap();
        std::fs::create_dir_all(&deps).unwrap();
        assert_eq!(library(&out), None);
        std::fs::write(deps.join(LIBRARY), "").unwrap();
        assert_eq!(library(&out), Some(deps.join(LIBRARY)));
        std::fs::remove_dir_all(root).unwrap();
    }
}
