//! The options of an experiment.

use seatmap_cell_sim::channels::Atomic;
use seatmap_cell_sim::workload::CollectiveKind;

/// A primitive of CellStats' `-f`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellStatsPrimitive {
    /// Creating a thread.
    MkThread,
    /// A mailbox message and its answer.
    Mailbox,
    /// A signal and its answer.
    Signal,
    /// Adding to a word of memory.
    FetchAdd,
    /// Subtracting from a word of memory.
    FetchSub,
    /// Increasing a word of memory by one.
    FetchInc,
    /// Decreasing a word of memory by one.
    FetchDec,
    /// Setting a word of memory.
    FetchSet,
    /// Fetching a buffer.
    DmaGet,
    /// Sending a buffer.
    DmaPut,
    /// Fetching a list.
    DmaListGet,
    /// Sending a list.
    DmaListPut,
    /// Sending one worker's bytes to all, over a tree (section 5.2).
    Broadcast,
    /// Adding all workers' words at one, over a tree (section 5.2).
    Reduce,
}

impl CellStatsPrimitive {
    /// All primitives with their names on the command line.
    pub const ALL: [(&'static str, CellStatsPrimitive); 14] = [
        ("mkthread", CellStatsPrimitive::MkThread),
        ("mailbox", CellStatsPrimitive::Mailbox),
        ("signal", CellStatsPrimitive::Signal),
        ("fetchadd", CellStatsPrimitive::FetchAdd),
        ("fetchsub", CellStatsPrimitive::FetchSub),
        ("fetchinc", CellStatsPrimitive::FetchInc),
        ("fetchdec", CellStatsPrimitive::FetchDec),
        ("fetchset", CellStatsPrimitive::FetchSet),
        ("dmaget", CellStatsPrimitive::DmaGet),
        ("dmaput", CellStatsPrimitive::DmaPut),
        ("dmalistget", CellStatsPrimitive::DmaListGet),
        ("dmalistput", CellStatsPrimitive::DmaListPut),
        ("broadcast", CellStatsPrimitive::Broadcast),
        ("reduce", CellStatsPrimitive::Reduce),
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        CellStatsPrimitive::ALL
            .iter()
            .find(|(_, function)| *function == self)
            .map_or("", |(name, _)| name)
    }

    /// The atomic operation, if it is one, and its operand.
    pub fn atomic(self) -> Option<(Atomic, u32)> {
        match self {
            CellStatsPrimitive::FetchAdd => Some((Atomic::Add, 3)),
            CellStatsPrimitive::FetchSub => Some((Atomic::Add, 3_u32.wrapping_neg())),
            CellStatsPrimitive::FetchInc => Some((Atomic::Add, 1)),
            CellStatsPrimitive::FetchDec => Some((Atomic::Add, u32::MAX)),
            CellStatsPrimitive::FetchSet => Some((Atomic::Set, 1)),
            _ => None,
        }
    }

    /// Whether it fetches, if it is a bulk transfer.
    pub fn transfer(self) -> Option<bool> {
        match self {
            CellStatsPrimitive::DmaGet | CellStatsPrimitive::DmaListGet => Some(true),
            CellStatsPrimitive::DmaPut | CellStatsPrimitive::DmaListPut => Some(false),
            _ => None,
        }
    }

    /// The collective operation, if it is one.
    pub fn collective(self) -> Option<CollectiveKind> {
        match self {
            CellStatsPrimitive::Broadcast => Some(CollectiveKind::Broadcast),
            CellStatsPrimitive::Reduce => Some(CollectiveKind::Reduce),
            _ => None,
        }
    }

    /// Whether it transfers lists.
    pub fn has_list(self) -> bool {
        matches!(self, CellStatsPrimitive::DmaListGet | CellStatsPrimitive::DmaListPut)
    }
}

/// One experiment, in CellStats' own terms (section 3.1 of the paper).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatsOptions {
    /// `-f`: the function.
    pub function: CellStatsPrimitive,
    /// `-n` or `-N`: workers.
    pub workers: usize,
    /// `-N`: each worker has its own buffer.
    pub is_private: bool,
    /// `-c`: the workers' chip; those without room there are on the other.
    pub chip: usize,
    /// `-m`: the buffers' memory.
    pub module: u8,
    /// `-i`: operations.
    pub iterations: u64,
    /// `-w`: operations of the warm-up.
    pub warm_up: u64,
    /// `-b`: bytes of a buffer, or of a list's element.
    pub size_bytes: u32,
    /// `-s`: between workers: messages without the controller, transfers with the first worker's
    /// local store.
    pub between_workers: bool,
    /// `-t`: bytes from one private buffer to the next.
    pub stride_bytes: Option<u32>,
    /// `-l`: elements of a list.
    pub elements: usize,
    /// Whether the controller sends messages by system calls.
    pub by_system_call: bool,
}

impl StatsOptions {
    /// CellStats' defaults: one worker on chip 0, memory 0, a million operations after a thousand,
    /// words.
    pub fn new(function: CellStatsPrimitive) -> Self {
        StatsOptions {
            function,
            workers: 1,
            is_private: false,
            chip: 0,
            module: 0,
            iterations: 1_000_000,
            warm_up: 1000,
            size_bytes: 4,
            between_workers: false,
            stride_bytes: None,
            elements: 1,
            by_system_call: false,
        }
    }

    /// Bytes between buffers; `None` if all workers share one.
    pub fn stride(&self) -> Option<u32> {
        // By default buffers are consecutive, each on its own lines (128 bytes on the Cell).
        let whole = self.size_bytes.saturating_mul(if self.function.has_list() {
            self.elements as u32
        } else {
            1
        });
        let apart = self
            .stride_bytes
            .unwrap_or_else(|| whole.checked_next_multiple_of(128).unwrap_or(whole));
        self.is_private.then_some(apart)
    }
}
