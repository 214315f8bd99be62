//! The controller alone: its queue rules on random commands, with lines completed in any order.

use super::*;
use crate::catalog;
use crate::channels::SignalNumber;
use proptest::prelude::*;

fn timing() -> CellBeTiming {
    catalog::load("cell-ps3").unwrap().unwrap().timing()
}

#[derive(Clone, Debug)]
struct BusRequest {
    tag: u8,
    order: TransferOrder,
    elements: Vec<Element>,
}

impl BusRequest {
    fn lines(&self) -> Vec<(Ea, u32)> {
        let mut lines: Vec<(Ea, u32)> = Vec::new();
        for element in &self.elements {
            for byte in 0..element.size {
                let ea = element.ea.further(byte);
                match lines.last_mut() {
                    Some((_, size)) if byte > 0 && ea.offset() % 128 != 0 => *size += 1,
                    _ => lines.push((ea, 1)),
                }
            }
        }
        lines
    }

    fn command(&self, number: usize) -> MfcCommand {
        let work = MfcOperation::Message {
            register: MappedRegister::Signal(SignalNumber::One),
            to: number as u16,
            value: 0,
        };
        MfcCommand { work, local: 0, first: self.elements[0], tag: self.tag, order: self.order }
    }
}

fn element() -> impl Strategy<Value = Element> {
    (0_u32..40, 1_u32..30).prop_map(|(at, size)| Element {
        ea: Ea::Memory { module: 0, offset: 16 * at },
        size: 16 * size,
    })
}

fn asked() -> impl Strategy<Value = BusRequest> {
    let order = prop_oneof![3 => Just(TransferOrder::Free), 1 => Just(TransferOrder::Fence), 1 => Just(TransferOrder::Barrier)];
    (0_u8..3, order, proptest::collection::vec(element(), 1..4))
        .prop_map(|(tag, order, elements)| BusRequest { tag, order, elements })
}

struct MfcHarness {
    mfc: Mfc,
    out: EventOutbox,
    asked: Vec<BusRequest>,
    lines: Vec<Vec<(Ea, u32)>>,
    latencies: fastrand::Rng,
    enqueued: usize,
    issued: Vec<Vec<(Ea, u32)>>,
    complete: Vec<usize>,
    under_way: Vec<(usize, u8)>,
}

impl MfcHarness {
    fn new(asked: Vec<BusRequest>, seed: u64) -> Self {
        let count = asked.len();
        MfcHarness {
            mfc: Mfc::new(0, &timing()),
            out: EventOutbox::default(),
            lines: asked.iter().map(BusRequest::lines).collect(),
            asked,
            latencies: fastrand::Rng::with_seed(seed),
            enqueued: 0,
            issued: vec![Vec::new(); count],
            complete: vec![0; count],
            under_way: Vec::new(),
        }
    }

    fn is_complete(&self, command: usize) -> bool {
        self.complete[command] == self.lines[command].len()
    }

    fn queued(&self) -> Vec<usize> {
        (0..self.enqueued).filter(|command| !self.is_complete(*command)).collect()
    }

    fn enqueue_all(&mut self) {
        while self.enqueued < self.asked.len() && self.mfc.finds_room() {
            let asked = &self.asked[self.enqueued];
            self.mfc.enqueue(asked.command(self.enqueued), &asked.elements[1..], &mut self.out);
            self.enqueued += 1;
        }
    }

    fn issue(&mut self) {
        let Some(request) = self.mfc.issue(&mut self.out) else { return };
        let MfcOperation::Message { to, .. } = request.work else { panic!("{request:?}") };
        self.check_order(to as usize);
        self.issued[to as usize].push((request.ea, request.size));
        self.under_way.push((to as usize, request.entry));
        let there = self.out.now() + self.latencies.u64(1..400);
        self.out.send(there, CellBeEvent::Delivered(self.under_way.len() as u32 - 1));
        self.mfc.issue_next(&mut self.out);
    }

    fn check_order(&self, command: usize) {
        for earlier in self.queued().into_iter().filter(|earlier| *earlier < command) {
            let first = &self.asked[earlier];
            let second = &self.asked[command];
            let holds_back =
                second.order != TransferOrder::Free || first.order == TransferOrder::Barrier;
            assert!(
                first.tag != second.tag || !holds_back,
                "command {command} begins before {earlier} is complete"
            );
        }
    }

    fn step(&mut self) -> bool {
        match self.out.deliver() {
            Some((_, CellBeEvent::IssueLine(0))) => self.issue(),
            Some((now, CellBeEvent::Delivered(line))) => {
                let (command, entry) = self.under_way[line as usize];
                self.complete[command] += 1;
                match self.mfc.complete_line(now, entry) {
                    Some(Wake::Room) => self.enqueue_all(),
                    other => assert_eq!(other, None),
                }
                self.mfc.issue_now(&mut self.out);
            }
            Some((_, other)) => panic!("{other:?}"),
            None => return false,
        }
        true
    }

    fn lines_under_way(&self) -> usize {
        self.under_way.len() - self.complete.iter().sum::<usize>()
    }
}

