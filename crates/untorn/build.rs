//! There is nothing to make: with a build script cargo sets `OUT_DIR`, by which crates/embed finds the agent's library.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
