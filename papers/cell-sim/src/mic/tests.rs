//! The memory alone: its latency, its sustained rate, and its rules on random traffic.

use super::*;
use crate::catalog;
use crate::event::CellBeEvent;
use proptest::prelude::*;

const LINE: u32 = LINE_BYTES;

fn timing(name: &str) -> CellBeTiming {
    catalog::load(name).unwrap().unwrap().timing()
}

struct MicHarness {
    mic: Mic,
    out: EventOutbox,
    timing: CellBeTiming,
    ended: Vec<(u32, u64)>,
}

impl MicHarness {
    fn new(timing: CellBeTiming) -> Self {
        MicHarness {
            mic: Mic::new(0, &timing),
            out: EventOutbox::default(),
            timing,
            ended: Vec::new(),
        }
    }

    fn advance(&mut self, time: u64) {
        self.out.send(time, CellBeEvent::Resume(0));
        while let Some((now, event)) = self.out.deliver() {
            match event {
                CellBeEvent::Resume(_) => return,
                CellBeEvent::MemoryTurn(channel) => self.mic.turn(channel.into(), &mut self.out),
                CellBeEvent::DataReady(id) | CellBeEvent::Delivered(id) => {
                    self.ended.push((id, now))
                }
                other => panic!("{other:?}"),
            }
        }
    }

    fn ask(&mut self, id: u32, offset: u32, written: Option<u32>) -> bool {
        match written {
            None => self.mic.read(id, offset, &mut self.out),
            Some(size) => {
                let has_place = self.mic.expect_write(offset);
                if has_place {
                    self.mic.write(id, offset, size, &mut self.out);
                }
                has_place
            }
        }
    }

    fn sustained(mut self, lines: impl Iterator<Item = (u32, Option<u32>)>) -> f64 {
        let mut count = 0;
        for (offset, written) in lines {
            while !self.ask(count, offset, written) {
                let time = self.out.now() + 4;
                self.advance(time);
            }
            count += 1;
        }
        let time = self.out.now() + 100_000;
        self.advance(time);
        let last = self.ended.iter().map(|(_, end)| *end).max().unwrap();
        last as f64 / f64::from(count)
    }
}

/// 25.6 GB/s is 128 bytes in 16 core cycles.
fn gbps(cycles: f64) -> f64 {
    25.6 * 16.0 / cycles
}

#[test]
fn lone_line_takes_pin_time_and_latency() {
    for name in ["cell-qs20", "cell-qs22"] {
        let mut bench = MicHarness::new(timing(name));
        let CellBeTiming { mic_line: line, mic_latency: latency, mic_to_write: to_write, .. } =
            bench.timing;
        // A channel that has been idle for a while turns in no time.
        bench.advance(100);
        assert!(bench.ask(0, 0, None) && bench.ask(1, LINE, Some(128)), "lines on two channels");
        bench.advance(1400);
        assert_eq!(bench.ended, [(1, 100 + line), (0, 100 + line + latency)], "{name}");
        assert!(bench.ask(2, 3 * LINE, None) && bench.ask(3, 2 * LINE, Some(8)));
        bench.advance(2000);
        let modified = 1400 + 2 * line + to_write;
        assert_eq!(bench.ended[2..], [(3, modified), (2, 1400 + line + latency)], "{name}");
    }
}

#[test]
fn banks_overlap_their_row_cycles() {
    let mut bench = MicHarness::new(timing("cell-qs20"));
    let CellBeTiming { mic_line: line, mic_latency: latency, bank_read, .. } = bench.timing;
    // Bank 0 twice, then bank 2 of the same channel.
    for (id, offset) in [(0, 0), (1, 16 * LINE), (2, 2 * LINE)] {
        assert!(bench.ask(id, offset, None));
    }
    bench.advance(1400);
    assert_eq!(
        bench.ended,
        [(0, line + latency), (2, 2 * line + latency), (1, bank_read + line + latency)]
    );
}

#[test]
fn pin_turnaround_is_shorter_between_bank_sets() {
    let timing = timing("cell-qs20");
    let CellBeTiming { mic_line: line, mic_to_write, mic_to_read, mic_to_read_other_set, .. } =
        timing;
    // Banks 0, 4 and 8 are one set of the first channel; bank 2 is in the other.
    let ends = |bank: u32| {
        let mut bench = MicHarness::new(CellBeTiming { mic_batch: 1, ..timing.clone() });
        for (id, bank, written) in [(0, 0, None), (1, 4, Some(128)), (2, bank, None)] {
            assert!(bench.ask(id, bank * LINE, written));
        }
        bench.advance(1400);
        let write = bench.ended[0].1;
        (write, bench.ended[2].1 - bench.timing.mic_latency)
    };
    let write = 2 * line + mic_to_write;
    assert_eq!(ends(8), (write, write + mic_to_read + line));
    assert_eq!(ends(2), (write, write + mic_to_read_other_set + line));
}

#[test]
fn full_queues_refuse_until_line_is_served() {
    let mut bench = MicHarness::new(timing("cell-qs20"));
    let reads = (0..1000).take_while(|id| bench.ask(*id, 16 * LINE * id, None)).count() as u64;
    assert_eq!(reads, bench.timing.mic_read_queue + 1, "one is on the pins");
    let writes = (0..1000).take_while(|_| bench.mic.expect_write(0)).count() as u64;
    assert_eq!((writes, bench.mic.counters().retries), (bench.timing.mic_write_queue, 2));
    let time = bench.timing.bank_read + 1;
    bench.advance(time);
    assert!(bench.ask(1000, 0, None));
}

