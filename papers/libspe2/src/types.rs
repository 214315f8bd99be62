//! The structures and constants of the interface, as in `libspe2-types.h`.

use std::ffi::c_void;

/// A program, embedded or opened from a file (`spe_program_handle_t`).
#[repr(C)]
#[derive(Debug)]
pub struct ProgramHandle {
    /// This structure's size.
    pub handle_size: u32,
    /// The ELF image.
    pub elf_image: *const c_void,
    /// Unused.
    pub toe_shadow: *const c_void,
}

/// The end of a run (`spe_stop_info_t`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct StopInfo {
    /// One of the stop reasons.
    pub stop_reason: u32,
    /// C's padding before a number of eight bytes; 0, so that equal structures have equal bytes.
    pub padding: u32,
    /// The reason's number, in the low half of a union of eight bytes.
    pub result: [i32; 2],
    /// The SPU's status register.
    pub spu_status: i32,
    /// C's padding; 0.
    pub end_padding: u32,
}

/// The caller's value of an event (`spe_event_data_t`): a union of a pointer and two numbers.
#[repr(C)]
#[derive(Clone, Copy)]
pub union EventData {
    /// As a pointer.
    pub ptr: *mut c_void,
    /// As a 64-bit number, which covers all.
    pub u64: u64,
}

/// An event to wait for, or one that has happened (`spe_event_unit_t`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct EventUnit {
    /// Bits of events.
    pub events: u32,
    /// The context.
    pub spe: *mut crate::handle::ContextHandle,
    /// The caller's value.
    pub data: EventData,
}

/// Flags of `spe_context_create`.
pub mod flag {
    #![expect(missing_docs, reason = "the interface's own names")]
    pub const SIGNOTIFY1_OR: u32 = 0x10;
    pub const SIGNOTIFY2_OR: u32 = 0x20;
    pub const MAP_PS: u32 = 0x40;
    pub const ISOLATE: u32 = 0x80;
    pub const ISOLATE_EMULATE: u32 = 0x100;
    pub const EVENTS_ENABLE: u32 = 0x1000;
    pub const AFFINITY_MEMORY: u32 = 0x2000;
    pub const NOSCHED: u32 = 0x4000;
    pub const ALL: u32 = 0x71f0;
}

/// Reasons in [`StopInfo`].
pub mod reason {
    #![expect(missing_docs, reason = "the interface's own names")]
    pub const EXIT: u32 = 1;
    pub const STOP_AND_SIGNAL: u32 = 2;
    pub const RUNTIME_ERROR: u32 = 3;
    pub const RUNTIME_EXCEPTION: u32 = 4;
    pub const RUNTIME_FATAL: u32 = 5;
    pub const CALLBACK_ERROR: u32 = 6;
}
