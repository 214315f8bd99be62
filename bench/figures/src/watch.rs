//! The time of a look at many threads, beside `ps`, which reads less of each.
//!
//! The figures are CPU time, as neither waits for anything: so they are the same on a busy
//! computer.
//!
//! This executable plays the crowd as well: one process of many threads, or many processes.

use crate::row::Row;
use crate::statistic::median;
use seatmap_os::usage::Usage;
use seatmap_watch::{Choice, WatchOptions, Watcher};
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Looks of each kind, taking turns.
const TURNS: usize = 7;

/// The parts that this executable plays, by their first argument; the number of the crowd follows.
const THREADS: &str = "crowd-of-threads";
const PROCESSES: &str = "crowd-of-processes";

/// The stack of a thread that only sleeps, in bytes.
const STACK_BYTES: usize = 16 << 10;

/// The sizes of the crowds, and the most that a look at each may take, in ms.
const WANTED: [(usize, f64); 2] = [(1_000, 100.0), (10_000, 1_000.0)];

/// Plays a crowd, where the arguments ask for it.
pub fn played(arguments: &[String]) -> Option<Result<(), Box<dyn Error>>> {
    match arguments {
        [part, count] if part == THREADS => {
            Some(count.parse().map_err(Into::into).and_then(threads))
        }
        [part, count] if part == PROCESSES => {
            Some(count.parse().map_err(Into::into).and_then(processes))
        }
        _ => None,
    }
}

/// The time of a look at crowds of each size and kind, and of `ps` at the same.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for (count, wanted_ms) in WANTED {
        for (part, of) in [(THREADS, "one process"), (PROCESSES, "as many processes")] {
            let crowd = Crowd::gather(part, count)?;
            rows.extend(compared(&crowd, &format!("{count} threads of {of}"), wanted_ms)?);
        }
    }
    Ok(rows)
}

fn compared(crowd: &Crowd, what: &str, wanted_ms: f64) -> Result<[Row; 2], Box<dyn Error>> {
    let mut first = Vec::new();
    let mut last = Vec::new();
    let mut peer = Vec::new();
    let mut found = 0;
    let pids = vec![i32::try_from(crowd.0.id())?];
    let choice = Choice::Processes { pids, with_children: true };
    for _ in 0..TURNS {
        let begun = cpu_ms();
        // Both looks count: a window begins with one and ends with one.
        let mut watcher = Watcher::begin(&choice, &WatchOptions::default())?;
        first.push(cpu_ms() - begun);
        let begun = cpu_ms();
        found = watcher.seating().threads.len();
        last.push(cpu_ms() - begun);
        let begun = cpu_ms();
        Command::new("ps").args(["-eLo", "pid,tid,psr,comm"]).stdout(Stdio::null()).status()?;
        peer.push(cpu_ms() - begun);
    }
    let first = median(&first);
    let last = median(&last);
    let peer = median(&peer);
    let target = format!("<= {wanted_ms} ms");
    let got =
        format!("{last:.0} ms of CPU time, the first look {first:.0} ms ({found} threads found)");
    Ok([
        Row::held(
            format!("last look at {what}, everything read"),
            got,
            target,
            first.max(last) <= wanted_ms,
        ),
        Row::info(
            format!("that look / ps -eLo pid,tid,psr,comm, {what}"),
            format!("{:.2} ({last:.0} and {peer:.0} ms)", last / peer),
        ),
    ])
}

/// The CPU time of this thread and of the processes that it has waited for, in ms.
fn cpu_ms() -> f64 {
    let used = [Usage::of_thread(), Usage::of_children()];
    used.iter().map(|used| (used.user + used.kernel).as_secs_f64() * 1e3).sum()
}

/// A process with many threads or many children, which end with it.
struct Crowd(Child);

impl Crowd {
    /// Starts it, and waits until all are there.
    fn gather(part: &str, count: usize) -> Result<Self, Box<dyn Error>> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut child = command
            .args([part, &count.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let crowd = Crowd(child);
        if line.trim() == "ready" {
            Ok(crowd)
        } else {
            Err(format!("{part} {count}: {}", line.trim()).into())
        }
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        // The crowd waits for the end of its input, and then lets its members go.
        self.0.stdin.take();
        let _ = self.0.wait();
    }
}

/// Says that the crowd is there, and waits for the end of the input.
fn wait_for_end() -> Result<(), Box<dyn Error>> {
    println!("ready");
    std::io::stdout().flush()?;
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}

fn threads(count: usize) -> Result<(), Box<dyn Error>> {
    // The main thread is one of them.
    for _ in 1..count {
        // The default of 2 MiB times ten thousand would be 20 GiB of addresses.
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        builder.spawn(|| {
            loop {
                std::thread::sleep(Duration::from_secs(3600));
            }
        })?;
    }
    wait_for_end()
}

fn processes(count: usize) -> Result<(), Box<dyn Error>> {
    let mut children = Vec::with_capacity(count);
    for _ in 1..count {
        // SAFETY: this process has one thread, so the child may do anything; it only waits for a
        // signal.
        match unsafe { libc::fork() } {
            0 => loop {
                // SAFETY: the call touches nothing.
                unsafe { libc::pause() };
            },
            child if child > 0 => children.push(child),
            _ => return Err(std::io::Error::last_os_error().into()),
        }
    }
    let ended = wait_for_end();
    for child in &children {
        // SAFETY: the calls touch nothing; the child is this process's own and has not been waited
        // for.
        unsafe {
            libc::kill(*child, libc::SIGKILL);
            libc::waitpid(*child, std::ptr::null_mut(), 0);
        }
    }
    ended
}
