//! An SPU's commands for its transfer unit, on the simulated Cell.
//!
//! A broken rule that does not depend on the machine stops the program at its command; an
//! inaccessible address, when the bytes would move.

use crate::command::{is_list, name, opcode};
use crate::list::{DecodedElement, List};
use crate::simulated::call::{call, session};
use crate::spu::SpuState;
use crate::stop::StopReason;
use crate::transfer::{LocalStoreTransfer, TAGS, TransferDirection, TransferRule};
use seatmap_cell_sim::channels::TransferOrder;
use seatmap_cell_sim::session::{CommandKind, ListElement, ProgramCommand, SessionCall};

/// Passes a command to the transfer unit; a broken rule stops the program.
pub fn command(spu: &mut SpuState, local: u32, effective: u64, bytes: u32, tag: u32, command: u32) {
    // The upper half holds hints without effect here.
    let command = command & 0xff;
    let (name, direction) = name(command);
    let transfer = LocalStoreTransfer { command: name, direction, local, effective, bytes, tag };
    if let Err(rule) = perform(spu, transfer, command) {
        let fault = spu.spe().fault(transfer, rule);
        spu.fail(StopReason::Transfer(fault));
    }
}

fn perform(
    spu: &mut SpuState,
    transfer: LocalStoreTransfer,
    command: u32,
) -> Result<(), TransferRule> {
    let kind = match command {
        opcode::GET_LINE => CommandKind::Reserve,
        opcode::PUT_LINE_CONDITIONAL => CommandKind::StoreConditional,
        opcode::PUT_LINE => CommandKind::Store,
        opcode::PUT_LINE_QUEUED => CommandKind::StoreQueued,
        opcode::BARRIER | opcode::IO_ORDER | opcode::SYNC => CommandKind::Barrier,
        _ => return transferred(spu, transfer, command),
    };
    let is_line = kind != CommandKind::Barrier;
    if is_line && !(transfer.local.is_multiple_of(128) && transfer.effective.is_multiple_of(128)) {
        return Err(TransferRule::Alignment);
    }
    if is_line && spu.spe().store().at(transfer.local, 128).is_none() {
        return Err(TransferRule::Local);
    }
    let bytes = if is_line { 128 } else { 0 };
    call(spu, SessionCall::Command(of(transfer, kind, bytes)));
    Ok(())
}

fn transferred(
    spu: &mut SpuState,
    transfer: LocalStoreTransfer,
    command: u32,
) -> Result<(), TransferRule> {
    let order = match command & opcode::FENCE_AND_BARRIER {
        1 => TransferOrder::Barrier,
        2 => TransferOrder::Fence,
        _ => TransferOrder::Free,
    };
    let kind = match transfer.direction {
        TransferDirection::Get => CommandKind::Get(order),
        TransferDirection::Put => CommandKind::Put(order),
    };
    match command & !opcode::FENCE_AND_BARRIER {
        opcode::PUT | opcode::PUT_RESULT | opcode::GET | opcode::SEND_SIGNAL => {
            transfer.check()?;
            in_store(spu, transfer.local, transfer.bytes)?;
            call(spu, SessionCall::Command(of(transfer, kind, transfer.bytes)));
            Ok(())
        }
        list if list & opcode::LIST != 0 && is_list(list & !opcode::LIST) => {
            begin_list(spu, transfer, kind)
        }
        _ => Err(TransferRule::Command),
    }
}

fn of(transfer: LocalStoreTransfer, kind: CommandKind, bytes: u32) -> ProgramCommand {
    let LocalStoreTransfer { command, local, effective, tag, .. } = transfer;
    ProgramCommand { name: command, kind, local, effective, bytes, tag: (tag % TAGS) as u8 }
}

fn in_store(spu: &SpuState, local: u32, bytes: u32) -> Result<(), TransferRule> {
    spu.spe().store().at(local, bytes as usize).map(|_| ()).ok_or(TransferRule::Local)
}

/// The low half of the command's effective address is the elements' address.
fn begin_list(
    spu: &mut SpuState,
    whole: LocalStoreTransfer,
    kind: CommandKind,
) -> Result<(), TransferRule> {
    if whole.tag >= TAGS {
        return Err(TransferRule::Tag);
    }
    let mut list = List::new(whole, (whole.effective & 0xffff_ffff) as u32)?;
    let (elements, is_open) = part(spu, &mut list)?;
    let first = elements.first().map_or(whole.local, |first| first.local);
    let command = ProgramCommand { local: first, ..of(whole, kind, whole.bytes) };
    let effective: Vec<ListElement> = elements.iter().map(Part::element).collect();
    let elements = effective.as_ptr();
    let count = effective.len();
    let entry = call(spu, SessionCall::List { command, elements, count, is_open });
    if let (true, Ok(entry)) = (is_open, u8::try_from(entry)) {
        spu.simulated.lists.push((entry, list));
    }
    Ok(())
}

struct Part {
    local: u32,
    effective: u64,
    bytes: u32,
}

impl Part {
    fn element(&self) -> ListElement {
        ListElement { effective: self.effective, bytes: self.bytes }
    }
}

/// Reads a list's elements up to the next stall; returns whether others follow.
fn part(spu: &SpuState, list: &mut List) -> Result<(Vec<Part>, bool), TransferRule> {
    let mut parts = Vec::new();
    while let Some(DecodedElement { transfer, stalls }) = list.next(spu.spe())? {
        transfer.check()?;
        in_store(spu, transfer.local, transfer.bytes)?;
        let LocalStoreTransfer { local, effective, bytes, .. } = transfer;
        if bytes > 0 {
            parts.push(Part { local, effective, bytes });
        }
        if stalls && list.left > 0 {
            return Ok((parts, true));
        }
    }
    Ok((parts, false))
}

/// Continues a tag's stalled lists, and reads their next elements.
pub fn acknowledge_stall(spu: &mut SpuState, tag: u32) {
    let (machine, task) = session(spu);
    for entry in machine.stalled_lists(task, tag) {
        let Some(at) = spu.simulated.lists.iter().position(|(of, _)| *of == entry) else {
            continue;
        };
        let (_, mut list) = spu.simulated.lists.swap_remove(at);
        match part(spu, &mut list) {
            Ok((parts, is_open)) => {
                let elements: Vec<ListElement> = parts.iter().map(Part::element).collect();
                let (machine, task) = session(spu);
                machine.extend_list(task, entry, &elements, is_open);
                if is_open {
                    spu.simulated.lists.push((entry, list));
                }
            }
            Err(rule) => {
                let fault = list.fault(spu.spe(), rule);
                spu.fail(StopReason::Transfer(fault));
            }
        }
    }
}
