//! A worker from within: what a program sees.

use crate::WorkerStore;
use crate::desk::WorkerControl;
use crate::mailbox::MailboxEnd;
use seatmap_os::partners::Gone;
use std::sync::Arc;

/// The worker as its program sees it: its local store, its mailboxes and signals, and transfers to
/// and from memory.
///
/// A worker copies for itself, where a Cell's MFC works beside it, so that a transfer is complete
/// when its call returns and tags have nothing to say.
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

    /// The store's address, from which the same bytes can be reached from outside while the program
    /// runs.
    #[must_use]
    pub fn store_address(&self) -> *mut u8 {
        self.store.address()
    }

    /// Reads the inbound mailbox; waits while it is empty.
    ///
    /// Where the context is dropped meanwhile, or the worker has lost its CPU, no message can come:
    /// the program then ends by a panic, which the worker takes.
    pub fn mailbox_read(&mut self) -> u32 {
        self.mailbox_read_unless_alone().unwrap_or_else(|| alone())
    }

    /// Reads the inbound mailbox, and returns `None` where [`WorkerView::mailbox_read`] panics: for
    /// programs that no panic may pass through.
    pub fn mailbox_read_unless_alone(&mut self) -> Option<u32> {
        self.mailboxes.read(|| self.desk.is_alone())
    }

    /// Reads the inbound mailbox; `None` while it is empty.
    pub fn mailbox_try_read(&mut self) -> Option<u32> {
        self.mailboxes.try_read()
    }

    /// Writes the outbound mailbox; waits while it is full, as [`WorkerView::mailbox_read`] waits.
    pub fn mailbox_write(&mut self, value: u32) {
        if !self.mailbox_write_unless_alone(value) {
            alone();
        }
    }

    /// Writes the outbound mailbox, and returns `false` where [`WorkerView::mailbox_write`] panics.
    pub fn mailbox_write_unless_alone(&mut self, value: u32) -> bool {
        self.mailboxes.write(value, || self.desk.is_alone())
    }

    /// Writes the outbound mailbox if there is room, and says whether there was.
    pub fn mailbox_try_write(&mut self, value: u32) -> bool {
        self.mailboxes.try_write(value)
    }

    /// Reads and empties a signal register, 0 or 1; waits until something was written. `None` for
    /// another register.
    ///
    /// It waits as [`WorkerView::mailbox_read`] does.
    #[must_use]
    pub fn signal_read(&self, register: usize) -> Option<u32> {
        let signal = self.desk.signals.get(register)?;
        Some(signal.read(|| self.desk.is_alone()).unwrap_or_else(|| alone()))
    }

    /// Takes a signal register, and returns `None` where [`WorkerView::signal_read`] panics.
    #[must_use]
    pub fn signal_read_unless_alone(&self, register: usize) -> Option<u32> {
        self.desk.signals.get(register)?.read(|| self.desk.is_alone())
    }

    /// Takes a signal register; `None` while nothing is written there.
    #[must_use]
    pub fn signal_try_read(&self, register: usize) -> Option<u32> {
        self.desk.signals.get(register)?.try_read()
    }

    /// Copies bytes from memory into the store at `local`, and says whether they fit there.
    ///
    /// # Safety
    /// `from` must lead to `bytes` readable bytes that no other thread writes meanwhile.
    #[must_use]
    pub unsafe fn get(&mut self, local: usize, from: *const u8, bytes: usize) -> bool {
        let Some(to) = self.window(local, bytes) else { return false };
        // SAFETY: the caller answers for `from`; `to` is a window of that length of the worker's
        // own store.
        unsafe { std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), bytes) };
        true
    }

    /// Copies bytes from the store at `local` to memory, and says whether they lie in the store.
    ///
    /// # Safety
    /// `to` must lead to `bytes` writable bytes that no other thread touches meanwhile.
    #[must_use]
    pub unsafe fn put(&mut self, local: usize, to: *mut u8, bytes: usize) -> bool {
        let Some(from) = self.window(local, bytes) else { return false };
        // SAFETY: the caller answers for `to`; `from` is a window of that length of the worker's
        // own store.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, bytes) };
        true
    }

    fn window(&mut self, local: usize, bytes: usize) -> Option<&mut [u8]> {
        self.store.bytes().get_mut(local..local.checked_add(bytes)?)
    }
}

/// Ends a program that waits in vain. The panic hook is left out: nothing is wrong with the
/// program.
fn alone() -> ! {
    std::panic::resume_unwind(Box::new(Gone))
}
