//! Detects deadlocks: each thread of the process waits for another one.
//!
//! A wait is recorded after a moment. The process is deadlocked if each running program has a
//! recorded wait, and each other thread has one, or waits for a program's end, or waits in a
//! pthread function for another thread. Then one line lists all waits in the words of the simulated
//! Cell, and the waits for programs end. Any other thread, such as one that sleeps or reads a file,
//! may still end the waits. So may another process that shares a lock; then `threads.c` records no
//! waits in pthread functions.

use crate::crowd;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The waiting program or thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiter {
    /// A context's program, run by this thread (`pthread_t`).
    Program {
        /// The context's number.
        context: u32,
        /// The thread that waits for the program's end.
        caller: u64,
    },
    /// A thread of the PPE.
    Thread,
}

/// A wait's reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// A program waits for a message.
    Message,
    /// A program waits for a signal in register 0 or 1.
    Signal(usize),
    /// A program waits for room in its outbound mailbox.
    OutboundRoom,
    /// A program waits for room in its interrupting mailbox.
    InterruptingRoom,
    /// A program waits for an event.
    Event,
    /// A thread waits for room in a context's mailbox.
    Room(u32),
    /// A thread waits for a message from a context.
    MessageOf(u32),
    /// A thread waits for events of contexts.
    Events,
}

impl fmt::Display for WaitReason {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            WaitReason::Message => out.write_str("waits for a message in its mailbox"),
            WaitReason::Signal(register) => {
                write!(out, "waits for a signal in its register {}", register + 1)
            }
            WaitReason::OutboundRoom => out.write_str("waits for its outbound mailbox to be read"),
            WaitReason::InterruptingRoom => {
                out.write_str("waits for its interrupting mailbox to be read")
            }
            WaitReason::Event => out.write_str("waits for an event"),
            WaitReason::Room(of) => {
                write!(out, "waits for room in the mailbox of SPE context {of}")
            }
            WaitReason::MessageOf(of) => write!(out, "waits for a message of SPE context {of}"),
            WaitReason::Events => out.write_str("waits for events of contexts"),
        }
    }
}

/// The reason of a wait in a pthread function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerWait {
    /// The end of a thread (`pthread_t`).
    End(u64),
    /// A mutex's release.
    Mutex,
    /// A condition's signal.
    Condition,
    /// Arrivals at a barrier.
    Barrier,
    /// A read-write lock's release.
    ReadWriteLock,
    /// A semaphore's post.
    Semaphore,
}

#[derive(Debug)]
struct NotedWait {
    thread: u64,
    waiter: Waiter,
    wait: WaitReason,
    is_hopeless: bool,
}

impl NotedWait {
    fn new(thread: u64, waiter: Waiter, wait: WaitReason) -> Self {
        NotedWait { thread, waiter, wait, is_hopeless: false }
    }
}

#[derive(Debug, Default)]
struct WaitTable {
    entries: BTreeMap<u64, NotedWait>,
    next: u64,
    /// Threads in order of creation, because thread IDs are reused; the main one is 0.
    threads: BTreeMap<u64, u32>,
    created: u32,
    peers: BTreeMap<u64, PeerWait>,
}

static WAITS: Mutex<WaitTable> = Mutex::new(WaitTable {
    entries: BTreeMap::new(),
    next: 0,
    threads: BTreeMap::new(),
    created: 0,
    peers: BTreeMap::new(),
});

fn waits() -> MutexGuard<'static, WaitTable> {
    WAITS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The calling thread (`pthread_t`).
pub fn own_thread() -> u64 {
    // SAFETY: no preconditions.
    unsafe { libc::pthread_self() as u64 }
}

/// Records a new thread of the PPE.
pub fn created(thread: u64) {
    let mut waits = waits();
    waits.created += 1;
    let number = waits.created;
    waits.threads.insert(thread, number);
}

/// The calling thread starts to wait for another one.
pub fn begin_peer_wait(wait: PeerWait) {
    waits().peers.insert(own_thread(), wait);
}

