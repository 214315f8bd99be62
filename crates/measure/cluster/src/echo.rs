//! The node that is measured: it answers messages, takes streams and gives them.
//!
//! A connection begins with the handshake. Then come orders of nine bytes: a letter, and two numbers of four bytes.
//!
//! | order | numbers | what is done |
//! |---|---|---|
//! | `E` | size, count | that many messages of that size come, and each is sent back |
//! | `U` | size, count | that many messages come, and one byte goes back after the last |
//! | `D` | size, count | that many messages go back |
//! | `T` | | the clock goes back, in nanoseconds since 1970, as eight bytes |
//! | `S` | | this end's account of itself goes back, five numbers of eight bytes each |

use crate::cluster::End;
use crate::handshake::{hear, welcome};
use crate::seat::Seat;
use crate::secret::Secret;
use seatmap_os::tcp;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The largest message that is taken, in bytes.
pub(crate) const LARGEST: u32 = 4 << 20;

/// The time after which a silent connection is given up. A measured pair is never silent that long.
pub(crate) const SILENCE: Duration = Duration::from_secs(30);

/// Serves the connections of a listener for as long as this process lives, each in a thread.
pub(crate) fn serve(listener: TcpListener, secret: Secret) {
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let secret = secret.clone();
            // The one who measures sees that the connection broke; here it is of no interest.
            std::thread::spawn(move || drop(answer(stream, &secret)));
        }
    });
}

fn answer(mut stream: TcpStream, secret: &Secret) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(SILENCE))?;
    stream.set_write_timeout(Some(SILENCE))?;
    let called = hear::<()>(&mut stream, secret).map_err(io::Error::other)?;
    welcome(&mut stream, secret, &called)?;
    let (mut buffer, mut seat) = (Vec::new(), Seat::new());
    loop {
        let mut order = [0; 9];
        match stream.read_exact(&mut order) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            other => other?,
        }
        let [size, count] =
            [1, 5].map(|at| u32::from_be_bytes([order[at], order[at + 1], order[at + 2], order[at + 3]]));
        if size > LARGEST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        buffer.resize(size as usize, 0);
        seat.for_trips(order[0] == b'E');
        obey(&mut stream, order[0], &mut buffer, count)?;
    }
}

fn obey(stream: &mut TcpStream, order: u8, buffer: &mut [u8], count: u32) -> io::Result<()> {
    match order {
        b'E' => (0..count).try_for_each(|_| {
            stream.read_exact(buffer)?;
            stream.write_all(buffer)
        }),
        b'U' => {
            (0..count).try_for_each(|_| stream.read_exact(buffer))?;
            stream.write_all(&[0])
        }
        b'D' => (0..count).try_for_each(|_| stream.write_all(buffer)),
        b'T' => stream.write_all(&clock_ns().to_be_bytes()),
        b'S' => {
            let numbers = Account::of(stream).numbers().map(u64::to_be_bytes);
            stream.write_all(&numbers.concat())
        }
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Nanoseconds since 1970 by this node's clock.
pub(crate) fn clock_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// One end's figures of itself: counts of its connection, and the times of its thread. Zeros stand for what the kernel
/// does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// Segments that it sent again.
    pub resent: u64,
    /// Segments that it sent, those among them.
    pub sent: u64,
    mtu_bytes: u64,
    run_ns: u64,
    wait_ns: u64,
}

impl Account {
    pub(crate) const NUMBERS: usize = 5;

    /// That of the thread that calls, for this connection.
    pub(crate) fn of(stream: &TcpStream) -> Self {
        let times = seatmap_os::sched::own_times().unwrap_or_default();
        let info = tcp::info(stream);
        Account {
            resent: info.map_or(0, |info| u64::from(info.resent)),
            sent: info.map_or(0, |info| u64::from(info.sent)),
            mtu_bytes: info.map_or(0, |info| u64::from(info.mtu_bytes)),
            run_ns: times.run_ns,
            wait_ns: times.wait_ns.unwrap_or(0),
        }
    }

    fn numbers(self) -> [u64; Account::NUMBERS] {
        [self.resent, self.sent, self.mtu_bytes, self.run_ns, self.wait_ns]
    }

    /// The figures of the time since an earlier account.
    pub(crate) fn end(&self, before: &Account) -> End {
        let ran_ns = self.run_ns.saturating_sub(before.run_ns);
        let waited_ns = self.wait_ns.saturating_sub(before.wait_ns);
        let all_ns = ran_ns.saturating_add(waited_ns);
        End {
            mtu_bytes: u32::try_from(self.mtu_bytes).ok().filter(|bytes| *bytes > 0),
            wait_share: (ran_ns > 0).then(|| waited_ns as f64 / all_ns as f64),
        }
    }
}

impl From<[u64; Account::NUMBERS]> for Account {
    fn from([resent, sent, mtu_bytes, run_ns, wait_ns]: [u64; Account::NUMBERS]) -> Self {
        Account { resent, sent, mtu_bytes, run_ns, wait_ns }
    }
}
