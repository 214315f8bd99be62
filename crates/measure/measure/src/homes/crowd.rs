//! Homes from measurements while all PUs communicate.
//!
//! The offsets of each line are fitted to a low quantile of its round trips, which has almost no
//! delay, and sort the lines.

use super::features::Features;
use super::grouping::{Grouping, group_by};
use super::{principal, set_lines, take};
use crate::fit::block_star::{HomeDistance, fit};
use crate::fit::least_squares::Equation;
use crate::fit::{hubs, linkage, quantile as at_quantile};
use seatmap_data::machine::HomeModel;
use seatmap_data::statistics::{MAD_TO_SIGMA, Ordered, median, quantile};

/// The assumed share of undelayed round trips: one in ten with half of the PUs communicating, on
/// the simulated Xeon Phi.
const UNDISTURBED: f64 = 0.1;
/// The assumed noise is this quantile over the lines; the sorting with the higher confidence wins.
/// Lines of crowded homes are few and noisiest: a low bound splits their home, and a bound raised
/// by a few extreme lines joins homes.
const NOISIEST: [f64; 2] = [0.9, 0.97];
const LEAST_NS: f64 = 0.1;
/// The number of cores whose rows represent a home in the fit of B.
const HUBS: usize = 6;

/// A round trip while others communicate.
#[derive(Clone, Copy)]
pub struct CrowdRoundTrip {
    /// Index of the candidate line.
    pub line: usize,
    /// Rows of the two PUs.
    pub rows: [usize; 2],
    /// Shortest round trip.
    pub ns: f64,
}

/// All round trips and their PUs.
#[derive(Clone, Copy)]
pub struct Crowd<'a> {
    /// PUs, by OS index, in the order of the profile's `core_distance.pus`.
    pub pus: &'a [u32],
    /// Core of each PU, from 0 without gaps.
    pub core: &'a [usize],
    /// Candidate lines.
    pub lines: usize,
    /// Round trips.
    pub talks: &'a [CrowdRoundTrip],
}

/// The common part, then one per core.
type Offsets = Vec<f64>;

