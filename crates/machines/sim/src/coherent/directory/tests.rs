//! Tests directories alone: the messages that they send for each message that they receive.

use super::*;
use crate::coherent::parts_for_tests::{
    self as parts, ComponentAction, arrive, hierarchy, message, ring, sent,
};

const LINE: u32 = 5;
const READ: MessageKind = MessageKind::LineCall { writes: false };
const WRITE: MessageKind = MessageKind::LineCall { writes: true };
const INVALIDATE: MessageKind = MessageKind::Invalidate { wants_line: true };
const ALONE: [MessageKind; 2] =
    [MessageKind::Line { exclusive: true }, MessageKind::Grant { exclusive: true }];
const SHARED: MessageKind = MessageKind::Line { exclusive: false };

struct DirectoryHarness {
    layout: Arc<CoherentLayout>,
    directory: Directory,
    out: Outbox,
}

impl DirectoryHarness {
    fn new(layout: CoherentLayout) -> Self {
        let layout = Arc::new(layout);
        let mut directory = Directory::new(Arc::clone(&layout));
        directory.reset(8);
        DirectoryHarness { out: Outbox::new(Arc::clone(&layout)), directory, layout }
    }

    fn arrive(&mut self, home: u16, kind: MessageKind, cache: u16) {
        let packet = arrive(&mut self.out, message(&self.layout, kind, cache, home, LINE));
        self.directory.handle(packet, &mut self.out);
    }

    fn serve(&mut self) -> Vec<ComponentAction> {
        let directory = &mut self.directory;
        parts::run(&mut self.out, &mut |event, out| {
            match event {
                CoherentEvent::LookedUp(packet) => directory.looked_up(packet, out),
                CoherentEvent::MemoryRead(line) => directory.memory_read(line, out),
                _ => return false,
            }
            true
        })
    }

    fn receive(&mut self, kind: MessageKind, cache: u16) -> Vec<(MessageKind, u16, u16)> {
        self.arrive(0, kind, cache);
        sent(&self.serve())
    }

    fn give_up(&mut self, cache: u16, kind: MessageKind) -> Vec<(MessageKind, u16, u16)> {
        self.directory.gone(cache, LINE, self.out.now());
        self.receive(kind, cache)
    }
}

#[test]
fn first_reader_gets_the_line_exclusively_from_memory() {
    let mut bench = DirectoryHarness::new(ring(8));
    bench.arrive(0, READ, 2);
    let began = bench.out.now();
    let wishes = bench.serve();
    // A notice, then the line: a look-up of 11 ticks, a read of 100, one link of 3.
    let [ComponentAction::Told(notice), ComponentAction::Sent(line, time)] = wishes[..] else {
        panic!("{wishes:?}")
    };
    assert_eq!(notice, Notice::Coming { cache: 2, thread: 0 });
    assert_eq!((line.kind, line.from, line.to, time - began), (ALONE[0], 0, 3, 11 + 100 + 3));
    assert_eq!(bench.directory.counts, CoherenceCounts { memory_reads: 1, invalidations: 0 });
    bench.directory.assert_idle(0);
}

#[test]
fn second_reader_gets_the_line_from_the_owner() {
    let mut bench = DirectoryHarness::new(ring(8));
    bench.receive(READ, 0);
    assert_eq!(bench.receive(READ, 1), [(MessageKind::Forward, 0, 1)]);
    assert_eq!(bench.receive(MessageKind::Data, 0), [(SHARED, 1, 2)]);
    assert_eq!(bench.receive(READ, 2), [(MessageKind::Forward, 0, 1)]);
}

#[test]
fn write_miss_invalidates_every_sharer() {
    let mut bench = DirectoryHarness::new(ring(8));
    bench.receive(READ, 0);
    bench.receive(READ, 1);
    bench.receive(MessageKind::Data, 0);
    assert_eq!(bench.receive(WRITE, 2), [(INVALIDATE, 0, 1), (INVALIDATE, 1, 2)]);
    assert_eq!(bench.give_up(1, MessageKind::InvAck), []);
    assert_eq!(bench.give_up(0, MessageKind::Data), [(ALONE[0], 2, 3)]);
    assert_eq!(bench.directory.counts.invalidations, 2);
    assert_eq!(bench.receive(READ, 0), [(MessageKind::Forward, 2, 3)], "the writer owns the line");
}

