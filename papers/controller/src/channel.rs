//! The socket for programs without I/O rights, and a process for each such program.
//!
//! The controller reads nothing from them. It passes each connection to a separate file proxy (see
//! [`file_proxy`](crate::file_proxy)), which first takes on the user's rights: a client that
//! exhausts descriptors or memory, or exploits a bug, harms only its own proxy.

use crate::door;
use crate::error::ControlError;
use crate::guests::Guests;
use crate::peer::{self, PeerCredentials};
use crate::watched::ControllerConnection;
use rustix::cmsg_space;
use rustix::io::FdFlags;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use seatmap_cell::GuardianCommand;
use seatmap_ninep::FileRequest;
use seatmap_ninep::frame::{self, LONGEST_BYTES};
use seatmap_ninep::session::VERSION;
use seatmap_os::trusted;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The suffix of the socket's name, after the name of the controller's socket.
pub const ENDING: &str = ".9p";

/// The most programs at once, in total and per user.
const MOST: usize = 64;
const MOST_OF_A_USER: usize = 16;

/// Pause after a failed connection, for example without free file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// The files for programs.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The folder, with parents that belong to root or the controller's user, so that no other user
    /// can redirect the controller, which opens it with its own rights.
    pub folder: PathBuf,
    /// Whether programs can only read.
    pub is_read_only: bool,
    /// The command that starts a file proxy, followed by the folder and the option for read-only.
    pub file_proxy: GuardianCommand,
}

/// The argument of a read-only file proxy.
pub const READ_ONLY: &str = "--read-only";

/// The path of the socket for programs, next to a controller's socket.
pub fn beside(socket: &Path) -> PathBuf {
    let mut path = socket.as_os_str().to_owned();
    path.push(ENDING);
    path.into()
}

pub(crate) fn admit_all(listener: &UnixListener, group: Option<u32>, exported: &Exported) {
    let guests = Guests::new(MOST, MOST_OF_A_USER);
    for stream in listener.incoming() {
        if stream.and_then(|stream| admit(stream, group, exported, &guests)).is_err() {
            std::thread::sleep(PAUSE);
        }
    }
}

/// A rejected client only sees the stream's end, because the protocol has no error before the first
/// request.
fn admit(
    stream: UnixStream,
    group: Option<u32>,
    exported: &Exported,
    guests: &Guests,
) -> io::Result<()> {
    let peer = PeerCredentials::of(&stream)?;
    let own_uid = peer::own_uid();
    let uid = peer.uid;
    if !peer.may_enter(own_uid, group) || !can_serve(own_uid, uid) {
        return Ok(());
    }
    let Some(guest) = guests.enter(uid) else { return Ok(()) };
    let (sender, started) = mpsc::channel::<Child>();
    // The thread comes first: without it, an ended file proxy would remain as a zombie.
    std::thread::Builder::new().spawn(move || {
        let _guest = guest;
        if let Ok(mut file_proxy) = started.recv() {
            let _ = file_proxy.wait();
        }
    })?;
    let file_proxy = start(exported, stream)?;
    let _ = sender.send(file_proxy);
    Ok(())
}

/// Only root can act as another user, and a non-root controller serves root with its own rights.
fn can_serve(own_uid: u32, uid: u32) -> bool {
    own_uid == 0 || uid == own_uid || uid == 0
}

fn start(exported: &Exported, stream: UnixStream) -> io::Result<Child> {
    let mut command = exported.file_proxy.command()?;
    command.arg(&exported.folder).args(exported.is_read_only.then_some(READ_ONLY));
    seatmap_cell::fault::spare(&mut command);
    command.stdin(OwnedFd::from(stream)).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

/// Checks that no other user can replace the folder.
pub(crate) fn check(exported: &Exported) -> Result<(), ControlError> {
    trusted::reach(&exported.folder).map(drop).map_err(|error| ControlError::Export {
        path: exported.folder.display().to_string(),
        source: error.into(),
    })
}

/// Connects a starting program, which inherits the connection. The first file receives
/// its console output; the second provides its input. The program negotiates the protocol again.
///
/// # Errors
/// [`ControlError::NoFiles`] if no server listens there or it rejects this user;
/// [`ControlError::Stopped`].
pub fn connect(
    socket: &Path,
    console_and_input: [BorrowedFd<'_>; 2],
) -> Result<UnixStream, ControlError> {
    let mut stream = door::knock(socket)
        .and_then(ControllerConnection::new)
        .map_err(|source| ControlError::no_files(socket, source))?;
    let mut bytes = Vec::new();
    FileRequest::Version { size_bytes: LONGEST_BYTES, version: VERSION }
        .frame(u16::MAX, &mut bytes);
    hand_over(stream.stream(), &bytes, console_and_input)
        .map_err(|source| ControlError::no_files(socket, source))?;
    let answer = frame::read(&mut stream, LONGEST_BYTES, &mut bytes).map_err(|error| {
        error
            .downcast()
            .map_or_else(|source| ControlError::no_files(socket, source), ControlError::Stopped)
    })?;
    answer.ok_or_else(|| ControlError::no_files(socket, refusal()))?;
    let stream = stream.into_stream().map_err(|source| ControlError::no_files(socket, source))?;
    // Clears the close-on-exec flag, because the program inherits the connection.
    rustix::io::fcntl_setfd(&stream, FdFlags::empty())
        .map_err(|errno| ControlError::no_files(socket, errno.into()))?;
    Ok(stream)
}

fn refusal() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "the server there refused this user")
}

pub(crate) fn hand_over(
    stream: &UnixStream,
    bytes: &[u8],
    files: [BorrowedFd<'_>; 2],
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(2))];
    let mut along = SendAncillaryBuffer::new(&mut space);
    along.push(SendAncillaryMessage::ScmRights(&files));
    // So few bytes at a connection's start are sent at once.
    rustix::net::sendmsg(stream, &[IoSlice::new(bytes)], &mut along, SendFlags::NOSIGNAL)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_user_serves_only_itself() {
        assert!(can_serve(0, 1000) && can_serve(1000, 1000) && can_serve(1000, 0));
        assert!(!can_serve(1000, 1001));
    }

    #[test]
    fn file_socket_path_adds_9p_suffix() {
        assert_eq!(beside(Path::new("/run/cells.sock")), Path::new("/run/cells.sock.9p"));
    }
}
