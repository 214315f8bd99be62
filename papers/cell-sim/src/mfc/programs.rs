//! The parts of an MFC that only C programs use.

use super::{Entry, Mfc, MfcCommand, MfcOperation, PROXY_TAGS, SpuWait};
use crate::channels::{Ea, Element, TransferOrder};
use crate::event::EventOutbox;

const QUADWORD: u32 = 16;

impl Entry {
    pub fn begin(&mut self, element: Element) {
        if self.is_aligned {
            let within = if element.size < QUADWORD { element.ea.offset() % QUADWORD } else { 0 };
            self.local = self.local.next_multiple_of(QUADWORD) + within;
        }
        (self.ea, self.left) = (element.ea, element.size);
    }
}

impl Mfc {
    /// Gives the list that was just enqueued a program's rules: elements keep their offsets in
    /// quadwords. If `is_open`, more elements follow after an [acknowledgement](Self::extend).
    pub fn align_list(&mut self, entry: u8, is_open: bool) {
        let list = &mut self.entries[entry as usize];
        (list.is_aligned, list.is_open) = (true, is_open);
    }

    /// Resumes a stalled list with these elements. Returns false if there are none: the list is
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
        // At least one cycle: an event in the same cycle could precede its cause.
        list.from = out.now() + self.list_element.max(1);
        let from = list.from;
        self.issue_at(from, out);
        true
    }

    /// Keeps later commands of all tags waiting for earlier ones. The caller has checked that there
    /// is [room](Self::finds_room).
    pub fn enqueue_barrier(&mut self, tag: u8, out: &mut EventOutbox) {
        // A barrier behind no commands ends at once and needs no entry.
        if !self.age.is_empty() {
            self.enqueue_empty(MfcOperation::Barrier, 0, tag, out);
        }
    }

    /// Enqueues a list that stalls before its first byte.
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
        // `enqueue` rejects empty commands; `left = 0` below removes the byte before it is issued.
        let first = Element { ea: Ea::Memory { module: 0, offset: 0 }, size: 1 };
        let entry = self.enqueue(
            MfcCommand { work, local, first, tag, order: TransferOrder::Free },
            &[],
            out,
        );
        self.entries[entry as usize].left = 0;
        entry
    }

    pub(super) fn pass_barrier(&mut self, now: u64) {
        let oldest = self.age.first().copied();
        if let Some(entry) =
            oldest.filter(|entry| self.entries[*entry as usize].work == MfcOperation::Barrier)
        {
            self.complete_command(now, entry);
        }
    }

    /// Ends the SPU's wait and the lists that wait for an acknowledgement, because the program has
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

    /// Keeps lists from stalling later, because no program would acknowledge them.
    pub fn close_lists(&mut self) {
        self.entries.iter_mut().for_each(|list| list.is_open = false);
    }

    pub fn is_proxy(&self, entry: u8) -> bool {
        self.entries[entry as usize].tag >= PROXY_TAGS
    }

    pub fn holds(&self, entry: u8) -> bool {
        self.age.contains(&entry)
    }

    pub fn is_idle(&self) -> bool {
        self.age.is_empty()
    }
}
