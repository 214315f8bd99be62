//! Measures a pair from one side: round trips, gaps and rates.

use crate::cluster::{NodePair, Trip};
use crate::echo::{EndCounters, LARGEST, PairEnds, SILENCE, clock_ns};
use crate::handshake::{ConnectionPurpose, HandshakeError, call};
use crate::seat::TripPinning;
use crate::secret::Secret;
use crate::wire::{self, RankConnection, receive};
use seatmap_data::statistics::{greatest, median, quantile, summarise};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Message sizes of the round trips, in bytes: a lock or flag, a halo, a block.
pub const SIZES: [u32; 4] = [8, 1024, 16 << 10, crate::choice::SIZE_BYTES];

const FEWEST_TRIPS: usize = 24;
const MOST_TRIPS: usize = 20_000;

/// If the minimum takes more than this many times the planned time, fewer trips suffice.
const PATIENCE: f64 = 10.0;
const FEWEST_SLOW_TRIPS: usize = 6;

const WARM_UP: u32 = 4;

/// Passes for a confidence interval.
const PASSES: usize = 4;

const GAPS: u32 = 256;
const GAP_BYTES: u32 = 64;

/// The shortest stream that opens TCP's window, or `STREAM_TO_TRIPS` times the time of the trips if
/// shorter. The best of three counts, because disturbances only slow a link.
const STREAM: Duration = Duration::from_millis(40);
const STREAM_TO_TRIPS: u32 = 2;
const STREAMS: usize = 3;
const FIRST_BYTES: u32 = 64 << 10;
const MOST_MESSAGES: u32 = 1 << 12;

/// The readings of the other clock with the shortest trips count (Cristian 1989).
const CLOCKS: usize = 12;

#[derive(Clone, Copy, Debug)]
pub struct RankRoute<'a> {
    pub ends: PairEnds,
    pub address: SocketAddr,
    pub secret: &'a Secret,
}

/// Each size takes about `time`. A silent node is given up well before `limit` and a slow
/// connection at `limit`, so rank 0 does not blame this node. The nodes of the figures are ranks.
///
/// # Errors
///
/// The step that failed, and why.
pub fn drive(way: RankRoute<'_>, time: Duration, limit: Duration) -> Result<NodePair, String> {
    let mut line = Line::open(way, limit).map_err(tried("the connection request", limit))?;
    let mut seat = TripPinning::new();
    let before = line.accounts(limit)?;
    seat.for_trips(true);
    let mut trips = Vec::new();
    for size in SIZES {
        let what = format!("messages of {size} B");
        let through = trips.last().map_or(String::new(), |trip: &Trip| {
            format!(", but those of {} B arrive: larger packets are lost", trip.size_bytes)
        });
        trips.push(line.trips(size, time).map_err(|error| {
            // The pair's time is over; no packet was lost.
            let is_over = error.kind() == io::ErrorKind::Other;
            tried(&what, limit)(error) + if is_over { "" } else { &through }
        })?);
    }
    // Full queues drop packets even on a healthy link.
    let trips_only = line.accounts(limit)?;
    seat.for_trips(false);
    let streams = &tried("streams", limit);
    let gaps = [
        line.there(GAP_BYTES, GAPS).map_err(streams)?,
        line.back(GAP_BYTES, GAPS).map_err(streams)?,
    ];
    let gap_ns = gaps.map(|ns| ns / f64::from(GAPS));
    let least = STREAM.min(STREAM_TO_TRIPS * time);
    let rate_mbps = [
        line.rate(Line::there, least).map_err(streams)?,
        line.rate(Line::back, least).map_err(streams)?,
    ];
    let offset_ns = line.clock_offset_ns().map_err(tried("the request for its clock", limit))?;
    let after = line.accounts(limit)?;
    let ends = [0, 1].map(|end| after[end].end(&before[end]));
    Ok(NodePair {
        nodes: [way.ends.from, way.ends.to],
        trips,
        rate_mbps,
        gap_ns,
        retransmits: trips_only.each_ref().map(|own| own.resent),
        segments: trips_only.each_ref().map(|own| own.sent),
        clock_offset_ns: Some(offset_ns),
        mtu_bytes: ends[0].mtu_bytes,
        ends: Some(ends),
        beside: None,
    })
}

