//! Earlier measurements of this host: the change since, and the one that is remembered.

use crate::change::{self, Change};
use seatmap_host::remembered::{self, RememberedError};
use seatmap_machine::{CoreDistance, PairStatus, Profile};
use seatmap_os::CpuList;
use seatmap_os::cpus::Cpus;
use seatmap_os::state::host_profile;
use seatmap_os::trusted::{TrustError, TrustedFolder};
use std::path::Path;

/// The difference to the measurement of this host that is remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeSince {
    /// The day of that measurement, where it is known.
    pub date: Option<String>,
    /// The pairs that changed.
    pub change: Change,
}

/// Whether a profile is remembered now as this host's.
#[derive(Debug)]
pub enum Remembrance {
    /// It is. Of some pairs no steady distance is known: so many of so many.
    Kept {
        /// The pairs without a steady distance.
        unsteady: usize,
        /// All pairs.
        pairs: usize,
    },
    /// It is one of a part of this host, or there is no folder for it.
    Unkept,
    /// The remembered one has these CPUs as well, which the kernel was started to set apart.
    Poorer(CpuList),
    /// The file could not be written.
    Failed(TrustError),
}

/// The pairs that are now far from what was remembered of this host; `None` where there are none,
/// or where nothing is remembered.
///
/// # Errors
/// The remembered profile cannot be read.
pub fn change_since(profile: &Profile) -> Result<Option<ChangeSince>, RememberedError> {
    let before = remembered::latest()?;
    let before = before.filter(|before| remembered::of_this_computer(before).is_ok());
    let distances = before
        .as_ref()
        .and_then(|before| before.core_distance.as_ref())
        .zip(profile.core_distance.as_ref());
    let change = distances.and_then(|(then, now)| change::change(then, now));
    let date = before.as_ref().and_then(|before| before.origin.date.clone());
    Ok(change.map(|change| ChangeSince { date, change }))
}

/// Keeps the profile of the whole host for `seatmap show host`: of all CPUs that this process runs
/// on unasked.
#[must_use]
pub fn remember(profile: &Profile, pus: &[u32]) -> Remembrance {
    // Without them nothing says whether these are all CPUs.
    let Ok(here) = Cpus::read() else { return Remembrance::Unkept };
    let path = host_profile().filter(|_| here.allowed.iter().all(|os| pus.contains(os)));
    let Some(path) = path else { return Remembrance::Unkept };
    let before = before_of_this_computer();
    let lost = before.as_ref().map(|before| lost(before, profile, &here.set_apart));
    if let Some(lost) = lost.filter(|lost| !lost.is_empty()) {
        return Remembrance::Poorer(CpuList(lost));
    }
    match keep(&path, &with_remembered(profile, before)) {
        Ok(()) => {
            let (unsteady, pairs) = profile.core_distance.as_ref().map_or((0, 0), unsteady);
            Remembrance::Kept { unsteady, pairs }
        }
        Err(error) => Remembrance::Failed(error),
    }
}

/// The remembered profile, unless it is damaged or another computer's: a new one takes its place.
fn before_of_this_computer() -> Option<Profile> {
    let latest = remembered::latest().ok().flatten();
    latest.filter(|before| remembered::of_this_computer(before).is_ok())
}

/// The CPUs set apart whose distances are remembered, and that a new profile does not have.
fn lost(before: &Profile, now: &Profile, set_apart: &[u32]) -> Vec<u32> {
    let before = measured(before);
    let now = measured(now);
    set_apart.iter().filter(|cpu| before.contains(cpu) && !now.contains(cpu)).copied().collect()
}

fn measured(profile: &Profile) -> &[u32] {
    profile.core_distance.as_ref().map_or(&[], |known| &known.pus)
}

/// The profile with the speeds and wakeups that are remembered of this computer, where it has none
/// of its own: distances are measured more often.
fn with_remembered(profile: &Profile, before: Option<Profile>) -> Profile {
    let mut with = profile.clone();
    let Some(before) = before else { return with };
    let is_here = |os: &u32| profile.topology.pu(*os).is_some();
    with.speed = with.speed.or(before.speed.filter(|speed| speed.pus.iter().all(is_here)));
    with.wakeups = with.wakeups.or(before
        .wakeups
        .filter(|wakeups| wakeups.pairs.iter().flat_map(|pair| &pair.pus).all(is_here)));
    with
}

/// Writes safely: no other user can redirect this write into another file or another folder.
fn keep(path: &Path, profile: &Profile) -> Result<(), TrustError> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let name = path.file_name().unwrap_or_default();
    TrustedFolder::create(folder)?.replace(name, profile.to_json().as_bytes())
}

/// The pairs without a steady distance, which readers of the profile that take one median for each
/// pair should know of; and all pairs.
fn unsteady(distance: &CoreDistance) -> (usize, usize) {
    let statuses: Vec<PairStatus> =
        distance.status.pairs().filter_map(|(_, _, status)| *status).collect();
    let unsteady = statuses.iter().filter(|status| **status != PairStatus::Stable).count();
    (unsteady, statuses.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_machine::{Matrix, Origin, OriginKind, Square, Topology};

    #[test]
    fn a_measurement_without_cpus_set_apart_does_not_replace_one_with_them() {
        let measured = |pus: &[u32]| {
            let origin = Origin {
                kind: OriginKind::Measured,
                source: "test".into(),
                date: None,
                tool: None,
            };
            let mut profile = Profile::new("test", origin, Topology::unknown(0..4));
            profile.core_distance =
                Some(CoreDistance::imported(pus.to_vec(), Matrix::filled(pus.len(), 80.0)));
            profile
        };
        let all = measured(&[0, 1, 2, 3]);
        let usual = measured(&[0, 1]);
        assert_eq!(lost(&all, &usual, &[2, 3]), [2, 3]);
        assert!(lost(&usual, &all, &[2, 3]).is_empty());
        assert!(
            lost(&all, &usual, &[]).is_empty(),
            "CPUs that have gone keep nothing from being remembered"
        );
    }

    #[test]
    fn pairs_without_a_steady_distance_are_counted() {
        let mut distance = CoreDistance::imported(vec![0, 1, 2], Matrix::filled(3, 80.0));
        distance.status = Square::from_fn(3, |i, j| (i != j).then_some(PairStatus::Stable));
        assert_eq!(unsteady(&distance), (0, 3));
        distance.status.set_both(0, 1, Some(PairStatus::Unsteady));
        distance.status.set_both(0, 2, Some(PairStatus::Drifting));
        assert_eq!(unsteady(&distance), (2, 3));
    }
}
