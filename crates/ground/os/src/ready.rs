//! Waits until open files have something to read, or until their other end has gone (poll(2)).

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
}

/// A file after the wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Readiness {
    /// Whether there is something to read.
    pub has_data: bool,
    /// Whether the other end has gone, or the file is none that can be waited for.
    pub has_ended: bool,
}

impl Readiness {
    /// Whether either holds.
    #[must_use]
    pub fn is_any(self) -> bool {
        self.has_data || self.has_ended
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
    const ENDED: libc::c_short = libc::POLLHUP | libc::POLLRDHUP | libc::POLLERR | libc::POLLNVAL;
    let mut polled = files.map(Awaited::polled);
    let milliseconds = longest
        .map_or(-1, |time| libc::c_int::try_from(time.as_millis()).unwrap_or(libc::c_int::MAX));
    // SAFETY: the array is writable and as long as is said.
    let count = unsafe { libc::poll(polled.as_mut_ptr(), COUNT as libc::nfds_t, milliseconds) };
    if count < 0 {
        let error = io::Error::last_os_error();
        let is_signal = error.kind() == io::ErrorKind::Interrupted;
        return if is_signal { Ok([Readiness::default(); COUNT]) } else { Err(error) };
    }
    Ok(polled.map(|one| Readiness {
        has_data: one.revents & libc::POLLIN != 0,
        has_ended: one.revents & ENDED != 0,
    }))
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
        let data = Readiness { has_data: true, has_ended: false };
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
