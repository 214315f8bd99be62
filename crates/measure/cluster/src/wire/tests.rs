//! Messages on their way, and attacks on them.

use super::*;
use proptest::prelude::*;
use std::net::TcpListener;

fn seal(of: u8) -> Seal {
    Seal::new([of; TAG_BYTES])
}

fn ends() -> [RankConnection; 2] {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (other, _) = listener.accept().unwrap();
    let seals = |sending, receiving| Seals { sending: seal(sending), receiving: seal(receiving) };
    [RankConnection::new(one, seals(1, 2)), RankConnection::new(other, seals(2, 1))]
}

fn sent(messages: &[&str]) -> Vec<Vec<u8>> {
    let mut sealing = seal(1);
    messages
        .iter()
        .map(|message| {
            let text = encoded(message).unwrap();
            let tag = sealing.next_tag(&[&text]);
            [&text[..], &tag].concat()
        })
        .collect()
}

fn taken(bytes: &[u8]) -> (Vec<String>, String) {
    let mut bytes = bytes;
    let mut sealing = seal(1);
    let mut messages = Vec::new();
    loop {
        match receive_sealed::<String>(&mut bytes, &mut sealing) {
            Ok(message) => messages.push(message),
            Err(error) => return (messages, error.to_string()),
        }
    }
}

#[test]
fn messages_arrive_as_sent_both_ways() {
    let [mut one, mut other] = ends();
    send(&mut one, &"one").unwrap();
    send(&mut one, &[2, 3]).unwrap();
    one.send_frame(b"nine byte").unwrap();
    one.write_payload(b"x").unwrap();
    assert_eq!(receive::<String>(&mut other).unwrap(), "one");
    assert_eq!(receive::<[u8; 2]>(&mut other).unwrap(), [2, 3]);
    assert_eq!(other.receive_frame::<9>().unwrap().as_ref(), Some(b"nine byte"));
    other.read_payload(&mut [0]).unwrap();
    send(&mut other, &"back").unwrap();
    assert_eq!(receive::<String>(&mut one).unwrap(), "back");
    drop(one);
    assert_eq!(other.receive_frame::<9>().unwrap(), None);
    assert_eq!(
        sentence(&receive::<String>(&mut other).unwrap_err()),
        sentence(&ErrorKind::UnexpectedEof.into())
    );
}

#[test]
fn out_of_order_message_is_refused() {
    let all = sent(&["one", "two", "three"]);
    let [one, two, three] = [&all[0], &all[1], &all[2]].map(Vec::as_slice);
    let whole = (vec!["one".to_owned(), "two".to_owned(), "three".to_owned()], CLOSED.to_owned());
    assert_eq!(taken(&all.concat()), whole);
    let first = (vec!["one".to_owned()], FORGED.to_owned());
    assert_eq!(taken(&[one, one].concat()), first, "repeated");
    assert_eq!(taken(&[one, three].concat()), first, "left out");
    assert_eq!(taken(&[two, one].concat()).0, [""; 0], "another order");
    assert_eq!(
        taken(&[one, &two[..two.len() - 1]].concat()),
        (first.0, CLOSED.to_owned()),
        "cut off"
    );
    // Another connection and the other direction have other keys.
    let text = encoded(&"one").unwrap();
    let other = seal(2).next_tag(&[&text]);
    assert_eq!(taken(&[&text[..], &other].concat()), (Vec::new(), FORGED.to_owned()));
}

#[test]
fn trickling_peer_gets_no_extra_time() {
    let [mut one, mut other] = ends();
    one.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let trickle = std::thread::spawn(move || {
        while other.write_payload(&[0]).is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let error = receive::<String>(&mut one).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::InvalidData), "{error}");
    drop(one);
    trickle.join().unwrap();
}

proptest! {
    #[test]
    fn reader_survives_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = receive_plain::<serde_json::Value>(&mut &bytes[..], 100);
        let _ = parse_plain::<serde_json::Value>(&bytes, 100);
        prop_assert!(receive_sealed::<serde_json::Value>(&mut &bytes[..], &mut seal(1)).is_err());
    }

    #[test]
    fn changed_byte_is_refused(at in 0_usize..200, by in 1_u8..) {
        let mut bytes = sent(&["one", "another message", "a third"]).concat();
        let at = at % bytes.len();
        bytes[at] ^= by;
        let (messages, _) = taken(&bytes);
        prop_assert!(messages.len() < 3);
        prop_assert!(messages.iter().zip(["one", "another message"]).all(|(got, sent)| got == sent));
    }
}

#[test]
fn impossible_length_is_refused_immediately() {
    let web = &b"GET / HTTP/1.1\r\n\r\n"[..];
    let refused = receive_plain::<String>(&mut &web[..], 1 << 16).unwrap_err();
    assert!(refused.to_string().contains("not a Seatmap rank"), "{refused}");
    assert!(parse_plain::<String>(web, 1 << 16).is_err());
    assert!(parse_plain::<String>(&web[..3], 1 << 16).unwrap().is_none());
}
