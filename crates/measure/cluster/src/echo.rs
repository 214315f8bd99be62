//! The measured node: it echoes messages, and receives and sends streams.
//!
//! A connection begins with the handshake. Then come orders of nine bytes: a letter and two numbers
//! of four bytes. Orders and answers have a tag; measured messages have none.
//!
//! | order | numbers | action |
//! |---|---|---|
//! | `E` | size, count | receive messages of this size and echo each |
//! | `U` | size, count | receive messages and send one byte after the last |
//! | `D` | size, count | send messages |
//! | `T` | | send the clock, in nanoseconds since 1970, as eight bytes |
//! | `S` | | send this end's counters |

use crate::cluster::{ConnectionEnd, QuotaStop};
use crate::gate::Gate;
use crate::handshake::{Called, ConnectionPurpose};
use crate::seat::TripPinning;
use crate::secret::Secret;
use crate::wire::{RankConnection, send};
use seatmap_os::Root;
use seatmap_os::quota::Quotas;
use seatmap_os::tcp;
use serde::{Deserialize, Serialize};
use std::io;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The largest message accepted, in bytes.
pub const LARGEST: u32 = 4 << 20;

/// Closes a silent connection after this time; a measured pair is never silent that long.
pub const SILENCE: Duration = Duration::from_secs(30);

/// A connection that reaches another rank is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairEnds {
    pub from: usize,
    pub to: usize,
}

const PAUSE: Duration = Duration::from_secs(3600);

/// Serves connections as this rank, each in a thread, until the process ends.
///
/// # Errors
/// The thread cannot be started.
pub fn serve(listener: TcpListener, secret: &Secret, rank: usize) -> io::Result<()> {
    let mut gate = Gate::<PairEnds>::new(vec![listener], secret, ConnectionPurpose::Pair)?;
    std::thread::Builder::new()
        .spawn(move || {
            loop {
                gate.look(PAUSE).into_iter().flatten().for_each(|called| begin(called, rank));
            }
        })
        .map(drop)
}

fn begin(called: Called<PairEnds>, rank: usize) {
    if called.said.to != rank {
        let why = format!("this is rank {rank}, but the connection is for rank {}", called.said.to);
        return called.refuse(&why);
    }
    // If no thread can be started, this closes the connection.
    let _ = std::thread::Builder::new().spawn(move || drop(answer(called)));
}

fn answer(called: Called<PairEnds>) -> io::Result<()> {
    let (_, mut channel) = called.welcome()?;
    channel.set_read_timeout(Some(SILENCE))?;
    channel.stream.set_write_timeout(Some(SILENCE))?;
    let mut buffer = Vec::new();
    let mut seat = TripPinning::new();
    while obey_next(&mut channel, &mut buffer, &mut seat)?.is_some() {}
    Ok(())
}

/// Executes the next order; `None` at the end of the connection.
fn obey_next(
    channel: &mut RankConnection,
    buffer: &mut Vec<u8>,
    seat: &mut TripPinning,
) -> io::Result<Option<u8>> {
    let Some([letter, numbers @ ..]) = channel.receive_frame::<9>()? else { return Ok(None) };
    let numbers = u64::from_be_bytes(numbers);
    let [size, count] = [(numbers >> 32) as u32, numbers as u32];
    // Limits the memory that the other end can make this one allocate.
    if size > LARGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    buffer.resize(size as usize, 0);
    seat.for_trips(letter == b'E');
    obey(channel, letter, buffer, count)?;
    Ok(Some(letter))
}

