//! Round trips on a mesh.

use super::{AddressHash, Mesh};
use fastrand::Rng;
use seatmap_data::statistics::normal;
use seatmap_measure::probe::{Discards, PairAt, Probe, Visit, VisitBatches};

/// The round trip of two PUs on the home's tile.
const BASE_NS: f64 = 60.0;
/// On the published Xeon 8375C the offsets scatter by 5.4 ns, and positions on such a mesh by two
/// hops.
const HOP_NS: f64 = 2.5;
const LINES_A_PAGE: u64 = 64;
const PAGE_BYTES: u64 = 4096;
/// 256 GiB, for which the published masks are valid.
const PAGES: u64 = 1 << 26;

/// The noise of round trips: normal standard deviations in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProbeNoise {
    /// Part common to all batches of a visit.
    pub visit_ns: f64,
    /// Part of each batch.
    pub batch_ns: f64,
}

/// The mesh lacks a PU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the mesh has no PU {0}")]
pub struct UnknownPu(pub u32);

/// A machine with one PU per tile. A round trip costs base + hop x (hops from both PUs to the
/// line's home) + noise. Candidate lines fill pages at random addresses, like those of a process.
#[derive(Clone, Debug)]
pub struct MeshProbe {
    hash: AddressHash,
    mesh: Mesh,
    noise: ProbeNoise,
    rng: Rng,
    seed: u64,
}

impl MeshProbe {
    /// `hash` spreads slices over the tiles of `mesh`; surplus slices start again at the first
    /// tile. The seed determines pages and noise.
    pub fn new(hash: AddressHash, mesh: Mesh, noise: ProbeNoise, seed: u64) -> Self {
        MeshProbe { hash, mesh, noise, rng: Rng::with_seed(seed), seed }
    }

    /// The PUs of the mesh.
    pub fn pus(&self) -> Vec<u32> {
        (0..self.mesh.tiles() as u32).collect()
    }

    /// The true home tile of a candidate line.
    pub fn home(&self, line: u32) -> usize {
        // From the page's number, so the order of calls does not matter.
        let page = Rng::with_seed(self.seed ^ (u64::from(line) / LINES_A_PAGE)).u64(..PAGES);
        let address =
            page * PAGE_BYTES + PAGE_BYTES / LINES_A_PAGE * (u64::from(line) % LINES_A_PAGE);
        self.hash.slice(address) as usize % self.mesh.tiles().max(1)
    }

    /// The round trip without noise, in nanoseconds.
    ///
    /// # Errors
    /// [`UnknownPu`].
    pub fn exact_ns(&self, pair: PairAt) -> Result<f64, UnknownPu> {
        let home = self.home(pair.line);
        let [a, b] = [pair.a, pair.b]
            .map(|pu| self.mesh.hops(pu as usize, home).map(f64::from).ok_or(UnknownPu(pu)));
        Ok(BASE_NS + HOP_NS * (a? + b?))
    }

    fn batches(&mut self, pair: PairAt, batches: u32) -> Result<VisitBatches, UnknownPu> {
        let level_ns = self.exact_ns(pair)? + self.noise.visit_ns * normal(&mut self.rng);
        Ok(VisitBatches {
            round_trip_ns: (0..batches)
                .map(|_| level_ns + self.noise.batch_ns * normal(&mut self.rng))
                .collect(),
            discards: Discards::default(),
        })
    }
}

impl Probe for MeshProbe {
    type Error = UnknownPu;

    fn visit(&mut self, visit: &Visit) -> Result<Vec<VisitBatches>, UnknownPu> {
        visit.pairs.iter().map(|pair| self.batches(*pair, visit.batches)).collect()
    }

    fn clock_step_ns(&self) -> f64 {
        1.0
    }

    fn lines(&self) -> u32 {
        u32::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::statistics::median;

    fn probe(noise: ProbeNoise) -> MeshProbe {
        let hash = AddressHash::new((0..4).collect(), vec![]).unwrap();
        MeshProbe::new(hash, Mesh::new(2, 2, &[]), noise, 7)
    }

    #[test]
    fn visit_costs_the_route_to_the_home() {
        let probe = probe(ProbeNoise { visit_ns: 0.0, batch_ns: 0.0 });
        assert_eq!((0..4).map(|line| probe.home(line)).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(probe.exact_ns(PairAt { a: 0, b: 3, line: 0 }), Ok(BASE_NS + 2.0 * HOP_NS));
        assert_eq!(probe.exact_ns(PairAt { a: 0, b: 4, line: 0 }), Err(UnknownPu(4)));
    }

    #[test]
    fn batches_scatter_by_the_given_noise() {
        let mut probe = probe(ProbeNoise { visit_ns: 0.0, batch_ns: 2.0 });
        let pairs = vec![PairAt { a: 0, b: 1, line: 0 }];
        let brought = probe.visit(&Visit { pairs, batches: 999, round_trips: 100 }).unwrap();
        let off = brought[0]
            .round_trip_ns
            .iter()
            .map(|ns| (ns - BASE_NS - HOP_NS).abs())
            .collect::<Vec<_>>();
        assert!((median(&off).unwrap() - 2.0 * 0.6745).abs() < 0.2);
    }
}
