//! Matches writers and readers.

use super::programs::{PIPE, READS, TCP};
use crate::TalkKind;
use crate::talk::ThreadMessages;
use seatmap_os::{Tid, i32_at, u32_at, u64_at};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

const WAITING: usize = 16_384;

type Count = [f64; 2];

type Ends = HashMap<Tid, Count>;

/// A kind and an object, in one direction.
type FlowKey = (u32, u64);

#[derive(Default)]
struct Flow {
    written: Ends,
    read: Ends,
    has_news: bool,
    waits: bool,
    lives: bool,
}

impl Flow {
    /// Bytes in the pipe belong to no reader yet. Readers share each writer's bytes in proportion
    /// to their reading, because the kernel does not show whose they read.
    fn talk(&mut self, kind: TalkKind) -> Vec<ThreadMessages> {
        let written = bytes_of(&self.written);
        let read = bytes_of(&self.read);
        let bytes = written.min(read);
        if bytes <= 0.0 {
            return Vec::new();
        }
        let mut talk = Vec::new();
        for (from, by_writer) in &self.written {
            let sent = by_writer.map(|count| count * bytes / written);
            for (to, by_reader) in &self.read {
                let [bytes, messages] = sent.map(|count| count * by_reader[0] / read);
                if bytes > 0.0 {
                    talk.push(ThreadMessages { from: *from, to: *to, kind, messages, bytes });
                }
            }
        }
        pass_on(&mut self.written, bytes / written);
        pass_on(&mut self.read, bytes / read);
        talk
    }
}

/// Keeps the unreported rest of each count.
fn pass_on(ends: &mut Ends, share: f64) {
    if share >= 1.0 {
        ends.clear();
        return;
    }
    ends.values_mut().for_each(|left| *left = left.map(|count| count * (1.0 - share)));
}

fn bytes_of(ends: &Ends) -> f64 {
    ends.values().map(|[bytes, _]| bytes).sum()
}

#[derive(Default)]
pub struct Flows {
    all: HashMap<FlowKey, Flow>,
    new: Vec<FlowKey>,
    waiting: VecDeque<FlowKey>,
    /// Bytes of forgotten flows that no thread of the program has read.
    unread_bytes: f64,
}

impl Flows {
    /// Adds an entry of the kernel's table.
    pub fn count(&mut self, key: &[u8], value: &[u8]) {
        let Some((tid, role, object)) = parsed(key) else { return };
        let Some((new_bytes, new_calls)) = u64_at(value, 0).zip(u64_at(value, 8)) else { return };
        let key = (role & !READS, object);
        let flow = self.all.entry(key).or_default();
        flow.lives = true;
        if !std::mem::replace(&mut flow.has_news, true) {
            self.new.push(key);
        }
        let ends = if role & READS == 0 { &mut flow.written } else { &mut flow.read };
        let [bytes, calls] = ends.entry(tid).or_default();
        *bytes += new_bytes as f64;
        *calls += new_calls as f64;
    }

    pub fn talk(&mut self) -> Vec<ThreadMessages> {
        let mut talk = Vec::new();
        for key in std::mem::take(&mut self.new) {
            let Some(flow) = self.all.get_mut(&key) else { continue };
            flow.has_news = false;
            talk.extend(flow.talk(if key.0 == PIPE { TalkKind::Pipe } else { TalkKind::Socket }));
            let is_empty = flow.written.is_empty() && flow.read.is_empty();
            // A waiting flow keeps its place, so that it is listed once.
            if is_empty && !flow.waits {
                self.all.remove(&key);
            } else if key.0 != PIPE && !std::mem::replace(&mut flow.waits, true) {
                self.waiting.push_back(key);
            }
        }
        self.forget();
        talk
    }

    /// Most of the oldest waiting connections were closed, with outside peers. Pipes are few, and
    /// may be read late.
    fn forget(&mut self) {
        while self.waiting.len() > WAITING {
            let Some(key) = self.waiting.pop_front() else { return };
            let Entry::Occupied(mut flow) = self.all.entry(key) else { continue };
            if std::mem::take(&mut flow.get_mut().lives) {
                self.waiting.push_back(key);
            } else {
                self.unread_bytes += bytes_of(&flow.remove().written);
            }
        }
    }

    pub fn unread_bytes(&self) -> f64 {
        let waiting: f64 = self.all.values().map(|flow| bytes_of(&flow.written)).sum();
        (self.unread_bytes + waiting).round()
    }
}

/// One object per direction for both ends.
fn parsed(key: &[u8]) -> Option<(Tid, u32, u64)> {
    let tid = i32_at(key, 0)?;
    let role = u32_at(key, 4)?;
    let object = u64_at(key, 8)?;
    if role & !READS != TCP {
        return Some((tid, role, object));
    }
    // The other end's port comes first, in network order; the own port is in the computer's order.
    let [a, b, c, d] = (object as u32).to_ne_bytes();
    let other = u64::from(u16::from_be_bytes([a, b]));
    let own = u64::from(u16::from_ne_bytes([c, d]));
    let [from, to] = if role & READS == 0 { [own, other] } else { [other, own] };
    Some((tid, role, from << 16 | to))
}

