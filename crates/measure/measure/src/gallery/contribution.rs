//! Whether a profile may be published in the gallery.

use seatmap_data::machine::{OriginKind, PairStatus, Profile, SharedProfile};

/// Above it, round trips often include another computer's work; [`PairStatus`] reveals only part of
/// these.
const MOST_STEAL_PERCENT: f64 = 5.0;

/// A reason not to publish a profile.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum ContributionFault {
    /// The profile names a person or a host.
    #[error(
        "it contains {0}; write it with 'seatmap measure --share FILE', which omits such names"
    )]
    Names(&'static str),
    /// The figures were not measured.
    #[error("its figures were not measured by Seatmap: the origin is '{0}'")]
    NotMeasured(&'static str),
    /// The profile has no distances.
    #[error("it has no core distances")]
    NoDistances,
    /// A pair has no distance.
    #[error("the distance between CPUs {} and {} is missing; measure all pairs", .0[0], .0[1])]
    Missing([u32; 2]),
    /// Two CPUs ran on one.
    #[error("CPUs {} and {} ran on one CPU of the hypervisor; measure again", .0[0], .0[1])]
    Stacked([u32; 2]),
    /// The clock was too coarse.
    #[error("the clock was too coarse for its distances")]
    CoarseClock,
    /// A hypervisor took CPU time.
    #[error(
        "the hypervisor took {0:.1} % of the CPU time (limit: {MOST_STEAL_PERCENT} %); measure \
         again"
    )]
    Steal(f64),
}

/// The reasons not to publish a profile.
pub fn faults(profile: &Profile) -> Vec<ContributionFault> {
    let mut faults: Vec<ContributionFault> =
        SharedProfile::names_in(profile).into_iter().map(ContributionFault::Names).collect();
    if profile.origin.kind != OriginKind::Measured {
        faults.push(ContributionFault::NotMeasured(profile.origin.kind.word()));
    }
    if profile.clock.quantised {
        faults.push(ContributionFault::CoarseClock);
    }
    let steal = profile.environment.steal_percent;
    faults.extend(
        steal.filter(|percent| *percent > MOST_STEAL_PERCENT).map(ContributionFault::Steal),
    );
    match &profile.core_distance {
        None => faults.push(ContributionFault::NoDistances),
        Some(distance) => {
            let pus = |i: usize, j: usize| [distance.pus[i], distance.pus[j]];
            let mut medians = distance.median_ns.pairs();
            let missing = medians.find(|(_, _, ns)| !(ns.is_finite() && **ns > 0.0));
            faults.extend(missing.map(|(i, j, _)| ContributionFault::Missing(pus(i, j))));
            let mut pairs = distance.status.pairs();
            let stacked = pairs.find(|(_, _, status)| **status == Some(PairStatus::Stacked));
            faults.extend(stacked.map(|(i, j, _)| ContributionFault::Stacked(pus(i, j))));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::machine::catalog;

    fn sound() -> Profile {
        let mut profile = catalog::load("graviton3").unwrap();
        profile.environment.cpu_model = Some("Neoverse-V1".to_owned());
        profile.origin.kind = OriginKind::Measured;
        SharedProfile::of(&profile).profile
    }

    #[test]
    fn shared_measurement_is_accepted() {
        assert_eq!(faults(&sound()), []);
    }

    #[test]
    fn each_fault_is_found() {
        for (change, words) in [
            (
                (|profile| profile.name = "alice-laptop".to_owned()) as fn(&mut Profile),
                "the host's name",
            ),
            (|profile| profile.origin.source = "host alice".to_owned(), "the host's name"),
            (
                |profile| profile.environment.kernel = Some("6.1-alice".to_owned()),
                "the suffix of the kernel",
            ),
            (
                |profile| profile.environment.quota = Some("1 CPU by /alice".to_owned()),
                "the control group",
            ),
            (|profile| profile.origin.kind = OriginKind::Model, "were not measured"),
            (|profile| profile.core_distance = None, "no core distances"),
            (|profile| profile.clock.quantised = true, "too coarse"),
            (|profile| profile.environment.steal_percent = Some(30.0), "took 30.0 %"),
            (
                |profile| {
                    let distance = profile.core_distance.as_mut().unwrap();
                    distance.median_ns.set_both(0, 1, f64::NAN);
                },
                "CPUs 0 and 1 is missing",
            ),
            (
                |profile| {
                    let distance = profile.core_distance.as_mut().unwrap();
                    distance.status.set_both(0, 1, Some(PairStatus::Stacked));
                },
                "ran on one CPU",
            ),
        ] {
            let mut profile = sound();
            change(&mut profile);
            let found: Vec<String> = faults(&profile).iter().map(ToString::to_string).collect();
            let found = found.join("; ");
            assert!(found.contains(words), "'{words}' in '{found}'");
        }
    }
}
