//! The parts of an MFC that only programs in C use: lists that stall, barriers over all tags,
//! giving up.

use super::{Entry, Mfc, MfcCommand, MfcOperation, PROXY_TAGS, SpuWait};
use crate::channels::{Ea, Element, TransferOrder};
use crate::event::EventOutbox;

/// Bytes of a quadword.
const QUADWORD: u32 = 16;

impl Entry {
    /// Begins an element of the list.
    pub(super) fn begin(&mut self, element: Element) {
        if self.is_aligned {
            let within = if element.size < QUADWORD { element.ea.offset() % QUADWORD } else { 0 };
            self.local = self.local.next_multiple_of(QUADWORD) + within;
        }
        (self.ea, self.left) = (element.ea, element.size);
    }
}

impl Mfc {
    /// Makes the list that was just enqueued one of a program: its elements keep their places in
    /// quadwords, and where `is_open` more of them follow after an [acknowledgement](Self::extend).
    pub fn align_list(&mut self, entry: u8, is_open: bool) {
        let list = &mut self.entries[entry as usize];
        (list.is_aligned, list.is_open) = (true, is_open);
    }

    /// Lets a stalled list go on with these elements. Returns false if there are none: the list is
    /// complete.
    pub fn extend(
        &mut self,
        entry: u8,
        elements: &[Element],
        is_open: bool,
        out: &mut EventOutbox,
    ) -> bool {
        let list = &mut self.entries[entry as usize];
        list.is_open = is_open;
        let Some((first, rest)) = elements.split_first() else {
            self.complete_command(out.now(), entry);
            return false;
        };
        list.elements.extend(rest.iter().rev());
        list.begin(*first);
        // At least one cycle: an event in the same cycle could come before the one that caused it.
        list.from = out.now() + self.list_element.max(1);
        let from = list.from;
        self.issue_at(from, out);
        true
    }

    /// Has later commands of all tags wait until the earlier ones are complete. Takes an entry only
    /// if there are any; the caller has found [room](Self::finds_room) for it.
    pub fn enqueue_barrier(&mut self, tag: u8, out: &mut EventOutbox) {
        // With nothing before it, a barrier is over at once.
        if !self.age.is_empty() {
            self.enqueue_empty(MfcOperation::Barrier, 0, tag, out);
        }
    }

    /// Takes a list that stalls before its first byte.
    pub fn enqueue_stalled(
        &mut self,
        work: MfcOperation,
        local: u32,
        tag: u8,
        out: &mut EventOutbox,
    ) -> u8 {
        let entry = self.enqueue_empty(work, local, tag, out);
        self.align_list(entry, true);
        entry
    }

    fn enqueue_empty(
        &mut self,
        work: MfcOperation,
        local: u32,
        tag: u8,
        out: &mut EventOutbox,
    ) -> u8 {
        // `enqueue` takes no empty command; the byte is taken away again below, before it could be
        // issued.
        let first = Element { ea: Ea::Memory { module: 0, offset: 0 }, size: 1 };
        let entry = self.enqueue(
            MfcCommand { work, local, first, tag, order: TransferOrder::Free },
            &[],
            out,
        );
        self.entries[entry as usize].left = 0;
        entry
    }

    /// Ends a barrier that has become the oldest command.
    pub(super) fn pass_barrier(&mut self, now: u64) {
        let oldest = self.age.first().copied();
        if let Some(entry) =
            oldest.filter(|entry| self.entries[*entry as usize].work == MfcOperation::Barrier)
        {
            self.complete_command(now, entry);
        }
    }

    /// Ends the lists that wait for an acknowledgement, and the SPU's own wait: its program has
    /// ended.
    pub fn give_up(&mut self, now: u64) {
        self.waits = SpuWait::Nothing;
        while let Some(entry) = self.age.iter().copied().find(|entry| self.is_stalled(*entry)) {
            self.complete_command(now, entry);
        }
    }

    fn is_stalled(&self, entry: u8) -> bool {
        let list = &self.entries[entry as usize];
        list.is_open && list.left == 0 && list.outstanding == 0
    }

    /// Closes lists that would stall later: nobody acknowledges them.
    pub fn close_lists(&mut self) {
        self.entries.iter_mut().for_each(|list| list.is_open = false);
    }

    /// Whether the command in an entry is a proxy command.
    pub fn is_proxy(&self, entry: u8) -> bool {
        self.entries[entry as usize].tag >= PROXY_TAGS
    }

    /// Whether a command is in an entry.
    pub fn holds(&self, entry: u8) -> bool {
        self.age.contains(&entry)
    }

    /// Whether no command is in the queue.
    pub fn is_idle(&self) -> bool {
        self.age.is_empty()
    }
}
