//! A cache alone: its own requests, and snoops that arrive while one is outstanding.

use super::*;
use crate::coherent::parts_for_tests::{
    self as parts, ComponentAction, arrive, message, ring, sent, wishes,
};
use seatmap_data::port::Addr;

const LINE: u32 = 5;
const ALONE: [MessageKind; 2] =
    [MessageKind::Line { exclusive: true }, MessageKind::Grant { exclusive: true }];
const SHARED: MessageKind = MessageKind::Line { exclusive: false };
const INVALIDATE: MessageKind = MessageKind::Invalidate { wants_line: true };

struct CacheHarness {
    layout: Arc<CoherentLayout>,
    cache: Cache,
    out: Outbox,
}

impl CacheHarness {
    fn new() -> Self {
        let layout = Arc::new(ring(8));
        let mut cache = Cache::new(Arc::clone(&layout), 1);
        assert_eq!([7, 8].map(|task| cache.seat(task, 8)), [0, 1]);
        CacheHarness { out: Outbox::new(Arc::clone(&layout)), cache, layout }
    }

    fn access(&mut self, thread: u16, writes: bool) -> bool {
        let word = Addr::line(LINE);
        let request = if writes { LineCall::Store(word, 1) } else { LineCall::Load(word) };
        self.cache.access(thread, LINE, request, &mut self.out)
    }

    fn receive(&mut self, kind: MessageKind, thread: u16) -> Option<Delivery> {
        let message = Message { thread, ..message(&self.layout, kind, 1, 0, LINE) };
        let packet = arrive(&mut self.out, message);
        self.cache.handle(packet, &mut self.out)
    }

    fn get(&mut self, thread: u16, writes: bool, kind: MessageKind) {
        assert!(!self.access(thread, writes));
        wishes(&mut self.out);
        self.cache.expect(thread, 0);
        assert_eq!(self.receive(kind, thread), Some(Delivery { thread, value: None, held: None }));
    }

    fn answers(&mut self) -> Vec<ComponentAction> {
        let cache = &mut self.cache;
        parts::run(&mut self.out, &mut |event, out| match event {
            CoherentEvent::Answer(1, packet) => {
                cache.answer(packet, out);
                true
            }
            _ => false,
        })
    }
}

#[test]
fn miss_asks_the_home_and_keeps_the_answer() {
    let mut bench = CacheHarness::new();
    assert!(!bench.access(0, false));
    let asked = wishes(&mut bench.out);
    let [ComponentAction::Sent(request, time)] = asked[..] else { panic!("{asked:?}") };
    assert_eq!(
        (request.kind, request.from, request.to, time),
        (MessageKind::LineCall { writes: false }, 2, 0, 5)
    );
    bench.cache.expect(0, 0);
    bench.receive(SHARED, 0);
    assert!(bench.access(0, false) && bench.access(1, false));
    assert!(!bench.access(1, true), "sharing is not enough to write");
    let counts = CacheCounts { hits: 2, misses: 2, early_snoops: 0 };
    assert_eq!((bench.cache.counts, bench.cache.state(LINE)), (counts, LineState::Shared));
}

#[test]
fn owner_answers_and_keeps_reading() {
    let mut bench = CacheHarness::new();
    bench.get(0, true, ALONE[0]);
    assert!(bench.access(0, true));
    assert_eq!(bench.receive(MessageKind::Forward, 0), None);
    assert_eq!(sent(&bench.answers()), [(MessageKind::Data, 1, 0)]);
    assert_eq!((bench.cache.state(LINE), bench.access(0, false)), (LineState::Owned, true));
    assert!(!bench.access(0, true), "others may read now");
}

#[test]
fn sharer_acknowledges_and_owner_sends_the_requested_line() {
    for (kind, wants_line, answer) in [
        (SHARED, true, MessageKind::InvAck),
        (ALONE[0], true, MessageKind::Data),
        (ALONE[0], false, MessageKind::InvAck),
    ] {
        let mut bench = CacheHarness::new();
        bench.get(0, false, kind);
        bench.receive(MessageKind::Invalidate { wants_line }, 0);
        let answers = bench.answers();
        assert!(answers.contains(&ComponentAction::Told(Notice::Gone { cache: 1, line: LINE })));
        assert_eq!(
            (sent(&answers), bench.cache.state(LINE)),
            (vec![(answer, 1, 0)], LineState::Invalid)
        );
    }
}

