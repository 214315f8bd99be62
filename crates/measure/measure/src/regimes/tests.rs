//! Pairs of known regimes.

use super::*;
use fastrand::Rng;

const DRAWS: usize = 1000;

/// The method of Box and Muller 1958.
fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

fn in_passes(samples: &[f64]) -> Vec<Vec<f64>> {
    samples.chunks(16).map(<[f64]>::to_vec).collect()
}

fn multi_percent(draw: impl Fn(&mut Rng) -> f64) -> f64 {
    let mut rng = Rng::with_seed(1);
    let judged = (0..DRAWS).filter(|_| {
        let samples: Vec<f64> = (0..48).map(|_| draw(&mut rng).max(1.0)).collect();
        judge(&in_passes(&samples)).status == PairStatus::MultiRegime
    });
    100.0 * judged.count() as f64 / DRAWS as f64
}

#[test]
fn one_noisy_level_is_one_regime() {
    let outlier =
        |rng: &mut Rng, share: f64| if rng.f64() < share { 1.5 + 8.5 * rng.f64() } else { 1.0 };
    let cases: [(&str, f64); 10] = [
        ("normal, 5 %", multi_percent(|rng| 100.0 + 5.0 * normal(rng))),
        ("normal, 20 %", multi_percent(|rng| 100.0 + 20.0 * normal(rng))),
        ("lognormal, 0.3", multi_percent(|rng| 100.0 * (0.3 * normal(rng)).exp())),
        ("lognormal, 1", multi_percent(|rng| 100.0 * normal(rng).exp())),
        ("shifted lognormal", multi_percent(|rng| 60.0 + 20.0 * normal(rng).exp())),
        ("shifted exponential", multi_percent(|rng| 50.0 - 30.0 * (1.0 - rng.f64()).ln())),
        ("quantised", multi_percent(|rng| ((100.0 + 8.0 * normal(rng)) / 10.4).round() * 10.4)),
        (
            "finely quantised",
            multi_percent(|rng| ((100.0 + 20.0 * normal(rng)) / 5.2).round() * 5.2),
        ),
        ("5 % outliers", multi_percent(|rng| (100.0 + 5.0 * normal(rng)) * outlier(rng, 0.05))),
        ("6 % outliers", multi_percent(|rng| (100.0 + 5.0 * normal(rng)) * outlier(rng, 0.06))),
    ];
    eprintln!("{cases:?}");
    for (name, percent) in cases {
        assert!(percent <= 1.0, "{name}: {percent} % are taken for several regimes");
    }
}

/// The slow level in one run (`in_runs`) or scattered.
fn two_levels(rng: &mut Rng, share: f64, ratio: f64, in_runs: bool) -> Vec<f64> {
    let slow = (48.0 * share).round() as usize;
    let start = rng.usize(..=48 - slow);
    let mut levels: Vec<f64> =
        (0..48).map(|at| if (start..start + slow).contains(&at) { ratio } else { 1.0 }).collect();
    if !in_runs {
        rng.shuffle(&mut levels);
    }
    levels.iter().map(|level| 100.0 * level + 5.0 * normal(rng)).collect()
}

/// Levels within 10 %, the share within 6 points.
fn found_percent(share: f64, ratio: f64, in_runs: bool) -> f64 {
    let mut rng = Rng::with_seed(2);
    let found = (0..200).filter(|_| {
        let verdict = judge(&in_passes(&two_levels(&mut rng, share, ratio, in_runs)));
        let [fast, slow] = verdict.regimes.as_slice() else { return false };
        verdict.status == PairStatus::MultiRegime
            && (fast.median_ns / 100.0 - 1.0).abs() < 0.1
            && (slow.median_ns / (100.0 * ratio) - 1.0).abs() < 0.1
            && (slow.share - share).abs() < 0.06
    });
    found.count() as f64 / 2.0
}

#[test]
fn two_levels_are_two_regimes() {
    for share in [0.1, 0.2, 0.5, 0.8, 0.9] {
        let near = found_percent(share, 1.25, true);
        let apart = found_percent(share, 1.5, true);
        let scattered = found_percent(share, 1.5, false);
        eprintln!("share {share}: 25 % {near}, 50 % {apart}, 50 % scattered {scattered}");
        assert!(near >= 90.0, "share {share}, 25 % apart, in runs: {near} %");
        assert!(apart >= 97.0, "share {share}, 50 % apart, in runs: {apart} %");
        assert!(scattered >= 95.0, "share {share}, 50 % apart, scattered: {scattered} %");
    }
}

#[test]
fn recorded_trace_has_two_regimes() {
    let Some(trace) = seatmap_needs::published("vm-regime-trace.txt") else { return };
    let text = std::fs::read_to_string(trace).unwrap();
    let column = |name: &str| -> Vec<f64> {
        text.lines()
            .map(|line| {
                line.split_whitespace()
                    .skip_while(|word| *word != name)
                    .nth(1)
                    .unwrap()
                    .parse()
                    .unwrap()
            })
            .collect()
    };
    for name in ["med", "p25"] {
        let verdict = judge(&[column(name)]);
        assert_eq!(verdict.status, PairStatus::MultiRegime, "{name}");
        assert_eq!(verdict.regimes.len(), 2, "{name}: {:?}", verdict.regimes);
        assert!((verdict.regimes[1].share - 0.26).abs() <= 0.05, "{name}: {:?}", verdict.regimes);
    }
}

