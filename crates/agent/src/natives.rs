//! Native methods of the Java runtime: rare things only, none of them per event.
//!
//! The JVM finds them by their names; registering them would make it warn on standard output.
#![allow(unsafe_code)]
#![allow(non_snake_case)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jint, jlong, jobject, jstring};
use jvmti_bindings::sys::jvmti::jvmtiCapabilities;
use untorn_channel::Declaration;

use crate::jvm::{Jni, Jvmti, Where};
use crate::loaders::Loader;
use crate::{Agent, faults};

#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_nap(
    _: *mut JNIEnv,
    _: jclass,
    micros: jint,
    for_room: jboolean,
) {
    catch_unwind(|| {
        if let Some(agent) = Agent::get() {
            let name = if for_room == 0 {
                "naps of threads that waited for another one"
            } else {
                "naps of threads that waited for room in their logs"
            };
            agent.counters.add(name, 1);
        }
    })
    .ok();
    std::thread::sleep(Duration::from_micros(micros.max(0) as u64));
}

static JVMTI: OnceLock<Jvmti> = OnceLock::new();
/// Whether the kernel makes all threads of this process pass a barrier when asked.
static BARRIERS: AtomicBool = AtomicBool::new(false);

const MEMBARRIER_PRIVATE: libc::c_int = 1 << 3;
const MEMBARRIER_REGISTER: libc::c_int = 1 << 4;

fn membarrier(command: libc::c_int) -> bool {
    // SAFETY: the call takes numbers only.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// Sees to what the natives need; called once, while the agent is loaded.
pub fn prepare(jvmti: Jvmti) {
    JVMTI.set(jvmti).ok();
    BARRIERS.store(membarrier(MEMBARRIER_REGISTER), Ordering::Relaxed);
}

/// What a thread that is back from native code or a monitor reads next is what was written before this call.
///
/// Native code ends with a barrier of the JVM's own; a monitor does not, so without the kernel's help waiting for one does not count.
#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_isAway(
    _: *mut JNIEnv,
    _: jclass,
    thread: jobject,
) -> jboolean {
    let ordered = BARRIERS.load(Ordering::Relaxed) && membarrier(MEMBARRIER_PRIVATE);
    // SAFETY: the JVM calls a native method with live references.
    JVMTI
        .get()
        .is_some_and(|jvmti| unsafe { jvmti.is_away(thread, ordered) })
        .into()
}

#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_hold(
    _: *mut JNIEnv,
    _: jclass,
    thread: jobject,
    only_if_it_waits: jboolean,
) -> jint {
    catch_unwind(|| {
        let Some(jvmti) = JVMTI.get() else {
            return Where::Unknown;
        };
        let mut wanted = jvmtiCapabilities::default();
        wanted.set_can_suspend(true);
        // Only now, since a debugger may want it, and one agent alone can have it.
        if jvmti.add_capabilities(&wanted).is_err() {
            return Where::Unknown;
        }
        // SAFETY: the JVM calls a native method with live references; the caller has seen to it that it is another thread.
        unsafe { jvmti.hold(thread, only_if_it_waits != 0) }
    })
    .unwrap_or(Where::Unknown) as jint
}

#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_goOn(_: *mut JNIEnv, _: jclass, thread: jobject) {
    if let Some(jvmti) = JVMTI.get() {
        // SAFETY: the JVM calls a native method with live references.
        unsafe { jvmti.go_on(thread) };
    }
}

#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_throwInto(
    env: *mut JNIEnv,
    _: jclass,
    thread: jobject,
    death: jobject,
) {
    // SAFETY: the JVM calls a native method with the thread's environment and live references.
    if let Some(jni) = unsafe { Jni::of(env) } {
        // SAFETY: as above.
        unsafe { jni.stop(thread, death) };
    }
}

