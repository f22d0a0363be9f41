//! Whether an agent of ours is in this JVM already: two of them would rewrite each other's code.
//!
//! What the process has mapped says so, of this build and of any other, and leaves no trace that the program could see.

use crate::Agent;

const LIBRARY: &str = "libuntorn_agent";

/// The library of the agent that came before this one.
pub fn earlier() -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let ours = mapping_of(&maps, earlier as fn() -> Option<String> as usize)?;
    if Agent::get().is_some() {
        return Some(path(ours).to_owned());
    }
    other(&maps, ours)
}

/// The line of the mapping that an address is in.
fn mapping_of(maps: &str, address: usize) -> Option<&str> {
    maps.lines().find(|line| {
        let range = line.split(' ').next().unwrap_or_default();
        let ends = range.split_once('-').and_then(|(from, to)| {
            let number = |text| usize::from_str_radix(text, 16).ok();
            Some((number(from)?, number(to)?))
        });
        ends.is_some_and(|(from, to)| (from..to).contains(&address))
    })
}

fn other(maps: &str, ours: &str) -> Option<String> {
    (maps.lines())
        .filter(|line| file(line) != file(ours))
        .map(path)
        .find(|path| {
            let name = path.rsplit('/').next().unwrap_or_default();
            name.starts_with(LIBRARY)
        })
        .map(str::to_owned)
}

/// Device and number of the mapped file: `start-end permissions offset device number path`.
fn file(line: &str) -> Vec<&str> {
    line.split_ascii_whitespace().skip(3).take(2).collect()
}

fn path(line: &str) -> &str {
    let words = line.split_ascii_whitespace().take(5);
    let last = words.last().unwrap_or_default();
    // Behind the file's number; the path itself may hold spaces.
    let at = (last.as_ptr() as usize) - (line.as_ptr() as usize) + last.len();
    line[at..].trim_start()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
1000-2000 r-xp 00000000 fe:00 11  /opt/with space/libuntorn_agent.so
2000-3000 rw-p 00001000 fe:00 11  /opt/with space/libuntorn_agent.so
5000-6000 r-xp 00000000 fe:00 12  /usr/lib/libc.so.6
7000-8000 rw-p 00000000 00:00 0 
9000-a000 r-xp 00000000 fe:00 13  /old/libuntorn_agent-0.1.so
";

    #[test]
    fn another_library_of_ours_is_found_and_our_own_is_not_another() {
        let ours = mapping_of(MAPS, 0x1800).unwrap();
        assert_eq!(path(ours), "/opt/with space/libuntorn_agent.so");
        assert_eq!(other(MAPS, ours).unwrap(), "/old/libuntorn_agent-0.1.so");
        let alone: String = MAPS
            .lines()
            .take(4)
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(other(&alone, ours), None);
        assert_eq!(mapping_of(MAPS, 0x4000), None);
    }
}
