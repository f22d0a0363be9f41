//! The agent of `untorn exercise`: stops one thread before a chosen access of a method, so that another one can make a whole call there.
//!
//! It is loaded with the option `steps`, rewrites and records nothing, and works in the platform's own classes too.
//! The JVM calls [`on_step`] before every instruction of the thread that asked for it (JVM TI's single steps); those before which another thread can make a difference are counted: accesses of fields and elements, calls, and monitors.
//! At the count that was asked for, the thread waits, in native code and so at no safepoint's expense, until somebody says that it may go on, or [`LONGEST`] has passed.
//!
//! There is one thread at a time that steps: the driver (`crates/exercise/java`) sees to that.
#![allow(unsafe_code)]
#![allow(non_snake_case)]

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jvmti_bindings::sys::jni::{
    JNI_OK, JNIEnv, JavaVM, jboolean, jclass, jint, jintArray, jmethodID, jobject, jthread,
};
use jvmti_bindings::sys::jvmti::{
    JVMTI_DISABLE, JVMTI_ENABLE, JVMTI_ERROR_NONE, JVMTI_EVENT_SINGLE_STEP, JVMTI_VERSION_1_2,
    jlocation, jvmtiCapabilities, jvmtiEnv, jvmtiEventCallbacks,
};

use crate::jvm::{JvmError, Jvmti};

/// The option that asks for this agent.
pub const OPTION: &str = "steps";
/// How long a thread waits at most.
const LONGEST: Duration = Duration::from_secs(2);
/// Points whose places are kept; a method that passes more is not stopped at every one of them anyway.
const MOST_TRACED: usize = 20_000;
/// From one look to the next.
const NAP: Duration = Duration::from_micros(50);

/// The JVM TI environment that steps are asked for in.
static ENV: AtomicPtr<jvmtiEnv> = AtomicPtr::new(ptr::null_mut());
/// The method whose steps are counted, with all that it calls.
static METHOD: AtomicUsize = AtomicUsize::new(0);
/// Whether the thread has come to that method.
static IS_IN: AtomicBool = AtomicBool::new(false);
/// Points that were passed; those until the method returned; the one to stop at.
static PASSED: AtomicI32 = AtomicI32::new(0);
static RETURNED: AtomicI32 = AtomicI32::new(0);
static STOP: AtomicI32 = AtomicI32::new(0);
static IS_STOPPED: AtomicBool = AtomicBool::new(false);
static MAY_GO: AtomicBool = AtomicBool::new(false);
/// Where the points were, in the order of their counts; at most [`MOST_TRACED`].
static TRACE: Mutex<Vec<jint>> = Mutex::new(Vec::new());
/// The instructions of methods, by their ids.
static CODE: Mutex<Option<HashMap<usize, Vec<u8>>>> = Mutex::new(None);

/// Sees to what steps need.
///
/// # Safety
/// `vm` is the pointer that the JVM gave to `Agent_OnLoad`.
pub unsafe fn load(vm: *mut JavaVM) -> Result<(), JvmError> {
    let mut env: *mut c_void = ptr::null_mut();
    // SAFETY: `vm` is live, by this function's contract, and starts with its function table.
    let status = unsafe { ((**vm).GetEnv)(vm, &raw mut env, JVMTI_VERSION_1_2) };
    if status != JNI_OK || env.is_null() {
        return Err(JvmError::NoJvmti);
    }
    // SAFETY: it is the environment that the JVM just made.
    let jvmti = unsafe { Jvmti::from_callback(env.cast()) };
    let mut wanted = jvmtiCapabilities::default();
    wanted.set_can_generate_single_step_events(true);
    wanted.set_can_get_bytecodes(true);
    // Without it the interpreter makes one instruction of `aload_0` and `getfield`, which has no step in between.
    wanted.set_can_generate_breakpoint_events(true);
    jvmti.add_capabilities(&wanted)?;
    let mut callbacks = jvmtiEventCallbacks::default();
    callbacks.SingleStep = Some(on_step);
    jvmti.set_callbacks(&callbacks)?;
    ENV.store(env.cast(), Ordering::Release);
    Ok(())
}

/// Whether another thread can make a difference before an instruction.
fn is_point(opcode: u8) -> bool {
    matches!(opcode,
        46..=53 | 79..=86 // elements
        | 178..=181 // fields
        | 182..=186 // calls
        | 194 | 195) // monitors
}

