//! Long messages between local stores, along a pattern.

use seatmap_port::channels::{Channels, Ea, Order, Program, Register, Shape, dma};

/// A message of one task to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who sends.
    pub from: usize,
    /// Who receives.
    pub to: usize,
    /// The step in which it is sent; a task begins a step when its messages of the one before are there.
    pub step: usize,
}

/// Tasks that send each other long messages, step by step, as Sudheer et al. 2009 measure affinities with ("Optimizing
/// assignment of threads to SPEs on the Cell BE processor"): each message is put into the receiver's local store in pieces of
/// 16 KiB, and the receiver is signalled when it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongMessages {
    /// Tasks, 31 at most.
    pub tasks: usize,
    /// Who sends to whom, and when.
    pub messages: Vec<Message>,
    /// Bytes of a message, a multiple of 16.
    pub size_bytes: u32,
    /// How often all steps are gone through.
    pub rounds: u32,
}

/// What a task saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// When it began, in cycles.
    pub began: u64,
    /// When it ended.
    pub ended: u64,
    /// Bytes that it sent.
    pub bytes: u64,
    /// The sum of the first words that it received.
    pub sum: u64,
}

impl LongMessages {
    /// Steps of a round.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.messages.iter().map(|message| message.step + 1).max().unwrap_or(0)
    }

    fn most_at_once(&self) -> u32 {
        let into = |to: usize, step: usize| self.messages.iter().filter(|m| m.to == to && m.step == step).count();
        (0..self.tasks).flat_map(|to| (0..self.steps()).map(move |step| into(to, step))).max().unwrap_or(0) as u32
    }

    /// A piece lands here; longer messages reuse their place, as streamed data would.
    fn piece_bytes(&self) -> u32 {
        self.size_bytes.min(dma::LARGEST_BYTES)
    }
}

impl Program for LongMessages {
    type Output = Moved;

    fn shape(&self) -> Shape {
        let local_bytes = (1 + self.most_at_once()) * self.piece_bytes() + 128;
        Shape { tasks: self.tasks, local_bytes, memory_bytes: 128, signals_or: true }
    }

    fn task<C: Channels>(&self, channels: &C, rank: usize) -> Moved {
        let mut moved = Moved { began: channels.cycles(), ..Moved::default() };
        // Senders of a later step may be ahead of this task.
        let mut heard = 0;
        for round in 0..self.rounds {
            for step in 0..self.steps() {
                self.step(channels, rank, step, round, &mut moved, &mut heard);
            }
        }
        moved.ended = channels.cycles();
        moved
    }
}

impl LongMessages {
    fn step<C: Channels>(
        &self,
        channels: &C,
        rank: usize,
        step: usize,
        round: u32,
        moved: &mut Moved,
        heard: &mut u32,
    ) {
        let of_step = || self.messages.iter().filter(move |message| message.step == step);
        channels.poke(0, &(rank as u32 + round).to_le_bytes());
        let mut waits = 0;
        for message in of_step().filter(|message| message.from == rank) {
            let place = of_step().filter(|m| m.to == message.to).position(|m| m.from == rank).unwrap_or(0) as u32;
            self.send(channels, message.to, (1 + place) * self.piece_bytes());
            moved.bytes += u64::from(self.size_bytes);
            waits |= 1;
        }
        channels.wait_tags(waits);
        for message in of_step().filter(|message| message.from == rank) {
            channels.signal(message.to, Register::One, 1 << rank);
        }
        let senders = of_step().filter(|m| m.to == rank).fold(0_u32, |bits, m| bits | 1 << m.from);
        while *heard & senders != senders {
            *heard |= channels.signal_read(Register::One);
        }
        *heard &= !senders;
        for place in 0..of_step().filter(|m| m.to == rank).count() as u32 {
            let mut word = [0; 4];
            channels.peek((1 + place) * self.piece_bytes(), &mut word);
            moved.sum += u64::from(u32::from_le_bytes(word));
        }
        // Senders of the next step must not overwrite what was not read yet.
        for message in of_step().filter(|message| message.to == rank) {
            channels.signal(message.from, Register::Two, 1 << rank);
        }
        let mut missing = of_step().filter(|m| m.from == rank).fold(0_u32, |bits, m| bits | 1 << m.to);
        while missing != 0 {
            missing &= !channels.signal_read(Register::Two);
        }
    }

    fn send<C: Channels>(&self, channels: &C, to: usize, offset: u32) {
        let mut left = self.size_bytes;
        while left > 0 {
            let size = left.min(dma::LARGEST_BYTES);
            channels.put(0, Ea::Local { rank: to as u16, offset }, size, 0, Order::Free);
            left -= size;
        }
    }
}
