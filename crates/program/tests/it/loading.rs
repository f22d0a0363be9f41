//! Class files are found where the JVM would find them, and hostile archives are bounded.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{compile_text, jar, jar_bytes};
use tempfile::TempDir;
use untorn_program::load::{ClassPath, Jdk, JdkChoice, Limits, Origin};
use untorn_program::{Assumption, Assumptions, LoadError};

fn open_with(
    inputs: &[&Path],
    path: &[PathBuf],
    release: u16,
    limits: Limits,
) -> (Result<ClassPath, LoadError>, Assumptions) {
    let inputs: Vec<PathBuf> = inputs.iter().map(|path| path.to_path_buf()).collect();
    let mut assumptions = Assumptions::default();
    let opened = ClassPath::open(
        &inputs,
        path,
        &JdkChoice::None,
        Some(release),
        limits,
        &mut assumptions,
    );
    (opened, assumptions)
}

fn open(inputs: &[&Path], release: u16) -> (ClassPath, Assumptions) {
    let (opened, assumptions) = open_with(inputs, &[], release, Limits::default());
    (opened.unwrap(), assumptions)
}

fn contents(path: &ClassPath) -> Vec<(String, Vec<u8>)> {
    path.input_files()
        .iter()
        .map(|file| {
            (
                file.expected_name().unwrap_or_default(),
                path.read_input(file).unwrap().bytes,
            )
        })
        .collect()
}

#[test]
fn a_folder_gives_its_classes_and_its_jars() {
    let folder = TempDir::new().unwrap();
    fs::create_dir_all(folder.path().join("p")).unwrap();
    fs::write(folder.path().join("p/A.class"), b"a").unwrap();
    fs::write(folder.path().join("module-info.class"), b"m").unwrap();
    fs::write(folder.path().join("p/readme.txt"), b"t").unwrap();
    jar(&folder.path().join("lib.jar"), &[("q/B.class", b"b")]);
    let (path, _) = open(&[folder.path()], 17);
    assert_eq!(
        contents(&path),
        [
            ("p/A".to_owned(), b"a".to_vec()),
            ("q/B".to_owned(), b"b".to_vec())
        ]
    );
}

#[test]
fn nested_jars_and_application_archives_are_opened() {
    let folder = TempDir::new().unwrap();
    let inner = jar_bytes(&[("lib/Inner.class", b"inner")]);
    let outer = folder.path().join("app.jar");
    jar(
        &outer,
        &[
            ("BOOT-INF/classes/app/Main.class", b"main"),
            ("BOOT-INF/lib/inner.jar", &inner),
        ],
    );
    let (path, _) = open(&[&outer], 17);
    assert_eq!(
        contents(&path),
        [
            ("app/Main".to_owned(), b"main".to_vec()),
            ("lib/Inner".to_owned(), b"inner".to_vec())
        ]
    );
    // What an application brings along may also be what it uses, and not what is looked at.
    let path = path.with_packed_libraries(true);
    assert_eq!(contents(&path), [("app/Main".to_owned(), b"main".to_vec())]);
    let found = path.find("lib/Inner").unwrap().unwrap();
    assert_eq!(
        (found.bytes.as_slice(), found.origin),
        (&b"inner"[..], Origin::ClassPath)
    );
}

#[test]
fn jars_in_a_jar_without_classes_are_what_is_looked_at() {
    let folder = TempDir::new().unwrap();
    let inner = jar_bytes(&[("lib/Inner.class", b"inner")]);
    let outer = folder.path().join("bundle.jar");
    jar(&outer, &[("inner.jar", &inner)]);
    let path = open(&[&outer], 17).0.with_packed_libraries(true);
    assert_eq!(
        contents(&path),
        [("lib/Inner".to_owned(), b"inner".to_vec())]
    );
    assert!(path.find("lib/Inner").unwrap().is_none());
}

