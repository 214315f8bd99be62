//! Gigabit ports: each stream leaves through its own, as in the paper.
//!
//! A port is a pair of virtual Ethernet devices between two network namespaces, whose sender is
//! limited to the wire's rate. The namespaces belong to two threads and have no names, so the
//! kernel removes them, the devices and the limits with the last of their sockets, even if the
//! process is killed.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Output};
use std::sync::mpsc::{Receiver, Sender, channel};

/// The rate of a gigabit wire for the bytes that the kernel counts: 1514 of the 1538 bytes of a
/// full frame, without preamble, checksum and the gap to the next one (IEEE 802.3). TCP's payload,
/// 1448 bytes of the frame, then reaches 941 Mbit/s.
const RATE: &str = "984400kbit";

pub type ConnectionEnds = (TcpStream, TcpStream);

/// The connections of some streams: into the service over its namespace's loopback, and out of it
/// through one port each.
pub struct PortConnections {
    /// A sender's end, and the service's.
    pub ingress: Vec<ConnectionEnds>,
    /// A sink's end, and the service's.
    pub egress: Vec<ConnectionEnds>,
}

/// # Errors
/// Namespaces require root; `ip` and `tc` are missing, or refuse.
pub fn connect(streams: usize) -> io::Result<PortConnections> {
    // In a new thread, so that the caller stays in its namespace.
    std::thread::scope(|scope| {
        let near = std::thread::Builder::new().spawn_scoped(scope, || near_side(streams))?;
        near.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn near_side(streams: usize) -> io::Result<PortConnections> {
    enter_own_namespace()?;
    ip(&["link", "set", "lo", "up"])?;
    std::thread::scope(|scope| {
        let (tell_tid, tid) = channel();
        let (tell_devices, devices) = channel();
        let (tell_listeners, listeners) = channel();
        let far = std::thread::Builder::new()
            .spawn_scoped(scope, move || far_side(streams, &tell_tid, &devices, &tell_listeners))?;
        // The failed side's error is the one to return.
        let ours = near_devices(streams, &tid, tell_devices, &listeners);
        let theirs = far.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let sinks = theirs?;
        let services = ours?;
        let ingress = (0..streams).map(|_| super::connected()).collect::<io::Result<_>>()?;
        Ok(PortConnections { ingress, egress: sinks.into_iter().zip(services).collect() })
    })
}

/// Makes the devices, and connects to the listeners at their far ends in the other thread's
/// namespace.
fn near_devices(
    streams: usize,
    tid: &Receiver<i32>,
    tell_devices: Sender<()>,
    listeners: &Receiver<Vec<SocketAddr>>,
) -> io::Result<Vec<TcpStream>> {
    let tid = tid.recv().map_err(io::Error::other)?.to_string();
    for stream in 0..streams {
        let near = format!("near{stream}");
        let far = format!("far{stream}");
        ip(&["link", "add", &near, "type", "veth", "peer", "name", &far, "netns", &tid])?;
        ip(&["addr", "add", &format!("{}/24", address(stream, 1)), "dev", &near])?;
        ip(&["link", "set", &near, "up"])?;
        // The burst is larger than the largest segment, so that the kernel need not split it.
        let limit = ["rate", RATE, "burst", "128kb", "latency", "20ms"];
        tool("tc", &[&["qdisc", "add", "dev", &near, "root", "tbf"][..], &limit].concat())?;
    }
    tell_devices.send(()).map_err(io::Error::other)?;
    let addresses = listeners.recv().map_err(io::Error::other)?;
    addresses.into_iter().map(TcpStream::connect).collect()
}

fn far_side(
    streams: usize,
    tell_tid: &Sender<i32>,
    devices: &Receiver<()>,
    tell_listeners: &Sender<Vec<SocketAddr>>,
) -> io::Result<Vec<TcpStream>> {
    enter_own_namespace()?;
    // SAFETY: it has no preconditions.
    tell_tid.send(unsafe { libc::gettid() }).map_err(io::Error::other)?;
    devices.recv().map_err(io::Error::other)?;
    let mut listeners = Vec::new();
    for stream in 0..streams {
        let far = format!("far{stream}");
        ip(&["addr", "add", &format!("{}/24", address(stream, 2)), "dev", &far])?;
        ip(&["link", "set", &far, "up"])?;
        listeners.push(TcpListener::bind((address(stream, 2), 0))?);
    }
    let addresses = listeners.iter().map(TcpListener::local_addr).collect::<io::Result<_>>()?;
    tell_listeners.send(addresses).map_err(io::Error::other)?;
    listeners.iter().map(|listener| Ok(listener.accept()?.0)).collect()
}

fn address(stream: usize, end: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, stream as u8, end)
}

/// Moves only this thread into an unnamed network namespace.
fn enter_own_namespace() -> io::Result<()> {
    // SAFETY: it has no preconditions, and changes this thread's namespace only.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            Err(io::Error::new(error.kind(), "ports in network namespaces require root"))
        }
        _ => Err(error),
    }
}

fn ip(arguments: &[&str]) -> io::Result<()> {
    tool("ip", arguments)
}

fn tool(name: &str, arguments: &[&str]) -> io::Result<()> {
    let output = Command::new(name).args(arguments).output();
    let Output { status, stderr, .. } = output
        .map_err(|error| io::Error::new(error.kind(), format!("{name} of iproute2: {error}")))?;
    if status.success() {
        return Ok(());
    }
    let line = arguments.join(" ");
    let words = String::from_utf8_lossy(&stderr);
    Err(io::Error::other(format!("{name} {line}: {}", words.trim())))
}
