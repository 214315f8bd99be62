//! Which lines share a home, and with what confidence.

use super::LineSamples;
use super::features::Features;
use super::principal;
use super::ward::ward;
use crate::fit::linkage::sizes;
use crate::schedule::all_pairs;
use seatmap_data::statistics::Ordered;

/// The fewest PUs for which a_i + a_j has a single solution.
const FEWEST_PUS: usize = 3;
/// The standard deviations of a join's cost that noise usually stays below, and always.
const USUAL_SIGMAS: f64 = 2.0;
/// See [`USUAL_SIGMAS`].
const MOST_SIGMAS: f64 = 3.5;
/// How much each further line of a home adds to the cost of joining its halves, in squares of the
/// noise: at most 4 in simulations.
const HALVES: f64 = 5.0;
/// A narrower gap shows no homes; noise alone makes 1.3.
const LEAST_GAP: f64 = 1.5;
/// Reported pairs are checked at this chi-square quantile.
const CHECKED: f64 = 0.75;
/// The standard normal value at that quantile.
const CHECKED_SIGMAS: f64 = 0.6745;
/// Groupings with less confidence are not resolvable.
const LEAST_CONFIDENCE: f64 = 0.8;

/// Candidate lines sorted by home.
#[derive(Debug, PartialEq)]
pub struct Grouping {
    /// Home of each line, numbered by first appearance.
    pub home_of_line: Vec<u32>,
    /// Estimated probability, 0 to 1, that two lines reported to share a home do.
    pub confidence: f64,
    /// False if noise hides the lines' differences: then all lines have home 0, and the confidence
    /// is 0.
    pub resolvable: bool,
}

impl Grouping {
    /// Counts homes.
    pub fn homes(&self) -> usize {
        self.home_of_line.iter().max().map_or(0, |last| *last as usize + 1)
    }

    /// The lines of each home.
    pub fn lines_of_homes(&self) -> Vec<Vec<usize>> {
        let mut lines = vec![Vec::new(); self.homes()];
        self.home_of_line
            .iter()
            .enumerate()
            .for_each(|(line, home)| lines[*home as usize].push(line));
        lines
    }

    pub(super) fn unresolved(lines: usize) -> Self {
        Grouping { home_of_line: vec![0; lines], confidence: 0.0, resolvable: false }
    }
}

/// Sorts candidate lines by home. Homes are not resolvable with fewer than three PUs, because a
/// single distance cannot be split into offsets, with fewer than two lines, or if only noise
/// distinguishes the lines.
pub fn group_lines(samples: &LineSamples) -> Grouping {
    Features::of(samples)
        .map_or(Grouping::unresolved(samples.lines()), |features| group_by(&features))
}

pub(super) fn group_by(features: &Features) -> Grouping {
    let lines = features.offset_ns.len();
    let unresolved = Grouping::unresolved(lines);
    if lines < 2 || features.offset_ns[0].len() < FEWEST_PUS {
        return unresolved;
    }
    let places = principal::coordinates(&features.offset_ns, features.sigma_ns);
    let directions = places.first().map_or(0, Vec::len);
    if directions == 0 {
        return unresolved;
    }
    let merges = ward(&places);
    let labels = merges.labels(joins(&merges.heights, directions, features.sigma_ns));
    let confidence =
        separation(&places, &labels, features.sigma_ns).min(agreement(features, &labels));
    let homes = sizes(&labels).into_iter().filter(|lines| *lines > 1).count();
    if homes > 1 && confidence >= LEAST_CONFIDENCE {
        let home_of_line = labels.iter().map(|label| *label as u32).collect();
        Grouping { home_of_line, confidence, resolvable: true }
    } else {
        unresolved
    }
}