#[test]
fn multi_release_jars_give_the_highest_version_not_above_the_target() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("mr.jar");
    let entries: [(&str, &[u8]); 5] = [
        (
            "META-INF/MANIFEST.MF",
            b"Manifest-Version: 1.0\r\nMulti-Release: true\r\n\r\n",
        ),
        ("A.class", b"base"),
        ("META-INF/versions/9/A.class", b"nine"),
        ("META-INF/versions/17/A.class", b"seventeen"),
        ("META-INF/versions/11/B.class", b"eleven"),
    ];
    jar(&path, &entries);
    let bytes_at = |release| contents(&open(&[&path], release).0);
    assert_eq!(bytes_at(8), [("A".to_owned(), b"base".to_vec())]);
    assert_eq!(
        bytes_at(11),
        [
            ("A".to_owned(), b"nine".to_vec()),
            ("B".to_owned(), b"eleven".to_vec())
        ]
    );
    assert_eq!(bytes_at(25)[0].1, b"seventeen");
    // Without the manifest's word the versions are no classes.
    jar(&path, &entries[1..]);
    assert_eq!(bytes_at(25), [("A".to_owned(), b"base".to_vec())]);
}

#[test]
fn entries_that_leave_the_archive_are_ignored_and_counted() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("evil.jar");
    jar(
        &path,
        &[
            ("../../Out.class", b"x"),
            ("/abs/Out.class", b"x"),
            ("ok/In.class", b"y"),
            ("a//B.class", b"z"),
        ],
    );
    let (opened, assumptions) = open(&[&path], 17);
    assert_eq!(contents(&opened), [("ok/In".to_owned(), b"y".to_vec())]);
    assert_eq!(assumptions.count(Assumption::UnsafeEntryName), 3);
}

#[test]
fn a_class_that_inflates_past_the_limit_is_an_error_and_not_memory() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("bomb.jar");
    jar(&path, &[("Bomb.class", &vec![0; 4 << 20])]);
    let limits = Limits {
        class_bytes: 1 << 20,
        ..Limits::default()
    };
    let opened = open_with(&[&path], &[], 17, limits).0.unwrap();
    let files = opened.input_files();
    assert!(matches!(
        opened.read_input(&files[0]),
        Err(LoadError::TooLarge { .. })
    ));
}

#[test]
fn archives_that_nest_too_deep_or_too_large_are_counted() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("deep.jar");
    let mut bytes = jar_bytes(&[("Deep.class", b"deep")]);
    for _ in 0..6 {
        bytes = jar_bytes(&[("inner.jar", &bytes)]);
    }
    fs::write(&path, &bytes).unwrap();
    let (opened, assumptions) = open(&[&path], 17);
    assert!(contents(&opened).is_empty());
    assert_eq!(assumptions.count(Assumption::EntryTooLarge), 1);

    let big = jar_bytes(&[("Big.class", &[7; 10_000])]);
    jar(&path, &[("a.jar", &big), ("b.jar", b"not a jar")]);
    let limits = Limits {
        nested_bytes: 100,
        ..Limits::default()
    };
    let (opened, assumptions) = open_with(&[&path], &[], 17, limits);
    assert!(contents(&opened.unwrap()).is_empty());
    assert_eq!(assumptions.count(Assumption::EntryTooLarge), 1);
    assert_eq!(assumptions.count(Assumption::UnreadableArchive), 1);
}

#[test]
fn unreadable_inputs_are_typed_errors() {
    let folder = TempDir::new().unwrap();
    let text = folder.path().join("notes.txt");
    fs::write(&text, "hello").unwrap();
    let cut = folder.path().join("cut.jar");
    let whole = jar_bytes(&[("A.class", b"a")]);
    fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    let error = |path: &Path| {
        open_with(&[path], &[], 17, Limits::default())
            .0
            .unwrap_err()
    };
    assert!(matches!(error(&text), LoadError::UnknownInput { .. }));
    assert!(matches!(error(&cut), LoadError::BadArchive { .. }));
    assert!(matches!(
        error(&folder.path().join("absent")),
        LoadError::Io { .. }
    ));
}

