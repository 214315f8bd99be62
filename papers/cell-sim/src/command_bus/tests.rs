//! The command network alone: slots, lines, and the rules on random traffic.

use super::*;
use crate::catalog;
use proptest::prelude::*;

fn timing() -> CellBeTiming {
    catalog::load("cell-qs20").unwrap().unwrap().timing()
}

struct BusHarness {
    bus: CommandBus,
    out: EventOutbox,
    granted: Vec<(u32, u64)>,
}

impl BusHarness {
    fn new() -> Self {
        BusHarness {
            bus: CommandBus::new(2, 0, &timing()),
            out: EventOutbox::default(),
            granted: Vec::new(),
        }
    }

    fn send(&mut self, transaction: u32, from: RingElement, reach: Reach) {
        let command = BusCommand { transaction, from, reach, line: 0, since: self.out.now() };
        let at_once = self.bus.send(command, &mut self.out);
        self.note(at_once);
    }

    fn note(&mut self, granted: impl IntoIterator<Item = BusCommand>) {
        let now = self.out.now();
        self.granted.extend(granted.into_iter().map(|command| (command.transaction, now)));
    }

    fn advance(&mut self, time: u64) {
        self.out.send(time, CellBeEvent::Resume(0));
        while let Some((_, event)) = self.out.deliver() {
            match event {
                CellBeEvent::Resume(_) => return,
                _ => {
                    let granted = self.bus.turn(&mut self.out);
                    self.note(granted.into_iter().flatten());
                }
            }
        }
    }
}

fn spe(chip: u8, element: u8) -> RingElement {
    RingElement { chip, element }
}

#[test]
fn chip_takes_one_command_per_slot() {
    let mut bench = BusHarness::new();
    let gap = bench.bus.gap;
    for (id, chip, reach) in [
        (1, 0, Reach::Chip),
        (2, 0, Reach::Chip),
        (3, 1, Reach::Chip),
        (4, 1, Reach::Both),
        (5, 0, Reach::Chip),
    ] {
        bench.send(id, spe(chip, id as u8), reach);
    }
    bench.advance(1000);
    // The other chip has its own slots; a command to both chips takes a slot of each.
    assert_eq!(bench.granted, [(1, 0), (3, 0), (2, gap), (5, 2 * gap), (4, 3 * gap)]);
    let counters = bench.bus.counters();
    assert_eq!((counters.commands, counters.wait_cycles), (5, 6 * gap));
    assert_eq!(counters.element_wait_cycles[4], 3 * gap);
}

#[test]
fn chips_share_global_slots_equally() {
    let mut bench = BusHarness::new();
    let gap = bench.bus.gap;
    for id in 0..80 {
        bench.send(id, spe((id / 40) as u8, 1), Reach::Both);
    }
    bench.advance(40 * gap - 1);
    let of_first = bench.granted.iter().filter(|(id, _)| *id < 40).count();
    assert_eq!((bench.granted.len(), of_first), (40, 20));
}

#[test]
fn commands_to_same_line_are_serialised() {
    let mut bench = BusHarness::new();
    let snoop = bench.bus.snoop;
    assert_eq!(bench.bus.answer(0, 7, 0), CommandResponse::Response(snoop));
    assert_eq!(bench.bus.answer(2, 8, 440), CommandResponse::Response(2 + snoop + 440));
    assert_eq!(bench.bus.answer(4, 7, 0), CommandResponse::Response(2 * snoop));
    let counters = bench.bus.counters();
    assert_eq!((counters.same_line_commands, counters.same_line_wait_cycles), (1, snoop - 4));
}

#[test]
fn refused_command_is_retried() {
    let mut bus = CommandBus::new(1, 0, &CellBeTiming { command_retry: 30, ..timing() });
    let snoop = bus.snoop;
    assert_eq!(bus.answer(0, 7, 0), CommandResponse::Response(snoop));
    assert_eq!(bus.answer(10, 7, 0), CommandResponse::Retry(10 + snoop + 30));
    assert_eq!(bus.answer(40 + snoop, 7, 0), CommandResponse::Response(40 + 2 * snoop));
    assert_eq!((bus.counters().same_line_commands, bus.counters().same_line_wait_cycles), (1, 0));
}

proptest! {
    /// Each command has one slot, and no slot of a chip is empty while a command of that chip
    /// waits.
    #[test]
    fn two_commands_never_share_a_slot(
        sent in proptest::collection::vec((0_u64..30, 0_u8..2, 0_u8..12, any::<bool>()), 1..200)
    ) {
        let mut bench = BusHarness::new();
        let gap = bench.bus.gap;
        let mut time = 0;
        let mut of = Vec::new();
        for (id, (pause, chip, element, is_global)) in sent.into_iter().enumerate() {
            time += pause;
            bench.advance(time);
            bench.send(id as u32, spe(chip, element), if is_global { Reach::Both } else { Reach::Chip });
            of.push((chip, is_global, time));
        }
        bench.advance(time + 100_000);
        let mut ids: Vec<u32> = bench.granted.iter().map(|(id, _)| *id).collect();
        ids.sort_unstable();
        prop_assert!(ids.into_iter().eq(0..of.len() as u32));
        for chip in 0..2 {
            let takes = |id: u32| of[id as usize].1 || of[id as usize].0 == chip;
            let starts: Vec<u64> = bench.granted.iter().filter(|(id, _)| takes(*id)).map(|(_, start)| *start).collect();
            prop_assert!(starts.windows(2).all(|pair| pair[1] >= pair[0] + gap), "chip {}: {:?}", chip, starts);
        }
        for (id, start) in &bench.granted {
            prop_assert!(*start >= of[*id as usize].2);
        }
        prop_assert_eq!(bench.out.deliver(), None);
    }
}
