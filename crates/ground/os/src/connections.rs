//! Processes connected by a pipe, a unix socket, or local TCP or UDP.
//!
//! Wakeups miss programs that never sleep, or only send; open files show them.
//!
//! A connection has a direction: a client requests from a server, a writer feeds a reader. So a
//! client's client belongs to the server, but two clients of a database are not connected.
//!
//! | module | source |
//! |---|---|
//! | `inet` | the tables of TCP and UDP in `/proc/PID/net` |
//! | `unix` | the peers of unix sockets, known only to netlink |

mod inet;
mod unix;

use crate::Tid;
use crate::root::Root;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;

/// Last octal digit of a read-only descriptor's flags in `/proc/PID/fdinfo` (`O_ACCMODE` of
/// fcntl.h).
const READS: &str = "0";

#[derive(Debug, Default)]
struct Ends {
    reads: BTreeSet<u64>,
    writes: BTreeSet<u64>,
    sockets: BTreeSet<u64>,
}

type Servers = HashMap<u64, Vec<u64>>;

/// The `others` that are clients, servers, writers or readers of these processes, directly or
/// through others in the same direction. Omits processes with unreadable open files
/// ([`are_shown`]).
pub fn connected(root: &Root, pids: &[Tid], others: &[Tid]) -> BTreeSet<Tid> {
    let all: BTreeSet<Tid> = pids.iter().chain(others).copied().collect();
    let ends: HashMap<Tid, Ends> = all.iter().map(|pid| (*pid, Ends::of(root, *pid))).collect();
    let mut servers = Servers::new();
    let pairs = unix::pairs().into_iter().chain(inet::pairs(root, &all));
    pairs.for_each(|(client, server)| servers.entry(client).or_default().push(server));
    let mut found = reached(pids, &all, |near, far| ends[&far].asks(&ends[&near], &servers));
    found.extend(reached(pids, &all, |near, far| ends[&near].asks(&ends[&far], &servers)));
    found.retain(|pid| !pids.contains(pid));
    found
}

/// Whether this user may list a process's open files. An exited process has none.
pub fn are_shown(root: &Root, pid: Tid) -> bool {
    root.names(&format!("/proc/{pid}/fd")).is_ok()
}

fn reached(pids: &[Tid], all: &BTreeSet<Tid>, step: impl Fn(Tid, Tid) -> bool) -> BTreeSet<Tid> {
    let mut found: BTreeSet<Tid> = pids.iter().copied().collect();
    let mut open: Vec<Tid> = pids.to_vec();
    while let Some(near) = open.pop() {
        for far in all {
            if !found.contains(far) && step(near, *far) {
                found.insert(*far);
                open.push(*far);
            }
        }
    }
    found
}

impl Ends {
    fn of(root: &Root, pid: Tid) -> Self {
        let folder = format!("/proc/{pid}/fd");
        let mut ends = Ends::default();
        for name in root.names(&folder).unwrap_or_default() {
            let Ok(link) = fs::read_link(root.path(&format!("{folder}/{name}"))) else { continue };
            if let Some(inode) = inode(&link, "socket:[") {
                ends.sockets.insert(inode);
            } else if let Some(inode) = inode(&link, "pipe:[") {
                let mode = mode(root, pid, &name);
                let those = if mode == READS { &mut ends.reads } else { &mut ends.writes };
                those.insert(inode);
            }
        }
        // A process with both ends of a pipe uses it alone, or shares a jobserver's tokens.
        let both: Vec<u64> = ends.reads.intersection(&ends.writes).copied().collect();
        for inode in both {
            ends.reads.remove(&inode);
            ends.writes.remove(&inode);
        }
        ends
    }

    /// Whether it is a client of the other process, or writes to it.
    fn asks(&self, other: &Ends, servers: &Servers) -> bool {
        let mut far = self.sockets.iter().filter_map(|socket| servers.get(socket)).flatten();
        !self.writes.is_disjoint(&other.reads) || far.any(|server| other.sockets.contains(server))
    }
}

/// The inode in a link such as `pipe:[4711]`.
fn inode(link: &Path, before: &str) -> Option<u64> {
    link.to_str()?.strip_prefix(before)?.strip_suffix(']')?.parse().ok()
}

