//! The network alone: its lanes and order, and that it loses no message.

use super::*;
use crate::coherent::parts_for_tests::{BUSY, LINK, message, ring};
use proptest::prelude::*;
use std::collections::BTreeMap;

const READ: MessageKind = MessageKind::LineCall { writes: false };

fn network() -> Network {
    Network::new(Arc::new(ring(8)))
}

fn request(network: &Network, cache: u16) -> Message {
    let request = message(&network.layout, READ, cache, 0, 5);
    Message { at: request.from, ..request }
}

#[test]
fn message_takes_one_link_after_the_other() {
    let mut network = network();
    // The route from stop 2 to the home has two links.
    let step = network.send(request(&network, 1), 10, 100);
    let PacketProgress::Later { time: 110, packet } = step else { panic!("{step:?}") };
    let next = |time: u64, packet: u32| PacketProgress::Later { time, packet };
    assert_eq!(network.advance(packet, 110), next(110 + u64::from(LINK), packet));
    assert_eq!(
        network.packets.get(packet).at,
        3,
        "clockwise, where both ways around are equally long"
    );
    assert_eq!(network.advance(packet, 113), next(113 + u64::from(LINK), packet));
    assert_eq!(network.advance(packet, 116), PacketProgress::Arrived(packet));
    assert_eq!(network.traffic(), (1, 0, 1));
    assert_eq!((network.receive(packet).at, network.traffic()), (0, (1, 1, 0)));
    network.assert_idle(0);
}

#[test]
fn lane_spaces_messages_by_their_busy_time() {
    for (kind, lane) in [
        (READ, Lane::Address),
        (MessageKind::Data, Lane::Data),
        (MessageKind::InvAck, Lane::Acknowledge),
    ] {
        let mut network = network();
        let times = [0, 0, 1].map(|now| {
            let step = network.send(Message { kind, ..request(&network, 0) }, 0, now);
            let PacketProgress::Later { time, .. } = step else { panic!("{step:?}") };
            time
        });
        let busy = u64::from(BUSY[lane as usize]);
        assert_eq!(times, [0, busy, 2 * busy].map(|start| start + u64::from(LINK)));
        let up = network.layout.fabric.next(1, 0);
        let wire = network.wire(up, lane);
        assert_eq!((wire.grants, wire.waits), (3, busy + 2 * busy - 1));
        assert!(
            Lane::ALL
                .iter()
                .filter(|other| **other != lane)
                .all(|other| network.wire(up, *other).grants == 0)
        );
    }
}

#[test]
fn message_to_its_own_node_arrives_immediately() {
    let mut network = network();
    let own = Message { to: 1, ..request(&network, 0) };
    let step = network.send(own, 0, 7);
    assert!(matches!(step, PacketProgress::Arrived(_)), "{step:?}");
}

#[test]
#[should_panic(expected = "network at tick 9: the end: 1 sent, 0 received, 1 under way")]
fn undelivered_message_stops_the_simulation() {
    let mut network = network();
    network.send(request(&network, 0), 0, 7);
    network.assert_idle(9);
}

proptest! {
    #[test]
    fn network_keeps_order_and_loses_nothing(
        departures in prop::collection::vec((0_u64..4, 0_u16..3, 0_usize..3), 1..60)
    ) {
        let mut network = network();
        let mut queue = BTreeMap::new();
        let mut now = 0;
        for (number, (after, cache, kind)) in departures.iter().enumerate() {
            now += after;
            let kind = [READ, MessageKind::Data, MessageKind::InvAck][*kind];
            let message = Message { kind, line: number as u32, ..request(&network, *cache) };
            // A future departure comes after earlier requests for that time.
            let PacketProgress::Later { time, packet } = network.send(message, now + 1, 0) else { panic!("no departure") };
            queue.insert((time, queue.len()), packet);
        }
        let mut arrived = BTreeMap::<_, Vec<u32>>::new();
        let mut order = queue.len();
        while let Some(((now, _), packet)) = queue.pop_first() {
            order += 1;
            match network.advance(packet, now) {
                PacketProgress::Later { time, packet } => drop(queue.insert((time, order), packet)),
                PacketProgress::Arrived(packet) => {
                    let message = network.receive(packet);
                    arrived.entry((message.cache, message.kind.lane() as usize)).or_default().push(message.line);
                }
            }
        }
        prop_assert_eq!(arrived.values().map(Vec::len).sum::<usize>(), departures.len());
        prop_assert!(arrived.values().all(|lines| lines.is_sorted()), "{:?}", arrived);
        network.assert_idle(now);
    }
}
