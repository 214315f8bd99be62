//! The functions that compilers call at plain accesses to memory.
//!
//! Their names are the interface of ThreadSanitizer in gcc (`gcc/sanitizer.def`) and clang
//! (`llvm/lib/Transforms/Instrumentation/ThreadSanitizer.cpp`). They may formally unwind, although
//! none does: a panic guard would give each a frame.

use crate::process;
use crate::shadow::{access, access_unaligned};
use std::ffi::c_void;

macro_rules! accesses {
    ($access:ident $($kind:ident $is_write:literal $($bytes:literal)*;)*) => {
        $($(const _: () = {
            #[unsafe(export_name = concat!("__tsan_", stringify!($kind), $bytes))]
            extern "C-unwind" fn called(address: *const c_void) {
                $access(address as usize, $bytes, $is_write);
            }
        };)*)*
    };
}

accesses! { access
    read false 1 2 4 8;
    write true 1 2 4 8;
    volatile_read false 1 2 4 8;
    volatile_write true 1 2 4 8;
    read_write true 1 2 4 8;
}

// A cast can make vectors of 16 bytes unaligned.
accesses! { access_unaligned
    read false 16;
    write true 16;
    volatile_read false 16;
    volatile_write true 16;
    read_write true 16;
    unaligned_read false 2 4 8 16;
    unaligned_write true 2 4 8 16;
    unaligned_volatile_read false 2 4 8 16;
    unaligned_volatile_write true 2 4 8 16;
    unaligned_read_write true 2 4 8 16;
}

#[unsafe(no_mangle)]
extern "C-unwind" fn __tsan_vptr_read(address: *const c_void) {
    access(address as usize, 8, false);
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
