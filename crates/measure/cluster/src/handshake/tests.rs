//! Both sides of a handshake, and impostors.

use super::*;
use crate::gate::Gate;
use crate::wire::{receive, send};
use std::net::{SocketAddr, TcpListener};

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

fn between(
    caller: (&Secret, ConnectionPurpose),
    called: (&Secret, ConnectionPurpose),
) -> [Result<String, String>; 2] {
    let (listener, address) = listener();
    let secret = called.0.clone();
    let purpose = called.1;
    let other = std::thread::spawn(move || {
        let mut gate = Gate::<String>::new(vec![listener], &secret, purpose).unwrap();
        let heard = loop {
            if let Some(heard) = gate.look(Duration::from_secs(60)).pop() {
                break heard;
            }
        };
        let (said, mut channel) = heard?.welcome().map_err(|error| error.to_string())?;
        send(&mut channel, &format!("{said} is in")).map_err(|error| error.to_string())?;
        Ok(said)
    });
    let stream = TcpStream::connect(address).unwrap();
    let answer =
        call(PATIENCE, stream, caller.0, caller.1, &"rank 3").map_err(|error| error.to_string());
    let answer = answer
        .and_then(|mut channel| receive::<String>(&mut channel).map_err(|error| error.to_string()));
    [answer, other.join().unwrap()]
}

fn impostor(challenge: Challenge, reply: impl Fn(&Claim) -> Reply + Send + 'static) -> SocketAddr {
    let (listener, address) = listener();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        send_plain(&mut stream, &challenge).unwrap();
        let claim = receive_plain(&mut stream, LONGEST).unwrap();
        send_plain(&mut stream, &reply(&claim)).unwrap();
    });
    address
}

fn challenge(protocol: &str) -> Challenge {
    Challenge { protocol: protocol.to_owned(), nonce: "7".to_owned() }
}

fn refusal(address: SocketAddr, secret: &Secret) -> HandshakeError {
    call(PATIENCE, TcpStream::connect(address).unwrap(), secret, ConnectionPurpose::Pair, &"rank 1")
        .err()
        .unwrap()
}

#[test]
fn equal_secret_and_purpose_connect() {
    let [a, b] = [(); 2].map(|()| Secret::new().unwrap());
    let both = between((&a, ConnectionPurpose::Pair), (&a, ConnectionPurpose::Pair));
    assert_eq!(both, [Ok("rank 3 is in".to_owned()), Ok("rank 3".to_owned())]);
    for other in [(&b, ConnectionPurpose::Pair), (&a, ConnectionPurpose::Spread)] {
        let [caller, called] = between((&a, ConnectionPurpose::Pair), other);
        assert!(caller.unwrap_err().contains("refused: wrong secret"));
        assert!(called.unwrap_err().contains("does not know the secret"));
    }
}

#[test]
fn impostor_at_the_meeting_is_detected() {
    let secret = Secret::new().unwrap();
    let welcome = impostor(challenge(PROTOCOL), |_| Reply::Welcome { proof: "f".repeat(64) });
    assert!(matches!(refusal(welcome, &secret), HandshakeError::Secret));
    let mirror =
        impostor(challenge(PROTOCOL), |claim| Reply::Welcome { proof: claim.proof.clone() });
    assert!(matches!(refusal(mirror, &secret), HandshakeError::Secret));
    // A stranger's text is not shown as a rank's.
    let words = || Reply::Refused { why: "run this script".to_owned(), proof: "f".repeat(64) };
    let said = refusal(impostor(challenge(PROTOCOL), move |_| words()), &secret);
    assert!(matches!(said, HandshakeError::Secret));
}

#[test]
fn other_version_is_named_and_shortened() {
    let secret = Secret::new().unwrap();
    let other = format!("seatmap-cluster-wire/9\u{1b}[31m{}", "x".repeat(1000));
    let said = refusal(impostor(challenge(&other), |_| Reply::Stranger), &secret).to_string();
    assert!(said.starts_with("the other rank uses seatmap-cluster-wire/9\\u{1b}"), "{said}");
    assert!(said.len() < 300, "{said}");
    let said = refusal(
        impostor(challenge(PROTOCOL), |_| Reply::Version {
            protocol: "seatmap-cluster-wire/8".to_owned(),
        }),
        &secret,
    )
    .to_string();
    assert!(said.starts_with("the other rank uses seatmap-cluster-wire/8"), "{said}");
}
