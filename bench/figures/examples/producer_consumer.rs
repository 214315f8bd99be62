//! A producer and a consumer over one channel: first as the kernel seats them, then on Seatmap's
//! seats, in one process. The speed-up includes the time to find the seats, as in Liu et al. 2015
//! (figure 11).

use seatmap_data::port::{Addr, Port};
use seatmap_machines::host::HostClock;
use seatmap_machines::host::arena::Arena;
use seatmap_machines::workload::{MOST_WORDS, SpinChannel};
use seatmap_measure::seats::{ProgramChannels, ThreadAttributes};
use seatmap_os::affinity;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

mod yielding;
use yielding::Yielding;

const LINES: u32 = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let values: u64 = std::env::args().nth(1).map_or(Ok(100_000), |word| word.parse())?;
    let arena = Arena::new(LINES)?;
    let clock = HostClock::calibrated();
    let began = Instant::now();
    run(arena.words(), &clock, values, [None, None])?;
    let usual = began.elapsed();
    let began = Instant::now();
    let mut channels = ProgramChannels::new();
    let orders = channels.between(0, 1);
    let seats = channels.seats_over(arena.words())?;
    run(arena.words(), &clock, values, [seats.side(orders, 0), seats.side(orders, 1)])?;
    let placed = began.elapsed();
    println!("{values} values on the kernel's seats: {usual:.1?}");
    println!("on CPUs {:?}, including the time to find them: {placed:.1?}", seats.cpus);
    println!("speed-up (T2 - T1) / (T4 - T2): {:.2}", usual.as_secs_f64() / placed.as_secs_f64());
    match seats.side(orders, 0).and_then(|side| side.line) {
        Some(line) => println!("over line {line}, which has a near home"),
        None => println!("over any line: this host's profile does not distinguish homes"),
    }
    Ok(())
}

fn run(
    words: &[AtomicU64],
    clock: &HostClock,
    values: u64,
    sides: [Option<ThreadAttributes>; 2],
) -> Result<(), Box<dyn std::error::Error>> {
    let line = sides[0].and_then(|side| side.line).unwrap_or(0) as u32;
    let port = Yielding::new(words, clock);
    let consumed: u64 = std::thread::scope(|scope| {
        let producer = scope.spawn(move || seat(sides[0]).map(|()| produce(&port, line, values)));
        let consumer = scope.spawn(move || seat(sides[1]).map(|()| consume(&port, line, values)));
        producer.join().map_err(|_| "the producer failed")??;
        consumer
            .join()
            .map_err(|_| "the consumer failed")?
            .map_err(Box::<dyn std::error::Error>::from)
    })?;
    if consumed == values * (values + 1) / 2 { Ok(()) } else { Err("values were lost".into()) }
}

fn seat(side: Option<ThreadAttributes>) -> std::io::Result<()> {
    side.map_or(Ok(()), |side| affinity::pin(&[side.cpu]))
}

fn produce(port: &impl Port, line: u32, values: u64) {
    let channel = SpinChannel::new(port, Addr::line(line));
    (1..=values).for_each(|value| channel.put(&[value]));
}

fn consume(port: &impl Port, line: u32, values: u64) -> u64 {
    let channel = SpinChannel::new(port, Addr::line(line));
    let mut message = [0; MOST_WORDS];
    (1..=values)
        .map(|_| {
            channel.take(&mut message[..1]);
            message[0]
        })
        .sum()
}
