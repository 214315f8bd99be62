//! The beginning of every connection: both sides prove that they know the secret, and one says who it is.

use crate::secret::{Secret, nonce};
use crate::wire::{PROTOCOL, receive_at_most, send};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

/// The longest message of a peer that has proved nothing yet, in bytes.
const LONGEST: u32 = 1 << 16;

/// Why a connection did not come about.
#[derive(Debug, thiserror::Error)]
pub enum HandshakeError {
    /// The connection broke.
    #[error(transparent)]
    Connection(#[from] io::Error),
    /// The other side has another version.
    #[error("the other rank speaks {found}, and this one {PROTOCOL}: use one version on all nodes")]
    Version {
        /// Its version.
        found: String,
    },
    /// The other side does not know the secret.
    #[error("the other side does not know the secret of this start")]
    Secret,
    /// The other side refused, and said why.
    #[error("refused: {0}")]
    Refused(String),
}

#[derive(Serialize, Deserialize)]
struct Challenge {
    protocol: String,
    nonce: String,
}

#[derive(Serialize, Deserialize)]
struct Claim {
    protocol: String,
    nonce: String,
    said: String,
    proof: String,
}

#[derive(Serialize, Deserialize)]
enum Reply {
    Welcome { proof: String },
    Refused { why: String },
}

/// The side that was called. The caller's words about itself are returned after its proof, and [`welcome`] or
/// [`refuse`] has to answer them.
pub(crate) struct Called<T> {
    pub said: T,
    nonces: [String; 2],
}

/// Takes the claim of somebody who called.
pub(crate) fn hear<T: DeserializeOwned>(
    stream: &mut (impl Read + Write),
    secret: &Secret,
) -> Result<Called<T>, HandshakeError> {
    let challenge = Challenge { protocol: PROTOCOL.to_owned(), nonce: nonce()? };
    send(stream, &challenge)?;
    let claim: Claim = receive_at_most(stream, LONGEST)?;
    if claim.protocol != PROTOCOL {
        let _ = refuse(stream, &format!("it speaks {PROTOCOL}"));
        return Err(HandshakeError::Version { found: claim.protocol });
    }
    if !secret.accepts(&claim.proof, "caller", &[&challenge.nonce, &claim.nonce, &claim.said]) {
        let _ = refuse(stream, "another secret: this is not a rank of this start");
        return Err(HandshakeError::Secret);
    }
    let said = serde_json::from_str(&claim.said).map_err(io::Error::other)?;
    Ok(Called { said, nonces: [claim.nonce, challenge.nonce] })
}

/// Lets the caller in.
pub(crate) fn welcome<T>(stream: &mut impl Write, secret: &Secret, called: &Called<T>) -> io::Result<()> {
    let [theirs, own] = &called.nonces;
    send(stream, &Reply::Welcome { proof: secret.proof("called", &[theirs, own]) })
}

/// Sends the caller away.
pub(crate) fn refuse(stream: &mut impl Write, why: &str) -> io::Result<()> {
    send(stream, &Reply::Refused { why: why.to_owned() })
}

/// The side that calls, and says something of itself.
pub(crate) fn call(
    stream: &mut (impl Read + Write),
    secret: &Secret,
    said: &impl Serialize,
) -> Result<(), HandshakeError> {
    let challenge: Challenge = receive_at_most(stream, LONGEST)?;
    if challenge.protocol != PROTOCOL {
        let [nonce, said, proof] = [String::new(), String::new(), String::new()];
        // So that both sides can say it. One that has gone needs no word.
        let _ = send(stream, &Claim { protocol: PROTOCOL.to_owned(), nonce, said, proof });
        return Err(HandshakeError::Version { found: challenge.protocol });
    }
    let (own, said) = (nonce()?, serde_json::to_string(said).map_err(io::Error::other)?);
    let proof = secret.proof("caller", &[&challenge.nonce, &own, &said]);
    send(stream, &Claim { protocol: PROTOCOL.to_owned(), nonce: own.clone(), said, proof })?;
    match receive_at_most(stream, LONGEST)? {
        Reply::Welcome { proof } if secret.accepts(&proof, "called", &[&own, &challenge.nonce]) => Ok(()),
        Reply::Welcome { .. } => Err(HandshakeError::Secret),
        Reply::Refused { why } => Err(HandshakeError::Refused(why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    /// The outcome on both sides, each with its secret.
    fn between(caller: &Secret, called: &Secret) -> [Result<String, String>; 2] {
        let (mut here, mut there) = UnixStream::pair().unwrap();
        let called = called.clone();
        let other = std::thread::spawn(move || {
            let heard = hear::<String>(&mut there, &called).map_err(|error| error.to_string())?;
            welcome(&mut there, &called, &heard).map_err(|error| error.to_string())?;
            Ok(heard.said)
        });
        let called = call(&mut here, caller, &"rank 3").map(|()| "in".to_owned()).map_err(|error| error.to_string());
        [called, other.join().unwrap()]
    }

    #[test]
    fn those_who_share_a_secret_come_together() {
        let [a, b] = [(); 2].map(|()| Secret::new().unwrap());
        assert_eq!(between(&a, &a), [Ok("in".to_owned()), Ok("rank 3".to_owned())]);
        let [caller, called] = between(&a, &b);
        assert!(caller.unwrap_err().contains("refused: another secret"));
        assert!(called.unwrap_err().contains("does not know the secret"));
    }

    #[test]
    fn an_impostor_at_the_meeting_place_is_found_out() {
        let (mut here, mut there) = UnixStream::pair().unwrap();
        let impostor = std::thread::spawn(move || {
            send(&mut there, &Challenge { protocol: PROTOCOL.to_owned(), nonce: "7".to_owned() }).unwrap();
            let _: Claim = receive_at_most(&mut there, LONGEST).unwrap();
            send(&mut there, &Reply::Welcome { proof: "f".repeat(64) }).unwrap();
        });
        let said = call(&mut here, &Secret::new().unwrap(), &"rank 1").unwrap_err();
        impostor.join().unwrap();
        assert!(matches!(said, HandshakeError::Secret));
    }

    #[test]
    fn another_version_is_named() {
        let (mut here, mut there) = UnixStream::pair().unwrap();
        send(&mut there, &Challenge { protocol: "seatmap-cluster-wire/9".to_owned(), nonce: String::new() }).unwrap();
        let said = call(&mut here, &Secret::new().unwrap(), &"rank 1").unwrap_err();
        assert!(said.to_string().starts_with("the other rank speaks seatmap-cluster-wire/9"), "{said}");
        let told: Claim = receive_at_most(&mut there, LONGEST).unwrap();
        assert_eq!(told.protocol, PROTOCOL);
    }
}
