//! The bytes of the local stores and the memories.

use crate::channels::{DmaError, Ea, ProgramNeeds};
use seatmap_data::invariant;
use seatmap_data::invariant::broken;
use seatmap_sim::moment::at_cycle;

/// Bytes of a bus transfer and of a coherence line.
pub const LINE_BYTES: u32 = 128;

const NAME: &str = "the memory";

#[derive(Clone, Debug, Default)]
pub struct CellBeMemory {
    local: Vec<Vec<u8>>,
    modules: Vec<Vec<u8>>,
}

impl CellBeMemory {
    /// Resizes all stores to a program's needs, and fills them with zeros.
    pub fn reset(&mut self, shape: &ProgramNeeds, modules: usize) {
        reset(&mut self.local, shape.tasks, shape.local_bytes);
        reset(&mut self.modules, modules, shape.memory_bytes);
    }

    /// A range's bytes; empty if some do not exist.
    pub fn at(&self, ea: Ea, size: u32) -> &[u8] {
        let (store, offset) = match ea {
            Ea::Local { rank, offset } => (self.local.get(rank as usize), offset),
            Ea::Memory { module, offset } => (self.modules.get(module as usize), offset),
        };
        store
            .and_then(|store| store.get(offset as usize..offset as usize + size as usize))
            .unwrap_or_default()
    }

    pub fn at_mut(&mut self, ea: Ea, size: u32) -> &mut [u8] {
        let (store, offset) = match ea {
            Ea::Local { rank, offset } => (self.local.get_mut(rank as usize), offset),
            Ea::Memory { module, offset } => (self.modules.get_mut(module as usize), offset),
        };
        store
            .and_then(|store| store.get_mut(offset as usize..offset as usize + size as usize))
            .unwrap_or_default()
    }

    /// Copies at most a line; the requester has checked the addresses.
    pub fn copy(&mut self, from: Ea, to: Ea, size: u32, now: u64) {
        // Both stores are in `self`, so the bytes need an intermediate copy.
        let mut line = [0; LINE_BYTES as usize];
        let line = &mut line[..size as usize];
        let source = self.at(from, size);
        let has_source = source.len() == line.len();
        if has_source {
            line.copy_from_slice(source);
        }
        let target = self.at_mut(to, size);
        let are_there = has_source && target.len() == line.len();
        invariant!(
            are_there,
            at_cycle(NAME, now),
            "{size} bytes from {from} to {to} were checked, and are not all there"
        );
        target.copy_from_slice(line);
    }

    pub fn word(&self, at: Ea, now: u64) -> u32 {
        match self.at(at, 4).try_into() {
            Ok(bytes) => u32::from_le_bytes(bytes),
            Err(_) => broken(
                at_cycle(NAME, now),
                format_args!("the word at {at} was checked, and is not there"),
            ),
        }
    }

    pub fn set_word(&mut self, at: Ea, value: u32, now: u64) {
        let bytes = self.at_mut(at, 4);
        invariant!(
            bytes.len() == 4,
            at_cycle(NAME, now),
            "the word at {at} was checked, and is not there"
        );
        bytes.copy_from_slice(&value.to_le_bytes());
    }

    pub fn check(&self, ea: Ea, size: u32) -> Result<(), DmaError> {
        // In 64 bits, because the sum could wrap in 32.
        let end = u64::from(ea.offset()) + u64::from(size);
        let (what, store) = match ea {
            Ea::Local { rank, .. } => {
                let wrong = DmaError::Rank { rank: rank as usize, tasks: self.local.len() };
                ("a transfer in a local store", self.local.get(rank as usize).ok_or(wrong)?)
            }
            Ea::Memory { module, .. } => {
                let wrong =
                    DmaError::Module { module: module as usize, modules: self.modules.len() };
                ("a transfer in main memory", self.modules.get(module as usize).ok_or(wrong)?)
            }
        };
        if end <= store.len() as u64 {
            Ok(())
        } else {
            Err(DmaError::Beyond { what, end, size: store.len() as u64 })
        }
    }
}

fn reset(stores: &mut Vec<Vec<u8>>, count: usize, bytes: u32) {
    stores.resize_with(count, Vec::new);
    for store in stores {
        store.clear();
        store.resize(bytes as usize, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> CellBeMemory {
        let mut memory = CellBeMemory::default();
        memory.reset(
            &ProgramNeeds { tasks: 2, local_bytes: 256, memory_bytes: 256, signals_or: false },
            1,
        );
        memory
    }

    #[test]
    fn writes_are_read_at_the_same_address() {
        let mut memory = memory();
        let own = Ea::Local { rank: 1, offset: 16 };
        memory.set_word(Ea::Memory { module: 0, offset: 132 }, 0x0403_0201, 0);
        memory.copy(Ea::Memory { module: 0, offset: 128 }, own, 128, 0);
        assert_eq!(
            (memory.at(own, 8), memory.word(own.further(4), 0)),
            (&[0, 0, 0, 0, 1, 2, 3, 4][..], 0x0403_0201)
        );
        memory.reset(
            &ProgramNeeds { tasks: 2, local_bytes: 256, memory_bytes: 256, signals_or: false },
            1,
        );
        assert_eq!(memory.at(own, 256 - 16), [0; 240], "a run starts with zeros");
    }

    #[test]
    fn addresses_beyond_memory_are_refused() {
        let memory = memory();
        let beyond =
            memory.check(Ea::Memory { module: 0, offset: 250 }, 16).unwrap_err().to_string();
        assert!(beyond.contains("ends at 0x10a, beyond its 0x100 bytes"), "{beyond}");
        assert!(memory.check(Ea::Memory { module: 1, offset: 0 }, 16).is_err());
        assert!(memory.check(Ea::Local { rank: 2, offset: 0 }, 16).is_err());
    }

    #[test]
    #[should_panic(expected = "the memory at core cycle 5: 16 bytes from byte 0xf8 of memory 0")]
    fn copy_beyond_memory_panics() {
        memory().copy(
            Ea::Memory { module: 0, offset: 248 },
            Ea::Local { rank: 0, offset: 0 },
            16,
            5,
        );
    }
}
