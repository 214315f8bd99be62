//! The programs, written over [`Channels`]: the PPE's part over the calls of a style, and the SPUs'
//! part.

use super::inputs::{CostKind, Inputs};
use super::light::Light;
use super::linux::Linux;
use crate::cellule::costs::TimedCall;
use crate::cellule::libspe2::style::LibraryStyle;
use crate::cellule::problem::TaskStride;
use seatmap_cell_sim::channels::{
    ChannelProgram, Channels, Ea, ProgramNeeds, SignalNumber, TransferOrder,
};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes of a block that an SPE moves at once: the most of one transfer.
const BLOCK: u32 = 16 << 10;
const OPTION_BLOCKS: u32 = 4;
/// Options of such a block, of four numbers each.
const OPTIONS: f64 = 4096.0;
const ROWS: u32 = 64;
const RUNNING: u64 = u64::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpeComputation {
    /// The paper's microbenchmark: 16 KiB are fetched, added to, and written back.
    Addition,
    Matrix(u32),
    BlackScholes(u32),
}

impl SpeComputation {
    fn tasks(self, spes: usize) -> u32 {
        match self {
            SpeComputation::Addition => spes as u32,
            SpeComputation::Matrix(size) => (size / ROWS).pow(2),
            SpeComputation::BlackScholes(blocks) => blocks,
        }
    }

    fn memory(self, spes: usize) -> u32 {
        match self {
            SpeComputation::Addition => spes as u32 * BLOCK,
            // Two factors and the product.
            SpeComputation::Matrix(size) => 3 * (size / ROWS).pow(2) * BLOCK,
            // A block's inputs, and a quarter of their size for its prices.
            SpeComputation::BlackScholes(blocks) => blocks * (OPTION_BLOCKS + 1) * BLOCK,
        }
    }
}

pub struct ProgramRun {
    pub style: LibraryStyle,
    pub work: SpeComputation,
    pub times: u32,
    pub spes: usize,
    pub inputs: Inputs,
    pub cycles_per_us: f64,
    /// The time of the first timer interrupt, or the used part of the partition's slice, as a share
    /// of a period (0 to 1).
    pub phase: f64,
    pub is_perturbed: bool,
    pub signs: Vec<Sign>,
}

#[derive(Debug)]
pub struct Sign {
    has_answered: AtomicBool,
    stopped_at: AtomicU64,
}

impl Default for Sign {
    fn default() -> Self {
        Sign { has_answered: AtomicBool::new(false), stopped_at: AtomicU64::new(RUNNING) }
    }
}

impl Sign {
    pub fn has_answered(&self) -> bool {
        self.has_answered.load(Ordering::Relaxed)
    }

