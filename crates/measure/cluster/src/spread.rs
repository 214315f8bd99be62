//! Distributes divisible work over ranks.
//!
//! Ranks may join at any time. If a rank is lost, another does its part; at the end, idle ranks
//! take over overdue parts. A part may therefore run twice, and its result must not depend on the
//! rank.

mod board;
mod jobs;
mod lead;

pub use jobs::{JobEvaluator, Keep, Ranks};
pub use lead::{LostRank, SpreadOutcome, lead};

use crate::handshake::{ConnectionPurpose, PATIENCE, call};
use crate::launcher::Rank;
use crate::meeting::{Greeting, Meeting};
use crate::rank_error::RankError;
use crate::secret::Secret;
use crate::wire::{GONE, RankConnection, receive, send};
use seatmap_data::document::Blame;
use seatmap_os::tcp;
use serde::{Deserialize, Serialize};
use std::io;
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

/// How ranks meet and how long they wait for each other.
#[derive(Clone, Debug)]
pub struct Meet {
    /// Meeting place.
    pub meeting: Meeting,
    /// Not needed to meet by file.
    pub secret: Option<Secret>,
    /// How long ranks wait for each other to join.
    pub timeout: Duration,
}

/// Work that a rank can do.
#[derive(Clone, Copy)]
pub struct SpreadWork<'a> {
    /// Everything except the part on which results depend, as text. Ranks with another name are
    /// refused.
    pub name: &'a str,
    /// Name of this rank's node.
    pub node: &'a str,
    /// Turns a part's text into the result's. Once the flag is set, the result is no longer needed.
    pub part: &'a (dyn Fn(&str, &AtomicBool) -> Result<String, String> + Sync),
}

/// Why the work failed.
#[derive(Debug, thiserror::Error)]
pub enum SpreadError {
    /// A rank cannot take part.
    #[error(transparent)]
    Rank(#[from] RankError),
    /// A rank was started with another command line, or sees another machine.
    #[error(
        "rank {rank} on {node} has other work than rank 0: start all ranks with the same command \
         line"
    )]
    Other {
        /// The number of the rank.
        rank: usize,
        /// Its node.
        node: String,
    },
    /// A part failed.
    #[error("rank {rank} on {node}: {why}")]
    Part {
        /// The number of the rank.
        rank: usize,
        /// Its node.
        node: String,
        /// Reason.
        why: String,
    },
    /// A rank returned an invalid result.
    #[error("a rank returned invalid numbers for its part")]
    Numbers,
}

impl Blame for SpreadError {
    fn is_input(&self) -> bool {
        match self {
            SpreadError::Rank(RankError::Meeting(error)) => error.is_input(),
            SpreadError::Other { .. } => true,
            _ => false,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Coming {
    rank: usize,
    size: usize,
    node: String,
    work: String,
}

#[derive(Debug, Serialize, Deserialize)]
enum Order {
    Part(String),
    End,
}

#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Done(String),
    Failed(String),
}

/// Works for rank 0; returns the number of parts.
///
/// # Errors
/// [`SpreadError`].
pub fn follow(rank: &Rank, meet: &Meet, work: SpreadWork<'_>) -> Result<usize, SpreadError> {
    let coming = Coming {
        rank: rank.rank,
        size: rank.size,
        node: work.node.to_owned(),
        work: work.name.to_owned(),
    };
    let found =
        meet.meeting.find_host(rank, meet.secret.as_ref(), meet.timeout, |stream, secret| {
            let channel = call(PATIENCE, stream, secret, ConnectionPurpose::Spread, &coming)?;
            tcp::end_if_gone(&channel.stream, GONE).map_err(Greeting::again)?;
            Ok(channel)
        });
    let mut channel = found.map_err(RankError::from)?;
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (sender, orders) = mpsc::channel();
        let reading = channel.for_reading().map_err(RankError::Own)?;
        let is_over = &is_over;
        let reader = std::thread::Builder::new();
        reader
            .spawn_scoped(scope, move || read_orders(reading, is_over, &sender))
            .map_err(RankError::Own)?;
        let ended = obey(&mut channel, &orders, work, is_over);
        // Ends the reader.
        let _ = channel.stream.shutdown(Shutdown::Both);
        ended
    })
}

/// Reads orders during the work, so the end of everything interrupts it.
fn read_orders(
    mut channel: RankConnection,
    is_over: &AtomicBool,
    orders: &Sender<io::Result<Order>>,
) {
    loop {
        let order = receive(&mut channel);
        let is_last = !matches!(order, Ok(Order::Part(_)));
        if is_last {
            // The flag guards no other data.
            is_over.store(true, Ordering::Relaxed);
        }
        if orders.send(order).is_err() || is_last {
            return;
        }
    }
}

fn obey(
    channel: &mut RankConnection,
    orders: &Receiver<io::Result<Order>>,
    work: SpreadWork<'_>,
    is_over: &AtomicBool,
) -> Result<usize, SpreadError> {
    let mut done = 0;
    loop {
        let order =
            orders.recv().map_err(|_| RankError::Lead(io::ErrorKind::UnexpectedEof.into()))?;
        let Order::Part(text) = order.map_err(RankError::Lead)? else { return Ok(done) };
        let answer = (work.part)(&text, is_over).map_or_else(Answer::Failed, Answer::Done);
        if !is_over.load(Ordering::Relaxed) {
            send(channel, &answer).map_err(RankError::Lead)?;
            done += 1;
        }
    }
}

#[cfg(test)]
mod tests;
