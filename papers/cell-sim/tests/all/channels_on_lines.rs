//! Channels on lines compared with their documentation. Threads yield, so any number of CPUs
//! suffices.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use proptest::prelude::*;
use seatmap_cell_sim::channels::lines::{self, ChannelLayout, LineChannels, OnLines, PortLines};
use seatmap_cell_sim::channels::{
    Atomic, ChannelProgram, Channels, DmaError, Ea, Element, ProgramNeeds, SignalNumber,
    TransferOrder,
};
use seatmap_data::port::{Addr, Port, Stamp, Workload};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

struct Shared(Vec<AtomicU64>);

impl Shared {
    fn of(layout: ChannelLayout) -> Self {
        Shared((0..layout.lines() * 8).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Port for Shared {
    fn load(&self, word: Addr) -> u64 {
        self.0[word.0 as usize].load(SeqCst)
    }

    fn store(&self, word: Addr, value: u64) {
        self.0[word.0 as usize].store(value, SeqCst);
    }

    fn fetch_add(&self, word: Addr, value: u64) -> u64 {
        self.0[word.0 as usize].fetch_add(value, SeqCst)
    }

    fn compare_exchange(&self, word: Addr, current: u64, new: u64) -> Result<u64, u64> {
        self.0[word.0 as usize].compare_exchange(current, new, SeqCst, SeqCst)
    }

    fn wait_while(&self, word: Addr, value: u64) -> u64 {
        while self.load(word) == value {
            std::thread::yield_now();
        }
        self.load(word)
    }

    fn stamp(&self) -> Stamp {
        Stamp::default()
    }

    fn compute(&self, _cycles: u64) {}

    fn pause(&self) {
        std::thread::yield_now();
    }
}

/// Runs a program on threads; an error is the first rejected transfer.
fn run<T: ChannelProgram>(program: &T, modules: usize) -> Result<Vec<T::Output>, DmaError> {
    let workload = OnLines::new(program, modules).unwrap();
    let shared = Shared::of(workload.layout());
    std::thread::scope(|scope| {
        let tasks = (0..workload.tasks()).map(|rank| {
            let workload = &workload;
            let shared = &shared;
            scope.spawn(move || workload.task(shared, rank))
        });
        let tasks: Vec<_> = tasks.collect();
        let ends: Vec<_> = tasks.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        let refused =
            |end: &std::thread::Result<T::Output>| lines::refused(&**end.as_ref().err()?).cloned();
        match ends.iter().find_map(refused) {
            Some(error) => Err(error),
            None => Ok(ends.into_iter().map(Result::unwrap).collect()),
        }
    })
}

const SHAPE: ProgramNeeds =
    ProgramNeeds { tasks: 3, local_bytes: 4096, memory_bytes: 8192, signals_or: false };

struct Mail;

impl ChannelProgram for Mail {
    type Output = Vec<u32>;

    fn shape(&self) -> ProgramNeeds {
        SHAPE
    }

    fn task<C: Channels>(&self, channels: &C, rank: usize) -> Vec<u32> {
        let mut seen = vec![0; 3];
        for number in 1..=500u32 {
            (0..3)
                .filter(|to| *to != rank)
                .for_each(|to| channels.mailbox_write(to, number << 2 | rank as u32));
            // No task runs ahead by more than a mailbox holds; otherwise all could wait for room.
            let wanted = if number == 500 { number } else { number - 1 };
            while (0..3).any(|from| from != rank && seen[from] < wanted) {
                let value = channels.mailbox_read();
                let from = (value & 3) as usize;
                assert_eq!(value >> 2, seen[from] + 1, "from {from} to {rank}");
                seen[from] += 1;
            }
        }
        seen
    }
}

#[test]
fn mail_arrives_once_in_sender_order() {
    for seen in run(&Mail, 1).unwrap() {
        assert_eq!(seen.iter().sum::<u32>(), 1000);
    }
}

/// The two others' outboxes fill up while the first task reads them.
struct Outboxes;

impl ChannelProgram for Outboxes {
    type Output = Vec<u32>;

    fn shape(&self) -> ProgramNeeds {
        SHAPE
    }

    fn task<C: Channels>(&self, channels: &C, rank: usize) -> Vec<u32> {
        let number = |round: u32, rank: usize| 10 * round + rank as u32;
        match rank {
            0 => (0..300).map(|round| channels.outbox_read(1 + round % 2)).collect(),
            _ => {
                (0..150).for_each(|round| channels.outbox_write(number(round, rank)));
                Vec::new()
            }
        }
    }
}

#[test]
fn outbox_holds_one_value_without_loss() {
    let read = run(&Outboxes, 1).unwrap().remove(0);
    let wanted: Vec<u32> = (0..150).flat_map(|round| [10 * round + 1, 10 * round + 2]).collect();
    assert_eq!(read, wanted);
}

struct TwoReaders;

impl ChannelProgram for TwoReaders {
    type Output = Vec<u32>;

    fn shape(&self) -> ProgramNeeds {
        SHAPE
    }

    fn task<C: Channels>(&self, channels: &C, rank: usize) -> Vec<u32> {
        match rank {
            0 => {
                (0..200).for_each(|value| channels.outbox_write(value));
                Vec::new()
            }
            _ => (0..100).map(|_| channels.outbox_read(0)).collect(),
        }
    }
}

#[test]
fn each_value_reaches_one_of_two_readers() {
    let mut read = run(&TwoReaders, 1).unwrap().concat();
    read.sort_unstable();
    assert_eq!(read, (0..200).collect::<Vec<_>>());
}

struct Signals {
    signals_or: bool,
}

impl ChannelProgram for Signals {
    type Output = u32;

    fn shape(&self) -> ProgramNeeds {
        ProgramNeeds { signals_or: self.signals_or, ..SHAPE }
    }

    fn task<C: Channels>(&self, channels: &C, rank: usize) -> u32 {
        let both = if self.signals_or { 0b110 } else { 0b010 };
        for _ in 0..200 {
            match rank {
                0 => {
                    let mut seen = 0;
                    while seen != both {
                        seen |= channels.signal_read(SignalNumber::Two);
                    }
                    (1..3)
                        .filter(|to| both >> to & 1 == 1)
                        .for_each(|to| channels.signal(to, SignalNumber::One, 7));
                }
                _ if both >> rank & 1 == 1 => {
                    channels.signal(0, SignalNumber::Two, 1 << rank);
                    assert_eq!(channels.signal_read(SignalNumber::One), 7);
                }
                _ => {}
            }
        }
        both
    }
}

#[test]
fn signals_gather_or_overwrite_and_count_repeats() {
    assert_eq!(run(&Signals { signals_or: true }, 1).unwrap(), [0b110; 3]);
    assert_eq!(run(&Signals { signals_or: false }, 1).unwrap(), [0b010; 3]);
}

struct Count;

impl ChannelProgram for Count {
    type Output = [u32; 2];

    fn shape(&self) -> ProgramNeeds {
        SHAPE
    }

    fn task<C: Channels>(&self, channels: &C, _rank: usize) -> [u32; 2] {
        let [low, high] = [0, 4].map(|offset| Ea::Memory { module: 1, offset });
        for _ in 0..100 {
            channels.atomic(Atomic::Add, low, u32::MAX);
            channels.atomic(Atomic::Add, high, 3);
        }
        [low, high].map(|at| channels.atomic(Atomic::Read, at, 0))
    }
}

#[test]
fn atomics_change_only_their_half_word() {
    let seen = run(&Count, 2).unwrap();
    assert!(seen.contains(&[0u32.wrapping_sub(300), 900]), "{seen:?}");
}

struct Refused(fn(&dyn Channels));

impl ChannelProgram for Refused {
    type Output = ();

    fn shape(&self) -> ProgramNeeds {
        ProgramNeeds { tasks: 1, ..SHAPE }
    }

    fn task<C: Channels>(&self, channels: &C, _rank: usize) {
        (self.0)(channels);
    }
}

#[test]
fn invalid_transfer_ends_run_with_dma_error() {
    let memory = |module, offset| Ea::Memory { module, offset };
    let refusal = |body| run(&Refused(body), 1).unwrap_err();
    assert_eq!(
        refusal(|c| c.get(0, Ea::Memory { module: 0, offset: 0 }, 24, 0, TransferOrder::Free)),
        DmaError::Size(24)
    );
    assert_eq!(
        refusal(|c| c.get(0, Ea::Memory { module: 1, offset: 0 }, 16, 0, TransferOrder::Free)),
        DmaError::Module { module: 1, modules: 1 }
    );
    assert_eq!(
        refusal(|c| c.put(0, Ea::Local { rank: 5, offset: 0 }, 16, 0, TransferOrder::Free)),
        DmaError::Rank { rank: 5, tasks: 1 }
    );
    assert!(matches!(
        refusal(|c| c.put(0, Ea::Memory { module: 0, offset: 8192 }, 16, 0, TransferOrder::Free)),
        DmaError::Beyond { end: 8208, size: 8192, .. }
    ));
    assert!(matches!(
        refusal(|c| c.peek(4095, &mut [0; 2])),
        DmaError::Beyond { end: 4097, size: 4096, .. }
    ));
    assert_eq!(refusal(|c| c.get_list(0, &[], 0, TransferOrder::Free)), DmaError::List(0));
    assert_eq!(
        refusal(|c| {
            c.atomic(Atomic::Add, Ea::Memory { module: 0, offset: 2 }, 1);
        }),
        DmaError::Atomic(memory(0, 2))
    );
    assert_eq!(refusal(|c| c.mailbox_write(9, 0)), DmaError::Rank { rank: 9, tasks: 1 });
}

fn alone(
    body: impl Fn(&LineChannels<'_, PortLines<'_, Shared>>) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let layout = ChannelLayout::new(ProgramNeeds { tasks: 1, ..SHAPE }, 1).unwrap();
    body(&LineChannels::new(&PortLines(&Shared::of(layout)), layout, 0))
}

fn transfer() -> impl Strategy<Value = (u32, u32, u32)> {
    let small =
        (0u32..4, 0u32..100, 0u32..200, 0u32..16).prop_map(|(power, local, memory, within)| {
            let size = 1 << power;
            let within = within / size * size;
            (16 * local + within, 16 * memory + within, size)
        });
    let whole = (0u32..100, 0u32..200, 1u32..50)
        .prop_map(|(local, memory, size)| (16 * local, 16 * memory, 16 * size));
    prop_oneof![small, whole]
}

proptest! {
    #[test]
    fn transfers_move_exactly_the_requested_bytes(
        moves in proptest::collection::vec((any::<bool>(), transfer()), 1..20), seed in any::<u8>(),
    ) {
        alone(|channels| {
            let mut local: Vec<u8> = (0..4096u32).map(|at| (at * 31) as u8 ^ seed).collect();
            let mut memory = vec![0; 8192];
            channels.poke(0, &local);
            for (is_get, (at, offset, size)) in &moves {
                let own = *at as usize..(at + size) as usize;
                let far = *offset as usize..(offset + size) as usize;
                let ea = Ea::Memory { module: 0, offset: *offset };
                if *is_get {
                        channels.get(*at, ea, *size, 3, TransferOrder::Free);
                        local[own].copy_from_slice(&memory[far]);
                    } else {
                        channels.put(*at, ea, *size, 3, TransferOrder::Free);
                        memory[far].copy_from_slice(&local[own]);
                    }
            }
            let mut found = vec![0; 4096];
            channels.peek(0, &mut found);
            prop_assert_eq!(&found, &local);
            let pieces = [0, 4096].map(|offset| {
                channels.get(0, Ea::Memory { module: 0, offset }, 4096, 0, TransferOrder::Free);
                channels.peek(0, &mut found);
                found.clone()
            });
            prop_assert_eq!(pieces.concat(), memory);
            Ok(())
        })?;
    }

    #[test]
    fn poked_bytes_are_peeked_at_same_address(at in 0u32..4000, bytes in proptest::collection::vec(any::<u8>(), 0..90)) {
        alone(|channels| {
            channels.poke(at, &bytes);
            let mut around = vec![9; bytes.len() + 2];
            channels.peek(at.saturating_sub(1), &mut around);
            let from = usize::from(at > 0);
            prop_assert_eq!(&around[from..from + bytes.len()], &bytes[..]);
            prop_assert_eq!(around[bytes.len() + 1], 0);
            Ok(())
        })?;
    }
}

#[test]
fn list_gathers_scattered_elements() {
    alone(|channels| {
        channels.poke(0, &[1; 16]);
        channels.poke(16, &[2; 16]);
        let element = |offset| Element { ea: Ea::Memory { module: 0, offset }, size: 16 };
        channels.put_list(0, &[element(1024), element(256)], 0, TransferOrder::Free);
        channels.get_list(512, &[element(256), element(1024)], 0, TransferOrder::Fence);
        channels.wait_tags(1);
        let mut found = [0; 32];
        channels.peek(512, &mut found);
        prop_assert_eq!(found.to_vec(), [[2; 16], [1; 16]].concat());
        Ok(())
    })
    .unwrap();
}
