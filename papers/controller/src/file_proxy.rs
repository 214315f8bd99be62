//! A process that reads and writes files for a program in a cell, with its user's rights and
//! outside the cell.
//!
//! A controller starts it as root; it drops root's rights before it reads a byte. It outlives the
//! controller, so that a program's open files stay open.

use crate::input::StandardInput;
use crate::peer::{self, PeerCredentials};
use rustix::cmsg_space;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use seatmap_ninep::{ExportedFolder, FileSession};
use seatmap_os::trusted;
use std::fs::File;
use std::io::{self, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Runs a file proxy: serves the folder to the client at standard input until the client ends.
///
/// # Errors
/// The folder does not exist, its user's rights cannot be taken on, or the stream breaks.
pub fn serve(folder: &Path, is_read_only: bool) -> io::Result<()> {
    let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let peer = PeerCredentials::of(&stream)?;
    // Opened before the rights are dropped: the user need not have access to the folders above.
    let export = ExportedFolder::of(trusted::reach(folder)?, is_read_only);
    leave_the_terminal();
    open_many();
    become_user(&peer)?;
    let mut handed = handed_over(&stream)?.into_iter();
    let console = handed.next().map(|file| Box::new(File::from(file)) as Box<dyn Write>);
    let session = FileSession::new(export, console);
    let session = match handed.next() {
        Some(file) => session.with_input(Box::new(StandardInput::new(file, &stream, &peer)?)),
        None => session,
    };
    seatmap_ninep::serve(stream, session)
}

/// Starts a separate session, so that the end of the controller's terminal does not reach it and it
/// can write to other terminals. Clears the umask, so that files get the requested permissions.
fn leave_the_terminal() {
    // SAFETY: all act on this process alone.
    unsafe {
        libc::setsid();
        libc::umask(0);
        libc::prctl(libc::PR_SET_NAME, c"seatmap-proxy".as_ptr());
    }
}

/// A client may need more open files than usual.
fn open_many() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is writable. If either call fails, the client has fewer.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// Takes on a user's rights permanently and drops all others. A process without root already has
/// them, or serves root with its own.
fn become_user(peer: &PeerCredentials) -> io::Result<()> {
    if peer::own_uid() != 0 {
        return Ok(());
    }
    // SAFETY: the groups are as many as is said; the others take numbers. No other thread runs.
    unsafe {
        done(libc::setgroups(peer.groups.len(), peer.groups.as_ptr()))?;
        done(libc::setresgid(peer.gid, peer.gid, peer.gid))?;
        done(libc::setresuid(peer.uid, peer.uid, peer.uid))
    }
}

fn done(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The descriptors sent with the first byte, which stays in the stream: a console, then an input.
fn handed_over(stream: &UnixStream) -> io::Result<Vec<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(2))];
    let mut came = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::PEEK | RecvFlags::CMSG_CLOEXEC;
    rustix::net::recvmsg(stream, &mut [IoSliceMut::new(&mut [0])], &mut came, flags)?;
    let files = came.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    Ok(files.flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel;
    use std::io::Read;

    #[test]
    fn console_and_input_arrive_with_first_byte() {
        let (mut own, other) = UnixStream::pair().unwrap();
        own.write_all(b"x").unwrap();
        assert!(handed_over(&other).unwrap().is_empty());
        drop(own);
        let (own, mut other) = UnixStream::pair().unwrap();
        let (mut screen, handed) = UnixStream::pair().unwrap();
        let (input, mut keys) = std::io::pipe().unwrap();
        channel::hand_over(&own, b"ab", [handed.as_fd(), input.as_fd()]).unwrap();
        let [console, input] = <[OwnedFd; 2]>::try_from(handed_over(&other).unwrap()).unwrap();
        UnixStream::from(console).write_all(b"!").unwrap();
        keys.write_all(b"?").unwrap();
        let mut shown = [0];
        let mut typed = [0];
        let mut bytes = [0; 2];
        screen.read_exact(&mut shown).unwrap();
        File::from(input).read_exact(&mut typed).unwrap();
        other.read_exact(&mut bytes).unwrap();
        assert_eq!(
            (&shown, &typed, &bytes),
            (b"!", b"?", b"ab"),
            "what they came with is still to be read"
        );
    }
}
