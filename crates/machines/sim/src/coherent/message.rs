//! What travels over links.

use crate::coherent::fabric::Lane;
use crate::coherent::line::NONE;

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A core misses a line (step 1 of figure 6 of Liu et al. 2015).
    Request,
    /// The home asks the keeper for it (step 2).
    Fetch,
    /// The home tells a holder to forget it.
    Invalidate,
    /// A cache sends it home (step 3).
    Data,
    /// A cache has forgotten it.
    Forgotten,
    /// The home passes it to who asked (step 4).
    Line,
    /// The home lets the asker write what it holds.
    Grant,
    /// The home has no room: ask again.
    Bounce,
}

impl Kind {
    /// What it travels on.
    #[inline]
    pub fn lane(self) -> Lane {
        match self {
            Kind::Request | Kind::Fetch | Kind::Invalidate => Lane::Address,
            Kind::Data | Kind::Line => Lane::Data,
            Kind::Forgotten | Kind::Grant | Kind::Bounce => Lane::Acknowledge,
        }
    }
}

/// A message on its way.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    pub kind: Kind,
    /// The task that asked.
    pub task: u16,
    /// The cache that it is to, or from.
    pub cache: u16,
    /// Where it is.
    pub at: u16,
    /// Where it goes.
    pub to: u16,
    /// The line.
    pub line: u32,
    /// The next in whatever list it waits in.
    pub next: u32,
}

/// All messages; their places are used again.
#[derive(Clone, Debug)]
pub struct Messages {
    all: Vec<Message>,
    free: u32,
}

impl Default for Messages {
    fn default() -> Self {
        Messages { all: Vec::new(), free: NONE }
    }
}

impl Messages {
    pub fn clear(&mut self) {
        self.all.clear();
        self.free = NONE;
    }

    #[inline]
    pub fn add(&mut self, message: Message) -> u32 {
        if self.free == NONE {
            self.all.push(message);
            return self.all.len() as u32 - 1;
        }
        let place = self.free;
        self.free = self.all[place as usize].next;
        self.all[place as usize] = message;
        place
    }

    #[inline]
    pub fn remove(&mut self, place: u32) {
        self.all[place as usize].next = self.free;
        self.free = place;
    }

    #[inline]
    pub fn get(&self, place: u32) -> Message {
        self.all[place as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, place: u32) -> &mut Message {
        &mut self.all[place as usize]
    }
}
