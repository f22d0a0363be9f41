//! Files with their paths, packed so that the same files give the same bytes, whoever packs them and when.

use std::collections::BTreeMap;
use std::io::{self, Write};

use flate2::{Compression, GzBuilder};

/// The age of every packed file unless `SOURCE_DATE_EPOCH` says otherwise: the oldest that a zip file can say, 1980.
const EPOCH: u64 = 315_532_800;

#[derive(Clone, Debug)]
struct Content {
    bytes: Vec<u8>,
    executable: bool,
}

/// Files by path, in order.
#[derive(Clone, Debug, Default)]
pub struct Tree(BTreeMap<String, Content>);

impl Tree {
    pub fn add(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        let bytes = bytes.into();
        let executable = false;
        self.0.insert(path.into(), Content { bytes, executable });
    }

    pub fn add_program(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        let bytes = bytes.into();
        let executable = true;
        self.0.insert(path.into(), Content { bytes, executable });
    }

    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        (self.0.iter()).map(|(path, content)| (path.as_str(), content.bytes.as_slice()))
    }

    /// How many kibibytes the files take.
    pub fn kibibytes(&self) -> usize {
        (self.0.values().map(|content| content.bytes.len())).sum::<usize>() / 1024
    }

    /// A tar archive with the paths below `prefix`; every folder has an entry, and root owns everything.
    pub fn tar(&self, prefix: &str) -> io::Result<Vec<u8>> {
        let mut archive = tar::Builder::new(Vec::new());
        let mut folders = std::collections::BTreeSet::new();
        for (path, content) in &self.0 {
            let path = format!("{prefix}{path}");
            for (end, _) in path.match_indices('/') {
                let folder = &path[..=end];
                if folder != "./" && folders.insert(folder.to_owned()) {
                    let mut header = header(tar::EntryType::Directory, 0o755, 0);
                    archive.append_data(&mut header, folder, io::empty())?;
                }
            }
            let mode = if content.executable { 0o755 } else { 0o644 };
            let mut header = header(tar::EntryType::Regular, mode, content.bytes.len());
            archive.append_data(&mut header, &path, content.bytes.as_slice())?;
        }
        archive.into_inner()
    }

    /// A zip archive, as wheels are.
    pub fn zip(&self, level: u32) -> io::Result<Vec<u8>> {
        let mut archive = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
        for (path, content) in &self.0 {
            let options = zip::write::SimpleFileOptions::default()
                .compression_level(Some(i64::from(level)))
                .unix_permissions(if content.executable { 0o755 } else { 0o644 });
            (archive.start_file(path.as_str(), options)).map_err(io::Error::other)?;
            archive.write_all(&content.bytes)?;
        }
        Ok(archive.finish().map_err(io::Error::other)?.into_inner())
    }
}

/// Seconds since 1970 that every packed file is as old as.
pub fn epoch() -> u64 {
    let said = std::env::var("SOURCE_DATE_EPOCH").ok();
    said.and_then(|text| text.parse().ok()).unwrap_or(EPOCH)
}

fn header(kind: tar::EntryType, mode: u32, size: usize) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size as u64);
    header.set_mtime(epoch());
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// The bytes, compressed; no name and no time are kept beside them.
pub fn gzip(bytes: &[u8], level: u32) -> io::Result<Vec<u8>> {
    let mut writer = GzBuilder::new().write(Vec::new(), Compression::new(level));
    writer.write_all(bytes)?;
    writer.finish()
}
