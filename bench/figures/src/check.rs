//! Faults that `seatmap check` finds, and healthy programs that it leaves alone.
//!
//! Faults that this computer cannot have are built as seatings; the others are put into real
//! programs. A fault counts as found if a finding of its rule is there, and a healthy program as a
//! false alarm if anything is wrong with it.

mod built;
mod healthy;
mod real;

use crate::row::Row;
use seatmap_machine::Topology;
use seatmap_os::Tid;
use seatmap_watch::{Choice, Criteria, Finding, Seating, WatchOptions, judge};
use std::error::Error;
use std::io::Read;
use std::time::Duration;

/// The part that this executable plays beside the bench: threads that spin or sleep until stdin
/// ends.
const THREADS: &str = "threads";

/// Plays another part than the bench, where the arguments ask for it.
pub fn played(arguments: &[String]) -> Option<Result<(), Box<dyn Error>>> {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [THREADS, count, what] => Some(threads(count, what == "spin")),
        _ => None,
    }
}

fn threads(count: &str, spins: bool) -> Result<(), Box<dyn Error>> {
    for _ in 0..count.parse::<usize>()? {
        std::thread::spawn(move || {
            loop {
                if spins { std::hint::spin_loop() } else { std::thread::park() }
            }
        });
    }
    println!("ready");
    // The end of the input is the bench's own end, so that no program outlives it.
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// The result of one part of the bench.
struct Part {
    /// The number of faults or programs.
    count: usize,
    /// The faults that were missed, or the false alarms.
    failed: Vec<String>,
    /// The things that this computer does not have.
    absent: Vec<String>,
}

/// Faults that were found, and false alarms.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let missed = built::missed();
    let mut rows = vec![share("faults found in built seatings", built::COUNT, &missed)];
    let real = real::missed()?;
    rows.push(share("faults found in real programs", real.count, &real.failed));
    let Part { count, failed: alarms, absent } = healthy::alarms()?;
    let words = if alarms.is_empty() { String::new() } else { format!(" ({})", alarms.join("; ")) };
    let got = format!("{} of {count}{words}", alarms.len());
    rows.push(Row::held("false alarms on healthy programs", got, "0", alarms.is_empty()));
    let left_out: Vec<String> = real.absent.into_iter().chain(absent).collect();
    if !left_out.is_empty() {
        rows.push(Row::info("left out by the check's bench", left_out.join(", ")));
    }
    Ok(rows)
}

fn share(what: &str, count: usize, missed: &[String]) -> Row {
    let words =
        if missed.is_empty() { String::new() } else { format!(" (missed: {})", missed.join(", ")) };
    Row::held(what, format!("{} of {count}{words}", count - missed.len()), "all", missed.is_empty())
}

/// The findings about processes and their children.
fn findings(
    pids: &[Tid],
    topology: &Topology,
    request: &Criteria,
) -> Result<Vec<Finding>, Box<dyn Error>> {
    let choice = Choice::Processes { pids: pids.to_vec(), with_children: true };
    let options = WatchOptions {
        every_cpu: true,
        window: Duration::from_millis(500),
        ..WatchOptions::default()
    };
    Ok(judge(&Seating::take(&choice, &options)?, topology, request))
}