fn obey(channel: &mut RankConnection, order: u8, buffer: &mut [u8], count: u32) -> io::Result<()> {
    match order {
        b'E' => (0..count).try_for_each(|_| {
            channel.read_payload(buffer)?;
            channel.write_payload(buffer)
        }),
        b'U' => {
            (0..count).try_for_each(|_| channel.read_payload(buffer))?;
            channel.send_frame(&[0])
        }
        b'D' => (0..count).try_for_each(|_| channel.write_payload(buffer)),
        b'T' => channel.send_frame(&clock_ns().to_be_bytes()),
        b'S' => {
            let account = EndCounters::of(&channel.stream);
            send(channel, &account)
        }
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

pub fn clock_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Zero if the kernel does not report a value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EndCounters {
    /// Retransmitted segments.
    pub resent: u64,
    /// All segments sent.
    pub sent: u64,
    mtu_bytes: u64,
    run_ns: u64,
    wait_ns: u64,
    /// Since the quotas' creation; `None` if unknown.
    quotas: Option<Vec<QuotaStop>>,
}

impl EndCounters {
    pub fn of(stream: &TcpStream) -> Self {
        let times = seatmap_os::sched::own_times().unwrap_or_default();
        let info = tcp::info(stream);
        let [resent, sent, mtu_bytes] =
            info.map_or([0; 3], |info| [info.resent, info.sent, info.mtu_bytes]).map(u64::from);
        EndCounters {
            resent,
            sent,
            mtu_bytes,
            run_ns: times.run_ns,
            wait_ns: times.wait_ns.unwrap_or(0),
            quotas: counted(&Quotas::of_self(&Root::new("/"))),
        }
    }

    pub fn end(&self, before: &EndCounters) -> ConnectionEnd {
        let ran_ns = self.run_ns.saturating_sub(before.run_ns);
        let waited_ns = self.wait_ns.saturating_sub(before.wait_ns);
        let all_ns = ran_ns.saturating_add(waited_ns);
        ConnectionEnd {
            mtu_bytes: u32::try_from(self.mtu_bytes).ok().filter(|bytes| *bytes > 0),
            // A measuring thread has run, so 0 comes from a kernel that does not count.
            wait_share: (ran_ns > 0).then(|| waited_ns as f64 / all_ns as f64),
            stops: self.stops(before),
        }
    }

    /// The quota of a new group counts from the next one on.
    fn stops(&self, before: &EndCounters) -> Option<Vec<QuotaStop>> {
        let earlier = before.quotas.as_ref()?;
        let stops = self.quotas.as_ref()?.iter().filter_map(|now| {
            let before = earlier.iter().find(|before| before.file == now.file)?;
            // A smaller count belongs to a recreated group.
            let stopped_periods = now.stopped_periods.checked_sub(before.stopped_periods)?;
            // A kernel may count only the stopped periods.
            let periods = now.periods.saturating_sub(before.periods).max(stopped_periods);
            let stopped_ms = (now.stopped_ms - before.stopped_ms).max(0.0);
            let stop = QuotaStop { stopped_periods, periods, stopped_ms, ..now.clone() };
            (stopped_periods > 0).then_some(stop)
        });
        Some(stops.collect())
    }
}

/// `None` if no quota is counted or some may be hidden.
fn counted(quotas: &Quotas) -> Option<Vec<QuotaStop>> {
    let all = quotas.all.iter().filter_map(|quota| {
        Some(QuotaStop {
            group: quota.group.clone(),
            file: quota.file.clone(),
            cpus: quota.cpus,
            period_ms: quota.period_us as f64 / 1e3,
            is_read_only: quota.is_read_only,
            stopped_periods: quota.throttled?,
            periods: quota.periods.unwrap_or(0),
            stopped_ms: quota.stopped_ns.unwrap_or(0) as f64 / 1e6,
        })
    });
    let all: Vec<QuotaStop> = all.collect();
    let is_whole = all.len() == quotas.all.len() && quotas.unseen.is_none();
    (is_whole || !all.is_empty()).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::{RankRoute, drive};

    fn stop(file: &str, stopped_periods: u64, periods: u64) -> QuotaStop {
        QuotaStop {
            file: file.to_owned(),
            stopped_periods,
            periods,
            stopped_ms: 50.0 * stopped_periods as f64,
            ..QuotaStop::default()
        }
    }

    fn account(quotas: Option<Vec<QuotaStop>>) -> EndCounters {
        EndCounters { quotas, run_ns: 5, ..EndCounters::default() }
    }

    #[test]
    fn end_lists_quotas_that_stopped_it() {
        let before = account(Some(vec![stop("a", 3, 10), stop("b", 7, 10)]));
        let after = account(Some(vec![stop("a", 5, 14), stop("b", 7, 14), stop("new", 4, 4)]));
        let stops = after.end(&before).stops.unwrap();
        assert_eq!(
            stops,
            [QuotaStop { periods: 4, stopped_periods: 2, stopped_ms: 100.0, ..stop("a", 0, 0) }]
        );
        assert_eq!(
            after.end(&account(None)).stops,
            None,
            "an end that says nothing was not free of stops"
        );
        assert_eq!(before.end(&before).stops, Some(Vec::new()));
    }

    #[test]
    fn round_trip_losses_are_counted_before_streams() {
        let secret = Secret::new().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut gate =
            Gate::<PairEnds>::new(vec![listener], &secret, ConnectionPurpose::Pair).unwrap();
        let answering = std::thread::spawn(move || {
            let called = std::iter::repeat_with(|| gate.look(PAUSE)).flatten().flatten().next();
            let (_, mut channel) = called.unwrap().welcome().unwrap();
            let mut buffer = Vec::new();
            let mut seat = TripPinning::new();
            let letters = std::iter::from_fn(|| {
                obey_next(&mut channel, &mut buffer, &mut seat).ok().flatten()
            });
            letters.collect::<Vec<u8>>()
        });
        let way = RankRoute { ends: PairEnds { from: 0, to: 1 }, address, secret: &secret };
        drive(way, Duration::from_millis(1), SILENCE).unwrap();
        let letters = answering.join().unwrap();
        let first_stream = letters.iter().position(|letter| b"UD".contains(letter)).unwrap();
        let last_trip = letters.iter().rposition(|letter| *letter == b'E').unwrap();
        assert_eq!(&letters[last_trip + 1..first_stream], b"S", "{letters:?}");
    }

    #[test]
    fn invisible_quotas_are_not_reported() {
        let hidden = Quotas { unseen: Some("a container".to_owned()), ..Quotas::default() };
        assert_eq!(counted(&hidden), None);
        assert_eq!(counted(&Quotas::default()), Some(Vec::new()));
    }
}
