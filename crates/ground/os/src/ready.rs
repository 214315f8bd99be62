//! Waits until open files have something to read or room to write, or until their other end has
//! gone (poll(2)).

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

/// A file, and the thing that is waited for.
#[derive(Clone, Copy, Debug)]
pub enum Awaited {
    /// Something to read. The end of the other side ends the wait as well.
    Data(RawFd),
    /// The end of the other side alone.
    End(RawFd),
    /// Room for something to write.
    Room(RawFd),
}

/// A file after the wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Readiness {
    /// Whether there is something to read.
    pub has_data: bool,
    /// Whether there is room to write.
    pub has_room: bool,
    /// Whether the other end has gone, or the file is none that can be waited for.
    pub has_ended: bool,
}

impl Readiness {
    /// Whether any of these holds.
    #[must_use]
    pub fn is_any(self) -> bool {
        self.has_data || self.has_room || self.has_ended
    }

    fn of(polled: libc::pollfd) -> Self {
        const ENDED: libc::c_short =
            libc::POLLHUP | libc::POLLRDHUP | libc::POLLERR | libc::POLLNVAL;
        Readiness {
            has_data: polled.revents & libc::POLLIN != 0,
            has_room: polled.revents & libc::POLLOUT != 0,
            has_ended: polled.revents & ENDED != 0,
        }
    }
}

impl Awaited {
    /// The data of a file.
    #[must_use]
    pub fn data(file: &impl AsRawFd) -> Self {
        Awaited::Data(file.as_raw_fd())
    }

    /// The end of a file's other side.
    #[must_use]
    pub fn end(file: &impl AsRawFd) -> Self {
        Awaited::End(file.as_raw_fd())
    }

    fn polled(self) -> libc::pollfd {
        match self {
            Awaited::Data(fd) => libc::pollfd { fd, events: libc::POLLIN, revents: 0 },
            Awaited::End(fd) => libc::pollfd { fd, events: libc::POLLRDHUP, revents: 0 },
            Awaited::Room(fd) => libc::pollfd { fd, events: libc::POLLOUT, revents: 0 },
        }
    }
}

/// Waits for any of these, for `longest` at most, or without end. None is ready where the time has
/// passed or a signal came.
///
/// # Errors
/// The kernel's error, such as `ENOMEM`.
pub fn wait<const COUNT: usize>(
    files: [Awaited; COUNT],
    longest: Option<Duration>,
) -> io::Result<[Readiness; COUNT]> {
    let mut polled = files.map(Awaited::polled);
    poll(&mut polled, longest)?;
    Ok(polled.map(Readiness::of))
}

/// As [`wait`], for any number of files.
///
/// # Errors
/// As [`wait`].
pub fn wait_for_any(files: &[Awaited], longest: Option<Duration>) -> io::Result<Vec<Readiness>> {
    let mut polled: Vec<libc::pollfd> = files.iter().map(|file| file.polled()).collect();
    poll(&mut polled, longest)?;
    Ok(polled.into_iter().map(Readiness::of).collect())
}

fn poll(polled: &mut [libc::pollfd], longest: Option<Duration>) -> io::Result<()> {
    let milliseconds = longest
        .map_or(-1, |time| libc::c_int::try_from(time.as_millis()).unwrap_or(libc::c_int::MAX));
    let files = polled.len() as libc::nfds_t;
    // SAFETY: the slice is writable and as long as is said.
    let count = unsafe { libc::poll(polled.as_mut_ptr(), files, milliseconds) };
    let error = io::Error::last_os_error();
    if count >= 0 {
        return Ok(());
    }
    polled.iter_mut().for_each(|one| one.revents = 0);
    if error.kind() == io::ErrorKind::Interrupted { Ok(()) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    #[test]
    fn data_and_ends_are_told_apart() {
        let (mut writer, reader) = UnixStream::pair().unwrap();
        let now = Some(Duration::ZERO);
        let both = [Awaited::data(&reader), Awaited::end(&reader)];
        assert_eq!(wait(both, now).unwrap(), [Readiness::default(); 2]);
        writer.write_all(b"x").unwrap();
        let data = Readiness { has_data: true, ..Readiness::default() };
        assert_eq!(wait(both, now).unwrap(), [data, Readiness::default()]);
        drop(writer);
        let ready = wait(both, None).unwrap();
        assert!(ready[0].has_data && ready[1].has_ended, "{ready:?}");
    }

    #[test]
    fn a_file_that_is_not_open_has_ended() {
        assert!(wait([Awaited::Data(i32::MAX)], None).unwrap()[0].has_ended);
    }
}
