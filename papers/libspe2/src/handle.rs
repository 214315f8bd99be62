//! Pointers in C programs. Using a destroyed object returns an error instead of a fault, because
//! its handle's few bytes are never freed.

use crate::call::Errno;
use seatmap_spe::notify::Polls;
use seatmap_spe::{EventHandler, SpeContext};
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Every handle's first word.
const MAGIC: u64 = 0x5345_4154_5350_4532;

/// An object with an address in C.
#[repr(C)]
#[derive(Debug)]
pub struct Handle<T> {
    magic: u64,
    is_alive: AtomicBool,
    value: Mutex<Option<Arc<T>>>,
}

/// A context in C (`spe_context_ptr_t`).
pub type ContextHandle = Handle<OneContext>;
/// An event handler in C (`spe_event_handler_ptr_t`).
pub type EventHandle = Handle<EventHandler>;

/// A context and its C-specific state.
#[derive(Debug)]
pub struct OneContext {
    /// The SPE.
    pub spe: Arc<SpeContext>,
    /// The flags of its creation.
    pub flags: u32,
    /// Polls of empty mailboxes.
    pub polls: Polls,
}

impl<T> Handle<T> {
    /// Creates a handle of a value.
    pub fn give(value: T) -> *mut Self {
        let value = Mutex::new(Some(Arc::new(value)));
        Box::into_raw(Box::new(Handle { magic: MAGIC, is_alive: AtomicBool::new(true), value }))
    }

    /// The value of a pointer from C; `absent` for NULL, a foreign address, or a destroyed value.
    ///
    /// # Safety
    /// The pointer is NULL or points to memory of at least a handle's size.
    ///
    /// # Errors
    /// `absent`.
    pub unsafe fn known(pointer: *const Self, absent: i32) -> Result<Arc<T>, Errno> {
        // SAFETY: the caller's promise.
        let handle = unsafe { Self::checked(pointer) }.ok_or(Errno(absent))?;
        let held = handle.value.lock().unwrap_or_else(PoisonError::into_inner);
        held.clone().ok_or(Errno(absent))
    }

    /// Destroys the value of a pointer from C, unless `refuse` returns a reason.
    ///
    /// # Safety
    /// As for [`Handle::known`].
    ///
    /// # Errors
    /// `absent`, or the reason.
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
        handle.is_alive.store(false, Ordering::Release);
        *held = None;
        Ok(())
    }

    /// Whether the value exists.
    pub fn is_alive(&self) -> bool {
        self.is_alive.load(Ordering::Acquire)
    }

    unsafe fn checked<'a>(pointer: *const Self) -> Option<&'a Self> {
        if pointer.is_null() || !pointer.is_aligned() {
            return None;
        }
        // SAFETY: not NULL, so the caller promises that it is readable; the value is used only if
        // the word is ours.
        let magic = unsafe { pointer.cast::<u64>().read() };
        // SAFETY: it points to a handle, which is never freed.
        (magic == MAGIC).then(|| unsafe { &*pointer })
    }
}

type Last = Cell<Option<(*const ContextHandle, Arc<OneContext>)>>;

thread_local! {
    /// The context of this thread's last call.
    static LAST: Last = const { Cell::new(None) };
}

/// A context during a call. The thread keeps its last context, so that its next calls touch no
/// shared data; a destroyed one lives until the thread's next call or end.
#[derive(Debug)]
pub struct ContextGuard {
    handle: *const ContextHandle,
    one: ManuallyDrop<Arc<OneContext>>,
    /// The thread's variable; null while the thread ends.
    place: *const Last,
}

impl ContextGuard {
    /// The context of a pointer from C; `ESRCH` without one.
    ///
    /// # Safety
    /// As for [`Handle::known`].
    ///
    /// # Errors
    /// `ESRCH`.
    pub unsafe fn of(handle: *const ContextHandle) -> Result<Self, Errno> {
        let (place, last) = LAST
            .try_with(|last| (std::ptr::from_ref(last), last.take()))
            .unwrap_or((std::ptr::null(), None));
        if let Some((known, one)) = last
            && known == handle
        {
            // SAFETY: this address was a handle's, which is never freed.
            if unsafe { &*handle }.is_alive() {
                return Ok(ContextGuard { handle, one: ManuallyDrop::new(one), place });
            }
        }
        // SAFETY: the caller's promise.
        let one = unsafe { Handle::known(handle, libc::ESRCH) }?;
        Ok(ContextGuard { handle, one: ManuallyDrop::new(one), place })
    }

    /// Drops this thread's last context.
    pub fn forget_last() {
        _ = LAST.try_with(Cell::take);
    }
}

impl Deref for ContextGuard {
    type Target = Arc<OneContext>;

    fn deref(&self) -> &Arc<OneContext> {
        &self.one
    }
}

impl Drop for ContextGuard {
    fn drop(&mut self) {
        // SAFETY: taken once, here.
        let one = unsafe { ManuallyDrop::take(&mut self.one) };
        // SAFETY: the thread's own variable, which exists during its calls.
        match unsafe { self.place.as_ref() } {
            Some(place) => place.set(Some((self.handle, one))),
            None => drop(one),
        }
    }
}
