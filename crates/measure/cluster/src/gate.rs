//! The port of a rank, where callers prove that they belong to this start.
//!
//! At most [`MOST`] unproved callers at a time, each for [`PATIENCE`], without a thread. If more
//! arrive, the oldest is dropped, because a rank proves itself with its first message.

use crate::handshake::{Called, ConnectionPurpose, HandshakeError, Hearing, PATIENCE};
use crate::secret::Secret;
use seatmap_os::ready::{Awaited, wait_for_any};
use serde::de::DeserializeOwned;
use std::collections::VecDeque;
use std::io;
use std::marker::PhantomData;
use std::net::{IpAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// More than the kernel's queue of a port (128 for Rust's listeners), so simultaneous ranks do not
/// displace each other.
const MOST: usize = 256;

/// The pause in accepting callers when no file descriptor is left.
const BREATH: Duration = Duration::from_millis(20);

pub type CallerCheck<T> = Result<Called<T>, String>;

struct Stranger {
    stream: TcpStream,
    from: IpAddr,
    hearing: Hearing,
    until: Instant,
}

pub struct Gate<T> {
    listeners: Vec<TcpListener>,
    secret: Secret,
    purpose: ConnectionPurpose,
    strangers: VecDeque<Stranger>,
    said: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Gate<T> {
    pub fn new(
        listeners: Vec<TcpListener>,
        secret: &Secret,
        purpose: ConnectionPurpose,
    ) -> io::Result<Self> {
        // A caller may disconnect between the wait and accept(2), which would then block.
        listeners.iter().try_for_each(|listener| listener.set_nonblocking(true))?;
        Ok(Gate {
            listeners,
            secret: secret.clone(),
            purpose,
            strangers: VecDeque::new(),
            said: PhantomData,
        })
    }

    pub fn look(&mut self, limit: Duration) -> Vec<CallerCheck<T>> {
        let limit = self.strangers.front().map_or(limit, |oldest| {
            oldest.until.saturating_duration_since(Instant::now()).min(limit)
        });
        let listeners = self.listeners.iter().map(Awaited::data);
        let strangers = self.strangers.iter().map(|stranger| Awaited::data(&stranger.stream));
        let all: Vec<Awaited> = listeners.chain(strangers).collect();
        // A failed wait is harmless: the check follows.
        let _ = wait_for_any(&all, Some(limit));
        self.accept();
        self.hear()
    }

    fn accept(&mut self) {
        for at in 0..self.listeners.len() {
            // Bounded, so a fast caller does not starve the other listeners.
            for _ in 0..MOST {
                match self.listeners[at].accept() {
                    Ok((stream, from)) => self.greet(stream, from.ip().to_canonical()),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) if is_of_the_caller(&error) => {}
                    // No descriptor is left (EMFILE): drop the oldest stranger.
                    Err(_) => {
                        self.strangers.pop_front();
                        std::thread::sleep(BREATH);
                        break;
                    }
                }
            }
        }
    }

    fn greet(&mut self, stream: TcpStream, from: IpAddr) {
        let hearing =
            stream.set_nonblocking(true).and_then(|()| Hearing::begin(&stream, self.purpose));
        let Ok(hearing) = hearing else { return };
        if self.strangers.len() == MOST {
            self.strangers.pop_front();
        }
        self.strangers.push_back(Stranger {
            stream,
            from,
            hearing,
            until: Instant::now() + PATIENCE,
        });
    }

    fn hear(&mut self) -> Vec<CallerCheck<T>> {
        let mut heard = Vec::new();
        for mut stranger in std::mem::take(&mut self.strangers) {
            let found = match stranger.hearing.judge::<T>(&stranger.stream, &self.secret) {
                Ok(None) if stranger.until > Instant::now() => {
                    self.strangers.push_back(stranger);
                    continue;
                }
                Ok(None) => Err(HandshakeError::Slow.to_string()),
                Ok(Some(proved)) => proved.on(stranger.stream).map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            heard.push(found.map_err(|why| format!("connection from {}: {why}", stranger.from)));
        }
        heard
    }
}

/// Whether only this call failed, so the next one may succeed (accept(2)).
fn is_of_the_caller(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted)
}

/// Each text once.
#[derive(Debug, Default)]
pub struct Refusals(pub Vec<String>);

impl Refusals {
    const MOST: usize = 3;

    pub fn push(&mut self, why: String) {
        if self.0.len() < Self::MOST && !self.0.contains(&why) {
            self.0.push(why);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handshake::call;
    use std::io::Write;

    #[test]
    fn rank_enters_despite_many_strangers() {
        let secret = Secret::new().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut gate =
            Gate::<usize>::new(vec![listener], &secret, ConnectionPurpose::Measurement).unwrap();
        let mut idle = Vec::new();
        for _ in 0..3 {
            for _ in 0..100 {
                let mut stream = TcpStream::connect(address).unwrap();
                stream.write_all(&[0]).unwrap();
                idle.push(stream);
            }
            assert!(gate.look(Duration::from_secs(10)).is_empty());
        }
        let rank = std::thread::spawn(move || {
            call(
                PATIENCE,
                TcpStream::connect(address).unwrap(),
                &secret,
                ConnectionPurpose::Measurement,
                &7,
            )
            .map(drop)
        });
        let called = loop {
            match gate.look(Duration::from_secs(60)).pop() {
                Some(Ok(called)) => break called,
                Some(Err(why)) => panic!("{why}"),
                None => {}
            }
        };
        assert_eq!(called.welcome().unwrap().0, 7);
        rank.join().unwrap().unwrap();
        assert!(gate.strangers.len() <= MOST);
    }

    #[test]
    fn refusals_are_deduplicated_and_limited() {
        let mut refusals = Refusals::default();
        (0..100).for_each(|at| refusals.push(format!("{}", at / 40)));
        (0..100).for_each(|at| refusals.push(format!("{at}")));
        assert_eq!(refusals.0, ["0", "1", "2"]);
    }
}
