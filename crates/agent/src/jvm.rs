//! The few JVM TI and JNI calls that the agent makes, over the raw function tables.
//!
//! The bindings' high-level layer owns the agent's life cycle and converts every class to owned buffers; the class hook here runs for every class of the program, so it borrows.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_void};
use std::mem::size_of;
use std::ptr;

use jvmti_bindings::sys::jni::{
    JNI_OK, JNIEnv, JNINativeInterface_, JavaVM, jclass, jint, jmethodID, jobject, jstring,
    jthread, jvalue, jweak,
};
use jvmti_bindings::sys::jvmti::{
    JVMTI_ENABLE, JVMTI_ERROR_NO_MORE_FRAMES, JVMTI_ERROR_NONE, JVMTI_ERROR_THREAD_NOT_ALIVE,
    JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER, JVMTI_THREAD_STATE_WAITING, JVMTI_VERSION_1_2,
    jvmtiCapabilities, jvmtiEnv, jvmtiError, jvmtiEvent, jvmtiEventCallbacks, jvmtiFrameInfo,
    jvmtiInterface_1_,
};

/// Why something was not possible.
#[derive(Debug, thiserror::Error)]
pub enum JvmError {
    #[error("this JVM offers no JVM TI")]
    NoJvmti,
    #[error("this JVM is of version {found}, and {least} is the oldest that can be watched")]
    TooOld { found: u32, least: u32 },
    #[error("this JVM lacks the JVM TI function {0}")]
    NoFunction(&'static str),
    #[error("{what} failed with JVM TI error {code}")]
    Jvmti { what: &'static str, code: u32 },
    #[error("{0} could not be defined in the platform's java.lang")]
    NotDefined(String),
    #[error("{0} is missing in the runtime")]
    NotFound(&'static str),
    #[error("the runtime could not be started in this JVM")]
    Threw,
}

/// A JVM TI environment: valid from `Agent_OnLoad` to the end of the JVM.
#[derive(Clone, Copy, Debug)]
pub struct Jvmti(*mut jvmtiEnv);

// SAFETY: a JVM TI environment may be used by any thread (JVM TI specification, "Environments").
unsafe impl Send for Jvmti {}
// SAFETY: as above.
unsafe impl Sync for Jvmti {}

impl Jvmti {
    /// # Safety
    /// `vm` is the pointer that the JVM gave to `Agent_OnLoad`.
    pub unsafe fn of(vm: *mut JavaVM) -> Result<Self, JvmError> {
        let mut env: *mut c_void = ptr::null_mut();
        // SAFETY: `vm` is live, by this function's contract, and starts with its function table.
        let status = unsafe { ((**vm).GetEnv)(vm, &raw mut env, JVMTI_VERSION_1_2) };
        if status != JNI_OK || env.is_null() {
            return Err(JvmError::NoJvmti);
        }
        Ok(Self(env.cast()))
    }

    /// # Safety
    /// `env` is what a JVM TI callback received.
    pub unsafe fn from_callback(env: *mut jvmtiEnv) -> Self {
        Self(env)
    }

    fn functions(&self) -> &jvmtiInterface_1_ {
        // SAFETY: an environment points to its function table, which lives as long as the JVM.
        unsafe { &*(*self.0).functions }
    }

    /// The JVM's version: since 9 that of JVM TI is the same.
    pub fn version(&self) -> Result<u32, JvmError> {
        let call =
            (self.functions().GetVersionNumber).ok_or(JvmError::NoFunction("GetVersionNumber"))?;
        let mut version = 0;
        // SAFETY: the environment is live, and the result has a place.
        check("GetVersionNumber", unsafe {
            call(self.0, &raw mut version)
        })?;
        // Before that it was 1.
        let major = (version as u32 >> 16) & 0xfff;
        Ok(if major == 1 { 8 } else { major })
    }

    pub fn add_capabilities(&self, wanted: &jvmtiCapabilities) -> Result<(), JvmError> {
        let call =
            (self.functions().AddCapabilities).ok_or(JvmError::NoFunction("AddCapabilities"))?;
        // SAFETY: the environment is live and the argument a valid structure.
        check("AddCapabilities", unsafe {
            call(self.0, ptr::from_ref(wanted))
        })
    }

    pub fn set_callbacks(&self, callbacks: &jvmtiEventCallbacks) -> Result<(), JvmError> {
        let call = (self.functions().SetEventCallbacks)
            .ok_or(JvmError::NoFunction("SetEventCallbacks"))?;
        // SAFETY: as above; the JVM copies the structure.
        check("SetEventCallbacks", unsafe {
            call(
                self.0,
                ptr::from_ref(callbacks),
                size_of::<jvmtiEventCallbacks>() as i32,
            )
        })
    }

    pub fn enable(&self, event: jvmtiEvent) -> Result<(), JvmError> {
        let call = (self.functions().SetEventNotificationMode)
            .ok_or(JvmError::NoFunction("SetEventNotificationMode"))?;
        // SAFETY: as above; a null thread means all threads.
        check("SetEventNotificationMode", unsafe {
            call(self.0, JVMTI_ENABLE, event, ptr::null_mut())
        })
    }

    /// The tag of an object, if it has one.
    ///
    /// # Safety
    /// `object` is a live reference.
    pub unsafe fn tag(&self, object: jobject) -> Option<i64> {
        let call = self.functions().GetTag?;
        let mut tag = 0;
        // SAFETY: by contract; the result has a place.
        let status = unsafe { call(self.0, object, &raw mut tag) };
        check("GetTag", status).ok().filter(|()| tag != 0)?;
        Some(tag)
    }

    /// # Safety
    /// `object` is a live reference.
    pub unsafe fn set_tag(&self, object: jobject, tag: i64) {
        if let Some(call) = self.functions().SetTag {
            // SAFETY: by contract. Without memory for the tag the object stays without one, and is a new one next time.
            unsafe { call(self.0, object, tag) };
        }
    }

    /// The loader that defined a class; null for the boot loader.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub unsafe fn class_loader(&self, class: jclass) -> jobject {
        let mut loader = ptr::null_mut();
        if let Some(call) = self.functions().GetClassLoader {
            // SAFETY: by contract; the result has a place.
            unsafe { call(self.0, class, &raw mut loader) };
        }
        loader
    }

    /// The name of a class, with dots.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub unsafe fn class_name(&self, class: jclass) -> Option<String> {
        let (signature, free) = (
            self.functions().GetClassSignature?,
            self.functions().Deallocate?,
        );
        let mut text = ptr::null_mut();
        // SAFETY: by contract; on success `text` is a C string that is ours to free.
        unsafe {
            let status = signature(self.0, class, &raw mut text, ptr::null_mut());
            check("GetClassSignature", status).ok()?;
            let name = CStr::from_ptr(text).to_string_lossy().into_owned();
            free(self.0, text.cast());
            let inner = name.strip_prefix('L')?.strip_suffix(';')?;
            Some(inner.replace('/', "."))
        }
    }

    /// Whether a thread was, at some moment during the call, in native code or without a frame; waiting for a monitor counts if asked for.
    ///
    /// # Safety
    /// `thread` is a live reference.
    pub unsafe fn is_away(&self, thread: jthread, or_waits_for_monitor: bool) -> bool {
        let (Some(state_of), Some(location_of)) = (
            self.functions().GetThreadState,
            self.functions().GetFrameLocation,
        ) else {
            return false;
        };
        // SAFETY: the environment is live, the thread too by contract, and the results have places.
        unsafe {
            let mut state = 0;
            if or_waits_for_monitor
                && state_of(self.0, thread, &raw mut state) == JVMTI_ERROR_NONE
                && state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER != 0
            {
                return true;
            }
            let mut method = ptr::null_mut();
            let mut location = 0;
            match location_of(self.0, thread, 0, &raw mut method, &raw mut location) {
                // The location that stands for native code.
                JVMTI_ERROR_NONE => location == -1 && !self.is_access(method),
                JVMTI_ERROR_NO_MORE_FRAMES | JVMTI_ERROR_THREAD_NOT_ALIVE => true,
                _ => false,
            }
        }
    }

    /// The bits of a thread's state; 0 if the JVM does not tell.
    ///
    /// # Safety
    /// `thread` is a live reference.
    pub unsafe fn state(&self, thread: jthread) -> i32 {
        let mut state = 0;
        let Some(state_of) = self.functions().GetThreadState else {
            return 0;
        };
        // SAFETY: the environment is live, the thread too by contract, and the result has a place.
        match unsafe { state_of(self.0, thread, &raw mut state) } {
            JVMTI_ERROR_NONE => state,
            _ => 0,
        }
    }

    /// The monitor that a thread is about to enter or waits on, as a local reference; null for none.
    ///
    /// # Safety
    /// `thread` is a live reference, and the caller is a native method of the running thread.
    pub unsafe fn contended(&self, thread: jthread) -> jobject {
        let mut monitor = ptr::null_mut();
        let Some(contended) = self.functions().GetCurrentContendedMonitor else {
            return monitor;
        };
        // SAFETY: as above.
        match unsafe { contended(self.0, thread, &raw mut monitor) } {
            JVMTI_ERROR_NONE => monitor,
            _ => ptr::null_mut(),
        }
    }

    /// Stops a thread where it stands, unless that is in our own code or at a contended monitor, or it runs and only one that waits is wanted.
    ///
    /// # Safety
    /// `thread` is a live reference to another thread.
    pub unsafe fn hold(&self, thread: jthread, only_if_it_waits: bool) -> Where {
        let functions = self.functions();
        let (Some(suspend), Some(state_of), Some(stack_of), Some(class_of)) = (
            functions.SuspendThread,
            functions.GetThreadState,
            functions.GetStackTrace,
            functions.GetMethodDeclaringClass,
        ) else {
            return Where::Unknown;
        };
        let nowhere = jvmtiFrameInfo {
            method: ptr::null_mut(),
            location: 0,
        };
        let mut frames = [nowhere; 64];
        let mut count = 0;
        // SAFETY: the environment is live, the thread too by contract, and the results have places.
        unsafe {
            if suspend(self.0, thread) != JVMTI_ERROR_NONE {
                return Where::Unknown;
            }
            let mut state = 0;
            let known = state_of(self.0, thread, &raw mut state) == JVMTI_ERROR_NONE;
            // There we are called around the wait, and some JVMs fail if it then throws.
            let blocked = !known || state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER != 0;
            let waits = state & JVMTI_THREAD_STATE_WAITING != 0;
            let all = frames.len() as jint;
            let found = stack_of(self.0, thread, 0, all, frames.as_mut_ptr(), &raw mut count);
            let count = usize::try_from(count).unwrap_or(0).min(frames.len());
            let is_ours = |frame: &jvmtiFrameInfo| {
                let mut class = ptr::null_mut();
                class_of(self.0, frame.method, &raw mut class) != JVMTI_ERROR_NONE
                    || (self.class_name(class))
                        .is_none_or(|name| name.starts_with("java.lang.Untorn"))
            };
            let ours = || frames[..count].iter().any(is_ours);
            let place = if blocked {
                Where::Blocked
            } else if !waits && only_if_it_waits {
                Where::Runs
            } else if found != JVMTI_ERROR_NONE || ours() {
                Where::Ours
            } else {
                return Where::Held;
            };
            self.go_on(thread);
            place
        }
    }

    /// Lets a thread go on that [`Self::hold`] has stopped.
    ///
    /// # Safety
    /// `thread` is a live reference.
    pub unsafe fn go_on(&self, thread: jthread) {
        if let Some(resume) = self.functions().ResumeThread {
            // SAFETY: the environment is live, the thread too by contract. A thread that has ended meanwhile is an error without effect.
            unsafe { resume(self.0, thread) };
        }
    }

    /// Whether a native method may be part of an access: the interpreter calls those of `Unsafe`, which the runtime uses between its check and the access, as native methods; only `park` waits.
    ///
    /// # Safety
    /// `method` is a live method of a live class.
    unsafe fn is_access(&self, method: jmethodID) -> bool {
        let functions = self.functions();
        let (Some(class_of), Some(name_of), Some(free)) = (
            functions.GetMethodDeclaringClass,
            functions.GetMethodName,
            functions.Deallocate,
        ) else {
            return true;
        };
        let mut class = ptr::null_mut();
        let mut text = ptr::null_mut();
        // SAFETY: by contract; the results have places, and on success `text` is a C string that is ours to free.
        unsafe {
            if class_of(self.0, method, &raw mut class) != JVMTI_ERROR_NONE {
                return true;
            }
            if self.class_name(class).as_deref() != Some("jdk.internal.misc.Unsafe") {
                return false;
            }
            let none = ptr::null_mut();
            if name_of(self.0, method, &raw mut text, none, none) != JVMTI_ERROR_NONE {
                return true;
            }
            let waits = CStr::from_ptr(text) == c"park";
            free(self.0, text.cast());
            !waits
        }
    }

    /// A copy of some bytes in the JVM's own memory, which the JVM frees; `None` when it has none.
    pub fn copy(&self, bytes: &[u8]) -> Option<*mut u8> {
        let call = self.functions().Allocate?;
        let mut memory: *mut u8 = ptr::null_mut();
        // SAFETY: as above; on success `memory` points to so many fresh bytes.
        unsafe {
            let status = call(self.0, bytes.len() as i64, &raw mut memory);
            check("Allocate", status).ok()?;
            ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len());
        }
        Some(memory)
    }
}

