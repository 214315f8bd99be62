//! A thread's pointer to its own counts.
//!
//! Every access reads it. Stable Rust calls a function for thread-local variables in shared
//! libraries, so for known processors the variable is in assembly: with a constant offset from the
//! thread pointer (the "initial exec" model), a read takes two loads.

use crate::tasks::TracedThread;

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".pushsection .tbss.seatmap_trace_task,\"awT\",@nobits",
    ".globl seatmap_trace_task",
    ".hidden seatmap_trace_task",
    ".type seatmap_trace_task,@object",
    ".size seatmap_trace_task,8",
    ".p2align 3",
    "seatmap_trace_task:",
    ".zero 8",
    ".popsection",
);

/// This thread's counts; NULL before its first access.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn get() -> *mut TracedThread {
    let task: *mut TracedThread;
    // SAFETY: the variable above is 8 bytes in every thread; the code only reads it.
    unsafe {
        std::arch::asm!(
            "mov {task}, qword ptr [rip + seatmap_trace_task@GOTTPOFF]",
            "mov {task}, qword ptr fs:[{task}]",
            task = out(reg) task,
            options(nostack, preserves_flags, readonly),
        );
    }
    task
}

#[cfg(target_arch = "x86_64")]
pub fn set(task: *mut TracedThread) {
    // SAFETY: the variable above is 8 bytes in every thread; the code writes only it.
    unsafe {
        std::arch::asm!(
            "mov {offset}, qword ptr [rip + seatmap_trace_task@GOTTPOFF]",
            "mov qword ptr fs:[{offset}], {task}",
            offset = out(reg) _,
            task = in(reg) task,
            options(nostack, preserves_flags),
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
std::thread_local! {
    static TASK: std::cell::Cell<*mut TracedThread> =
        const { std::cell::Cell::new(std::ptr::null_mut()) };
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn get() -> *mut TracedThread {
    TASK.get()
}

#[cfg(not(target_arch = "x86_64"))]
pub fn set(task: *mut TracedThread) {
    TASK.set(task);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_own_pointer() {
        // SAFETY: zeros are a valid task.
        let task = Box::into_raw(Box::new(unsafe { std::mem::zeroed::<TracedThread>() }));
        let before = get();
        set(task);
        assert!(std::thread::spawn(|| get().is_null()).join().unwrap());
        assert_eq!(get(), task);
        set(before);
    }
}
