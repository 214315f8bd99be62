//! Reads earlier measurements of this host and keeps new ones.

use super::source::Source;
use seatmap_console::{here, output};
use seatmap_host::remembered;
use seatmap_machine::{CoreDistance, PairStatus, Profile, Wakeups};
use seatmap_measure::change;
use seatmap_os::cpus::Cpus;
use seatmap_os::trusted::{TrustError, TrustedFolder};
use seatmap_os::{CpuList, affinity};
use seatmap_statistics::words::counted;
use std::path::Path;

/// Says what is now far from what was remembered of this host.
pub fn compare(profile: &Profile, source: &Source) {
    let Source::Host { .. } = source else { return };
    let before = match remembered::latest() {
        Ok(before) => before.filter(|before| remembered::of_this_computer(before).is_ok()),
        Err(error) => {
            return output::tell(&format!("not compared with what was measured before: {error}"));
        }
    };
    let Some(before) = before else { return };
    let (Some(then), Some(now)) = (&before.core_distance, &profile.core_distance) else { return };
    let Some(change) = change::change(then, now) else { return };
    let date = before.origin.date.as_deref().unwrap_or("an unknown day");
    output::tell(&format!(
        "not as remembered of {date}: {change}; another load, another place of a virtual machine's CPUs, or another home \
         of the line may be behind it"
    ));
}

/// Keeps the profile of the whole host for `seatmap show host`: of all CPUs that this process runs
/// on unasked. A profile that cannot be kept is not a failure.
pub fn remember(profile: &Profile, source: &Source) {
    let Source::Host { pus, .. } = source else { return };
    if !affinity::current().is_ok_and(|own| own.iter().all(|os| pus.contains(os))) {
        return;
    }
    let Some(path) = here::host_profile() else { return };
    let set_apart = Cpus::read().map(|here| here.set_apart).unwrap_or_default();
    let lost = before_of_this_computer()
        .map(|before| lost(&before, profile, &set_apart))
        .unwrap_or_default();
    if !lost.is_empty() {
        let cpus = CpuList(lost);
        let list = CpuList(profile.topology.os_indices().collect());
        return output::tell(&format!(
            "not remembered: the remembered measurement has {} as well, which the kernel was started to set apart; \
             --cpus {list} measures all",
            cpus.named()
        ));
    }
    match keep(&path, &with_remembered(profile)) {
        Ok(()) => profile
            .core_distance
            .as_ref()
            .and_then(unsteady)
            .iter()
            .for_each(|line| output::tell(line)),
        Err(error) => output::tell(&format!("not remembered: {error}")),
    }
}

fn before_of_this_computer() -> Option<Profile> {
    remembered::latest()
        .ok()
        .flatten()
        .filter(|before| remembered::of_this_computer(before).is_ok())
}

/// The CPUs set apart whose distances are remembered, and that a new profile does not have.
fn lost(before: &Profile, now: &Profile, set_apart: &[u32]) -> Vec<u32> {
    let measured = |profile: &Profile| {
        profile.core_distance.as_ref().map_or_else(Vec::new, |known| known.pus.clone())
    };
    let before = measured(before);
    let now = measured(now);
    set_apart.iter().filter(|cpu| before.contains(cpu) && !now.contains(cpu)).copied().collect()
}

/// The profile with the speeds and wakeups that are remembered of this computer, where it has none
/// of its own: distances are measured more often.
fn with_remembered(profile: &Profile) -> Profile {
    let mut with = profile.clone();
    let Some(before) = before_of_this_computer() else { return with };
    let is_here = |os: &u32| profile.topology.pu(*os).is_some();
    with.speed = with.speed.or(before.speed.filter(|speed| speed.pus.iter().all(is_here)));
    let are_here = |wakeups: &Wakeups| wakeups.pairs.iter().flat_map(|pair| &pair.pus).all(is_here);
    with.wakeups = with.wakeups.or(before.wakeups.filter(are_here));
    with
}

/// Writes safely: no other user can redirect this write into another file or another folder.
fn keep(path: &Path, profile: &Profile) -> Result<(), TrustError> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let name = path.file_name().unwrap_or_default();
    TrustedFolder::create(folder)?.replace(name, profile.to_json().as_bytes())
}

/// A warning for readers of the remembered profile that take one median for each pair; `None` where
/// each pair has one.
fn unsteady(distance: &CoreDistance) -> Option<String> {
    let statuses: Vec<PairStatus> =
        distance.status.pairs().filter_map(|(_, _, status)| *status).collect();
    let unsteady = statuses.iter().filter(|status| **status != PairStatus::Stable).count();
    (unsteady > 0).then(|| {
        format!(
            "remembered as this host, though the distance of {unsteady} of {} is not steady (*, ~ or ! in the table): \
             'seatmap measure --thorough' watches such pairs longer",
            counted(statuses.len(), "pair")
        )
    })
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
        assert_eq!(unsteady(&distance), None);
        distance.status.set_both(0, 1, Some(PairStatus::Unsteady));
        distance.status.set_both(0, 2, Some(PairStatus::Drifting));
        let told = unsteady(&distance).unwrap();
        assert!(
            told.starts_with(
                "remembered as this host, though the distance of 2 of 3 pairs is not steady"
            ),
            "{told}"
        );
    }
}