fn check(what: &'static str, status: jvmtiError) -> Result<(), JvmError> {
    let code = status.raw() as u32;
    if code == 0 {
        Ok(())
    } else {
        Err(JvmError::Jvmti { what, code })
    }
}

/// Where a thread is that is about to be stopped; `UntornStop` has the same numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Where {
    Held = 0,
    Runs = 1,
    Blocked = 2,
    Ours = 3,
    Unknown = 4,
}

/// A static method without arguments or result, of a class that lives for ever.
#[derive(Clone, Copy, Debug)]
pub struct StaticMethod {
    class: jclass,
    method: jmethodID,
}

// SAFETY: a global reference and a method's id may be used by any thread.
unsafe impl Send for StaticMethod {}
// SAFETY: as above.
unsafe impl Sync for StaticMethod {}

/// The JNI environment of the running thread, for the time of one callback or native method.
#[derive(Clone, Copy, Debug)]
pub struct Jni(*mut JNIEnv);

impl Jni {
    /// # Safety
    /// `env` is the environment of this thread, received from the JVM by the function that is running.
    pub unsafe fn of(env: *mut JNIEnv) -> Option<Self> {
        (!env.is_null()).then_some(Self(env))
    }

    fn functions(&self) -> &JNINativeInterface_ {
        // SAFETY: an environment points to its function table, which lives as long as the JVM.
        unsafe { &**self.0 }
    }

