//! The arbiter alone, and the rules of the rings on random traffic.

use super::*;
use crate::catalog;
use proptest::prelude::*;

const MEMORY: usize = 11;

fn timing() -> CellBeTiming {
    catalog::load("cell-ps3").unwrap().unwrap().timing()
}

#[derive(Clone, Copy, Debug)]
struct TransferRequest {
    time: u64,
    source: usize,
    target: usize,
}

#[derive(Clone, Copy, Debug)]
struct Moved {
    asked: TransferRequest,
    ring: usize,
    start: u64,
    arrives: u64,
}

impl Moved {
    fn segments(&self, bus: u64) -> Vec<(usize, u64)> {
        let mut element = self.asked.source;
        let mut time = self.start;
        let mut passed = Vec::new();
        while element != self.asked.target {
            let next = if self.ring < RINGS / 2 { (element + 1) % 12 } else { (element + 11) % 12 };
            passed.push((if self.ring < RINGS / 2 { element } else { next }, time));
            (element, time) = (next, time + bus);
        }
        passed
    }
}

fn run(asked: &[TransferRequest]) -> Vec<Moved> {
    let mut arbiter = DataArbiter::new(0, MEMORY, &timing());
    let mut out = EventOutbox::default();
    let mut moved = Vec::new();
    let mut left = Vec::new();
    for (id, transfer) in asked.iter().enumerate() {
        // No other component sends commands here, so each command stands for a request.
        out.send(transfer.time, CellBeEvent::Command(id as u32));
    }
    while let Some((now, event)) = out.deliver() {
        match event {
            CellBeEvent::Command(id) => {
                let TransferRequest { source, target, .. } = asked[id as usize];
                arbiter.request(id, source, target, &mut out);
            }
            CellBeEvent::Arbitrate(0) => {
                moved.extend(arbiter.arbitrate(&mut out).iter().map(|grant| Moved {
                    asked: asked[grant.transaction as usize],
                    ring: grant.ring as usize,
                    start: now,
                    arrives: grant.arrives,
                }))
            }
            CellBeEvent::LeftRing(id) => left.push((id, now)),
            other => panic!("{other:?}"),
        }
    }
    left.sort_unstable();
    assert!(left.iter().map(|(id, _)| *id as usize).eq(0..asked.len()), "each transfer ends once");
    moved
}

fn overlaps(mut intervals: Vec<(u64, u64)>) -> bool {
    intervals.sort_unstable();
    intervals.windows(2).any(|pair| pair[0].1 > pair[1].0)
}

fn traffic() -> impl Strategy<Value = Vec<TransferRequest>> {
    let one = (0_u64..12, 0_usize..12, 1_usize..12);
    proptest::collection::vec(one, 1..200).prop_map(|all| {
        let mut time = 0;
        let asked = |(gap, source, further): (u64, usize, usize)| {
            time += gap;
            TransferRequest { time, source, target: (source + further) % 12 }
        };
        all.into_iter().map(asked).collect()
    })
}

proptest! {
    #[test]
    fn no_segment_carries_two_transfers_at_once(asked in traffic()) {
        let moved = run(&asked);
        let timing = timing();
        for ring in 0..RINGS {
            for segment in 0..12 {
                let on_ring = moved.iter().filter(|one| one.ring == ring);
                let passes = on_ring.flat_map(|one| one.segments(timing.bus)).filter(|(at, _)| *at == segment);
                prop_assert!(!overlaps(passes.map(|(_, time)| (time, time + timing.transfer)).collect()));
            }
        }
    }

    #[test]
    fn ring_limits_and_spaces_its_transfers(asked in traffic()) {
        let moved = run(&asked);
        let timing = timing();
        for ring in 0..RINGS {
            let on_ring: Vec<&Moved> = moved.iter().filter(|one| one.ring == ring).collect();
            for one in &on_ring {
                let at_once = on_ring.iter().filter(|other| other.start <= one.start && other.arrives > one.start);
                prop_assert!(at_once.count() <= 3);
            }
            let starts = on_ring.iter().map(|one| (one.start, one.start + timing.ring_gap));
            prop_assert!(!overlaps(starts.collect()));
        }
    }

    #[test]
    fn data_takes_the_shorter_direction(asked in traffic()) {
        let timing = timing();
        for one in run(&asked) {
            let segments = one.segments(timing.bus);
            let up = (one.asked.target + 12 - one.asked.source) % 12;
            prop_assert_eq!(segments.len(), up.min(12 - up));
            prop_assert!(segments.len() <= 6);
            prop_assert_eq!(one.arrives, one.start + segments.len() as u64 * timing.bus + timing.transfer);
        }
    }

    #[test]
    fn port_handles_one_transfer_per_direction(asked in traffic()) {
        let moved = run(&asked);
        let timing = timing();
        for element in 0..12 {
            let sent = moved.iter().filter(|one| one.asked.source == element);
            prop_assert!(!overlaps(sent.map(|one| (one.start, one.start + timing.transfer)).collect()));
            let received = moved.iter().filter(|one| one.asked.target == element);
            prop_assert!(!overlaps(received.map(|one| (one.arrives - timing.transfer, one.arrives)).collect()));
        }
    }

    #[test]
    fn element_sends_in_request_order(asked in traffic()) {
        let moved = run(&asked);
        for element in 0..12 {
            let of = |asked: &TransferRequest| (asked.time, asked.target);
            let sent = moved.iter().map(|one| &one.asked).filter(|one| one.source == element);
            let sent: Vec<_> = sent.map(of).collect();
            let wanted: Vec<_> = asked.iter().filter(|one| one.source == element).map(of).collect();
            prop_assert_eq!(sent, wanted);
        }
    }

    #[test]
    fn lone_transfer_starts_at_next_bus_cycle(asked in traffic()) {
        // Alone, each transfer starts in the bus cycle of its request or the next.
        for one in asked.into_iter().take(12) {
            let moved = run(&[one]);
            prop_assert_eq!(moved[0].start, one.time.next_multiple_of(2));
        }
    }
}