fn tried(what: &str, limit: Duration) -> impl Fn(io::Error) -> String {
    move |error| {
        if wire::is_late(&error) {
            format!("no answer to {what} within {}", limit_words(silence(limit)))
        } else if wire::has_ended(&error) {
            format!("the connection broke during {what}")
        } else {
            format!("{what}: {error}")
        }
    }
}

/// The text is never "0 s".
fn limit_words(limit: Duration) -> String {
    if limit < Duration::from_secs(1) {
        return format!("{} ms", limit.as_millis().max(1));
    }
    format!("{:.1} s", limit.as_secs_f64())
}

/// The limit for one answer: two (the connection and the next step) stay below `limit`.
fn silence(limit: Duration) -> Duration {
    (limit / 3).min(SILENCE)
}

struct Line {
    channel: RankConnection,
    buffer: Vec<u8>,
    time: PairTime,
}

#[derive(Clone, Copy)]
struct PairTime {
    limit: Duration,
    /// `None` if the clock cannot represent it.
    until: Option<Instant>,
}

impl PairTime {
    fn begin(limit: Duration) -> Self {
        PairTime { limit, until: Instant::now().checked_add(limit) }
    }

    /// Each answer of a slow connection may be in time, and their sum too late.
    fn look(self) -> io::Result<()> {
        if self.until.is_none_or(|until| Instant::now() < until) {
            return Ok(());
        }
        let limit = limit_words(self.limit);
        Err(io::Error::other(format!(
            "measuring the pair takes longer than {limit}; raise it with --timeout"
        )))
    }
}

/// Sends for this time and returns the rate in Mbit/s.
pub fn stream(way: RankRoute<'_>, time: Duration, limit: Duration) -> Result<f64, String> {
    let mut line = Line::open(way, limit).map_err(tried("the connection request", limit))?;
    let begun = Instant::now();
    let mut sent = 0_u64;
    while begun.elapsed() < time {
        line.there(FIRST_BYTES, BURST).map_err(tried("a stream", limit))?;
        sent += u64::from(FIRST_BYTES) * u64::from(BURST);
    }
    // 1 byte/ns is 8,000 Mbit/s.
    Ok(8e3 * sent as f64 / nanoseconds(begun))
}

/// Few enough for a slow link, enough to fill a fast one.
const BURST: u32 = 16;

impl Line {
    fn open(way: RankRoute<'_>, limit: Duration) -> io::Result<Self> {
        let time = PairTime::begin(limit);
        let silence = silence(limit).max(Duration::from_millis(1));
        let stream = TcpStream::connect_timeout(&way.address, silence)?;
        let called = call(silence, stream, way.secret, ConnectionPurpose::Pair, &way.ends);
        let mut channel = called.map_err(|error| match error {
            HandshakeError::Connection(error) => error,
            HandshakeError::Slow => io::ErrorKind::TimedOut.into(),
            other => io::Error::other(other),
        })?;
        channel.set_read_timeout(Some(silence))?;
        channel.stream.set_write_timeout(Some(silence))?;
        Ok(Line { channel, buffer: vec![0x5a; LARGEST as usize], time })
    }

    /// Makes the next order's tag before a clock is read; the order must be sent next.
    fn sealed(&mut self, letter: u8, size: u32, count: u32) -> Vec<u8> {
        let order = [&[letter][..], &size.to_be_bytes(), &count.to_be_bytes()].concat();
        self.channel.sealed_frame(&order)
    }

    fn order(&mut self, letter: u8, size: u32, count: u32) -> io::Result<()> {
        let order = self.sealed(letter, size, count);
        self.channel.write_payload(&order)
    }

