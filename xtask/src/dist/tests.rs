use super::*;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const UNTORN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/untorn");

fn packed(dist: &Path) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let jar = folder.path().join(annotations::JAR);
    fs::write(&jar, "jar").unwrap();
    let built = Built {
        platform: Platform::of("x86_64-unknown-linux-gnu").unwrap(),
        program: [&fs::read(UNTORN).unwrap()[..], b"# GLIBC_2.17\n"].concat(),
        archive: b"#!/bin/sh\necho archive\n# GLIBC_2.34\n".to_vec(),
        agent: b"agent".to_vec(),
    };
    let shared = Shared::gather(Path::new(UNTORN), Path::new(ROOT), &jar).unwrap();
    let papers = [("untorn.cdx.json", b"{}".to_vec())];
    pack(&built, &shared, &papers, dist, 1).unwrap();
    write_sums(dist).unwrap();
    let name = |file: &PathBuf| file.file_name().unwrap().to_str().unwrap().to_owned();
    files_in(dist).unwrap().iter().map(name).collect()
}

/// What a tool says; nothing if this machine has no such tool, which is said.
fn output(program: &str, arguments: &[&str], folder: &Path) -> String {
    let mut command = Command::new(program);
    let run = command.args(arguments).current_dir(folder).output();
    let run = run.unwrap_or_else(|error| {
        panic!("{program} cannot be run ({error}); `cargo xtask setup` installs it")
    });
    assert!(run.status.success(), "{program}: {run:?}");
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn every_form_is_packed_the_same_twice_and_the_tools_that_read_it_agree() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [names, again] = folders.each_ref().map(|folder| packed(folder.path()));
    assert_eq!(
        names,
        [
            "SHA256SUMS",
            "untorn-0.1.0-py3-none-manylinux_2_34_x86_64.whl",
            "untorn-0.1.0-x86_64-linux-gnu.oci.tar",
            "untorn-0.1.0-x86_64-linux-gnu.tar.gz",
            "untorn_0.1.0_amd64.deb",
        ]
    );
    assert_eq!(names, again);
    for name in &names {
        let [one, other] = folders
            .each_ref()
            .map(|folder| fs::read(folder.path().join(name)).unwrap());
        assert!(one == other, "{name} differs from one time to the next");
    }
    let dist = folders[0].path();
    output("sha256sum", &["--check", "--strict", "SHA256SUMS"], dist);

    let listed = output("tar", &["--list", "--gzip", "--file", &names[3]], dist);
    let listed: Vec<&str> = listed.lines().filter(|line| !line.ends_with('/')).collect();
    let within: Vec<&str> = (listed.iter())
        .map(|line| line.strip_prefix("untorn-0.1.0-x86_64-linux-gnu/").unwrap())
        .collect();
    assert_eq!(
        within,
        [
            "LICENSE-APACHE",
            "LICENSE-MIT",
            "README.md",
            "bin/untorn",
            "bin/untorn-archive",
            "completions/_untorn",
            "completions/_untorn.ps1",
            "completions/untorn.bash",
            "completions/untorn.elv",
            "completions/untorn.fish",
            "lib/libuntorn_agent.so",
            "lib/untorn-annotations.jar",
            "man/untorn.1",
            "untorn.cdx.json",
        ]
    );

    let about = output("dpkg-deb", &["--info", &names[4]], dist);
    assert!(about.contains("Depends: libc6 (>= 2.34)"), "{about}");
    output("dpkg-deb", &["--extract", &names[4], "system"], dist);
    let help = output(
        "system/usr/bin/untorn",
        &["generate", "completions", "zsh"],
        dist,
    );
    assert_eq!(help, "completions for zsh\n");
    assert_eq!(
        output("system/usr/bin/untorn-archive", &[], dist),
        "archive\n"
    );
    let listed = output("python3", &["-m", "zipfile", "--list", &names[1]], dist);
    assert!(listed.contains("data/scripts/untorn-archive"), "{listed}");
    assert!(
        dist.join("system/usr/lib/untorn/libuntorn_agent.so")
            .is_file()
    );

    let image = format!("oci-archive:{}", names[2]);
    let about = output("skopeo", &["inspect", &image], dist);
    let about: serde_json::Value = serde_json::from_str(&about).unwrap();
    assert_eq!(about["Architecture"], "amd64");
    // A registry checks every sum on the way.
    output(
        "skopeo",
        &["copy", "--insecure-policy", &image, "dir:image"],
        dist,
    );
}

#[test]
fn a_library_that_was_not_built_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let error = read(&folder.path().join(AGENT)).unwrap_err().to_string();
    assert!(
        error.contains("cannot read") && error.contains(AGENT),
        "{error}"
    );
}
