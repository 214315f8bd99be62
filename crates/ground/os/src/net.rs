//! This computer's addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Addresses of active interfaces, loopback ones (127.0.0.1) last. Omits link-local ones
/// (fe80::/10).
pub fn addresses() -> Vec<IpAddr> {
    let mut first = std::ptr::null_mut();
    // SAFETY: `first` is writable; the resulting list is freed below.
    if unsafe { libc::getifaddrs(&raw mut first) } != 0 {
        return vec![Ipv4Addr::LOCALHOST.into()];
    }
    let mut found = Vec::new();
    let mut next = first;
    // SAFETY: each entry is valid until the list is freed; the last has a null `ifa_next`.
    while let Some(entry) = unsafe { next.as_ref() } {
        if entry.ifa_flags & libc::IFF_UP as u32 != 0 {
            // SAFETY: an entry's address is null or has the family that it states.
            found.extend(unsafe { address(entry.ifa_addr) });
        }
        next = entry.ifa_next;
    }
    // SAFETY: the list came from `getifaddrs`, and no reference into it remains.
    unsafe { libc::freeifaddrs(first) };
    found.retain(|ip| !matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local()));
    found.sort_by_key(|ip| (ip.is_loopback(), ip.is_ipv6()));
    found
}

/// Reads a socket address.
///
/// # Safety
/// The pointer is null, or its address has the family that it states.
unsafe fn address(at: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: guaranteed by the caller.
    match i32::from(unsafe { at.as_ref() }?.sa_family) {
        libc::AF_INET => {
            // SAFETY: an address of this family is a `sockaddr_in`, possibly unaligned.
            let raw = unsafe { at.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(Ipv4Addr::from(u32::from_be(raw.sin_addr.s_addr)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: an address of this family is a `sockaddr_in6`, possibly unaligned.
            let raw = unsafe { at.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(Ipv6Addr::from(raw.sin6_addr.s6_addr).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_addresses_come_last() {
        let found = addresses();
        let own = found.iter().position(IpAddr::is_loopback);
        assert!(found[own.unwrap_or(found.len())..].iter().all(IpAddr::is_loopback), "{found:?}");
    }
}