impl Crowd<'_> {
    /// Sorts the lines by home and gives the model a column of offsets per home, like
    /// [`super::fit_homes`].
    pub fn fit_homes(&self, model: &mut HomeModel) {
        let group: Option<Vec<usize>> = model.group_of(self.pus).into_iter().collect();
        let group = group.unwrap_or_else(|| vec![0; self.pus.len()]);
        let talks = self.between_groups(model, &group);
        let grouping = self.grouped(&talks);
        if grouping.resolvable {
            let cells = self.cells(model, &talks, &grouping, &group);
            take(model, fit(&group, grouping.homes(), &cells), &group);
        }
        set_lines(model, self.pus, grouping, self.talks.len());
    }

    fn cores(&self) -> usize {
        linkage::count(self.core)
    }

    /// Without pairs inside groups, if there are enough groups: these do not depend on the home.
    fn between_groups(&self, model: &HomeModel, group: &[usize]) -> Vec<Vec<CrowdRoundTrip>> {
        let inside_tells = group.iter().max().is_none_or(|last| *last < 2);
        let mut of_line = vec![Vec::new(); self.lines];
        for talk in self.talks {
            let [a, b] = talk.rows.map(|row| group[row]);
            let base_ns = model.between_ns[(a, b)];
            if base_ns.is_finite() && (a != b || inside_tells) {
                of_line[talk.line].push(CrowdRoundTrip { ns: talk.ns - base_ns, ..*talk });
            }
        }
        of_line
    }

    fn offsets<'t>(&self, talks: impl Iterator<Item = &'t CrowdRoundTrip>) -> Offsets {
        at_quantile::fit(
            &talks
                .map(|talk| {
                    let [a, b] = talk.rows.map(|row| (1 + self.core[row], 1.0));
                    Equation { terms: vec![(0, 1.0), a, b], value: talk.ns, weight: 1.0 }
                })
                .collect::<Vec<_>>(),
            1 + self.cores(),
            1,
            UNDISTURBED,
        )
    }

    /// The noise of lines in crowded homes is larger and decides.
    fn grouped(&self, talks: &[Vec<CrowdRoundTrip>]) -> Grouping {
        let raw: Vec<Vec<f64>> = talks.iter().map(|talks| self.of_cores(talks.iter())).collect();
        let noise: Vec<f64> = talks.iter().filter_map(|talks| self.noise_ns(talks)).collect();
        let sorted = NOISIEST.map(|share| {
            let bound = quantile(&noise, share).unwrap_or(0.0).max(LEAST_NS);
            let (offset_ns, sigma) = principal::cleaned(&raw, bound);
            group_by(&Features { offset_ns, sigma_ns: sigma.max(bound) })
        });
        sorted
            .into_iter()
            .max_by_key(|it| Ordered(it.confidence))
            .unwrap_or_else(|| Grouping::unresolved(raw.len()))
    }

    fn of_cores<'t>(&self, talks: impl Iterator<Item = &'t CrowdRoundTrip>) -> Offsets {
        self.offsets(talks)[1..].to_vec()
    }

    /// Half the difference between the fits of every second round trip and the rest.
    fn noise_ns(&self, talks: &[CrowdRoundTrip]) -> Option<f64> {
        let [one, other] = [0, 1].map(|from| self.of_cores(talks.iter().skip(from).step_by(2)));
        let apart = one.iter().zip(other).map(|(one, other)| (one - other).abs());
        Some(0.5 * MAD_TO_SIGMA * median(apart)?)
    }

    fn cells(
        &self,
        model: &HomeModel,
        talks: &[Vec<CrowdRoundTrip>],
        grouping: &Grouping,
        group: &[usize],
    ) -> Vec<HomeDistance> {
        let hubs = hubs::choose(group, self.core, HUBS.max(model.groups.len()));
        let mut cells = Vec::new();
        for (home, lines) in grouping.lines_of_homes().iter().enumerate() {
            let offsets = self.offsets(lines.iter().flat_map(|line| &talks[*line]));
            let pairs = hubs.iter().flat_map(|i| (0..self.pus.len()).map(move |j| (*i, j)));
            for (i, j) in pairs.filter(|(i, j)| self.core[*i] != self.core[*j]) {
                let [a, b] = [i, j].map(|row| offsets[1 + self.core[row]]);
                let value = model.between_ns[(group[i], group[j])] + offsets[0] + a + b;
                if value.is_finite() {
                    cells.push(HomeDistance { i, j, home, value, weight: lines.len() as f64 });
                }
            }
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::explain;
    use crate::profiles_for_tests::distance;
    use seatmap_data::machine::Topology;

    const CORES: usize = 20;
    const HOMES: usize = 8;
    const LINES: usize = 24;

    /// The cores form a ring with 18 ns per hop.
    fn way(core: usize, home: usize) -> f64 {
        let around = (core * HOMES).abs_diff(home * CORES) % (CORES * HOMES);
        18.0 * around.min(CORES * HOMES - around) as f64 / HOMES as f64
    }

    fn home_of(line: usize) -> usize {
        line * 5 % HOMES
    }

    fn talks(looks: usize, added_ns: f64, seed: u64) -> Vec<CrowdRoundTrip> {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut talk = |line: usize| {
            let pair = rng.choose_multiple(0..CORES, 2);
            let added = if rng.f64() < 0.2 { rng.f64() } else { added_ns * rng.f64() };
            let ns = 300.0 + way(pair[0], home_of(line)) + way(pair[1], home_of(line)) + added;
            CrowdRoundTrip { line, rows: [pair[0], pair[1]], ns }
        };
        (0..LINES * looks * CORES / 2).map(|at| talk(at % LINES)).collect()
    }

    fn fitted(talks: &[CrowdRoundTrip]) -> HomeModel {
        let pus: Vec<u32> = (0..CORES as u32).collect();
        let distance =
            distance(pus.iter().copied(), |i, j| 300.0 + way(i, home_of(0)) + way(j, home_of(0)));
        let mut model = explain(&distance, &Topology::default()).unwrap();
        let core: Vec<usize> = (0..CORES).collect();
        Crowd { pus: &pus, core: &core, lines: LINES, talks }.fit_homes(&mut model);
        model
    }

    #[test]
    fn homes_are_found_by_the_load_of_others() {
        for seed in 0..3 {
            let model = fitted(&talks(30, 250.0, seed));
            let lines = model.lines.unwrap();
            assert!(lines.resolvable && lines.samples == 24 * 300, "{lines:?}");
            for (a, b) in crate::schedule::all_pairs(LINES) {
                let said = lines.home_of_line[a] == lines.home_of_line[b];
                assert_eq!(said, home_of(a) == home_of(b), "lines {a} and {b}, seed {seed}");
            }
            for line in 0..LINES {
                let nearest = lines.nearest_pu[lines.home_of_line[line] as usize] as usize;
                let least =
                    (0..CORES).map(|core| way(core, home_of(line))).fold(f64::INFINITY, f64::min);
                assert!(
                    way(nearest, home_of(line)) <= least + 1.0,
                    "line {line}: {nearest}, seed {seed}"
                );
            }
        }
    }

    #[test]
    fn too_few_samples_are_not_resolvable() {
        let lines = fitted(&talks(2, 2000.0, 1)).lines.unwrap();
        assert_eq!((lines.resolvable, lines.confidence), (false, 0.0));
        assert!(!fitted(&[]).lines.unwrap().resolvable);
    }
}
