//! Serves metrics over HTTP, with all connections in one thread.
//!
//! It answers only `GET /metrics`. Simultaneous requests share one look, which begins after all of
//! them have arrived. The server closes the connection of a client that is slow or sends more than
//! a request may have. With too many connections, it closes the oldest without a request, so that
//! clients that only connect keep no others waiting.

use super::MEDIA_TYPE;
use seatmap_data::document::{Blame, visible};
use seatmap_os::StopCheck;
use seatmap_os::ready::{self, Awaited};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;
use std::time::{Duration, Instant};

const MOST_BYTES: usize = 8 << 10;

/// The most connections. Each takes one of usually 1,024 file descriptors (`RLIMIT_NOFILE`), and at
/// most [`MOST_BYTES`] of memory.
const MOST_CLIENTS: usize = 256;

const MOST_SLOW: usize = 16;

/// The time for a request, and for the answer.
const CLIENT_TIME: Duration = Duration::from_secs(5);

/// The longest wait between checks of `stop`.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Why metrics cannot be served at an address.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}")]
pub struct ListenError {
    address: SocketAddr,
    /// The address is in use, or not of this computer.
    source: io::Error,
}

impl Blame for ListenError {
    fn is_input(&self) -> bool {
        true
    }
}

/// A listening server.
#[derive(Debug)]
pub struct MetricsServer {
    address: SocketAddr,
    listener: TcpListener,
}

struct Client {
    stream: TcpStream,
    until: Instant,
    state: ClientState,
}

enum ClientState {
    Asking(Vec<u8>),
    Answered(Rc<[u8]>, usize),
}

impl MetricsServer {
    /// Listens at an address.
    ///
    /// # Errors
    /// The kernel refuses the address.
    pub fn listen(address: SocketAddr) -> Result<Self, ListenError> {
        Self::listening(address).map_err(|source| ListenError { address, source })
    }

    fn listening(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(MetricsServer { address: listener.local_addr()?, listener })
    }

    /// The address, with the kernel's port if none was requested.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` returns true, with the metrics or why there are none.
    ///
    /// # Errors
    /// The kernel's, of waiting for clients. A client that disconnects is not an error.
    pub fn serve(
        &self,
        stop: StopCheck,
        look: &mut dyn FnMut() -> Result<String, String>,
    ) -> io::Result<()> {
        let mut clients: Vec<Client> = Vec::new();
        while !stop() {
            let awaited: Vec<Awaited> = std::iter::once(Awaited::data(&self.listener))
                .chain(clients.iter().map(Client::awaited))
                .collect();
            ready::wait_for_any(&awaited, Some(LOOK_EVERY))?;
            clients.retain_mut(Client::is_heard);
            self.welcome(&mut clients)?;
            answer(&mut clients, look);
            let now = Instant::now();
            clients.retain_mut(|client| client.is_unfinished() && now < client.until);
            let slow = clients.iter().filter(|client| client.is_answered()).count();
            let mut spare = slow.saturating_sub(MOST_SLOW);
            clients.retain(|client| {
                let is_spare = client.is_answered() && spare > 0;
                spare -= usize::from(is_spare);
                !is_spare
            });
        }
        Ok(())
    }

    fn welcome(&self, clients: &mut Vec<Client>) -> io::Result<()> {
        for _ in 0..MOST_CLIENTS {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                // The client has disconnected.
                Err(error) if is_of_the_client(&error) => continue,
                // No more files can be opened: makes room.
                Err(_) if !clients.is_empty() => {
                    hang_up_on_one(clients);
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
            let mut client = Client::new(stream);
            if client.stream.set_nonblocking(true).is_err() || !client.is_heard() {
                continue;
            }
            if clients.len() == MOST_CLIENTS {
                hang_up_on_one(clients);
            }
            clients.push(client);
        }
        Ok(())
    }
}

fn hang_up_on_one(clients: &mut Vec<Client>) {
    let idle = clients.iter().position(|client| client.request().is_none());
    let at = idle.unwrap_or(0);
    if at < clients.len() {
        clients.remove(at);
    }
}

fn answer(clients: &mut [Client], look: &mut dyn FnMut() -> Result<String, String>) {
    let mut metrics: Option<Rc<[u8]>> = None;
    for client in clients {
        let Some(line) = client.request() else { continue };
        let answer =
            refused(&line).unwrap_or_else(|| metrics.get_or_insert_with(|| looked(look)).clone());
        client.state = ClientState::Answered(answer, 0);
        client.until = Instant::now() + CLIENT_TIME;
    }
}

impl Client {
    fn new(stream: TcpStream) -> Self {
        let until = Instant::now() + CLIENT_TIME;
        Client { stream, until, state: ClientState::Asking(Vec::new()) }
    }

    fn awaited(&self) -> Awaited {
        match self.state {
            ClientState::Asking(_) => Awaited::data(&self.stream),
            ClientState::Answered(..) => Awaited::room(&self.stream),
        }
    }

    /// Returns whether the client may stay.
    fn is_heard(&mut self) -> bool {
        let ClientState::Asking(head) = &mut self.state else { return true };
        let mut part = [0; 1024];
        while !is_whole(head) {
            match self.stream.read(&mut part) {
                Ok(0) => return false,
                Ok(count) => head.extend_from_slice(&part[..count]),
                Err(error) => return is_later(&error),
            }
            if head.len() > MOST_BYTES {
                return false;
            }
        }
        true
    }

