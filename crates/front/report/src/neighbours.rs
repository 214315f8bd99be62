//! Finds the nearest neighbours of a PU.

use seatmap_data::machine::{PairStatus, Profile};

pub struct NearbyPu {
    pub os: u32,
    pub median_ns: f64,
    /// How reliable the distance is.
    pub status: Option<PairStatus>,
}

/// The nearest PUs, then by OS index; `None` if the profile does not contain the PU.
pub fn nearest(profile: &Profile, os: u32, most: usize) -> Option<Vec<NearbyPu>> {
    let distance = profile.core_distance.as_ref()?;
    let row = distance.index_of(os)?;
    let others = (0..distance.pus.len()).filter(|at| *at != row).map(|at| NearbyPu {
        os: distance.pus[at],
        median_ns: distance.median_ns[(row, at)],
        status: distance.status[(row, at)],
    });
    let mut known = Vec::from_iter(others.filter(|other| other.median_ns.is_finite()));
    known.sort_by(|a, b| a.median_ns.total_cmp(&b.median_ns).then(a.os.cmp(&b.os)));
    known.truncate(most);
    Some(known)
}

/// The level in words; empty if unknown.
pub fn shared_level(profile: &Profile, a: u32, b: u32) -> &'static str {
    let (Some(a), Some(b)) = (profile.topology.pu(a), profile.topology.pu(b)) else { return "" };
    let levels = [
        (a.core, b.core, "same core"),
        (a.l2, b.l2, "same L2"),
        (a.l3, b.l3, "same L3"),
        (a.die, b.die, "same die"),
        (a.numa, b.numa, "same NUMA node"),
        (a.package, b.package, "same package"),
    ];
    // Two unknown levels are not a shared one.
    let shared = levels.iter().find(|(of_a, of_b, _)| of_a.is_some() && of_a == of_b);
    // Without packages in the file, the PUs may be in the same one.
    let apart = if a.package.is_some() && b.package.is_some() { "other package" } else { "" };
    shared.map_or(apart, |(_, _, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::two_groups;

    #[test]
    fn nearest_neighbours_skip_unknown_distances() {
        let mut profile = two_groups();
        profile.core_distance.as_mut().unwrap().median_ns.set_both(0, 2, f64::NAN);
        let found = nearest(&profile, 0, 4).unwrap();
        assert_eq!(Vec::from_iter(found.iter().map(|other| other.os)), [1, 3, 4, 5]);
        assert!(nearest(&profile, 99, 4).is_none());
    }

    #[test]
    fn shared_level_is_innermost() {
        let mut profile = two_groups();
        assert_eq!(shared_level(&profile, 0, 1), "same L3");
        assert_eq!(shared_level(&profile, 0, 7), "same NUMA node");
        (profile.topology.pus[7].numa, profile.topology.pus[7].package) = (Some(1), Some(1));
        assert_eq!(shared_level(&profile, 0, 7), "other package");
        assert_eq!(shared_level(&profile, 0, 99), "");
    }
}