    fn answer<const BYTES: usize>(&mut self) -> io::Result<[u8; BYTES]> {
        self.channel.receive_frame()?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    fn trips(&mut self, size: u32, time: Duration) -> io::Result<Trip> {
        let first = self.echo(size, 1)?[0];
        let enough_ns = PATIENCE * time.as_nanos() as f64;
        let fewest = ((enough_ns / first) as usize).clamp(FEWEST_SLOW_TRIPS, FEWEST_TRIPS);
        if fewest == FEWEST_TRIPS {
            self.echo(size, WARM_UP - 1)?;
        }
        let begun = Instant::now();
        let mut times = Vec::new();
        while times.len() < fewest || begun.elapsed() < time && times.len() < MOST_TRIPS {
            times.extend(self.echo(size, fewest as u32)?);
        }
        let passes: Vec<Vec<f64>> =
            times.chunks(times.len().div_ceil(PASSES)).map(<[f64]>::to_vec).collect();
        let summary = summarise(&passes, u64::from(size)).ok_or(io::ErrorKind::InvalidData)?;
        let p90_ns = quantile(&times, 0.9).unwrap_or(summary.median);
        Ok(Trip {
            size_bytes: size,
            median_ns: summary.median,
            p10_ns: summary.p10,
            p90_ns,
            ci95_ns: [summary.ci95_low, summary.ci95_high],
            count: times.len(),
        })
    }

    fn echo(&mut self, size: u32, count: u32) -> io::Result<Vec<f64>> {
        self.order(b'E', size, count)?;
        let time = self.time;
        let message = &mut self.buffer[..size as usize];
        (0..count)
            .map(|_| {
                time.look()?;
                let begun = Instant::now();
                self.channel.write_payload(message)?;
                self.channel.read_payload(message)?;
                Ok(nanoseconds(begun))
            })
            .collect()
    }

    fn there(&mut self, size: u32, count: u32) -> io::Result<f64> {
        self.time.look()?;
        self.order(b'U', size, count)?;
        let begun = Instant::now();
        (0..count).try_for_each(|_| self.channel.write_payload(&self.buffer[..size as usize]))?;
        // Only the other end knows when the last one arrives.
        self.answer::<1>()?;
        Ok(nanoseconds(begun))
    }

    /// Measures from the order to the last byte.
    fn back(&mut self, size: u32, count: u32) -> io::Result<f64> {
        self.time.look()?;
        let order = self.sealed(b'D', size, count);
        let begun = Instant::now();
        self.channel.write_payload(&order)?;
        (0..count)
            .try_for_each(|_| self.channel.read_payload(&mut self.buffer[..size as usize]))?;
        Ok(nanoseconds(begun))
    }

    /// In Mbit/s.
    fn rate(
        &mut self,
        stream: fn(&mut Line, u32, u32) -> io::Result<f64>,
        least: Duration,
    ) -> io::Result<f64> {
        let least_ns = least.as_nanos() as f64;
        let mut count = 1;
        // A short stream looks long at a busy moment, so it must be slow twice. Within a traffic
        // shaper's burst it looks faster than the link.
        while count < MOST_MESSAGES
            && (stream(self, FIRST_BYTES, count)? < least_ns
                || stream(self, FIRST_BYTES, count)? < least_ns)
        {
            count *= 2;
        }
        let bits = 8.0 * f64::from(FIRST_BYTES) * f64::from(count);
        let streams = if count == 1 { 1 } else { STREAMS };
        let times = (0..streams)
            .map(|_| stream(self, FIRST_BYTES, count))
            .collect::<io::Result<Vec<f64>>>()?;
        // 1 bit/ns is 1,000 Mbit/s.
        Ok(greatest(times.iter().map(|ns| 1e3 * bits / ns)))
    }

    fn clock_offset_ns(&mut self) -> io::Result<f64> {
        let mut answers = Vec::new();
        for _ in 0..CLOCKS {
            // Each side makes and checks one tag before and after the reading, so these times
            // cancel out.
            let sent_ns = clock_ns();
            self.order(b'T', 0, 0)?;
            let theirs_ns = self.number()?;
            let back_ns = clock_ns();
            // As integers, because `f64` cannot hold nanoseconds since 1970.
            let middle_ns = sent_ns.midpoint(back_ns);
            let ahead_ns = i128::from(theirs_ns) - i128::from(middle_ns);
            answers.push((back_ns.saturating_sub(sent_ns), ahead_ns as f64));
        }
        // A short trip leaves little delay to divide wrongly between the directions; the median of
        // the shortest quarter ignores an outlier.
        answers.sort_by_key(|answer| answer.0);
        median(answers[..CLOCKS / 4].iter().map(|answer| answer.1))
            .ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn accounts(&mut self, limit: Duration) -> Result<[EndCounters; 2], String> {
        let theirs = self.order(b'S', 0, 0).and_then(|()| receive(&mut self.channel));
        let theirs = theirs.map_err(tried("the request for its counts", limit))?;
        Ok([EndCounters::of(&self.channel.stream), theirs])
    }

    fn number(&mut self) -> io::Result<u64> {
        self.answer().map(u64::from_be_bytes)
    }
}

fn nanoseconds(begun: Instant) -> f64 {
    // A coarse clock may not advance, and rates are divided by this.
    begun.elapsed().as_nanos().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::echo::serve;
    use std::net::TcpListener;

    fn answering(rank: usize, secret: &Secret) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        serve(listener, secret, rank).unwrap();
        address
    }

    fn way(to: usize, address: SocketAddr, secret: &Secret) -> RankRoute<'_> {
        RankRoute { ends: PairEnds { from: 0, to }, address, secret }
    }

