//! A Debian package: an `ar` archive of a version, what apt wants to know, and the files.

use std::io;

use super::tree::{Tree, epoch, gzip};

/// What apt is told.
#[derive(Debug)]
pub struct Control<'a> {
    pub version: &'a str,
    pub architecture: &'a str,
    /// The oldest C library that the program runs with.
    pub libc: &'a str,
}

/// The package with files whose paths start at the root of the system.
pub fn package(control: &Control, files: &Tree, level: u32) -> io::Result<Vec<u8>> {
    let mut about = Tree::default();
    about.add("control", text(control, files));
    let mut package = b"!<arch>\n".to_vec();
    for (name, bytes) in [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", gzip(&about.tar("./")?, level)?),
        ("data.tar.gz", gzip(&files.tar("./")?, level)?),
    ] {
        let header = format!(
            "{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
            epoch(),
            0,
            0,
            "100644",
            bytes.len()
        );
        package.extend(header.bytes());
        package.extend(&bytes);
        if bytes.len() % 2 == 1 {
            package.push(b'\n');
        }
    }
    Ok(package)
}

fn text(control: &Control, files: &Tree) -> String {
    format!(
        "Package: untorn\n\
         Version: {}\n\
         Architecture: {}\n\
         Maintainer: The Untorn authors <untorn@users.noreply.invalid>\n\
         Installed-Size: {}\n\
         Depends: libc6 (>= {}), libgcc-s1\n\
         Suggests: default-jre-headless (>= 2:1.17)\n\
         Section: devel\n\
         Priority: optional\n\
         Description: finds torn operations in JVM programs\n \
         Untorn watches a Java program run, or reads its class files, and finds\n \
         operations that other threads can tear apart.\n",
        control.version,
        control.architecture,
        files.kibibytes(),
        control.libc,
    )
}
