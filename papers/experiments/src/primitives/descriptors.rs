//! Messages through the kernel.

use super::{BatchPlan, Primitive, PrimitiveError, PrimitiveThreads, SamplesResult};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Mutex;

/// The kernel object for the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptorKind {
    /// Two eventfds.
    EventFd,
    /// Two pipes.
    Pipe,
    /// A pair of stream sockets.
    UnixSocket,
}

/// Two threads send each other 8 bytes in turn, and block in read(2) while they wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptors(pub DescriptorKind);

/// The file descriptors of one thread; dropping a pipe or socket ends the other thread's read.
struct End {
    read: File,
    write: File,
}

/// An eventfd adds up the written numbers, and is empty at zero.
const MESSAGE: [u8; 8] = 1u64.to_ne_bytes();

impl End {
    fn send(&mut self) -> io::Result<()> {
        self.write.write_all(&MESSAGE)
    }

    fn receive(&mut self) -> io::Result<()> {
        self.read.read_exact(&mut [0; 8])
    }

    /// Ends the other thread's read after a failure of this one. Dropping pipes and sockets does
    /// so; an eventfd has no end, so it becomes non-blocking and the waiting read is woken.
    fn fail(&mut self) {
        // SAFETY: the descriptor is open, and the call takes a number besides.
        let is_set =
            unsafe { libc::fcntl(self.write.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } == 0;
        let _ = is_set.then(|| self.send());
    }
}

impl DescriptorKind {
    fn open(self) -> io::Result<[End; 2]> {
        match self {
            DescriptorKind::EventFd => {
                let one = eventfd()?;
                let other = eventfd()?;
                Ok([
                    End { read: one.try_clone()?, write: other.try_clone()? },
                    End { read: other, write: one },
                ])
            }
            DescriptorKind::Pipe => {
                let (to_one, from_other) = io::pipe()?;
                let (to_other, from_one) = io::pipe()?;
                Ok([pipe_end(to_one, from_one), pipe_end(to_other, from_other)])
            }
            DescriptorKind::UnixSocket => {
                let (one, other) = UnixStream::pair()?;
                Ok([socket_end(one)?, socket_end(other)?])
            }
        }
    }
}

fn pipe_end(read: io::PipeReader, write: io::PipeWriter) -> End {
    End { read: File::from(OwnedFd::from(read)), write: File::from(OwnedFd::from(write)) }
}

fn socket_end(socket: UnixStream) -> io::Result<End> {
    let write = File::from(OwnedFd::from(socket.try_clone()?));
    Ok(End { read: File::from(OwnedFd::from(socket)), write })
}

fn eventfd() -> io::Result<File> {
    // SAFETY: takes two numbers and touches no memory of ours.
    let descriptor = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
    if descriptor < 0 {
        Err(io::Error::last_os_error())
    } else {
        // SAFETY: the kernel has just opened it for us alone.
        Ok(File::from(unsafe { OwnedFd::from_raw_fd(descriptor) }))
    }
}

impl Primitive for Descriptors {
    fn name(&self) -> String {
        match self.0 {
            DescriptorKind::EventFd => "eventfd",
            DescriptorKind::Pipe => "pipe",
            DescriptorKind::UnixSocket => "unix socket",
        }
        .into()
    }

    fn cpus(&self) -> std::ops::RangeInclusive<usize> {
        2..=2
    }

    fn takes_turns(&self) -> bool {
        true
    }

    fn attempt(&self, room: &mut PrimitiveThreads, cpus: &[u32], plan: BatchPlan) -> SamplesResult {
        let ends = self
            .0
            .open()
            .map_err(PrimitiveError::system(format!("cannot open the {}", self.name())))?;
        let ends = ends.map(|end| Mutex::new(Some(end)));
        room.time(self, cpus, plan, |rank| {
            let mut end = ends.get(rank).and_then(|end| end.lock().ok()?.take());
            move || {
                let end = end.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
                let turn = if rank == 0 {
                    end.send().and_then(|()| end.receive())
                } else {
                    end.receive().and_then(|()| end.send())
                };
                turn.inspect_err(|_| end.fail())
            }
        })
    }
}
