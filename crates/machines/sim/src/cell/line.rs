//! One bus transaction: a command, a snoop, and up to 128 bytes.

use seatmap_port::channels::Ea;

/// A place on a chip's ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Node {
    pub chip: u8,
    pub place: u8,
}

/// What a transaction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Bytes into the requester's local store.
    Get,
    /// Bytes out of it.
    Put,
    /// A value for a mapped register of another SPE.
    Message(Register),
    /// A line into the requester's atomic cache.
    Reserve,
    /// The right to change it.
    Commit,
}

/// A mapped register that others write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    Mailbox,
    Signal(u8),
}

/// A transaction under way.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub purpose: Purpose,
    /// The SPE that asked for it.
    pub spe: u16,
    /// The place of its command in the MFC.
    pub slot: u8,
    /// Where the data starts, and where it ends.
    pub source: Node,
    pub target: Node,
    pub size: u32,
    pub ea: Ea,
    pub local: u32,
    /// The task that a message is for.
    pub to: u16,
    pub value: u32,
}

/// Transactions by number, used again and again.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    all: Vec<Line>,
    free: Vec<u32>,
}

impl Lines {
    pub fn add(&mut self, line: Line) -> u32 {
        match self.free.pop() {
            Some(at) => {
                self.all[at as usize] = line;
                at
            }
            None => {
                self.all.push(line);
                self.all.len() as u32 - 1
            }
        }
    }

    pub fn get(&self, at: u32) -> Line {
        self.all[at as usize]
    }

    /// A line goes on from another chip's link.
    pub fn set_source(&mut self, at: u32, source: Node) {
        self.all[at as usize].source = source;
    }

    pub fn remove(&mut self, at: u32) -> Line {
        self.free.push(at);
        self.all[at as usize]
    }

    pub fn clear(&mut self) {
        self.all.clear();
        self.free.clear();
    }
}
