//! Rank 0: admits ranks, hands out parts and collects results.

use super::board::Board;
use super::{Answer, Coming, Meet, Order, SpreadError, SpreadWork};
use crate::gate::{Gate, Refusals};
use crate::handshake::{Called, ConnectionPurpose};
use crate::launcher::Rank;
use crate::rank_error::RankError;
use crate::wire::{GONE, RankConnection, receive, send, sentence};
use seatmap_os::{CpuList, tcp};
use std::collections::BTreeMap;
use std::io;
use std::net::Shutdown;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(5);

/// The outcome of spread work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpreadOutcome {
    /// Whether all parts are done; false if the caller cancelled.
    pub is_whole: bool,
    /// Parts that each node did, by rank.
    pub done: Vec<(String, usize)>,
    /// Ranks lost or never joined.
    pub lost: Vec<LostRank>,
    /// Refused callers.
    pub refused: Vec<String>,
}

/// A rank whose parts others did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostRank {
    /// Rank and, if known, its node.
    pub rank: String,
    /// Reason.
    pub why: String,
}

struct Event {
    rank: usize,
    what: What,
}

enum What {
    Done(usize, String),
    Failed(String),
    Lost(String),
}

struct Member {
    node: String,
    channel: Option<Arc<Mutex<RankConnection>>>,
    done: usize,
}

/// Distributes the parts over all ranks. `take` receives each part's number and result once, in
/// order of arrival; `look` runs repeatedly meanwhile. Both can cancel.
///
/// # Errors
///
/// [`SpreadError`]. A lost rank is not an error.
pub fn lead(
    rank: &Rank,
    meet: &Meet,
    work: SpreadWork<'_>,
    parts: &[String],
    take: &mut dyn FnMut(usize, &str) -> ControlFlow<()>,
    look: &dyn Fn() -> ControlFlow<()>,
) -> Result<SpreadOutcome, SpreadError> {
    let host = meet.meeting.open(rank, meet.secret.clone()).map_err(RankError::from)?;
    let mut gate = host.gate(ConnectionPurpose::Spread).map_err(RankError::Own)?;
    let board = Board::new(parts.len());
    std::thread::scope(|scope| {
        let (sender, events) = channel();
        let mut lead = Lead {
            scope,
            rank,
            meet,
            work,
            parts,
            board: &board,
            sender,
            members: BTreeMap::new(),
            lost: Vec::new(),
            refusals: Refusals::default(),
        };
        lead.begin_own().map_err(RankError::Own)?;
        let ended = lead.run(&mut gate, &events, take, look);
        // The scope waits for its threads, which take parts until the board ends.
        board.stop();
        lead.dismiss(matches!(ended, Ok(true)));
        let is_whole = ended?;
        Ok(lead.outcome(is_whole))
    })
}

struct Lead<'s, 'a> {
    scope: &'s Scope<'s, 'a>,
    rank: &'a Rank,
    meet: &'a Meet,
    work: SpreadWork<'a>,
    parts: &'a [String],
    board: &'a Board,
    sender: Sender<Event>,
    members: BTreeMap<usize, Member>,
    lost: Vec<LostRank>,
    refusals: Refusals,
}

impl Lead<'_, '_> {
    fn begin_own(&mut self) -> io::Result<()> {
        self.members.insert(0, Member { node: self.work.node.to_owned(), channel: None, done: 0 });
        let board = self.board;
        let parts = self.parts;
        let work = self.work;
        let sender = self.sender.clone();
        std::thread::Builder::new()
            .spawn_scoped(self.scope, move || {
                while let Some(part) = board.take(0) {
                    let what = match (work.part)(&parts[part], &board.is_over) {
                        Ok(text) => What::Done(part, text),
                        Err(_) if board.is_over() => return,
                        Err(why) => What::Failed(why),
                    };
                    // Without a receiver everything is over.
                    let _ = sender.send(Event { rank: 0, what });
                }
            })
            .map(drop)
    }

    fn run(
        &mut self,
        gate: &mut Gate<Coming>,
        events: &Receiver<Event>,
        take: &mut dyn FnMut(usize, &str) -> ControlFlow<()>,
        look: &dyn Fn() -> ControlFlow<()>,
    ) -> Result<bool, SpreadError> {
        let begun = Instant::now();
        // Without an answer, late ranks would search until their timeout.
        while !self.board.is_over()
            || self.members.len() < self.rank.size && begun.elapsed() < self.meet.timeout
        {
            if look().is_break() {
                return Ok(false);
            }
            for heard in gate.look(Duration::ZERO) {
                match heard {
                    Ok(called) => self.admit(called)?,
                    Err(why) => self.refusals.push(why),
                }
            }
            if let Ok(event) = events.recv_timeout(PAUSE)
                && self.note(event, take)?.is_break()
            {
                return Ok(false);
            }
        }
        self.end(events);
        Ok(true)
    }