#[test]
fn passes_moving_one_way_drift() {
    let mut rng = Rng::with_seed(3);
    let mut pass =
        |centre: f64| (0..16).map(|_| centre + 2.0 * normal(&mut rng)).collect::<Vec<f64>>();
    let cases = [
        (vec![100.0, 107.0, 114.0], PairStatus::Drifting),
        (vec![100.0, 140.0, 190.0], PairStatus::Drifting),
        (vec![100.0; 3], PairStatus::Stable),
        (vec![100.0, 150.0, 100.0], PairStatus::MultiRegime),
        (vec![100.0, 150.0], PairStatus::MultiRegime),
    ];
    for (centres, status) in cases {
        let passes: Vec<Vec<f64>> = centres.iter().map(|centre| pass(*centre)).collect();
        assert_eq!(judge(&passes).status, status, "{centres:?}");
    }
}

#[test]
fn steady_passes_rarely_drift() {
    let mut rng = Rng::with_seed(4);
    let drifting = (0..DRAWS).filter(|_| {
        let samples: Vec<f64> = (0..48).map(|_| 100.0 + 5.0 * normal(&mut rng)).collect();
        judge(&in_passes(&samples)).status == PairStatus::Drifting
    });
    assert!(drifting.count() <= DRAWS / 100);
}

#[test]
fn few_or_invalid_samples_are_stable() {
    assert_eq!(judge(&[]), PairVerdict { status: PairStatus::Stable, regimes: vec![] });
    assert_eq!(judge(&[vec![f64::NAN, -1.0, 0.0]]).regimes, []);
    let verdict = judge(&[vec![80.0, 300.0]]);
    assert_eq!((verdict.status, verdict.regimes.len()), (PairStatus::Stable, 1));
    assert_eq!(judge(&[vec![80.0; 48]]).regimes, [Regime { median_ns: 80.0, share: 1.0 }]);
}

#[test]
fn wide_interval_is_never_stable() {
    let steady = vec![vec![80.0, 81.0, 82.0]; 4];
    assert_eq!(judge_with_interval(&steady, (80.0, 82.0)).status, PairStatus::Stable);
    assert_eq!(judge_with_interval(&steady, (80.0, 96.0)).status, PairStatus::Stable);
    let unsteady = judge_with_interval(&steady, (80.0, 96.1));
    assert_eq!((unsteady.status, unsteady.regimes.len()), (PairStatus::Unsteady, 1));
    let flips = vec![
        vec![66.0, 67.0],
        vec![410.0, 417.0],
        vec![400.0, 406.0],
        vec![70.0, 72.0],
        vec![405.0],
    ];
    assert_eq!(judge(&flips).status, PairStatus::Stable, "the reason for looking at the interval");
    let PairVerdict { status, regimes } = judge_with_interval(&flips, (66.7, 417.0));
    assert_eq!(status, PairStatus::MultiRegime);
    assert_eq!(regimes.iter().map(|regime| regime.median_ns).collect::<Vec<_>>(), [68.5, 406.0]);
    assert!(
        (regimes[0].share - 4.0 / 9.0).abs() < 1e-12
            && (regimes[1].share - 5.0 / 9.0).abs() < 1e-12
    );
    let scattered: Vec<Vec<f64>> =
        [60.0, 280.0, 90.0, 410.0, 190.0, 130.0].map(|ns| vec![ns, 1.05 * ns]).to_vec();
    assert_eq!(judge_with_interval(&scattered, (75.0, 340.0)).status, PairStatus::Unsteady);
    let drifting: Vec<Vec<f64>> = [100.0, 120.0, 140.0].map(|ns| vec![ns; 16]).to_vec();
    assert_eq!(judge_with_interval(&drifting, (100.0, 140.0)).status, PairStatus::Drifting);
}

#[test]
fn passes_disagree_above_the_level_ratio() {
    let passes = |medians: &[f64]| medians.iter().map(|ns| vec![*ns; 3]).collect::<Vec<_>>();
    assert!(!passes_disagree(&passes(&[])) && !passes_disagree(&passes(&[80.0])));
    assert!(
        !passes_disagree(&passes(&[80.0, 90.0, 96.0]))
            && passes_disagree(&passes(&[80.0, 90.0, 96.1]))
    );
    // In twelve passes, one disturbed visit is ignored; two are not.
    assert!(!passes_disagree(&passes(&[[80.0; 11].as_slice(), &[300.0]].concat())));
    assert!(passes_disagree(&passes(&[[80.0; 10].as_slice(), &[300.0; 2]].concat())));
}

#[test]
fn stacked_vcpus_are_distinguished_from_preempted_ones() {
    let mut rng = fastrand::Rng::with_seed(7);
    // Round trips wait for one slice of 3 ms, half of them for two.
    let mut stacked = |_: usize| 3e6 * (1.0 + rng.f64().round()) + 1e4 * rng.f64();
    assert_eq!(judge(&[(0..15).map(&mut stacked).collect()]).status, PairStatus::Stacked);
    assert_eq!(judge(&[vec![12_000.0; 15], vec![3e6; 15]]).status, PairStatus::Stacked);
    // A neighbour takes the CPU during three of four visits.
    let preempted: Vec<Vec<f64>> =
        (0..4).map(|pass| vec![if pass == 0 { 90.0 } else { 3e6 }; 16]).collect();
    assert_ne!(judge(&preempted).status, PairStatus::Stacked);
    assert_ne!(judge(&[vec![3e6; 7]]).status, PairStatus::Stacked, "too few samples to say so");
    assert_eq!(
        judge(&vec![vec![1_900.0; 16]; 3]).status,
        PairStatus::Stable,
        "the longest published distance"
    );
}
