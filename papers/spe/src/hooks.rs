//! The functions by which a program calls its machine.
//!
//! The loader writes the table's address and the SPU's state into the image.

use crate::spu::SpuState;
use crate::stop::StopReason;
use crate::{channel, command};

/// The table, as declared in `runtime.c`.
#[repr(C)]
#[derive(Debug)]
pub struct Hooks {
    /// Stops the program with a code; returns when it is resumed.
    pub stop: unsafe extern "C" fn(*mut SpuState, u32, u32),
    /// Reads a channel.
    pub read: unsafe extern "C" fn(*mut SpuState, u32) -> u32,
    /// Writes a channel.
    pub write: unsafe extern "C" fn(*mut SpuState, u32, u32),
    /// Returns a channel's count.
    pub count: unsafe extern "C" fn(*mut SpuState, u32) -> u32,
    /// Gives the transfer unit a command: local address, effective address, size, tag, command.
    pub command: unsafe extern "C" fn(*mut SpuState, u32, u64, u32, u32, u32),
    /// Counts core cycles that the program's own code would take on a Cell.
    pub work: unsafe extern "C" fn(*mut SpuState, u32),
}

/// This computer's table.
pub static HOST: Hooks = Hooks {
    stop: on_stop,
    read: on_read,
    write: on_write,
    count: on_count,
    command: on_command,
    work: on_work,
};

/// The state at the pointer that the loader wrote into the image.
///
/// # Safety
/// The pointer is that of a running program.
unsafe fn state<'a>(spu: *mut SpuState) -> &'a mut SpuState {
    // SAFETY: the state outlives the run, and only the thread that runs the program touches it.
    unsafe { &mut *spu }
}

unsafe extern "C" fn on_stop(spu: *mut SpuState, code: u32, at: u32) {
    // SAFETY: called by the program with its own state.
    let spu = unsafe { state(spu) };
    spu.stopped_at = at;
    spu.stop(if code == HALT { StopReason::Halt } else { StopReason::Code(code & 0x3fff) });
}

pub(crate) const HALT: u32 = u32::MAX;

unsafe extern "C" fn on_read(spu: *mut SpuState, channel: u32) -> u32 {
    // SAFETY: called by the program with its own state.
    channel::read(unsafe { state(spu) }, channel)
}

unsafe extern "C" fn on_write(spu: *mut SpuState, channel: u32, value: u32) {
    // SAFETY: called by the program with its own state.
    channel::write(unsafe { state(spu) }, channel, value);
}

unsafe extern "C" fn on_count(spu: *mut SpuState, channel: u32) -> u32 {
    // SAFETY: called by the program with its own state.
    channel::count(unsafe { state(spu) }, channel)
}

unsafe extern "C" fn on_command(
    spu: *mut SpuState,
    local: u32,
    effective: u64,
    bytes: u32,
    tag: u32,
    command: u32,
) {
    // SAFETY: called by the program with its own state.
    command::command(unsafe { state(spu) }, local, effective, bytes, tag, command);
}

/// Charges nothing, because the work already took time on this computer.
unsafe extern "C" fn on_work(_: *mut SpuState, _: u32) {}
