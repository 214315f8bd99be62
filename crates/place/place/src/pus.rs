//! The PUs that tasks may sit on.

use crate::PlaceError;
use seatmap_machine::nanoseconds::MAX_ROUND_TRIP_NS;
use seatmap_machine::{Matrix, Profile};

/// The PUs that tasks may sit on, by ascending OS index or in the order asked for, and how far apart they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Pus {
    /// OS indices.
    pub os: Vec<u32>,
    /// Round-trip nanoseconds, in the order of `os`; zero on the diagonal.
    pub distance_ns: Matrix,
}

impl Pus {
    /// Those asked for, else all of which the profile knows distances. With `homes`, a pair is as far apart as it is over
    /// a line of the best home for it.
    ///
    /// # Errors
    /// No distances, or not of these PUs.
    pub fn new(profile: &Profile, cpus: Option<&[u32]>, homes: bool) -> Result<Self, PlaceError> {
        let known = profile.core_distance.as_ref().ok_or_else(|| PlaceError::NoDistances(profile.name.clone()))?;
        let mut os = cpus.map_or_else(|| known.pus.clone(), <[u32]>::to_vec);
        if cpus.is_none() {
            os.sort_unstable();
        }
        let rows = os.iter().map(|os| known.index_of(*os).ok_or(PlaceError::NoSuchPu(*os)));
        let rows = rows.collect::<Result<Vec<usize>, _>>()?;
        let cell = |i: usize, j: usize| {
            let measured = known.median_ns[(rows[i], rows[j])];
            if i == j {
                0.0
            } else if homes {
                best_home(profile, rows[i], rows[j]).map_or(measured, |(_, ns)| ns)
            } else {
                measured
            }
        };
        let distance_ns = Matrix::from_fn(os.len(), cell);
        if os.is_empty() {
            return Err(PlaceError::NoDistances(profile.name.clone()));
        }
        let is_distance = |ns: f64| (0.0..=MAX_ROUND_TRIP_NS).contains(&ns);
        let other = distance_ns.pairs().find(|(_, _, ns)| !is_distance(**ns)).map(|(i, j, ns)| (i, j, *ns));
        match other {
            None => Ok(Pus { os, distance_ns }),
            Some((i, j, ns)) if ns.is_nan() => Err(PlaceError::UnknownDistance(os[i], os[j])),
            Some((i, j, ns)) => Err(PlaceError::NoDistance { pus: [os[i], os[j]], ns: format!("{ns:e}") }),
        }
    }

    /// The row of a PU.
    #[must_use]
    pub fn index_of(&self, os: u32) -> Option<usize> {
        self.os.iter().position(|other| *other == os)
    }
}

/// What the home model predicts for two rows and a line of a home, in nanoseconds; `None` for SMT siblings and where it
/// knows nothing.
pub fn predicted(profile: &Profile, i: usize, j: usize, home: usize) -> Option<f64> {
    let (model, known) = (profile.home_model.as_ref()?, profile.core_distance.as_ref()?);
    if profile.topology.are_smt_siblings(known.pus[i], known.pus[j]) {
        return None;
    }
    model.round_trip_ns(&known.pus, i, j, home)
}

/// The home whose lines serve two rows best, and their distance over it.
pub fn best_home(profile: &Profile, i: usize, j: usize) -> Option<(usize, f64)> {
    let homes = profile.home_model.as_ref()?.homes();
    let each = (0..homes).filter_map(|home| Some((home, predicted(profile, i, j, home)?)));
    each.min_by(|a, b| a.1.total_cmp(&b.1))
}
