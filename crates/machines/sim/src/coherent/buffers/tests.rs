//! Message buffers alone.

use super::*;
use crate::coherent::parts_for_tests::{
    self as parts, ComponentAction, arrive, message, ring, sent,
};
use seatmap_data::port::Addr;

const WORD: Addr = Addr(43);

struct BuffersHarness {
    layout: Arc<CoherentLayout>,
    buffers: Buffers,
    memory: SharedMemory,
    out: Outbox,
}

impl BuffersHarness {
    fn new(queue: u32) -> Self {
        let layout = Arc::new(CoherentLayout { is_uncached: true, ..ring(queue) });
        let mut buffers = Buffers::new(Arc::clone(&layout));
        let mut memory = SharedMemory::default();
        buffers.reset(8);
        memory.grow(8);
        BuffersHarness { out: Outbox::new(Arc::clone(&layout)), buffers, memory, layout }
    }

    fn arrive(&mut self, operation: LineCall, cache: u16) {
        let parcel = self.out.parcels.add(Parcel::Operation(operation));
        let kind = MessageKind::LineCall { writes: operation.writes() };
        let request =
            Message { parcel, ..message(&self.layout, kind, cache, 0, WORD.line_index()) };
        let packet = arrive(&mut self.out, request);
        self.buffers.handle(packet, &mut self.out);
    }

    fn serve(&mut self) -> Vec<ComponentAction> {
        let BuffersHarness { buffers, memory, .. } = self;
        parts::run(&mut self.out, &mut |event, out| match event {
            CoherentEvent::LookedUp(packet) => {
                buffers.looked_up(packet, memory, out);
                true
            }
            _ => false,
        })
    }

    fn values(&mut self, operation: LineCall, cache: u16) -> Vec<(u16, u64)> {
        self.arrive(operation, cache);
        let wishes = self.serve();
        let mut value = |wish: &ComponentAction| match wish {
            ComponentAction::Sent(answer, _) => match self.out.parcels.take(answer.parcel) {
                Parcel::Value(value) => (answer.cache, value),
                other => panic!("{other:?} in an answer"),
            },
            other => panic!("{other:?} of a buffer"),
        };
        wishes.iter().map(&mut value).collect()
    }
}

#[test]
fn operations_run_at_the_words_buffer() {
    let mut bench = BuffersHarness::new(8);
    assert_eq!(bench.values(LineCall::Store(WORD, 4), 0), [(0, 0)]);
    assert_eq!(bench.values(LineCall::Add(WORD, 3), 1), [(1, 4)]);
    assert_eq!(bench.values(LineCall::Exchange { word: WORD, current: 4, new: 9 }, 2), [(2, 7)]);
    assert_eq!(bench.values(LineCall::Load(WORD), 0), [(0, 7)]);
    bench.buffers.assert_idle(0);
    bench.out.assert_idle();
}

#[test]
fn poll_finds_a_change_after_half_the_interval() {
    let mut bench = BuffersHarness::new(8);
    assert_eq!(bench.values(LineCall::WaitWhile(WORD, 0), 2), []);
    bench.arrive(LineCall::Store(WORD, 1), 0);
    let began = bench.out.now();
    let wishes = bench.serve();
    let at = |cache| {
        wishes.iter().find_map(|wish| match wish {
            ComponentAction::Sent(answer, time) if answer.cache == cache => Some(time - began),
            _ => None,
        })
    };
    // The store is looked up for 11 ticks. A poll takes 2 + 5, two links of 3, 11, and 20 to the
    // next look.
    let poll = 2 + 5 + 2 * 3 + 11 + 20;
    assert_eq!((at(0), at(2)), (Some(11 + 3), Some(11 + poll / 2 + 3)));
}

#[test]
fn full_buffer_nacks_the_operation() {
    let mut bench = BuffersHarness::new(1);
    bench.arrive(LineCall::Load(WORD), 0);
    bench.arrive(LineCall::Store(WORD, 5), 1);
    let wishes = bench.serve();
    assert_eq!(sent(&wishes)[0], (MessageKind::Nack { writes: true }, 1, 2));
    let ComponentAction::Sent(nack, _) = wishes[0] else { panic!("{wishes:?}") };
    assert_eq!(bench.out.parcels.take(nack.parcel), Parcel::Operation(LineCall::Store(WORD, 5)));
}

#[test]
#[should_panic(expected = "buffers receive requests only")]
fn acknowledgement_to_a_buffer_stops_the_simulation() {
    let mut bench = BuffersHarness::new(8);
    let packet = arrive(&mut bench.out, message(&bench.layout, MessageKind::InvAck, 0, 0, 5));
    bench.buffers.handle(packet, &mut bench.out);
}
