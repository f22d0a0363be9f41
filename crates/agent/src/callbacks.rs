//! What the JVM calls: loading the agent, loading a class, start and end.
//!
//! Nothing here may unwind into the JVM or make it fail; what goes wrong is said once on standard error.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use jvmti_bindings::sys::jni::{JNI_OK, JNIEnv, JavaVM, jclass, jint, jobject};
use jvmti_bindings::sys::jvmti::{
    JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
    JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_VM_START,
    jvmtiCapabilities, jvmtiEnv, jvmtiEventCallbacks,
};

use untorn_channel::config::is_platform;
use untorn_classfile::EditError;

use crate::instrument::{self, Outcome, locks};
use crate::jvm::{Jni, JvmError, Jvmti};
use crate::loaders::Loader;
use crate::options::Options;
use crate::{Agent, faults, jdk, natives, runtime, steps, twice};

/// Says what keeps the program from being watched; it runs on all the same.
fn complain(what: &dyn std::fmt::Display) {
    // The JVM has no better place for it, and a failed write changes nothing.
    use std::io::Write;
    writeln!(
        std::io::stderr(),
        "untorn: {what}; the program runs unwatched"
    )
    .ok();
}

/// As [`complain`], once there may be a reader who should know.
fn give_up(why: &dyn std::fmt::Display) {
    complain(why);
    if let Some(agent) = Agent::get() {
        agent.give_up(&why.to_string());
    }
}

/// The entry point that `-agentpath` names.
///
/// # Safety
/// Called by the JVM, with its own pointers.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(
    vm: *mut JavaVM,
    options: *mut c_char,
    _reserved: *mut c_void,
) -> jint {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let text = if options.is_null() {
            String::new()
        } else {
            // SAFETY: the JVM passes a C string that lives as long as this call.
            unsafe { CStr::from_ptr(options) }
                .to_string_lossy()
                .into_owned()
        };
        // SAFETY: the JVM passes a live pointer to itself.
        unsafe { load(vm, &text) }
    }));
    match outcome {
        Ok(Ok(())) => {}
        Ok(Err(problem)) => complain(&problem),
        Err(_) => complain(&"the agent failed while it was loaded"),
    }
    JNI_OK
}

/// The oldest JVM whose platform classes are known.
const OLDEST: u32 = 17;

/// # Safety
/// `vm` is the pointer that the JVM gave to `Agent_OnLoad`.
unsafe fn load(vm: *mut JavaVM, options: &str) -> Result<(), Box<dyn std::error::Error>> {
    if options == steps::OPTION {
        // SAFETY: by contract.
        return Ok(unsafe { steps::load(vm) }?);
    }
    let options = Options::parse(options)?;
    if let Some(library) = twice::earlier() {
        let why = format!("this JVM has an agent of untorn already, {library}");
        Agent::refuse(&options, &why);
        // Not a complaint that nobody watches: somebody does.
        use std::io::Write;
        writeln!(std::io::stderr(), "untorn: {why}; this one does nothing").ok();
        return Ok(());
    }
    // SAFETY: by contract.
    let jvmti = match unsafe { prepare(vm) } {
        Ok(jvmti) => jvmti,
        Err(problem) => {
            Agent::refuse(&options, &problem.to_string());
            return Err(problem.into());
        }
    };
    // Only now: a reader that waits for an agent which then cannot work would wait in vain.
    let agent = Agent::start(&options, jvmti)?;
    if let Some(options) = &agent.children {
        // SAFETY: the JVM loads agents before it starts any thread that reads the environment; its own threads for garbage collection do not.
        unsafe { offer_to_children(options) };
    }
    let events = [
        JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
        JVMTI_EVENT_VM_START,
        JVMTI_EVENT_VM_DEATH,
        JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
        JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
    ];
    let enabled = if faults::fails("events", "") {
        Err(JvmError::NoFunction("SetEventNotificationMode"))
    } else {
        events.into_iter().try_for_each(|event| jvmti.enable(event))
    };
    Ok(enabled.inspect_err(|problem| agent.give_up(&problem.to_string()))?)
}

