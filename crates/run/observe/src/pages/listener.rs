//! The socket: the processes that send records.
//!
//! Every user of this computer sees the socket's name (`/proc/net/unix`). So nothing is taken from
//! a process that the kernel does not name as one of this user or root, and nothing counts of one
//! that is not of the observed program: it descends from this process, or is among those that are
//! followed. The kernel also says which process it is; what it says of itself has to agree.

use super::record::{RECORD_BYTES, Record, VERSION};
use super::shared::Shared;
use super::watcher::{Watched, Word};
use crate::talk::Talk;
use seatmap_invariant::invariant;
use seatmap_os::Tid;
use seatmap_os::peer::{Peer, own_uid};
use seatmap_os::task::{Task, may_be_thread_of};
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::{Duration, Instant};

/// Processes that may send records; further ones are not sampled.
const MOST: usize = 4096;

/// Connections that are taken in one look, so that nobody who connects again and again keeps the
/// look from its end.
const MOST_AT_ONCE: usize = 256;

/// The most processes above another one that are looked at.
const MOST_ANCESTORS: usize = 64;

/// A socket without a file, so that nothing of it stays when this process ends, by SIGKILL too.
#[derive(Debug)]
pub(super) struct Listener {
    socket: UnixListener,
    name: String,
    /// The processes so far.
    pub(super) senders: Vec<Sender>,
    /// Connections of processes that are not the program's.
    pub(super) strangers: u64,
}

