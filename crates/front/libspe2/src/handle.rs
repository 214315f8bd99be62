//! Pointers that C programs hold. A pointer to something that was destroyed is an error and not a fault: the few bytes
//! that it leads to are never given back.

use crate::call::Errno;
use seatmap_spe::{Context, EventHandler};
use std::sync::{Arc, Mutex, PoisonError};

/// The first word of everything that was given away.
const MAGIC: u64 = 0x5345_4154_5350_4532;

/// A thing that C knows by its address.
#[repr(C)]
#[derive(Debug)]
pub struct Handle<T> {
    magic: u64,
    value: Mutex<Option<Arc<T>>>,
}

/// A context as C holds it (`spe_context_ptr_t`).
pub type ContextHandle = Handle<OneContext>;
/// An event handler as C holds it (`spe_event_handler_ptr_t`).
pub type EventHandle = Handle<EventHandler>;

/// A context, and what only the C interface knows of it.
#[derive(Debug)]
pub struct OneContext {
    /// The SPE.
    pub spe: Arc<Context>,
    /// The flags that it was created with.
    pub flags: u32,
}

impl<T> Handle<T> {
    /// Gives a value to C.
    pub fn give(value: T) -> *mut Self {
        Box::into_raw(Box::new(Handle { magic: MAGIC, value: Mutex::new(Some(Arc::new(value))) }))
    }

    /// The value behind a pointer from C; `absent` for NULL, for a foreign address and for one that was destroyed.
    ///
    /// # Safety
    /// The pointer is NULL or leads to memory of at least the size of a handle.
    ///
    /// # Errors
    /// `absent`.
    pub unsafe fn known(pointer: *const Self, absent: i32) -> Result<Arc<T>, Errno> {
        // SAFETY: the caller's promise.
        let handle = unsafe { Self::checked(pointer) }.ok_or(Errno(absent))?;
        let held = handle.value.lock().unwrap_or_else(PoisonError::into_inner);
        held.clone().ok_or(Errno(absent))
    }

    /// Destroys the value behind a pointer from C, unless `refuse` has a reason against it.
    ///
    /// # Safety
    /// As for [`Handle::known`].
    ///
    /// # Errors
    /// `absent`, and the reason.
    pub unsafe fn destroy(
        pointer: *mut Self,
        absent: i32,
        refuse: impl FnOnce(&T) -> Option<i32>,
    ) -> Result<(), Errno> {
        // SAFETY: the caller's promise.
        let handle = unsafe { Self::checked(pointer) }.ok_or(Errno(absent))?;
        let mut held = handle.value.lock().unwrap_or_else(PoisonError::into_inner);
        let value = held.as_ref().ok_or(Errno(absent))?;
        if let Some(code) = refuse(value) {
            return Err(Errno(code));
        }
        *held = None;
        Ok(())
    }

    unsafe fn checked<'a>(pointer: *const Self) -> Option<&'a Self> {
        if pointer.is_null() || !pointer.is_aligned() {
            return None;
        }
        // SAFETY: not NULL, so the caller says that it can be read; the value is touched only if the word is ours.
        let magic = unsafe { pointer.cast::<u64>().read() };
        // SAFETY: it leads to a handle, which is never given back.
        (magic == MAGIC).then(|| unsafe { &*pointer })
    }
}
