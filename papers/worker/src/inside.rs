//! A worker as seen by its program.

use crate::WorkerStore;
use crate::desk::WorkerControl;
use crate::mailbox::MailboxEnd;
use seatmap_os::partners::Gone;
use std::sync::Arc;

/// A worker as seen by its program: its local store, mailboxes and signals, and transfers to and
/// from memory.
///
/// A worker copies by itself, unlike a Cell's MFC. So a transfer is complete when its call returns,
/// and tags have no meaning.
pub struct WorkerView {
    pub(crate) store: WorkerStore,
    pub(crate) mailboxes: MailboxEnd,
    pub(crate) desk: Arc<WorkerControl>,
}

impl WorkerView {
    /// The local store.
    pub fn store(&mut self) -> &mut [u8] {
        self.store.bytes()
    }

    /// The store's address, also valid outside the program while it runs.
    pub fn store_address(&self) -> *mut u8 {
        self.store.address()
    }

    /// Reads the inbound mailbox; waits while it is empty.
    ///
    /// If the context is dropped meanwhile, or the worker has lost its CPU, the program ends by a
    /// panic, which the worker catches.
    pub fn mailbox_read(&mut self) -> u32 {
        self.mailbox_read_unless_alone().unwrap_or_else(|| alone())
    }

    /// As [`WorkerView::mailbox_read`], but returns `None` instead of a panic, for programs that
    /// must not panic.
    pub fn mailbox_read_unless_alone(&mut self) -> Option<u32> {
        self.mailboxes.read(|| self.desk.is_alone())
    }

    /// Reads the inbound mailbox; `None` if it is empty.
    pub fn mailbox_try_read(&mut self) -> Option<u32> {
        self.mailboxes.try_read()
    }

    /// Writes the outbound mailbox; waits while it is full, as [`WorkerView::mailbox_read`] waits.
    pub fn mailbox_write(&mut self, value: u32) {
        if !self.mailbox_write_unless_alone(value) {
            alone();
        }
    }

    /// Writes the outbound mailbox, and returns `false` if [`WorkerView::mailbox_write`] would
    /// panic.
    pub fn mailbox_write_unless_alone(&mut self, value: u32) -> bool {
        self.mailboxes.write(value, || self.desk.is_alone())
    }

    /// Writes the outbound mailbox if there is room, and returns whether there was.
    pub fn mailbox_try_write(&mut self, value: u32) -> bool {
        self.mailboxes.try_write(value)
    }

    /// Reads and clears a signal register, 0 or 1; waits for a value as
    /// [`WorkerView::mailbox_read`] does. `None` for another register.
    pub fn signal_read(&self, register: usize) -> Option<u32> {
        let signal = self.desk.signals.get(register)?;
        Some(signal.read(|| self.desk.is_alone()).unwrap_or_else(|| alone()))
    }

    /// As [`WorkerView::signal_read`], but returns `None` instead of a panic.
    pub fn signal_read_unless_alone(&self, register: usize) -> Option<u32> {
        self.desk.signals.get(register)?.read(|| self.desk.is_alone())
    }

    /// Reads and clears a signal register; `None` if it is empty.
    pub fn signal_try_read(&self, register: usize) -> Option<u32> {
        self.desk.signals.get(register)?.try_read()
    }

    /// Copies bytes from memory into the store at `local`; returns whether they fit.
    ///
    /// # Safety
    /// `from` must point to `bytes` readable bytes that no other thread writes meanwhile.
    pub unsafe fn get(&mut self, local: usize, from: *const u8, bytes: usize) -> bool {
        let Some(to) = self.window(local, bytes) else { return false };
        // SAFETY: the caller is responsible for `from`; `to` is a window of that length of the
        // worker's own store.
        unsafe { std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), bytes) };
        true
    }

    /// Copies bytes from the store at `local` to memory; returns whether they are in the store.
    ///
    /// # Safety
    /// `to` must point to `bytes` writable bytes that no other thread touches meanwhile.
    pub unsafe fn put(&mut self, local: usize, to: *mut u8, bytes: usize) -> bool {
        let Some(from) = self.window(local, bytes) else { return false };
        // SAFETY: the caller is responsible for `to`; `from` is a window of that length of the
        // worker's own store.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, bytes) };
        true
    }

    fn window(&mut self, local: usize, bytes: usize) -> Option<&mut [u8]> {
        self.store.bytes().get_mut(local..local.checked_add(bytes)?)
    }
}

/// Ends a program that waits in vain, without the panic hook, because the program has no bug.
fn alone() -> ! {
    std::panic::resume_unwind(Box::new(Gone))
}