/// A Java string; empty if there is none.
fn text(env: *mut JNIEnv, string: jstring) -> String {
    // SAFETY: the JVM calls a native method with the thread's environment and live references.
    unsafe { Jni::of(env).map(|jni| jni.text(string)) }.unwrap_or_default()
}

#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_limit(
    env: *mut JNIEnv,
    _: jclass,
    kind: jstring,
    most: jlong,
) -> jlong {
    let limit = catch_unwind(AssertUnwindSafe(|| faults::limit(&text(env, kind))));
    (limit.ok().flatten()).map_or(most, |limit| limit.min(most))
}

#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_ranOut(env: *mut JNIEnv, _: jclass, kind: jstring) {
    catch_unwind(AssertUnwindSafe(|| {
        if let Some(agent) = Agent::get() {
            let kind = text(env, kind);
            agent.give_up(&format!(
                "recording ended before the program did, as there are no more numbers for {kind}"
            ));
        }
    }))
    .ok();
}

#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_untracked(_: *mut JNIEnv, _: jclass) {
    catch_unwind(|| {
        if let Some(agent) = Agent::get() {
            let name = "objects no longer tracked: their owner did not answer";
            agent.counters.add(name, 1);
        }
    })
    .ok();
}

#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_handedOver(
    _: *mut JNIEnv,
    _: jclass,
    objects: jint,
) {
    catch_unwind(|| {
        if let Some(agent) = Agent::get() {
            let name = "objects handed over that were not recorded before";
            agent.counters.add(name, objects as u64);
        }
    })
    .ok();
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

#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_nameThread(
    env: *mut JNIEnv,
    _: jclass,
    id: jint,
    name: jstring,
) -> jboolean {
    let mut excluded = false;
    declare(env, name, |name| {
        excluded = Agent::get().is_some_and(|agent| agent.plan.excludes_thread(&name));
        Declaration::Thread {
            id: id as u32,
            name,
        }
    });
    excluded.into()
}

#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_nameClass(
    env: *mut JNIEnv,
    _: jclass,
    id: jint,
    name: jstring,
) {
    declare(env, name, |name| Declaration::RuntimeClass {
        id: id as u32,
        name,
    });
}

#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_nameKey(
    env: *mut JNIEnv,
    _: jclass,
    id: jlong,
    text: jstring,
) {
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

#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_siteClass(
    env: *mut JNIEnv,
    _: jclass,
    site: jint,
) -> jstring {
    of_site(env, site, |(class, _)| class)
}

#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_siteField(
    env: *mut JNIEnv,
    _: jclass,
    site: jint,
) -> jstring {
    of_site(env, site, |(_, field)| field)
}

#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_sameField(
    env: *mut JNIEnv,
    _: jclass,
    field: jint,
) -> jint {
    catch_unwind(AssertUnwindSafe(|| {
        let agent = Agent::get()?;
        // SAFETY: the JVM calls a native method with the thread's environment.
        let jni = unsafe { Jni::of(env) }?;
        let classes = (agent.registry.unsettled(field as u32))
            .map(|(loader, class)| agent.loaders.find(jni, loader, &class))
            .unwrap_or_default();
        Some(agent.registry.same_field(field as u32, &classes) as jint)
    }))
    .ok()
    .flatten()
    .unwrap_or(field)
}

/// A class by its loader and its name; `None` if its fields are not watched.
fn watched(agent: &Agent, env: *mut JNIEnv, class: jclass) -> Option<(Loader, String)> {
    let jvmti = JVMTI.get()?;
    // SAFETY: the JVM calls a native method with the thread's environment and live references.
    let (loader, name) = unsafe {
        let jni = Jni::of(env)?;
        let loader = agent.loaders.number(jni, jvmti.class_loader(class));
        (loader, jvmti.class_name(class)?)
    };
    agent.plan.watches(&name).then_some((loader, name))
}

