//! The PPE's transfers by an SPE's transfer unit, and multisource synchronisation.

use crate::call::{Errno, number};
use crate::context::context;
use crate::handle::ContextHandle;
use seatmap_spe::TagCondition;
use seatmap_spe::transfer::{LocalStoreTransfer, TransferDirection};
use std::ffi::{c_int, c_uint, c_void};

/// The PPE's tags; the kernel of the Cell used the others.
const TAGS: u32 = 16;
const MOST_CLASS: u32 = 0xff;

macro_rules! command {
    ($name:ident, $direction:ident) => {
        /// Transfers between the local store and memory. The transfer is complete when the call
        /// returns.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            spe: *mut ContextHandle,
            ls: c_uint,
            ea: *mut c_void,
            size: c_uint,
            tag: c_uint,
            tid: c_uint,
            rid: c_uint,
        ) -> c_int {
            let command = stringify!($name);
            let direction = TransferDirection::$direction;
            let transfer = LocalStoreTransfer {
                command,
                direction,
                local: ls,
                effective: ea as u64,
                bytes: size,
                tag,
            };
            // SAFETY: C's promise.
            unsafe { perform(spe, transfer, tid.max(rid)) }
        }
    };
}

command!(spe_mfcio_put, Put);
command!(spe_mfcio_putb, Put);
command!(spe_mfcio_putf, Put);
command!(spe_mfcio_get, Get);
command!(spe_mfcio_getb, Get);
command!(spe_mfcio_getf, Get);

unsafe fn perform(spe: *mut ContextHandle, transfer: LocalStoreTransfer, class: u32) -> c_int {
    number(|| {
        // SAFETY: C's promise.
        let one = unsafe { context(spe) }?;
        if transfer.tag >= TAGS || class > MOST_CLASS || transfer.check().is_err() {
            return Err(Errno(libc::EINVAL));
        }
        one.spe.proxy(transfer)?;
        Ok(0)
    })
}

/// The complete tags of the mask, or of all commands if it is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_mfcio_tag_status_read(
    spe: *mut ContextHandle,
    mask: c_uint,
    behavior: c_uint,
    tag_status: *mut c_uint,
) -> c_int {
    number(|| {
        // SAFETY: C's promise.
        let one = unsafe { context(spe) }?;
        // SAFETY: C's promise.
        let status = unsafe { tag_status.as_mut() }.ok_or(Errno(libc::EINVAL))?;
        if mask >> TAGS != 0 || !(1..=3).contains(&behavior) {
            return Err(Errno(libc::EINVAL));
        }
        let condition =
            [TagCondition::All, TagCondition::Any, TagCondition::Immediate][behavior as usize - 1];
        *status = one.spe.await_proxies(mask, condition)?;
        Ok(0)
    })
}

/// Starts to wait for all transfers to the local store, already complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_mssync_start(spe: *mut ContextHandle) -> c_int {
    // SAFETY: C's promise.
    number(|| unsafe { context(spe) }.map(|_| 0))
}

/// Whether transfers are in progress: 0, none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_mssync_status(spe: *mut ContextHandle) -> c_int {
    // SAFETY: C's promise.
    number(|| unsafe { context(spe) }.map(|_| 0))
}
