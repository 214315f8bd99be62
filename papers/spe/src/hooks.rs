//! The table of functions through which a program reaches the machine that it runs on.
//!
//! The loader writes the table's address and the SPU's state into the image. Another machine serves
//! the same images with another table.

use crate::atomic::{self, Reservation};
use crate::channel::{self, spu_event};
use crate::list::{List, Progress};
use crate::run::Stop;
use crate::spu::SpuState;
use crate::transfer::{self, Direction, Rule, Transfer, TransferFault};

/// Words of the block in an image that the loader fills: table, state, store's address and size,
/// heap's start, constructors and their number.
pub const LINK_WORDS: usize = 7;
/// Entries of an MFC's command queue, all of which are always free: commands are complete when they
/// return.
pub const QUEUE_ENTRIES: u32 = 16;

/// The table, as `runtime.c` declares it.
#[repr(C)]
#[derive(Debug)]
pub struct Hooks {
    /// Stops the program with a code; returns when it is resumed.
    pub stop: unsafe extern "C" fn(*mut SpuState, u32, u32),
    /// Reads a channel.
    pub read: unsafe extern "C" fn(*mut SpuState, u32) -> u32,
    /// Writes a channel.
    pub write: unsafe extern "C" fn(*mut SpuState, u32, u32),
    /// The count of a channel.
    pub count: unsafe extern "C" fn(*mut SpuState, u32) -> u32,
    /// A command for the transfer unit: local address, effective address, size, tag, command.
    pub command: unsafe extern "C" fn(*mut SpuState, u32, u64, u32, u32, u32),
    /// Core cycles that the program's own code is said to take on a Cell.
    pub work: unsafe extern "C" fn(*mut SpuState, u32),
}

/// The table of this computer.
pub static HOST: Hooks = Hooks {
    stop: on_stop,
    read: on_read,
    write: on_write,
    count: on_count,
    command: on_command,
    work: on_work,
};

/// The state behind the pointer that the loader wrote into the image.
///
/// # Safety
/// The pointer is the one of a running program.
unsafe fn state<'a>(spu: *mut SpuState) -> &'a mut SpuState {
    // SAFETY: the state outlives the run, and the thread that runs the program is the only one that
    // touches it.
    unsafe { &mut *spu }
}

unsafe extern "C" fn on_stop(spu: *mut SpuState, code: u32, at: u32) {
    // SAFETY: called by the program with its own state.
    let spu = unsafe { state(spu) };
    spu.stopped_at = at;
    spu.stop(if code == HALT { Stop::Halt } else { Stop::Code(code & 0x3fff) });
}

/// Not a code: the program halted.
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
    self::command(unsafe { state(spu) }, local, effective, bytes, tag, command);
}

/// The work has been done, in this computer's time.
unsafe extern "C" fn on_work(_: *mut SpuState, _: u32) {}

/// Commands of the transfer unit (Cell Broadband Engine Architecture), without their fence and
/// barrier bits.
pub(crate) mod opcode {
    pub const FENCE_AND_BARRIER: u32 = 0x3;
    pub const LIST: u32 = 0x4;
    pub const PUT: u32 = 0x20;
    pub const PUT_RESULT: u32 = 0x30;
    pub const GET: u32 = 0x40;
    pub const SEND_SIGNAL: u32 = 0xa0;
    pub const PUT_LINE: u32 = 0xb0;
    pub const PUT_LINE_CONDITIONAL: u32 = 0xb4;
    pub const PUT_LINE_QUEUED: u32 = 0xb8;
    pub const BARRIER: u32 = 0xc0;
    pub const IO_ORDER: u32 = 0xc8;
    pub const SYNC: u32 = 0xcc;
    pub const GET_LINE: u32 = 0xd0;
}

/// Does a command; a fault stops the program.
pub fn command(spu: &mut SpuState, local: u32, effective: u64, bytes: u32, tag: u32, command: u32) {
    // The upper half holds hints for caches and replacement, which nothing here has.
    let command = command & 0xff;
    // Most commands are plain transfers that break no rule. The others, and those that do, take the
    // long way.
    if let Some(direction) = plain(command)
        && transfer::quick(spu.context(), direction, local, effective, bytes, tag)
    {
        return;
    }
    if let Err(fault) = perform(spu, local, effective, bytes, tag, command) {
        spu.fail(Stop::Transfer(fault));
    }
}