    /// Defines a class into the boot loader.
    pub fn define(&self, name: &CStr, bytes: &[u8]) -> Result<(), JvmError> {
        // SAFETY: name and bytes are valid for the call; a null loader means the boot loader.
        let class = unsafe {
            (self.functions().DefineClass)(
                self.0,
                name.as_ptr(),
                ptr::null_mut(),
                bytes.as_ptr().cast(),
                bytes.len() as i32,
            )
        };
        if self.clear_exception() || class.is_null() {
            return Err(JvmError::NotDefined(name.to_string_lossy().into_owned()));
        }
        // Few local references are promised to who calls from native code, and there are many classes.
        // SAFETY: the reference was just made, and nobody else has it.
        unsafe { (self.functions().DeleteLocalRef)(self.0, class) };
        Ok(())
    }

    pub fn find(&self, name: &CStr) -> Option<jclass> {
        // SAFETY: the name is valid for the call.
        let class = unsafe { (self.functions().FindClass)(self.0, name.as_ptr()) };
        (!self.clear_exception() && !class.is_null()).then_some(class)
    }

    /// A reference that keeps nothing alive.
    ///
    /// # Safety
    /// `object` is a live reference.
    pub unsafe fn weak(&self, object: jobject) -> jweak {
        // SAFETY: by contract.
        let weak = unsafe { (self.functions().NewWeakGlobalRef)(self.0, object) };
        self.clear_exception();
        weak
    }

