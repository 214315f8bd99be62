//! Addresses of bulk transfers.

/// An effective address: data that a task may be unable to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ea {
    /// Main memory.
    Memory {
        /// The memory module: a NUMA node, or the XDRAM of a chip.
        module: u8,
        /// Bytes from the start of the workload's memory in that module.
        offset: u32,
    },
    /// A task's local store.
    Local {
        /// The task.
        rank: u16,
        /// Bytes from the store's start.
        offset: u32,
    },
}

impl Ea {
    /// Bytes from the start of the memory or local store.
    pub const fn offset(self) -> u32 {
        match self {
            Ea::Memory { offset, .. } | Ea::Local { offset, .. } => offset,
        }
    }

    /// The address `bytes` bytes further.
    pub const fn further(self, bytes: u32) -> Ea {
        match self {
            Ea::Memory { module, offset } => Ea::Memory { module, offset: offset + bytes },
            Ea::Local { rank, offset } => Ea::Local { rank, offset: offset + bytes },
        }
    }
}

impl std::fmt::Display for Ea {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Ea::Memory { module, offset } => write!(f, "byte {offset:#x} of memory {module}"),
            Ea::Local { rank, offset } => {
                write!(f, "byte {offset:#x} of task {rank}'s local store")
            }
        }
    }
}
