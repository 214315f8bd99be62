//! Cells as text.

use crate::words::{agreeing, beyond, counted, joined, visible};
use seatmap_cell::{CellRecord, CellState};
use seatmap_health::noise::ProgramNoise;
use seatmap_os::CpuList;

const MOST_PROCESSES: usize = 8;

const MOST_CPUS: usize = 4;

/// One cell, in a few lines.
pub fn text(cell: &CellRecord) -> String {
    let noise = cell.noise_before.zip(cell.noise_after).map(|(before, after)| {
        format!(", stolen time {before:.2} % before and {after:.2} % after creation")
    });
    let noise = noise.unwrap_or_default();
    let mut text = format!("{}: {}, {}{noise}\n", cell.name, cpus(cell), cell.backend);
    for reason in &cell.degraded {
        text += &format!("  degraded: {}\n", visible(reason));
    }
    let bound = counted(cell.kernel_threads_left, "bound kernel thread");
    // The record describes the cell's creation; the faults are current.
    text += &format!("  left on its CPUs at creation: {bound}");
    if cell.threads_left > 0 {
        let threads = counted(cell.threads_left, "other thread");
        text += &format!(", {threads}{}", owners(&cell.processes_left));
    }
    if !cell.irqs_left.is_empty() {
        let noun = agreeing(cell.irqs_left.len(), "interrupt", "interrupts");
        text += &format!(", {noun} {}", visible(&cell.irqs_left.join(" ")));
    }
    text.push('\n');
    if let Some(memory) = &cell.memory {
        let kind = if memory.is_huge {
            "huge pages"
        } else {
            "ordinary pages (huge pages were unavailable)"
        };
        text += &format!("  memory: {} MiB nearby, locked, {kind}\n", memory.size_bytes >> 20);
    }
    let end = match cell.left_s() {
        Some(left) => format!("expires in {left} s; to end it now"),
        None => "does not expire; to end it".to_owned(),
    };
    text + &format!("  {end}: 'seatmap cell destroy {}'\n", cell.name)
}

fn owners(processes: &[String]) -> String {
    let more = beyond(processes.len(), MOST_PROCESSES).map(|more| format!(" and {more} more"));
    let shown = joined(processes.iter().take(MOST_PROCESSES), ", ");
    match processes.len() {
        0 => String::new(),
        1 => format!(" of process {}", visible(&shown)),
        _ => format!(" of processes {}{}", visible(&shown), more.unwrap_or_default()),
    }
}

fn cpus(cell: &CellRecord) -> String {
    CpuList(cell.cpus.clone()).named()
}

/// The faults of a shown cell, one on each line.
pub fn faults(faults: &[String]) -> String {
    faults.iter().map(|fault| format!("  fault: {}\n", visible(fault))).collect()
}

/// One cell on one line, as in a list.
pub fn row(cell: &CellRecord) -> String {
    let lease = cell.left_s().map_or_else(String::new, |left| format!("  {left} s left"));
    let state = if cell.state == CellState::Ready { "ready" } else { "damaged" };
    format!("{}  {}  {}  {state}{lease}\n", cell.name, cpus(cell), cell.backend)
}

/// Whether a cell is still as it was created.
pub fn verdict(cell: &CellRecord, faults: &[String]) -> String {
    match faults {
        [] => format!("{}: unchanged since creation\n", cell.name),
        faults => faults.iter().map(|fault| visible(fault) + "\n").collect(),
    }
}

/// The number of faults of a cell; `None` if none.
pub fn damage(cell: &CellRecord, faults: &[String]) -> Option<String> {
    let count = faults.len();
    (count > 0).then(|| format!("cell '{}' has {}", cell.name, counted(count, "fault")))
}

/// The noise of the first few CPUs, and what the program's threads lost.
pub fn noise(noise: &ProgramNoise) -> Vec<String> {
    let lines = noise.cpus.iter().take(MOST_CPUS).map(|cpu| format!("noise on {cpu}"));
    let more = beyond(noise.cpus.len(), MOST_CPUS)
        .map(|more| format!("and {}; --report lists all of them", counted(more, "more CPU")));
    let times = match noise.preemptions {
        1 => "once".to_owned(),
        times => format!("{times} times"),
    };
    let lost = format!("its threads were preempted {times} in {:.2} s", noise.seconds);
    lines.chain(more).chain([lost]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_health::noise::OnCpu;

    fn cell() -> CellRecord {
        serde_json::from_str(include_str!("tests/cell.json")).unwrap()
    }

    #[test]
    fn cell_summary_is_readable() {
        insta::assert_snapshot!(text(&cell()), @r"
        quiet: CPUs 2,3, affinity, stolen time 9.00 % before and 1.50 % after creation
          degraded: v2-partition: no\u{7} controller
          left on its CPUs at creation: 2 bound kernel threads, 1 other thread of process 1 init, interrupt 36
          expires in 0 s; to end it now: 'seatmap cell destroy quiet'
        ");
        let endless = text(&CellRecord { expires_s: None, ..cell() });
        assert!(
            endless.ends_with("\n  does not expire; to end it: 'seatmap cell destroy quiet'\n"),
            "{endless}"
        );
        let several = ["1 a", "2 b"].map(str::to_owned);
        assert_eq!(owners(&several), " of processes 1 a, 2 b");
        let many = vec!["7 x".to_owned(); 10];
        assert!(owners(&many).ends_with(", 7 x and 2 more"));
    }

    #[test]
    fn damage_is_counted() {
        let one = ["it is open".to_owned()];
        assert_eq!(damage(&cell(), &[]), None);
        assert_eq!(damage(&cell(), &one).unwrap(), "cell 'quiet' has 1 fault");
        let two = [one[0].clone(), one[0].clone()];
        assert_eq!(damage(&cell(), &two).unwrap(), "cell 'quiet' has 2 faults");
        assert_eq!(verdict(&cell(), &[]), "quiet: unchanged since creation\n");
    }

    #[test]
    fn noise_lists_first_cpus() {
        let cpus = (0..6).map(|cpu| OnCpu {
            cpu,
            interrupts_per_second: 2.0,
            steal_percent: None,
            sources: Vec::new(),
        });
        let heard = ProgramNoise { seconds: 1.5, preemptions: 1, cpus: cpus.collect() };
        let lines = noise(&heard);
        assert_eq!(lines.len(), MOST_CPUS + 2);
        assert_eq!(lines[0], "noise on CPU 0: 2 interrupts/s");
        assert_eq!(lines[MOST_CPUS], "and 2 more CPUs; --report lists all of them");
        let last = "its threads were preempted once in 1.50 s";
        assert_eq!(lines[MOST_CPUS + 1], last);
    }
}
