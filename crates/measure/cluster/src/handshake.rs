//! The beginning of every connection: both sides prove that they know the secret, and the caller
//! introduces itself.
//!
//! The proofs and keys depend on the secret, the version, the purpose, a random number of each
//! side, and the caller's introduction with its rank. Recorded messages are useless on another
//! connection, to another rank or in the other direction.

use crate::secret::{Secret, nonce};
use crate::wire::{
    self, PROTOCOL, RankConnection, Seal, Seals, TimedStream, parse_plain, receive_plain,
    send_plain,
};
use seatmap_data::document::{json_problem, visible};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The longest message of an unproved peer, in bytes.
const LONGEST: u32 = 1 << 16;

/// Even between distant nodes a handshake takes less than a second.
pub const PATIENCE: Duration = Duration::from_secs(10);

const TOLD_CHARACTERS: usize = 80;

/// The ends have different proofs and keys.
const CALLER: &str = "caller";
const CALLED: &str = "called";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionPurpose {
    Measurement,
    Spread,
    Pair,
}

impl ConnectionPurpose {
    fn name(self) -> &'static str {
        match self {
            ConnectionPurpose::Measurement => "measurement",
            ConnectionPurpose::Spread => "spread work",
            ConnectionPurpose::Pair => "pair",
        }
    }
}

/// Why a handshake failed.
#[derive(Debug, thiserror::Error)]
pub enum HandshakeError {
    /// The connection broke.
    #[error("{}", wire::sentence(.0))]
    Connection(io::Error),
    /// The other side has another version.
    #[error(
        "the other rank uses {}, this one {PROTOCOL}: use one version on all nodes",
        shortened(found)
    )]
    Version {
        /// Version of the other side.
        found: String,
    },
    /// The other side does not know the secret.
    #[error("the other side does not know the secret of this job")]
    Secret,
    /// The other side says that this one does not know its secret.
    #[error("refused: wrong secret: this is not a rank of this job")]
    Stranger,
    /// The other side knows the secret but refuses.
    #[error("refused: {}", visible(.0))]
    Refused(String),
    /// The other side did not prove itself in time.
    #[error("it did not prove within {} s that it is a rank", PATIENCE.as_secs())]
    Slow,
}

impl From<io::Error> for HandshakeError {
    fn from(error: io::Error) -> Self {
        if wire::is_late(&error) {
            return HandshakeError::Slow;
        }
        HandshakeError::Connection(error)
    }
}

fn shortened(text: &str) -> String {
    visible(&text.chars().take(TOLD_CHARACTERS).collect::<String>())
}

#[derive(Debug, Serialize, Deserialize)]
struct Challenge {
    protocol: String,
    nonce: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Claim {
    protocol: String,
    nonce: String,
    said: String,
    proof: String,
}

/// Only a proved caller receives a reason in free text.
#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Welcome { proof: String },
    Refused { why: String, proof: String },
    Stranger,
    Version { protocol: String },
}

struct Transcript {
    secret: Secret,
    texts: [String; 5],
}

impl Transcript {
    fn new(secret: &Secret, purpose: ConnectionPurpose, called: &str, claim: &Claim) -> Self {
        let texts =
            [PROTOCOL, purpose.name(), called, &claim.nonce, &claim.said].map(str::to_owned);
        Transcript { secret: secret.clone(), texts }
    }

    fn proof(&self, end: &str) -> String {
        self.secret.proof(end, &self.texts())
    }

    fn accepts(&self, proof: &str, end: &str) -> bool {
        self.secret.accepts(proof, end, &self.texts())
    }

    /// The proof of a refusal covers its text.
    fn refusal(&self, why: &str) -> String {
        self.secret.proof("refusal", &[&self.texts()[..], &[why]].concat())
    }

    fn texts(&self) -> [&str; 5] {
        self.texts.each_ref().map(String::as_str)
    }

    fn seals_of(&self, own: &str, other: &str) -> Seals {
        Seals { sending: self.seal_of(own), receiving: self.seal_of(other) }
    }

    fn seal_of(&self, end: &str) -> Seal {
        Seal::new(self.secret.mac(&format!("messages of the {end}"), &self.texts()))
    }
}

/// Answer it with [`Called::welcome`] or [`Called::refuse`].
pub struct Called<T> {
    pub said: T,
    stream: TcpStream,
    transcript: Transcript,
}

impl<T> Called<T> {
    pub fn welcome(self) -> io::Result<(T, RankConnection)> {
        let proof = self.transcript.proof(CALLED);
        send_plain(&mut &self.stream, &Reply::Welcome { proof })?;
        Ok((self.said, RankConnection::new(self.stream, self.transcript.seals_of(CALLED, CALLER))))
    }

    pub fn refuse(self, why: &str) {
        let proof = self.transcript.refusal(why);
        let _ = send_plain(&mut &self.stream, &Reply::Refused { why: why.to_owned(), proof });
    }
}

