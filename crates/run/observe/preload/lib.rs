//! A library between an MPI program and its MPI library, which counts messages.
//!
//! It needs only `core` and `alloc`, and links with no library: it calls the process's C library.
//! So one file works on every distribution, and with a static `seatmap`.
#![no_std]

extern crate alloc;

#[path = "parts.rs"]
mod parts;

use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;

// `core` and `alloc` are compiled for programs that unwind, and refer to these two, which are never
// called here.
#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".globl rust_eh_personality, _Unwind_Resume",
    ".hidden rust_eh_personality, _Unwind_Resume",
    "rust_eh_personality:",
    "_Unwind_Resume:",
    "ud2",
);
#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".globl rust_eh_personality, _Unwind_Resume",
    ".hidden rust_eh_personality, _Unwind_Resume",
    "rust_eh_personality:",
    "_Unwind_Resume:",
    "udf #0",
);

unsafe extern "C" {
    fn malloc(bytes: usize) -> *mut u8;
    fn free(address: *mut u8);
    fn abort() -> !;
}

struct Heap;

// SAFETY: malloc(3) gives memory of this size for every alignment up to 16 bytes, and NULL if there
// is none; nothing here has a larger alignment.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size is allowed.
        unsafe { malloc(layout.size()) }
    }

    unsafe fn dealloc(&self, address: *mut u8, _layout: Layout) {
        // SAFETY: the address is one of malloc(3).
        unsafe { free(address) };
    }
}

#[global_allocator]
static HEAP: Heap = Heap;

#[panic_handler]
fn panicked(_: &PanicInfo) -> ! {
    // SAFETY: the call has no preconditions.
    unsafe { abort() }
}