    fn request(&self) -> Option<String> {
        let ClientState::Asking(head) = &self.state else { return None };
        let line = head.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
        is_whole(head).then(|| String::from_utf8_lossy(line).into_owned())
    }

    fn is_answered(&self) -> bool {
        matches!(self.state, ClientState::Answered(..))
    }

    /// Returns whether work is left.
    fn is_unfinished(&mut self) -> bool {
        let ClientState::Answered(answer, sent) = &mut self.state else { return true };
        while *sent < answer.len() {
            match self.stream.write(&answer[*sent..]) {
                Ok(0) => return false,
                Ok(count) => *sent += count,
                Err(error) => return is_later(&error),
            }
        }
        false
    }
}

fn is_whole(head: &[u8]) -> bool {
    head.windows(4).any(|end| end == b"\r\n\r\n")
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn is_of_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(error.kind(), Interrupted | ConnectionAborted | ConnectionReset)
}

fn plain(status: &str, body: &str) -> Rc<[u8]> {
    response(status, "text/plain; charset=utf-8", &format!("{body}\n"))
}

fn response(status: &str, media_type: &str, body: &str) -> Rc<[u8]> {
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    );
    Rc::from(text.into_bytes())
}

fn refused(line: &str) -> Option<Rc<[u8]>> {
    let mut words = line.split(' ');
    let method = words.next().unwrap_or_default();
    let path = words.next().unwrap_or_default().split('?').next().unwrap_or_default();
    match (method, path) {
        ("GET", "/metrics") => None,
        ("GET", _) => Some(plain("404 Not Found", "the metrics are at /metrics")),
        _ => Some(plain("405 Method Not Allowed", "only GET is supported")),
    }
}

fn looked(look: &mut dyn FnMut() -> Result<String, String>) -> Rc<[u8]> {
    match look() {
        Ok(body) => response("200 OK", MEDIA_TYPE, &body),
        Err(why) => plain("503 Service Unavailable", &visible(&why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn ask(address: SocketAddr, request: &[u8]) -> String {
        let mut client = TcpStream::connect(address).unwrap();
        client.write_all(request).unwrap();
        let mut answer = Vec::new();
        let _ = client.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    #[test]
    fn each_request_looks_again_and_survives_errors() {
        let server = MetricsServer::listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = server.address();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut looks = 0;
                let mut look = || {
                    looks += 1;
                    if looks == 3 { Err("gone".to_owned()) } else { Ok(format!("look {looks}\n")) }
                };
                server.serve(&|| is_over.load(Ordering::Relaxed), &mut look).unwrap();
            });
            let get = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
            assert!(ask(address, get).ends_with("\r\n\r\nlook 1\n"));
            assert_eq!(ask(address, &[b'x'; 2 * MOST_BYTES]), "");
            assert!(ask(address, b"GET / HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 404 "));
            assert!(ask(address, b"POST /metrics HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 405 "));
            assert!(ask(address, get).ends_with("\r\n\r\nlook 2\n"));
            let failed = ask(address, get);
            assert!(failed.starts_with("HTTP/1.1 503 ") && failed.ends_with("gone\n"), "{failed}");
            is_over.store(true, Ordering::Relaxed);
            let _ = TcpStream::connect(address);
        });
    }

    #[test]
    fn scrape_is_answered_despite_many_idle_clients() {
        let server = MetricsServer::listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = server.address();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut look = || Ok("all\n".repeat(1_000_000));
                server.serve(&|| is_over.load(Ordering::Relaxed), &mut look).unwrap();
            });
            let mut crowd = Vec::new();
            for at in 0..2 * MOST_CLIENTS {
                let mut client = TcpStream::connect(address).unwrap();
                // Some only connect, some send half a request, and some read no answer.
                let sent: &[u8] = match at % 3 {
                    0 => b"",
                    1 => b"GET /met",
                    _ => b"GET /metrics HTTP/1.1\r\n\r\n",
                };
                let _ = client.write_all(sent);
                crowd.push(client);
            }
            // Otherwise the server would have read timed-out clients one by one.
            let answer = ask(address, b"GET /metrics HTTP/1.1\r\n\r\n");
            assert!(answer.ends_with("all\n"), "{} bytes", answer.len());
            is_over.store(true, Ordering::Relaxed);
            let _ = TcpStream::connect(address);
        });
    }

    #[test]
    fn oldest_idle_client_is_dropped_first() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut held: Vec<Client> =
            (0..3).map(|_| Client::new(TcpStream::connect(address).unwrap())).collect();
        held[0].state = ClientState::Asking(b"GET / HTTP/1.1\r\n\r\n".to_vec());
        let second = held[1].stream.as_raw_fd();
        hang_up_on_one(&mut held);
        assert!(held.len() == 2 && held.iter().all(|one| one.stream.as_raw_fd() != second));
        hang_up_on_one(&mut held);
        hang_up_on_one(&mut held);
        hang_up_on_one(&mut held);
        assert!(held.is_empty());
    }
}
