//! The socket: the processes that send records.

use super::record::{RECORD_BYTES, Record, VERSION};
use super::shared::Shared;
use super::watcher::{Watched, Word};
use crate::talk::Talk;
use seatmap_os::Tid;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::{Duration, Instant};

/// Processes that may send records; further ones are not sampled.
const MOST: usize = 4096;

/// A socket without a file, so that nothing of it stays when this process ends, by SIGKILL too.
#[derive(Debug)]
pub(super) struct Listener {
    socket: UnixListener,
    name: String,
    /// The processes so far.
    pub(super) senders: Vec<Sender>,
}

/// A process that sends records.
#[derive(Debug)]
pub(super) struct Sender {
    stream: Option<UnixStream>,
    /// Bytes of a record that is not whole yet.
    rest: Vec<u8>,
    begun: Instant,
    lasted: Duration,
    shared: Shared,
    /// The process and its thread that samples; 0 before it has said so.
    pub(super) pid: Tid,
    pub(super) tid: Tid,
    /// The kernel's error, where it allows no samples.
    pub(super) refused: Option<i32>,
    /// Samples that were lost.
    pub(super) lost: u64,
    /// Children that have started no program.
    pub(super) forks: u64,
    /// Memory that is sampled, in bytes.
    pub(super) sampled_bytes: u64,
    /// Memory that is left out, in bytes.
    pub(super) left_out_bytes: u64,
    own: Duration,
    of_faults: Duration,
}

impl Listener {
    pub(super) fn begin() -> io::Result<Self> {
        // Names are open to all users of this computer: nobody guesses this one.
        let random = RandomState::new().hash_one(Instant::now().elapsed());
        let name = format!("seatmap-pages-{}-{random:016x}", std::process::id());
        let socket = UnixListener::bind_addr(&SocketAddr::from_abstract_name(name.as_bytes())?)?;
        socket.set_nonblocking(true)?;
        Ok(Listener { socket, name: format!("@{name}"), senders: Vec::new() })
    }

    /// The socket's name, as the library takes it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Takes in everything that was sent.
    pub(super) fn look(&mut self) -> io::Result<()> {
        loop {
            match self.socket.accept() {
                Ok((stream, _)) if self.senders.len() < MOST => {
                    stream.set_nonblocking(true)?;
                    self.senders.push(Sender::new(stream));
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        self.senders.iter_mut().for_each(Sender::look);
        Ok(())
    }
}

impl Sender {
    fn new(stream: UnixStream) -> Self {
        Sender {
            stream: Some(stream),
            rest: Vec::new(),
            begun: Instant::now(),
            lasted: Duration::ZERO,
            shared: Shared::default(),
            pid: 0,
            tid: 0,
            refused: None,
            lost: 0,
            forks: 0,
            sampled_bytes: 0,
            left_out_bytes: 0,
            own: Duration::ZERO,
            of_faults: Duration::ZERO,
        }
    }

    /// Takes in what the process has sent; one that has ended sends nothing more.
    fn look(&mut self) {
        let Some(stream) = &mut self.stream else { return };
        self.lasted = self.begun.elapsed();
        let mut bytes = std::mem::take(&mut self.rest);
        let has_ended = match stream.read_to_end(&mut bytes) {
            Ok(_) => true,
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        };
        if has_ended {
            self.stream = None;
        }
        let (records, rest) = bytes.as_chunks::<RECORD_BYTES>();
        records.iter().filter_map(Record::parse).for_each(|record| self.take(record));
        self.rest = rest.to_vec();
    }

    fn take(&mut self, record: Record) {
        match record {
            Record::Hello { version, .. } if version != VERSION => self.refused = Some(libc::EPROTO),
            Record::Hello { tid, pid, .. } => (self.tid, self.pid) = (tid, pid),
            Record::Refused(error) => self.refused = Some(error),
            Record::Sample { access, tid, address, exposed_ns } => self.shared.take(access, tid, address, exposed_ns),
            Record::Cost { own_ns, faults, fault_ns } => {
                self.own = Duration::from_nanos(own_ns);
                self.of_faults = Duration::from_nanos(faults.saturating_mul(fault_ns));
            }
            Record::Forked => self.forks += 1,
            Record::Memory { sampled_bytes, left_out_bytes } => {
                (self.sampled_bytes, self.left_out_bytes) = (sampled_bytes, left_out_bytes);
            }
            Record::Lost(count) => self.lost += count,
        }
    }

    /// Words of the process that are worth watching; none of one that has ended.
    pub(super) fn wanted(&self) -> Vec<Word> {
        let of_process = |(address, length)| Word { pid: self.pid, address, length };
        let addresses = if self.stream.is_some() { self.shared.wanted() } else { Vec::new() };
        addresses.into_iter().map(of_process).collect()
    }

    /// Takes in a word of this process that was watched.
    pub(super) fn take_watched(&mut self, watched: &Watched) {
        self.shared.take_watched(watched);
    }

    /// The CPU time that the sampling took.
    pub(super) fn cost(&self) -> Duration {
        self.own + self.of_faults
    }

    /// The sharing over the whole time, as the samples have it.
    pub(super) fn talk(&self) -> Vec<Talk> {
        self.shared.talk(self.lasted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn records_arrive_in_pieces_and_the_sender_may_vanish() {
        let mut listener = Listener::begin().unwrap();
        let name = listener.name()[1..].to_owned();
        let mut stream = UnixStream::connect_addr(&SocketAddr::from_abstract_name(name.as_bytes()).unwrap()).unwrap();
        let words = [1 | 77 << 32, 76, VERSION, 0, 9, 5, 0, 0, 99, 0, 0, 0u64];
        let bytes: Vec<u8> = words.iter().flat_map(|word: &u64| word.to_ne_bytes()).collect();
        stream.write_all(&bytes[..40]).unwrap();
        listener.look().unwrap();
        assert_eq!((listener.senders[0].tid, listener.senders[0].lost), (77, 0));
        stream.write_all(&bytes[40..]).unwrap();
        drop(stream);
        listener.look().unwrap();
        listener.look().unwrap();
        assert_eq!((listener.senders.len(), listener.senders[0].lost), (1, 5));
        assert!(listener.senders[0].stream.is_none());
    }
}
