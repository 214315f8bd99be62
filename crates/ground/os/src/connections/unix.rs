//! Peers of unix sockets, from netlink (sock_diag(7)).

use crate::bytes::{u16_at, u32_at};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};
use std::collections::BTreeMap;

/// `SOCK_DIAG_BY_FAMILY` of linux/sock_diag.h.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST | NLM_F_DUMP` of linux/netlink.h.
const REQUEST_DUMP: u16 = 0x301;
/// `UDIAG_SHOW_NAME | UDIAG_SHOW` of linux/unix_diag.h.
const SHOW: u32 = 1 | 4;
/// `UNIX_DIAG_NAME` and `UNIX_DIAG_PEER`, there.
const NAME: u16 = 0;
const PEER: u16 = 2;
/// Sizes of `nlmsghdr`, `unix_diag_req`, `unix_diag_msg` and `nlattr`.
const HEADER_BYTES: usize = 16;
const REQUEST_BYTES: usize = 24;
const MESSAGE_BYTES: usize = 16;
const ATTRIBUTE_BYTES: usize = 4;
/// The kernel's largest message (`netlink_dump` of net/netlink/af_netlink.c).
const BUFFER_BYTES: usize = 32_768;

/// A socket's peer, and whether it has a name.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Socket {
    peer: u64,
    is_named: bool,
}

type Sockets = BTreeMap<u64, Socket>;

/// Client and server inodes of connections in this network namespace; both orders if unknown. Empty
/// without `CONFIG_UNIX_DIAG`.
pub fn pairs() -> Vec<(u64, u64)> {
    let mut sockets = Sockets::new();
    // After an error, keep the sockets received before it.
    let _ = ask(&mut sockets);
    let connected = sockets.iter().filter(|(_, one)| one.peer != 0);
    connected
        .filter(|(_, one)| {
            // A server's socket has its listening socket's name; a client's has none.
            let is_far_named = sockets.get(&one.peer).is_some_and(|peer| peer.is_named);
            !one.is_named || is_far_named
        })
        .map(|(inode, one)| (*inode, one.peer))
        .collect()
}

fn ask(sockets: &mut Sockets) -> rustix::io::Result<()> {
    let flags = SocketFlags::CLOEXEC;
    let protocol = Some(netlink::SOCK_DIAG);
    let socket = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, protocol)?;
    send(&socket, &request(), SendFlags::empty())?;
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        // The kernel creates its answer on reception, so there is no wait.
        let (length, _) = recv(&socket, &mut buffer[..], RecvFlags::DONTWAIT)?;
        if !take(&buffer[..length], sockets) {
            return Ok(());
        }
    }
}

fn request() -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(((HEADER_BYTES + REQUEST_BYTES) as u32).to_ne_bytes());
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST_DUMP.to_ne_bytes());
    // Sequence number, and the sender's port, which the kernel knows.
    bytes.extend([0; 8]);
    bytes.extend([libc::AF_UNIX as u8, 0, 0, 0]);
    // All states, any inode.
    bytes.extend(u32::MAX.to_ne_bytes());
    bytes.extend(0u32.to_ne_bytes());
    bytes.extend(SHOW.to_ne_bytes());
    bytes.extend([0xff; 8]);
    bytes
}

/// Parses one datagram. Returns whether more follow.
fn take(mut bytes: &[u8], sockets: &mut Sockets) -> bool {
    while let Some((length, kind)) = u32_at(bytes, 0).zip(u16_at(bytes, 4)) {
        let length = length as usize;
        if kind != BY_FAMILY || length < HEADER_BYTES || length > bytes.len() {
            return false;
        }
        socket(&bytes[HEADER_BYTES..length], sockets);
        bytes = &bytes[length.next_multiple_of(4).min(bytes.len())..];
    }
    true
}

fn socket(message: &[u8], sockets: &mut Sockets) {
    let Some(inode) = u32_at(message, 4) else { return };
    let mut attributes = message.get(MESSAGE_BYTES..).unwrap_or_default();
    while let Some((length, kind)) = u16_at(attributes, 0).zip(u16_at(attributes, 2)) {
        let length = usize::from(length).max(ATTRIBUTE_BYTES);
        let one = sockets.entry(u64::from(inode)).or_default();
        match kind {
            NAME => one.is_named = length > ATTRIBUTE_BYTES,
            PEER => one.peer = u32_at(attributes, ATTRIBUTE_BYTES).unwrap_or(0).into(),
            _ => {}
        }
        attributes = &attributes[length.next_multiple_of(4).min(attributes.len())..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_answer_ends_quietly() {
        let mut whole = Vec::new();
        whole.extend(40u32.to_ne_bytes());
        whole.extend(BY_FAMILY.to_ne_bytes());
        whole.extend([0; 10]);
        whole.extend([libc::AF_UNIX as u8, 1, 1, 0]);
        whole.extend(7u32.to_ne_bytes());
        whole.extend([0; 8]);
        whole.extend(8u16.to_ne_bytes());
        whole.extend(PEER.to_ne_bytes());
        whole.extend(9u32.to_ne_bytes());
        let mut sockets = Sockets::new();
        assert!(take(&whole, &mut sockets));
        assert_eq!(sockets, Sockets::from([(7, Socket { peer: 9, is_named: false })]));
        for length in 0..whole.len() {
            let mut sockets = Sockets::new();
            take(&whole[..length], &mut sockets);
            assert_eq!(sockets, Sockets::new(), "{length} bytes");
        }
        let done = [&20u32.to_ne_bytes()[..], &3u16.to_ne_bytes(), &[0; 14]].concat();
        assert!(!take(&done, &mut Sockets::new()));
    }
}
