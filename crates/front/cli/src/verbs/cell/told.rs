//! Writes cells as text.

use seatmap_cell::{Record, State};
use seatmap_console::output;
use seatmap_noise::Heard;
use seatmap_os::CpuList;
use seatmap_report::counted;

/// The number of processes that are named.
const OWNERS: usize = 8;

/// The number of CPUs whose noise is listed.
const LOUD: usize = 4;

/// One cell, in a few lines.
pub fn cell(record: &Record) -> String {
    let mut text =
        format!("{}: {}, {}{}\n", record.name, cpus(record), record.backend, noise(record));
    for reason in &record.degraded {
        text += &format!("  not better: {}\n", output::visible(reason));
    }
    let bound = counted(record.kernel_threads_left, "bound kernel thread");
    // The record is of the moment in which the cell was made; faults are of now.
    text += &format!("  left on its CPUs when it was made: {bound}");
    if record.threads_left > 0 {
        text += &format!(
            ", {}{}",
            counted(record.threads_left, "other thread"),
            owners(&record.processes_left)
        );
    }
    if !record.irqs_left.is_empty() {
        text += &format!(", interrupts {}", output::visible(&record.irqs_left.join(" ")));
    }
    text.push('\n');
    if let Some(memory) = &record.memory {
        let kind = if memory.is_huge {
            "huge pages"
        } else {
            "ordinary pages: huge ones could not be had"
        };
        text += &format!("  memory: {} MiB near it, locked, {kind}\n", memory.size_bytes >> 20);
    }
    if let Some(left) = record.left_s() {
        text += &format!("  its lease ends in {left} s\n");
    }
    text
}

/// The first few processes of a list.
fn owners(processes: &[String]) -> String {
    let (shown, more) = processes.split_at(processes.len().min(OWNERS));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    match shown {
        [] => String::new(),
        [one] => format!(" of process {}", output::visible(one)),
        several => format!(" of processes {}{more}", output::visible(&several.join(", "))),
    }
}

fn cpus(record: &Record) -> String {
    CpuList(record.cpus.clone()).named()
}

fn noise(record: &Record) -> String {
    match (record.noise_before, record.noise_after) {
        (Some(before), Some(after)) => {
            format!(", stolen time {before:.2} % before and {after:.2} % just after it was made")
        }
        _ => String::new(),
    }
}

/// The noise that a program had: a line a CPU, the first few, and what its threads lost.
pub fn heard(noise: &Heard) -> Vec<String> {
    let (shown, more) = noise.cpus.split_at(noise.cpus.len().min(LOUD));
    let mut lines: Vec<String> = shown.iter().map(|cpu| format!("noise on {cpu}")).collect();
    if !more.is_empty() {
        lines
            .push(format!("and so on {}; --report tells of each", counted(more.len(), "more CPU")));
    }
    let times = noise.preemptions;
    let seconds = noise.seconds;
    let times = if times == 1 { "once".to_owned() } else { format!("{times} times") };
    lines.push(format!("in {seconds:.2} s its threads were made to leave a CPU {times}"));
    lines
}

/// All cells, one on each line.
pub fn table(cells: &[Record]) -> String {
    cells
        .iter()
        .map(|cell| {
            let lease = cell.left_s().map_or(String::new(), |left| format!("  {left} s left"));
            let state = if cell.state == State::Ready { "ready" } else { "damaged" };
            format!("{}  {}  {}  {}{lease}\n", cell.name, cpus(cell), cell.backend, state)
        })
        .collect()
}

/// Whether a cell is what it was made to be.
pub fn verdict(record: &Record, faults: &[String]) -> String {
    match faults {
        [] => format!("{}: as it was made\n", record.name),
        faults => faults.iter().map(|fault| output::visible(fault) + "\n").collect(),
    }
}
