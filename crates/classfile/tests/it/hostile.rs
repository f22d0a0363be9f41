//! Damaged class files are answered with errors: no panic, no endless work.

use crate::reading::read_everything;
use crate::stress::{Options, stress};
use crate::support::Jdk;
use proptest::prelude::*;
use std::sync::LazyLock;
use untorn_classfile::edit::rewrite_unchanged;
use untorn_classfile::read::Attributes;
use untorn_classfile::{ClassFile, Error, ErrorKind};

/// Classes with every kind of attribute and instruction between them.
static SAMPLES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let root = Jdk::default_one().module("java.base");
    [
        "java/lang/Object",
        "java/lang/Thread",
        "java/lang/String",
        "java/util/concurrent/locks/ReentrantLock$Sync",
        "java/lang/invoke/VarHandle",
        "java/lang/FunctionalInterface",
        "java/util/stream/Collectors",
        "java/lang/Character$UnicodeBlock",
        "sun/security/ssl/SSLSocketImpl",
        "java/lang/runtime/ObjectMethods",
    ]
    .iter()
    .map(|name| std::fs::read(root.join(name).with_extension("class")).unwrap())
    .collect()
});

#[derive(Debug, Clone)]
enum Damage {
    Byte(prop::sample::Index, u8),
    Short(prop::sample::Index, u16),
    Cut(prop::sample::Index),
    Swap(prop::sample::Index, prop::sample::Index),
    Version(u16),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = any::<prop::sample::Index>;
    prop_oneof![
        4 => (place(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        4 => (place(), prop_oneof![Just(0), Just(1), Just(0xffff), any::<u16>()])
            .prop_map(|(at, short)| Damage::Short(at, short)),
        1 => place().prop_map(Damage::Cut),
        2 => (place(), place()).prop_map(|(one, other)| Damage::Swap(one, other)),
        1 => (45_u16..70).prop_map(Damage::Version),
    ]
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    if bytes.len() < 10 {
        return;
    }
    match damage {
        Damage::Byte(at, byte) => {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        Damage::Short(at, short) => {
            let at = at.index(bytes.len() - 1);
            bytes[at..at + 2].copy_from_slice(&short.to_be_bytes());
        }
        Damage::Cut(at) => bytes.truncate(at.index(bytes.len())),
        Damage::Swap(one, other) => {
            let (one, other) = (one.index(bytes.len()), other.index(bytes.len()));
            bytes.swap(one, other);
        }
        Damage::Version(major) => bytes[6..8].copy_from_slice(&major.to_be_bytes()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_classes_never_panic(
        sample in any::<prop::sample::Index>(),
        damages in prop::collection::vec(damage(), 1..6),
    ) {
        let mut bytes = SAMPLES[sample.index(SAMPLES.len())].clone();
        for damage in &damages {
            apply(&mut bytes, damage);
        }
        if let Ok(class) = ClassFile::parse(&bytes) {
            let _ = read_everything(&class);
        }
        let _ = rewrite_unchanged(&bytes);
        if let Ok((edited, _)) = stress(&bytes, Options { hook: "a/B", members: true, small: false }) {
            ClassFile::parse(&edited).expect("what the editor writes, the reader reads");
        }
    }

    #[test]
    fn arbitrary_code_never_panics(code in prop::collection::vec(any::<u8>(), 1..60), major in 45_u16..70) {
        let bytes = class_with_code(&code, major);
        let class = ClassFile::parse(&bytes).unwrap();
        let _ = read_everything(&class);
        let _ = rewrite_unchanged(&bytes);
        let _ = stress(&bytes, Options { hook: "a/B", members: false, small: false });
    }
}

fn utf8(out: &mut Vec<u8>, text: &str) {
    out.push(1);
    out.extend((text.len() as u16).to_be_bytes());
    out.extend(text.as_bytes());
}

/// A class `A` with one static method whose body is the given bytes.
fn class_with_code(code: &[u8], major: u16) -> Vec<u8> {
    let mut out = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0];
    out.extend(major.to_be_bytes());
    out.extend([0, 9]);
    utf8(&mut out, "A");
    out.extend([7, 0, 1]);
    utf8(&mut out, "m");
    utf8(&mut out, "()V");
    utf8(&mut out, "Code");
    out.extend([12, 0, 3, 0, 4]);
    out.extend([10, 0, 2, 0, 6]);
    out.extend([3, 0, 0, 0, 9]);
    out.extend([0, 0x21, 0, 2, 0, 2, 0, 0, 0, 0, 0, 1]);
    out.extend([0, 9, 0, 3, 0, 4, 0, 1, 0, 5]);
    out.extend((12 + code.len() as u32).to_be_bytes());
    out.extend([0, 9, 0, 9]);
    out.extend((code.len() as u32).to_be_bytes());
    out.extend(code);
    out.extend([0, 0, 0, 0, 0, 0]);
    out
}

/// A class whose only attribute is the given one.
fn class_with_attribute(name: &str, data: &[u8]) -> Vec<u8> {
    let mut out = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 61, 0, 4];
    utf8(&mut out, "A");
    out.extend([7, 0, 1]);
    utf8(&mut out, name);
    out.extend([0, 0x21, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 3]);
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(data);
    out
}

#[test]
fn annotations_nested_without_end_are_an_error_not_a_stack_overflow() {
    let mut data = vec![0, 1, 0, 1, 0, 1, 0, 1];
    for _ in 0..200_000 {
        data.extend([b'[', 0, 1]);
    }
    let bytes = class_with_attribute("RuntimeVisibleAnnotations", &data);
    let class = ClassFile::parse(&bytes).unwrap();
    let read = |attributes: &Attributes<'_>| attributes.annotations(&class.pool).map(|_| ());
    let refused = read(&class.attributes);
    assert!(
        matches!(
            refused,
            Err(Error {
                kind: ErrorKind::NestingTooDeep,
                ..
            })
        ),
        "{refused:?}"
    );
}

#[test]
fn forged_counts_allocate_nothing() {
    let bytes = class_with_attribute("InnerClasses", &[0xff, 0xff]);
    let class = ClassFile::parse(&bytes).unwrap();
    let refused = class.attributes.inner_classes(&class.pool).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Truncated);
    assert_eq!(
        refused.offset as usize,
        bytes.len(),
        "the offset is that of the file"
    );
}
