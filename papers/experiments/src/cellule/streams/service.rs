//! The service between senders and sinks: Rx threads receive, and a Tx thread forwards.

use super::ends::CHUNK;
use super::share::Forwarded;
use seatmap_worker::WeightedPoller;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

const QUEUE: usize = 64;
/// How long a poller waits for a stream in its turn. A saturated stream is at most late by one or
/// two time slices of the scheduler; skipping it would give its share to the other stream.
const PATIENCE: Duration = Duration::from_millis(50);
/// Bytes per unit of weight in a round.
const QUANTUM: u64 = 4 << 10;

pub enum StreamOrder {
    /// The only stream, by the thread that receives it.
    Single,
    /// In turn among streams with a chunk, one chunk each.
    RoundRobin,
    /// In turn by weight: each stream has this many pollers, which count bytes.
    Weighted(Vec<usize>),
}

pub struct ServiceConnections {
    pub ingress: Vec<TcpStream>,
    pub egress: Vec<TcpStream>,
}

impl ServiceConnections {
    /// Forwards everything, and returns each chunk with its time.
    pub fn forward(mut self, way: &StreamOrder) -> io::Result<Vec<Forwarded>> {
        let mut log = Log { began: Instant::now(), forwarded: Vec::new() };
        match (way, &mut self.ingress[..], &mut self.egress[..]) {
            (StreamOrder::Single, [from], [to]) => single(from, to, &mut log)?,
            _ => self.through_queues(way, &mut log)?,
        }
        Ok(log.forwarded)
    }

    fn through_queues(self, way: &StreamOrder, log: &mut Log) -> io::Result<()> {
        std::thread::scope(|scope| {
            let mut queues = Vec::new();
            for from in self.ingress {
                let (filled, queue) = sync_channel(QUEUE);
                std::thread::Builder::new().spawn_scoped(scope, move || receive(from, &filled))?;
                queues.push(Queue { chunks: queue, head: None, is_open: true });
            }
            transmit(queues, self.egress, way, log)
        })
    }
}

struct Log {
    began: Instant,
    forwarded: Vec<Forwarded>,
}

impl Log {
    fn left(&mut self, stream: usize, bytes: usize) {
        self.forwarded.push(Forwarded {
            at_ns: self.began.elapsed().as_nanos() as u64,
            stream,
            bytes: bytes as u64,
        });
    }
}

fn single(from: &mut TcpStream, to: &mut TcpStream, log: &mut Log) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        let bytes = from.read(&mut chunk)?;
        if bytes == 0 {
            return to.shutdown(Shutdown::Write);
        }
        to.write_all(&chunk[..bytes])?;
        log.left(0, bytes);
    }
}

fn receive(mut from: TcpStream, filled: &SyncSender<Vec<u8>>) {
    loop {
        let mut chunk = vec![0; CHUNK];
        match from.read(&mut chunk) {
            Ok(bytes @ 1..) => chunk.truncate(bytes),
            _ => return,
        }
        // The Tx thread ended with an error, which `transmit` returns.
        if filled.send(chunk).is_err() {
            return;
        }
    }
}

struct Queue {
    chunks: Receiver<Vec<u8>>,
    head: Option<Vec<u8>>,
    is_open: bool,
}

impl Queue {
    /// The first chunk's bytes; waits for it no longer than `patience`.
    fn first(&mut self, patience: Duration) -> Option<u64> {
        if self.head.is_none() && self.is_open {
            match self.chunks.recv_timeout(patience) {
                Ok(chunk) => self.head = Some(chunk),
                Err(RecvTimeoutError::Timeout) => {}
                // A chunk that remains after the Rx thread is still forwarded.
                Err(RecvTimeoutError::Disconnected) => self.is_open = false,
            }
        }
        self.head.as_ref().map(|head| head.len() as u64)
    }
}

fn transmit(
    mut queues: Vec<Queue>,
    mut egress: Vec<TcpStream>,
    way: &StreamOrder,
    log: &mut Log,
) -> io::Result<()> {
    let (mut poller, counts_bytes) = match way {
        StreamOrder::Weighted(pollers) => {
            let weights: Vec<u32> = pollers.iter().map(|count| *count as u32).collect();
            // Chunks differ in size, so fair shares are counted in bytes.
            (WeightedPoller::new(&weights, QUANTUM), true)
        }
        _ => (WeightedPoller::new(&vec![1; queues.len()], 1), false),
    };
    let patience = if counts_bytes { PATIENCE } else { Duration::ZERO };
    while queues.iter().any(|queue| queue.is_open || queue.head.is_some()) {
        match poller.next(|stream| {
            queues[stream].first(patience).map(|bytes| if counts_bytes { bytes } else { 1 })
        }) {
            None => std::thread::yield_now(),
            Some(stream) => {
                let chunk = queues[stream].head.take().unwrap_or_default();
                egress[stream].write_all(&chunk)?;
                log.left(stream, chunk.len());
            }
        }
    }
    egress.iter_mut().try_for_each(|to| to.shutdown(Shutdown::Write))
}
