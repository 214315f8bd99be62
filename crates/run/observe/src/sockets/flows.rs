//! Brings the writers and readers of one pipe or connection together.

use super::programs::{PIPE, READS, TCP};
use crate::Kind;
use crate::native::{small, word};
use crate::talk::Talk;
use seatmap_os::Tid;
use std::collections::{HashMap, HashSet};

/// Bytes and calls.
type Count = [f64; 2];

/// The bytes and calls of one thread at one end of a flow.
#[derive(Debug, Default)]
struct Moved {
    /// All of it.
    all: Count,
    /// The part that was passed on as talk.
    passed: Count,
}

impl Moved {
    fn left(&self) -> Count {
        [self.all[0] - self.passed[0], self.all[1] - self.passed[1]]
    }

    /// Passes this share of what is left on.
    fn pass(&mut self, share: f64) {
        let left = self.left();
        self.passed = [self.passed[0] + left[0] * share, self.passed[1] + left[1] * share];
    }
}

/// A pipe or connection, in one direction.
#[derive(Debug, Default)]
struct Flow {
    written: HashMap<Tid, Moved>,
    read: HashMap<Tid, Moved>,
    has_news: bool,
}

impl Flow {
    /// The talk that was both written and read, and was not passed on yet. Bytes that wait in the
    /// pipe are nobody's yet: the next reader may be another thread. Where several threads read,
    /// each gets of each writer's bytes the share that it read of all: nobody can know whose bytes
    /// it read.
    fn talk(&mut self, kind: Kind) -> Vec<Talk> {
        let written = left_bytes(&self.written);
        let read = left_bytes(&self.read);
        let bytes = written.min(read);
        if bytes <= 0.0 {
            return Vec::new();
        }
        let mut talk = Vec::new();
        for (from, by_writer) in &self.written {
            let sent = by_writer.left().map(|count| count * bytes / written);
            for (to, by_reader) in &self.read {
                let [bytes, messages] = sent.map(|count| count * by_reader.left()[0] / read);
                if bytes > 0.0 {
                    talk.push(Talk { from: *from, to: *to, kind, messages, bytes });
                }
            }
        }
        self.written.values_mut().for_each(|moved| moved.pass(bytes / written));
        self.read.values_mut().for_each(|moved| moved.pass(bytes / read));
        talk
    }
}

fn left_bytes(ends: &HashMap<Tid, Moved>) -> f64 {
    ends.values().fold(0.0, |sum, moved| sum + moved.left()[0])
}

/// Every flow so far.
#[derive(Debug, Default)]
pub(super) struct Flows {
    /// By kind and object.
    all: HashMap<(u32, u64), Flow>,
    /// Threads of which nothing is counted.
    left_out: HashSet<Tid>,
    /// Whether bytes went through a pipe with both ends in the program, since somebody asked.
    has_pipe_news: bool,
}

impl Flows {
    /// Takes in an entry of the kernel's table.
    pub(super) fn count(&mut self, key: &[u8], value: &[u8]) {
        let Some((tid, role, object)) =
            parsed(key).filter(|(tid, ..)| !self.left_out.contains(tid))
        else {
            return;
        };
        let Some((bytes, calls)) = word(value, 0).zip(word(value, 8)) else { return };
        let count = [bytes as f64, calls as f64];
        let flow = self.all.entry((role & !READS, object)).or_default();
        let ends = if role & READS == 0 { &mut flow.written } else { &mut flow.read };
        let moved = ends.entry(tid).or_default();
        let is_new = std::mem::replace(&mut moved.all, count) != count;
        flow.has_news |= is_new;
        let has_both_ends = !flow.written.is_empty() && !flow.read.is_empty();
        self.has_pipe_news |= is_new && has_both_ends && role & !READS == PIPE;
    }

    /// The talk since the call before.
    pub(super) fn talk(&mut self) -> Vec<Talk> {
        let mut talk = Vec::new();
        for ((role, _), flow) in self.all.iter_mut().filter(|(_, flow)| flow.has_news) {
            flow.has_news = false;
            talk.extend(flow.talk(if *role == PIPE { Kind::Pipe } else { Kind::Socket }));
        }
        talk
    }

    /// Whether bytes went through a pipe with both ends in the program, since the call before.
    pub(super) fn pipe_news(&mut self) -> bool {
        std::mem::take(&mut self.has_pipe_news)
    }

