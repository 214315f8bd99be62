//! TCP streams through pollers: section 4.2.
//!
//! The paper gives a network processor's threads to two streams, 8 and 6 for priorities of 4 and 3,
//! and measures the throughput of each. Here two senders saturate a TCP connection each, a service
//! receives (Rx) and forwards (Tx), and two sinks receive the bytes and compare them with those
//! that were sent. Streams leave over the loopback, or through a gigabit port each.
//!
//! | module | holds |
//! |---|---|
//! | [`share`] | who got how much in each window, from what was forwarded when |
//! | `port` | gigabit ports between network namespaces |
//! | `ends` | senders and sinks, and the bytes by which they know each other |
//! | `service` | what lies between |

mod ends;
mod port;
mod service;
pub mod share;

use crate::cellule::CelluleError;
use ends::{Amount, sink, source};
use port::PortConnections;
use seatmap_worker::poller::pollers;
use serde::Serialize;
use service::{ServiceConnections, StreamOrder};
use share::{Forwarded, StreamShares, shares};
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// The priorities of the paper's streams.
pub const PRIORITIES: [u32; 2] = [4, 3];
/// Its pollers in all.
pub const POLLERS: usize = 14;
/// Windows for which shares are reported: one that a person notices, and one that a buffer has to
/// bridge.
const WINDOWS_MS: [u64; 2] = [100, 10];

/// The paper's configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Configuration {
    /// One stream; one thread receives and forwards.
    SingleRxTx,
    /// One stream; a thread receives, another forwards.
    TwoRxTx,
    /// Two streams without priority: each stream that has a chunk is served in turn.
    TwoRxTxNoPrio,
    /// Two streams, 8 and 6 pollers of 14.
    TwoRxTxPrio,
    /// Nothing between sender and sink; two streams, one after the other.
    Direct,
}

/// The way by which streams leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamLink {
    /// The loopback of this computer.
    Loopback,
    /// A gigabit port each. It requires root.
    Ports,
}

impl StreamLink {
    /// The configurations that are measured.
    pub fn configurations(self) -> impl Iterator<Item = (Configuration, &'static str)> {
        // Without a port there is nothing to hold a stream up that has no service either.
        let direct = (self == StreamLink::Ports).then_some((Configuration::Direct, "Direct"));
        Configuration::ALL.into_iter().chain(direct)
    }

    fn name(self) -> &'static str {
        match self {
            StreamLink::Loopback => "loopback",
            StreamLink::Ports => "gigabit ports",
        }
    }

    fn connect(self, streams: usize) -> io::Result<PortConnections> {
        match self {
            StreamLink::Loopback => {
                let pairs = || (0..streams).map(|_| connected()).collect::<io::Result<Vec<_>>>();
                Ok(PortConnections { ingress: pairs()?, egress: pairs()? })
            }
            StreamLink::Ports => port::connect(streams),
        }
    }
}

impl Configuration {
    /// Those of figure 9, in the paper's order, by its names.
    pub const ALL: [(Configuration, &'static str); 4] = [
        (Configuration::SingleRxTx, "SingleRxTx"),
        (Configuration::TwoRxTx, "TwoRxTx"),
        (Configuration::TwoRxTxNoPrio, "TwoRxTx-NoPrio"),
        (Configuration::TwoRxTxPrio, "TwoRxTx-Prio"),
    ];

    fn streams(self) -> usize {
        match self {
            Configuration::SingleRxTx | Configuration::TwoRxTx => 1,
            Configuration::TwoRxTxNoPrio | Configuration::TwoRxTxPrio => 2,
            Configuration::Direct => 2,
        }
    }

    fn way(self) -> StreamOrder {
        match self {
            // Direct streams have no service.
            Configuration::SingleRxTx | Configuration::Direct => StreamOrder::Single,
            Configuration::TwoRxTx | Configuration::TwoRxTxNoPrio => StreamOrder::RoundRobin,
            Configuration::TwoRxTxPrio => StreamOrder::Weighted(pollers(&PRIORITIES, POLLERS)),
        }
    }
}

/// The throughput of one configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Through {
    /// Its name.
    pub configuration: &'static str,
    /// The way by which streams leave: loopback, or gigabit ports.
    pub link: &'static str,
    /// Each stream's throughput, in 10^6 bit/s.
    pub mbps: Vec<f64>,
    /// The first stream's share of all bytes, where there are two.
    pub shares: Vec<StreamShares>,
}

