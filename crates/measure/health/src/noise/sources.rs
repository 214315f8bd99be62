//! The sources of noise, from the kernel's counters.

use seatmap_os::cpu_time::CpuTimes;
use seatmap_os::interrupts::{InterruptCount, Interrupts};
use seatmap_os::usage::ResourceUsage;
use serde::Serialize;
use std::time::Instant;

/// Even with 100, chance shifts a share by a tenth.
const FEWEST_GAPS: u64 = 100;

/// One kind of event on a CPU during the measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoiseSource {
    /// The kernel's name: `LOC Local timer interrupts`, `IRQ 36 virtio1-req.0`, `softirq TIMER`,
    /// `context switches, involuntary`, `page faults`, `steal, clock ticks`.
    pub name: String,
    /// The number of events.
    pub count: u64,
    /// Events per second.
    pub per_second: f64,
    /// The largest share of the gaps that this source can explain: each event stops a program at
    /// most once. Null for softirqs, which run inside an interrupt's gap, for stolen time, which is
    /// not counted in events, and with few gaps.
    pub explains_at_most_percent: Option<f64>,
}

pub struct Snapshot {
    interrupts: Interrupts,
    /// `/proc/softirqs` has the format of `/proc/interrupts`.
    softirqs: Interrupts,
    times: CpuTimes,
    at: Instant,
}

pub struct CpuEvents {
    pub sources: Vec<NoiseSource>,
    pub steal_percent: Option<f64>,
    pub unexplained_at_least_percent: Option<f64>,
}

#[derive(Clone, Copy)]
pub struct WatchedGaps {
    pub gaps: u64,
    pub share: f64,
}

impl Snapshot {
    /// Unreadable counters stay empty.
    pub fn now() -> Self {
        Snapshot {
            interrupts: Interrupts::parse(&read("/proc/interrupts")),
            softirqs: Interrupts::parse(&read("/proc/softirqs")),
            times: CpuTimes::parse(&read("/proc/stat")),
            at: Instant::now(),
        }
    }

    pub fn seconds_since(&self, earlier: &Snapshot) -> f64 {
        // Two readings may show the same time, and counts are divided by it.
        (self.at - earlier.at).as_secs_f64().max(f64::MIN_POSITIVE)
    }

    pub fn since(
        &self,
        earlier: &Snapshot,
        cpu: u32,
        usage: ResourceUsage,
        watched: WatchedGaps,
    ) -> CpuEvents {
        let seconds = self.seconds_since(earlier);
        let stolen = self.times.stolen_ticks(cpu).zip(earlier.times.stolen_ticks(cpu));
        let stolen = stolen.map(|(now, then)| now.saturating_sub(then));
        let interrupts = self.interrupts.since(&earlier.interrupts, cpu).into_iter().map(counted);
        let stops: Vec<(String, u64)> = interrupts.chain(switches(usage)).collect();
        let events = stops.iter().map(|(_, count)| count).sum();
        let stops = stops.into_iter().map(|(name, count)| (name, count, watched.explained(count)));
        let softirqs = self.softirqs.since(&earlier.softirqs, cpu).into_iter().map(counted);
        let softirqs = softirqs.map(|(name, count)| (format!("softirq {name}"), count, None));
        let stolen_source = stolen.map(|ticks| ("steal, clock ticks".to_owned(), ticks, None));
        let mut sources: Vec<NoiseSource> = stops
            .chain(softirqs)
            .chain(stolen_source)
            .filter(|(_, count, _)| *count > 0)
            .map(|(name, count, explains_at_most_percent)| NoiseSource {
                name,
                count,
                per_second: count as f64 / seconds,
                explains_at_most_percent,
            })
            .collect();
        sources.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
        CpuEvents {
            sources,
            steal_percent: stolen
                .map(|ticks| (100.0 * ticks as f64 / clock_ticks() / seconds).min(100.0)),
            unexplained_at_least_percent: watched
                .explained(events)
                .map(|explained| 100.0 - explained),
        }
    }
}