/// The called side before the caller's proof; it never blocks.
pub struct Hearing {
    nonce: String,
    purpose: ConnectionPurpose,
    bytes: Vec<u8>,
}

impl Hearing {
    pub fn begin(mut stream: &TcpStream, purpose: ConnectionPurpose) -> io::Result<Self> {
        let nonce = nonce()?;
        send_plain(
            &mut stream,
            &Challenge { protocol: PROTOCOL.to_owned(), nonce: nonce.clone() },
        )?;
        Ok(Hearing { nonce, purpose, bytes: Vec::new() })
    }

    fn claim(&mut self, mut stream: &TcpStream) -> Result<Option<Claim>, HandshakeError> {
        let mut chunk = [0; 4096];
        loop {
            match stream.read(&mut chunk) {
                Ok(0) => {
                    return Err(HandshakeError::Connection(io::ErrorKind::UnexpectedEof.into()));
                }
                Ok(count) => self.bytes.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
            if let Some(claim) = parse_plain(&self.bytes, LONGEST)? {
                return Ok(Some(claim));
            }
        }
    }

    pub fn judge<T: DeserializeOwned>(
        &mut self,
        stream: &TcpStream,
        secret: &Secret,
    ) -> Result<Option<Proved<T>>, HandshakeError> {
        let Some(claim) = self.claim(stream)? else { return Ok(None) };
        if claim.protocol != PROTOCOL {
            let _ = send_plain(&mut &*stream, &Reply::Version { protocol: PROTOCOL.to_owned() });
            return Err(HandshakeError::Version { found: claim.protocol });
        }
        let transcript = Transcript::new(secret, self.purpose, &self.nonce, &claim);
        if !transcript.accepts(&claim.proof, CALLER) {
            // Without a proof: a side with another secret could not check one.
            let _ = send_plain(&mut &*stream, &Reply::Stranger);
            return Err(HandshakeError::Secret);
        }
        // Parsed after the proof, because an unproved text may come from anyone.
        let said = serde_json::from_str(&claim.said)
            .map_err(|error| io::Error::other(json_problem(error)))?;
        Ok(Some(Proved { said, transcript }))
    }
}

pub struct Proved<T> {
    said: T,
    transcript: Transcript,
}

impl<T> Proved<T> {
    pub fn on(self, stream: TcpStream) -> io::Result<Called<T>> {
        stream.set_nonblocking(false)?;
        // Nagle's algorithm would delay the small messages whose time is measured (tcp(7)).
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Called { said: self.said, stream, transcript: self.transcript })
    }
}

/// Others may wait for the result, so the limit can be shorter than [`PATIENCE`].
///
/// # Errors
/// [`HandshakeError`].
pub fn call(
    patience: Duration,
    stream: TcpStream,
    secret: &Secret,
    purpose: ConnectionPurpose,
    said: &impl Serialize,
) -> Result<RankConnection, HandshakeError> {
    stream.set_nodelay(true)?;
    let transcript =
        prove(&mut TimedStream::new(&stream, patience.min(PATIENCE)), secret, purpose, said)?;
    stream.set_read_timeout(None)?;
    stream.set_write_timeout(None)?;
    Ok(RankConnection::new(stream, transcript.seals_of(CALLER, CALLED)))
}

fn prove(
    stream: &mut (impl Read + Write),
    secret: &Secret,
    purpose: ConnectionPurpose,
    said: &impl Serialize,
) -> Result<Transcript, HandshakeError> {
    let challenge: Challenge = receive_plain(stream, LONGEST)?;
    if challenge.protocol != PROTOCOL {
        let [nonce, said, proof] = [const { String::new() }; 3];
        // The other side can report it as well.
        let _ = send_plain(stream, &Claim { protocol: PROTOCOL.to_owned(), nonce, said, proof });
        return Err(HandshakeError::Version { found: challenge.protocol });
    }
    let said = serde_json::to_string(said).map_err(io::Error::other)?;
    let mut claim =
        Claim { protocol: PROTOCOL.to_owned(), nonce: nonce()?, said, proof: String::new() };
    let transcript = Transcript::new(secret, purpose, &challenge.nonce, &claim);
    claim.proof = transcript.proof(CALLER);
    send_plain(stream, &claim)?;
    match receive_plain(stream, LONGEST)? {
        Reply::Welcome { proof } if transcript.accepts(&proof, CALLED) => Ok(transcript),
        Reply::Refused { why, proof }
            if wire::is_same(proof.as_bytes(), transcript.refusal(&why).as_bytes()) =>
        {
            Err(HandshakeError::Refused(why))
        }
        // Without a valid proof the reply is not from a rank of this start.
        Reply::Welcome { .. } | Reply::Refused { .. } => Err(HandshakeError::Secret),
        Reply::Stranger => Err(HandshakeError::Stranger),
        Reply::Version { protocol } => Err(HandshakeError::Version { found: protocol }),
    }
}

#[cfg(test)]
mod tests;
