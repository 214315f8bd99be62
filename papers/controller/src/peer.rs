//! The process at the other end of a socket, as reported by the kernel (unix(7)).

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

/// The most groups of a process (`NGROUPS_MAX`, limits.h).
const MOST_GROUPS: usize = 65_536;

/// The process at the other end, as of its connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerCredentials {
    /// Its ID; 0 if invisible from here.
    pub pid: i32,
    /// Its user ID.
    pub uid: u32,
    /// Its group ID.
    pub gid: u32,
    /// The IDs of all its groups, including that one.
    pub groups: Vec<u32>,
}

impl PeerCredentials {
    /// Asks the kernel for a stream's peer.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn of(stream: &UnixStream) -> io::Result<Self> {
        let mut own = [libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX }];
        option(stream, libc::SO_PEERCRED, &mut own)?;
        let mut groups = vec![0u32; MOST_GROUPS];
        // Kernels before 4.13 do not report the other groups.
        let count = option(stream, libc::SO_PEERGROUPS, &mut groups).unwrap_or(0);
        groups.truncate(count);
        groups.push(own[0].gid);
        Ok(PeerCredentials { pid: own[0].pid, uid: own[0].uid, gid: own[0].gid, groups })
    }

    /// Whether it may send requests: root, the controller's user and the members of one group may.
    pub fn may_enter(&self, own_uid: u32, group: Option<u32>) -> bool {
        self.uid == 0
            || self.uid == own_uid
            || group.is_some_and(|group| self.groups.contains(&group))
    }
}

/// This process's effective user.
pub fn own_uid() -> u32 {
    // SAFETY: the call cannot fail and touches nothing.
    unsafe { libc::geteuid() }
}

/// Returns the number of values.
fn option<T: Copy>(stream: &UnixStream, name: libc::c_int, values: &mut [T]) -> io::Result<usize> {
    let mut length = libc::socklen_t::try_from(size_of_val(values)).map_err(io::Error::other)?;
    let to = values.as_mut_ptr().cast();
    // SAFETY: the kernel writes at most `length` bytes to `values`, which is that long; both types
    // hold any bytes.
    let answer = unsafe {
        libc::getsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, name, to, &raw mut length)
    };
    if answer == 0 { Ok(length as usize / size_of::<T>()) } else { Err(io::Error::last_os_error()) }
}

/// The ID of a group, from its name or number (group(5)).
pub fn group(name: &str) -> Option<u32> {
    let text = std::fs::read_to_string("/etc/group").unwrap_or_default();
    text.lines()
        .find_map(|line| {
            let mut fields = line.split(':');
            (fields.next() == Some(name)).then(|| fields.nth(1)?.parse().ok()).flatten()
        })
        .or_else(|| name.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_those_of_the_peer() {
        let (one, _other) = UnixStream::pair().unwrap();
        let peer = PeerCredentials::of(&one).unwrap();
        // SAFETY: the calls cannot fail and touch nothing.
        let own = unsafe { (libc::geteuid(), libc::getegid()) };
        assert!(peer.uid == own.0 && peer.groups.contains(&own.1));
    }

    #[test]
    fn only_owner_group_and_root_may_enter() {
        let peer = PeerCredentials { pid: 1, uid: 1000, gid: 1000, groups: vec![1000, 7] };
        assert!(peer.may_enter(0, Some(7)) && peer.may_enter(1000, None));
        assert!(!peer.may_enter(0, None) && !peer.may_enter(0, Some(8)));
        assert!(PeerCredentials { pid: 1, uid: 0, gid: 0, groups: vec![] }.may_enter(5, None));
    }
}
