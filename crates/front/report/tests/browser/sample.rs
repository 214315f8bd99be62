//! A machine of sixteen PUs in two groups, with three homes and a hostile name; a plan on a ring of
//! 240.

use seatmap_data::machine::{
    CoreDistance, HomeModel, LoadedPoint, Matrix, Origin, OriginKind, PairRegimes, PairStatus,
    Profile, Protocol, Pu, Regime, Square, Topology,
};
use seatmap_data::plan::{Baselines, Channel, Plan, Random};
use seatmap_health::noise::{Bin, CpuNoise, FORMAT, Gap, MeterCalibration, NoiseReport};
use seatmap_report::floor::{DrawnPlacement, FloorPlan, SeatingComparison};

const PUS: u32 = 16;
const GROUP: u32 = 8;

pub fn profile() -> Profile {
    let origin = Origin {
        kind: OriginKind::Measured,
        source: "lab".into(),
        date: None,
        tool: Some("seatmap".into()),
    };
    // Even and odd PUs form groups, so that the two orders differ.
    let group = |os: u32| os % 2;
    let pu = |os| Pu {
        os,
        core: Some(os),
        smt: Some(0),
        l3: Some(group(os)),
        numa: Some(0),
        package: Some(0),
        ..Pu::default()
    };
    let name =
        "</script><script>console.error('pwned')</script><img src=x onerror=console.error(1)>";
    let mut profile = Profile::new(name, origin, Topology { pus: (0..PUS).map(pu).collect() });
    profile.environment.cpu_model = Some("Example <b>16-core</b>".into());
    profile.home_model = Some(model());
    profile.core_distance = Some(distance());
    profile.loaded = (1..=4).map(loaded).collect();
    profile
}

fn model() -> HomeModel {
    let mut between_ns = Matrix::filled(2, 40.0);
    between_ns.set_both(0, 1, 110.0);
    HomeModel {
        groups: vec![(0..PUS).step_by(2).collect(), (1..PUS).step_by(2).collect()],
        between_ns,
        inside_ns: None,
        offset_ns: (0..PUS)
            .map(|os| [0, 1, 2].map(|home| f64::from(os.abs_diff(home * 7))).to_vec())
            .collect(),
        r2: 0.997,
        residual_ns: 0.4,
        pair_view_empty: false,
        star_r2: Some(0.4),
        smt_ns: None,
        lines: None,
    }
}

fn distance() -> CoreDistance {
    let n = PUS as usize;
    let base = |i: usize, j: usize| if i % 2 == j % 2 { 40.0 } else { 110.0 };
    let median = |i: usize, j: usize| if i == j { 0.0 } else { base(i, j) + (i + j) as f64 };
    let mut distance = CoreDistance::imported((0..PUS).collect(), Matrix::from_fn(n, median));
    distance.p10_ns = Some(Square::from_fn(n, |i, j| median(i, j) * 0.97));
    distance.mad_ns = Some(Square::from_fn(n, |_, _| 0.75));
    distance.ci95_low_ns = Some(Square::from_fn(n, |i, j| median(i, j) * 0.99));
    distance.ci95_high_ns = Some(Square::from_fn(n, |i, j| median(i, j) * 1.01));
    distance.status = Square::from_fn(n, |i, j| (i != j).then_some(PairStatus::Stable));
    distance.status.set_both(0, 3, Some(PairStatus::MultiRegime));
    let regimes =
        [(80.0, 0.74), (297.0, 0.26)].map(|(median_ns, share)| Regime { median_ns, share });
    distance.regimes = vec![PairRegimes { pus: [0, 3], regimes: regimes.to_vec() }];
    distance.median_ns.set_both(5, 6, f64::NAN);
    distance.protocol = Some(Protocol {
        passes: 3,
        batches: 32,
        round_trips: 100,
        resolution_ns: 0.04,
        ..Protocol::default()
    });
    distance
}

fn loaded(pairs: u32) -> LoadedPoint {
    let median_ns = 110.0 + f64::from(pairs * GROUP);
    LoadedPoint {
        pairs,
        median_ns,
        p10_ns: median_ns - 30.0,
        p90_ns: median_ns + 40.0,
        draws: 8,
        samples: 1024,
    }
}

/// The profile's page.
pub fn page() -> String {
    let profile = profile();
    seatmap_report::html::page(&profile, None, &[])
}

/// The page of two CPUs, one with occasional gaps.
pub fn noise() -> String {
    let bin = |(from_ns, count)| Bin { from_ns, to_ns: from_ns * 5 / 4, count };
    let gap =
        |at: u64| Gap { start_ns: at * 40_000_000, length_ns: 13_000 << at, preempted_ns: None };
    let cpu = |cpu| CpuNoise {
        cpu,
        stolen_percent: 1.5 * f64::from(cpu),
        gaps: 351,
        gaps_per_second: 351.0,
        longest_gap_us: 7_340.0,
        longest_preemption_us: None,
        histogram: [(160, 4000), (12_288, 250), (7_340_032, 1)].map(bin).to_vec(),
        timeline: (0..9).map(gap).collect(),
        fwq_quanta: 31_000,
        fwq_min_us: 31.9,
        fwq_p50_us: 32.0,
        fwq_p99_us: 45.5,
        fwq_p999_us: 139.0,
        fwq_max_us: 8_007.0,
        fwq_excess_percent: 1.5,
        steal_percent: Some(0.5),
        sources: Vec::new(),
        unexplained_at_least_percent: None,
        trace: None,
        meter: MeterCalibration {
            resolution_ns: 17.6,
            threshold_ns: 141.0,
            record_ns: 864.3,
            overhead_percent: 0.03,
            detour_seconds: 0.25,
            fwq_seconds: 0.25,
        },
    };
    let cpus = vec![cpu(0), cpu(1)];
    seatmap_report::noise::page(&NoiseReport {
        format: FORMAT,
        seconds: 0.5,
        interrupted: false,
        clock: "tsc",
        cpus,
    })
    .html()
}

/// The page of a plan on the 5110P: four tasks around a ring, two lines at a home on the other
/// side.
pub fn placement() -> String {
    let Some(Ok(model)) = seatmap_sim::catalog::load("xeon-phi-5110p") else {
        return String::new();
    };
    let Ok(pattern) = seatmap_data::pattern::generate("ring:4") else { return String::new() };
    let mut profile = profile();
    profile.topology = model.topology.clone();
    let channel = |from, to| Channel { from, to, home: 40, line: None, distance_ns: 1.0 };
    let plan = Plan {
        cost: Some(750.0),
        baselines: Some(Baselines {
            os: 1000.0,
            compact: 1000.0,
            scatter: 2000.0,
            random: Random { mean: 1500.0, best: 900.0 },
        }),
        channels: vec![channel(0, 1), channel(1, 2)],
        ..Plan::new("xeon-phi-5110p", vec![1, 5, 9, 13])
    };
    let seatings = [
        DrawnPlacement::in_order(&profile, &pattern, &plan, vec![0, 60, 120, 180]),
        DrawnPlacement::planned(&pattern, &plan),
    ];
    let comparison =
        SeatingComparison::new(FloorPlan::of(&profile, Some(&model)), &pattern, &plan, seatings);
    seatmap_report::placement::page(&profile, &pattern, &plan, &comparison).html()
}

/// The page of the cluster in the guide.
pub fn cluster() -> String {
    let text = include_str!("../../../../../examples/cluster.json");
    let cluster = seatmap_cluster::Cluster::from_json(text).expect("a cluster");
    seatmap_report::cluster::page(&cluster).html()
}
