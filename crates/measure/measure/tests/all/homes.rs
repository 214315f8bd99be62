//! Lines of meshes with known homes.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails as a test does")]

use crate::synthetic::address_hash::published;
use crate::synthetic::{AddressHash, Mesh, MeshProbe, ProbeNoise};
use seatmap_data::machine::{CoreDistance, Matrix, Topology};
use seatmap_data::statistics::{mad, median};
use seatmap_measure::fit::{explain, hubs};
use seatmap_measure::homes::{Grouping, LineSamples, fit_homes, group_lines};
use seatmap_measure::probe::{PairAt, Probe, Visit};
use seatmap_measure::schedule::all_pairs;

const BATCHES: u32 = 8;

/// A mesh of this shape with this many homes, the noise of a visit and of a batch, and a seed.
fn plain_mesh(
    [columns, rows]: [u32; 2],
    homes: u32,
    [visit_ns, batch_ns]: [f64; 2],
    seed: u64,
) -> MeshProbe {
    let slices = (0..64).map(|line| (line * 29 + line / 7) % homes).collect();
    let hash = AddressHash::new(slices, vec![]).unwrap();
    MeshProbe::new(hash, Mesh::new(columns, rows, &[]), ProbeNoise { visit_ns, batch_ns }, seed)
}

fn unresolved(lines: usize) -> Grouping {
    Grouping { home_of_line: vec![0; lines], confidence: 0.0, resolvable: false }
}

fn scan(probe: &mut MeshProbe, lines: u32, hubs: usize) -> LineSamples {
    let pus = probe.pus();
    let hubs: Vec<u32> =
        hubs::choose(&vec![0; pus.len()], &(0..pus.len()).collect::<Vec<_>>(), hubs)
            .iter()
            .map(|row| pus[*row])
            .collect();
    let mut samples =
        LineSamples { pus: pus.clone(), hubs: hubs.clone(), ..LineSamples::default() };
    for line in 0..lines {
        let mut visit = |a: u32, b: u32| {
            let visit =
                Visit { pairs: vec![PairAt { a, b, line }], batches: BATCHES, round_trips: 100 };
            if a == b { vec![] } else { probe.visit(&visit).unwrap().remove(0).round_trip_ns }
        };
        let brought: Vec<Vec<Vec<f64>>> =
            hubs.iter().map(|hub| pus.iter().map(|pu| visit(*hub, *pu)).collect()).collect();
        let each = |value: &dyn Fn(&Vec<f64>) -> f64| {
            brought.iter().map(|row| row.iter().map(value).collect()).collect()
        };
        samples.median_ns.push(each(&|batches| median(batches).unwrap_or(f64::NAN)));
        samples.noise_ns.push(each(&|batches| mad(batches).unwrap_or(f64::NAN)));
    }
    samples
}

/// Pairs reported to share a home, pairs sharing one, and both.
#[derive(Clone, Copy, Default)]
struct Pairs {
    said: f64,
    are: f64,
    both: f64,
}

impl Pairs {
    fn add(&mut self, probe: &MeshProbe, home_of_line: &[u32]) {
        let truth: Vec<usize> =
            (0..home_of_line.len()).map(|line| probe.home(line as u32)).collect();
        for a in 0..home_of_line.len() {
            for b in a + 1..home_of_line.len() {
                let said = home_of_line[a] == home_of_line[b];
                let are = truth[a] == truth[b];
                self.said += f64::from(u8::from(said));
                self.are += f64::from(u8::from(are));
                self.both += f64::from(u8::from(said && are));
            }
        }
    }
}

fn pairwise(probe: &MeshProbe, home_of_line: &[u32]) -> (f64, f64) {
    let mut pairs = Pairs::default();
    pairs.add(probe, home_of_line);
    (pairs.both / pairs.said, pairs.both / pairs.are)
}

fn sorted_by_home(name: &str, mesh: &Mesh, lines: u32, visit_ns: f64, hubs: usize) -> bool {
    let Some(hash) = published(name) else { return false };
    let scans = if lines > 128 { 2 } else { 10 };
    let mut pairs = Pairs::default();
    let mut resolved = 0;
    let mut confidence = 0.0;
    for seed in 0..scans {
        let noise = ProbeNoise { visit_ns, batch_ns: 2.0 };
        let mut probe = MeshProbe::new(hash.clone(), mesh.clone(), noise, seed);
        let grouping = group_lines(&scan(&mut probe, lines, hubs));
        if grouping.resolvable {
            pairs.add(&probe, &grouping.home_of_line);
            resolved += 1;
            confidence += grouping.confidence;
        }
    }
    let precision = pairs.both / pairs.said;
    let recall = pairs.both / pairs.are;
    let about = format!(
        "{name}, {lines} lines, {hubs} hubs, noise {visit_ns} ns: {resolved} of {scans} scans resolved"
    );
    let confidence = confidence / f64::from(resolved);
    eprintln!("{about}, precision {precision:.4}, recall {recall:.4}, confidence {confidence:.4}");
    assert!(
        precision >= 0.99 && recall >= 0.98 && f64::from(resolved) >= 0.7 * scans as f64,
        "{about}"
    );
    true
}

