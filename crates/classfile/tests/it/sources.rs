//! Class files from directories and jars.

use std::io::Read;
use std::path::Path;

/// Calls `each` with name and bytes of every class file in a directory, a jar or a class file.
///
/// Versioned copies inside multi-release jars are included; nested jars are not opened.
pub fn each_class(source: &Path, each: &mut dyn FnMut(&str, &[u8])) -> std::io::Result<()> {
    if source.is_dir() {
        let mut entries: Vec<_> = std::fs::read_dir(source)?.collect::<Result<_, _>>()?;
        entries.sort_by_key(std::fs::DirEntry::path);
        for entry in entries {
            let path = entry.path();
            let class = path.extension().is_some_and(|ext| ext == "class");
            if path.is_dir() || class {
                each_class(&path, each)?;
            }
        }
    } else if source.extension().is_some_and(|ext| ext == "class") {
        each(&source.to_string_lossy(), &std::fs::read(source)?);
    } else {
        let mut jar = zip::ZipArchive::new(std::fs::File::open(source)?)?;
        let mut bytes = Vec::new();
        for index in 0..jar.len() {
            let mut file = jar.by_index(index)?;
            let name = file.name()?.into_owned();
            if Path::new(&name)
                .extension()
                .is_some_and(|ext| ext == "class")
            {
                bytes.clear();
                file.read_to_end(&mut bytes)?;
                each(&name, &bytes);
            }
        }
    }
    Ok(())
}