fn read(path: &str) -> Vec<u8> {
    std::fs::read(path).unwrap_or_default()
}

impl WatchedGaps {
    fn explained(self, events: u64) -> Option<f64> {
        let while_watched = events as f64 * self.share;
        (self.gaps >= FEWEST_GAPS).then(|| (100.0 * while_watched / self.gaps as f64).min(100.0))
    }
}

fn counted(came: InterruptCount) -> (String, u64) {
    let label = if came.irq.parse::<u32>().is_ok() { "IRQ " } else { "" };
    (format!("{label}{} {}", came.irq, came.name).trim_end().to_owned(), came.count)
}

fn switches(usage: ResourceUsage) -> [(String, u64); 3] {
    [
        ("context switches, involuntary".to_owned(), usage.involuntary_switches),
        ("context switches, voluntary".to_owned(), usage.voluntary_switches),
        ("page faults".to_owned(), usage.page_faults),
    ]
}

/// The unit of `/proc/stat`, per second.
fn clock_ticks() -> f64 {
    // SAFETY: takes a number and returns one.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    if ticks > 0 { ticks as f64 } else { 100.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn snapshot(at: Instant, timer: u64, softirq: u64, steal: u64) -> Snapshot {
        Snapshot {
            interrupts: Interrupts::parse(
                format!(
                    "CPU0 CPU1\nLOC: 5 {timer} Local timer interrupts\n 9: 0 {steal} A 9-edge x\n"
                )
                .as_bytes(),
            ),
            softirqs: Interrupts::parse(format!("CPU0 CPU1\nTIMER: 5 {softirq}\n").as_bytes()),
            times: CpuTimes::parse(format!("cpu1 0 0 0 0 0 0 0 {steal} 0 0\n").as_bytes()),
            at,
        }
    }

    fn found(gaps: u64) -> CpuEvents {
        let at = Instant::now();
        let before = snapshot(at, 100, 7, 1);
        let after = snapshot(at + Duration::from_secs(2), 600, 407, 11);
        let usage = ResourceUsage { involuntary_switches: 20, ..ResourceUsage::default() };
        after.since(&before, 1, usage, WatchedGaps { gaps, share: 0.5 })
    }

    #[test]
    fn most_frequent_source_is_first_and_bounded_by_count() {
        let found = found(1000);
        let lines: Vec<_> = found
            .sources
            .iter()
            .map(|source| (&*source.name, source.count, source.per_second))
            .collect();
        let wanted = [
            ("LOC Local timer interrupts", 500, 250.0),
            ("softirq TIMER", 400, 200.0),
            ("context switches, involuntary", 20, 10.0),
            ("IRQ 9 x", 10, 5.0),
            ("steal, clock ticks", 10, 5.0),
        ];
        assert_eq!(lines, wanted);
        let explained: Vec<_> =
            found.sources.iter().map(|source| source.explains_at_most_percent).collect();
        assert_eq!(explained, [Some(25.0), None, Some(1.0), Some(0.5), None]);
        assert_eq!(found.unexplained_at_least_percent, Some(73.5));
        assert_eq!(found.steal_percent, Some(100.0 * 10.0 / clock_ticks() / 2.0));
    }

    #[test]
    fn few_gaps_are_not_attributed_and_shares_are_capped() {
        assert!(found(99).sources.iter().all(|source| source.explains_at_most_percent.is_none()));
        assert_eq!(found(99).unexplained_at_least_percent, None);
        assert_eq!(found(110).sources[0].explains_at_most_percent, Some(100.0));
    }

    #[test]
    fn snapshot_of_this_computer_counts_cpus() {
        let before = Snapshot::now();
        assert!(before.times.cpus().count() > 0 && before.at.elapsed() < Duration::from_secs(60));
    }
}
