//! A rank that does as rank 0 says: it answers other nodes, and measures those that it is told to.

use crate::drive::{Found, drive, stream as send_for};
use crate::echo::serve;
use crate::facts::Facts;
use crate::handshake::{HandshakeError, call};
use crate::launcher::Rank;
use crate::measure::{MeasureError, Options, Own};
use crate::meeting::{Greeting, plain};
use crate::mpi;
use crate::rank_error::RankError;
use crate::secret::Secret;
use crate::wire::{GONE, receive, send};
use seatmap_machine::Profile;
use seatmap_os::tcp;
use serde::{Deserialize, Serialize};
use std::io;
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
    pub facts: Facts,
}

/// The orders of rank 0.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Measure this node's core distances.
    Profile,
    /// Measure the way to the node at this address; trips of each size take so many ms. Rank 0 waits for longer than
    /// `limit_ms`.
    Pair { address: SocketAddr, trips_ms: u64, limit_ms: u64 },
    /// Send to the node at this address for so many ms, with the same limit.
    Stream { address: SocketAddr, ms: u64, limit_ms: u64 },
    /// Run the program for MPI in the place of this rank.
    Mpi(Box<mpi::Task>),
    /// It is done.
    End,
}

/// The answers of a rank.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    Profile(Option<Box<Profile>>),
    Pair(Box<Found>),
    /// The rate of a stream, in Mbit/s.
    Rate(f64),
    /// The text that the program for MPI printed.
    Mpi(String),
    Failed(String),
}

/// Runs a rank other than 0 until rank 0 says that it is done.
pub(crate) fn run(rank: &Rank, own: Own, options: &Options) -> Result<(), MeasureError> {
    let found = options.meeting.find_host(rank, options.secret.as_ref(), options.timeout, |mut stream, secret| {
        introduce(&mut stream, rank, &own, secret)?;
        Ok((stream, secret.clone()))
    });
    let (mut stream, secret) = found.map_err(RankError::from)?;
    obey(&mut stream, rank.rank, own, &secret)
}

/// Comes to rank 0, with a port at which others are answered.
pub(crate) fn introduce(stream: &mut TcpStream, rank: &Rank, own: &Own, secret: &Secret) -> Result<(), Greeting> {
    let again = |error: io::Error| Greeting::Again(error.to_string());
    stream.set_nodelay(true).map_err(again)?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).map_err(again)?;
    // The interface that leads to rank 0 is the one that others use.
    let ip = plain(stream.local_addr().map_err(again)?.ip());
    let listener = TcpListener::bind((ip, 0)).map_err(again)?;
    let address = listener.local_addr().map_err(again)?;
    let (node, facts) = (own.name.clone(), own.facts.clone());
    let introduction = Introduction { rank: rank.rank, size: rank.size, node, address, facts };
    call(stream, secret, &introduction).map_err(|error| match error {
        HandshakeError::Connection(error) => again(error),
        HandshakeError::Secret => Greeting::Again(error.to_string()),
        other => Greeting::Never(other.to_string()),
    })?;
    stream.set_read_timeout(None).map_err(again)?;
    tcp::end_if_gone(stream, GONE).map_err(again)?;
    serve(listener, secret.clone());
    Ok(())
}

/// Does what rank 0 asks for.
pub(crate) fn obey(stream: &mut TcpStream, rank: usize, own: Own, secret: &Secret) -> Result<(), MeasureError> {
    loop {
        let order: Order = receive(stream).map_err(RankError::Lead)?;
        let answer = match order {
            Order::End => return Ok(()),
            Order::Profile => Answer::Profile(own.profile.as_ref().and_then(|measure| measure()).map(Box::new)),
            Order::Pair { address, trips_ms, limit_ms } => {
                let [trips, limit] = [trips_ms, limit_ms].map(Duration::from_millis);
                drive(address, secret, trips, limit).map_or_else(Answer::Failed, |found| Answer::Pair(Box::new(found)))
            }
            Order::Mpi(task) => mpi::run(&task, rank).map_or_else(Answer::Failed, Answer::Mpi),
            Order::Stream { address, ms, limit_ms } => {
                let [time, limit] = [ms, limit_ms].map(Duration::from_millis);
                send_for(address, secret, time, limit).map_or_else(Answer::Failed, Answer::Rate)
            }
        };
        send(stream, &answer).map_err(RankError::Lead)?;
    }
}
