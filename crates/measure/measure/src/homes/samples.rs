//! Samples of candidate lines.

/// Medians of visits to candidate lines, from a few hubs to all PUs. Round-trip nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineSamples {
    /// All PUs by OS index, in the order of the profile's `core_distance.pus`.
    pub pus: Vec<u32>,
    /// The PUs at the other end, by OS index. Three suffice for noise up to 1.5 ns, six for 2 ns;
    /// with one, the stated noise is used.
    pub hubs: Vec<u32>,
    /// `median_ns[line][hub][pu]`: the median of the visit; NaN for a hub with itself or its SMT
    /// sibling, or if not measured.
    pub median_ns: Vec<Vec<Vec<f64>>>,
    /// The noise of each median: the median absolute deviation between visits, or of the batches
    /// over the square root of their number. Used only with one hub.
    pub noise_ns: Vec<Vec<Vec<f64>>>,
}

impl LineSamples {
    /// Counts candidate lines.
    pub fn lines(&self) -> usize {
        self.median_ns.len()
    }

    /// One median; NaN if not measured.
    pub fn ns(&self, line: usize, hub: usize, pu: usize) -> f64 {
        let hubs = self.median_ns.get(line);
        hubs.and_then(|hubs| hubs.get(hub)?.get(pu).copied()).unwrap_or(f64::NAN)
    }

    /// Each hub's index in `hubs` and its row in `pus`.
    pub fn hub_rows(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.hubs
            .iter()
            .enumerate()
            .filter_map(move |(at, hub)| Some((at, self.pus.iter().position(|pu| pu == hub)?)))
    }
}
