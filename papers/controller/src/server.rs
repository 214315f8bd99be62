//! The controller: a socket, a reading thread per client, and one thread for everything else.

use crate::answer::{ControlAnswer, ErrorOrigin, Say};
use crate::channel::{self, Exported};
use crate::door;
use crate::error::ControlError;
use crate::guests::Guests;
use crate::inherited::InheritedState;
use crate::line::{self, LineReader};
use crate::lock;
use crate::peer::{self, PeerCredentials};
use crate::policy::Policy;
use crate::request::ControlRequest;
use crate::scheduler::{ClientEvent, MOST_WAITING, Scheduler};
use crate::warden;
use seatmap_cell::{CellHost, GuardedHost, GuardianCommand, NoiseJudge};
use std::fs;
use std::io::{self, BufReader};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

/// The socket's name in the folder of cell records.
pub const SOCKET: &str = "controller.sock";

/// The most clients, in total and per user. A user can have all allowed requests waiting and still
/// cancel them.
const MOST: usize = 256;
const MOST_OF_A_USER: usize = 2 * MOST_WAITING;

/// The most unhandled requests; a client that sends faster waits.
const MOST_UNHEARD: usize = 16;

const TICK: Duration = Duration::from_millis(100);

/// A controller's options.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The path of the socket where it listens.
    pub socket: PathBuf,
    /// The group that may send requests, besides root and the controller's own user.
    pub group: Option<u32>,
    /// The order in which requests are granted.
    pub policy: Policy,
    /// A turn's length.
    pub slice: Duration,
    /// The command that starts its warden.
    pub warden: GuardianCommand,
    /// The folder for programs without I/O rights, served at a socket [next to](channel::beside)
    /// the controller's.
    pub export: Option<Exported>,
}

/// Runs a controller until `ends` returns true. `ready` gets the inherited state when the
/// controller listens, including why the users' account was lost. The calling thread creates the
/// cells; it must be the process's main thread, because a noise judge enters cells by process ID.
///
/// # Errors
/// [`ControlError`].
pub fn serve(
    host: CellHost,
    options: &ServerOptions,
    judge: Box<NoiseJudge<'_>>,
    ends: &dyn Fn() -> bool,
    ready: &mut dyn FnMut(InheritedState),
) -> Result<(), ControlError> {
    options.export.iter().try_for_each(channel::check)?;
    let _lock = lock::take(&host)?.ok_or(ControlError::AnotherRuns)?;
    host.run.lock().map_err(ControlError::Lock).and_then(|_held| Ok(host.recover()?))?;
    let (mut scheduler, inherited) = Scheduler::open(host, options.policy, options.slice, judge)?;
    let warden = warden::post(&options.warden).map_err(ControlError::Warden)?;
    let listener = listen(&options.socket)?;
    let (events, arrivals) = mpsc::sync_channel(MOST_UNHEARD);
    let group = options.group;
    in_thread(move || admit_all(&listener, group, &events)).map_err(ControlError::Thread)?;
    let door = channel::beside(&options.socket);
    if let Some(exported) = options.export.clone() {
        let listener = listen(&door)?;
        in_thread(move || channel::admit_all(&listener, group, &exported))
            .map_err(ControlError::Thread)?;
    }
    ready(inherited);
    let mut ticked = Instant::now();
    while !ends() {
        match arrivals.recv_timeout(TICK) {
            Ok(event) => scheduler.take(event),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        // Even if a client never stops sending.
        if ticked.elapsed() >= TICK {
            scheduler.tick();
            ticked = Instant::now();
        }
    }
    let closed = scheduler.close();
    let _ = fs::remove_file(&options.socket);
    let _ = options.export.as_ref().map(|_| fs::remove_file(door));
    warden.end();
    let left = closed?;
    if left.is_empty() { Ok(()) } else { Err(ControlError::NotPutBack(left)) }
}

fn listen(path: &Path) -> Result<UnixListener, ControlError> {
    door::open(path)
        .map_err(|source| ControlError::Socket { path: path.display().to_string(), source })
}

fn admit_all(listener: &UnixListener, group: Option<u32>, events: &SyncSender<ClientEvent>) {
    let guests = Guests::new(MOST, MOST_OF_A_USER);
    for (connection, stream) in (1..).zip(listener.incoming()) {
        let admitted = stream.and_then(|stream| admit(connection, stream, group, events, &guests));
        if admitted.is_err() {
            // Avoids a busy loop, for example without free file descriptors.
            std::thread::sleep(TICK);
        }
    }
}

fn admit(
    connection: u64,
    stream: UnixStream,
    group: Option<u32>,
    events: &SyncSender<ClientEvent>,
    guests: &Guests,
) -> io::Result<()> {
    let peer = PeerCredentials::of(&stream)?;
    if !peer.may_enter(peer::own_uid(), group) {
        let message = "only root and members of the controller's group may give it orders";
        return refuse(&stream, ErrorOrigin::Denied, message);
    }
    let Some(guest) = guests.enter(peer.uid) else {
        return refuse(
            &stream,
            ErrorOrigin::Busy,
            "the controller has too many clients, or too many of this user",
        );
    };
    let reader = stream.try_clone()?;
    let events = events.clone();
    // Sent before the client's thread starts, so that the client is known at its first request.
    let _ = events.send(ClientEvent::Came(connection, stream, peer));
    let gone = events.clone();
    let hearing = in_thread(move || {
        let _guest = guest;
        hear(connection, &reader, &events);
        let _ = events.send(ClientEvent::Gone(connection));
    });
    if hearing.is_err() {
        let _ = gone.send(ClientEvent::Gone(connection));
    }
    hearing
}

/// A failure does not end the controller.
fn in_thread(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().spawn(work).map(drop)
}

fn refuse(mut stream: &UnixStream, kind: ErrorOrigin, message: &str) -> io::Result<()> {
    stream.set_write_timeout(Some(TICK))?;
    // A client that does not read the reason is rejected anyway.
    let _ = line::write(&mut stream, &ControlAnswer { id: 0, say: Say::error(kind, message) });
    Ok(())
}

fn hear(connection: u64, stream: &UnixStream, events: &SyncSender<ClientEvent>) {
    let mut lines = LineReader::new(BufReader::new(stream));
    while let Ok(Some(line)) = lines.read() {
        if events.send(ClientEvent::Said(connection, ControlRequest::parse(&line))).is_err() {
            break;
        }
    }
}