    #[test]
    fn local_pair_is_measured_both_ways() {
        let secret = Secret::new().unwrap();
        let address = answering(1, &secret);
        let found =
            drive(way(1, address, &secret), Duration::from_millis(5), Duration::from_secs(60))
                .unwrap();
        assert_eq!(found.trips.iter().map(|trip| trip.size_bytes).collect::<Vec<_>>(), SIZES);
        for trip in &found.trips {
            assert!(trip.count >= FEWEST_SLOW_TRIPS && trip.p10_ns <= trip.p90_ns, "{trip:?}");
        }
        assert!(found.rate_mbps.iter().chain(&found.gap_ns).all(|value| *value > 0.0));
        assert!(
            found.segments.iter().all(|sent| *sent > 100)
                && found.ends.as_ref().unwrap().iter().all(|end| end.mtu_bytes > Some(1000)),
            "{found:?}"
        );
        assert!(found.clock_offset_ns.unwrap().abs() < 1e9, "{found:?}");
    }

    #[test]
    fn pair_is_limited_by_its_timeout() {
        let secret = Secret::new().unwrap();
        let way = way(1, answering(1, &secret), &secret);
        let forever = Duration::from_millis(u64::MAX);
        let mut line = Line::open(way, forever).unwrap();
        line.trips(8, Duration::ZERO).unwrap();
        // Over after the connection, however long that took.
        line.time = PairTime { limit: Duration::from_millis(900), until: Some(Instant::now()) };
        for error in [
            line.trips(8, Duration::ZERO).unwrap_err(),
            line.rate(Line::there, STREAM).unwrap_err(),
            line.rate(Line::back, STREAM).unwrap_err(),
        ] {
            assert_eq!(
                tried("streams", line.time.limit)(error),
                "streams: measuring the pair takes longer than 900 ms; raise it with --timeout"
            );
        }
        drop(line);
        drive(way, Duration::from_millis(1), forever).unwrap();
    }

    #[test]
    fn short_limit_is_printed_in_milliseconds() {
        let words = [0, 10, 999, 6_667].map(|ms| limit_words(Duration::from_millis(ms)));
        assert_eq!(words, ["1 ms", "10 ms", "999 ms", "6.7 s"]);
    }

    #[test]
    fn wrong_secret_or_rank_is_refused() {
        let secret = Secret::new().unwrap();
        let address = answering(1, &secret);
        let refused = |to: usize, secret: &Secret| {
            drive(way(to, address, secret), Duration::from_millis(1), Duration::from_secs(60))
                .unwrap_err()
        };
        assert!(refused(1, &Secret::new().unwrap()).contains("wrong secret"));
        assert!(refused(2, &secret).contains("this is rank 1, but the connection is for rank 2"));
    }
}
