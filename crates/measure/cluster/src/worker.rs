//! A rank that does as rank 0 says: it answers other nodes, and measures those that it is told to.

use crate::drive::{PairFigures, RankRoute, drive, stream as send_for};
use crate::echo::{PairEnds, serve};
use crate::facts::NodeConfiguration;
use crate::handshake::{ConnectionPurpose, call};
use crate::launcher::Rank;
use crate::measure::{ClusterMeasureError, ClusterOptions, Own};
use crate::meeting::{Greeting, plain};
use crate::mpi::{self, MpiError, MpiProgram};
use crate::rank_error::RankError;
use crate::secret::Secret;
use crate::wire::{GONE, RankConnection, receive, send};
use seatmap_data::document::with_causes;
use seatmap_data::machine::Profile;
use seatmap_os::tcp;
use serde::{Deserialize, Serialize};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// The words of a rank about itself when it comes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Introduction {
    pub rank: usize,
    pub size: usize,
    pub node: String,
    /// Where other ranks reach it.
    pub address: SocketAddr,
    pub facts: NodeConfiguration,
    pub duties: Duties,
    /// Why it has no program for MPI, where it should.
    pub unbuilt: Option<String>,
}

impl Introduction {
    /// Where others reach it.
    pub(crate) fn peer(&self) -> PeerRank {
        PeerRank { rank: self.rank, address: self.address }
    }
}

/// The kinds of orders that a rank was started for, by its own command line. It obeys no others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Duties {
    /// It measures its own core distances.
    pub nodes: bool,
    /// It sends while others send.
    pub loaded: bool,
    /// It runs its own program for MPI.
    pub mpi: bool,
}

impl Duties {
    pub(crate) fn new(own: &Own, options: &ClusterOptions) -> Self {
        Duties {
            nodes: own.profile.is_some(),
            loaded: options.loaded,
            mpi: options.mpicc.is_some(),
        }
    }

    /// Whether an order is one of these.
    fn check(self, order: &RankInstruction) -> Result<(), RankError> {
        match order {
            RankInstruction::Profile if !self.nodes => {
                Err(RankError::Order("its core distances (--nodes)"))
            }
            RankInstruction::Stream { .. } if !self.loaded => {
                Err(RankError::Order("a stream among others (--loaded)"))
            }
            RankInstruction::Mpi(_) if !self.mpi => {
                Err(RankError::Order("a program for MPI (--mpi)"))
            }
            _ => Ok(()),
        }
    }
}

/// A rank to which another one measures its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PeerRank {
    pub rank: usize,
    pub address: SocketAddr,
}

/// The orders of rank 0. None of them brings a program or a command: each rank has its own.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum RankInstruction {
    /// Measure this node's core distances.
    Profile,
    /// Measure the way to this rank; trips of each size take so many ms. Rank 0 waits for longer
    /// than `limit_ms`.
    Pair { to: PeerRank, trips_ms: u64, limit_ms: u64 },
    /// Send to this rank for so many ms, with the same limit.
    Stream { to: PeerRank, ms: u64, limit_ms: u64 },
    /// Run this rank's own program for MPI in its place.
    Mpi(mpi::MpiTask),
    /// It is done.
    End,
}

/// The answers of a rank.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum RankReply {
    Profile(Option<Box<Profile>>),
    Pair(Box<PairFigures>),
    /// The rate of a stream, in Mbit/s.
    Rate(f64),
    /// The text that the program for MPI printed.
    Mpi(String),
    Failed(String),
}

/// Runs a rank other than 0 until rank 0 says that it is done.
pub(crate) fn run(
    rank: &Rank,
    own: Own,
    options: &ClusterOptions,
) -> Result<(), ClusterMeasureError> {
    let duties = Duties::new(&own, options);
    let (program, unbuilt) = built(options);
    let mut worker = Worker { rank: rank.rank, size: rank.size, own, duties, program };
    let found = options.meeting.find_host(
        rank,
        options.secret.as_ref(),
        options.timeout,
        |stream, secret| {
            let words = unbuilt.as_ref().map(|error| with_causes(error));
            Ok((worker.introduce(stream, secret, words)?, secret.clone()))
        },
    );
    let (mut channel, secret) = found.map_err(RankError::from)?;
    let obeyed = worker.obey(&mut channel, &secret);
    // It said at once what it lacks, and rank 0 then ends the measurement.
    unbuilt.map_or(obeyed, |error| Err(error.into()))
}

