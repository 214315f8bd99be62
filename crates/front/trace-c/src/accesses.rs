//! The functions that compilers call at plain accesses to memory.
//!
//! Their names are the interface of ThreadSanitizer in gcc (`gcc/sanitizer.def`) and clang
//! (`llvm/lib/Transforms/Instrumentation/ThreadSanitizer.cpp`). They may formally unwind, although
//! none does: a guard against panics would give each a frame.

use crate::process;
use crate::shadow::{access, access_unaligned};
use std::ffi::c_void;

macro_rules! plain {
    ($($name:ident $bytes:literal $is_write:literal)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C-unwind" fn $name(address: *const c_void) {
                access(address as usize, $bytes, $is_write);
            }
        )*
    };
}

macro_rules! unaligned {
    ($($name:ident $bytes:literal $is_write:literal)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C-unwind" fn $name(address: *const c_void) {
                access_unaligned(address as usize, $bytes, $is_write);
            }
        )*
    };
}

plain! {
    __tsan_read1 1 false
    __tsan_read2 2 false
    __tsan_read4 4 false
    __tsan_read8 8 false
    __tsan_write1 1 true
    __tsan_write2 2 true
    __tsan_write4 4 true
    __tsan_write8 8 true
    __tsan_volatile_read1 1 false
    __tsan_volatile_read2 2 false
    __tsan_volatile_read4 4 false
    __tsan_volatile_read8 8 false
    __tsan_volatile_write1 1 true
    __tsan_volatile_write2 2 true
    __tsan_volatile_write4 4 true
    __tsan_volatile_write8 8 true
    __tsan_read_write1 1 true
    __tsan_read_write2 2 true
    __tsan_read_write4 4 true
    __tsan_read_write8 8 true
    __tsan_vptr_read 8 false
}

// A cast can make vectors of 16 bytes unaligned.
unaligned! {
    __tsan_read16 16 false
    __tsan_write16 16 true
    __tsan_volatile_read16 16 false
    __tsan_volatile_write16 16 true
    __tsan_read_write16 16 true
    __tsan_unaligned_read2 2 false
    __tsan_unaligned_read4 4 false
    __tsan_unaligned_read8 8 false
    __tsan_unaligned_read16 16 false
    __tsan_unaligned_write2 2 true
    __tsan_unaligned_write4 4 true
    __tsan_unaligned_write8 8 true
    __tsan_unaligned_write16 16 true
    __tsan_unaligned_volatile_read2 2 false
    __tsan_unaligned_volatile_read4 4 false
    __tsan_unaligned_volatile_read8 8 false
    __tsan_unaligned_volatile_read16 16 false
    __tsan_unaligned_volatile_write2 2 true
    __tsan_unaligned_volatile_write4 4 true
    __tsan_unaligned_volatile_write8 8 true
    __tsan_unaligned_volatile_write16 16 true
    __tsan_unaligned_read_write2 2 true
    __tsan_unaligned_read_write4 4 true
    __tsan_unaligned_read_write8 8 true
    __tsan_unaligned_read_write16 16 true
}

/// A constructor or destructor sets an object's table of virtual functions.
#[unsafe(no_mangle)]
extern "C" fn __tsan_vptr_update(address: *const c_void, _table: *const c_void) {
    access(address as usize, 8, true);
}

/// Every compiled file calls this before `main`.
#[unsafe(no_mangle)]
extern "C" fn __tsan_init() {
    process::begin();
}

macro_rules! ignored {
    ($($name:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(_address: *const c_void) {}
        )*
    };
}

// Functions and annotations without information about lines.
ignored! {
    __tsan_func_entry
    __tsan_func_exit
    __tsan_ignore_thread_begin
    __tsan_ignore_thread_end
    __tsan_acquire
    __tsan_release
}
