//! A JVM that runs already: the agent does not come late, and says why.
//!
//! What is known of objects, threads and locks is kept in fields that classes get when they are loaded, those of the platform included; no JVM adds fields to a class that it has.
//! An agent that saw only what is loaded from then on would miss the order that the rest makes, and *observed* would not be true.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_void};
use std::io::Write;

use jvmti_bindings::sys::jni::{JNI_ERR, JavaVM, jint};

/// The entry point for agents that are loaded into a running JVM.
#[unsafe(no_mangle)]
pub extern "system" fn Agent_OnAttach(
    _vm: *mut JavaVM,
    _options: *mut c_char,
    _reserved: *mut c_void,
) -> jint {
    // A failed write changes nothing.
    writeln!(
        std::io::stderr(),
        "untorn: the agent has to be there when a JVM starts: start the program with untorn run, or with -agentpath; it goes on unwatched"
    )
    .ok();
    JNI_ERR
}