/// The program for MPI, where this rank needs one, or why it cannot be built.
pub(crate) fn built(options: &ClusterOptions) -> (Option<MpiProgram>, Option<MpiError>) {
    match options.mpicc.as_deref().map(mpi::build).transpose() {
        Ok(program) => (program, None),
        Err(error) => (None, Some(error)),
    }
}

/// A rank that obeys.
pub(crate) struct Worker {
    pub rank: usize,
    pub size: usize,
    pub own: Own,
    pub duties: Duties,
    pub program: Option<MpiProgram>,
}

impl Worker {
    /// Comes to rank 0, with a port at which others are answered.
    pub(crate) fn introduce(
        &self,
        stream: TcpStream,
        secret: &Secret,
        unbuilt: Option<String>,
    ) -> Result<RankConnection, Greeting> {
        // The interface that leads to rank 0 is the one that others use.
        let ip = plain(stream.local_addr().map_err(Greeting::again)?.ip());
        let listener = TcpListener::bind((ip, 0)).map_err(Greeting::again)?;
        let introduction = Introduction {
            rank: self.rank,
            size: self.size,
            node: self.own.name.clone(),
            address: listener.local_addr().map_err(Greeting::again)?,
            facts: self.own.facts.clone(),
            duties: self.duties,
            unbuilt,
        };
        let channel = call(stream, secret, ConnectionPurpose::Measurement, &introduction)?;
        tcp::end_if_gone(channel.stream(), GONE).map_err(Greeting::again)?;
        // Peers that call earlier wait in the kernel, as the port is open already.
        serve(listener, secret, self.rank).map_err(Greeting::again)?;
        Ok(channel)
    }

    /// Does what rank 0 asks for.
    pub(crate) fn obey(
        &mut self,
        channel: &mut RankConnection,
        secret: &Secret,
    ) -> Result<(), ClusterMeasureError> {
        loop {
            let order: RankInstruction = receive(channel).map_err(RankError::Lead)?;
            self.duties.check(&order)?;
            let answer = match order {
                RankInstruction::End => return Ok(()),
                RankInstruction::Profile => {
                    let measure = self.own.profile.as_ref();
                    RankReply::Profile(measure.and_then(|measure| measure()).map(Box::new))
                }
                RankInstruction::Pair { to, trips_ms, limit_ms } => {
                    let [trips, limit] = [trips_ms, limit_ms].map(Duration::from_millis);
                    drive(self.way_to(to, secret), trips, limit)
                        .map_or_else(RankReply::Failed, |found| RankReply::Pair(Box::new(found)))
                }
                RankInstruction::Mpi(task) => match &self.program {
                    Some(program) => mpi::run(program, &task, self.rank)
                        .map_or_else(RankReply::Failed, RankReply::Mpi),
                    None => RankReply::Failed("it has no program for MPI".to_owned()),
                },
                RankInstruction::Stream { to, ms, limit_ms } => {
                    let [time, limit] = [ms, limit_ms].map(Duration::from_millis);
                    send_for(self.way_to(to, secret), time, limit)
                        .map_or_else(RankReply::Failed, RankReply::Rate)
                }
            };
            send(channel, &answer).map_err(RankError::Lead)?;
        }
    }

    fn way_to<'s>(&self, to: PeerRank, secret: &'s Secret) -> RankRoute<'s> {
        RankRoute { ends: PairEnds { from: self.rank, to: to.rank }, address: to.address, secret }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_obeys_only_what_it_was_started_for() {
        let to = PeerRank { rank: 1, address: "127.0.0.1:9".parse().unwrap() };
        let mpi = || RankInstruction::Mpi(mpi::MpiTask { plan: String::new(), limit_ms: 0 });
        let orders =
            [RankInstruction::Profile, RankInstruction::Stream { to, ms: 0, limit_ms: 0 }, mpi()];
        let none = Duties::default();
        let all = Duties { nodes: true, loaded: true, mpi: true };
        for order in &orders {
            assert!(matches!(none.check(order), Err(RankError::Order(_))), "{order:?}");
            assert!(all.check(order).is_ok());
        }
        for order in [RankInstruction::Pair { to, trips_ms: 1, limit_ms: 1 }, RankInstruction::End]
        {
            assert!(none.check(&order).is_ok());
        }
    }
}
