//! The atomic units alone; all other events come in any order.

use super::*;
use crate::catalog;
use proptest::prelude::*;

const UNITS: u16 = 4;

fn units() -> (AtomicUnits, EventOutbox) {
    let timing = catalog::load("cell-qs20").unwrap().unwrap().timing();
    (AtomicUnits::new(UNITS.into(), &timing), EventOutbox::default())
}

fn word(offset: u32) -> Ea {
    Ea::Memory { module: 0, offset }
}

fn add(offset: u32) -> AtomicRequest {
    AtomicRequest { kind: Atomic::Add, at: word(offset), value: 1 }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Waits {
    Nothing,
    Order(Ea),
    AtomicLine,
    Claim,
    Half,
}

struct AtomicsHarness {
    units: AtomicUnits,
    out: EventOutbox,
    waits: [Waits; UNITS as usize],
    operations: [AtomicRequest; UNITS as usize],
    versions: [u64; 2],
    reserved: [u64; UNITS as usize],
    words: [u32; 2],
    done: u32,
}

fn index(at: Ea) -> usize {
    (at.offset() / LINE_BYTES) as usize
}

impl AtomicsHarness {
    fn new() -> Self {
        let (units, out) = units();
        AtomicsHarness {
            units,
            out,
            waits: [Waits::Nothing; UNITS as usize],
            operations: [add(0); UNITS as usize],
            versions: [0; 2],
            reserved: [0; UNITS as usize],
            words: [0; 2],
            done: 0,
        }
    }

    fn go_on(&mut self, unit: u16, fresh: AtomicRequest) {
        let at = unit as usize;
        let lost = self.units.lost();
        let line = index(self.operations[at].at);
        let stands = self.versions[line] == self.reserved[at];
        let step = match self.waits[at] {
            Waits::Nothing => {
                self.operations[at] = fresh;
                let step = self.units.begin(unit, fresh, &mut self.out);
                return self.waits_for(unit, step, true);
            }
            Waits::Order(ea) => {
                self.units.order(unit, ea, self.out.now());
                self.reserved[at] = self.versions[line];
                self.waits[at] = Waits::AtomicLine;
                return;
            }
            Waits::AtomicLine => self.units.receive(unit, &mut self.out),
            Waits::Claim => self.units.claimed(unit, &mut self.out),
            Waits::Half => self.units.half_done(unit, &mut self.out),
        };
        let is_lost = self.units.lost() > lost;
        assert_eq!(is_lost, !stands, "unit {unit} fails exactly if the line has changed: {step:?}");
        self.waits_for(unit, step, is_lost);
    }

    fn waits_for(&mut self, unit: u16, step: AtomicAction, begins: bool) {
        let at = unit as usize;
        let line = index(self.operations[at].at);
        self.waits[at] = match step {
            AtomicAction::Reserve(ea) => Waits::Order(ea),
            AtomicAction::Claim(_) => Waits::Claim,
            AtomicAction::Cached => {
                if begins {
                    self.reserved[at] = self.versions[line];
                }
                Waits::Half
            }
            AtomicAction::Done(operation) => {
                self.done += 1;
                if operation.kind != Atomic::Read {
                    self.versions[line] += 1;
                    self.words[line] += 1;
                }
                Waits::Nothing
            }
            AtomicAction::Held(_) | AtomicAction::Put(..) => {
                unreachable!("no half of an atomic was asked for")
            }
        };
    }
}

proptest! {
    #[test]
    fn store_fails_exactly_if_line_changed(
        steps in proptest::collection::vec((0..UNITS, 0_u32..2, 0_u8..8), 1..400)
    ) {
        let mut bench = AtomicsHarness::new();
        for (unit, line, chance) in steps {
            if chance == 0 {
                bench.units.written(word(line * LINE_BYTES + 64));
                bench.versions[line as usize] += 1;
            } else {
                let kind = if chance == 1 { Atomic::Read } else { Atomic::Add };
                bench.go_on(unit, AtomicRequest { kind, ..add(line * LINE_BYTES) });
            }
        }
        for unit in 0..UNITS {
            for _ in 0..20 {
                if bench.waits[unit as usize] != Waits::Nothing {
                    bench.go_on(unit, add(0));
                }
            }
            prop_assert_eq!(bench.waits[unit as usize], Waits::Nothing);
        }
        let stored: u32 = bench.words.iter().sum();
        prop_assert!(stored <= bench.done);
    }
}

#[test]
fn changed_line_comes_from_owning_cache() {
    let (mut units, mut out) = units();
    assert_eq!(units.begin(1, add(4), &mut out), AtomicAction::Reserve(word(4)));
    assert_eq!(units.order(1, word(4), 0), None, "memory has it");
    assert_eq!(units.receive(1, &mut out), AtomicAction::Claim(word(4)));
    assert_eq!(units.claimed(1, &mut out), AtomicAction::Done(add(4)));
    assert_eq!(units.begin(2, add(8), &mut out), AtomicAction::Reserve(word(8)));
    assert_eq!(units.order(2, word(8), 0), Some(1), "both words are in one line, and SPE 1 has it");
    assert_eq!(units.order(3, word(8), 0), Some(1), "it has the line still");
}

#[test]
fn cached_line_is_not_read_from_memory() {
    let (mut units, _) = units();
    assert_eq!(units.order(0, word(0), 0), None);
    assert_eq!(units.order(3, word(0), 0), Some(0), "nobody has changed it");
    units.written(word(0));
    assert_eq!(units.order(1, word(0), 0), None, "a transfer has emptied all caches");
}

#[test]
fn owner_needs_no_bus_command() {
    let (mut units, mut out) = units();
    units.begin(0, add(0), &mut out);
    units.order(0, word(0), 0);
    units.receive(0, &mut out);
    units.claimed(0, &mut out);
    assert_eq!(units.begin(0, add(0), &mut out), AtomicAction::Cached);
    let half = units.half;
    assert_eq!(out.deliver(), Some((half, CellBeEvent::AtomicHalf(0))));
    assert_eq!(units.half_done(0, &mut out), AtomicAction::Cached);
    assert_eq!(out.deliver(), Some((2 * half, CellBeEvent::AtomicHalf(0))));
    assert_eq!(units.half_done(0, &mut out), AtomicAction::Done(add(0)));
    assert_eq!(units.lost(), 0);
}

#[test]
fn failed_store_restarts_after_back_off() {
    let (mut units, mut out) = units();
    units.backoff = 50;
    units.begin(0, add(0), &mut out);
    units.order(0, word(0), 0);
    units.written(word(0));
    assert_eq!(units.receive(0, &mut out), AtomicAction::Cached);
    assert_eq!((out.deliver(), units.lost()), (Some((50, CellBeEvent::AtomicHalf(0))), 1));
    assert_eq!(
        units.half_done(0, &mut out),
        AtomicAction::Reserve(word(0)),
        "the line is gone as well"
    );
}

#[test]
#[should_panic(expected = "the atomic unit of SPE 3 at core cycle 0: a line arrives during Idle")]
fn unrequested_line_panics() {
    let (mut units, mut out) = units();
    units.receive(3, &mut out);
}

#[test]
#[should_panic(expected = "the atomic unit of SPE 0 at core cycle 0")]
fn second_concurrent_atomic_panics() {
    let (mut units, mut out) = units();
    units.begin(0, add(0), &mut out);
    units.begin(0, add(128), &mut out);
}