/// The names of the fields that a class declares, a line each; null if they are not watched.
#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_declares(
    env: *mut JNIEnv,
    _: jclass,
    class: jclass,
    is_static: jboolean,
) -> jstring {
    catch_unwind(AssertUnwindSafe(|| {
        let agent = Agent::get()?;
        let (loader, name) = watched(agent, env, class)?;
        let names = agent.registry.declares(loader, &name, is_static != 0)?;
        // SAFETY: the JVM calls a native method with the thread's environment.
        let jni = unsafe { Jni::of(env) }?;
        Some(jni.string(&names.join("\n")))
    }))
    .ok()
    .flatten()
    .unwrap_or(std::ptr::null_mut())
}

/// The number of one of these fields; -1 if there is none.
#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_field(
    env: *mut JNIEnv,
    _: jclass,
    class: jclass,
    field: jstring,
    is_static: jboolean,
) -> jint {
    catch_unwind(AssertUnwindSafe(|| {
        let agent = Agent::get()?;
        let (loader, name) = watched(agent, env, class)?;
        let id = (agent.registry).declared_field(loader, &name, &text(env, field), is_static != 0);
        id.map(|id| id as jint)
    }))
    .ok()
    .flatten()
    .unwrap_or(-1)
}

#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_staticField(
    env: *mut JNIEnv,
    _: jclass,
    class: jclass,
    field: jstring,
    descriptor: jstring,
) -> jobject {
    catch_unwind(AssertUnwindSafe(|| {
        let (name, descriptor) = (text(env, field), text(env, descriptor));
        // SAFETY: the JVM calls a native method with the thread's environment and live references.
        unsafe { Jni::of(env)?.static_field(class, &name, &descriptor) }
    }))
    .ok()
    .flatten()
    .unwrap_or(std::ptr::null_mut())
}

#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_steering(env: *mut JNIEnv, _: jclass) -> jstring {
    catch_unwind(AssertUnwindSafe(|| {
        let steered = Agent::get()?.plan.steered.as_ref()?;
        // SAFETY: the JVM calls a native method with the thread's environment.
        let jni = unsafe { Jni::of(env) }?;
        Some(jni.string(&steered.to_runtime()))
    }))
    .ok()
    .flatten()
    .unwrap_or(std::ptr::null_mut())
}

/// What became of pauses, as `UntornSteer` numbers it.
const STEERED: [&str; STEERED_KINDS] = untorn_channel::steered::KINDS;
const STEERED_KINDS: usize = untorn_channel::steered::KINDS.len();

#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_steered(
    _: *mut JNIEnv,
    _: jclass,
    plan: jint,
    point: jint,
    what: jint,
) {
    catch_unwind(|| {
        if let (Some(agent), Some(what)) = (Agent::get(), STEERED.get(what as usize)) {
            let name = untorn_channel::steered::name(plan as usize, point as usize, what);
            agent.counters.add(&name, 1);
        }
    })
    .ok();
}

/// What a thread waits for, as JVM TI tells it; 0 if it cannot tell.
#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_threadState(
    _: *mut JNIEnv,
    _: jclass,
    thread: jobject,
) -> jint {
    // SAFETY: the JVM calls a native method with live references.
    JVMTI
        .get()
        .map_or(0, |jvmti| unsafe { jvmti.state(thread) })
}

/// The monitor that a thread is about to enter or waits on; null for none.
#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_UntornNatives_blockedOn(
    _: *mut JNIEnv,
    _: jclass,
    thread: jobject,
) -> jobject {
    catch_unwind(|| {
        let jvmti = JVMTI.get()?;
        let mut wanted = jvmtiCapabilities::default();
        wanted.set_can_get_current_contended_monitor(true);
        jvmti.add_capabilities(&wanted).ok()?;
        // SAFETY: the JVM calls a native method with live references; what comes back is a local one of this call.
        Some(unsafe { jvmti.contended(thread) })
    })
    .ok()
    .flatten()
    .unwrap_or(std::ptr::null_mut())
}
