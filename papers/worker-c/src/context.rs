//! A borrowed worker.

use crate::failure::WorkerCallFailure;
use crate::inside::WorkerViewHandle;
use crate::runtime::RuntimeHandle;
use crate::status::WorkerStatus;
use seatmap_c_abi::{Boundary, take_back};
use std::ffi::c_void;
use std::sync::Arc;

/// A worker that belongs to the program that created it. Its local store holds zeros when the
/// context is created, and is overwritten with zeros when it is destroyed.
pub struct WorkerContext(pub(crate) seatmap_worker::BorrowedWorker);

/// A program for a worker: it receives the worker from within, the argument that it was started
/// with, and the data that it was loaded with, and returns its stop code.
pub type ProgramFunction = Option<
    unsafe extern "C" fn(inside: *mut WorkerViewHandle, argument: u64, data: *mut c_void) -> u32,
>;

/// A program written in C, with its data.
struct Loaded {
    code: unsafe extern "C" fn(*mut WorkerViewHandle, u64, *mut c_void) -> u32,
    data: *mut c_void,
}

// SAFETY: the header says that a program runs on the worker's thread, and its data with it.
unsafe impl Send for Loaded {}
// SAFETY: as above; the pointer is handed on and never followed.
unsafe impl Sync for Loaded {}

impl seatmap_worker::WorkerProgram for Loaded {
    fn run(&self, inside: &mut seatmap_worker::WorkerView, argument: u64) -> u32 {
        // SAFETY: the caller that loaded the program answers for it; the data that it sees outlives
        // the call.
        unsafe { (self.code)(WorkerViewHandle::of(inside), argument, self.data) }
    }
}

/// Borrows a worker and overwrites its local store with zeros, as spe_context_create. Fails with
/// SEATMAP_WORKER_STATUS_BUSY where all workers are in contexts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_context_create(
    runtime: *mut RuntimeHandle,
    context: *mut *mut WorkerContext,
) -> WorkerStatus {
    // SAFETY: the caller keeps the rules of the header.
    let make =
        || Ok(WorkerContext(unsafe { WorkerCallFailure::known(runtime, "runtime") }?.0.context()?));
    // SAFETY: as above.
    unsafe { WorkerCallFailure::give(context, "context", make) }
}

/// Waits for a program that still runs, overwrites the local store with zeros and gives the worker
/// back; NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_context_destroy(context: *mut WorkerContext) {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { take_back(context) }
}

/// Loads a program in place of any other, as spe_program_load; one that still runs is waited for.
/// The data are the program's business: they are handed on as they are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_program_load(
    context: *mut WorkerContext,
    program: ProgramFunction,
    data: *mut c_void,
) -> WorkerStatus {
    let work = |context: &mut WorkerContext| {
        let code = program.ok_or(WorkerCallFailure::null("program"))?;
        context.0.load(Arc::new(Loaded { code, data }));
        Ok(())
    };
    // SAFETY: the caller keeps the rules of the header.
    unsafe { with(context, work) }
}

/// Runs the program and waits for its end, as spe_context_run; `stop_code` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_context_run(
    context: *mut WorkerContext,
    argument: u64,
    stop_code: *mut u32,
) -> WorkerStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { with(context, |context| store_stop_code(stop_code, context.0.run(argument)?)) }
}

/// Starts the program and returns at once, where libspe2 needs a thread that calls spe_context_run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_context_start(
    context: *mut WorkerContext,
    argument: u64,
) -> WorkerStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { with(context, |context| Ok(context.0.start(argument)?)) }
}

/// Waits for the end of a program that was started; `stop_code` may be NULL. Messages that were
/// sent before are read; a program that waits for another one, or for room for its own, is let go,
/// as no other thread may use the context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_context_wait(
    context: *mut WorkerContext,
    stop_code: *mut u32,
) -> WorkerStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { with(context, |context| store_stop_code(stop_code, context.0.wait()?)) }
}

/// Whether a program that was started has ended, so that seatmap_context_wait returns at once;
/// false for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_context_ended(context: *const WorkerContext) -> bool {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { WorkerCallFailure::known(context, "context") }
        .is_ok_and(|context| context.0.has_ended())
}

/// Gives the CPU back: the worker sleeps until the next start, with any kind of polling. That start
/// takes longer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_context_give_back(context: *mut WorkerContext) -> WorkerStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { with(context, |context| Ok(context.0.give_back()?)) }
}

/// Writes a signal register of the worker, 0 or 1, as spe_signal_write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_signal_write(
    context: *mut WorkerContext,
    signal: u32,
    value: u32,
) -> WorkerStatus {
    let work = |context: &mut WorkerContext| {
        if context.0.signal(signal as usize, value) {
            Ok(())
        } else {
            Err(WorkerCallFailure::argument(format!("signal is {signal}; there are 0 and 1")))
        }
    };
    // SAFETY: the caller keeps the rules of the header.
    unsafe { with(context, work) }
}

/// Where the worker's local store begins, as spe_ls_area_get; it is there as long as the context.
/// NULL for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_store_address(context: *const WorkerContext) -> *mut c_void {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { WorkerCallFailure::known(context, "context") }
        .map_or(std::ptr::null_mut(), |context| context.0.store_address().cast())
}

/// Bytes of the local store, as spe_ls_size_get; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_store_size(context: *const WorkerContext) -> usize {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { WorkerCallFailure::known(context, "context") }
        .map_or(0, |context| context.0.store_bytes())
}

/// Runs `work` on a context.
///
/// # Safety
/// `context` is NULL or a context that nothing else uses meanwhile.
pub(crate) unsafe fn with(
    context: *mut WorkerContext,
    work: impl FnOnce(&mut WorkerContext) -> Result<(), WorkerCallFailure>,
) -> WorkerStatus {
    // SAFETY: the caller's promise.
    WorkerCallFailure::call(|| work(unsafe { WorkerCallFailure::changed(context, "context") }?))
}

/// Writes a stop code, unless the pointer is NULL.
fn store_stop_code(stop_code: *mut u32, code: u32) -> Result<(), WorkerCallFailure> {
    // SAFETY: the caller of the interface keeps the rules of the header.
    if let Some(stop_code) = unsafe { stop_code.as_mut() } {
        *stop_code = code;
    }
    Ok(())
}
