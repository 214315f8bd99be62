//! Mailboxes and signals on the PPE.

use crate::call::{Errno, number};
use crate::context::context;
use crate::handle::ContextHandle;
use seatmap_spe::mailbox::Mailbox;
use seatmap_spe::{MailboxWait, SpeContext};
use std::ffi::{c_int, c_uint};

const ALL_BLOCKING: c_uint = 1;
const ANY_BLOCKING: c_uint = 2;
const ANY_NONBLOCKING: c_uint = 3;

fn wait_of(behavior: c_uint) -> Result<MailboxWait, Errno> {
    match behavior {
        ALL_BLOCKING => Ok(MailboxWait::All),
        ANY_BLOCKING => Ok(MailboxWait::First),
        ANY_NONBLOCKING => Ok(MailboxWait::Never),
        _ => Err(Errno(libc::EINVAL)),
    }
}

fn counted(data: *const c_uint, count: c_int) -> Result<usize, Errno> {
    let count = usize::try_from(count).ok().filter(|count| *count > 0 && !data.is_null());
    count.ok_or(Errno(libc::EINVAL))
}

/// The number of moved messages. A wait without any means that no thread could run the program.
fn moved(count: usize, wait: MailboxWait) -> Result<i32, Errno> {
    if count == 0 && wait != MailboxWait::Never {
        return Err(Errno(libc::EIO));
    }
    c_int::try_from(count).map_err(|_| Errno(libc::EINVAL))
}

/// Writes messages to the SPU; returns their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_in_mbox_write(
    spe: *mut ContextHandle,
    data: *mut c_uint,
    count: c_int,
    behavior: c_uint,
) -> c_int {
    number(|| {
        // SAFETY: C's promise.
        let spe = &unsafe { context(spe) }?.spe;
        let count = counted(data, count)?;
        let wait = wait_of(behavior)?;
        // SAFETY: C's promise: `count` words.
        let values = unsafe { std::slice::from_raw_parts(data, count) };
        moved(spe.send_all(values, wait), wait)
    })
}

fn receive(
    spe: &SpeContext,
    mailbox: Mailbox,
    data: *mut c_uint,
    count: c_int,
    behavior: c_uint,
) -> Result<i32, Errno> {
    let count = counted(data, count)?;
    let wait = wait_of(behavior)?;
    // SAFETY: C's promise: `count` words.
    let values = unsafe { std::slice::from_raw_parts_mut(data, count) };
    moved(spe.receive_all(mailbox, values, wait), wait)
}

/// Reads messages from the SPU without waiting; returns their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_out_mbox_read(
    spe: *mut ContextHandle,
    data: *mut c_uint,
    count: c_int,
) -> c_int {
    number(|| {
        // SAFETY: C's promise.
        let spe = &unsafe { context(spe) }?.spe;
        receive(spe, Mailbox::Out, data, count, ANY_NONBLOCKING)
    })
}

/// Reads messages from the SPU's interrupting mailbox; returns their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_out_intr_mbox_read(
    spe: *mut ContextHandle,
    data: *mut c_uint,
    count: c_int,
    behavior: c_uint,
) -> c_int {
    number(|| {
        // SAFETY: C's promise.
        let spe = &unsafe { context(spe) }?.spe;
        receive(spe, Mailbox::OutInterrupting, data, count, behavior)
    })
}

unsafe fn amount(spe: *mut ContextHandle, count: impl FnOnce(&SpeContext) -> usize) -> c_int {
    // SAFETY: C's promise.
    let held = unsafe { context(spe) };
    number(|| {
        let one = held?;
        c_int::try_from(one.polls.polled(count(&one.spe))).map_err(|_| Errno(libc::EIO))
    })
}

/// Messages from the SPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_out_mbox_status(spe: *mut ContextHandle) -> c_int {
    // SAFETY: C's promise.
    unsafe { amount(spe, |spe| spe.messages(Mailbox::Out)) }
}

/// Free places for messages to the SPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_in_mbox_status(spe: *mut ContextHandle) -> c_int {
    // SAFETY: C's promise.
    unsafe { amount(spe, SpeContext::room) }
}

/// Messages in the interrupting mailbox.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_out_intr_mbox_status(spe: *mut ContextHandle) -> c_int {
    // SAFETY: C's promise.
    unsafe { amount(spe, |spe| spe.messages(Mailbox::OutInterrupting)) }
}

/// Writes a signal register: 1 or 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_signal_write(
    spe: *mut ContextHandle,
    register: c_uint,
    data: c_uint,
) -> c_int {
    number(|| {
        // SAFETY: C's promise.
        let spe = &unsafe { context(spe) }?.spe;
        match register {
            1 | 2 => spe.send_signal(register as usize - 1, data),
            _ => return Err(Errno(libc::EINVAL)),
        }
        Ok(0)
    })
}