    /// The class that a loader has found under this name (with dots) before; looks for nothing.
    ///
    /// # Safety
    /// `loader` is a weak reference to a class loader.
    pub unsafe fn found_by(&self, loader: jweak, name: &str) -> Option<jclass> {
        let f = self.functions();
        let class_loader = self.find(c"java/lang/ClassLoader")?;
        // SAFETY: references are live; the method is final, takes a string and gives a class.
        unsafe {
            let loader = (f.NewLocalRef)(self.0, loader);
            if loader.is_null() {
                return None;
            }
            let method = (f.GetMethodID)(
                self.0,
                class_loader,
                c"findLoadedClass".as_ptr(),
                c"(Ljava/lang/String;)Ljava/lang/Class;".as_ptr(),
            );
            if self.clear_exception() || method.is_null() {
                return None;
            }
            let arguments = [jvalue {
                l: self.string(name),
            }];
            let class = (f.CallObjectMethodA)(self.0, loader, method, arguments.as_ptr());
            (!self.clear_exception() && !class.is_null()).then_some(class)
        }
    }

    /// The boot loader's class of this name (with dots).
    pub fn find_by_boot_loader(&self, name: &str) -> Option<jclass> {
        let name = CString::new(name.replace('.', "/")).ok()?;
        self.find(&name)
    }