/// All that the JVM must allow.
///
/// # Safety
/// `vm` is the pointer that the JVM gave to `Agent_OnLoad`.
unsafe fn prepare(vm: *mut JavaVM) -> Result<Jvmti, JvmError> {
    // SAFETY: by contract.
    let jvmti = unsafe { Jvmti::of(vm) }?;
    let found = jvmti.version()?;
    if found < OLDEST {
        return Err(JvmError::TooOld {
            found,
            least: OLDEST,
        });
    }
    let mut wanted = jvmtiCapabilities::default();
    wanted.set_can_generate_all_class_hook_events(true);
    wanted.set_can_generate_early_class_hook_events(true);
    wanted.set_can_tag_objects(true);
    wanted.set_can_generate_monitor_events(true);
    if faults::fails("capabilities", "") {
        return Err(JvmError::NoFunction("AddCapabilities"));
    }
    jvmti.add_capabilities(&wanted)?;
    let mut callbacks = jvmtiEventCallbacks::default();
    callbacks.ClassFileLoadHook = Some(class_file_load);
    callbacks.VMStart = Some(vm_start);
    callbacks.VMDeath = Some(vm_death);
    callbacks.MonitorContendedEnter = Some(monitor_contended);
    callbacks.MonitorContendedEntered = Some(monitor_entered);
    jvmti.set_callbacks(&callbacks)?;
    natives::prepare(jvmti);
    Ok(jvmti)
}

/// Puts the agent into the environment of this process, where JVMs that it starts find it.
///
/// # Safety
/// No other thread reads or changes the environment meanwhile.
unsafe fn offer_to_children(options: &str) {
    const NAME: &str = "JAVA_TOOL_OPTIONS";
    let mut all = std::env::var(NAME).unwrap_or_default();
    if all.contains(options) {
        return;
    }
    if !all.is_empty() {
        all.push(' ');
    }
    all += options;
    // SAFETY: by contract.
    unsafe { std::env::set_var(NAME, all) };
}

/// JNI works from here on, and no class of the program has been loaded.
unsafe extern "system" fn vm_start(_: *mut jvmtiEnv, env: *mut JNIEnv) {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let (Some(agent), Some(jni)) = (
            Agent::get(),
            // SAFETY: the JVM passes this thread's environment.
            unsafe { Jni::of(env) },
        ) else {
            return Ok(());
        };
        if agent.has_given_up() {
            return Ok(());
        }
        runtime::boot(&jni, agent.memory_and_options())
    }));
    match outcome {
        Ok(Ok(())) => {}
        Ok(Err(problem)) => give_up(&problem),
        Err(_) => give_up(&"the agent failed while the JVM started"),
    }
}

unsafe extern "system" fn vm_death(_: *mut jvmtiEnv, _: *mut JNIEnv) {
    catch_unwind(|| {
        if let Some(Err(problem)) = Agent::get().map(Agent::finish) {
            use std::io::Write;
            writeln!(std::io::stderr(), "untorn: {problem}").ok();
        }
    })
    .ok();
}

/// A thread is about to wait for a monitor.
unsafe extern "system" fn monitor_contended(
    _: *mut jvmtiEnv,
    env: *mut JNIEnv,
    _: jobject,
    _: jobject,
) {
    // SAFETY: the JVM passes this thread's environment.
    if let Some(jni) = unsafe { Jni::of(env) } {
        runtime::sleeping(&jni);
    }
}

unsafe extern "system" fn monitor_entered(
    _: *mut jvmtiEnv,
    env: *mut JNIEnv,
    _: jobject,
    _: jobject,
) {
    // SAFETY: as above.
    if let Some(jni) = unsafe { Jni::of(env) } {
        runtime::awake(&jni);
    }
}

/// The class that is loaded just before the platform starts its first thread.
const BEFORE_FIRST_THREAD: &str = "java/lang/ref/Reference$ReferenceHandler";