fn is_return(opcode: u8) -> bool {
    matches!(opcode, 172..=177)
}

/// # Safety
/// The JVM calls it with live pointers.
unsafe extern "system" fn on_step(
    env: *mut jvmtiEnv,
    _: *mut JNIEnv,
    _: jthread,
    method: jmethodID,
    location: jlocation,
) {
    let is_own = method as usize == METHOD.load(Ordering::Relaxed);
    if is_own {
        IS_IN.store(true, Ordering::Relaxed);
    } else if !IS_IN.load(Ordering::Relaxed) {
        return;
    }
    // SAFETY: the JVM's own pointers.
    let Some(opcode) = (unsafe { opcode(env, method, location) }) else {
        return;
    };
    if is_own && is_return(opcode) {
        RETURNED.store(PASSED.load(Ordering::Relaxed), Ordering::Relaxed);
    }
    if !is_point(opcode) {
        return;
    }
    let passed = PASSED.fetch_add(1, Ordering::Relaxed) + 1;
    let mut trace = TRACE.lock().unwrap_or_else(PoisonError::into_inner);
    if trace.len() < MOST_TRACED {
        trace.push(place(method as usize, location, opcode));
    }
    drop(trace);
    if passed != STOP.load(Ordering::Relaxed) {
        return;
    }
    IS_STOPPED.store(true, Ordering::Release);
    let begun = Instant::now();
    while !MAY_GO.load(Ordering::Acquire) && begun.elapsed() < LONGEST {
        std::thread::sleep(NAP);
    }
    IS_STOPPED.store(false, Ordering::Release);
}

/// A number for a place, equal for equal ones while the JVM lives; its last byte is the instruction.
fn place(method: usize, location: jlocation, opcode: u8) -> jint {
    let mixed = (method as u64 >> 3)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(location.cast_unsigned())
        .wrapping_mul(0xff51_afd7_ed55_8ccd);
    let [a, b, c, ..] = mixed.to_be_bytes();
    jint::from_be_bytes([a, b, c, opcode])
}

/// The instruction at a place.
///
/// # Safety
/// The pointers are those of a step.
unsafe fn opcode(env: *mut jvmtiEnv, method: jmethodID, location: jlocation) -> Option<u8> {
    let mut code = CODE.lock().unwrap_or_else(PoisonError::into_inner);
    let known = code.get_or_insert_with(HashMap::new);
    let bytes = known.entry(method as usize).or_insert_with(|| {
        // SAFETY: by contract.
        unsafe { bytecodes(env, method) }.unwrap_or_default()
    });
    bytes.get(usize::try_from(location).ok()?).copied()
}

/// # Safety
/// The pointers are those of a step.
unsafe fn bytecodes(env: *mut jvmtiEnv, method: jmethodID) -> Option<Vec<u8>> {
    // SAFETY: an environment points to its function table, which lives as long as the JVM.
    let functions = unsafe { &*(*env).functions };
    let (mut count, mut bytes): (jint, *mut u8) = (0, ptr::null_mut());
    // SAFETY: the environment is live, and the results have places.
    let status = unsafe { functions.GetBytecodes?(env, method, &raw mut count, &raw mut bytes) };
    if status != JVMTI_ERROR_NONE || bytes.is_null() {
        return None;
    }
    let length = usize::try_from(count).unwrap_or_default();
    // SAFETY: the JVM says how many bytes there are.
    let copied = unsafe { std::slice::from_raw_parts(bytes, length) }.to_vec();
    // SAFETY: it was allocated by the call above, and nobody uses it any more.
    unsafe { functions.Deallocate?(env, bytes) };
    Some(copied)
}

/// Switches the steps of the calling thread on or off.
fn switch(on: bool) -> bool {
    let env = ENV.load(Ordering::Acquire);
    if env.is_null() {
        return false;
    }
    // SAFETY: an environment points to its function table, which lives as long as the JVM.
    let functions = unsafe { &*(*env).functions };
    let Some(set) = functions.SetEventNotificationMode else {
        return false;
    };
    let mode = if on { JVMTI_ENABLE } else { JVMTI_DISABLE };
    // SAFETY: the environment is live; events of a thread are asked for by that thread itself, which `null` would not mean, so its own reference is passed.
    let Some(thread) = (unsafe { current(env) }) else {
        return false;
    };
    // SAFETY: as above.
    let status = unsafe { set(env, mode, JVMTI_EVENT_SINGLE_STEP, thread) };
    status == JVMTI_ERROR_NONE
}