    fn admit(&mut self, called: Called<Coming>) -> Result<(), SpreadError> {
        let Coming { rank, size, node, work } = called.said.clone();
        if let Some(why) = self.rank.refusal_of(rank, size) {
            called.refuse(&why);
            return Ok(());
        }
        if let Some(first) = self.members.get(&rank) {
            called.refuse(&format!("another process is rank {rank}"));
            return Err(RankError::Twice { rank, first: first.node.clone(), second: node }.into());
        }
        if work != self.work.name {
            called.refuse("rank 0 has other work: start all ranks with the same command line");
            return Err(SpreadError::Other { rank, node });
        }
        self.members.insert(rank, Member { node, channel: None, done: 0 });
        if let Err(error) = self.begin(rank, called) {
            self.lose(rank, sentence(&error));
        }
        Ok(())
    }

    fn begin(&mut self, rank: usize, called: Called<Coming>) -> io::Result<()> {
        let (_, channel) = called.welcome()?;
        tcp::end_if_gone(&channel.stream, GONE)?;
        let reading = channel.for_reading()?;
        let channel = Arc::new(Mutex::new(channel));
        self.members.entry(rank).and_modify(|member| member.channel = Some(Arc::clone(&channel)));
        let board = self.board;
        let parts = self.parts;
        let sender = self.sender.clone();
        std::thread::Builder::new()
            .spawn_scoped(self.scope, move || {
                serve(&channel, reading, rank, (board, parts), &sender)
            })
            .map(drop)
    }

    fn note(
        &mut self,
        event: Event,
        take: &mut dyn FnMut(usize, &str) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, SpreadError> {
        let node =
            self.members.get(&event.rank).map(|member| member.node.clone()).unwrap_or_default();
        match event.what {
            What::Failed(why) => Err(SpreadError::Part { rank: event.rank, node, why }),
            What::Lost(why) => {
                self.lose(event.rank, why);
                Ok(ControlFlow::Continue(()))
            }
            What::Done(part, text) => {
                if !self.board.done(part) {
                    return Ok(ControlFlow::Continue(()));
                }
                self.members.entry(event.rank).and_modify(|member| member.done += 1);
                Ok(take(part, &text))
            }
        }
    }

    fn lose(&mut self, rank: usize, why: String) {
        self.board.lost(rank);
        let node = self.members.get(&rank).map_or("", |member| &member.node);
        self.lost.push(LostRank { rank: format!("rank {rank} on {node}"), why });
    }

    fn end(&mut self, events: &Receiver<Event>) {
        while let Ok(Event { rank, what }) = events.try_recv() {
            if let What::Lost(why) = what {
                self.lose(rank, why);
            }
        }
        let absent = (0..self.rank.size).filter(|rank| !self.members.contains_key(rank));
        let absent: Vec<u32> = absent.filter_map(|rank| u32::try_from(rank).ok()).collect();
        if !absent.is_empty() {
            let why = format!("did not join within {} s", self.meet.timeout.as_secs_f64());
            let ranks = if absent.len() == 1 { "rank" } else { "ranks" };
            self.lost.push(LostRank { rank: format!("{ranks} {}", CpuList(absent)), why });
        }
    }

    /// With an order, or after a failure by closing the connections.
    fn dismiss(&self, is_well: bool) {
        for channel in self.members.values().filter_map(|member| member.channel.as_ref()) {
            let mut channel = channel.lock().unwrap_or_else(PoisonError::into_inner);
            // The rank may have ended. The shutdown ends this side's reader.
            let _ = if is_well { send(&mut channel, &Order::End) } else { Ok(()) };
            let _ = channel.stream.shutdown(if is_well { Shutdown::Read } else { Shutdown::Both });
        }
    }

    fn outcome(self, is_whole: bool) -> SpreadOutcome {
        let done = self.members.into_values().map(|member| (member.node, member.done)).collect();
        SpreadOutcome { is_whole, done, lost: self.lost, refused: self.refusals.0 }
    }
}

fn serve(
    channel: &Mutex<RankConnection>,
    mut reading: RankConnection,
    rank: usize,
    (board, parts): (&Board, &[String]),
    sender: &Sender<Event>,
) {
    while let Some(part) = board.take(rank) {
        let order = Order::Part(parts[part].clone());
        let sent = send(&mut channel.lock().unwrap_or_else(PoisonError::into_inner), &order);
        let what = match sent.and_then(|()| receive(&mut reading)) {
            Ok(Answer::Done(text)) => What::Done(part, text),
            Ok(Answer::Failed(why)) => What::Failed(why),
            Err(error) => What::Lost(sentence(&error)),
        };
        let is_last = !matches!(what, What::Done(..));
        if sender.send(Event { rank, what }).is_err() || is_last {
            return;
        }
    }
}
