//! The creation and the end of threads.
//!
//! The library's `pthread_create` precedes the C library's, also for OpenMP, C++ and Rust. It gives
//! a thread its place before the thread runs, so the parent is known and places follow the order of
//! creation.

use crate::tasks::TracedThread;
use crate::{local, process, tasks};
use libc::{pthread_attr_t, pthread_t};
use std::ffi::{c_int, c_void};
use std::mem::{MaybeUninit, transmute};
use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicPtr, AtomicU32};

type Start = extern "C" fn(*mut c_void) -> *mut c_void;
type Create =
    unsafe extern "C" fn(*mut pthread_t, *const pthread_attr_t, Start, *mut c_void) -> c_int;

struct Begin {
    start: Start,
    argument: *mut c_void,
    task: &'static TracedThread,
}

static CREATE: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
/// The key whose destructor runs at a thread's end, plus 1; 0 before it exists.
static END_KEY: AtomicU32 = AtomicU32::new(0);

/// Registers the destructor for ends of threads, and takes this thread as the first.
pub fn begin() {
    let mut key = 0;
    // SAFETY: the key is written to a local variable; the destructor is a function of this library.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(end)) } == 0 {
        END_KEY.store(key + 1, Relaxed);
    }
    adopt();
}

pub fn adopt() -> Option<&'static TracedThread> {
    if !process::is_active() {
        return None;
    }
    let task = tasks::claim(0)?;
    enter(task);
    Some(task)
}

fn enter(task: &'static TracedThread) {
    // SAFETY: the call has no preconditions.
    task.tid.store(unsafe { libc::gettid() }, Relaxed);
    let [low, high] = stack();
    task.stack[0].store(low, Relaxed);
    task.stack[1].store(high, Relaxed);
    local::set(std::ptr::from_ref(task).cast_mut());
    let key = END_KEY.load(Relaxed);
    if key != 0 {
        // SAFETY: the key exists; its value is only ever read by `end`.
        unsafe { libc::pthread_setspecific(key - 1, std::ptr::from_ref(task).cast()) };
    }
}

fn stack() -> [usize; 2] {
    let mut attributes = MaybeUninit::<pthread_attr_t>::uninit();
    let mut low = null_mut();
    let mut bytes = 0;
    // SAFETY: the first call fills the attributes that the others read, and the last one frees
    // them.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return [0, 0];
        }
        libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut low, &raw mut bytes);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
    }
    [low as usize, low as usize + bytes]
}

/// Saves an ending thread's name and CPU time. Other destructors' accesses count for the same
/// place.
extern "C" fn end(task: *mut c_void) {
    // SAFETY: `enter` set the value to a task of the table, which is never unmapped.
    let task = unsafe { &*task.cast::<TracedThread>() };
    task.cpu_ns.store(cpu_ns(libc::CLOCK_THREAD_CPUTIME_ID), Relaxed);
    let mut name = [0_u8; 16];
    // SAFETY: the kernel writes at most 16 bytes with a final zero.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    task.name.iter().zip(name).for_each(|(kept, byte)| kept.store(byte, Relaxed));
}

pub fn cpu_ns(clock: libc::clockid_t) -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills a local variable.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

fn create() -> Option<Create> {
    let mut found = CREATE.load(Relaxed);
    if found.is_null() {
        // SAFETY: the name is a C string.
        found = unsafe { libc::dlsym(libc::RTLD_NEXT, c"pthread_create".as_ptr()) };
        CREATE.store(found, Relaxed);
    }
    // SAFETY: a function of this name has this type; NULL becomes None.
    unsafe { transmute::<*mut c_void, Option<Create>>(found) }
}

extern "C" fn run(begin: *mut c_void) -> *mut c_void {
    // SAFETY: `pthread_create` below gave away a box of this type.
    let begin = unsafe { Box::from_raw(begin.cast::<Begin>()) };
    let Begin { start, argument, task } = *begin;
    enter(task);
    start(argument)
}

/// Creates a thread as POSIX specifies, with a place among the observed threads.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    let Some(create) = create() else { return libc::EAGAIN };
    let parent = local::get();
    // SAFETY: a thread's pointer leads to its task in the table, which is never unmapped.
    let parent = unsafe { parent.as_ref() }.map_or(0, |parent| parent.slot.load(Relaxed));
    let Some(task) = process::is_active().then(|| tasks::claim(parent)).flatten() else {
        // SAFETY: the arguments are the caller's.
        return unsafe { create(thread, attributes, start, argument) };
    };
    let begin = Box::into_raw(Box::new(Begin { start, argument, task }));
    // SAFETY: `run` takes the box; the other arguments are the caller's.
    let status = unsafe { create(thread, attributes, run, begin.cast()) };
    if status != 0 {
        // SAFETY: no thread took the box.
        drop(unsafe { Box::from_raw(begin) });
    }
    status
}

/// Gives up this thread's place, so its next access takes a new one.
pub fn leave() {
    local::set(null::<TracedThread>().cast_mut());
}