#[cfg(test)]
mod tests {
    use super::super::programs::UNIX;
    use super::*;

    fn key(tid: u32, role: u32, object: u64) -> Vec<u8> {
        [&tid.to_ne_bytes()[..], &role.to_ne_bytes(), &object.to_ne_bytes()].concat()
    }

    impl Flows {
        fn passed(&mut self, tid: u32, role: u32, object: u64, bytes: u64, calls: u64) {
            let value = [bytes.to_ne_bytes(), calls.to_ne_bytes()].concat();
            self.count(&key(tid, role, object), &value);
        }
    }

    fn told(flows: &mut Flows) -> Vec<(Tid, Tid, f64, f64)> {
        let mut talk = flows.talk();
        talk.sort_by_key(|talk| (talk.from, talk.to));
        talk.iter().map(|talk| (talk.from, talk.to, talk.bytes, talk.messages)).collect()
    }

    #[test]
    fn pipe_writers_are_matched_with_readers() {
        let mut flows = Flows::default();
        flows.passed(1, PIPE, 7, 100, 10);
        assert_eq!((told(&mut flows), flows.unread_bytes()), (Vec::new(), 100.0));
        flows.passed(2, PIPE | READS, 7, 75, 3);
        flows.passed(3, PIPE | READS, 7, 25, 1);
        assert_eq!(told(&mut flows), [(1, 2, 75.0, 7.5), (1, 3, 25.0, 2.5)]);
        assert_eq!(told(&mut flows), []);
        flows.passed(1, PIPE, 7, 100, 10);
        assert_eq!((told(&mut flows), flows.unread_bytes()), (Vec::new(), 100.0));
        flows.passed(3, PIPE | READS, 7, 100, 1);
        assert_eq!(told(&mut flows), [(1, 3, 100.0, 10.0)]);
        assert_eq!(flows.unread_bytes(), 0.0);
    }

    #[test]
    fn each_byte_is_counted_once() {
        let mut flows = Flows::default();
        flows.passed(1, PIPE, 7, 100, 10);
        flows.passed(2, PIPE | READS, 7, 50, 5);
        assert_eq!(told(&mut flows), [(1, 2, 50.0, 5.0)]);
        flows.passed(3, PIPE | READS, 7, 50, 5);
        assert_eq!(told(&mut flows), [(1, 3, 50.0, 5.0)], "the other half went to another thread");
        assert_eq!(flows.unread_bytes(), 0.0);
        // A reader's call may end before its writer's.
        flows.passed(3, PIPE | READS, 7, 30, 3);
        assert_eq!(told(&mut flows), []);
        flows.passed(1, PIPE, 7, 30, 3);
        assert_eq!(told(&mut flows), [(1, 3, 30.0, 3.0)]);
    }

    #[test]
    fn closed_connections_are_dropped_and_bytes_kept() {
        let mut flows = Flows::default();
        let many = WAITING as u64;
        for object in 0..2 * many {
            flows.passed(1, UNIX, object, 3, 1);
            flows.passed(1, UNIX, 7, 3, 1);
            flows.talk();
        }
        assert!(flows.all.len() <= WAITING && flows.waiting.len() <= WAITING);
        assert_eq!(flows.unread_bytes(), 12.0 * many as f64);
        flows.passed(2, UNIX | READS, 7, 6 * many + 3, 1);
        assert_eq!(told(&mut flows), [(1, 2, 6.0 * many as f64 + 3.0, 2.0 * many as f64 + 1.0)]);
        assert_eq!(flows.unread_bytes(), 6.0 * many as f64 - 3.0);
    }

    #[test]
    fn living_connection_waits_once_and_loses_nothing() {
        let mut flows = Flows::default();
        for _ in 0..100 {
            flows.passed(1, UNIX, 7, 3, 1);
            assert_eq!(told(&mut flows), []);
            flows.passed(2, UNIX | READS, 7, 3, 1);
            assert_eq!(told(&mut flows), [(1, 2, 3.0, 1.0)]);
        }
        assert_eq!((flows.waiting.len(), flows.unread_bytes()), (1, 0.0));
    }

    #[test]
    fn both_ends_of_connection_have_same_key() {
        let ports = |own: u16, other: u16| {
            let bytes = [other.to_be_bytes(), own.to_ne_bytes()].concat();
            u64::from(u32::from_ne_bytes(bytes.try_into().unwrap()))
        };
        let sends = parsed(&key(1, TCP, ports(40_000, 6379))).unwrap();
        let receives = parsed(&key(2, TCP | READS, ports(6379, 40_000))).unwrap();
        let answers = parsed(&key(2, TCP, ports(6379, 40_000))).unwrap();
        assert!(sends.2 == receives.2 && sends.2 != answers.2);
        assert_eq!(parsed(&key(1, UNIX, 5)), Some((1, UNIX, 5)));
        assert_eq!(parsed(&[0; 15]), None);
    }
}
