//! TCP streams through pollers: section 4.2.
//!
//! The paper gives a network processor's threads to two streams, 8 and 6 for priorities of 4 and 3,
//! and measures the throughput of each. Here two senders saturate one TCP connection each, a
//! service receives (Rx) and forwards (Tx), and two sinks check the received bytes. Streams leave
//! over the loopback, or through one gigabit port each.
//!
//! | module | holds |
//! |---|---|
//! | [`share`] | each stream's share of each window, from the times of forwarded chunks |
//! | `port` | gigabit ports between network namespaces |
//! | `ends` | senders and sinks, and the bytes that identify their streams |
//! | `service` | the program between them |

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
/// The number of the paper's pollers.
pub const POLLERS: usize = 14;
/// Windows for which shares are reported: one that a person notices, and one that a buffer must
/// bridge.
const WINDOWS_MS: [u64; 2] = [100, 10];

/// The paper's configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Configuration {
    /// One stream; one thread receives and forwards.
    SingleRxTx,
    /// One stream; a thread receives, another forwards.
    TwoRxTx,
    /// Two streams without priority, which take turns while both have chunks.
    TwoRxTxNoPrio,
    /// Two streams, 8 and 6 pollers of 14.
    TwoRxTxPrio,
    /// No service; two streams, one after the other.
    Direct,
}

/// The link by which streams leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamLink {
    /// The loopback of this computer.
    Loopback,
    /// One gigabit port for each. It requires root.
    Ports,
}

impl StreamLink {
    /// The configurations to measure.
    pub fn configurations(self) -> impl Iterator<Item = (Configuration, &'static str)> {
        // Without a port, nothing limits a stream without a service.
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
    /// The configurations of figure 9, in the paper's order and by its names.
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
    /// The link by which streams leave: loopback, or gigabit ports.
    pub link: &'static str,
    /// Each stream's throughput, in 10^6 bit/s.
    pub mbps: Vec<f64>,
    /// The first stream's share of all bytes; empty for one stream.
    pub shares: Vec<StreamShares>,
}

/// Runs a configuration for this long.
///
/// # Errors
/// A socket or thread could not be created, or bytes arrived changed.
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
    // Afterwards the bytes left in senders and sockets flow without rivals, so no window includes
    // them.
    let busy = Duration::as_nanos(&lasting) as u64;
    let windows =
        windows.iter().map(|window| shares(&forwarded, *window * 1_000_000, busy)).collect();
    Ok(Through { configuration: configuration.1, link: link.name(), mbps, shares: windows })
}

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

/// Receives a stream, and returns its bytes and its throughput at the sink, without bytes still in
/// sockets and ports.
fn arrived(stream: usize, from: TcpStream, began: Instant) -> Option<(u64, f64)> {
    let bytes = sink(stream, from)?;
    Some((bytes, bytes as f64 * 8.0 / 1e6 / began.elapsed().as_secs_f64()))
}

struct Transferred {
    forwarded: Vec<Forwarded>,
    /// Each stream's throughput at its sink, in 10^6 bit/s.
    mbps: Vec<f64>,
}

fn transfer(
    configuration: Configuration,
    link: StreamLink,
    amount: Lasting,
) -> Result<Transferred, CelluleError> {
    let count = configuration.streams();
    let connections = link.connect(count).map_err(failed)?;
    let (outer, inner): (Vec<TcpStream>, Vec<TcpStream>) = connections.ingress.into_iter().unzip();
    let (sinks, egress): (Vec<TcpStream>, Vec<TcpStream>) = connections.egress.into_iter().unzip();
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
        // A broken stream and a panicked thread are `None` and did not arrive.
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
    fn port_stream_never_exceeds_wire_speed() {
        // Without root, `ip` and `tc` there are no ports.
        let bytes = 40_000_000;
        match transfer(Configuration::SingleRxTx, StreamLink::Ports, Lasting::Bytes(bytes)) {
            // The port's token bucket lets a burst through at once.
            Ok(Transferred { mbps, .. }) => assert!(mbps[0] < 960.0, "{mbps:?}"),
            Err(error) => seatmap_needs::skipped!("ports: {error:?}"),
        }
    }
}
