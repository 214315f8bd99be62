//! The channels of an SPU on the simulated Cell.
//!
//! Reads and counts take time, and wait as in hardware; a write that only sets a register takes
//! only its instruction's time.

use crate::channel::{number, spu_event};
use crate::hooks::{HALT, Hooks};
use crate::simulated::call::{call, session};
use crate::simulated::commands;
use crate::spu::SpuState;
use crate::stop::StopReason;
use seatmap_cell_sim::channels::SignalNumber;
use seatmap_cell_sim::session::{Outbound, ReadChannel, SessionCall, TagCondition};

/// The simulated Cell's table.
pub static SIMULATED: Hooks = Hooks {
    stop: way::stop,
    read: way::read,
    write: way::write,
    count: way::count,
    command: way::command,
    work: way::work,
};

/// Wraps the table's functions to save the register in which programs count their work.
#[cfg(target_arch = "x86_64")]
mod way {
    use crate::spu::SpuState;
    use std::arch::naked_asm;
    use std::mem::offset_of;

    macro_rules! way {
        ($name:ident, $to:ident, ($($argument:ty),*) $(-> $result:ty)?) => {
            #[unsafe(naked)]
            pub unsafe extern "C" fn $name(_: *mut SpuState, $(_: $argument),*) $(-> $result)? {
                naked_asm!(
                    "mov [rdi + {register}], r15",
                    "jmp {to}",
                    register = const offset_of!(SpuState, simulated.count.register),
                    to = sym super::$to,
                )
            }
        };
    }

    way!(stop, on_stop, (u32, u32));
    way!(read, on_read, (u32) -> u32);
    way!(write, on_write, (u32, u32));
    way!(count, on_count, (u32) -> u32);
    way!(command, on_command, (u32, u64, u32, u32, u32));
    way!(work, on_work, (u32));
}

/// Other processors have no such register.
#[cfg(not(target_arch = "x86_64"))]
mod way {
    pub(super) use super::{
        on_command as command, on_count as count, on_read as read, on_stop as stop,
        on_work as work, on_write as write,
    };
}

/// The state at the pointer that the loader wrote into the image, with the program's count.
///
/// # Safety
/// The pointer is that of a running program.
unsafe fn state<'a>(spu: *mut SpuState) -> &'a mut SpuState {
    // SAFETY: the state outlives the run, and only the thread that runs the program touches it.
    let spu = unsafe { &mut *spu };
    spu.simulated.count.note();
    spu
}

unsafe extern "C" fn on_stop(spu: *mut SpuState, code: u32, at: u32) {
    // SAFETY: called by the program with its own state.
    let spu = unsafe { state(spu) };
    if spu.simulated.count.has_some() {
        call(spu, SessionCall::Work(0));
    }
    spu.stopped_at = at;
    spu.stop(if code == HALT { StopReason::Halt } else { StopReason::Code(code & 0x3fff) });
}

unsafe extern "C" fn on_read(spu: *mut SpuState, channel: u32) -> u32 {
    // SAFETY: called by the program with its own state.
    read(unsafe { state(spu) }, channel)
}

unsafe extern "C" fn on_write(spu: *mut SpuState, channel: u32, value: u32) {
    // SAFETY: called by the program with its own state.
    write(unsafe { state(spu) }, channel, value);
}

unsafe extern "C" fn on_count(spu: *mut SpuState, channel: u32) -> u32 {
    // SAFETY: called by the program with its own state.
    count(unsafe { state(spu) }, channel)
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
    commands::command(unsafe { state(spu) }, local, effective, bytes, tag, command);
}

unsafe extern "C" fn on_work(spu: *mut SpuState, cycles: u32) {
    // SAFETY: called by the program with its own state.
    let spu = unsafe { state(spu) };
    if cycles > 0 {
        call(spu, SessionCall::Work(cycles.into()));
    }
}

