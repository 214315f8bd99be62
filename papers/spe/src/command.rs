//! An SPU's commands for its transfer unit, on this computer.

use crate::atomic::{self, Reservation};
use crate::list::{List, ListProgress};
use crate::spu::SpuState;
use crate::stop::StopReason;
use crate::transfer::{LocalStoreTransfer, TAGS, TransferDirection, TransferFault, TransferRule};
use crate::unit;
use seatmap_cell_sim::session::spu_event;

/// The size of an MFC's command queue, always empty because commands complete at once.
pub const QUEUE_ENTRIES: u32 = 16;

/// The transfer unit's commands (Cell Broadband Engine Architecture), without fence and barrier
/// bits.
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

/// Performs a command; a fault stops the program.
pub fn command(spu: &mut SpuState, local: u32, effective: u64, bytes: u32, tag: u32, command: u32) {
    // The upper half holds hints without effect here.
    let command = command & 0xff;
    if let Some(direction) = plain(command)
        && unit::quick(spu.spe(), direction, local, effective, bytes, tag)
    {
        return;
    }
    if let Err(fault) = perform(spu, local, effective, bytes, tag, command) {
        spu.fail(StopReason::Transfer(fault));
    }
}

#[inline]
fn plain(command: u32) -> Option<TransferDirection> {
    match command {
        0x40..=0x42 => Some(TransferDirection::Get),
        0x20..=0x22 => Some(TransferDirection::Put),
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
    let transfer = LocalStoreTransfer { command: name, direction, local, effective, bytes, tag };
    match command {
        opcode::GET_LINE => {
            spu.reservation = Some(Reservation::take(spu.spe(), local, effective)?);
            spu.atomic_status = Some(4);
        }
        opcode::PUT_LINE_CONDITIONAL => {
            let held = spu.reservation.take();
            let done = held.map(|line| line.store(spu.spe(), local, effective)).transpose()?;
            spu.atomic_status = Some(u32::from(done != Some(true)));
        }
        opcode::PUT_LINE | opcode::PUT_LINE_QUEUED => {
            atomic::store_always(spu.spe(), local, effective)?;
            spu.atomic_status = (command == opcode::PUT_LINE).then_some(2).or(spu.atomic_status);
        }
        opcode::BARRIER | opcode::IO_ORDER | opcode::SYNC => {
            std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        }
        _ => match command & !opcode::FENCE_AND_BARRIER {
            opcode::PUT | opcode::PUT_RESULT | opcode::GET | opcode::SEND_SIGNAL => {
                transfer.perform(spu.spe())?
            }
            kind if kind & opcode::LIST != 0 && is_list(kind & !opcode::LIST) => {
                list(spu, transfer)?
            }
            _ => {
                return Err(spu.spe().fault(transfer, TransferRule::Command));
            }
        },
    }
    Ok(())
}

pub(crate) fn is_list(command: u32) -> bool {
    matches!(command, opcode::PUT | opcode::PUT_RESULT | opcode::GET)
}

pub(crate) fn name(command: u32) -> (&'static str, TransferDirection) {
    match command {
        0x40 => ("mfc_get", TransferDirection::Get),
        0x41 => ("mfc_getb", TransferDirection::Get),
        0x42 => ("mfc_getf", TransferDirection::Get),
        0x44..=0x46 => ("mfc_getl", TransferDirection::Get),
        0x20 => ("mfc_put", TransferDirection::Put),
        0x21 => ("mfc_putb", TransferDirection::Put),
        0x22 => ("mfc_putf", TransferDirection::Put),
        0x24..=0x26 => ("mfc_putl", TransferDirection::Put),
        0xa0..=0xa2 => ("mfc_sndsig", TransferDirection::Put),
        _ => ("an MFC command", TransferDirection::Put),
    }
}

fn list(spu: &mut SpuState, whole: LocalStoreTransfer) -> Result<(), TransferFault> {
    if whole.tag >= TAGS {
        return Err(spu.spe().fault(whole, TransferRule::Tag));
    }
    let elements_at = (whole.effective & 0xffff_ffff) as u32;
    let list = List::new(whole, elements_at).map_err(|rule| spu.spe().fault(whole, rule))?;
    advance(spu, list)
}

fn advance(spu: &mut SpuState, mut list: List) -> Result<(), TransferFault> {
    if list.advance(spu.spe())? == ListProgress::Stalled {
        spu.stalled |= 1 << list.tag;
        spu.lists.push(list);
        spu.own_events |= spu_event::LIST_STALL;
    }
    Ok(())
}

/// Continues a tag's stalled lists.
pub fn acknowledge_stall(spu: &mut SpuState, tag: u32) {
    let (waiting, others) =
        std::mem::take(&mut spu.lists).into_iter().partition(|list| list.tag == tag);
    spu.lists = others;
    let waiting: Vec<List> = waiting;
    for list in waiting {
        if let Err(fault) = advance(spu, list) {
            spu.fail(StopReason::Transfer(fault));
        }
    }
}
