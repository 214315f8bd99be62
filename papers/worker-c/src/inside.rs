//! The functions for a worker's program in C.
//!
//! They return no status, because every nanosecond counts in programs; the returned value shows a
//! mistake.

use std::ffi::c_void;

/// A worker from within: its local store, mailboxes and signals, and transfers to and from memory.
pub struct WorkerViewHandle(
    #[expect(dead_code, reason = "a name for C: it is only ever pointed to")]
    seatmap_worker::WorkerView,
);

impl WorkerViewHandle {
    /// A pointer for C to a worker's inside. It is a newtype for its own name in the header.
    pub(crate) fn of(inside: &mut seatmap_worker::WorkerView) -> *mut WorkerViewHandle {
        std::ptr::from_mut(inside).cast()
    }
}

/// Runs `work` on a worker's inside; returns `none` for NULL.
///
/// # Safety
/// `inside` is NULL, or the pointer given to the running program.
unsafe fn with<T>(
    inside: *mut WorkerViewHandle,
    none: T,
    work: impl FnOnce(&mut seatmap_worker::WorkerView) -> T,
) -> T {
    // SAFETY: the caller's promise; a newtype of one field, which C uses only by pointer.
    match unsafe { inside.cast::<seatmap_worker::WorkerView>().as_mut() } {
        Some(inside) => work(inside),
        None => none,
    }
}

/// The address of the local store; NULL for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_inside_store(inside: *mut WorkerViewHandle) -> *mut c_void {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { with(inside, std::ptr::null_mut(), |inside| inside.store_address().cast()) }
}

/// The size of the local store in bytes; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_inside_store_size(inside: *mut WorkerViewHandle) -> usize {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { with(inside, 0, |inside| inside.store().len()) }
}

/// Reads the inbound mailbox, as spu_read_in_mbox; waits while it is empty. Returns 0 for NULL, and
/// if no message can come any more: the context is being destroyed, or the worker has lost its CPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_inside_mbox_read(inside: *mut WorkerViewHandle) -> u32 {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { with(inside, 0, |inside| inside.mailbox_read_unless_alone().unwrap_or(0)) }
}

/// Reads the inbound mailbox without waiting. Returns false, and leaves `message` unchanged, if
/// there is no message or a pointer is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_inside_mbox_try_read(
    inside: *mut WorkerViewHandle,
    message: *mut u32,
) -> bool {
    // SAFETY: the caller keeps the rules of the header.
    let Some(out) = (unsafe { message.as_mut() }) else { return false };
    // SAFETY: as above.
    let read = unsafe { with(inside, None, |inside| inside.mailbox_try_read()) };
    read.map(|message| *out = message).is_some()
}

/// Writes the outbound mailbox, as spu_write_out_mbox; waits while it is full.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_inside_mbox_write(inside: *mut WorkerViewHandle, message: u32) {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { with(inside, (), |inside| _ = inside.mailbox_write_unless_alone(message)) }
}

/// Writes the outbound mailbox if there is room, and returns whether there was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_inside_mbox_try_write(
    inside: *mut WorkerViewHandle,
    message: u32,
) -> bool {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { with(inside, false, |inside| inside.mailbox_try_write(message)) }
}

/// Reads and clears a signal register, 0 or 1, as spu_read_signal1; waits for a value. Returns 0
/// for NULL and for any other register.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_inside_signal_read(
    inside: *mut WorkerViewHandle,
    signal: u32,
) -> u32 {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        with(inside, 0, |inside| inside.signal_read_unless_alone(signal as usize).unwrap_or(0))
    }
}

/// Copies bytes from memory at `from` into the store at `local`, as mfc_get, and returns when they
/// are copied. Returns false, and copies nothing, if they do not fit into the store or a pointer is
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_inside_get(
    inside: *mut WorkerViewHandle,
    local: usize,
    from: *const c_void,
    bytes: usize,
) -> bool {
    if from.is_null() {
        return false;
    }
    // SAFETY: the caller keeps the rules of the header, and is responsible for `from`.
    unsafe { with(inside, false, |inside| inside.get(local, from.cast(), bytes)) }
}

/// Copies bytes from the store at `local` to memory at `to`, as mfc_put, and returns when they are
/// copied. Returns false, and copies nothing, if they are not all in the store or a pointer is
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_inside_put(
    inside: *mut WorkerViewHandle,
    local: usize,
    to: *mut c_void,
    bytes: usize,
) -> bool {
    if to.is_null() {
        return false;
    }
    // SAFETY: the caller keeps the rules of the header, and is responsible for `to`.
    unsafe { with(inside, false, |inside| inside.put(local, to.cast(), bytes)) }
}
