//! Records for `seatmap observe`: what was seen, over a socket.
//!
//! A record is four words of 64 bits, in the computer's order. The first holds the kind in its
//! lower half and a thread in its upper one. The observing side is `seatmap-observe`, module
//! `pages`.

use super::fence;
use crate::output::Path;
use crate::threads::cpu_ns;
use std::ffi::c_int;

/// The version of the records. Both sides are installed together; a difference is told of.
pub const VERSION: u64 = 1;

/// Records that are kept until they are sent. While nobody reads them, more are lost.
const MOST: usize = 2048;

/// Words of a record.
const WORDS: usize = 4;

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// The first one: the process, and the thread that samples.
    Hello {
        /// The thread.
        tid: i32,
        /// The process.
        pid: i32,
    },
    /// The kernel refuses what is needed, by the number of its error.
    Refused(c_int),
    /// A thread accessed a page that was taken away.
    Read(Sample),
    /// A thread wrote to a page that was taken away.
    Written(Sample),
    /// A thread wrote to a page that was protected.
    Changed(Sample),
    /// The time that the sampling took so far.
    Cost {
        /// The thread that samples, in nanoseconds of CPU time.
        own_ns: u64,
        /// Faults of the program's threads.
        faults: u64,
        /// CPU time of a thread for one fault, in nanoseconds.
        fault_ns: u64,
    },
    /// The process forked a child that has not started a program, in which nothing is sampled.
    Forked,
    /// Memory that was looked at, and that was left out, in bytes.
    Memory {
        /// The memory from which pages are taken.
        sampled_bytes: u64,
        /// Memory beyond the limit.
        left_out_bytes: u64,
    },
    /// Samples that were lost, as nobody read them.
    Lost(u64),
}

/// A time in which a page was taken away or protected, or a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The thread that ended it; 0 where none did.
    pub tid: i32,
    /// The address that the thread accessed, or the page's.
    pub address: usize,
    /// How long, in nanoseconds; 0 for a further thread within the same time.
    pub exposed_ns: u64,
}

impl Record {
    fn words(&self) -> [u64; WORDS] {
        match self {
            Record::Hello { tid, pid } => [first(1, *tid), *pid as u64, VERSION, 0],
            Record::Refused(error) => [first(2, 0), *error as u64, 0, 0],
            Record::Read(one) => sample(3, one),
            Record::Written(one) => sample(4, one),
            Record::Changed(one) => sample(5, one),
            Record::Cost { own_ns, faults, fault_ns } => [first(6, 0), *own_ns, *faults, *fault_ns],
            Record::Forked => [first(7, 0), 0, 0, 0],
            Record::Memory { sampled_bytes, left_out_bytes } => {
                [first(8, 0), *sampled_bytes, *left_out_bytes, 0]
            }
            Record::Lost(count) => [first(9, 0), *count, 0, 0],
        }
    }
}

fn sample(kind: u64, sample: &Sample) -> [u64; WORDS] {
    [first(kind, sample.tid), sample.address as u64, sample.exposed_ns, 0]
}

fn first(kind: u64, tid: i32) -> u64 {
    kind | u64::from(tid as u32) << 32
}

/// The way to `seatmap observe`.
pub struct Wire {
    socket: c_int,
    records: &'static mut [[u64; WORDS]],
    count: usize,
    /// Bytes of the first record that are sent already.
    begun_bytes: usize,
    lost: u64,
    sent_ns: i64,
    is_open: bool,
}