#[test]
#[should_panic(expected = "memory channel 0 at core cycle 0: Write of transaction 4 has no place")]
fn unannounced_write_panics() {
    MicHarness::new(timing("cell-qs20")).mic.write(4, 0, 128, &mut EventOutbox::default());
}

fn stream(written: Option<u32>) -> impl Iterator<Item = (u32, Option<u32>)> {
    (0..20_000).map(move |line| (line * LINE, written))
}

#[test]
fn stream_loses_only_refresh_and_turnaround() {
    let xdr = || MicHarness::new(timing("cell-qs20"));
    // A refresh takes a line's time: 10 of 488 ns.
    let reads = gbps(xdr().sustained(stream(None)));
    assert!((25.0..25.2).contains(&reads), "{reads}");
    let still = CellBeTiming { refresh_interval: 0, ..timing("cell-qs20") };
    let unrefreshed = gbps(MicHarness::new(still).sustained(stream(None)));
    assert!((25.5..=25.6).contains(&unrefreshed), "{unrefreshed}");
    let writes = gbps(xdr().sustained(stream(Some(128))));
    assert!((writes - reads).abs() < 0.1, "{writes}");
    let mixed = gbps(
        xdr().sustained((0..20_000).map(|line| (line * LINE, (line / 2 % 2 == 0).then_some(128)))),
    );
    assert!(mixed < 0.95 * reads, "{mixed}");
    let ddr2 = gbps(MicHarness::new(timing("cell-qs22")).sustained(stream(None)));
    assert!((24.5..25.5).contains(&ddr2), "{ddr2}");
}

#[test]
fn lines_of_one_bank_get_one_sixteenth() {
    let one_bank = (0..2000).map(|line| (line * 16 * LINE, None));
    let found = gbps(MicHarness::new(timing("cell-qs20")).sustained(one_bank));
    assert!((2.8..=3.2).contains(&found), "a line in 40 ns and the refresh of the bank: {found}");
}

fn overlaps(mut intervals: Vec<(u64, u64)>) -> bool {
    intervals.sort_unstable();
    intervals.windows(2).any(|pair| pair[0].1 > pair[1].0)
}

fn requests() -> impl Strategy<Value = Vec<(u64, u32, Option<u32>)>> {
    let written = prop_oneof![2 => Just(None), 1 => Just(Some(128)), 1 => Just(Some(4))];
    proptest::collection::vec((0_u64..80, 0_u32..40, written), 1..300)
}

proptest! {
    #[test]
    fn lines_complete_without_overlap(requests in requests(), is_ddr2: bool) {
        let mut bench = MicHarness::new(timing(if is_ddr2 { "cell-qs22" } else { "cell-qs20" }));
        let mut time = 0;
        let mut accepted = Vec::new();
        for (id, (gap, line, written)) in requests.into_iter().enumerate() {
            time += gap;
            bench.advance(time);
            if bench.ask(id as u32, line * LINE, written) {
                accepted.push((id as u32, line, written));
            }
        }
        bench.advance(time + 200_000);
        let mut ended = bench.ended.clone();
        ended.sort_unstable();
        prop_assert!(ended.iter().map(|(id, _)| *id).eq(accepted.iter().map(|(id, ..)| *id)));
        let CellBeTiming { mic_line, mic_latency, mic_to_write, bank_read, bank_write, .. } = bench.timing;
        let spans = ended.iter().zip(&accepted).map(|((_, end), (_, line, written))| match written {
            None => (*line, end - mic_latency - mic_line, mic_line, bank_read),
            Some(128) => (*line, end - mic_line, mic_line, bank_write),
            _ => (*line, end - 2 * mic_line - mic_to_write, 2 * mic_line + mic_to_write, bank_read + bank_write),
        });
        for number in 0..16 {
            let pins = spans.clone().filter(|(line, ..)| line % 2 == number % 2);
            prop_assert!(!overlaps(pins.map(|(_, begin, pins, _)| (begin, begin + pins)).collect()));
            let bank = spans.clone().filter(|(line, ..)| line % 16 == number);
            prop_assert!(!overlaps(bank.map(|(_, begin, _, row)| (begin, begin + row)).collect()));
        }
        let counters = bench.mic.counters();
        prop_assert_eq!(counters.reads + counters.writes, accepted.len() as u64);
        prop_assert!(counters.busy_cycles >= accepted.len() as u64 * bench.timing.mic_line);
    }
}

#[test]
fn reset_memory_equals_new_memory() {
    let mut bench = MicHarness::new(timing("cell-qs22"));
    for id in 0..20 {
        assert!(bench.ask(id, 0, None));
    }
    bench.advance(9000);
    bench.mic.reset();
    assert_eq!(bench.mic.counters(), MicCounters::default());
    bench.out.clear();
    bench.ended.clear();
    assert!(bench.ask(7, 0, None));
    bench.advance(1400);
    assert_eq!(bench.ended, [(7, bench.timing.mic_line + bench.timing.mic_latency)]);
}
