//! Mailboxes and signals on the PPE.

use crate::call::{Errno, number};
use crate::context::context;
use crate::handle::ContextHandle;
use seatmap_spe::SpeContext;
use seatmap_spe::mailbox::Mailbox;
use std::ffi::{c_int, c_uint};

const ALL_BLOCKING: c_uint = 1;
const ANY_BLOCKING: c_uint = 2;
const ANY_NONBLOCKING: c_uint = 3;

fn repeat(
    spe: &SpeContext,
    mailbox: Mailbox,
    count: usize,
    behavior: c_uint,
    mut step: impl FnMut(usize) -> bool,
) -> Result<i32, Errno> {
    let mut done = 0;
    while done < count {
        let must = match behavior {
            ALL_BLOCKING => true,
            ANY_BLOCKING => done == 0,
            _ => false,
        };
        let is_done = if must { spe.repeat(mailbox, || step(done)) } else { step(done) };
        if !is_done && must && done == 0 {
            // No other thread could run the program.
            return Err(Errno(libc::EIO));
        }
        if !is_done {
            break;
        }
        done += 1;
    }
    c_int::try_from(done).map_err(|_| Errno(libc::EINVAL))
}

fn counted(data: *const c_uint, count: c_int, behavior: c_uint) -> Result<usize, Errno> {
    let count = usize::try_from(count).ok().filter(|count| *count > 0 && !data.is_null());
    count
        .filter(|_| (ALL_BLOCKING..=ANY_NONBLOCKING).contains(&behavior))
        .ok_or(Errno(libc::EINVAL))
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
        let count = counted(data, count, behavior)?;
        // SAFETY: C's promise: `count` words.
        repeat(spe, Mailbox::In, count, behavior, |at| spe.try_send(unsafe { data.add(at).read() }))
    })
}

fn receive(
    spe: &SpeContext,
    mailbox: Mailbox,
    data: *mut c_uint,
    count: usize,
    behavior: c_uint,
) -> Result<i32, Errno> {
    repeat(spe, mailbox, count, behavior, |at| {
        let value = spe.try_receive(mailbox);
        // SAFETY: C's promise: `count` words.
        value.is_some_and(|value| unsafe {
            data.add(at).write(value);
            true
        })
    })
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
        let count = counted(data, count, ANY_NONBLOCKING)?;
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
        let count = counted(data, count, behavior)?;
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
