//! Serves metrics over HTTP: each request looks anew, one after the other.
//!
//! It answers `GET /metrics` and nothing else. A client that is slow, or that sends more than a
//! request line with headers may have, is hung up on.

use super::MEDIA_TYPE;
use seatmap_document::Blame;
use seatmap_os::ready::{self, Awaited};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// The longest request that is read, in bytes.
const MOST_BYTES: usize = 8 << 10;

/// How long a client may take to send its request, and to take the answer.
const CLIENT_TIME: Duration = Duration::from_secs(5);

/// How long a wait for clients may be blind to the wish to stop.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Why metrics cannot be served at an address.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen at {address}")]
pub struct ListenError {
    /// The address.
    address: SocketAddr,
    /// The kernel's error: another program listens there, or this computer has no such address.
    source: io::Error,
}

impl Blame for ListenError {
    fn is_input(&self) -> bool {
        true
    }
}

/// A server that listens.
#[derive(Debug)]
pub struct MetricsServer {
    address: SocketAddr,
    listener: TcpListener,
}

/// An answer.
struct Response {
    status: &'static str,
    media_type: &'static str,
    body: String,
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

    /// The address, with the port that the kernel chose where none was asked for.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers clients until `stop` says so, each with the metrics or the reason for having none.
    ///
    /// # Errors
    /// The kernel's, of waiting for clients. One that goes away is none.
    pub fn serve(
        &self,
        stop: &dyn Fn() -> bool,
        look: &mut dyn FnMut() -> Result<String, String>,
    ) -> io::Result<()> {
        while !stop() {
            ready::wait([Awaited::data(&self.listener)], Some(LOOK_EVERY))?;
            match self.listener.accept() {
                // The server goes on after a client that has gone.
                Ok((client, _)) => drop(answer(client, look)),
                Err(error) if is_of_the_client(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Whether a client went away before it was taken, or none is there.
fn is_of_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    matches!(error.kind(), WouldBlock | Interrupted | ConnectionAborted | ConnectionReset)
}

fn answer(
    mut client: TcpStream,
    look: &mut dyn FnMut() -> Result<String, String>,
) -> io::Result<()> {
    client.set_nonblocking(false)?;
    client.set_read_timeout(Some(CLIENT_TIME))?;
    client.set_write_timeout(Some(CLIENT_TIME))?;
    let request = read_head(&mut client)?;
    let response = respond(request.lines().next().unwrap_or_default(), look);
    let Response { status, media_type, body } = response;
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    client.write_all(head.as_bytes())?;
    client.write_all(body.as_bytes())
}

/// The request line and the headers.
fn read_head(client: &mut TcpStream) -> io::Result<String> {
    let begun = std::time::Instant::now();
    let mut head = Vec::new();
    let mut part = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = client.read(&mut part)?;
        head.extend_from_slice(&part[..count]);
        let is_too_much = head.len() > MOST_BYTES || begun.elapsed() > CLIENT_TIME;
        if count == 0 || is_too_much {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

fn respond(line: &str, look: &mut dyn FnMut() -> Result<String, String>) -> Response {
    let mut words = line.split(' ');
    let method = words.next().unwrap_or_default();
    let path = words.next().unwrap_or_default().split('?').next().unwrap_or_default();
    let plain = |status, body: &str| Response {
        status,
        media_type: "text/plain; charset=utf-8",
        body: format!("{body}\n"),
    };
    match (method, path) {
        ("GET", "/metrics") => match look() {
            Ok(body) => Response { status: "200 OK", media_type: MEDIA_TYPE, body },
            Err(why) => plain("503 Service Unavailable", &why),
        },
        ("GET", _) => plain("404 Not Found", "the metrics are at /metrics"),
        _ => plain("405 Method Not Allowed", "only GET is answered"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn ask(address: SocketAddr, request: &[u8]) -> String {
        let mut client = TcpStream::connect(address).unwrap();
        client.write_all(request).unwrap();
        let mut answer = Vec::new();
        // A client that is hung up on reads what there was.
        let _ = client.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    #[test]
    fn each_request_looks_anew_and_bad_ones_end_nothing() {
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
            // The wait ends at once by a client.
            let _ = TcpStream::connect(address);
        });
    }
}
