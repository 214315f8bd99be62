//! Long messages between local stores, along a pattern.

use crate::channels::{
    Bed, ChannelProgram, Channels, Ea, ProgramNeeds, SignalNumber, TransferOrder, dma,
};
use seatmap_data::pattern::{Edge, Pattern};
use seatmap_machines::workload::elapsed_ticks;

/// The most tasks: each message is announced by a bit of a signal register.
pub const MOST_TASKS: usize = 31;
/// The part of the 256 KiB local store that messages can use, besides code and stack.
const ROOM_BYTES: u32 = 192 << 10;

/// A message from one task to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongMessage {
    /// The task that sends.
    pub from: usize,
    /// The task that receives.
    pub to: usize,
    /// The step in which it is sent. A task starts a step when its messages of the previous step
    /// have arrived.
    pub step: usize,
    /// Bytes, a multiple of 16.
    pub size_bytes: u32,
}

/// Tasks that send each other long messages in steps, the program with which Sudheer et al. 2009
/// measure affinities ("Optimizing assignment of threads to SPEs on the Cell BE processor"). A
/// message is put into the receiver's local store in pieces of 16 KiB, or less if the store cannot
/// hold one piece from each sender. A signal announces the complete message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongMessages {
    /// Tasks, at most 31.
    pub tasks: usize,
    /// All messages with their steps.
    pub messages: Vec<LongMessage>,
    /// Repetitions of all steps.
    pub rounds: u32,
}

/// The result of one task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LongMessageResult {
    /// Its start, in cycles.
    pub began: u64,
    /// Its end, in cycles.
    pub ended: u64,
    /// Sent bytes.
    pub bytes: u64,
    /// The sum of the received messages' first words.
    pub sum: u64,
}

impl LongMessages {
    /// Creates a pattern's messages. If every edge's partners have numbers that differ in one bit
    /// (trees, recursive doubling, butterflies), each bit is a step; otherwise all messages are in
    /// one. The heaviest edge sends `largest_bytes`, others in proportion. Returns `None` if there
    /// are too many tasks, or if no task sends.
    pub fn along(pattern: &Pattern, largest_bytes: u32, rounds: u32) -> Option<Self> {
        let heaviest = pattern.edges.iter().map(|edge| edge.bytes).fold(0.0, f64::max);
        if heaviest <= 0.0 || !(2..=MOST_TASKS).contains(&pattern.tasks) {
            return None;
        }
        let messages = pattern
            .edges
            .iter()
            .map(|edge| LongMessage {
                from: edge.from,
                to: edge.to,
                step: step(pattern, edge),
                size_bytes: ((f64::from(largest_bytes) * edge.bytes / heaviest / 16.0)
                    .ceil()
                    .max(1.0) as u32
                    * 16)
                    .min(largest_bytes),
            })
            .collect();
        Some(LongMessages { tasks: pattern.tasks, messages, rounds })
    }

    /// Steps per round.
    pub fn steps(&self) -> usize {
        self.messages.iter().map(|message| message.step + 1).max().unwrap_or(0)
    }

    fn most_at_once(&self) -> u32 {
        (0..self.tasks)
            .flat_map(|to| {
                (0..self.steps()).map(move |step| {
                    self.messages.iter().filter(|m| m.to == to && m.step == step).count()
                })
            })
            .max()
            .unwrap_or(0) as u32
    }

    /// Size of a piece's receive buffer; longer messages reuse it, as streamed data would.
    fn piece_bytes(&self) -> u32 {
        let largest = self.messages.iter().map(|message| message.size_bytes).max().unwrap_or(0);
        let room = ROOM_BYTES / (1 + self.most_at_once()) / 128 * 128;
        largest.min(room).min(dma::LARGEST_BYTES)
    }

    fn of_step(&self, step: usize) -> impl Iterator<Item = &LongMessage> {
        self.messages.iter().filter(move |message| message.step == step)
    }

    fn busiest_port(&self, task: usize, step: usize) -> u64 {
        let sent = self.of_step(step).filter(|message| message.from == task);
        let received = self.of_step(step).filter(|message| message.to == task);
        let sent: u32 = sent.map(|message| message.size_bytes).sum();
        let received: u32 = received.map(|message| message.size_bytes).sum();
        u64::from(sent.max(received))
    }