    pub fn stopped_at(&self) -> Option<u64> {
        Some(self.stopped_at.load(Ordering::Relaxed)).filter(|at| *at != RUNNING)
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallTicks {
    pub calls: BTreeMap<TimedCall, u64>,
    /// From the first load to the last join.
    pub whole: u64,
    /// The kernel's share of the CPU time, from 0 to 1; `None` without a kernel.
    pub kernel_share: Option<f64>,
}

pub trait SpeCalls {
    fn map(&self);
    fn load(&self);
    fn create(&self, spe: usize);
    fn write(&self, spe: usize, message: u32);
    fn sees_answer(&self, spe: usize) -> bool;
    fn read(&self, spe: usize);
    fn join(&self, spe: usize);
    /// The total ticks of all calls of `spe_context_run`.
    fn run_ticks(&self) -> u64;
    fn kernel_share(&self) -> Option<f64>;
}

/// The PPE's program, the same in both styles. Its calls have the order of the C program that times
/// them on this computer (`cell/calls.c`).
fn control<C: Channels>(channels: &C, calls: &impl SpeCalls, spes: usize, times: u32) -> CallTicks {
    let mut ticks = CallTicks::default();
    ticks.add(channels, TimedCall::MapPS, || (0..spes).for_each(|_| calls.map()));
    let began = channels.decrementer();
    ticks.add(channels, TimedCall::PgmLoad, || (0..spes).for_each(|_| calls.load()));
    ticks.add(channels, TimedCall::ThrCreate, || (0..spes).for_each(|spe| calls.create(spe)));
    ticks.add(channels, TimedCall::MBoxWr, || (0..spes).for_each(|spe| calls.write(spe, times)));
    // Waits first, so that the timed reads find their messages.
    for spe in 0..spes {
        while !calls.sees_answer(spe) {}
    }
    ticks.add(channels, TimedCall::MBoxRd, || (0..spes).for_each(|spe| calls.read(spe)));
    ticks.add(channels, TimedCall::ThrJoin, || (0..spes).for_each(|spe| calls.join(spe)));
    ticks.whole = since(channels, began);
    ticks.calls.insert(TimedCall::CtxRun, calls.run_ticks());
    ticks.kernel_share = calls.kernel_share();
    ticks
}

impl CallTicks {
    fn add<C: Channels>(&mut self, channels: &C, call: TimedCall, work: impl FnOnce()) {
        let began = channels.decrementer();
        work();
        self.calls.insert(call, since(channels, began));
    }
}

/// Ticks of the time base since `began`: it counts down.
pub fn since<C: Channels>(channels: &C, began: u32) -> u64 {
    u64::from(began.wrapping_sub(channels.decrementer()))
}

impl ProgramRun {
    /// Core cycles of an input; at least one, so that a polling loop takes time.
    pub fn cycles(&self, cost: CostKind) -> u64 {
        (self.inputs.value(cost) * self.cycles_per_us).max(1.0) as u64
    }

    /// An SPE waits for its start and for a message with the number of repetitions, answers when
    /// all are done, and stops.
    fn spu<C: Channels>(&self, channels: &C, spe: usize) {
        channels.signal_read(SignalNumber::One);
        let times = channels.mailbox_read();
        let part = TaskStride { first: spe as u32, step: self.spes as u32 };
        for _ in 0..times {
            for task in TaskStride::tasks(part.argument(), self.work.tasks(self.spes)) {
                self.task(channels, task);
            }
        }
        channels.outbox_write(times);
        let sign = &self.signs[spe];
        sign.has_answered.store(true, Ordering::Relaxed);
        channels.compute(self.cycles(CostKind::SpuEnd));
        sign.stopped_at.store(channels.cycles(), Ordering::Relaxed);
    }

    fn task<C: Channels>(&self, channels: &C, task: u32) {
        match self.work {
            SpeComputation::Addition => {
                get(channels, 0, task, 0);
                channels.wait_tags(1);
                channels.compute(self.cycles(CostKind::Add));
                put(channels, 0, task);
            }
            SpeComputation::Matrix(size) => self.product(channels, size / ROWS, task),
            SpeComputation::BlackScholes(blocks) => {
                for part in 0..OPTION_BLOCKS {
                    get(channels, part, task * OPTION_BLOCKS + part, 0);
                }
                channels.wait_tags(1);
                let prices_us = OPTIONS * self.inputs.value(CostKind::Price);
                channels.compute((prices_us * self.cycles_per_us) as u64);
                put(channels, OPTION_BLOCKS, blocks * OPTION_BLOCKS + task);
            }
        }
    }

    /// Two blocks are fetched while two others are multiplied, as in the kernel whose cost is used.
    fn product<C: Channels>(&self, channels: &C, blocks: u32, task: u32) {
        let row = task / blocks;
        let column = task % blocks;
        let all = blocks * blocks;
        for k in 0..=blocks {
            if k < blocks {
                let half = k % 2;
                get(channels, 2 * half, row * blocks + k, half as u8);
                get(channels, 2 * half + 1, all + k * blocks + column, half as u8);
            }
            if k > 0 {
                channels.wait_tags(1 << ((k - 1) % 2));
                channels.compute(self.cycles(CostKind::Multiply));
            }
        }
        put(channels, 4, 2 * all + task);
    }
}

fn get<C: Channels>(channels: &C, local: u32, block: u32, tag: u8) {
    channels.get(local * BLOCK, memory(block), BLOCK, tag, TransferOrder::Free);
}

fn put<C: Channels>(channels: &C, local: u32, block: u32) {
    channels.put(local * BLOCK, memory(block), BLOCK, 2, TransferOrder::Free);
    channels.wait_tags(1 << 2);
}

fn memory(block: u32) -> Ea {
    Ea::Memory { module: 0, offset: block * BLOCK }
}

impl ChannelProgram for ProgramRun {
    type Output = Option<CallTicks>;

    fn shape(&self) -> ProgramNeeds {
        ProgramNeeds {
            tasks: 1 + self.spes,
            local_bytes: (OPTION_BLOCKS + 1) * BLOCK,
            memory_bytes: self.work.memory(self.spes),
            signals_or: false,
        }
    }

    fn task<C: Channels>(&self, channels: &C, rank: usize) -> Option<CallTicks> {
        let Some(spe) = rank.checked_sub(1) else {
            let ticks = match self.style {
                LibraryStyle::Cell => {
                    control(channels, &Light::new(channels, self), self.spes, self.times)
                }
                LibraryStyle::Linux => {
                    control(channels, &Linux::new(channels, self), self.spes, self.times)
                }
            };
            return Some(ticks);
        };
        self.spu(channels, spe);
        None
    }
}