unsafe extern "system" fn class_file_load(
    jvmti: *mut jvmtiEnv,
    env: *mut JNIEnv,
    _redefined: jclass,
    loader: jobject,
    name: *const c_char,
    _protection_domain: jobject,
    length: jint,
    data: *const u8,
    new_length: *mut jint,
    new_data: *mut *mut u8,
) {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the JVM passes a C string or null (a hidden class), and so many bytes of class file.
        let (name, bytes) = unsafe {
            let name = (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy());
            (name, slice::from_raw_parts(data, length.max(0) as usize))
        };
        let agent = Agent::get().filter(|agent| !agent.has_given_up())?;
        let Some(name) = name else {
            agent.counters.add("classes left untouched: hidden", 1);
            look(agent, bytes, true);
            return None;
        };
        // SAFETY: the JVM passes this thread's environment, or null, and a live reference to the loader.
        let (jni, loader) = unsafe {
            let jni = Jni::of(env);
            let loader = jni.map_or(Loader::BOOT, |jni| agent.loaders.number(jni, loader));
            (jni, loader)
        };
        if let Some(jni) = jni.filter(|_| name == BEFORE_FIRST_THREAD)
            && let Err(problem) = runtime::define(&jni)
        {
            give_up(&problem);
            return None;
        }
        if !runtime::is_ours(&name) && !is_of_platform(agent, &name, loader) {
            look(agent, bytes, false);
        }
        rewrite(agent, &name, bytes, loader)
    }));
    let Ok(Some(rewritten)) = outcome else { return };
    // SAFETY: the JVM passes its own environment, and places for the result.
    unsafe {
        if let Some(copy) = Jvmti::from_callback(jvmti).copy(&rewritten) {
            *new_data = copy;
            *new_length = rewritten.len() as jint;
        }
    }
}

/// Whether a class is the platform's by its name, and by its loader where programs may use such names.
fn is_of_platform(agent: &Agent, name: &str, loader: Loader) -> bool {
    name.starts_with("java/")
        || is_platform(&name.replace('/', ".")) && agent.loaders.is_of_platform(loader)
}

/// Compares a class outside the platform with what was proved of the program.
fn look(agent: &Agent, bytes: &[u8], is_hidden: bool) {
    let Some(known) = &agent.plan.known else {
        return;
    };
    for (name, amount) in known.seen(bytes, is_hidden) {
        agent.counters.add(name, amount);
    }
}

/// A change to a class file.
type Edit<'e> = dyn Fn(&[u8]) -> Result<Vec<u8>, EditError> + 'e;

/// What becomes of a class of the platform; `None` if it is none that is changed.
fn edit_platform(agent: &Agent, name: &str, bytes: &[u8]) -> Option<Result<Vec<u8>, EditError>> {
    let platform = &agent.plan.platform;
    let hooks: [(bool, &Edit<'_>); 3] = [
        (jdk::concerns(name), &jdk::edit),
        (platform.concerns(name), &|bytes| {
            platform.edit(bytes, &agent.registry)
        }),
        (locks::concerns(name), &|bytes| {
            locks::edit(bytes, &agent.registry)
        }),
    ];
    if hooks.iter().any(|(concerns, _)| *concerns) && faults::fails("edit", name) {
        return Some(Err(EditError::PoolFull));
    }
    let mut edited = None;
    for (_, edit) in hooks.iter().filter(|(concerns, _)| *concerns) {
        let next = edit(edited.as_deref().unwrap_or(bytes));
        match next {
            Ok(next) => edited = Some(next),
            Err(problem) => return Some(Err(problem)),
        }
    }
    edited.map(Ok)
}

/// What becomes of a class; `None` if it stays as it is.
///
/// A redefined class is treated as a new one, so it keeps the fields that were added to it.
fn rewrite(agent: &Agent, name: &str, bytes: &[u8], loader: Loader) -> Option<Vec<u8>> {
    if runtime::is_ours(name) {
        return None;
    }
    let of_platform = (loader == Loader::BOOT)
        .then(|| edit_platform(agent, name, bytes))
        .flatten();
    if let Some(edited) = of_platform {
        return match edited {
            Ok(edited) => {
                agent.registry.flush();
                Some(edited)
            }
            Err(problem) => {
                // What is not told of would look as if it had not happened.
                give_up(&format_args!("{name}: {problem}"));
                None
            }
        };
    }
    if !agent.plan.watches(&name.replace('/', ".")) {
        return None;
    }
    match instrument::rewrite(bytes, &agent.plan, &agent.registry, loader) {
        Outcome::Rewritten(rewritten, counts) => {
            for (name, amount) in counts.0 {
                agent.counters.add(name, amount);
            }
            agent.registry.flush();
            if agent.registry.is_short_of_regions() {
                give_up(
                    &"recording ended before the program did, as there are no more numbers for regions",
                );
            }
            Some(rewritten)
        }
        Outcome::Untouched(reason) => {
            agent
                .counters
                .add(&format!("classes left untouched: {reason}"), 1);
            None
        }
    }
}
