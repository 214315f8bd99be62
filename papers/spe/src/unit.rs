//! The transfer unit on this computer.
//!
//! A transfer is complete when its command returns, which satisfies every order of tags, fences and
//! barriers.

use crate::problem::{self, RegisterAccess};
use crate::state::SpeState;
use crate::transfer::{
    LocalStoreTransfer, MOST_BYTES, TAGS, TransferDirection, TransferFault, TransferRule,
};
use seatmap_cell_sim::os::guarded;

impl LocalStoreTransfer {
    /// Performs the transfer for an SPE.
    ///
    /// # Errors
    /// The fault, with the rule.
    #[inline]
    pub fn perform(&self, spe: &SpeState) -> Result<(), TransferFault> {
        let moved = self.check().and_then(|()| self.move_bytes(spe));
        moved.map_err(|rule| spe.fault(*self, rule))
    }

    fn move_bytes(&self, spe: &SpeState) -> Result<(), TransferRule> {
        let bytes = usize::try_from(self.bytes).map_err(|_| TransferRule::Size)?;
        let here = spe.store().at(self.local, bytes).ok_or(TransferRule::Local)?;
        if let Some((other, register)) = problem::register(self.effective) {
            return self.reach(&*other, register, here);
        }
        copy(self.direction, here, self.effective, bytes)
    }

    fn reach(
        &self,
        other: &dyn RegisterAccess,
        register: usize,
        here: *mut u8,
    ) -> Result<(), TransferRule> {
        if self.bytes != 4 {
            return Err(TransferRule::Register);
        }
        match self.direction {
            TransferDirection::Put => {
                // SAFETY: four bytes of the store, aligned, as checked by `check`.
                let value = unsafe { here.cast::<u32>().read_volatile() };
                other.write_register(register, value).then_some(()).ok_or(TransferRule::Register)
            }
            TransferDirection::Get => {
                let value = other.read_register(register).ok_or(TransferRule::Register)?;
                // SAFETY: as above.
                unsafe { here.cast::<u32>().write_volatile(value) };
                Ok(())
            }
        }
    }
}

/// Performs a correct transfer between a store and memory. Returns false if it did only a part or
/// nothing: [`LocalStoreTransfer::perform`] then finds the fault.
#[inline]
pub fn quick(
    spe: &SpeState,
    direction: TransferDirection,
    local: u32,
    effective: u64,
    bytes: u32,
    tag: u32,
) -> bool {
    let is_whole = bytes & 15 == 0 && bytes <= MOST_BYTES && local & 15 == 0 && effective & 15 == 0;
    if !is_whole || tag >= TAGS || problem::is_near(effective) {
        return false;
    }
    let Some(here) = spe.store().at(local, bytes as usize) else { return false };
    copy(direction, here, effective, bytes as usize).is_ok()
}

#[inline]
fn copy(
    direction: TransferDirection,
    here: *mut u8,
    effective: u64,
    bytes: usize,
) -> Result<(), TransferRule> {
    let there = usize::try_from(effective).map_err(|_| TransferRule::Address)? as *mut u8;
    let (from, to) = match direction {
        TransferDirection::Get => (there, here),
        TransferDirection::Put => (here, there),
    };
    // SAFETY: programs own what they transfer; the core has no reference into stores or their
    // memory.
    unsafe { guarded::copy(from, to, bytes) }.map_err(|_| TransferRule::Address)
}
