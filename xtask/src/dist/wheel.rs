//! A wheel that carries the programs as scripts, in the form of maturin's bindings for programs.
//!
//! maturin itself would build the program a second time, with features united in another way; what it packs is this.

use std::io;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::tree::Tree;

/// The name that pip wants the file to have.
pub fn name(version: &str, libc: &str, architecture: &str) -> String {
    format!("untorn-{version}-{}.whl", tag(libc, architecture))
}

/// `py3-none-manylinux_2_34_x86_64`: any Python 3, a system with this C library or a newer one.
fn tag(libc: &str, architecture: &str) -> String {
    format!(
        "py3-none-manylinux_{}_{architecture}",
        libc.replace('.', "_")
    )
}

pub fn wheel(
    version: &str,
    libc: &str,
    architecture: &str,
    programs: &[(&str, &Vec<u8>)],
    documents: &[(&str, Vec<u8>)],
    level: u32,
) -> io::Result<Vec<u8>> {
    let about = format!("untorn-{version}.dist-info");
    let mut tree = Tree::default();
    for (name, program) in programs {
        let path = format!("untorn-{version}.data/scripts/{name}");
        tree.add_program(path, program.as_slice());
    }
    for (name, bytes) in documents {
        tree.add(format!("{about}/licenses/{name}"), bytes.as_slice());
    }
    tree.add(
        format!("{about}/METADATA"),
        format!(
            "Metadata-Version: 2.4\nName: untorn\nVersion: {version}\nSummary: Finds torn operations in JVM programs\nLicense-Expression: MIT OR Apache-2.0\nRequires-Python: >=3.8\n"
        ),
    );
    tree.add(
        format!("{about}/WHEEL"),
        format!(
            "Wheel-Version: 1.0\nGenerator: untorn-xtask\nRoot-Is-Purelib: false\nTag: {}\n",
            tag(libc, architecture)
        ),
    );
    let record = format!("{about}/RECORD");
    let mut lines: String = (tree.files())
        .map(|(path, bytes)| {
            let sum = URL_SAFE_NO_PAD.encode(Sha256::digest(bytes));
            format!("{path},sha256={sum},{}\n", bytes.len())
        })
        .collect();
    lines += &format!("{record},,\n");
    tree.add(record, lines);
    tree.zip(level)
}