/// A reference to the calling thread.
///
/// # Safety
/// The environment is live, and the calling thread is one of the JVM's.
unsafe fn current(env: *mut jvmtiEnv) -> Option<jthread> {
    // SAFETY: by contract.
    let functions = unsafe { &*(*env).functions };
    let mut thread: jthread = ptr::null_mut();
    // SAFETY: by contract; the result has a place.
    let status = unsafe { functions.GetCurrentThread?(env, &raw mut thread) };
    (status == JVMTI_ERROR_NONE && !thread.is_null()).then_some(thread)
}

#[unsafe(no_mangle)]
extern "system" fn Java_untorn_exercise_Steps_isThere(_: *mut JNIEnv, _: jclass) -> jboolean {
    (!ENV.load(Ordering::Acquire).is_null()).into()
}

/// From here on the calling thread counts, and stops at a count; 0: it only counts.
#[unsafe(no_mangle)]
extern "system" fn Java_untorn_exercise_Steps_begin(
    env: *mut JNIEnv,
    _: jclass,
    method: jobject,
    stop: jint,
) {
    // SAFETY: the JVM calls a native method with live pointers, and the method is not null.
    let id = unsafe { ((**env).FromReflectedMethod)(env, method) };
    METHOD.store(id as usize, Ordering::Relaxed);
    IS_IN.store(false, Ordering::Relaxed);
    PASSED.store(0, Ordering::Relaxed);
    RETURNED.store(0, Ordering::Relaxed);
    let mut trace = TRACE.lock().unwrap_or_else(PoisonError::into_inner);
    trace.clear();
    drop(trace);
    STOP.store(stop, Ordering::Relaxed);
    IS_STOPPED.store(false, Ordering::Relaxed);
    MAY_GO.store(false, Ordering::Release);
    switch(true);
}

/// The calling thread counts no more; how many points there were until the method returned, or all if it threw.
#[unsafe(no_mangle)]
extern "system" fn Java_untorn_exercise_Steps_end(_: *mut JNIEnv, _: jclass) -> jint {
    switch(false);
    match RETURNED.load(Ordering::Relaxed) {
        0 => PASSED.load(Ordering::Relaxed),
        returned => returned,
    }
}

/// Where the points were that were passed since counting began.
#[unsafe(no_mangle)]
extern "system" fn Java_untorn_exercise_Steps_trace(env: *mut JNIEnv, _: jclass) -> jintArray {
    let trace = TRACE.lock().unwrap_or_else(PoisonError::into_inner);
    let length = jint::try_from(trace.len()).unwrap_or(jint::MAX);
    // SAFETY: the JVM calls a native method with a live environment.
    let array = unsafe { ((**env).NewIntArray)(env, length) };
    if !array.is_null() {
        // SAFETY: the array was just made with this length, and the vector has as many elements.
        unsafe { ((**env).SetIntArrayRegion)(env, array, 0, length, trace.as_ptr()) };
    }
    array
}

#[unsafe(no_mangle)]
extern "system" fn Java_untorn_exercise_Steps_isStopped(_: *mut JNIEnv, _: jclass) -> jboolean {
    IS_STOPPED.load(Ordering::Acquire).into()
}

#[unsafe(no_mangle)]
extern "system" fn Java_untorn_exercise_Steps_go(_: *mut JNIEnv, _: jclass) {
    MAY_GO.store(true, Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_differ_by_method_location_and_instruction() {
        let places = [(8, 1, 180), (16, 1, 180), (8, 2, 180), (8, 1, 182)]
            .map(|(method, location, opcode)| place(method, location, opcode));
        for (at, one) in places.iter().enumerate() {
            assert!(!places[at + 1..].contains(one), "{places:x?}");
            assert_eq!(one & 0xff, [180, 180, 180, 182][at]);
        }
    }

    #[test]
    fn points_are_where_another_thread_can_make_a_difference() {
        let getfield = 180;
        let iload = 21;
        let monitorenter = 194;
        assert!(is_point(getfield) && is_point(monitorenter) && !is_point(iload));
        assert!(is_return(177) && !is_return(getfield));
    }
}
