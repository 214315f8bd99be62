//! The addresses of this computer, and a wait for what comes over connections.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// Waits until one of these can be read, or accepted from, or has ended, or until the time is over;
/// `None` is for ever.
///
/// # Errors
/// The kernel has no memory for it.
pub fn wait_readable(all: &[BorrowedFd<'_>], limit: Option<Duration>) -> io::Result<()> {
    let mut polled: Vec<PollFd<'_>> =
        all.iter().map(|one| PollFd::from_borrowed_fd(*one, PollFlags::IN)).collect();
    let limit = limit.map(|limit| Timespec {
        tv_sec: limit.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: limit.subsec_nanos().into(),
    });
    match poll(&mut polled, limit.as_ref()) {
        // A signal: the caller looks, and waits again.
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// The addresses of interfaces that are up, those first at which other computers reach this one:
/// addresses of this computer alone (127.0.0.1) come last, and those that hold on one link only
/// (fe80::/10) are left out.
#[must_use]
pub fn addresses() -> Vec<IpAddr> {
    let mut first = std::ptr::null_mut();
    // SAFETY: `first` is writable; the list that it points to is freed below.
    if unsafe { libc::getifaddrs(&raw mut first) } != 0 {
        return vec![Ipv4Addr::LOCALHOST.into()];
    }
    let mut found = Vec::new();
    let mut next = first;
    // SAFETY: each entry of the list is valid until it is freed, and the last points nowhere.
    while let Some(entry) = unsafe { next.as_ref() } {
        if entry.ifa_flags & libc::IFF_UP as u32 != 0 {
            // SAFETY: the address of an entry is null or points to one of the family that it names.
            found.extend(unsafe { address(entry.ifa_addr) });
        }
        next = entry.ifa_next;
    }
    // SAFETY: the list came from `getifaddrs`, and no reference into it is left.
    unsafe { libc::freeifaddrs(first) };
    found.retain(|ip| !matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local()));
    found.sort_by_key(|ip| (ip.is_loopback(), ip.is_ipv6()));
    found
}

/// The address that a pointer of the socket calls points to.
///
/// # Safety
/// It is null, or points to an address of the family that it names.
unsafe fn address(at: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: the caller's word.
    match i32::from(unsafe { at.as_ref() }?.sa_family) {
        libc::AF_INET => {
            // SAFETY: an address of this family is a `sockaddr_in`; it may lie anywhere.
            let raw = unsafe { at.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(Ipv4Addr::from(u32::from_be(raw.sin_addr.s_addr)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: an address of this family is a `sockaddr_in6`; it may lie anywhere.
            let raw = unsafe { at.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(Ipv6Addr::from(raw.sin6_addr.s6_addr).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_wait_ends_with_what_comes_or_with_its_time() {
        let (reader, writer) = io::pipe().unwrap();
        wait_readable(&[reader.as_fd()], Some(Duration::from_millis(1))).unwrap();
        drop(writer);
        wait_readable(&[reader.as_fd()], None).unwrap();
    }

    #[test]
    fn own_addresses_alone_come_last() {
        let found = addresses();
        let own = found.iter().position(IpAddr::is_loopback);
        assert!(found[own.unwrap_or(found.len())..].iter().all(IpAddr::is_loopback), "{found:?}");
    }
}