    /// A lower bound on the cycles of any placement, for ports that move this many bytes per cycle
    /// in each direction.
    pub fn floor_cycles(&self, port_bytes_per_cycle: f64) -> f64 {
        let bytes = (0..self.tasks)
            .map(|task| (0..self.steps()).map(|step| self.busiest_port(task, step)).sum::<u64>())
            .max()
            .unwrap_or(0)
            * u64::from(self.rounds);
        bytes as f64 / port_bytes_per_cycle
    }
}

/// An edge's step: the bit in which its partners differ, if all edges have such a bit and not only
/// the lowest; otherwise 0.
fn step(pattern: &Pattern, edge: &Edge) -> usize {
    let is_by_bits = pattern.edges.iter().any(|edge| (edge.from ^ edge.to) > 1)
        && pattern.edges.iter().all(|edge| (edge.from ^ edge.to).is_power_of_two());
    if is_by_bits { (edge.from ^ edge.to).trailing_zeros() as usize } else { 0 }
}

impl ChannelProgram for LongMessages {
    type Output = LongMessageResult;

    fn shape(&self) -> ProgramNeeds {
        let local_bytes = (1 + self.most_at_once()) * self.piece_bytes() + 128;
        ProgramNeeds { tasks: self.tasks, local_bytes, memory_bytes: 128, signals_or: true }
    }

    fn task<C: Channels>(&self, channels: &C, rank: usize) -> LongMessageResult {
        let mut moved =
            LongMessageResult { began: channels.cycles(), ..LongMessageResult::default() };
        // Bits of later steps can arrive early.
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
        moved: &mut LongMessageResult,
        heard: &mut u32,
    ) {
        channels.poke(0, &(rank as u32 + round).to_le_bytes());
        let mut waits = 0;
        for message in self.of_step(step).filter(|message| message.from == rank) {
            let place = self
                .of_step(step)
                .filter(|m| m.to == message.to)
                .position(|m| m.from == rank)
                .unwrap_or(0) as u32;
            self.send(channels, message, (1 + place) * self.piece_bytes());
            moved.bytes += u64::from(message.size_bytes);
            waits |= 1;
        }
        channels.wait_tags(waits);
        for message in self.of_step(step).filter(|message| message.from == rank) {
            channels.signal(message.to, SignalNumber::One, 1 << rank);
        }
        let senders =
            self.of_step(step).filter(|m| m.to == rank).fold(0_u32, |bits, m| bits | 1 << m.from);
        while *heard & senders != senders {
            *heard |= channels.signal_read(SignalNumber::One);
        }
        *heard &= !senders;
        for place in 0..self.of_step(step).filter(|m| m.to == rank).count() as u32 {
            let mut word = [0; 4];
            channels.peek((1 + place) * self.piece_bytes(), &mut word);
            moved.sum += u64::from(u32::from_le_bytes(word));
        }
        // Senders of the next step must not overwrite unread data.
        for message in self.of_step(step).filter(|message| message.to == rank) {
            channels.signal(message.from, SignalNumber::Two, 1 << rank);
        }
        let mut missing =
            self.of_step(step).filter(|m| m.from == rank).fold(0_u32, |bits, m| bits | 1 << m.to);
        while missing != 0 {
            missing &= !channels.signal_read(SignalNumber::Two);
        }
    }

    fn send<C: Channels>(&self, channels: &C, message: &LongMessage, offset: u32) {
        let mut left = message.size_bytes;
        while left > 0 {
            let size = left.min(self.piece_bytes());
            channels.put(
                0,
                Ea::Local { rank: message.to as u16, offset },
                size,
                0,
                TransferOrder::Free,
            );
            left -= size;
        }
    }
}

/// Runs messages over channels, with rank r on `seats[r]`, and returns their time in nanoseconds.
///
/// # Errors
/// The machine's error.
pub fn messages_ns<B: Bed>(
    bed: &mut B,
    messages: &LongMessages,
    seats: &[u32],
    seed: u64,
) -> Result<f64, B::Error> {
    let tasks = bed.run(seats, messages, seed)?;
    let ticks = elapsed_ticks(tasks.iter().map(|task| (task.began, task.ended)));
    Ok(ticks as f64 * bed.ns_per_cycle())
}
