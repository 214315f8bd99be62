//! The usable PUs.

use crate::{PlaceError, no_distances};
use seatmap_data::machine::nanoseconds::MAX_ROUND_TRIP_NS;
use seatmap_data::machine::topology::place_of;
use seatmap_data::machine::{HomeModel, Matrix, Profile};
use seatmap_data::statistics::Ordered;

/// The usable PUs, by OS index or in the requested order.
#[derive(Clone, Debug, PartialEq)]
pub struct Pus {
    /// OS indices.
    pub os: Vec<u32>,
    /// Round-trip nanoseconds; zero on the diagonal.
    pub distance_ns: Matrix,
    /// The round trip of two wakeups, on the diagonal for two tasks on one PU. `None` if tasks
    /// spin.
    pub wakeup_ns: Option<Matrix>,
}

impl Pus {
    /// The requested PUs, or all with known distances. With `homes`, distances are over lines of
    /// the best home.
    ///
    /// # Errors
    /// The profile has no distances, or none for these PUs.
    pub fn new(profile: &Profile, cpus: Option<&[u32]>, homes: bool) -> Result<Self, PlaceError> {
        let known = profile.core_distance.as_ref().ok_or_else(|| no_distances(profile))?;
        let mut os = cpus.map_or_else(|| known.pus.clone(), <[u32]>::to_vec);
        if cpus.is_none() {
            os.sort_unstable();
        }
        let rows = os.iter().map(|os| known.index_of(*os).ok_or(PlaceError::NoSuchPu(*os)));
        let rows = rows.collect::<Result<Vec<usize>, _>>()?;
        let predictions = Predictions::new(profile).filter(|_| homes);
        let distance_ns = Matrix::from_fn(os.len(), |i, j| {
            if i == j {
                return 0.0;
            }
            predictions
                .as_ref()
                .and_then(|all| all.best_home(rows[i], rows[j]))
                .map_or(known.median_ns[(rows[i], rows[j])], |(_, ns)| ns)
        });
        if os.is_empty() {
            return Err(no_distances(profile));
        }
        // NaN fails this test too.
        let other = distance_ns
            .pairs()
            .find(|(_, _, ns)| !(0.0..=MAX_ROUND_TRIP_NS).contains(*ns))
            .map(|(i, j, ns)| (i, j, *ns));
        match other {
            None => Ok(Pus { os, distance_ns, wakeup_ns: None }),
            Some((i, j, ns)) => {
                let [a, b] = [os[i], os[j]];
                Err(PlaceError::Unfit(if ns.is_nan() {
                    format!(
                        "the distance between PUs {a} and {b} is unknown; use at most one of them"
                    )
                } else {
                    format!(
                        "PUs {a} and {b} are {ns:e} ns apart; a distance must be 0 to \
                         {MAX_ROUND_TRIP_NS:e} ns"
                    )
                }))
            }
        }
    }

    pub(crate) fn woken(self, profile: &Profile) -> Self {
        let wakeups = profile.wakeups.as_ref();
        let wakeup_ns =
            wakeups.and_then(|wakeups| wakeups.round_trips_ns(&profile.topology, &self.os));
        Pus { wakeup_ns, ..self }
    }

    /// The round trip of a message between two different PUs.
    pub fn message_ns(&self, i: usize, j: usize) -> f64 {
        self.wakeup_ns.as_ref().unwrap_or(&self.distance_ns)[(i, j)]
    }

    /// The row of a PU.
    pub fn index_of(&self, os: u32) -> Option<usize> {
        place_of(&self.os, os, |other| *other)
    }

    pub(crate) fn rows(&self, placement: &[u32]) -> Result<Vec<usize>, PlaceError> {
        placement.iter().map(|os| self.index_of(*os).ok_or(PlaceError::NoSuchPu(*os))).collect()
    }

    pub(crate) fn os_of(&self, rows: &[usize]) -> Vec<u32> {
        rows.iter().map(|row| self.os[*row]).collect()
    }
}

/// A home model's predicted round trips between rows of PUs.
#[derive(Debug)]
pub struct Predictions<'a> {
    model: &'a HomeModel,
    group: Vec<Option<usize>>,
    core: Vec<Option<u32>>,
}

impl<'a> Predictions<'a> {
    /// `None` if the profile has no home model.
    pub fn new(profile: &'a Profile) -> Option<Self> {
        let model = profile.home_model.as_ref()?;
        let known = profile.core_distance.as_ref()?;
        Some(Predictions {
            model,
            group: model.group_of(&known.pus),
            core: known.pus.iter().map(|os| profile.topology.pu(*os)?.core).collect(),
        })
    }

    /// The round trip over a line of a home; `None` for SMT siblings.
    pub fn round_trip_ns(&self, i: usize, j: usize, home: usize) -> Option<f64> {
        // SMT siblings share the innermost cache: their line does not pass its home.
        let are_siblings = i != j && self.core[i].is_some() && self.core[i] == self.core[j];
        let groups = [self.group[i]?, self.group[j]?];
        self.model.of_groups_ns(groups, [i, j], home).filter(|_| !are_siblings)
    }

    /// The known round trips over each home.
    pub fn each_home(&self, i: usize, j: usize) -> impl Iterator<Item = (usize, f64)> {
        (0..self.model.homes())
            .filter_map(move |home| Some((home, self.round_trip_ns(i, j, home)?)))
    }

    /// The best home for two rows, and the round trip.
    pub fn best_home(&self, i: usize, j: usize) -> Option<(usize, f64)> {
        self.each_home(i, j).min_by_key(|(_, ns)| Ordered(*ns))
    }
}
