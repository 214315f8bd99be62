//! Reservations on lines of 128 bytes: getllar, putllc and related commands.
//!
//! A reservation is a copy of the line. A conditional store succeeds if the line is unchanged. It
//! exchanges only changed eight-byte words, so that atomic operations of the PPE on other words are
//! never lost.

use crate::state::SpeState;
use crate::transfer::{LocalStoreTransfer, TransferDirection, TransferFault, TransferRule};
use seatmap_cell_sim::os::guarded;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of a line.
pub const LINE_BYTES: usize = 128;
const WORDS: usize = LINE_BYTES / 8;
static LOCKS: [Mutex<()>; 64] = [const { Mutex::new(()) }; 64];

type LineWords = [u64; WORDS];

/// A line that an SPU has reserved.
#[derive(Clone, Debug)]
pub struct Reservation {
    effective: u64,
    line: LineWords,
}

impl Reservation {
    /// Reads a line into the local store, and reserves it.
    ///
    /// # Errors
    /// The broken rule.
    pub fn take(spe: &SpeState, local: u32, effective: u64) -> Result<Self, TransferFault> {
        let fault =
            |rule| fault(spe, "mfc_getllar", TransferDirection::Get, local, effective, rule);
        let (here, there) = places(spe, local, effective).map_err(fault)?;
        let _held = lock(effective);
        let line = read(there).map_err(fault)?;
        // SAFETY: a line of the store, into which the core has no reference.
        unsafe { here.cast::<LineWords>().write_volatile(line) };
        Ok(Reservation { effective, line })
    }

    /// Whether the line has changed.
    pub fn is_lost(&self) -> bool {
        let there = usize::try_from(self.effective).unwrap_or_default() as *mut u64;
        read(there).is_ok_and(|line| line != self.line)
    }

    /// Writes the local store's line if the reservation holds; returns whether it did.
    ///
    /// # Errors
    /// The broken rule.
    pub fn store(self, spe: &SpeState, local: u32, effective: u64) -> Result<bool, TransferFault> {
        let fault = |rule| fault(spe, "mfc_putllc", TransferDirection::Put, local, effective, rule);
        let (here, there) = places(spe, local, effective).map_err(fault)?;
        if effective != self.effective {
            return Ok(false);
        }
        // SAFETY: a line of the store, aligned.
        let new = unsafe { here.cast::<LineWords>().read_volatile() };
        let _held = lock(effective);
        if read(there).map_err(fault)? == self.line {
            exchange(there, &self.line, &new).map_err(fault)
        } else {
            Ok(false)
        }
    }
}

/// Writes a line unconditionally (putlluc, putqlluc).
///
/// # Errors
/// The broken rule.
pub fn store_always(spe: &SpeState, local: u32, effective: u64) -> Result<(), TransferFault> {
    let copied = places(spe, local, effective).and_then(|(here, there)| {
        let _held = lock(effective);
        // SAFETY: programs own what they transfer.
        unsafe { guarded::copy(here.cast(), there.cast(), LINE_BYTES) }
            .map_err(|_| TransferRule::Address)
    });
    copied.map_err(|rule| fault(spe, "mfc_putlluc", TransferDirection::Put, local, effective, rule))
}

/// Writes nothing if the first changed word has changed in memory.
fn exchange(there: *mut u64, old: &LineWords, new: &LineWords) -> Result<bool, TransferRule> {
    for at in (0..WORDS).filter(|at| old[*at] != new[*at]) {
        // SAFETY: within the line; programs own what they transfer.
        let done = unsafe { guarded::exchange(there.add(at), old[at], new[at]) };
        if !done.map_err(|_| TransferRule::Address)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn read(there: *mut u64) -> Result<LineWords, TransferRule> {
    let mut line = [0; WORDS];
    // SAFETY: the line is ours; the other side is guarded.
    unsafe { guarded::copy(there.cast(), line.as_mut_ptr().cast(), LINE_BYTES) }
        .map_err(|_| TransferRule::Address)?;
    Ok(line)
}

fn places(
    spe: &SpeState,
    local: u32,
    effective: u64,
) -> Result<(*mut u64, *mut u64), TransferRule> {
    if !local.is_multiple_of(128) || !effective.is_multiple_of(128) {
        return Err(TransferRule::Alignment);
    }
    let here = spe.store().at(local, LINE_BYTES).ok_or(TransferRule::Local)?;
    let there = usize::try_from(effective).map_err(|_| TransferRule::Address)?;
    Ok((here.cast(), there as *mut u64))
}

fn lock(effective: u64) -> MutexGuard<'static, ()> {
    let at = usize::try_from(effective / 128 % 64).unwrap_or_default();
    LOCKS[at].lock().unwrap_or_else(PoisonError::into_inner)
}

fn fault(
    spe: &SpeState,
    command: &'static str,
    direction: TransferDirection,
    local: u32,
    effective: u64,
    rule: TransferRule,
) -> TransferFault {
    let transfer = LocalStoreTransfer { command, direction, local, effective, bytes: 128, tag: 0 };
    spe.fault(transfer, rule)
}