/// Runs a configuration for this long.
///
/// # Errors
/// No socket or thread to be had, or bytes that arrived changed.
pub fn run(
    configuration: (Configuration, &'static str),
    link: StreamLink,
    lasting: Duration,
) -> Result<Through, CelluleError> {
    if configuration.0 == Configuration::Direct {
        let mbps = direct(link, lasting)?;
        let link = link.name();
        return Ok(Through { configuration: configuration.1, link, mbps, shares: Vec::new() });
    }
    let Transferred { forwarded, mbps } = transfer(configuration.0, link, Lasting::Time(lasting))?;
    let streams = configuration.0.streams();
    let windows = if streams == 2 { &WINDOWS_MS[..] } else { &[] };
    // The bytes that senders and sockets held when the time was up flow out without rivals, so they
    // are not part of a window.
    let busy = Duration::as_nanos(&lasting) as u64;
    let windows =
        windows.iter().map(|window| shares(&forwarded, *window * 1_000_000, busy)).collect();
    Ok(Through { configuration: configuration.1, link: link.name(), mbps, shares: windows })
}

/// The throughput of a stream through each port, one after the other, with nothing between.
fn direct(link: StreamLink, lasting: Duration) -> Result<Vec<f64>, CelluleError> {
    let connections = link.connect(Configuration::Direct.streams()).map_err(failed)?;
    let streams = (0..).zip(connections.egress);
    streams
        .map(|(stream, (outer, inner))| {
            let began = Instant::now();
            let amount = Amount::until(began + lasting);
            std::thread::scope(|scope| {
                let sink = std::thread::Builder::new()
                    .spawn_scoped(scope, move || arrived(stream, outer, began))
                    .map_err(failed)?;
                let sent = source(stream, inner, amount);
                match sink.join().ok().flatten() {
                    Some((got, mbps)) if sent == Some(got) => Ok(mbps),
                    _ => Err(CelluleError::Torn(stream)),
                }
            })
        })
        .collect()
}

/// Takes a stream, and says how much it was, and how much a second: what sockets and ports still
/// hold has not arrived.
fn arrived(stream: usize, from: TcpStream, began: Instant) -> Option<(u64, f64)> {
    let bytes = sink(stream, from)?;
    Some((bytes, bytes as f64 * 8.0 / 1e6 / began.elapsed().as_secs_f64()))
}

/// The traffic of a configuration.
struct Transferred {
    /// The chunks, with their times.
    forwarded: Vec<Forwarded>,
    /// Each stream's throughput at its sink, in 10^6 bit/s.
    mbps: Vec<f64>,
}

/// Sends this amount through each stream of a configuration.
fn transfer(
    configuration: Configuration,
    link: StreamLink,
    amount: Lasting,
) -> Result<Transferred, CelluleError> {
    let count = configuration.streams();
    let connections = link.connect(count).map_err(failed)?;
    let (outer, inner): (Vec<TcpStream>, Vec<TcpStream>) = connections.ingress.into_iter().unzip();
    let (sinks, egress): (Vec<TcpStream>, Vec<TcpStream>) = connections.egress.into_iter().unzip();
    // The time begins when the connections are there.
    let began = Instant::now();
    let amount = amount.begun();
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new;
        let sources: io::Result<Vec<_>> = (0..count)
            .zip(outer)
            .map(|(stream, to)| thread().spawn_scoped(scope, move || source(stream, to, amount)))
            .collect();
        let sources = sources.map_err(failed)?;
        let sinks: io::Result<Vec<_>> = (0..count)
            .zip(sinks)
            .map(|(stream, from)| {
                thread().spawn_scoped(scope, move || arrived(stream, from, began))
            })
            .collect();
        let sinks = sinks.map_err(failed)?;
        let forwarded = ServiceConnections { ingress: inner, egress }
            .forward(&configuration.way())
            .map_err(failed)?;
        // A stream that broke and a thread that panicked are `None` and did not arrive.
        let sent = sources.into_iter().map(|source| source.join().ok().flatten());
        let got = sinks.into_iter().map(|sink| sink.join().ok().flatten());
        let mbps = (0..)
            .zip(sent.zip(got))
            .map(|(stream, ends)| match ends {
                (Some(sent), Some((got, mbps))) if sent == got => Ok(mbps),
                _ => Err(CelluleError::Torn(stream)),
            })
            .collect::<Result<_, _>>()?;
        Ok(Transferred { forwarded, mbps })
    })
}

/// How much is sent, before the time begins.
#[derive(Clone, Copy, Debug)]
enum Lasting {
    Time(Duration),
    #[cfg(test)]
    Bytes(u64),
}

impl Lasting {
    fn begun(self) -> Amount {
        match self {
            Lasting::Time(time) => Amount::until(Instant::now() + time),
            #[cfg(test)]
            Lasting::Bytes(bytes) => Amount { end: None, bytes },
        }
    }
}

fn failed(error: std::io::Error) -> CelluleError {
    CelluleError::System("a stream", error)
}

/// Two ends of a TCP connection over the loopback.
fn connected() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let there = TcpStream::connect(listener.local_addr()?)?;
    Ok((there, listener.accept()?.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_arrives_in_every_configuration() {
        for (configuration, name) in Configuration::ALL {
            let bytes = 3_000_000;
            let Transferred { forwarded, .. } =
                transfer(configuration, StreamLink::Loopback, Lasting::Bytes(bytes)).unwrap();
            for stream in 0..configuration.streams() {
                let sum: u64 =
                    forwarded.iter().filter(|one| one.stream == stream).map(|one| one.bytes).sum();
                assert_eq!(sum, bytes, "{name}");
            }
            assert!(forwarded.is_sorted_by_key(|one| one.at_ns), "{name}");
        }
    }

    #[test]
    fn a_stream_through_a_port_is_no_faster_than_its_wire() {
        // Without root, or without ip and tc, there are no ports.
        let bytes = 40_000_000;
        match transfer(Configuration::SingleRxTx, StreamLink::Ports, Lasting::Bytes(bytes)) {
            // The port's bucket lets a burst through at once.
            Ok(Transferred { mbps, .. }) => assert!(mbps[0] < 960.0, "{mbps:?}"),
            Err(error) => seatmap_needs::skipped!("ports: {error:?}"),
        }
    }
}
