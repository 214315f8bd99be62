//! A borrowed worker.

use crate::failure::WorkerCallFailure;
use crate::inside::WorkerViewHandle;
use crate::runtime::RuntimeHandle;
use crate::status::WorkerStatus;
use seatmap_c_abi::{Boundary, take_back};
use std::ffi::c_void;
use std::sync::Arc;

/// A worker borrowed by a program. Its local store is overwritten with zeros when the context is
/// created and when it is destroyed.
pub struct WorkerContext(pub(crate) seatmap_worker::BorrowedWorker);

/// A program for a worker. It receives the worker from within, its argument, and its data, and
/// returns its stop code.
pub type ProgramFunction = Option<
    unsafe extern "C" fn(inside: *mut WorkerViewHandle, argument: u64, data: *mut c_void) -> u32,
>;

struct Loaded {
    code: unsafe extern "C" fn(*mut WorkerViewHandle, u64, *mut c_void) -> u32,
    data: *mut c_void,
}

// SAFETY: the header says that a program and its data are used on the worker's thread.
unsafe impl Send for Loaded {}
// SAFETY: as above; the pointer is passed on and not dereferenced.
unsafe impl Sync for Loaded {}

impl seatmap_worker::WorkerProgram for Loaded {
    fn run(&self, inside: &mut seatmap_worker::WorkerView, argument: u64) -> u32 {
        // SAFETY: the caller that loaded the program is responsible for it; its data outlives the
        // call.
        unsafe { (self.code)(WorkerViewHandle::of(inside), argument, self.data) }
    }
}

/// Borrows a worker and overwrites its local store with zeros, as spe_context_create. Fails with
/// SEATMAP_WORKER_STATUS_BUSY if all workers are in contexts.
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

/// Waits for a running program, overwrites the local store with zeros and returns the worker; NULL
/// is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_context_destroy(context: *mut WorkerContext) {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { take_back(context) }
}

/// Loads a program, as spe_program_load, after waiting for a running one. The data pointer is
/// passed to the program unchanged.
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

/// Starts the program and returns at once. libspe2 needs a thread that calls spe_context_run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_context_start(
    context: *mut WorkerContext,
    argument: u64,
) -> WorkerStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { with(context, |context| Ok(context.0.start(argument)?)) }
}

/// Waits for the end of a started program; `stop_code` may be NULL. The program can still read
/// earlier messages. If it then waits for another one, or for room for its own, it is ended,
/// because no other thread may use the context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_context_wait(
    context: *mut WorkerContext,
    stop_code: *mut u32,
) -> WorkerStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { with(context, |context| store_stop_code(stop_code, context.0.wait()?)) }
}

/// Whether a started program has ended, so that seatmap_context_wait returns at once; false for
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_context_ended(context: *const WorkerContext) -> bool {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { WorkerCallFailure::known(context, "context") }
        .is_ok_and(|context| context.0.has_ended())
}

/// Releases the CPU: the worker sleeps until the next start, with any kind of polling. That start
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
            Err(WorkerCallFailure::argument(format!("signal is {signal}; give 0 or 1")))
        }
    };
    // SAFETY: the caller keeps the rules of the header.
    unsafe { with(context, work) }
}

/// The address of the worker's local store, as spe_ls_area_get; valid as long as the context. NULL
/// for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_store_address(context: *const WorkerContext) -> *mut c_void {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { WorkerCallFailure::known(context, "context") }
        .map_or(std::ptr::null_mut(), |context| context.0.store_address().cast())
}

/// The size of the local store in bytes, as spe_ls_size_get; 0 for NULL.
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

fn store_stop_code(stop_code: *mut u32, code: u32) -> Result<(), WorkerCallFailure> {
    // SAFETY: the caller of the interface keeps the rules of the header.
    if let Some(stop_code) = unsafe { stop_code.as_mut() } {
        *stop_code = code;
    }
    Ok(())
}
