//! Earlier measurements of this host.

use crate::change;
use seatmap_data::machine::{CoreDistance, PairStatus, Profile};
use seatmap_data::statistics::words::counted;
use seatmap_machines::host::remembered;
use seatmap_os::CpuList;
use seatmap_os::cpus::Cpus;
use seatmap_os::state::host_profile;
use seatmap_os::trusted::{TrustError, TrustedFolder};
use std::path::Path;

/// Whether a profile is remembered as this host's.
pub enum Remembrance {
    /// It is remembered, though some pairs have no steady distance.
    Kept {
        /// Pairs without a steady distance.
        unsteady: usize,
        /// Pairs.
        pairs: usize,
    },
    /// It covers only a part of this host.
    Unkept,
    /// Neither XDG_STATE_HOME nor HOME is set.
    Homeless,
    /// The remembered profile also has CPUs set apart at boot.
    Poorer {
        /// These CPUs.
        lost: CpuList,
        /// CPUs of this host.
        all: CpuList,
    },
    /// The file could not be written.
    Failed(TrustError),
}

impl Remembrance {
    /// A sentence for the user, if needed.
    pub fn remark(&self) -> Option<String> {
        match self {
            Remembrance::Unkept | Remembrance::Kept { unsteady: 0, .. } => None,
            Remembrance::Kept { unsteady, pairs } => Some(format!(
                "remembered as this host, but the distance of {unsteady} of {} is not steady \
                 (*, ~ or ! in the table): 'seatmap measure --thorough' measures such pairs longer",
                counted(*pairs, "pair")
            )),
            Remembrance::Poorer { lost, all } => Some(format!(
                "not remembered: the remembered measurement also has {}, isolated at boot; \
                 --cpus {all} measures all",
                lost.named()
            )),
            Remembrance::Homeless => Some(
                "not remembered: neither XDG_STATE_HOME nor HOME is set; save it with -o FILE"
                    .to_owned(),
            ),
            Remembrance::Failed(error) => Some(format!("not remembered: {error}")),
        }
    }
}

/// A sentence about pairs that differ from the remembered profile, or about a failed comparison.
pub fn remark_on_change(profile: &Profile) -> Option<String> {
    match remembered::latest() {
        Ok(before) => change_since(&of_this_computer(before)?, profile),
        Err(error) => Some(format!("not compared with the previous measurement: {error}")),
    }
}

fn change_since(before: &Profile, now: &Profile) -> Option<String> {
    let change = change::change(before.core_distance.as_ref()?, now.core_distance.as_ref()?)?;
    let day = before.origin.date.as_deref().unwrap_or("an unknown day");
    Some(format!(
        "differs from the measurement of {day}: {change}; possible causes: another load, moved \
         virtual CPUs, another home of the line"
    ))
}

fn of_this_computer(before: Option<Profile>) -> Option<Profile> {
    before.filter(|before| remembered::of_this_computer(before).is_ok())
}

/// Remembers a profile of the whole host for `seatmap show host`: of all CPUs on which this process
/// runs by default.
pub fn remember(profile: &Profile, pus: &[u32]) -> Remembrance {
    let Ok(here) = Cpus::read() else { return Remembrance::Unkept };
    if !here.allowed.iter().all(|os| pus.contains(os)) {
        return Remembrance::Unkept;
    }
    let Some(path) = host_profile() else { return Remembrance::Homeless };
    let before = remembered::latest().ok().and_then(of_this_computer);
    let lost = before.as_ref().map(|before| lost(before, profile, &here.set_apart));
    if let Some(lost) = lost.filter(|lost| !lost.is_empty()) {
        let all = CpuList(profile.topology.os_indices().collect());
        return Remembrance::Poorer { lost: CpuList(lost), all };
    }
    match keep(&path, &with_remembered(profile, before)) {
        Ok(()) => {
            let (unsteady, pairs) = profile.core_distance.as_ref().map_or((0, 0), unsteady);
            Remembrance::Kept { unsteady, pairs }
        }
        Err(error) => Remembrance::Failed(error),
    }
}