fn neighbours(asked: &[(u64, usize)]) -> Vec<(u64, usize)> {
    let asked = asked.iter().map(|(time, source)| TransferRequest {
        time: *time,
        source: *source,
        target: (source + 1) % 12,
    });
    let mut starts: Vec<_> = run(&asked.collect::<Vec<_>>())
        .iter()
        .map(|moved| (moved.start, moved.asked.source))
        .collect();
    starts.sort_unstable();
    starts
}

#[test]
fn memory_has_priority_and_others_alternate() {
    assert_eq!(neighbours(&[(0, 3), (0, 1), (0, MEMORY)]), [(0, 1), (0, MEMORY), (6, 3)]);
    assert_eq!(neighbours(&[(0, 5), (0, 3), (0, 1)]), [(0, 1), (0, 3), (6, 5)]);
    // Element 9 has had no grant and precedes 5 and 7 in the second round; 5 precedes 7, as in the
    // first.
    let later = [(20, 5), (20, 7), (20, 9)];
    assert_eq!(
        neighbours(&[&[(0, 5), (0, 7)], &later[..]].concat()),
        [(0, 5), (0, 7), (20, 5), (20, 9), (26, 7)]
    );
}

fn shares(sources: &[usize], each: usize, count: usize) -> Vec<usize> {
    let asked = (0..each).flat_map(|_| {
        sources.iter().map(|source| TransferRequest { time: 0, source: *source, target: MEMORY })
    });
    let mut moved = run(&asked.collect::<Vec<_>>());
    moved.sort_by_key(|one| one.start);
    let of =
        |source: &usize| moved[..count].iter().filter(|one| one.asked.source == *source).count();
    sources.iter().map(of).collect()
}

#[test]
fn near_and_far_elements_share_target_equally() {
    // Elements 0 and 10 are the memory's neighbours; 4 and 6 are five hops away, and 5 six.
    for sources in [vec![10, 9, 8, 7, 1, 2, 3, 4], vec![10, 7], vec![0, 5, 10], (0..11).collect()] {
        let shares = shares(&sources, 100, 40 * sources.len());
        assert!(shares.iter().all(|share| *share == 40), "{sources:?}: {shares:?}");
    }
}

#[test]
#[should_panic(
    expected = "the data arbiter of chip 0 at core cycle 0: transaction 7 goes from 3 to 3"
)]
fn transfer_to_same_element_panics() {
    DataArbiter::new(0, MEMORY, &timing()).request(7, 3, 3, &mut EventOutbox::default());
}

#[test]
fn reset_clears_the_arbiter() {
    let mut arbiter = DataArbiter::new(0, MEMORY, &timing());
    let mut out = EventOutbox::default();
    for target in 1..5 {
        arbiter.request(target as u32, 0, target, &mut out);
    }
    assert_eq!(arbiter.arbitrate(&mut out).len(), 1);
    arbiter.reset();
    assert_eq!(arbiter.counters(), RingCounters::default());
    out.clear();
    arbiter.request(9, 0, 1, &mut out);
    assert_eq!(out.drain(), [(0, CellBeEvent::Arbitrate(0))]);
}
