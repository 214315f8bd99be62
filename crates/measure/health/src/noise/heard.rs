//! Interruptions while a program ran, from the kernel's counters, because no meter may run on its
//! CPUs.

use super::sources::{NoiseSource, Snapshot, WatchedGaps};
use seatmap_data::statistics::words::counted_figure;
use seatmap_data::statistics::words::figure;
use seatmap_os::usage::ResourceUsage;
use serde::Serialize;
use std::fmt;

const MOST_NAMED: usize = 3;

/// Counts interruptions from the program's start.
pub struct NoiseListener {
    before: Snapshot,
    usage: ResourceUsage,
}

/// The noise during a program.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramNoise {
    /// How long the program ran, in seconds.
    pub seconds: f64,
    /// How often one of its threads was preempted. Processes without a completed wait are excluded.
    pub preemptions: u64,
    /// Each CPU of its cell.
    pub cpus: Vec<OnCpu>,
}

/// Interruptions of one CPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OnCpu {
    /// The CPU's OS index.
    pub cpu: u32,
    /// Interrupts per second.
    pub interrupts_per_second: f64,
    /// The share of the time taken by a hypervisor; null if the kernel does not count it.
    pub steal_percent: Option<f64>,
    /// The sources of the interruptions, the most frequent first.
    pub sources: Vec<NoiseSource>,
}

impl NoiseListener {
    /// Starts counting.
    pub fn begin() -> Self {
        NoiseListener { before: Snapshot::now(), usage: ResourceUsage::of_children() }
    }

    /// The interruptions of these CPUs since the start.
    pub fn end(&self, cpus: &[u32]) -> ProgramNoise {
        let now = Snapshot::now();
        ProgramNoise {
            seconds: now.seconds_since(&self.before),
            preemptions: ResourceUsage::of_children().since(self.usage).involuntary_switches,
            cpus: cpus.iter().map(|cpu| self.on(&now, *cpu)).collect(),
        }
    }

    fn on(&self, now: &Snapshot, cpu: u32) -> OnCpu {
        let found = now.since(
            &self.before,
            cpu,
            ResourceUsage::default(),
            WatchedGaps { gaps: 0, share: 0.0 },
        );
        let interrupts_per_second =
            found.sources.iter().filter(|it| is_interrupt(it)).map(|it| it.per_second).sum();
        OnCpu {
            cpu,
            interrupts_per_second,
            steal_percent: found.steal_percent,
            sources: found.sources,
        }
    }
}

/// Softirqs run inside interrupts; stolen time is not an interrupt.
fn is_interrupt(source: &NoiseSource) -> bool {
    !source.name.starts_with("softirq ") && !source.name.starts_with("steal,")
}

impl fmt::Display for OnCpu {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "CPU {}: {}/s",
            self.cpu,
            counted_figure(self.interrupts_per_second, 0, "interrupt")
        )?;
        let named = self.sources.iter().filter(|source| is_interrupt(source)).take(MOST_NAMED);
        let named: Vec<String> = named
            .map(|source| format!("{} {}", source.name, figure(source.per_second, 0)))
            .collect();
        if !named.is_empty() {
            write!(out, " ({})", named.join(", "))?;
        }
        self.steal_percent.map_or(Ok(()), |percent| {
            write!(out, ", {} % taken by the hypervisor", figure(percent, 1))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str, per_second: f64) -> NoiseSource {
        NoiseSource { name: name.into(), count: 1, per_second, explains_at_most_percent: None }
    }

    #[test]
    fn line_names_the_most_frequent_sources() {
        let names = [
            ("LOC timer", 250.0),
            ("softirq TIMER", 240.0),
            ("IRQ 9 disk", 30.4),
            ("RES", 2.0),
            ("CAL", 1.0),
        ];
        let sources = names.map(|(name, rate)| source(name, rate)).into();
        let mut heard =
            OnCpu { cpu: 3, interrupts_per_second: 283.4, steal_percent: Some(0.04), sources };
        let told = "CPU 3: 283 interrupts/s (LOC timer 250, IRQ 9 disk 30, RES 2), 0.0 % taken by the hypervisor";
        assert_eq!(heard.to_string(), told);
        (heard.sources, heard.steal_percent) = (Vec::new(), None);
        assert_eq!(heard.to_string(), "CPU 3: 283 interrupts/s");
    }

    #[test]
    fn child_activity_is_recorded() {
        let listener = NoiseListener::begin();
        let status = std::process::Command::new("sleep").arg("0.05").status().unwrap();
        let heard = listener.end(&[0]);
        assert!(status.success() && heard.seconds >= 0.05 && heard.cpus.len() == 1);
        let counted: f64 = heard.cpus[0]
            .sources
            .iter()
            .filter(|it| is_interrupt(it))
            .map(|it| it.per_second)
            .sum();
        assert!((heard.cpus[0].interrupts_per_second - counted).abs() < 1e-9);
    }
}
