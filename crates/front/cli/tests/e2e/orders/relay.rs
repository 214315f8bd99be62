//! A relay between a rank and rank 0: carries every message and tampers with some.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// The length of a tag in bytes.
const TAG: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tampering {
    None,
    /// Sends this text before the first order, with a tag of zeros.
    Insert(Vec<u8>),
    Repeat,
    Flip,
    /// Sends these bytes, of another connection, before the first order.
    Replay(Vec<u8>),
    /// Sends the first answer back, as an order.
    Reflect,
    FlipAnswer,
    /// Sends half of the first order.
    Cut,
}

pub struct Relay {
    pub port: u16,
    pub orders: Receiver<Vec<u8>>,
}

impl Relay {
    /// Starts a relay and connects its first client to that port of rank 0.
    pub fn begin(of_rank_0: u16, tampering: Tampering) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, orders) = channel();
        std::thread::spawn(move || {
            let (rank, _) = listener.accept().unwrap();
            let lead = patient(of_rank_0);
            carry(rank, lead, tampering, &sender);
        });
        Relay { port, orders }
    }
}

fn patient(port: u16) -> TcpStream {
    let begun = Instant::now();
    loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => return stream,
            Err(error) => assert!(begun.elapsed() < Duration::from_secs(60), "{error}"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn carry(rank: TcpStream, lead: TcpStream, tampering: Tampering, orders: &Sender<Vec<u8>>) {
    // The three messages of the handshake: challenge, claim, welcome.
    for (mut from, mut to) in [(&lead, &rank), (&rank, &lead), (&lead, &rank)] {
        let Some(message) = message(&mut from, 0) else { return };
        to.write_all(&message).unwrap();
    }
    let (sender, answers) = channel();
    let [rank_too, lead_too] = [&rank, &lead].map(|stream| stream.try_clone().unwrap());
    let of_answers = tampering.clone();
    std::thread::spawn(move || carry_answers(rank_too, lead_too, &of_answers, &sender));
    carry_orders(lead, rank, &tampering, &answers, orders);
}

/// Reads a message and its tag. `None` at the end of the connection.
fn message(from: &mut &TcpStream, tag: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; 4];
    from.read_exact(&mut bytes).ok()?;
    let length = u32::from_be_bytes(bytes[..4].try_into().unwrap()) as usize;
    bytes.resize(4 + length + tag, 0);
    from.read_exact(&mut bytes[4..]).ok()?;
    Some(bytes)
}

fn carry_answers(rank: TcpStream, lead: TcpStream, tampering: &Tampering, seen: &Sender<Vec<u8>>) {
    let mut is_first = true;
    while let Some(mut answer) = message(&mut &rank, TAG) {
        let _ = seen.send(answer.clone());
        if std::mem::take(&mut is_first) && *tampering == Tampering::FlipAnswer {
            flip(&mut answer);
        }
        if (&lead).write_all(&answer).is_err() {
            break;
        }
    }
    let _ = lead.shutdown(Shutdown::Write);
}

fn carry_orders(
    lead: TcpStream,
    rank: TcpStream,
    tampering: &Tampering,
    answers: &Receiver<Vec<u8>>,
    orders: &Sender<Vec<u8>>,
) {
    let next = || {
        let order = message(&mut &lead, TAG)?;
        let _ = orders.send(order.clone());
        Some(order)
    };
    let send = |bytes: &[u8]| {
        let _ = (&rank).write_all(bytes);
    };
    if let Tampering::Insert(text) = tampering {
        let length = u32::try_from(text.len()).unwrap().to_be_bytes();
        send(&[&length[..], text, &[0; TAG]].concat());
    }
    let Some(mut first) = next() else { return };
    match tampering {
        Tampering::Repeat => send(&first),
        Tampering::Flip => flip(&mut first),
        Tampering::Replay(order) => send(order),
        Tampering::Cut => {
            send(&first[..first.len() / 2]);
            let _ = rank.shutdown(Shutdown::Both);
            return;
        }
        _ => {}
    }
    send(&first);
    if *tampering == Tampering::Reflect
        && let Ok(answer) = answers.recv()
    {
        send(&answer);
    }
    while let Some(order) = next() {
        send(&order);
    }
    let _ = rank.shutdown(Shutdown::Write);
}

fn flip(message: &mut [u8]) {
    message[8] ^= 1;
}
