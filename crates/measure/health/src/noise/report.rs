//! The report of a noise measurement.

use super::gaps::Gap;
use super::histogram::Bin;
use super::meter::Metered;
use super::sources::{CpuEvents, NoiseSource};
use super::trace::Traced;
use seatmap_data::statistics::greatest;
use serde::Serialize;
use std::collections::BTreeMap;

/// Name and version of the JSON format.
pub const FORMAT: &str = "seatmap-noise/1";

/// The noise of some CPUs, measured simultaneously.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoiseReport {
    /// Name and version of the format.
    pub format: &'static str,
    /// How long the meters ran, in seconds.
    pub seconds: f64,
    /// Whether the user stopped the measurement early.
    pub interrupted: bool,
    /// The clock used: `tsc`, `cntvct` or `clock_gettime`.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["tsc", "cntvct", "clock_gettime"])))]
    pub clock: &'static str,
    /// Each CPU, in the requested order.
    pub cpus: Vec<CpuNoise>,
}

/// The noise of one CPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuNoise {
    /// The CPU's OS index.
    pub cpu: u32,
    /// The share of the time that the detour loop lost in gaps.
    pub stolen_percent: f64,
    /// The number of gaps.
    pub gaps: u64,
    /// Gaps per second of watching.
    pub gaps_per_second: f64,
    /// The longest gap; 0 without gaps.
    pub longest_gap_us: f64,
    /// The longest time in a gap of at least 50 us for which another task had the CPU; null if the
    /// kernel does not count it.
    pub longest_preemption_us: Option<f64>,
    /// All gaps by length, in bins of a quarter octave; empty bins are omitted.
    pub histogram: Vec<Bin>,
    /// The longest 1024 gaps, in order of time.
    pub timeline: Vec<Gap>,
    /// The number of quanta of fixed work.
    pub fwq_quanta: u64,
    /// The quickest quantum.
    pub fwq_min_us: f64,
    /// The median quantum.
    pub fwq_p50_us: f64,
    /// 99 % of the quanta take no longer.
    pub fwq_p99_us: f64,
    /// 99.9 % of the quanta take no longer.
    pub fwq_p999_us: f64,
    /// The slowest quantum.
    pub fwq_max_us: f64,
    /// The share of the quanta's time that would be saved if each were as quick as the quickest.
    /// Unlike `stolen_percent` it includes slowdowns without a stop.
    pub fwq_excess_percent: f64,
    /// The share of the time taken by a hypervisor, as it reports; null if `/proc/stat` cannot be
    /// read.
    pub steal_percent: Option<f64>,
    /// The kernel's event counts on this CPU during the measurement, the most frequent first.
    pub sources: Vec<NoiseSource>,
    /// The share of the gaps without enough interrupts, context switches and page faults to explain
    /// one each: these come from the hypervisor, the firmware or the hardware. Null with fewer than
    /// 100 gaps.
    pub unexplained_at_least_percent: Option<f64>,
    /// The tasks and handlers that had the CPU in long gaps; null without a trace.
    pub trace: Option<Traced>,
    /// The calibration of the meters.
    pub meter: MeterCalibration,
}

/// The calibration of the meters on one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeterCalibration {
    /// The uncertainty of a gap's start and length: the loop's period or, if larger, the clock's
    /// step.
    pub resolution_ns: f64,
    /// The shortest gap distinguishable from the loop itself.
    pub threshold_ns: f64,
    /// The time to record a gap, in which other gaps are missed; 0 without gaps.
    pub record_ns: f64,
    /// The share of the loop's time spent on recording; excluded from all other figures.
    pub overhead_percent: f64,
    /// How long the loop watched.
    pub detour_seconds: f64,
    /// How long the quanta took.
    pub fwq_seconds: f64,
}

impl NoiseReport {
    /// The stolen share of the noisiest CPU.
    pub fn worst_stolen_percent(&self) -> f64 {
        greatest(self.cpus.iter().map(|cpu| cpu.stolen_percent))
    }

    /// The share that the hypervisor takes from each CPU, if reported.
    pub fn steal_percent(&self) -> BTreeMap<u32, f64> {
        self.cpus.iter().filter_map(|cpu| Some((cpu.cpu, cpu.steal_percent?))).collect()
    }
}

impl CpuNoise {
    pub(super) fn new(
        cpu: u32,
        step_ns: f64,
        metered: &Metered,
        found: CpuEvents,
        trace: Option<Traced>,
    ) -> Self {
        let detour = &metered.detour;
        let times = &metered.quanta.times;
        let meter = MeterCalibration::new(step_ns, metered);
        let (gaps, stolen_ns, longest_ns) = detour.gaps.sums();
        CpuNoise {
            cpu,
            stolen_percent: share_percent(stolen_ns as f64 / 1e9, meter.detour_seconds),
            gaps,
            gaps_per_second: share_percent(gaps as f64, meter.detour_seconds) / 100.0,
            longest_gap_us: us(longest_ns),
            longest_preemption_us: detour.waited_ns.map(|_| us(detour.gaps.longest_preemption_ns)),
            histogram: detour.gaps.histogram.bins(),
            timeline: detour.gaps.timeline(),
            fwq_quanta: times.count,
            fwq_min_us: us(times.min()),
            fwq_p50_us: us(times.quantile(0.5)),
            fwq_p99_us: us(times.quantile(0.99)),
            fwq_p999_us: us(times.quantile(0.999)),
            fwq_max_us: us(times.max),
            fwq_excess_percent: metered.quanta.excess_percent(),
            steal_percent: found.steal_percent,
            sources: found.sources,
            unexplained_at_least_percent: found.unexplained_at_least_percent,
            trace,
            meter,
        }
    }
}

fn us(ns: u64) -> f64 {
    ns as f64 / 1e3
}

impl MeterCalibration {
    fn new(step_ns: f64, metered: &Metered) -> Self {
        let detour = &metered.detour;
        let ns_per_tick = metered.ns_per_tick;
        let recording_ns = detour.recording_ticks as f64 * ns_per_tick;
        let watched_ns = detour.watched_ticks as f64 * ns_per_tick;
        MeterCalibration {
            resolution_ns: (metered.own.loop_ticks * ns_per_tick).max(step_ns),
            threshold_ns: (metered.own.threshold_ticks as f64 - metered.own.loop_ticks)
                * ns_per_tick,
            record_ns: share_percent(recording_ns, detour.gaps.sums().0 as f64) / 100.0,
            overhead_percent: share_percent(recording_ns, recording_ns + watched_ns),
            detour_seconds: watched_ns / 1e9,
            fwq_seconds: metered.quanta.worked_ticks as f64 * ns_per_tick / 1e9,
        }
    }
}

/// 0 if the whole is 0.
fn share_percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { 100.0 * part / whole } else { 0.0 }
}
