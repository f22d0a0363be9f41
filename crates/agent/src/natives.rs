//! Native methods of the Java runtime: rare things only, none of them per event.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use jvmti_bindings::sys::jni::{JNIEnv, JNINativeMethod, jclass, jint, jlong, jstring};
use untorn_channel::Declaration;

use crate::Agent;
use crate::jvm::Jni;

/// What `RegisterNatives` wants.
pub fn table() -> [JNINativeMethod; 6] {
    let method =
        |name: &'static CStr, signature: &'static CStr, function: *mut c_void| JNINativeMethod {
            name: name.as_ptr(),
            signature: signature.as_ptr(),
            fnPtr: function,
        };
    [
        method(c"nap", c"()V", nap as *mut c_void),
        method(
            c"nameThread",
            c"(ILjava/lang/String;)V",
            name_thread as *mut c_void,
        ),
        method(
            c"nameClass",
            c"(ILjava/lang/String;)V",
            name_class as *mut c_void,
        ),
        method(
            c"nameKey",
            c"(JLjava/lang/String;)V",
            name_key as *mut c_void,
        ),
        method(
            c"siteClass",
            c"(I)Ljava/lang/String;",
            site_class as *mut c_void,
        ),
        method(
            c"siteField",
            c"(I)Ljava/lang/String;",
            site_field as *mut c_void,
        ),
    ]
}

extern "system" fn nap(_: *mut JNIEnv, _: jclass) {
    std::thread::sleep(Duration::from_micros(50));
}

/// Declares something that has a name.
fn declare(env: *mut JNIEnv, name: jstring, make: impl FnOnce(String) -> Declaration) {
    catch_unwind(AssertUnwindSafe(|| {
        let Some(agent) = Agent::get() else { return };
        // SAFETY: the JVM calls a native method with the thread's environment and live references.
        let name = unsafe { Jni::of(env).map(|jni| jni.text(name)) };
        agent.registry.declare(&make(name.unwrap_or_default()));
    }))
    .ok();
}

extern "system" fn name_thread(env: *mut JNIEnv, _: jclass, id: jint, name: jstring) {
    declare(env, name, |name| Declaration::Thread {
        id: id as u32,
        name,
    });
}

extern "system" fn name_class(env: *mut JNIEnv, _: jclass, id: jint, name: jstring) {
    declare(env, name, |name| Declaration::RuntimeClass {
        id: id as u32,
        name,
    });
}

extern "system" fn name_key(env: *mut JNIEnv, _: jclass, id: jlong, text: jstring) {
    declare(env, text, |text| Declaration::Key {
        id: id as u64,
        text,
    });
}

/// A part of a site's field as a Java string; null if the site is none of a field.
fn of_site(env: *mut JNIEnv, site: jint, part: fn((String, String)) -> String) -> jstring {
    catch_unwind(AssertUnwindSafe(|| {
        let field = Agent::get()?.registry.site_field(site as u32)?;
        // SAFETY: the JVM calls a native method with the thread's environment.
        let jni = unsafe { Jni::of(env) }?;
        Some(jni.string(&part(field)))
    }))
    .ok()
    .flatten()
    .unwrap_or(std::ptr::null_mut())
}

extern "system" fn site_class(env: *mut JNIEnv, _: jclass, site: jint) -> jstring {
    of_site(env, site, |(class, _)| class)
}

extern "system" fn site_field(env: *mut JNIEnv, _: jclass, site: jint) -> jstring {
    of_site(env, site, |(_, field)| field)
}