/// A process that sends records.
#[derive(Debug)]
pub(super) struct Sender {
    stream: Option<UnixStream>,
    /// The process, as the kernel tells it.
    peer: Tid,
    /// Whether it descends from this process.
    is_below: bool,
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
        // An abstract name has no owner: one that could be guessed might be taken before.
        let random = RandomState::new().hash_one(Instant::now().elapsed());
        let name = format!("seatmap-pages-{}-{random:016x}", std::process::id());
        let socket = UnixListener::bind_addr(&SocketAddr::from_abstract_name(name.as_bytes())?)?;
        socket.set_nonblocking(true)?;
        Ok(Listener { socket, name: format!("@{name}"), senders: Vec::new(), strangers: 0 })
    }

    /// The socket's name, as the library takes it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Takes in everything that was sent. `followed` are the processes that are known to be the
    /// program's.
    pub(super) fn look(&mut self, followed: &HashSet<Tid>) -> io::Result<()> {
        for _ in 0..MOST_AT_ONCE {
            match self.socket.accept() {
                Ok((stream, _)) => self.admit(stream)?,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        self.senders
            .iter_mut()
            .filter(|sender| sender.is_of_program(followed))
            .for_each(Sender::look);
        Ok(())
    }

    fn admit(&mut self, stream: UnixStream) -> io::Result<()> {
        let peer = Peer::of(&stream)?;
        // A process of another PID namespace that cannot be seen from here has no number.
        if !peer.may_enter(own_uid(), None) || peer.pid <= 0 {
            self.strangers += 1;
        } else if self.senders.len() < MOST {
            stream.set_nonblocking(true)?;
            self.senders.push(Sender::new(stream, peer.pid));
        }
        Ok(())
    }
}

/// Whether this process started another one, or one above it.
fn is_below(pid: Tid) -> bool {
    let own = std::process::id() as Tid;
    std::iter::successors(Some(pid), |pid| {
        Task::of(*pid).map(|task| task.parent).filter(|parent| *parent > 0)
    })
    // The parents are read one after the other and may change meanwhile: the bound ends any circle.
    .take(MOST_ANCESTORS)
    .any(|pid| pid == own)
}

impl Sender {
    fn new(stream: UnixStream, peer: Tid) -> Self {
        Sender {
            stream: Some(stream),
            peer,
            is_below: is_below(peer),
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

    /// Whether the process belongs to the program.
    fn is_of_program(&self, followed: &HashSet<Tid>) -> bool {
        self.is_below || followed.contains(&self.peer)
    }

    /// Takes in what the process has sent; one that has ended sends nothing more.
    fn look(&mut self) {
        let Some(stream) = &mut self.stream else { return };
        self.lasted = self.begun.elapsed();
        let mut bytes = std::mem::take(&mut self.rest);
        // It does not block, so that it returns without an error at the end of the connection only.
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
        // Whatever it sends: samples count for the process that the kernel names.
        invariant!(
            self.rest.len() < RECORD_BYTES && (self.pid == 0 || self.pid == self.peer),
            "sender of samples",
            "process {} speaks as process {}, with {} bytes of a record that is not whole",
            self.peer,
            self.pid,
            self.rest.len()
        );
    }

    fn take(&mut self, record: Record) {
        match record {
            Record::Hello { version, .. } if version != VERSION => {
                self.refused = Some(libc::EPROTO)
            }
            // Where numbers mean something else, in another PID namespace, samples name threads of
            // others.
            Record::Hello { tid, pid, .. } if pid != self.peer || !may_be_thread_of(tid, pid) => {
                self.refused = Some(libc::EPERM);
            }
            Record::Hello { tid, pid, .. } => (self.tid, self.pid) = (tid, pid),
            // A process says first who it is.
            Record::Sample { .. } if self.pid == 0 => {}
            Record::Refused(error) => self.refused = Some(error),
            Record::Sample { access, tid, address, exposed_ns } => {
                self.shared.take(access, tid, address, exposed_ns)
            }
            Record::Cost { own_ns, faults, fault_ns } => {
                self.own = Duration::from_nanos(own_ns);
                self.of_faults = Duration::from_nanos(faults.saturating_mul(fault_ns));
            }
            Record::Forked => self.forks += 1,
            Record::Memory { sampled_bytes, left_out_bytes } => {
                (self.sampled_bytes, self.left_out_bytes) = (sampled_bytes, left_out_bytes);
            }
            Record::Lost(count) => self.lost = self.lost.saturating_add(count),
        }
    }

    /// Words of the process that are worth watching; none of one that has ended.
    pub(super) fn words_to_watch(&self) -> Vec<Word> {
        let addresses =
            if self.stream.is_some() { self.shared.words_to_watch() } else { Vec::new() };
        addresses
            .into_iter()
            .map(|(address, length)| Word { pid: self.pid, address, length })
            .collect()
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

    fn connected(listener: &Listener) -> UnixStream {
        let name = SocketAddr::from_abstract_name(&listener.name().as_bytes()[1..]).unwrap();
        UnixStream::connect_addr(&name).unwrap()
    }

    fn bytes(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word: &u64| word.to_ne_bytes()).collect()
    }

    fn hello(tid: Tid, pid: Tid) -> [u64; 4] {
        [1 | (tid as u64) << 32, pid as u64, VERSION, 0]
    }

    const LOST: [u64; 4] = [9, 5, 0, 0];

    #[test]
    fn records_arrive_in_pieces_and_the_sender_may_vanish() {
        let mut listener = Listener::begin().unwrap();
        let mut stream = connected(&listener);
        let own = std::process::id() as Tid;
        let bytes = bytes(&[hello(own, own), LOST, [99, 0, 0, 0]].concat());
        stream.write_all(&bytes[..40]).unwrap();
        listener.look(&HashSet::new()).unwrap();
        assert_eq!((listener.senders[0].tid, listener.senders[0].lost), (own, 0));
        stream.write_all(&bytes[40..]).unwrap();
        // A child that another test starts in this moment still has a copy of a closed stream.
        stream.shutdown(std::net::Shutdown::Both).unwrap();
        listener.look(&HashSet::new()).unwrap();
        listener.look(&HashSet::new()).unwrap();
        assert_eq!((listener.senders.len(), listener.senders[0].lost), (1, 5));
        assert!(listener.senders[0].stream.is_none());
    }

    /// A program that sends records of its own must not end the observation.
    #[test]
    fn numbers_beyond_all_reason_are_the_largest_one() {
        let mut listener = Listener::begin().unwrap();
        let mut stream = connected(&listener);
        let own = std::process::id() as Tid;
        let most = [9, u64::MAX, 0, 0];
        stream.write_all(&bytes(&[hello(own, own), most, most].concat())).unwrap();
        listener.look(&HashSet::new()).unwrap();
        assert_eq!(listener.senders[0].lost, u64::MAX);
    }

    #[test]
    fn a_process_speaks_for_itself_and_its_own_threads() {
        let own = std::process::id() as Tid;
        for words in [hello(own, 1), hello(1, own), hello(1, 1)] {
            let mut listener = Listener::begin().unwrap();
            let sample = [3 | (own as u64) << 32, 4096, 1, 0];
            connected(&listener).write_all(&bytes(&[words, sample].concat())).unwrap();
            listener.look(&HashSet::new()).unwrap();
            let sender = &listener.senders[0];
            assert_eq!((sender.pid, sender.tid, sender.refused), (0, 0, Some(libc::EPERM)));
            assert!(sender.talk().is_empty());
        }
    }

    #[test]
    #[should_panic(
        expected = "broke an invariant: sender of samples: process 1 speaks as process 2"
    )]
    fn a_sender_that_became_another_process_stops_the_observation() {
        let mut sender = Sender::new(UnixStream::pair().unwrap().0, 1);
        sender.pid = 2;
        sender.look();
    }

    /// A program that the tests do not start as root has one user only.
    #[test]
    fn another_user_is_not_heard() {
        let mut listener = Listener::begin().unwrap();
        let script = "import socket, sys, os\n\
                      os.setuid(65534)\n\
                      s = socket.socket(socket.AF_UNIX)\n\
                      s.connect(b'\\0' + sys.argv[1].encode())\n\
                      s.send(b'x' * 64)";
        let name = listener.name()[1..].to_owned();
        if own_uid() != 0 {
            return seatmap_needs::skipped!("only root becomes another user");
        }
        let mut other = std::process::Command::new("python3");
        match other.args(["-c", script, &name]).stderr(std::process::Stdio::null()).status() {
            Ok(ended) if ended.success() => {}
            other => return seatmap_needs::skipped!("python3: {other:?}"),
        }
        listener.look(&HashSet::new()).unwrap();
        assert_eq!((listener.senders.len(), listener.strangers), (0, 1));
    }

    /// A process of the same user that does not belong to the program: process 1 is above this one.
    #[test]
    fn only_the_program_is_heard() {
        let own = std::process::id() as Tid;
        assert!(is_below(own) && !is_below(1));
        let mut stranger = Sender::new(UnixStream::pair().unwrap().0, 1);
        assert!(!stranger.is_of_program(&HashSet::new()));
        assert!(stranger.is_of_program(&HashSet::from([1])));
        stranger.peer = own;
        assert!(!stranger.is_of_program(&HashSet::from([1])));
    }
}
