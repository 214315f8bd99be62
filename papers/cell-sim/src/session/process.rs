//! The memory of a process as main memory, and the local stores of its SPE contexts.

use crate::channels::Ea;
use crate::memory::LINE_BYTES;
use crate::os::guarded;
use std::collections::BTreeMap;

/// Size of the address range for one context's registers.
pub const REGISTER_BYTES: u64 = 0x2_0000;
/// Local-store offsets from here on are registers of the context.
pub const REGISTERS: u32 = 0xf000_0000;
/// The smallest page size: all bytes of such a page have the same access rights.
const PAGE_BYTES: u64 = 4096;
/// The most 4 GiB regions that [`Ea::Memory`] can number.
const MOST_REGIONS: usize = 127;

/// A local store in the process.
#[derive(Clone, Copy, Debug)]
pub struct LocalStore {
    /// Its address as seen by its SPU.
    pub base: *mut u8,
    /// Its effective address.
    pub effective: *mut u8,
    /// Its length.
    pub bytes: u32,
}

/// An effective address's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressTarget {
    Bytes(Ea),
    /// A register of a context.
    Register {
        /// The context.
        of: u16,
        /// The offset in its registers.
        offset: u32,
    },
}

/// A process's addresses. A module of main memory is a 4 GiB region in one chip's memory; its
/// lowest bit is the chip.
#[derive(Clone, Debug, Default)]
pub struct AddressSpace {
    stores: BTreeMap<u16, LocalStore>,
    by_address: BTreeMap<u64, u16>,
    registers: BTreeMap<u64, u16>,
    regions: Vec<u32>,
    /// Ranges in the memory of a chip other than the first: start, and end with chip.
    placed: BTreeMap<u64, (u64, u8)>,
}

impl AddressSpace {
    pub fn chip(module: u8) -> u8 {
        module & 1
    }

    pub fn add(&mut self, task: u16, store: LocalStore, registers: u64) {
        self.by_address.insert(store.base as u64, task);
        self.by_address.insert(store.effective as u64, task);
        self.registers.insert(registers, task);
        self.stores.insert(task, store);
    }

    pub fn remove(&mut self, task: u16) {
        self.stores.remove(&task);
        self.by_address.retain(|_, of| *of != task);
        self.registers.retain(|_, of| *of != task);
    }

    pub fn place(&mut self, start: u64, bytes: u64, chip: u8) {
        let end = start.saturating_add(bytes);
        self.placed.retain(|from, (to, _)| *to <= start || *from >= end);
        self.placed.insert(start, (end, chip));
    }

    /// The target of `bytes` bytes at an address; `None` if one transfer cannot cover them.
    pub fn find(&mut self, effective: u64, bytes: u32) -> Option<AddressTarget> {
        if let Some((start, of)) = self.registers.range(..=effective).next_back()
            && effective - start < REGISTER_BYTES
        {
            return Some(AddressTarget::Register { of: *of, offset: (effective - start) as u32 });
        }
        if let Some(ea) = self.in_store(effective, bytes) {
            return Some(AddressTarget::Bytes(ea));
        }
        let module = self.module(effective)?;
        let offset = (effective & 0xffff_ffff) as u32;
        offset.checked_add(bytes)?;
        Some(AddressTarget::Bytes(Ea::Memory { module, offset }))
    }

    fn in_store(&self, effective: u64, bytes: u32) -> Option<Ea> {
        let (start, rank) = self.by_address.range(..=effective).next_back()?;
        let offset = effective - start;
        let length = u64::from(self.stores.get(rank)?.bytes);
        (offset + u64::from(bytes) <= length)
            .then_some(Ea::Local { rank: *rank, offset: offset as u32 })
    }

    fn module(&mut self, effective: u64) -> Option<u8> {
        let high = (effective >> 32) as u32;
        let known = self.regions.iter().position(|region| *region == high);
        let region = match known {
            Some(region) => region,
            None if self.regions.len() < MOST_REGIONS => {
                self.regions.push(high);
                self.regions.len() - 1
            }
            None => return None,
        };
        let placed = self.placed.range(..=effective).next_back();
        let chip =
            placed.filter(|(_, (end, _))| effective < *end).map_or(0, |(_, (_, chip))| *chip);
        Some((region as u8) << 1 | chip)
    }

    /// The pointer for an address; `None` if its local store was removed.
    pub fn pointer(&self, ea: Ea) -> Option<*mut u8> {
        match ea {
            Ea::Memory { module, offset } => {
                let high = u64::from(*self.regions.get(usize::from(module >> 1))?);
                Some((high << 32 | u64::from(offset)) as *mut u8)
            }
            Ea::Local { rank, offset } => {
                let store = self.stores.get(&rank).filter(|store| offset < store.bytes)?;
                Some(store.effective.wrapping_add(offset as usize))
            }
        }
    }

    /// Whether all bytes can be read, or written if `writes`; tests one word of each page.
    pub fn is_there(&self, at: Ea, bytes: u32, writes: bool) -> bool {
        let Some(start) = self.pointer(at).map(|start| start as u64) else { return false };
        let end = start + u64::from(bytes.max(1)) - 1;
        let pages = start / PAGE_BYTES..=end / PAGE_BYTES;
        pages.into_iter().all(|page| can_be_used((page * PAGE_BYTES).max(start) & !7, writes))
    }

