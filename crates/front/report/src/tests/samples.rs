//! Profiles for the tests of this crate.

use seatmap_data::machine::{
    CoreDistance, HomeModel, LoadedPoint, Matrix, Origin, OriginKind, PairRegimes, PairStatus,
    Profile, Protocol, Pu, Regime, Square, Topology,
};

fn origin() -> Origin {
    Origin {
        kind: OriginKind::Measured,
        source: "lab-7".into(),
        date: Some("2026-02-03".into()),
        tool: Some("seatmap 0.1.0".into()),
    }
}

/// `n` single-threaded cores in groups of `size`, one group an L3, two L3s a package: 40 ns within
/// a group, 100 ns within a package and 250 ns between packages, plus offsets of PUs.
pub(crate) fn grouped(n: u32, size: u32) -> Profile {
    let l3 = |os: u32| os / size;
    let package = |os: u32| os / (2 * size);
    let base = |a: u32, b: u32| match (l3(a) == l3(b), package(a) == package(b)) {
        (true, _) => 40.0,
        (false, true) => 100.0,
        _ => 250.0,
    };
    let pu = |os| Pu {
        os,
        core: Some(os),
        smt: Some(0),
        l3: Some(l3(os)),
        numa: Some(package(os)),
        package: Some(package(os)),
        ..Pu::default()
    };
    let mut profile = Profile::new("sample", origin(), Topology { pus: (0..n).map(pu).collect() });
    let median_ns = Matrix::from_fn(n as usize, |i, j| {
        let a = i as u32;
        let b = j as u32;
        if i == j { 0.0 } else { base(a, b) + f64::from(a % size + b % size) }
    });
    profile.core_distance = Some(CoreDistance::imported((0..n).collect(), median_ns));
    let groups: Vec<Vec<u32>> =
        (0..n.div_ceil(size)).map(|g| (g * size..n.min((g + 1) * size)).collect()).collect();
    profile.home_model = Some(HomeModel {
        between_ns: Matrix::from_fn(groups.len(), |g, h| base(g as u32 * size, h as u32 * size)),
        groups,
        inside_ns: None,
        offset_ns: (0..n).map(|pu| vec![f64::from(pu % size)]).collect(),
        r2: 1.0,
        residual_ns: 0.0,
        pair_view_empty: false,
        star_r2: None,
        smt_ns: None,
        lines: None,
    });
    profile
}

/// Eight PUs in two groups of four, with every part of a profile.
pub(crate) fn two_groups() -> Profile {
    let mut profile = grouped(8, 4);
    profile.environment.cpu_model = Some("Example 8-core".into());
    profile.environment.kernel = Some("6.12.0".into());
    profile.environment.hypervisor = Some("kvm".into());
    profile.environment.steal_percent = Some(0.25);
    profile.clock.step_ns = Some(0.4);
    profile.home_model = Some(two_homes());
    profile.loaded = [1, 2, 4].map(loaded).to_vec();
    if let Some(distance) = &mut profile.core_distance {
        spread(distance);
    }
    profile
}

fn two_homes() -> HomeModel {
    let mut between_ns = Matrix::filled(2, 40.0);
    between_ns.set_both(0, 1, 100.0);
    HomeModel {
        groups: vec![(0..4).collect(), (4..8).collect()],
        between_ns,
        inside_ns: None,
        offset_ns: (0..8).map(|pu| vec![f64::from(pu % 4), f64::from(7 - pu)]).collect(),
        r2: 0.9984,
        residual_ns: 0.42,
        pair_view_empty: false,
        star_r2: Some(0.31),
        smt_ns: None,
        lines: None,
    }
}

fn loaded(pairs: u32) -> LoadedPoint {
    let median_ns = 80.0 + 7.0 * f64::from(pairs);
    LoadedPoint {
        pairs,
        median_ns,
        p10_ns: median_ns - 20.0,
        p90_ns: median_ns * 1.5,
        draws: 12,
        samples: 3840,
    }
}

fn spread(distance: &mut CoreDistance) {
    let around = |by: f64| {
        Some(Square::from_fn(8, |i, j| if i == j { 0.0 } else { distance.median_ns[(i, j)] + by }))
    };
    distance.p10_ns = around(-1.25);
    distance.ci95_low_ns = around(-0.5);
    distance.ci95_high_ns = around(0.5);
    distance.mad_ns = Some(Square::from_fn(8, |i, j| if i == j { 0.0 } else { 0.75 }));
    distance.status = Square::from_fn(8, |i, j| (i != j).then_some(PairStatus::Stable));
    distance.status.set_both(1, 6, Some(PairStatus::MultiRegime));
    let regimes =
        [(95.0, 0.74), (297.0, 0.26)].map(|(median_ns, share)| Regime { median_ns, share });
    distance.regimes = vec![PairRegimes { pus: [1, 6], regimes: regimes.to_vec() }];
    distance.protocol = Some(Protocol {
        passes: 3,
        batches: 32,
        round_trips: 100,
        resolution_ns: 0.04,
        discarded_gap: 12,
        discarded_switched: 3,
        kept: 2673,
        seconds: 0.18,
        ..Protocol::default()
    });
}

/// No task of the kernel explains the gap.
fn traced() -> seatmap_health::noise::Traced {
    use seatmap_health::noise::{GapCause, GapShare, Traced, TracedGap};
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
pub(crate) fn noise() -> seatmap_health::noise::NoiseReport {
    use seatmap_health::noise::{
        Bin, CpuNoise, FORMAT, Gap, MeterCalibration, NoiseReport, NoiseSource,
    };
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
