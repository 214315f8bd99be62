//! A rank that follows rank 0.

use crate::cluster::NodePair;
use crate::drive::{RankRoute, drive, stream as send_for};
use crate::echo::{PairEnds, serve};
use crate::facts::NodeConfiguration;
use crate::handshake::{ConnectionPurpose, PATIENCE, call};
use crate::launcher::Rank;
use crate::measure::{ClusterMeasureError, ClusterOptions, Own};
use crate::meeting::Greeting;
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

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Introduction {
    pub rank: usize,
    pub size: usize,
    pub node: String,
    /// Address for other ranks.
    pub address: SocketAddr,
    pub facts: NodeConfiguration,
    pub duties: Duties,
    /// Why the required MPI program could not be built.
    pub unbuilt: Option<String>,
}

impl Introduction {
    pub fn peer(&self) -> PeerRank {
        PeerRank { rank: self.rank, address: self.address }
    }
}

/// Orders that this rank's command line allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Duties {
    /// It measures its core distances.
    pub nodes: bool,
    pub loaded: bool,
    pub mpi: bool,
}

impl Duties {
    pub fn new(own: &Own, options: &ClusterOptions) -> Self {
        Duties {
            nodes: own.profile.is_some(),
            loaded: options.loaded,
            mpi: options.mpicc.is_some(),
        }
    }

    fn check(self, order: &RankInstruction) -> Result<(), RankError> {
        let (may, what) = match order {
            RankInstruction::Profile => (self.nodes, "core distances (--nodes)"),
            RankInstruction::Stream { .. } => (self.loaded, "streams under load (--loaded)"),
            RankInstruction::Mpi(_) => (self.mpi, "an MPI program (--mpi)"),
            RankInstruction::Pair { .. } | RankInstruction::End => return Ok(()),
        };
        if may { Ok(()) } else { Err(RankError::Order(what)) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerRank {
    pub rank: usize,
    pub address: SocketAddr,
}

/// None contains a program or a command: each rank has its own.
#[derive(Debug, Serialize, Deserialize)]
pub enum RankInstruction {
    /// Measure this node's core distances.
    Profile,
    /// Measure the connection to this rank. Rank 0 waits for longer than `limit_ms`.
    Pair { to: PeerRank, trips_ms: u64, limit_ms: u64 },
    /// Send to this rank.
    Stream { to: PeerRank, ms: u64, limit_ms: u64 },
    /// Run this rank's own MPI program.
    Mpi(mpi::MpiTask),
    /// The work is done.
    End,
}

#[derive(Debug, Serialize, Deserialize)]
pub enum RankReply {
    Profile(Option<Box<Profile>>),
    Pair(Box<NodePair>),
    /// In Mbit/s.
    Rate(f64),
    Mpi(String),
    Failed(String),
}

pub fn run(rank: &Rank, own: Own, options: &ClusterOptions) -> Result<(), ClusterMeasureError> {
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
    // Rank 0 knows the error from the introduction.
    unbuilt.map_or(obeyed, |error| Err(error.into()))
}

pub fn built(options: &ClusterOptions) -> (Option<MpiProgram>, Option<MpiError>) {
    match options.mpicc.as_deref().map(mpi::build).transpose() {
        Ok(program) => (program, None),
        Err(error) => (None, Some(error)),
    }
}

pub struct Worker {
    pub rank: usize,
    pub size: usize,
    pub own: Own,
    pub duties: Duties,
    pub program: Option<MpiProgram>,
}

impl Worker {
    pub fn introduce(
        &self,
        stream: TcpStream,
        secret: &Secret,
        unbuilt: Option<String>,
    ) -> Result<RankConnection, Greeting> {
        // Other ranks use the same interface as rank 0.
        let ip = stream.local_addr().map_err(Greeting::again)?.ip().to_canonical();
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
        let channel =
            call(PATIENCE, stream, secret, ConnectionPurpose::Measurement, &introduction)?;
        tcp::end_if_gone(&channel.stream, GONE).map_err(Greeting::again)?;
        // The port is open already: earlier callers wait in the kernel.
        serve(listener, secret, self.rank).map_err(Greeting::again)?;
        Ok(channel)
    }

    pub fn obey(
        &mut self,
        channel: &mut RankConnection,
        secret: &Secret,
    ) -> Result<(), ClusterMeasureError> {
        loop {
            let order: RankInstruction = receive(channel).map_err(RankError::Lead)?;
            self.duties.check(&order)?;
            let way = |to: PeerRank| {
                let ends = PairEnds { from: self.rank, to: to.rank };
                RankRoute { ends, address: to.address, secret }
            };
            let answer = match order {
                RankInstruction::End => return Ok(()),
                RankInstruction::Profile => {
                    let measure = self.own.profile.as_ref();
                    Ok(RankReply::Profile(measure.and_then(|measure| measure()).map(Box::new)))
                }
                RankInstruction::Pair { to, trips_ms, limit_ms } => {
                    let [trips, limit] = [trips_ms, limit_ms].map(Duration::from_millis);
                    drive(way(to), trips, limit).map(|found| RankReply::Pair(Box::new(found)))
                }
                RankInstruction::Mpi(task) => match &self.program {
                    Some(program) => mpi::run(program, &task, self.rank).map(RankReply::Mpi),
                    None => Err("it has no MPI program".to_owned()),
                },
                RankInstruction::Stream { to, ms, limit_ms } => {
                    let [time, limit] = [ms, limit_ms].map(Duration::from_millis);
                    send_for(way(to), time, limit).map(RankReply::Rate)
                }
            };
            let answer = answer.unwrap_or_else(RankReply::Failed);
            send(channel, &answer).map_err(RankError::Lead)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_obeys_only_its_options() {
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