/// The calling thread no longer waits for another one.
pub fn end_peer_wait() {
    waits().peers.remove(&own_thread());
}

/// A recorded wait, until this value is dropped.
#[derive(Debug)]
pub struct Noted(u64);

impl Noted {
    /// Records a wait of the calling thread.
    pub fn new(waiter: Waiter, wait: WaitReason) -> Self {
        let mut waits = waits();
        waits.next += 1;
        let number = waits.next;
        let entry = NotedWait::new(own_thread(), waiter, wait);
        waits.entries.insert(number, entry);
        Noted(number)
    }

    /// Whether the wait can never end. The first caller to find that prints all waits.
    pub fn is_hopeless(&self) -> bool {
        let mut waits = waits();
        if waits.entries.get(&self.0).is_some_and(|entry| entry.is_hopeless) {
            return true;
        }
        let is_hopeless = waits.is_standstill();
        if is_hopeless {
            eprintln!("libspe2: deadlock: {}", waits.words().join("; "));
            waits.entries.values_mut().for_each(|entry| entry.is_hopeless = true);
        }
        is_hopeless
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        waits().entries.remove(&self.0);
    }
}

impl WaitTable {
    fn is_standstill(&self) -> bool {
        let programs = self
            .entries
            .values()
            .filter(|entry| !entry.is_hopeless && matches!(entry.waiter, Waiter::Program { .. }));
        let threads = self
            .entries
            .values()
            .filter(|entry| !entry.is_hopeless && entry.waiter == Waiter::Thread);
        crowd::all_wait(programs.count(), threads.count(), self.peers.len())
    }

    fn words(&self) -> Vec<String> {
        let mut lines = BTreeMap::new();
        for (thread, wait) in &self.peers {
            lines.insert((0, self.number(*thread)), self.peer_words(*wait));
        }
        for NotedWait { thread, waiter, wait, .. } in self.entries.values() {
            match *waiter {
                Waiter::Thread => _ = lines.insert((0, self.number(*thread)), wait.to_string()),
                Waiter::Program { context, caller } => {
                    let end = format!("waits for the end of SPE context {context}");
                    lines.insert((0, self.number(caller)), end);
                    lines.insert((1, context), wait.to_string());
                }
            }
        }
        lines
            .into_iter()
            .map(|((kind, number), what)| {
                format!("{} {number} {what}", ["PPE thread", "SPE context"][kind])
            })
            .collect()
    }

    fn peer_words(&self, wait: PeerWait) -> String {
        let words = match wait {
            PeerWait::End(other) => {
                return format!("waits for the end of PPE thread {}", self.number(other));
            }
            PeerWait::Mutex => "waits for a mutex",
            PeerWait::Condition => "waits for a condition",
            PeerWait::Barrier => "waits at a barrier",
            PeerWait::ReadWriteLock => "waits for a lock of readers and writers",
            PeerWait::Semaphore => "waits for a semaphore",
        };
        words.into()
    }

    /// Returns 0 for unrecorded threads, such as the main one.
    fn number(&self, thread: u64) -> u32 {
        self.threads.get(&thread).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_listed_in_order() {
        let mut waits = WaitTable::default();
        waits.threads.extend([(70, 1), (80, 2), (90, 3)]);
        waits.peers.insert(5, PeerWait::End(70));
        waits.peers.insert(90, PeerWait::Condition);
        let program = Waiter::Program { context: 3, caller: 80 };
        waits.entries.insert(1, NotedWait::new(9, program, WaitReason::Signal(1)));
        waits.entries.insert(2, NotedWait::new(70, Waiter::Thread, WaitReason::Room(3)));
        let expected = [
            "PPE thread 0 waits for the end of PPE thread 1",
            "PPE thread 1 waits for room in the mailbox of SPE context 3",
            "PPE thread 2 waits for the end of SPE context 3",
            "PPE thread 3 waits for a condition",
            "SPE context 3 waits for a signal in its register 2",
        ];
        assert_eq!(waits.words(), expected);
    }
}
