//! Brings the writers and readers of one pipe or connection together.

use super::programs::{PIPE, READS, TCP};
use crate::Kind;
use crate::native::{small, word};
use crate::talk::Talk;
use seatmap_os::Tid;
use std::collections::{HashMap, HashSet};

/// Bytes and calls.
type Count = [f64; 2];

/// A pipe or connection, in one direction.
#[derive(Debug, Default)]
struct Flow {
    written: HashMap<Tid, Count>,
    read: HashMap<Tid, Count>,
    /// The counts that were told of each pair so far.
    told: HashMap<(Tid, Tid), Count>,
    has_news: bool,
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
        let is_new = ends.insert(tid, count) != Some(count);
        flow.has_news |= is_new;
        let has_both_ends = !flow.written.is_empty() && !flow.read.is_empty();
        self.has_pipe_news |= is_new && has_both_ends && role & !READS == PIPE;
    }

    /// The talk that was not told yet. Where several threads read, each gets of each writer's bytes
    /// the share that it read of all: nobody can know whose bytes it read.
    pub(super) fn talk(&mut self) -> Vec<Talk> {
        let mut talk = Vec::new();
        for ((role, _), flow) in self.all.iter_mut().filter(|(_, flow)| flow.has_news) {
            let kind = if *role == PIPE { Kind::Pipe } else { Kind::Socket };
            flow.has_news = false;
            let all_read = flow.read.values().fold(0.0, |sum, count| sum + count[0]);
            for (from, written) in &flow.written {
                for (to, read) in &flow.read {
                    // Where nothing was read, the share is not a number, and the comparison below
                    // is false.
                    let now = written.map(|count| count * read[0] / all_read);
                    let told = flow.told.entry((*from, *to)).or_default();
                    let new = [now[0] - told[0], now[1] - told[1]];
                    // A writer's part falls when another thread begins to read. Talk that was told
                    // is not taken back.
                    if new[0] > 0.0 {
                        *told = now;
                        talk.push(Talk {
                            from: *from,
                            to: *to,
                            kind,
                            messages: new[1].max(0.0),
                            bytes: new[0],
                        });
                    }
                }
            }
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

    /// Bytes that were written and have no reader among the threads.
    pub(super) fn unread_bytes(&self) -> f64 {
        let unread = self.all.values().filter(|flow| flow.read.is_empty());
        unread.flat_map(|flow| flow.written.values()).fold(0.0, |sum, count| sum + count[0])
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
        assert_eq!(told(&mut flows), [(1, 2, 75.0, 7.5), (1, 3, 25.0, 2.5)]);
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