impl Wire {
    /// Connects to a socket, whose name begins with `@` where it is not a file; `None` where nobody
    /// listens.
    pub fn connect(path: &Path) -> Option<Self> {
        let mut address = libc::sockaddr_un {
            sun_family: libc::AF_UNIX as libc::sa_family_t,
            sun_path: [0; 108],
        };
        let name = path.as_c().to_bytes();
        if name.len() >= address.sun_path.len() {
            return None;
        }
        address.sun_path.iter_mut().zip(name).for_each(|(to, from)| *to = *from as libc::c_char);
        if name.first() == Some(&b'@') {
            address.sun_path[0] = 0;
        }
        let records = fence::table(MOST)?;
        // SAFETY: the call has no preconditions.
        let socket =
            unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) };
        let length = std::mem::offset_of!(libc::sockaddr_un, sun_path) + name.len();
        // SAFETY: the address is as long as said.
        let status = unsafe {
            libc::connect(socket, (&raw const address).cast(), length as libc::socklen_t)
        };
        let wire =
            Wire { socket, records, count: 0, begun_bytes: 0, lost: 0, sent_ns: 0, is_open: true };
        (status == 0 && wire.is_of_own_user()).then_some(wire)
    }

    /// Whether root or this user listens. A name without a file is free for all users once its
    /// owner has ended.
    fn is_of_own_user(&self) -> bool {
        let mut peer = libc::ucred { pid: 0, uid: libc::uid_t::MAX, gid: libc::gid_t::MAX };
        let mut length = size_of::<libc::ucred>() as libc::socklen_t;
        let into = (&raw mut peer).cast();
        // SAFETY: the kernel writes at most `length` bytes to `peer`, which is that long.
        let status = unsafe {
            libc::getsockopt(
                self.socket,
                libc::SOL_SOCKET,
                libc::SO_PEERCRED,
                into,
                &raw mut length,
            )
        };
        // SAFETY: the call has no preconditions.
        status == 0 && (peer.uid == 0 || peer.uid == unsafe { libc::geteuid() })
    }

    /// The socket, for poll(2).
    pub fn fd(&self) -> c_int {
        self.socket
    }

    /// Whether somebody reads.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Nobody reads any longer.
    pub fn close(&mut self) {
        self.is_open = false;
    }

    /// Keeps a record until it is sent.
    pub fn tell(&mut self, record: Record) {
        if self.count == MOST {
            self.send();
        }
        match self.records.get_mut(self.count) {
            Some(place) => {
                *place = record.words();
                self.count += 1;
            }
            None => self.lost += 1,
        }
    }

    /// Sends what was kept for a while, now and then.
    pub fn send_sometimes(&mut self) {
        const PAUSE_NS: i64 = 10_000_000;
        let now = cpu_ns(libc::CLOCK_MONOTONIC);
        if now - self.sent_ns >= PAUSE_NS || self.count > MOST / 2 {
            self.sent_ns = now;
            self.send();
        }
    }

    /// Sends as much as the socket takes.
    pub fn send(&mut self) {
        let all = self.count * size_of::<[u64; WORDS]>();
        while self.is_open && self.begun_bytes < all {
            let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
            // SAFETY: the records up to `all` bytes are in the array.
            let sent = unsafe {
                let from = self.records.as_ptr().cast::<u8>().add(self.begun_bytes);
                libc::send(self.socket, from.cast(), all - self.begun_bytes, flags)
            };
            match usize::try_from(sent) {
                Ok(sent) => self.begun_bytes += sent,
                Err(_) => {
                    self.is_open =
                        std::io::Error::last_os_error().kind() == std::io::ErrorKind::WouldBlock;
                    break;
                }
            }
        }
        let whole = self.begun_bytes / size_of::<[u64; WORDS]>();
        self.records.copy_within(whole..self.count, 0);
        self.count -= whole;
        self.begun_bytes -= whole * size_of::<[u64; WORDS]>();
        if self.lost > 0 && self.count < MOST {
            let lost = std::mem::take(&mut self.lost);
            self.tell(Record::Lost(lost));
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        // SAFETY: the socket is this value's own.
        unsafe { libc::close(self.socket) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output;
    use std::io::Read;

    #[test]
    fn records_arrive_in_order_though_nobody_reads_for_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let socket = output::named(path.to_str().unwrap().as_bytes()).unwrap();
        let mut wire = Wire::connect(&socket).unwrap();
        let (mut reader, _) = listener.accept().unwrap();
        let sample = |at: usize| Sample { tid: 7, address: at, exposed_ns: 1 };
        (0..100_000).for_each(|at| wire.tell(Record::Read(sample(at))));
        let mut bytes = vec![0; 32 * 1000];
        reader.read_exact(&mut bytes).unwrap();
        let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!([word(0), word(32 * 999 + 8)], [3 | 7 << 32, 999]);
        let lost = wire.lost;
        assert!(lost > 0, "the socket took everything");
        // A child that another test starts in this moment still has a copy of a closed stream.
        reader.shutdown(std::net::Shutdown::Both).unwrap();
        wire.send();
        assert!(!wire.is_open());
        assert!(Wire::connect(&output::named(b"/nowhere").unwrap()).is_none());
    }
}
