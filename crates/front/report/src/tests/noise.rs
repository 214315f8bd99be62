//! A measurement of noise for tests.

use seatmap_health::noise::{
    Bin, CpuNoise, FORMAT, Gap, GapCause, GapShare, MeterCalibration, NoiseReport, NoiseSource,
    Traced, TracedGap,
};

/// No task of the kernel explains the gap.
fn traced() -> Traced {
    let taker = |who: &str, gaps, total_us, longest_us| GapCause {
        who: who.into(),
        gaps,
        total_us,
        longest_us,
    };
    Traced {
        gaps: 251,
        gaps_before_trace: 3,
        takers: vec![taker("local_timer", 251, 3_260.0, 20.0), taker("hog", 1, 40.0, 40.0)],
        unexplained: taker("", 251, 7_281.0, 7_280.0),
        longest: vec![TracedGap {
            start_ns: 1_203_000_000,
            length_ns: 7_340_000,
            takers: vec![
                GapShare { who: "hog".into(), us: 40.0 },
                GapShare { who: "local_timer".into(), us: 20.0 },
            ],
            unexplained_us: 7_280.0,
        }],
    }
}

/// Two CPUs: one with a timer tick and one long gap, one nearly quiet.
pub fn noise() -> NoiseReport {
    let source = |name: &str, count: u64, explains_at_most_percent| NoiseSource {
        name: name.into(),
        count,
        per_second: count as f64 / 2.0,
        explains_at_most_percent,
    };
    let busy = CpuNoise {
        cpu: 0,
        stolen_percent: 1.234,
        gaps: 351,
        gaps_per_second: 351.0,
        longest_gap_us: 7_340.0,
        longest_preemption_us: Some(40.0),
        histogram: [(128, 160, 100), (12_288, 14_336, 250), (7_340_032, 8_388_608, 1)]
            .map(|(from_ns, to_ns, count)| Bin { from_ns, to_ns, count })
            .to_vec(),
        timeline: (0..4)
            .map(|at| Gap { start_ns: at * 400_000_000, length_ns: 13_000, preempted_ns: None })
            .collect(),
        fwq_quanta: 31_000,
        fwq_min_us: 31.9,
        fwq_p50_us: 32.0,
        fwq_p99_us: 45.5,
        fwq_p999_us: 139.0,
        fwq_max_us: 8_007.0,
        fwq_excess_percent: 1.5,
        steal_percent: Some(0.5),
        sources: vec![
            source("LOC Local timer interrupts", 500, Some(71.2)),
            source("softirq TIMER", 40, None),
            source("IRQ 36 virtio1-req.0", 7, Some(1.0)),
        ],
        unexplained_at_least_percent: Some(27.8),
        trace: Some(traced()),
        meter: MeterCalibration {
            resolution_ns: 17.6,
            threshold_ns: 141.0,
            record_ns: 864.3,
            overhead_percent: 0.03,
            detour_seconds: 1.0,
            fwq_seconds: 1.0,
        },
    };
    let quiet = CpuNoise {
        cpu: 1,
        stolen_percent: 0.0,
        gaps: 2,
        gaps_per_second: 2.0,
        longest_gap_us: 0.3,
        longest_preemption_us: None,
        histogram: vec![Bin { from_ns: 256, to_ns: 320, count: 2 }],
        timeline: Vec::new(),
        steal_percent: None,
        sources: Vec::new(),
        unexplained_at_least_percent: None,
        trace: None,
        ..busy.clone()
    };
    NoiseReport {
        format: FORMAT,
        seconds: 2.0,
        interrupted: false,
        clock: "tsc",
        cpus: vec![busy, quiet],
    }
}
