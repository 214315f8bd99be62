//! A program that creates many threads, and then works with two.

use seatmap_data::statistics::median;
use seatmap_os::affinity;
use std::error::Error;
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, Thread};
use std::time::Instant;

pub const THREADS: usize = 2000;

/// Each side computes, gets a signal, wakes the other and waits for it.
const ROUNDS: u32 = 5000;

/// About 50 us.
const STEPS: u64 = 100_000;

#[derive(Clone, Copy, Debug)]
pub struct ProgramTimes {
    pub creation_us: f64,
    pub phase_s: f64,
}

impl ProgramTimes {
    pub fn read(text: &str) -> Option<Self> {
        let mut numbers = text.split_whitespace().map(str::parse);
        Some(ProgramTimes { creation_us: numbers.next()?.ok()?, phase_s: numbers.next()?.ok()? })
    }
}

/// It pins its threads itself like a launcher, so that the difference is due to the launcher only:
/// waking a thread on another CPU can take longer than everything else.
pub fn play(cpus: [&str; 2]) -> Result<(), Box<dyn Error>> {
    let [first, second] = [cpus[0].parse()?, cpus[1].parse()?];
    affinity::pin(&[first])?;
    let mut creations_us = Vec::with_capacity(THREADS);
    for _ in 0..THREADS {
        let began = Instant::now();
        thread::spawn(|| ()).join().map_err(|_| "a thread panicked")?;
        creations_us.push(began.elapsed().as_secs_f64() * 1e6);
    }
    handle_signals();
    let turn = AtomicU32::new(0);
    let main = thread::current();
    let phase_s = thread::scope(|scope| {
        let turn = &turn;
        let other = scope.spawn(move || affinity::pin(&[second]).map(|()| side(turn, 1, &main)));
        let began = Instant::now();
        side(turn, 0, other.thread());
        other.join().map_err(|_| "a thread panicked")??;
        Ok::<_, Box<dyn Error>>(began.elapsed().as_secs_f64())
    })?;
    println!("{} {phase_s}", median(&creations_us).unwrap_or(f64::NAN));
    Ok(())
}

fn side(turn: &AtomicU32, own: u32, other: &Thread) {
    for _ in 0..ROUNDS {
        // `park` may return without a reason (std::thread::park), so the turn decides.
        while turn.load(Ordering::Acquire) % 2 != own {
            thread::park();
        }
        black_box((0..STEPS).fold(0, |sum, step| black_box(sum ^ step)));
        // SAFETY: sends this thread a signal that has a handler.
        unsafe { libc::raise(libc::SIGUSR1) };
        turn.fetch_add(1, Ordering::Release);
        other.unpark();
    }
}

/// An ignored signal is never delivered.
fn handle_signals() {
    extern "C" fn handle(_: libc::c_int) {}
    let handler: extern "C" fn(libc::c_int) = handle;
    // SAFETY: the handler does nothing, which is async-signal-safe.
    unsafe { libc::signal(libc::SIGUSR1, handler as libc::sighandler_t) };
}