#[test]
fn published_hashes_are_sorted_by_home() {
    for (name, mesh) in [("KNL_38", Mesh::knl_38()), ("SKX_28", Mesh::skx_28())] {
        for lines in [64, 128, 512] {
            for (visit_ns, hubs) in [(1.0, 3), (1.5, 3), (2.0, 6)] {
                if !sorted_by_home(name, &mesh, lines, visit_ns, hubs) {
                    return;
                }
            }
        }
    }
}

#[test]
fn too_noisy_lines_are_not_resolvable() {
    for seed in 0..20 {
        let mut probe = plain_mesh([5, 4], 20, [60.0, 10.0], seed);
        let grouping = group_lines(&scan(&mut probe, 64, 3));
        assert_eq!(grouping, unresolved(64), "seed {seed}");
    }
}

#[test]
fn one_home_is_not_resolvable() {
    for seed in 0..20 {
        let mut probe = plain_mesh([5, 4], 1, [1.0, 2.0], seed);
        assert!(!group_lines(&scan(&mut probe, 64, 3)).resolvable, "seed {seed}");
    }
}

#[test]
fn confidence_is_honest_near_the_limit() {
    let mut claimed = 0.0;
    let mut true_share = 0.0;
    let mut resolved = 0;
    for seed in 0..60 {
        let visit_ns = 1.5 + 0.25 * f64::from(seed as u32 % 10);
        let mut probe = plain_mesh([5, 4], 20, [visit_ns, 2.0], seed);
        let grouping = group_lines(&scan(&mut probe, 64, 3));
        if grouping.resolvable {
            let (precision, _) = pairwise(&probe, &grouping.home_of_line);
            claimed += grouping.confidence;
            true_share += precision;
            resolved += 1;
        }
    }
    let claimed = claimed / f64::from(resolved);
    let true_share = true_share / f64::from(resolved);
    eprintln!(
        "of 60 scans {resolved} resolved, confidence {claimed:.3}, precision {true_share:.3}"
    );
    assert!(resolved > 10 && claimed <= true_share + 0.05);
}

#[test]
fn two_pus_or_one_line_are_not_resolvable() {
    let mut two = plain_mesh([2, 1], 2, [0.1, 0.1], 1);
    assert!(!group_lines(&scan(&mut two, 32, 1)).resolvable);
    let mut probe = plain_mesh([3, 2], 6, [0.1, 0.1], 1);
    assert!(!group_lines(&scan(&mut probe, 1, 3)).resolvable);
    assert_eq!(group_lines(&LineSamples::default()), unresolved(0));
}

#[test]
fn one_hub_suffices_if_its_noise_is_known() {
    let mut probe = plain_mesh([5, 4], 20, [0.2, 0.3], 3);
    let grouping = group_lines(&scan(&mut probe, 64, 1));
    let (precision, recall) = pairwise(&probe, &grouping.home_of_line);
    assert!(precision >= 0.99 && recall >= 0.99, "{precision} {recall}");
}

#[test]
fn noiseless_machine_is_sorted_exactly() {
    let mut probe = plain_mesh([5, 4], 20, [0.0, 0.0], 1);
    let grouping = group_lines(&scan(&mut probe, 64, 3));
    assert_eq!((pairwise(&probe, &grouping.home_of_line), grouping.homes()), ((1.0, 1.0), 20));
}

#[test]
fn wrong_cells_do_no_harm() {
    let mut probe = plain_mesh([5, 4], 20, [0.5, 1.0], 5);
    let mut samples = scan(&mut probe, 64, 3);
    let mut rng = fastrand::Rng::with_seed(9);
    for _ in 0..60 {
        samples.median_ns[rng.usize(..64)][rng.usize(..3)][rng.usize(..20)] += 220.0;
        samples.median_ns[rng.usize(..64)][rng.usize(..3)][rng.usize(..20)] = f64::NAN;
    }
    let (precision, recall) = pairwise(&probe, &group_lines(&samples).home_of_line);
    assert!(precision >= 0.99 && recall >= 0.95, "{precision} {recall}");
}

