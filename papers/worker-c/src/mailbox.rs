//! Messages to a worker and from it.

use crate::context::{WorkerContext, with};
use crate::failure::WorkerCallFailure;
use crate::status::WorkerStatus;
use seatmap_c_abi::Boundary;
use std::ffi::c_int;

/// How a call waits that writes or reads several messages, as in libspe2.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailboxBehaviour {
    /// Waits until all messages are written or read.
    AllBlocking = 1,
    /// Waits for one, and then transfers as many as possible without waiting.
    AnyBlocking = 2,
    /// Does not wait.
    AnyNonblocking = 3,
}

impl MailboxBehaviour {
    fn of(behaviour: c_int) -> Result<Self, WorkerCallFailure> {
        let all = [Self::AllBlocking, Self::AnyBlocking, Self::AnyNonblocking];
        let found = all.into_iter().find(|one| *one as c_int == behaviour);
        found.ok_or_else(|| {
            WorkerCallFailure::argument(format!("{behaviour} is not a seatmap_mbox"))
        })
    }

    fn waits(self, done: usize) -> bool {
        match self {
            Self::AllBlocking => true,
            Self::AnyBlocking => done == 0,
            Self::AnyNonblocking => false,
        }
    }
}

/// Writes messages into the worker's inbound mailbox, as spe_in_mbox_write; it has room for four.
/// `written`, which may be NULL, receives the number of messages written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_in_mbox_write(
    context: *mut WorkerContext,
    messages: *const u32,
    count: usize,
    behaviour: c_int,
    written: *mut usize,
) -> WorkerStatus {
    let work = |context: &mut WorkerContext| {
        let behaviour = MailboxBehaviour::of(behaviour)?;
        let count = WorkerCallFailure::counted(messages, count, "messages")?;
        let mut done = 0;
        while done < count {
            // SAFETY: the caller keeps the rules of the header, and `done` is below the count.
            let message = unsafe { messages.add(done).read() };
            if behaviour.waits(done) {
                context.0.mailbox_write(message)?;
            } else if !context.0.mailbox_try_write(message) {
                break;
            }
            done += 1;
        }
        tell(written, done);
        Ok(())
    };
    // SAFETY: the caller keeps the rules of the header.
    unsafe { with(context, work) }
}

/// Reads messages from the worker's outbound mailbox, as spe_out_mbox_read and
/// spe_out_intr_mbox_read; it holds one. `got`, which may be NULL, receives the number of messages
/// read. Fails with SEATMAP_WORKER_STATUS_BAD_STATE if the program has ended without the message,
/// and with SEATMAP_WORKER_STATUS_NOT_POSSIBLE if its worker has lost its CPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_out_mbox_read(
    context: *mut WorkerContext,
    messages: *mut u32,
    count: usize,
    behaviour: c_int,
    got: *mut usize,
) -> WorkerStatus {
    let work = |context: &mut WorkerContext| {
        let behaviour = MailboxBehaviour::of(behaviour)?;
        let count = WorkerCallFailure::counted(messages.cast_const(), count, "messages")?;
        let mut done = 0;
        while done < count {
            let message = if behaviour.waits(done) {
                Some(context.0.mailbox_read()?)
            } else {
                context.0.mailbox_try_read()
            };
            let Some(message) = message else { break };
            // SAFETY: the caller keeps the rules of the header, and `done` is below the count.
            unsafe { messages.add(done).write(message) };
            done += 1;
        }
        tell(got, done);
        Ok(())
    };
    // SAFETY: the caller keeps the rules of the header.
    unsafe { with(context, work) }
}

/// The free entries of the inbound mailbox, as spe_in_mbox_status; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_in_mbox_status(context: *const WorkerContext) -> u32 {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { WorkerCallFailure::known(context, "context") }
        .map_or(0, |context| context.0.mailbox_room())
}

/// The number of messages in the outbound mailbox, as spe_out_mbox_status; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_out_mbox_status(context: *const WorkerContext) -> u32 {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { WorkerCallFailure::known(context, "context") }
        .map_or(0, |context| context.0.mailbox_waiting())
}

fn tell(out: *mut usize, count: usize) {
    // SAFETY: the caller of the interface keeps the rules of the header.
    if let Some(out) = unsafe { out.as_mut() } {
        *out = count;
    }
}
