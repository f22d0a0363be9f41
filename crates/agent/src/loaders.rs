//! Class loaders by number, so that classes of one name from several loaders are told apart.
//!
//! The number is a JVM TI tag of the loader: it goes with the object, holds nothing alive, and is never used again after the loader is gone.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use jvmti_bindings::sys::jni::{jobject, jweak};

use crate::jvm::{Jni, Jvmti};

/// The class of the platform's loader for what the boot loader does not have.
const PLATFORM: &str = "jdk.internal.loader.ClassLoaders$PlatformClassLoader";

/// A class loader.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Loader(u32);

impl Loader {
    /// The platform's own, which has no object.
    pub const BOOT: Self = Self(0);
    /// Whichever: for what the name of a class alone decides.
    pub const ANY: Self = Self(u32::MAX);

    #[cfg(test)]
    pub const fn numbered(number: u32) -> Self {
        Self(number)
    }
}

/// A weak reference of JNI; it lives as long as the JVM.
#[derive(Clone, Copy, Debug)]
struct Weak(jweak);

// SAFETY: global references, weak ones too, may be used by any thread (JNI specification, "Global and local references").
unsafe impl Send for Weak {}

/// The loaders seen so far.
#[derive(Debug)]
pub struct Loaders {
    jvmti: Jvmti,
    /// By number, from 1.
    known: Mutex<Vec<Weak>>,
    /// The number of the platform's loader that is an object, once it was seen.
    platform: AtomicU32,
}

impl Loaders {
    pub fn new(jvmti: Jvmti) -> Self {
        Self {
            jvmti,
            known: Mutex::default(),
            platform: AtomicU32::new(Loader::ANY.0),
        }
    }

    /// The number of a loader.
    ///
    /// # Safety
    /// `loader` is null or a live reference, and `jni` the environment of this thread.
    pub unsafe fn number(&self, jni: Jni, loader: jobject) -> Loader {
        if loader.is_null() {
            return Loader::BOOT;
        }
        // Held while the tag is looked at and set, so that a loader never gets two.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: by contract.
        unsafe {
            if let Some(tag) = self.jvmti.tag(loader) {
                return Loader(tag as u32);
            }
            let number = known.len() as u32 + 1;
            known.push(Weak(jni.weak(loader)));
            self.jvmti.set_tag(loader, i64::from(number));
            let class = jni.class_of(loader);
            if class
                .and_then(|class| self.jvmti.class_name(class))
                .as_deref()
                == Some(PLATFORM)
            {
                self.platform.store(number, Ordering::Relaxed);
            }
            Loader(number)
        }
    }

    /// Whether a loader defines nothing but the platform's classes.
    pub fn is_of_platform(&self, loader: Loader) -> bool {
        loader == Loader::BOOT || loader.0 == self.platform.load(Ordering::Relaxed)
    }

    /// The class that a loader has found under a name (with dots) before, and those above it, each with its defining loader.
    ///
    /// Calls no code of the program: what the loader has not found yet is not looked for.
    pub fn find(&self, jni: Jni, loader: Loader, name: &str) -> Vec<(Loader, String)> {
        let mut found = Vec::new();
        let weak = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            (loader.0 as usize)
                .checked_sub(1)
                .and_then(|at| known.get(at).copied())
        };
        // SAFETY: references come from JNI just now, and are used in this thread before this call ends.
        unsafe {
            let mut class = match weak {
                Some(Weak(weak)) => jni.found_by(weak, name),
                None => jni.find_by_boot_loader(name),
            };
            while let Some(at) = class {
                let Some(name) = self.jvmti.class_name(at) else {
                    break;
                };
                let by = self.number(jni, self.jvmti.class_loader(at));
                found.push((by, name));
                class = jni.superclass(at);
            }
        }
        found
    }
}
