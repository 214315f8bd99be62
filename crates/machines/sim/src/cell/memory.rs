//! What the local stores and the memories hold.

use seatmap_port::channels::{DmaError, Ea, Shape};

/// Bytes of a bus transfer and of a coherence line.
pub const LINE_BYTES: u32 = 128;

/// All bytes of a run.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    local: Vec<Vec<u8>>,
    modules: Vec<Vec<u8>>,
}

impl Memory {
    /// Zeros in the given shape.
    pub fn reset(&mut self, shape: &Shape, modules: usize) {
        reset(&mut self.local, shape.tasks, shape.local_bytes);
        reset(&mut self.modules, modules, shape.memory_bytes);
    }

    /// The bytes from an address on; empty where there is nothing.
    pub fn at(&self, ea: Ea, size: u32) -> &[u8] {
        let (store, offset) = match ea {
            Ea::Local { rank, offset } => (self.local.get(rank as usize), offset),
            Ea::Memory { module, offset } => (self.modules.get(module as usize), offset),
        };
        store.and_then(|store| store.get(offset as usize..offset as usize + size as usize)).unwrap_or_default()
    }

    /// The same, to write.
    pub fn at_mut(&mut self, ea: Ea, size: u32) -> &mut [u8] {
        let (store, offset) = match ea {
            Ea::Local { rank, offset } => (self.local.get_mut(rank as usize), offset),
            Ea::Memory { module, offset } => (self.modules.get_mut(module as usize), offset),
        };
        store.and_then(|store| store.get_mut(offset as usize..offset as usize + size as usize)).unwrap_or_default()
    }

    /// Copies bytes from one address to another.
    pub fn copy(&mut self, from: Ea, to: Ea, size: u32) {
        let mut line = [0; LINE_BYTES as usize];
        let line = &mut line[..size as usize];
        let source = self.at(from, size);
        if source.len() == line.len() {
            line.copy_from_slice(source);
            let target = self.at_mut(to, size);
            if target.len() == line.len() {
                target.copy_from_slice(line);
            }
        }
    }

    /// The aligned 32-bit word at an address.
    pub fn word(&self, at: Ea) -> u32 {
        self.at(at, 4).try_into().map_or(0, u32::from_le_bytes)
    }

    /// Replaces it.
    pub fn set_word(&mut self, at: Ea, value: u32) {
        let bytes = self.at_mut(at, 4);
        if bytes.len() == 4 {
            bytes.copy_from_slice(&value.to_le_bytes());
        }
    }

    /// Checks that so many bytes lie inside.
    pub fn check(&self, ea: Ea, size: u32) -> Result<(), DmaError> {
        let end = u64::from(ea.offset()) + u64::from(size);
        let (what, store) = match ea {
            Ea::Local { rank, .. } => {
                let wrong = DmaError::Rank { rank: rank as usize, tasks: self.local.len() };
                ("a transfer in a local store", self.local.get(rank as usize).ok_or(wrong)?)
            }
            Ea::Memory { module, .. } => {
                let wrong = DmaError::Module { module: module as usize, modules: self.modules.len() };
                ("a transfer in main memory", self.modules.get(module as usize).ok_or(wrong)?)
            }
        };
        match end <= store.len() as u64 {
            true => Ok(()),
            false => Err(DmaError::Beyond { what, end, size: store.len() as u64 }),
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
