//! The calls of a program on the simulated Cell.

use crate::spu::SpuState;
use crate::stop::{Pause, StopReason};
use crate::transfer::{LocalStoreTransfer, TransferDirection, TransferFault, TransferRule};
use seatmap_cell_sim::session::{CellBeSession, CommandKind, ProgramCommand, SessionCall};

/// A running program's session, and its task.
pub fn session(spu: &mut SpuState) -> (&mut CellBeSession, u16) {
    // SAFETY: the driver sets it before it runs the program, and does not touch it meanwhile.
    (unsafe { &mut *spu.simulated.session }, spu.simulated.turn.task)
}

/// Makes a call that takes virtual time. A fault stops the program here.
pub fn call(spu: &mut SpuState, call: SessionCall) -> u64 {
    pause(spu, Pause::Call(call));
    let (session, task) = session(spu);
    if let Some(command) = session.take_fault(task) {
        let fault = failed(spu.spe().number(), command);
        spu.fail(StopReason::Transfer(fault));
    }
    spu.simulated.turn.answer
}

fn pause(spu: &mut SpuState, pause: Pause) {
    // SAFETY: set while the program runs on its coroutine, and only the program calls this.
    if let Some(yielder) = unsafe { spu.yielder.as_ref() } {
        yielder.suspend(pause);
    }
}

/// A command's fault: its address is inaccessible.
pub fn failed(context: u32, command: ProgramCommand) -> TransferFault {
    let ProgramCommand { name, kind, local, effective, bytes, tag } = command;
    let is_get = matches!(kind, CommandKind::Get(_) | CommandKind::Reserve);
    let direction = if is_get { TransferDirection::Get } else { TransferDirection::Put };
    let transfer =
        LocalStoreTransfer { command: name, direction, local, effective, bytes, tag: tag.into() };
    TransferFault { context, transfer, rule: TransferRule::Address }
}
