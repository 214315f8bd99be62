//! Small machines, and a component's messages and events one by one, for tests of single
//! components.

use crate::coherent::fabric::{self, Link};
use crate::coherent::homes::{Climbing, Homes};
use crate::coherent::layout::{CoherentLayout, CoherentTiming};
use crate::coherent::message::{Message, MessageKind, NO_PARCEL};
use crate::coherent::outbox::{CoherentEvent, Notice, Outbox};

pub const LINK: u32 = 3;
/// Ticks for which messages keep the lanes of a link busy.
pub const BUSY: [u32; 3] = [1, 4, 2];

/// Different times, to show which one was used.
pub fn timing(directory_queue: u32) -> CoherentTiming {
    CoherentTiming {
        hit: 2,
        miss: 5,
        cache: 7,
        directory: 11,
        directory_busy: 4,
        directory_queue,
        memory: 100,
        atomic: 13,
        start_skew: 0,
    }
}

/// A ring of four stops. All homes are at stop 0; caches 0, 1 and 2 of two threads are at stops 1,
/// 2 and 3.
pub fn ring(directory_queue: u32) -> CoherentLayout {
    CoherentLayout {
        fabric: fabric::ring(4, LINK, BUSY).unwrap(),
        homes: Homes::Hashed { nodes: vec![0], seed: 1 },
        is_uncached: false,
        cache_of_pu: (0..6).map(|pu| Some(pu / 2)).collect(),
        threads: 2,
        node_of_cache: vec![1, 2, 3],
        looks: vec![20; 3],
        passing: Vec::new(),
        extra: Vec::new(),
        timing: timing(directory_queue),
    }
}

/// Caches 0 to 3 of one thread at nodes 0 to 3, groups of two at nodes 4 and 5, and the root at
/// node 6.
pub fn hierarchy(directory_queue: u32) -> CoherentLayout {
    let parent = vec![4, 4, 5, 5, 6, 6, 6];
    let below = vec![(0, 1), (1, 2), (2, 3), (3, 4), (0, 2), (2, 4), (0, 4)];
    CoherentLayout {
        fabric: fabric::tree(&[0, 1, 2, 3, 4, 5].map(|from| Link {
            from,
            to: parent[from as usize],
            cycles: LINK,
            busy: BUSY,
        }))
        .unwrap(),
        homes: Homes::Climbing(Climbing { parent: parent.clone(), below, first_top: 6, seed: 1 }),
        cache_of_pu: (0..4).map(Some).collect(),
        threads: 1,
        node_of_cache: vec![0, 1, 2, 3],
        looks: vec![20; 4],
        ..ring(directory_queue)
    }
}

pub fn message(
    layout: &CoherentLayout,
    kind: MessageKind,
    cache: u16,
    home: u16,
    line: u32,
) -> Message {
    let node = layout.node_of_cache[cache as usize];
    let (from, to) = if kind.is_to_home() { (node, home) } else { (home, node) };
    Message { kind, cache, thread: 0, from, at: to, to, line, parcel: NO_PARCEL }
}

/// Puts a message at its destination. Earlier events are lost.
pub fn arrive(out: &mut Outbox, message: Message) -> u32 {
    out.send(message, 1);
    loop {
        match out.next_event() {
            Some((_, CoherentEvent::Hop(packet))) if out.message(packet) == &message => {
                return packet;
            }
            Some(_) => {}
            None => panic!("the message is lost"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComponentAction {
    /// A message, and the time at which it was first seen under way.
    Sent(Message, u64),
    /// An event, and the time at which it is due.
    Due(CoherentEvent, u64),
    Told(Notice),
}

/// The actions of a component in order, until no event is due. `dispatch` returns whether an event
/// was the component's own; others are listed.
pub fn run(
    out: &mut Outbox,
    dispatch: &mut dyn FnMut(CoherentEvent, &mut Outbox) -> bool,
) -> Vec<ComponentAction> {
    let mut wishes = at_once(out);
    while let Some((time, event)) = out.next_event() {
        match event {
            CoherentEvent::Hop(packet) => {
                wishes.push(ComponentAction::Sent(out.receive(packet), time))
            }
            event if dispatch(event, out) => wishes.extend(at_once(out)),
            event => wishes.push(ComponentAction::Due(event, time)),
        }
    }
    wishes
}

pub fn wishes(out: &mut Outbox) -> Vec<ComponentAction> {
    run(out, &mut |_, _| false)
}

fn at_once(out: &mut Outbox) -> Vec<ComponentAction> {
    let mut wishes: Vec<ComponentAction> =
        std::iter::from_fn(|| out.notices.pop()).map(ComponentAction::Told).collect();
    let own = out.begin_pending();
    for at in own.clone() {
        let packet = out.carry_out(at);
        wishes.extend(packet.map(|packet| ComponentAction::Sent(out.receive(packet), out.now())));
    }
    out.end_pending(own);
    wishes
}

pub fn sent(wishes: &[ComponentAction]) -> Vec<(MessageKind, u16, u16)> {
    wishes
        .iter()
        .filter_map(|wish| match wish {
            ComponentAction::Sent(message, _) => Some((message.kind, message.cache, message.to)),
            _ => None,
        })
        .collect()
}