#[test]
fn model_predicts_each_home() {
    let mut probe = plain_mesh([5, 4], 20, [0.3, 0.5], 2);
    let pus = probe.pus();
    let exact = |probe: &MeshProbe, i: usize, j: usize, line: u32| {
        probe.exact_ns(PairAt { a: i as u32, b: j as u32, line }).unwrap()
    };
    let d = Matrix::from_fn(20, |i, j| if i == j { 0.0 } else { exact(&probe, i, j, 0) });
    let mut model = explain(&CoreDistance::imported(pus.clone(), d), &Topology::default()).unwrap();
    let samples = scan(&mut probe, 64, 3);
    fit_homes(&mut model, &samples);
    let lines = model.lines.clone().unwrap();
    assert_eq!((model.homes(), lines.nearest_pu.len(), lines.resolvable), (20, 20, true));
    assert!(model.r2 > 0.95 && model.residual_ns < 1.0, "{} {}", model.r2, model.residual_ns);
    let mut errors = Vec::new();
    for line in 0..64 {
        let home = lines.home_of_line[line] as usize;
        for j in 1..20 {
            errors.push(
                (model.round_trip_ns(&pus, j - 1, j, home).unwrap()
                    - exact(&probe, j - 1, j, line as u32))
                .abs(),
            );
        }
    }
    assert!(median(&errors).unwrap() < 0.6, "{:?}", median(&errors));
    let found = (0..64).filter(|line| {
        lines.nearest_pu[lines.home_of_line[*line] as usize] as usize == probe.home(*line as u32)
    });
    assert!(found.count() >= 60);
}

#[test]
fn unresolvable_machine_keeps_its_model() {
    let d = Matrix::from_fn(2, |i, j| if i == j { 0.0 } else { 80.0 });
    let mut model = explain(&CoreDistance::imported(vec![0, 1], d), &Topology::default()).unwrap();
    let before = model.clone();
    let mut probe = plain_mesh([2, 1], 2, [1.0, 1.0], 1);
    fit_homes(&mut model, &scan(&mut probe, 16, 1));
    let lines = model.lines.take().unwrap();
    assert_eq!((lines.home_of_line, lines.resolvable, lines.confidence), (vec![0; 16], false, 0.0));
    assert_eq!(lines.nearest_pu.len(), 1);
    assert_eq!(model, before);
}

/// PUs of a complex exchange a line directly.
fn two_packages(i: u32, j: u32, home: u32) -> f64 {
    let far = |pu: u32| if pu / 12 == home { 0.0 } else { 93.0 };
    let crossing = if i / 12 == j / 12 { 215.0 } else { 300.0 };
    if i / 4 == j / 4 { 45.0 + f64::from((i + j) % 3) } else { crossing + far(i) + far(j) }
}

#[test]
fn complexes_settling_their_own_lines_are_predicted_per_home() {
    let pus: Vec<u32> = (0..24).collect();
    let d =
        Matrix::from_fn(24, |i, j| if i == j { 0.0 } else { two_packages(i as u32, j as u32, 0) });
    let mut model = explain(&CoreDistance::imported(pus.clone(), d), &Topology::default()).unwrap();
    assert_eq!(model.groups.len(), 6);
    let hubs = vec![21, 17, 13, 9, 5];
    let mut rng = fastrand::Rng::with_seed(4);
    let mut visit = |line: u32, hub: u32, pu: u32| {
        if hub == pu { f64::NAN } else { two_packages(hub, pu, line % 2) + 2.0 * (rng.f64() - 0.5) }
    };
    let of_line = |line: u32, visit: &mut dyn FnMut(u32, u32, u32) -> f64| -> Vec<Vec<f64>> {
        hubs.iter().map(|hub| pus.iter().map(|pu| visit(line, *hub, *pu)).collect()).collect()
    };
    let median_ns: Vec<Vec<Vec<f64>>> = (0..32).map(|line| of_line(line, &mut visit)).collect();
    let noise_ns = median_ns
        .iter()
        .map(|hubs| hubs.iter().map(|row| vec![0.5; row.len()]).collect())
        .collect();
    let samples = LineSamples { pus: pus.clone(), hubs, median_ns, noise_ns };
    fit_homes(&mut model, &samples);
    let lines = model.lines.clone().unwrap();
    assert!(lines.resolvable && model.homes() == 2, "{} homes", model.homes());
    assert!((2..32).all(|line| lines.home_of_line[line] == lines.home_of_line[line % 2]));
    for (home, (i, j)) in
        [0, 1].into_iter().flat_map(|home| all_pairs(24).into_iter().map(move |p| (home, p)))
    {
        let said = model.round_trip_ns(&pus, i, j, lines.home_of_line[home] as usize).unwrap();
        let exact = two_packages(i as u32, j as u32, home as u32);
        assert!((said - exact).abs() < 4.0, "home {home}, {i}-{j}: {said} for {exact}");
    }
}