    /// # Safety
    /// `object` is a live reference.
    pub unsafe fn class_of(&self, object: jobject) -> Option<jclass> {
        // SAFETY: by contract.
        let class = unsafe { (self.functions().GetObjectClass)(self.0, object) };
        (!class.is_null()).then_some(class)
    }

    /// # Safety
    /// `class` is a live reference.
    pub unsafe fn superclass(&self, class: jclass) -> Option<jclass> {
        // SAFETY: by contract.
        let above = unsafe { (self.functions().GetSuperclass)(self.0, class) };
        (!above.is_null()).then_some(above)
    }

    /// A static field as reflection has it; the class is initialized if it was not.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub unsafe fn static_field(
        &self,
        class: jclass,
        name: &str,
        descriptor: &str,
    ) -> Option<jobject> {
        let (name, descriptor) = (CString::new(name).ok()?, CString::new(descriptor).ok()?);
        let f = self.functions();
        // SAFETY: the class is live by contract, and names are C strings.
        unsafe {
            let id = (f.GetStaticFieldID)(self.0, class, name.as_ptr(), descriptor.as_ptr());
            if self.clear_exception() || id.is_null() {
                return None;
            }
            let field = (f.ToReflectedField)(self.0, class, id, 1);
            (!self.clear_exception() && !field.is_null()).then_some(field)
        }
    }

    /// Calls a static method `(J)V`.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub unsafe fn call_static(
        &self,
        class: jclass,
        name: &'static CStr,
        argument: i64,
    ) -> Result<(), JvmError> {
        let f = self.functions();
        // SAFETY: the class is live by contract, names are C strings, and the argument fits the signature.
        unsafe {
            let method: jmethodID =
                (f.GetStaticMethodID)(self.0, class, name.as_ptr(), c"(J)V".as_ptr());
            if self.clear_exception() || method.is_null() {
                return Err(JvmError::NotFound("the runtime's entry point"));
            }
            let arguments = [jvalue { j: argument }];
            (f.CallStaticVoidMethodA)(self.0, class, method, arguments.as_ptr());
        }
        if self.clear_exception() {
            return Err(JvmError::Threw);
        }
        Ok(())
    }

    /// A static method, to be called at any time.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub unsafe fn static_method(
        &self,
        class: jclass,
        name: &CStr,
        descriptor: &CStr,
    ) -> Option<StaticMethod> {
        let f = self.functions();
        // SAFETY: the class is live by contract, and names are C strings. The reference to it is never given up.
        unsafe {
            let method = (f.GetStaticMethodID)(self.0, class, name.as_ptr(), descriptor.as_ptr());
            let class = (f.NewGlobalRef)(self.0, class);
            let found = !self.clear_exception() && !method.is_null() && !class.is_null();
            found.then_some(StaticMethod { class, method })
        }
    }

    /// Calls a method that takes nothing, and hands what it throws to another one.
    ///
    /// So is what was thrown before: the JVM may throw the end of a stopped thread just before a callback.
    /// It is thrown again afterwards unless the method says that it will see to it.
    pub fn call(&self, called: &StaticMethod, thrown: &StaticMethod) {
        let f = self.functions();
        // SAFETY: classes and methods live for ever, the first takes nothing and the second an exception; exceptions are live references or null.
        unsafe {
            let before = self.take_exception();
            (f.CallStaticVoidMethodA)(self.0, called.class, called.method, ptr::null());
            let during = self.take_exception();
            let is_kept = |exception: jobject| {
                let arguments = [jvalue { l: exception }];
                let (class, method) = (thrown.class, thrown.method);
                let kept = (f.CallStaticBooleanMethodA)(self.0, class, method, arguments.as_ptr());
                !self.clear_exception() && kept != 0
            };
            if !during.is_null() {
                is_kept(during);
            }
            if !before.is_null() && !is_kept(before) {
                (f.Throw)(self.0, before);
            }
        }
    }

    /// Has the JVM throw something into a thread, as `Thread.stop` does; what that throws here is left pending.
    ///
    /// # Safety
    /// Both are live references, the first to a thread.
    pub unsafe fn stop(&self, thread: jobject, death: jobject) {
        let f = self.functions();
        let Some(class) = self.find(c"java/lang/Thread") else {
            return;
        };
        // SAFETY: the references are live by contract; the method takes an object and gives nothing.
        unsafe {
            let descriptor = c"(Ljava/lang/Object;)V";
            let method = (f.GetMethodID)(self.0, class, c"stop0".as_ptr(), descriptor.as_ptr());
            if !self.clear_exception() && !method.is_null() {
                let arguments = [jvalue { l: death }];
                (f.CallVoidMethodA)(self.0, thread, method, arguments.as_ptr());
            }
        }
    }

    /// Takes a pending exception away; null if there was none.
    fn take_exception(&self) -> jobject {
        // SAFETY: may be called at any time.
        let exception = unsafe { (self.functions().ExceptionOccurred)(self.0) };
        self.clear_exception();
        exception
    }

    /// The text of a Java string.
    ///
    /// # Safety
    /// `string` is null or a live reference to a string.
    pub unsafe fn text(&self, string: jstring) -> String {
        if string.is_null() {
            return String::new();
        }
        let f = self.functions();
        // SAFETY: the reference is live by contract; the buffer has room for the length that is asked for.
        let units = unsafe {
            let length = (f.GetStringLength)(self.0, string);
            let mut units = vec![0u16; length.max(0) as usize];
            (f.GetStringRegion)(self.0, string, 0, length, units.as_mut_ptr());
            units
        };
        self.clear_exception();
        String::from_utf16_lossy(&units)
    }

    /// A new Java string; null when memory is short.
    pub fn string(&self, text: &str) -> jstring {
        let units: Vec<u16> = text.encode_utf16().collect();
        // SAFETY: the buffer is valid for the call.
        unsafe { (self.functions().NewString)(self.0, units.as_ptr(), units.len() as i32) }
    }

    /// Takes a pending exception away; whether there was one.
    fn clear_exception(&self) -> bool {
        let f = self.functions();
        // SAFETY: both may be called at any time.
        unsafe {
            let pending = (f.ExceptionCheck)(self.0) != 0;
            if pending {
                (f.ExceptionClear)(self.0);
            }
            pending
        }
    }
}