    /// A hash of a context's store.
    pub fn number_of(&self, task: u16) -> u64 {
        let Some(store) = self.stores.get(&task) else { return 0 };
        // FNV-1a over words, with a rotation so that high bits count.
        let words = store.effective.cast::<u64>();
        (0..store.bytes as usize / 8).fold(0, |number, at| {
            // SAFETY: within the store, which is there as long as the context is.
            let word = unsafe { words.add(at).read_volatile() };
            (number ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
        })
    }

    /// Copies bytes; returns false if an address cannot be read or written.
    pub fn copy(&self, from: Ea, to: Ea, bytes: u32) -> bool {
        let (Some(from), Some(to)) = (self.pointer(from), self.pointer(to)) else { return false };
        // SAFETY: programs own what they transfer, and no code here has a reference into it; bad
        // addresses are guarded.
        unsafe { guarded::copy(from, to, bytes as usize) }.is_ok()
    }

    pub fn line(&self, at: Ea) -> Option<[u64; LINE_BYTES as usize / 8]> {
        let from = self.pointer(at)?;
        let mut line = [0; LINE_BYTES as usize / 8];
        // SAFETY: the line is our own; the other side is guarded.
        unsafe { guarded::copy(from, line.as_mut_ptr().cast(), LINE_BYTES as usize) }
            .ok()
            .map(|()| line)
    }

    /// Writes the words of a line that differ from `old`, each only if it still has its old value,
    /// so that no atomic operation of the PPE on other words is lost. Returns `None` if the address
    /// cannot be written.
    pub fn exchange(&self, at: Ea, old: &[u64], new: &[u64]) -> Option<bool> {
        let to = self.pointer(at)?.cast::<u64>();
        for (word, (old, new)) in
            old.iter().zip(new).enumerate().filter(|(_, (old, new))| old != new)
        {
            // SAFETY: within the line, aligned; programs own what they transfer.
            if !unsafe { guarded::exchange(to.wrapping_add(word), *old, *new) }.ok()? {
                return Some(false);
            }
        }
        Some(true)
    }
}

fn can_be_used(address: u64, writes: bool) -> bool {
    let at = address as *mut u64;
    let mut word = 0_u64;
    // SAFETY: the word is our own; the other side is guarded.
    let can_be_read = unsafe { guarded::copy(at.cast(), (&raw mut word).cast(), 8) }.is_ok();
    // SAFETY: aligned; the word keeps its value.
    can_be_read && (!writes || unsafe { guarded::exchange(at, word, word) }.is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(store: &mut [u64]) -> (AddressSpace, u64) {
        let mut process = AddressSpace::default();
        let base = store.as_mut_ptr().cast::<u8>();
        process.add(
            3,
            LocalStore { base, effective: base, bytes: 8 * store.len() as u32 },
            0x7000_0000,
        );
        (process, base as u64)
    }

    #[test]
    fn addresses_resolve_to_store_register_or_memory() {
        let mut store = [0_u64; 64];
        let (mut process, base) = process(&mut store);
        assert_eq!(
            process.find(base + 16, 496),
            Some(AddressTarget::Bytes(Ea::Local { rank: 3, offset: 16 }))
        );
        assert_ne!(
            process.find(base + 16, 512),
            Some(AddressTarget::Bytes(Ea::Local { rank: 3, offset: 16 }))
        );
        assert_eq!(
            process.find(0x7001_400c, 4),
            Some(AddressTarget::Register { of: 3, offset: 0x1_400c })
        );
        process.place(0x9_0000_0000, 4096, 1);
        let module = |place| {
            if let Some(AddressTarget::Bytes(Ea::Memory { module, .. })) = place {
                module
            } else {
                u8::MAX
            }
        };
        let low = module(process.find(0x5000_0000, 16));
        let high = module(process.find(0x9_0000_0000, 16));
        assert_eq!(
            (AddressSpace::chip(low), AddressSpace::chip(high), low >> 1 == high >> 1),
            (0, 1, false)
        );
        assert_eq!(process.find(0xffff_fff0, 32), None, "a transfer does not cross 4 GiB");
        process.remove(3);
        assert!(process.pointer(Ea::Local { rank: 3, offset: 0 }).is_none());
    }

    #[test]
    fn bytes_are_copied_between_pointers() {
        let mut store = [0_u64; 64];
        let mut memory = vec![7_u64; 16];
        let (mut process, base) = process(&mut store);
        let there = process.find(memory.as_mut_ptr() as u64, 128);
        let (Some(AddressTarget::Bytes(there)), Some(AddressTarget::Bytes(here))) =
            (there, process.find(base, 128))
        else {
            unreachable!("both are bytes");
        };
        assert!(process.copy(there, here, 128));
        assert_eq!(store[..17], [[7; 16].as_slice(), &[0]].concat());
        assert_eq!(process.line(there), Some([7; 16]));
        let mut new = [7; 16];
        new[3] = 9;
        assert_eq!(process.exchange(there, &[7; 16], &new), Some(true));
        assert_eq!((memory[3], process.exchange(there, &[7; 16], &[8; 16])), (9, Some(false)));
        let Some(AddressTarget::Bytes(nowhere)) = process.find(64, 16) else {
            unreachable!("it is an address")
        };
        assert!(!process.copy(here, nowhere, 16) && !process.copy(nowhere, here, 16));
        assert!(!process.is_there(nowhere, 4, false) && process.is_there(there, 128, true));
        let text = b"text that nobody may write".as_ptr() as u64;
        let Some(AddressTarget::Bytes(text)) = process.find(text, 8) else {
            unreachable!("it is an address")
        };
        assert!(process.is_there(text, 8, false) && !process.is_there(text, 8, true));
    }
}
