//! The Java runtime: its classes, and when they come into the JVM.
//!
//! `java.lang.Thread` calls the runtime when the very first thread is started, before any event in which an agent may normally call JNI.
//! So the classes are defined in the class hook of a class that is loaded just before that.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::jvm::{Jni, JvmError, StaticMethod};
use crate::{faults, frames};

/// Class names and class files.
static CLASSES: &[(&CStr, &[u8])] = include!(concat!(env!("OUT_DIR"), "/java/classes.rs"));

const ENTRY: &CStr = c"java/lang/UntornRuntime";
/// What the platform calls, and the agent where the platform cannot.
const HOOKS: &CStr = c"java/lang/UntornHooks";

static DEFINED: AtomicBool = AtomicBool::new(false);

/// What a thread calls before and after it waits for a monitor, and if one of these throws.
static SLEEPING: OnceLock<[StaticMethod; 3]> = OnceLock::new();

/// Whether a class, by its name with slashes, is one of the runtime's.
pub fn is_ours(class: &str) -> bool {
    class.starts_with("java/lang/Untorn")
}

/// Defines the classes, once.
pub fn define(jni: &Jni) -> Result<(), JvmError> {
    if DEFINED.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    for (name, bytes) in CLASSES {
        let text = name.to_string_lossy();
        if faults::fails("define", &text) {
            return Err(JvmError::NotDefined(text.into_owned()));
        }
        if faults::fails("skip", &text) {
            continue;
        }
        let edited = match &*text {
            frames::CLASS => Some(frames::enlarge(bytes)),
            _ => faults::failing(bytes),
        };
        match edited {
            None => jni.define(name, bytes)?,
            Some(Ok(edited)) => jni.define(name, &edited)?,
            Some(Err(_)) => return Err(JvmError::NotDefined(text.into_owned())),
        }
    }
    Ok(())
}

/// Hands the classes the shared memory: from here on events are recorded.
pub fn boot(jni: &Jni, memory: u64) -> Result<(), JvmError> {
    define(jni)?;
    if faults::fails("boot", "") {
        return Err(JvmError::Threw);
    }
    let class = jni
        .find(ENTRY)
        .ok_or(JvmError::NotFound("java.lang.UntornRuntime"))?;
    let hooks = jni
        .find(HOOKS)
        .ok_or(JvmError::NotFound("java.lang.UntornHooks"))?;
    // SAFETY: the classes were just found.
    unsafe {
        jni.call_static(class, c"boot", memory as i64)?;
        if let (Some(sleeping), Some(awake), Some(thrown)) = (
            jni.static_method(hooks, c"blocking", c"()V"),
            jni.static_method(hooks, c"awake", c"()V"),
            jni.static_method(hooks, c"thrown", c"(Ljava/lang/Throwable;)Z"),
        ) {
            SLEEPING.set([sleeping, awake, thrown]).ok();
        }
    }
    Ok(())
}

/// The running thread is about to sleep.
pub fn sleeping(jni: &Jni) {
    if let Some([sleeping, _, thrown]) = SLEEPING.get() {
        jni.call(sleeping, thrown);
    }
}

/// It is awake again.
pub fn awake(jni: &Jni) {
    if let Some([_, awake, thrown]) = SLEEPING.get() {
        jni.call(awake, thrown);
    }
}

#[cfg(test)]
mod tests {
    use untorn_classfile::ClassFile;
    use untorn_classfile::read::Access;

    use super::*;

    /// Up to so many bytes C1 inlines, and from so many on C2 does not inline even what is called all the time.
    const C1_INLINES: usize = 35;
    const C2_REFUSES: usize = 325;

    /// What only code with pessimistic tracking calls, and hooks of the platform.
    const SELDOM: [&str; 18] = [
        "lock",
        "unlock",
        "abandon",
        "lockStatic",
        "unlockStatic",
        "abandonStatic",
        "lockArray",
        "unlockArray",
        "abandonArray",
        "fork",
        "joined",
        "parking",
        "sleeping",
        "awake",
        "exited",
        "stop",
        "thrown",
        "visible",
    ];

    #[test]
    fn c1_inlines_nothing_that_all_threads_call() {
        let called = CLASSES
            .iter()
            .filter(|(name, _)| [ENTRY, HOOKS].contains(name));
        let classes: Vec<ClassFile<'_>> = called
            .map(|(_, bytes)| ClassFile::parse(bytes).unwrap())
            .collect();
        assert_eq!(classes.len(), 2);
        let mut seen = 0;
        let methods = classes
            .iter()
            .flat_map(|class| class.methods.iter().map(move |method| (class, method)));
        for (class, method) in methods {
            if !method.access.has(Access::PUBLIC) || SELDOM.contains(&&*method.name) {
                continue;
            }
            seen += 1;
            let annotations = method.attributes.annotations(&class.pool).unwrap();
            let is_call = annotations
                .iter()
                .any(|it| it.descriptor.contains("DontInline"));
            let length = method.code(&class.pool).unwrap().unwrap().bytecode.len();
            assert!(
                is_call || (C1_INLINES + 1..C2_REFUSES).contains(&length),
                "{} has {length} bytes",
                method.name
            );
        }
        assert!(seen > 20, "{seen}");
    }
}