/// The direction of a command that is one transfer.
#[inline]
fn plain(command: u32) -> Option<Direction> {
    match command {
        0x40..=0x42 => Some(Direction::Get),
        0x20..=0x22 => Some(Direction::Put),
        _ => None,
    }
}

fn perform(
    spu: &mut SpuState,
    local: u32,
    effective: u64,
    bytes: u32,
    tag: u32,
    command: u32,
) -> Result<(), TransferFault> {
    let (name, direction) = name(command);
    let transfer = Transfer { command: name, direction, local, effective, bytes, tag };
    match command {
        opcode::GET_LINE => {
            spu.reservation = Some(Reservation::take(spu.context(), local, effective)?);
            spu.atomic_status = Some(4);
        }
        opcode::PUT_LINE_CONDITIONAL => {
            let held = spu.reservation.take();
            let done = held.map(|line| line.store(spu.context(), local, effective)).transpose()?;
            spu.atomic_status = Some(u32::from(done != Some(true)));
        }
        opcode::PUT_LINE | opcode::PUT_LINE_QUEUED => {
            atomic::store_always(spu.context(), local, effective)?;
            spu.atomic_status = (command == opcode::PUT_LINE).then_some(2).or(spu.atomic_status);
        }
        opcode::BARRIER | opcode::IO_ORDER | opcode::SYNC => {
            std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        }
        _ => match command & !opcode::FENCE_AND_BARRIER {
            opcode::PUT | opcode::PUT_RESULT | opcode::GET | opcode::SEND_SIGNAL => {
                transfer.perform(spu.context())?
            }
            kind if kind & opcode::LIST != 0 && is_list(kind & !opcode::LIST) => {
                list(spu, transfer)?
            }
            _ => {
                return Err(TransferFault {
                    context: spu.context().number(),
                    transfer,
                    rule: Rule::Command,
                });
            }
        },
    }
    Ok(())
}

pub(crate) fn is_list(command: u32) -> bool {
    matches!(command, opcode::PUT | opcode::PUT_RESULT | opcode::GET)
}

/// The name that programs know a command by, and its direction.
pub(crate) fn name(command: u32) -> (&'static str, Direction) {
    match command {
        0x40 => ("mfc_get", Direction::Get),
        0x41 => ("mfc_getb", Direction::Get),
        0x42 => ("mfc_getf", Direction::Get),
        0x44..=0x46 => ("mfc_getl", Direction::Get),
        0x20 => ("mfc_put", Direction::Put),
        0x21 => ("mfc_putb", Direction::Put),
        0x22 => ("mfc_putf", Direction::Put),
        0x24..=0x26 => ("mfc_putl", Direction::Put),
        0xa0..=0xa2 => ("mfc_sndsig", Direction::Put),
        _ => ("an MFC command", Direction::Put),
    }
}

/// A list command: the low half of the effective address is where its elements are.
fn list(spu: &mut SpuState, whole: Transfer) -> Result<(), TransferFault> {
    let fault = |rule| TransferFault { context: spu.context().number(), transfer: whole, rule };
    if whole.tag >= crate::transfer::TAGS {
        return Err(fault(Rule::Tag));
    }
    let elements_at = (whole.effective & 0xffff_ffff) as u32;
    let list = List::new(whole, elements_at).map_err(fault)?;
    advance(spu, list)
}

fn advance(spu: &mut SpuState, mut list: List) -> Result<(), TransferFault> {
    if list.advance(spu.context())? == Progress::Stalled {
        spu.stalled |= 1 << list.tag;
        spu.lists.push(list);
        spu.own_events |= spu_event::LIST_STALL;
    }
    Ok(())
}

/// Lets the stalled lists of a tag go on.
pub fn acknowledge_stall(spu: &mut SpuState, tag: u32) {
    let (waiting, others) =
        std::mem::take(&mut spu.lists).into_iter().partition(|list| list.tag == tag);
    spu.lists = others;
    let waiting: Vec<List> = waiting;
    for list in waiting {
        if let Err(fault) = advance(spu, list) {
            spu.fail(Stop::Transfer(fault));
        }
    }
}