#[test]
fn upgrade_is_granted_without_the_line() {
    let mut bench = DirectoryHarness::new(ring(8));
    bench.receive(READ, 0);
    bench.receive(READ, 1);
    bench.receive(MessageKind::Data, 0);
    assert_eq!(bench.receive(WRITE, 1), [(MessageKind::Invalidate { wants_line: false }, 0, 1)]);
    assert_eq!(bench.give_up(0, MessageKind::InvAck), [(ALONE[1], 1, 2)]);
    assert_eq!(
        bench.receive(WRITE, 1),
        [(ALONE[1], 1, 2)],
        "a second thread of the same core waits for nobody"
    );
    assert_eq!(bench.receive(READ, 1), [(MessageKind::Grant { exclusive: false }, 1, 2)]);
}

#[test]
fn requests_for_one_line_are_served_in_turn() {
    let mut bench = DirectoryHarness::new(ring(8));
    bench.receive(READ, 0);
    assert_eq!(bench.receive(WRITE, 1), [(INVALIDATE, 0, 1)]);
    assert_eq!(bench.receive(READ, 2), []);
    assert_eq!(bench.receive(WRITE, 0), []);
    // The writer gets the line, and the directory asks it for the line at once, for the first
    // waiting request.
    assert_eq!(
        bench.give_up(0, MessageKind::Data),
        [(ALONE[0], 1, 2), (MessageKind::Forward, 1, 2)]
    );
    let next = [(SHARED, 2, 3), (INVALIDATE, 1, 2), (INVALIDATE, 2, 3)];
    assert_eq!(bench.receive(MessageKind::Data, 1), next);
    assert_eq!(bench.give_up(2, MessageKind::InvAck), []);
    assert_eq!(bench.give_up(1, MessageKind::Data), [(ALONE[0], 0, 1)]);
    bench.directory.assert_idle(0);
}

#[test]
fn full_directory_nacks_requests() {
    let mut bench = DirectoryHarness::new(ring(2));
    for cache in 0..3 {
        bench.arrive(0, READ, cache);
    }
    let nack = sent(&bench.serve())[0];
    assert_eq!(nack, (MessageKind::Nack { writes: false }, 2, 3));
    assert_eq!(bench.directory.intake.pipelines[0].nacks, 1);
    assert_eq!(
        bench.directory.intake.pipelines[0].lookups, 2,
        "a request that is sent back is not looked up"
    );
}

#[test]
fn lookups_are_serialised() {
    let mut bench = DirectoryHarness::new(ring(8));
    for cache in 0..3 {
        bench.arrive(0, READ, cache);
    }
    bench.serve();
    let pipeline = bench.directory.intake.pipelines[0];
    // They arrived a tick apart, and each delays the next one by 4 ticks.
    assert_eq!((pipeline.lookups, pipeline.waits), (3, 3 + 6));
}

#[test]
fn request_climbs_until_all_sharers_are_below() {
    let mut bench = DirectoryHarness::new(hierarchy(8));
    bench.arrive(4, READ, 0);
    assert_eq!(sent(&bench.serve()), [(ALONE[0], 0, 0)], "no sharer is elsewhere");
    bench.arrive(4, READ, 1);
    assert_eq!(sent(&bench.serve()), [(MessageKind::Forward, 0, 0)], "the group settles it");
    bench.arrive(4, MessageKind::Data, 0);
    assert_eq!(sent(&bench.serve()), [(SHARED, 1, 1)]);
    bench.arrive(5, READ, 2);
    assert_eq!(sent(&bench.serve()), [(READ, 2, 6)], "the sharers are in another group");
    assert_eq!(bench.directory.intake.pipelines[5].lookups, 1);
}

#[test]
#[should_panic(
    expected = "directory at tick 1: InvAck of line 5, cache 0, thread 0, at node 0 from 1 to 0: no request"
)]
fn unrequested_answer_stops_the_simulation() {
    DirectoryHarness::new(ring(8)).receive(MessageKind::InvAck, 0);
}

#[test]
#[should_panic(expected = "the cache has the line: true")]
fn acknowledgement_by_a_sharer_stops_the_simulation() {
    let mut bench = DirectoryHarness::new(ring(8));
    bench.receive(READ, 0);
    bench.receive(WRITE, 1);
    bench.receive(MessageKind::InvAck, 0);
}

#[test]
#[should_panic(expected = "cache 1 gives up a line that it does not have")]
fn only_a_sharer_can_give_up_a_line() {
    DirectoryHarness::new(ring(8)).directory.gone(1, LINE, 0);
}