    /// Counts nothing of these threads from now on, and forgets what they wrote.
    pub(super) fn leave_out(&mut self, own: &[Tid]) {
        for tid in own.iter().filter(|tid| self.left_out.insert(**tid)) {
            for flow in self.all.values_mut() {
                flow.written.remove(tid);
            }
        }
    }

    /// Bytes that were written, and that no thread of the program has read.
    pub(super) fn unread_bytes(&self) -> f64 {
        // Shares of bytes do not add up to the last bit.
        self.all.values().map(|flow| left_bytes(&flow.written)).sum::<f64>().round()
    }
}

/// The thread, its role and the object of a key. Both ends of a connection get one object for each
/// direction.
fn parsed(key: &[u8]) -> Option<(Tid, u32, u64)> {
    let tid = small(key, 0)?;
    let role = small(key, 4)? as u32;
    let object = u64::from_ne_bytes(key.get(8..16)?.try_into().ok()?);
    if role & !READS != TCP {
        return Some((tid, role, object));
    }
    // The other end's port comes first, in the network's order; the own port is in the computer's.
    let bytes = (object as u32).to_ne_bytes();
    let other = u64::from(u16::from_be_bytes([bytes[0], bytes[1]]));
    let own = u64::from(u16::from_ne_bytes([bytes[2], bytes[3]]));
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

    fn value(bytes: u64, calls: u64) -> Vec<u8> {
        [bytes.to_ne_bytes(), calls.to_ne_bytes()].concat()
    }

    fn told(flows: &mut Flows) -> Vec<(Tid, Tid, f64, f64)> {
        let mut talk: Vec<_> = flows
            .talk()
            .into_iter()
            .map(|talk| (talk.from, talk.to, talk.bytes, talk.messages))
            .collect();
        talk.sort_by_key(|(from, to, ..)| (*from, *to));
        talk
    }

    #[test]
    fn writers_and_readers_of_a_pipe_meet() {
        let mut flows = Flows::default();
        flows.count(&key(1, PIPE, 7), &value(100, 10));
        flows.count(&key(9, PIPE, 8), &value(50, 5));
        assert_eq!((told(&mut flows), flows.unread_bytes()), (Vec::new(), 150.0));
        flows.leave_out(&[9]);
        flows.count(&key(9, PIPE, 8), &value(60, 6));
        assert_eq!(flows.unread_bytes(), 100.0);
        assert!(!flows.pipe_news(), "nobody reads it");
        flows.count(&key(2, PIPE | READS, 7), &value(75, 3));
        assert!(flows.pipe_news() && !flows.pipe_news());
        flows.count(&key(3, PIPE | READS, 7), &value(25, 1));
        assert_eq!(told(&mut flows), [(1, 2, 75.0, 7.5), (1, 3, 25.0, 2.5)]);
        assert_eq!(told(&mut flows), []);
        flows.count(&key(1, PIPE, 7), &value(200, 20));
        assert_eq!((told(&mut flows), flows.unread_bytes()), (Vec::new(), 100.0));
        flows.count(&key(3, PIPE | READS, 7), &value(125, 2));
        assert_eq!(told(&mut flows), [(1, 3, 100.0, 10.0)]);
        assert_eq!(flows.unread_bytes(), 0.0);
    }

    #[test]
    fn no_byte_is_told_twice() {
        let mut flows = Flows::default();
        flows.count(&key(1, PIPE, 7), &value(100, 10));
        flows.count(&key(2, PIPE | READS, 7), &value(50, 5));
        assert_eq!(told(&mut flows), [(1, 2, 50.0, 5.0)]);
        flows.count(&key(3, PIPE | READS, 7), &value(50, 5));
        assert_eq!(told(&mut flows), [(1, 3, 50.0, 5.0)], "the other half went to another thread");
        assert_eq!(flows.unread_bytes(), 0.0);
        // A reader's call may end before its writer's.
        flows.count(&key(3, PIPE | READS, 7), &value(80, 8));
        assert_eq!(told(&mut flows), []);
        flows.count(&key(1, PIPE, 7), &value(130, 13));
        assert_eq!(told(&mut flows), [(1, 3, 30.0, 3.0)]);
    }

    #[test]
    fn both_ends_of_a_connection_agree() {
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