fn mode(root: &Root, pid: Tid, descriptor: &str) -> String {
    let info = root.read(&format!("/proc/{pid}/fdinfo/{descriptor}")).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).unwrap_or_default();
    flags.trim().chars().last().map(String::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::net::{TcpListener, UdpSocket};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::process::{Child, Command, Stdio};

    fn with_input(input: impl Into<Stdio>) -> Child {
        let mut command = Command::new("sleep");
        command.arg("1000").stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    fn with_both(input: impl Into<Stdio>, output: impl Into<Stdio>) -> Child {
        let mut command = Command::new("sleep");
        command.arg("1000").stdin(input).stdout(output).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    fn pid(child: &Child) -> Tid {
        Tid::try_from(child.id()).unwrap()
    }

    fn end(children: impl IntoIterator<Item = Child>) {
        for mut child in children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    #[test]
    fn both_ends_of_pipes_and_sockets_are_matched() {
        let root = Root::new("/");
        let (to, from) = UnixStream::pair().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (served, _) = listener.accept().unwrap();
        let name_server = UdpSocket::bind("127.0.0.1:0").unwrap();
        let resolver = UdpSocket::bind("127.0.0.1:0").unwrap();
        resolver.connect(name_server.local_addr().unwrap()).unwrap();
        let pairs = [
            [with_input(OwnedFd::from(to)), with_input(OwnedFd::from(from))],
            [with_input(OwnedFd::from(client)), with_input(OwnedFd::from(served))],
            [with_input(OwnedFd::from(name_server)), with_input(OwnedFd::from(resolver))],
        ];
        let all: Vec<Tid> = pairs.iter().flatten().map(pid).collect();
        for pair in &pairs {
            let [one, other] = [pid(&pair[0]), pid(&pair[1])];
            let found = connected(&root, &[one], &all);
            assert_eq!(found, BTreeSet::from([other]), "{pair:?}");
            assert_eq!(connected(&root, &[other], &all), BTreeSet::from([one]), "{pair:?}");
        }
        end(pairs.into_iter().flatten());
    }

    #[test]
    fn clients_of_one_server_are_not_connected() {
        let root = Root::new("/");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let [one, other] = [(); 2].map(|()| std::net::TcpStream::connect(address).unwrap());
        let [first, second] = [(); 2].map(|()| listener.accept().unwrap().0);
        let server = with_both(OwnedFd::from(first), OwnedFd::from(second));
        let clients = [with_input(OwnedFd::from(one)), with_input(OwnedFd::from(other))];
        let all: Vec<Tid> = clients.iter().chain([&server]).map(pid).collect();
        let found = connected(&root, &all[..1], &all);
        let of_server = connected(&root, &all[2..], &all);
        end(clients.into_iter().chain([server]));
        assert_eq!(found, BTreeSet::from([all[2]]));
        assert_eq!(of_server, BTreeSet::from([all[0], all[1]]));
        drop(listener);
    }

    #[test]
    fn pipeline_is_connected_but_inherited_files_are_not() {
        let root = Root::new("/");
        let script = "sleep 1000 | sleep 1000 | sleep 1000 & sleep 1000 & echo made; wait";
        let mut shell =
            Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(shell.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "made");
        let children = || -> Vec<Tid> {
            let all = crate::task::processes(&root).unwrap();
            all.filter(|one| crate::task::parent(&root, *one) == Some(pid(&shell)))
                .filter(|one| crate::task::name(&root, *one).as_deref() == Some("sleep"))
                .collect()
        };
        while children().len() < 4 {
            std::thread::yield_now();
        }
        let all = children();
        let mut sizes: Vec<usize> =
            all.iter().map(|one| connected(&root, &[*one], &all).len()).collect();
        sizes.sort_unstable();
        for one in &all {
            // SAFETY: a signal to a process that this test has started.
            unsafe { libc::kill(*one, libc::SIGKILL) };
        }
        end([shell]);
        assert_eq!(sizes, [0, 2, 2, 2], "three that pass on, and one that only writes beside them");
    }
}