proptest! {
    #[test]
    fn fences_and_barriers_order_commands(
        asked in proptest::collection::vec(asked(), 1..60), seed: u64
    ) {
        let mut bench = MfcHarness::new(asked, seed);
        bench.enqueue_all();
        // `step` checks every issued line against the rules.
        while bench.step() {}
        prop_assert!(bench.queued().is_empty(), "all end");
        prop_assert_eq!(bench.enqueued, bench.asked.len(), "whoever waited for room was woken");
    }

    #[test]
    fn queue_and_bus_hold_sixteen_each(
        asked in proptest::collection::vec(asked(), 1..60), seed: u64
    ) {
        let mut bench = MfcHarness::new(asked, seed);
        let timing = timing();
        bench.enqueue_all();
        while bench.step() {
            prop_assert!(bench.queued().len() <= 16);
            prop_assert!(bench.lines_under_way() as u64 <= timing.lines_in_flight);
            // The SPU waits only if the queue is full.
            prop_assert!(bench.queued().len() == 16 || bench.enqueued == bench.asked.len());
        }
    }

    #[test]
    fn tag_completes_with_its_last_command(
        asked in proptest::collection::vec(asked(), 1..30), seed: u64
    ) {
        let mut bench = MfcHarness::new(asked, seed);
        bench.enqueue_all();
        while bench.step() {
            for tags in 0..8 {
                let is_pending = bench.queued().iter().any(|command| tags >> bench.asked[*command].tag & 1 == 1);
                // On a copy, because the check makes an SPU wait.
                prop_assert_eq!(bench.mfc.clone().finds_complete(tags), !is_pending);
            }
        }
    }

    #[test]
    fn list_elements_split_into_lines_in_order(
        asked in proptest::collection::vec(asked(), 1..30), seed: u64
    ) {
        let mut bench = MfcHarness::new(asked, seed);
        bench.enqueue_all();
        while bench.step() {}
        prop_assert_eq!(bench.lines, bench.issued);
    }

    #[test]
    fn tag_wait_ends_with_last_command(
        asked in proptest::collection::vec(asked(), 1..16), seed: u64, tags in 1_u32..8
    ) {
        let mut bench = MfcHarness::new(asked, seed);
        bench.enqueue_all();
        let mut waits = !bench.mfc.finds_complete(tags);
        while let Some((now, event)) = bench.out.deliver() {
            match event {
                CellBeEvent::IssueLine(_) => bench.issue(),
                CellBeEvent::Delivered(line) => {
                    let (command, entry) = bench.under_way[line as usize];
                    bench.complete[command] += 1;
                    let is_pending = bench.queued().iter().any(|command| tags >> bench.asked[*command].tag & 1 == 1);
                    let wake = bench.mfc.complete_line(now, entry);
                    prop_assert_eq!(wake, (waits && !is_pending).then_some(Wake::Tags));
                    waits &= is_pending;
                    bench.mfc.issue_now(&mut bench.out);
                }
                other => panic!("{other:?}"),
            }
        }
        prop_assert!(!waits);
    }
}

fn one(size: u32) -> BusRequest {
    BusRequest {
        tag: 5,
        order: TransferOrder::Free,
        elements: vec![Element { ea: Ea::Memory { module: 0, offset: 0 }, size }],
    }
}

#[test]
fn lines_are_issued_at_bus_rate() {
    let timing = timing();
    let mut mfc = Mfc::new(3, &timing);
    let mut out = EventOutbox::default();
    mfc.enqueue(one(512).command(0), &[], &mut out);
    let mut times = Vec::new();
    while let Some((now, event)) = out.deliver() {
        assert_eq!(event, CellBeEvent::IssueLine(3));
        if mfc.issue(&mut out).is_some() {
            times.push(now);
            mfc.issue_next(&mut out);
        }
    }
    let first = timing.channel + timing.dma_start;
    assert_eq!(times, [0, 1, 2, 3].map(|line| first + line * timing.line_gap));
    assert_eq!((mfc.commands(), mfc.full()), (1, 0));
}

#[test]
fn list_element_fetch_delays_transfer() {
    let timing = timing();
    let mut mfc = Mfc::new(0, &timing);
    let mut out = EventOutbox::default();
    let list = one(16);
    mfc.enqueue(list.command(0), &list.elements, &mut out);
    let mut times = Vec::new();
    while let Some((now, _)) = out.deliver() {
        if mfc.issue(&mut out).is_some() {
            times.push(now);
            mfc.issue_next(&mut out);
        }
    }
    assert_eq!(times[1] - times[0], timing.list_element);
}

#[test]
#[should_panic(expected = "the MFC of SPE 2 at core cycle 0: no entry is free for MfcCommand")]
fn command_to_full_queue_panics() {
    let mut mfc = Mfc::new(2, &timing());
    let mut out = EventOutbox::default();
    for number in 0..=16 {
        assert_eq!(mfc.clone().finds_room(), number < 16);
        mfc.enqueue(one(16).command(number), &[], &mut out);
    }
}

#[test]
#[should_panic(
    expected = "the MFC of SPE 0 at core cycle 70: a line of entry 0 ends that was not under way"
)]
fn second_completion_of_line_panics() {
    let mut mfc = Mfc::new(0, &timing());
    let mut out = EventOutbox::default();
    mfc.enqueue(one(16).command(0), &[], &mut out);
    mfc.complete_line(70, 0);
}
