//! Waits until files are readable or writable, or their peer has closed (ppoll(2)).

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;
use std::time::Duration;

/// A file and an awaited event.
#[derive(Clone, Copy, Debug)]
pub struct Awaited {
    fd: RawFd,
    events: libc::c_short,
}

/// A file's state after the wait.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Readiness {
    /// Whether data can be read.
    pub has_data: bool,
    /// Whether data can be written.
    pub has_room: bool,
    /// Whether the peer has closed, or the file cannot be polled.
    pub has_ended: bool,
}

impl Readiness {
    /// Whether any of these is true.
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
    /// Waits for a file's data, or the end of its peer.
    pub fn data(file: &impl AsRawFd) -> Self {
        Awaited { fd: file.as_raw_fd(), events: libc::POLLIN }
    }

    /// Waits only for the end of a file's peer.
    pub fn end(file: &impl AsRawFd) -> Self {
        Awaited { fd: file.as_raw_fd(), events: libc::POLLRDHUP }
    }

    /// Waits for room to write.
    pub fn room(file: &impl AsRawFd) -> Self {
        Awaited { fd: file.as_raw_fd(), events: libc::POLLOUT }
    }

    fn polled(self) -> libc::pollfd {
        libc::pollfd { fd: self.fd, events: self.events, revents: 0 }
    }
}

/// Waits for any of these, for at most `longest` or forever. After a timeout or signal none is
/// ready.
///
/// # Errors
/// The kernel's, such as `ENOMEM`.
pub fn wait<const COUNT: usize>(
    files: [Awaited; COUNT],
    longest: Option<Duration>,
) -> io::Result<[Readiness; COUNT]> {
    let mut polled = files.map(Awaited::polled);
    poll(&mut polled, longest)?;
    Ok(polled.map(Readiness::of))
}

/// Like [`wait`], for a slice of files.
///
/// # Errors
/// As [`wait`].
pub fn wait_for_any(files: &[Awaited], longest: Option<Duration>) -> io::Result<Vec<Readiness>> {
    let mut polled: Vec<libc::pollfd> = files.iter().map(|file| file.polled()).collect();
    poll(&mut polled, longest)?;
    Ok(polled.into_iter().map(Readiness::of).collect())
}

fn poll(polled: &mut [libc::pollfd], longest: Option<Duration>) -> io::Result<()> {
    let longest = longest.map(|time| libc::timespec {
        tv_sec: time.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: time.subsec_nanos().into(),
    });
    let longest = longest.as_ref().map_or(ptr::null(), ptr::from_ref);
    let files = polled.len() as libc::nfds_t;
    // SAFETY: the slice is writable and has this length; the time outlives the call.
    let count = unsafe { libc::ppoll(polled.as_mut_ptr(), files, longest, ptr::null()) };
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
    fn data_and_end_are_distinguished() {
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
    fn wait_ends_on_input_or_timeout() {
        let (reader, writer) = io::pipe().unwrap();
        let files = [Awaited::data(&reader)];
        let late = wait_for_any(&files, Some(Duration::from_millis(1))).unwrap();
        assert_eq!(late, [Readiness::default()]);
        drop(writer);
        assert!(wait_for_any(&files, None).unwrap()[0].is_any());
    }

    #[test]
    fn closed_descriptor_has_ended() {
        assert!(wait([Awaited::data(&i32::MAX)], None).unwrap()[0].has_ended);
    }
}