#[test]
fn snoop_before_the_grant_is_answered_during_own_request() {
    let mut bench = CacheHarness::new();
    bench.get(0, true, ALONE[0]);
    bench.receive(MessageKind::Forward, 0);
    bench.answers();
    assert!(!bench.access(0, true));
    wishes(&mut bench.out);
    bench.receive(INVALIDATE, 0);
    assert_eq!(sent(&bench.answers()), [(MessageKind::Data, 1, 0)]);
    bench.cache.expect(0, 0);
    bench.receive(ALONE[0], 0);
    assert_eq!(
        (bench.cache.state(LINE), bench.cache.counts.early_snoops),
        (LineState::Exclusive, 0)
    );
}

#[test]
fn snoop_after_the_grant_waits_for_the_answer() {
    let mut bench = CacheHarness::new();
    assert!(!bench.access(0, true));
    wishes(&mut bench.out);
    bench.cache.expect(0, 0);
    bench.receive(MessageKind::Forward, 0);
    assert_eq!(bench.answers(), [], "the line is not here");
    let held = bench.receive(ALONE[0], 0).unwrap().held.unwrap();
    assert!(bench.cache.permits(LINE, true), "the thread writes first");
    bench.cache.snoop(held, &mut bench.out);
    assert_eq!(sent(&bench.answers()), [(MessageKind::Data, 1, 0)]);
    assert_eq!((bench.cache.state(LINE), bench.cache.counts.early_snoops), (LineState::Owned, 1));
    bench.cache.assert_idle(0);
}

#[test]
fn grant_may_overtake_another_threads_line() {
    let mut bench = CacheHarness::new();
    assert!(!bench.access(0, false) && !bench.access(1, true));
    wishes(&mut bench.out);
    bench.cache.expect(0, 0);
    bench.cache.expect(1, 0);
    bench.receive(ALONE[1], 1);
    assert!(
        bench.cache.permits(LINE, true) && !bench.access(1, true),
        "the line is still on its way"
    );
    bench.cache.expect(1, 0);
    bench.receive(SHARED, 0);
    bench.receive(MessageKind::Grant { exclusive: false }, 1);
    assert_eq!(bench.cache.state(LINE), LineState::Exclusive, "and lowers nothing");
}

#[test]
fn nacked_request_is_sent_again() {
    let mut bench = CacheHarness::new();
    assert!(!bench.access(1, true));
    let first = sent(&wishes(&mut bench.out));
    bench.receive(MessageKind::Nack { writes: true }, 1);
    let nacked = bench.out.now();
    let again = wishes(&mut bench.out);
    assert!(
        matches!(again[..], [ComponentAction::Sent(request, time)] if request.thread == 1 && time == nacked + 5)
    );
    assert_eq!((sent(&again), bench.cache.counts.misses), (first, 1));
}

#[test]
fn sleepers_check_again_when_their_line_changes() {
    let mut bench = CacheHarness::new();
    bench.get(0, false, SHARED);
    bench.cache.watch(0, LINE);
    bench.cache.watch(1, LINE + 1);
    assert!(bench.cache.is_awaited([LINE, 0]) && !bench.cache.is_awaited([0, 1]));
    bench.receive(INVALIDATE, 0);
    let began = bench.out.now();
    let looks = bench.answers().into_iter().filter(|wish| matches!(wish, ComponentAction::Due(..)));
    assert_eq!(
        looks.collect::<Vec<_>>(),
        [ComponentAction::Due(CoherentEvent::Look(7), began + 7 + 20)]
    );
}

#[test]
#[should_panic(expected = "another cache answers for it")]
fn forward_to_a_sharer_stops_the_simulation() {
    let mut bench = CacheHarness::new();
    bench.get(0, false, SHARED);
    bench.receive(MessageKind::Forward, 0);
    bench.answers();
}

#[test]
#[should_panic(expected = "the thread waits for Nothing")]
fn unrequested_line_stops_the_simulation() {
    CacheHarness::new().receive(SHARED, 0);
}

#[test]
#[should_panic(expected = "the line is not here")]
fn snoop_for_an_absent_line_stops_the_simulation() {
    let mut bench = CacheHarness::new();
    bench.receive(INVALIDATE, 0);
    bench.answers();
}

#[test]
#[should_panic(expected = "thread 0 asked for nothing")]
fn notice_without_request_stops_the_simulation() {
    CacheHarness::new().cache.expect(0, 0);
}