/// The session's name of a channel at which a program waits, and the words for an endless wait.
fn reading(channel: u32) -> Option<(ReadChannel, &'static str)> {
    Some(match channel {
        number::IN_MBOX => (ReadChannel::Mailbox, ""),
        number::SIGNAL_1 => (ReadChannel::Signal(SignalNumber::One), ""),
        number::SIGNAL_2 => (ReadChannel::Signal(SignalNumber::Two), ""),
        number::TAG_STATUS => (ReadChannel::TagStatus, "a tag status without a request"),
        number::ATOMIC_STATUS => (ReadChannel::AtomicStatus, "an atomic status without a command"),
        number::STALL_STATUS => (ReadChannel::StallStatus, "a stalled list, but none is running"),
        number::EVENT_STATUS => (ReadChannel::Events, ""),
        _ => return None,
    })
}

fn read(spu: &mut SpuState, channel: u32) -> u32 {
    if let Some((reading, what)) = reading(channel) {
        let (session, task) = session(spu);
        let is_hopeless = match reading {
            ReadChannel::StallStatus => {
                !session.has(task, reading) && spu.simulated.lists.is_empty()
            }
            _ => session.is_hopeless(task, reading),
        };
        if is_hopeless {
            spu.fail(StopReason::Deadlock(what));
        }
        return call(spu, SessionCall::Read(reading)) as u32;
    }
    call(spu, SessionCall::Look);
    let saved = spu.saved_return;
    let (session, task) = session(spu);
    match channel {
        number::EVENT_MASK_READ => session.event_mask(task),
        number::TAG_MASK_READ => session.tag_mask(task),
        number::DECREMENTER_READ => session.decrementer(task),
        number::MACHINE_STATUS => 0,
        number::SRR0_READ => saved,
        _ => spu.fail(StopReason::InvalidChannel(channel)),
    }
}

fn write(spu: &mut SpuState, channel: u32, value: u32) {
    let (session, task) = session(spu);
    match channel {
        number::OUT_MBOX => _ = call(spu, SessionCall::Write(Outbound::Plain, value)),
        number::OUT_INTR_MBOX => _ = call(spu, SessionCall::Write(Outbound::Interrupting, value)),
        number::EVENT_MASK => session.set_event_mask(task, value),
        number::EVENT_ACK => session.acknowledge(task, value),
        number::DECREMENTER_WRITE => session.set_decrementer(task, value),
        number::MULTISOURCE_SYNC => session.raise(task, spu_event::MULTISOURCE_SYNC),
        number::SRR0_WRITE => spu.saved_return = value,
        number::COMMAND_FIRST..number::COMMAND => {
            spu.command[(channel - number::COMMAND_FIRST) as usize] = value
        }
        number::COMMAND => {
            let [local, high, low, bytes, tag] = spu.command;
            commands::command(
                spu,
                local,
                u64::from(high) << 32 | u64::from(low),
                bytes,
                tag,
                value,
            );
        }
        number::TAG_MASK => session.set_tag_mask(task, value),
        number::TAG_UPDATE => session.update_tags(task, condition(value)),
        number::STALL_ACK => commands::acknowledge_stall(spu, value),
        _ => spu.fail(StopReason::InvalidChannel(channel)),
    }
}

fn condition(value: u32) -> TagCondition {
    match value {
        1 => TagCondition::Any,
        2 => TagCondition::All,
        _ => TagCondition::Immediate,
    }
}

fn count(spu: &mut SpuState, channel: u32) -> u32 {
    if channel > number::OUT_INTR_MBOX {
        spu.fail(StopReason::InvalidChannel(channel));
    }
    call(spu, SessionCall::Look);
    let (session, task) = session(spu);
    match channel {
        number::IN_MBOX => session.messages(task) as u32,
        number::OUT_MBOX => u32::from(session.has_room(task, Outbound::Plain)),
        number::OUT_INTR_MBOX => u32::from(session.has_room(task, Outbound::Interrupting)),
        number::COMMAND => session.queue_room(task) as u32,
        // The others never make a program wait.
        _ => reading(channel).is_none_or(|(reading, _)| session.has(task, reading)).into(),
    }
}