fn lost(before: &Profile, now: &Profile, set_apart: &[u32]) -> Vec<u32> {
    let before = measured(before);
    let now = measured(now);
    set_apart.iter().filter(|cpu| before.contains(cpu) && !now.contains(cpu)).copied().collect()
}

fn measured(profile: &Profile) -> &[u32] {
    profile.core_distance.as_ref().map_or(&[], |known| &known.pus)
}

/// Adds remembered speeds, wakeups and bandwidth, because distances are measured more often.
fn with_remembered(profile: &Profile, before: Option<Profile>) -> Profile {
    let mut with = profile.clone();
    let Some(before) = before else { return with };
    let is_here = |os: &u32| profile.topology.pu(*os).is_some();
    with.speed = with.speed.or(before.speed.filter(|speed| speed.pus.iter().all(is_here)));
    with.wakeups = with.wakeups.or(before
        .wakeups
        .filter(|wakeups| wakeups.pairs.iter().flat_map(|pair| &pair.pus).all(is_here)));
    with.bandwidth = with.bandwidth.or(before
        .bandwidth
        .filter(|bandwidth| bandwidth.groups.iter().flat_map(|group| &group.pus).all(is_here)));
    with
}

/// Other users cannot redirect this write.
fn keep(path: &Path, profile: &Profile) -> Result<(), TrustError> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let name = path.file_name().unwrap_or_default();
    TrustedFolder::create(folder)?.replace(name, profile.to_json().as_bytes())
}

fn unsteady(distance: &CoreDistance) -> (usize, usize) {
    let statuses: Vec<PairStatus> =
        distance.status.pairs().filter_map(|(_, _, status)| *status).collect();
    let unsteady = statuses.iter().filter(|status| **status != PairStatus::Stable).count();
    (unsteady, statuses.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profiles_for_tests::{bare, distance};
    use seatmap_data::machine::{Square, Topology};

    fn measured(pus: &[u32], distance_ns: f64) -> Profile {
        let core_distance = Some(distance(pus.iter().copied(), |_, _| distance_ns));
        Profile { core_distance, ..bare(Topology::unknown(0..4)) }
    }

    #[test]
    fn measurement_without_reserved_cpus_replaces_none_with_them() {
        let all = measured(&[0, 1, 2, 3], 80.0);
        let usual = measured(&[0, 1], 80.0);
        assert_eq!(lost(&all, &usual, &[2, 3]), [2, 3]);
        assert!(lost(&usual, &all, &[2, 3]).is_empty());
        assert!(
            lost(&all, &usual, &[]).is_empty(),
            "CPUs that have gone keep nothing from being remembered"
        );
    }

    #[test]
    fn remark_names_the_command() {
        assert_eq!(Remembrance::Kept { unsteady: 0, pairs: 3 }.remark(), None);
        let unsteady = Remembrance::Kept { unsteady: 2, pairs: 3 }.remark().unwrap();
        assert!(unsteady.contains("of 2 of 3 pairs is not steady"), "{unsteady}");
        let lost = CpuList(vec![2, 3]);
        let all = CpuList(vec![0, 1, 2, 3]);
        let poorer = Remembrance::Poorer { lost, all }.remark().unwrap();
        assert!(poorer.contains("also has CPUs 2,3, isolated at boot"), "{poorer}");
        assert!(poorer.ends_with("--cpus 0-3 measures all"), "{poorer}");
    }

    #[test]
    fn change_names_the_day() {
        let before = measured(&[0, 1], 80.0);
        let change = change_since(&before, &measured(&[0, 1], 300.0)).unwrap();
        assert!(
            change.starts_with("differs from the measurement of an unknown day: CPUs 0"),
            "{change}"
        );
        assert_eq!(change_since(&before, &before), None);
    }

    #[test]
    fn unsteady_pairs_are_counted() {
        let mut distance = distance(0..3, |_, _| 80.0);
        distance.status = Square::from_fn(3, |i, j| (i != j).then_some(PairStatus::Stable));
        assert_eq!(unsteady(&distance), (0, 3));
        distance.status.set_both(0, 1, Some(PairStatus::Unsteady));
        distance.status.set_both(0, 2, Some(PairStatus::Drifting));
        assert_eq!(unsteady(&distance), (2, 3));
    }
}