/// Those below the widest gap in the reach of noise.
///
/// The gap must start where noise may still cost as much, and end above its usual cost. Joining two
/// halves of a home costs more than joining two of its lines, the more lines it has, because the
/// clustering chooses the most different halves; so the reach grows with the lines per home.
fn joins(costs: &[f64], directions: usize, sigma: f64) -> usize {
    let [typical, usual, most] =
        [0.0, USUAL_SIGMAS, MOST_SIGMAS].map(|sigmas| chi_square(directions, sigmas, sigma));
    let lines = costs.len() + 1;
    let inside: Vec<f64> =
        std::iter::once(typical).chain(costs.iter().map(|cost| cost.max(typical))).collect();
    let gaps: Vec<f64> =
        costs.iter().zip(&inside).map(|(outside, inside)| outside / inside).collect();
    let widest = (0..costs.len())
        .filter(|joins| {
            let lines_a_home = lines as f64 / (lines - joins) as f64;
            costs[*joins] > usual
                && inside[*joins] <= most + HALVES * sigma * sigma * (lines_a_home - 1.0)
        })
        .max_by_key(|it| Ordered(gaps[*it]));
    widest.filter(|joins| gaps[*joins] >= LEAST_GAP).unwrap_or(costs.len())
}

/// The highest cost of joining lines of one home, at a probability given in normal standard
/// deviations: over sigma^2 it is chi-square distributed with one degree of freedom per direction
/// (Wilson and Hilferty 1931). The squared distance of two lines is twice the cost.
fn chi_square(directions: usize, sigmas: f64, sigma: f64) -> f64 {
    let freedom = directions as f64;
    let ninth = 2.0 / (9.0 * freedom);
    sigma * sigma * freedom * (1.0 - ninth + sigmas * ninth.sqrt()).powi(3)
}

/// The share of reported pairs that do share a home, from all offsets. With correct homes a known
/// share of the pairs is nearer than the quantile; if several homes were taken for one, fewer are.
fn agreement(features: &Features, labels: &[usize]) -> f64 {
    let lines = &features.offset_ns;
    let freedom = lines.first().map_or(0, Vec::len).saturating_sub(1);
    let limit = 2.0 * chi_square(freedom, CHECKED_SIGMAS, features.sigma_ns);
    let mut near = 0.0;
    let mut all = 0.0;
    for (a, b) in all_pairs(lines.len()).into_iter().filter(|(a, b)| labels[*a] == labels[*b]) {
        near += f64::from(u8::from(squared(&lines[a], &lines[b]) <= limit));
        all += 1.0;
    }
    let open = 2.0 * f64::sqrt(CHECKED * (1.0 - CHECKED) / f64::max(all, 1.0));
    ((near / f64::max(all, 1.0) + open) / CHECKED).min(1.0)
}

/// Noise that reaches half way to another home moves a line there.
fn separation(places: &[Vec<f64>], labels: &[usize], sigma: f64) -> f64 {
    let sizes = sizes(labels);
    let centres: Vec<Vec<f64>> =
        (0..sizes.len()).map(|home| centre(places, labels, home)).collect();
    let directions = centres.first().map_or(0, Vec::len) as f64;
    let mut sure = 0.0;
    let mut all = 0.0;
    for home in 0..sizes.len() {
        let strays = (0..sizes.len()).filter(|other| *other != home).map(|other| {
            // Without the part of the squared distance that noise adds.
            let noise =
                sigma * sigma * directions * (1.0 / sizes[home] as f64 + 1.0 / sizes[other] as f64);
            let apart = (squared(&centres[home], &centres[other]) - noise).max(0.0).sqrt();
            normal_tail(0.5 * apart / sigma.max(f64::MIN_POSITIVE))
        });
        let stays = (1.0 - strays.sum::<f64>()).max(0.0);
        let pairs = (sizes[home] * (sizes[home] - 1)).max(1) as f64;
        sure += pairs * stays.powi(2);
        all += pairs;
    }
    sure / all
}

/// The probability that a standard normal value exceeds x: an upper bound of Birnbaum's kind
/// (Sampford 1953), a few percent too high.
fn normal_tail(x: f64) -> f64 {
    use std::f64::consts::PI;
    (-0.5 * x * x).exp() * (2.0 / PI).sqrt() / (x + (x * x + 8.0 / PI).sqrt())
}

fn centre(places: &[Vec<f64>], labels: &[usize], home: usize) -> Vec<f64> {
    let members: Vec<&Vec<f64>> = places
        .iter()
        .zip(labels)
        .filter(|(_, label)| **label == home)
        .map(|(place, _)| place)
        .collect();
    (0..places.first().map_or(0, Vec::len))
        .map(|at| members.iter().map(|place| place[at]).sum::<f64>() / members.len() as f64)
        .collect()
}

pub(super) fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}
