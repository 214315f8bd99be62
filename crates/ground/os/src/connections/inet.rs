//! TCP and UDP tables of several network namespaces (proc(5)).

use crate::Tid;
use crate::root::Root;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;

const TABLES: [(&str, &str); 4] = [("tcp", TCP), ("tcp6", TCP), ("udp", UDP), ("udp6", UDP)];

/// A server has one socket per client.
const TCP: &str = "tcp";

/// A server may have one socket for all clients.
const UDP: &str = "udp";

/// Digits of an IPv4 address; a mapped IPv6 address ends with them.
const IPV4_DIGITS: usize = 8;

/// The prefix of a mapped IPv4 address (RFC 4291, 2.5.5.2).
const MAPPED: &str = "0000000000000000FFFF0000";

/// `::1`.
const LOOPBACK_IPV6: &str = "00000000000000000000000001000000";

/// Namespace (for addresses valid in only one), protocol, address and port.
type End = (String, &'static str, String, String);

/// `TCP_LISTEN` of include/net/tcp_states.h.
const LISTENS: &str = "0A";

#[derive(Debug, PartialEq)]
struct Socket {
    local: End,
    remote: End,
    inode: u64,
    listens: bool,
}

/// Client and server inodes of each connection within this computer; both orders if the roles are
/// unknown.
pub fn pairs(root: &Root, pids: &BTreeSet<Tid>) -> Vec<(u64, u64)> {
    let mut by_namespace: BTreeMap<String, Tid> = BTreeMap::new();
    for pid in pids {
        if let Ok(namespace) = fs::read_link(root.path(&format!("/proc/{pid}/ns/net"))) {
            by_namespace.entry(namespace.to_string_lossy().into_owned()).or_insert(*pid);
        }
    }
    let mut sockets = Vec::new();
    for (namespace, pid) in &by_namespace {
        for (table, protocol) in TABLES {
            let text = root.read(&format!("/proc/{pid}/net/{table}")).unwrap_or_default();
            let rows = text.lines().skip(1);
            sockets.extend(rows.filter_map(|row| socket(namespace, protocol, row)));
        }
    }
    paired(&sockets)
}

fn socket(namespace: &str, protocol: &'static str, row: &str) -> Option<Socket> {
    let fields: Vec<&str> = row.split_ascii_whitespace().collect();
    let local = end(namespace, protocol, fields.get(1)?)?;
    let remote = end(namespace, protocol, fields.get(2)?)?;
    let inode = fields.get(9)?.parse().ok().filter(|inode| *inode != 0)?;
    Some(Socket { local, remote, inode, listens: fields[3] == LISTENS })
}

fn end(namespace: &str, protocol: &'static str, text: &str) -> Option<End> {
    let (address, port) = text.split_once(':')?;
    let address = address.strip_prefix(MAPPED).unwrap_or(address);
    // The kernel prints a word's bytes in the processor's order.
    let is_own = address == LOOPBACK_IPV6 || (address.len() == IPV4_DIGITS && is_loopback(address));
    let namespace = if is_own { namespace.to_owned() } else { String::new() };
    Some((namespace, protocol, address.to_owned(), port.to_owned()))
}

fn is_loopback(address: &str) -> bool {
    let word = u32::from_str_radix(address, 16).unwrap_or(0);
    std::net::Ipv4Addr::from(word.to_ne_bytes()).is_loopback()
}

fn paired(sockets: &[Socket]) -> Vec<(u64, u64)> {
    let by_ends: HashMap<(&End, &End), u64> =
        sockets.iter().map(|one| ((&one.local, &one.remote), one.inode)).collect();
    let servers = sockets.iter().filter(|one| one.local.1 == UDP && one.remote.3 == "0000");
    let by_port: HashMap<&str, &Socket> = servers.map(|one| (&*one.local.3, one)).collect();
    let listened: BTreeSet<&str> =
        sockets.iter().filter(|one| one.listens).map(|one| &*one.local.3).collect();
    let mut pairs = Vec::new();
    for one in sockets {
        if let Some(other) = by_ends.get(&(&one.remote, &one.local)) {
            let serves = listened.contains(&*one.local.3) && !listened.contains(&*one.remote.3);
            pairs.extend((!serves).then_some((one.inode, *other)));
        } else if one.local.1 == UDP
            && let Some(server) = by_port.get(&*one.remote.3)
            && (server.local == one.remote || server.local.2.bytes().all(|digit| digit == b'0'))
        {
            pairs.push((one.inode, server.inode));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVED: &str = "1: 0100007F:426A 0100007F:D2A4 01 0:0 00:0 0 0 0 501";
    const ASKING: &str = "2: 0100007F:D2A4 0100007F:426A 01 0:0 00:0 0 0 0 502";

    #[test]
    fn connection_has_two_ends_and_loopback_one_namespace() {
        let row = |namespace, row| socket(namespace, TCP, row).unwrap();
        let waits = "0: 00000000:426A 00000000:0000 0A 0:0 00:0 0 0 0 500";
        let known = [row("a", waits), row("a", SERVED), row("a", ASKING)];
        assert_eq!(paired(&known), [(502, 501)], "the server is who listens");
        assert_eq!(paired(&[row("a", SERVED), row("a", ASKING)]), [(501, 502), (502, 501)]);
        assert_eq!(paired(&[row("a", SERVED), row("b", ASKING)]), []);
        let far = |text: &str| text.replace("0100007F", "0100000A");
        let [served, asking] = [far(SERVED), far(ASKING)];
        let crossed = paired(&[row("a", &served), row("b", &asking)]);
        assert_eq!(crossed, [(501, 502), (502, 501)], "two containers on one bridge");
        let mapped = SERVED.replace("0100007F", &format!("{MAPPED}0100007F"));
        assert_eq!(paired(&[row("a", &mapped), row("a", ASKING)]).len(), 2);
        assert_eq!(socket("a", TCP, "3: 0100007F:426A"), None);
    }

    #[test]
    fn udp_server_socket_serves_all_clients() {
        let udp = |row| socket("a", UDP, row).unwrap();
        let server = "1: 00000000:0035 00000000:0000 07 0:0 00:0 0 0 0 601";
        let client = "2: 0100007F:D2A4 0100007F:0035 01 0:0 00:0 0 0 0 602";
        let elsewhere = client.replace(":0035", ":0036");
        assert_eq!(paired(&[udp(server), udp(client)]), [(602, 601)]);
        assert_eq!(paired(&[udp(server), udp(&elsewhere)]), []);
    }
}