#[test]
fn the_class_path_is_searched_in_order_and_may_have_holes() {
    let folder = TempDir::new().unwrap();
    jar(&folder.path().join("a.jar"), &[("A.class", b"first")]);
    jar(
        &folder.path().join("b.jar"),
        &[("A.class", b"second"), ("B.class", b"b")],
    );
    let path = [folder.path().join("gone.jar"), folder.path().join("*")];
    let (opened, assumptions) = open_with(&[], &path, 17, Limits::default());
    let opened = opened.unwrap();
    assert_eq!(opened.find("A").unwrap().unwrap().bytes, b"first");
    let found = opened.find("B").unwrap().unwrap();
    assert_eq!(
        (found.bytes.as_slice(), found.origin),
        (b"b".as_slice(), Origin::ClassPath)
    );
    assert!(opened.find("C").unwrap().is_none());
    assert!(opened.find("../A").unwrap().is_none());
    assert_eq!(assumptions.count(Assumption::MissingPathEntry), 1);
}

#[test]
fn the_runtime_image_gives_the_same_bytes_as_the_jdk_itself() {
    let jdk = Jdk::open(
        &JdkChoice::Discover,
        &Limits::default(),
        &mut Assumptions::default(),
    )
    .unwrap()
    .unwrap();
    assert!(jdk.release() >= 17);
    let names = jdk.class_names();
    assert!(names.len() > 20_000, "{} classes", names.len());
    // A Java program asks the running JDK for its classes and prints their sizes and hashes.
    let out = compile_text(
        "Dump.java",
        "public class Dump { public static void main(String[] a) throws Exception {
            for (String n : a) { byte[] b = Object.class.getModule().getResourceAsStream(n + \".class\").readAllBytes();
                System.out.println(b.length + \" \" + java.util.Arrays.hashCode(b)); } } }",
    );
    let classes = [
        "java/lang/Object",
        "java/util/HashMap",
        "java/util/concurrent/ConcurrentHashMap$Node",
    ];
    let java = jdk.home().join("bin/java");
    let result = std::process::Command::new(java)
        .arg("-cp")
        .arg(out.path())
        .arg("Dump")
        .args(classes)
        .output()
        .unwrap();
    let expected = String::from_utf8(result.stdout).unwrap();
    let actual: Vec<String> = classes
        .iter()
        .map(|name| {
            let bytes = jdk.read(name, &Limits::default()).unwrap().unwrap();
            let hash = bytes.iter().fold(1i32, |hash, byte| {
                hash.wrapping_mul(31).wrapping_add(i32::from(*byte as i8))
            });
            format!("{} {hash}", bytes.len())
        })
        .collect();
    assert_eq!(actual, expected.lines().collect::<Vec<_>>());
}

#[test]
fn a_broken_image_is_a_typed_error() {
    let home = TempDir::new().unwrap();
    fs::create_dir(home.path().join("lib")).unwrap();
    let open = || {
        Jdk::open(
            &JdkChoice::Home(home.path().to_owned()),
            &Limits::default(),
            &mut Assumptions::default(),
        )
        .unwrap_err()
    };
    assert!(matches!(open(), LoadError::NotAJdk { .. }));
    let image = home.path().join("lib/modules");
    fs::write(&image, b"short").unwrap();
    assert!(matches!(open(), LoadError::BadImage { offset: 0, .. }));
    let mut header = [0u8; 64];
    header[..4].copy_from_slice(&0xCAFE_DADA_u32.to_le_bytes());
    header[6] = 1;
    header[16..20].copy_from_slice(&u32::MAX.to_le_bytes());
    fs::write(&image, header).unwrap();
    assert!(matches!(open(), LoadError::BadImage { .. }));
}
