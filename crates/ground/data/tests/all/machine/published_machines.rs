//! The bundled machines, compared with the published matrices to which their figures were fitted.
//!
//! With `--nocapture` this prints the published median next to every described distance. Published
//! values are one-way; everything here is round trip.
#![expect(clippy::unwrap_used, reason = "a helper that finds its input broken fails the test")]

use seatmap_data::machine::{Matrix, catalog};
use std::collections::BTreeMap;

const TOLERANCE: f64 = 0.02;

/// Machine, file, and the bound on the root mean square error over all pairs, in nanoseconds. Most
/// of the error is the position of each core relative to the home of the published line.
const MACHINES: [(&str, &str, f64); 9] = [
    ("core-i9-12900k", "core-i9-12900k-24.csv", 5.5),
    ("epyc-7r13-2s", "epyc-7r13-2s-192.csv", 12.5),
    ("epyc-9654-2s", "epyc-9654-2s.csv", 8.0),
    ("graviton3", "graviton3-64.csv", 11.0),
    ("kunpeng-920", "kunpeng-920-64.csv", 8.5),
    ("ryzen-5950x", "ryzen-5950x-32.csv", 3.0),
    ("threadripper-3960x", "threadripper-3960x-48.csv", 14.5),
    ("xeon-8375c-2s", "xeon-8375c-2s-128.csv", 8.0),
    ("xeon-e5-2695v4-2s", "xeon-e5-2695v4-72.csv", 7.5),
];

/// The published cells below the diagonal, doubled: (row, column, round-trip ns).
fn published(file: &str) -> Option<Vec<(usize, usize, f64)>> {
    let path = seatmap_needs::published(&format!("core-to-core/{file}"))?;
    let text = std::fs::read_to_string(path).unwrap();
    let row = |(i, line): (usize, &str)| -> Vec<_> {
        let cells = line.split(',').take(i).enumerate();
        cells.map(|(j, cell)| (i, j, 2.0 * cell.trim().parse::<f64>().unwrap())).collect()
    };
    Some(text.lines().enumerate().flat_map(row).collect())
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}

/// The published pairs by their described distance, in picoseconds to be a key.
fn by_described(described: &Matrix, pairs: &[(usize, usize, f64)]) -> BTreeMap<u64, Vec<f64>> {
    let mut classes = BTreeMap::<u64, Vec<f64>>::new();
    for &(i, j, ns) in pairs {
        classes.entry((described[(i, j)] * 1000.0).round() as u64).or_default().push(ns);
    }
    classes
}

fn root_mean_square_error(described: &Matrix, pairs: &[(usize, usize, f64)]) -> f64 {
    let squares: f64 = pairs.iter().map(|&(i, j, ns)| (described[(i, j)] - ns).powi(2)).sum();
    (squares / pairs.len() as f64).sqrt()
}

fn check(name: &str, file: &str, bound_ns: f64) {
    let Some(pairs) = published(file) else { return };
    let described = catalog::load(name).unwrap().core_distance.unwrap().median_ns;
    let n = described.n();
    assert_eq!(pairs.len(), n * (n - 1) / 2, "{name}: the matrix is of a machine of another size");

    for (described_ps, mut published_ns) in by_described(&described, &pairs) {
        let described_ns = described_ps as f64 / 1000.0;
        let median_ns = median(&mut published_ns);
        println!(
            "{name}: {described_ns:.2} ns described, {median_ns:.2} ns over {} pairs",
            published_ns.len()
        );
        let error = (described_ns / median_ns - 1.0).abs();
        assert!(
            error <= TOLERANCE,
            "{name}: {described_ns} ns described, the published median is {median_ns} ns"
        );
    }
    let error_ns = root_mean_square_error(&described, &pairs);
    println!("{name}: RMSE {error_ns:.2} ns over {} pairs, bound {bound_ns} ns", pairs.len());
    assert!(error_ns <= bound_ns, "{name}: RMSE {error_ns} ns, stated bound {bound_ns} ns");
}

#[test]
fn described_distances_match_published_medians() {
    for (name, file, bound_ns) in MACHINES {
        check(name, file, bound_ns);
    }
}

#[test]
fn every_calibrated_machine_is_checked() {
    let calibrated = catalog::names().filter(|name| {
        // The models are not descriptions.
        catalog::load(name).is_ok() && catalog::find(name).unwrap().contains("\"calibration\"")
    });
    let checked = MACHINES.map(|(name, _, _)| name);
    assert_eq!(calibrated.collect::<Vec<_>>(), checked);
}
