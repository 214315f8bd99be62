//! Predicts the profile of a description.

use super::seat::{DescribedPu, seats};
use super::{Home, MachineShape, PairClass, Written};
use crate::machine::{
    CoreDistance, CoreKind, HomeModel, Matrix, Origin, OriginKind, Profile, Topology,
};
use std::collections::BTreeMap;

struct Prediction {
    by_class_ns: [f64; PairClass::ALL.len()],
    home_package: Option<u32>,
    far_offset_ns: f64,
}

impl Prediction {
    fn new(written: &Written) -> Self {
        let home: Option<&Home> = written.home.as_ref();
        Prediction {
            by_class_ns: PairClass::ALL.map(|class| {
                written
                    .distance
                    .get(class)
                    .and_then(|it| it.ns(written.frequency_ghz))
                    .unwrap_or(f64::NAN)
            }),
            home_package: home.map(|home| home.package),
            far_offset_ns: home
                .map(|home| &home.far_offset)
                .and_then(|it| it.ns(written.frequency_ghz))
                .unwrap_or(0.0),
        }
    }

    fn offset_ns(&self, seat: &DescribedPu) -> f64 {
        let far = self.home_package.is_some() && seat.pu.package != self.home_package;
        if far { self.far_offset_ns } else { 0.0 }
    }

    fn distance_ns(&self, a: &DescribedPu, b: &DescribedPu) -> f64 {
        let class = a.class(b);
        let base_ns = self.by_class_ns[class as usize];
        // Threads with a common cache pass a line inside it, without its home.
        if class.consults_home() {
            base_ns + self.offset_ns(a) + self.offset_ns(b)
        } else {
            base_ns
        }
    }
}

pub fn profile(written: &Written) -> Profile {
    let seats = seats(&written.topology);
    let prediction = Prediction::new(written);
    let median_ns = Matrix::from_fn(seats.len(), |i, j| {
        if i == j { 0.0 } else { prediction.distance_ns(&seats[i], &seats[j]) }
    });
    let home_model = home_model(&seats, &written.topology, &prediction);

    let topology = Topology { pus: seats.into_iter().map(|seat| seat.pu).collect() };
    let pus = topology.os_indices().collect();
    let origin = Origin {
        kind: OriginKind::Model,
        source: written.sources.join("; "),
        date: None,
        tool: None,
    };
    let mut profile = Profile::new(&written.name, origin, topology);
    profile.core_distance = Some(CoreDistance::imported(pus, median_ns));
    profile.home_model = Some(home_model);
    profile.speed = written.speed.as_ref().map(|speed| speed.of_pus(&profile.topology.pus));
    profile
}

/// The home model with the described home. Its offsets are part of `between_ns`, because they count
/// only between groups; the model's own would also count inside.
fn home_model(seats: &[DescribedPu], shape: &MachineShape, prediction: &Prediction) -> HomeModel {
    let groups = groups(seats, shape);
    HomeModel {
        between_ns: Matrix::from_fn(groups.len(), |g, h| {
            match representative_pair(&groups[g], &groups[h], g == h) {
                Some((a, b)) => prediction.distance_ns(a, b),
                None => f64::NAN,
            }
        }),
        inside_ns: None,
        offset_ns: vec![vec![0.0]; seats.len()],
        // The model is the formula that made the distances, so it fits them exactly.
        r2: 1.0,
        residual_ns: 0.0,
        pair_view_empty: false,
        star_r2: None,
        smt_ns: Some(prediction.by_class_ns[PairClass::Smt as usize]).filter(|ns| ns.is_finite()),
        lines: None,
        groups: groups.iter().map(|group| group.iter().map(|seat| seat.pu.os).collect()).collect(),
    }
}

/// Seats by the innermost level of several cores: the cluster if any, else the L3.
fn groups<'a>(seats: &'a [DescribedPu], shape: &MachineShape) -> Vec<Vec<&'a DescribedPu>> {
    let clustered = shape.has(PairClass::SameCluster);
    let mut groups = BTreeMap::<_, Vec<&DescribedPu>>::new();
    for seat in seats {
        let performance = seat.pu.kind == Some(CoreKind::Performance);
        // Performance cores are alone in their clusters, so a group for each would be useless.
        let cluster = (clustered && !performance).then_some(seat.cluster);
        groups.entry((seat.pu.l3, !performance, cluster)).or_default().push(seat);
    }
    groups.into_values().collect()
}

/// Two seats of different cores, one of each group; all such pairs have the same distance.
fn representative_pair<'a>(
    from: &[&'a DescribedPu],
    to: &[&'a DescribedPu],
    same: bool,
) -> Option<(&'a DescribedPu, &'a DescribedPu)> {
    let a = *from.first()?;
    let b = to.iter().find(|b| !same || b.pu.core != a.pu.core)?;
    Some((a, b))
}

#[cfg(test)]
mod tests {
    use super::super::Description;
    use super::super::tests::{dual, figure};
    use super::*;

    fn dual_epyc() -> Profile {
        let distance =
            figure("same_l3", 45.0) + &figure("same_die", 215.0) + &figure("other_package", 300.0);
        let home = format!("[home]\npackage = 1\n{}", figure("far_offset", 90.0));
        let text = dual("l3_per_die = 2\ncores_per_l3 = 2", &distance, &home);
        Description::from_toml(&text).unwrap().to_profile()
    }

    #[test]
    fn far_socket_is_slow_only_between_caches() {
        let profile = dual_epyc();
        profile.check().unwrap();
        let median_ns = profile.core_distance.unwrap().median_ns;
        assert_eq!(median_ns.row(0), [0.0, 45.0, 395.0, 395.0, 390.0, 390.0, 390.0, 390.0]);
        assert_eq!(median_ns.row(4), [390.0, 390.0, 390.0, 390.0, 0.0, 45.0, 215.0, 215.0]);
    }

    #[test]
    fn home_model_explains_every_pair() {
        let profile = dual_epyc();
        let distance = profile.core_distance.unwrap();
        let model = profile.home_model.unwrap();
        assert_eq!(model.groups, [[0, 1], [2, 3], [4, 5], [6, 7]]);
        let group = model.group_of(&distance.pus);
        for (i, j, ns) in distance.median_ns.pairs() {
            let between_ns = model.between_ns[(group[i].unwrap(), group[j].unwrap())];
            assert_eq!(*ns, between_ns + model.offset_ns[i][0] + model.offset_ns[j][0]);
        }
    }

    #[test]
    fn cycles_become_nanoseconds() {
        let distance = figure("other_package", 1200.0).replace("_ns", "_cycles");
        let text = format!("frequency_ghz = 2.0\n{}", dual("cores_per_l3 = 1", &distance, ""));
        let profile = Description::from_toml(&text).unwrap().to_profile();
        assert_eq!(profile.core_distance.unwrap().median_ns[(0, 1)], 600.0);
        let between_ns = profile.home_model.unwrap().between_ns;
        assert!(between_ns[(0, 0)].is_nan() && between_ns[(0, 1)] == 600.0);
    }

    #[test]
    fn home_groups_follow_clusters_if_present() {
        let groups = |name| crate::machine::catalog::load(name).unwrap().home_model.unwrap().groups;
        assert_eq!(groups("kunpeng-920")[1], [4, 5, 6, 7]);
        assert_eq!(groups("kunpeng-920").len(), 16);
        let sizes: Vec<usize> = groups("core-i9-12900k").iter().map(Vec::len).collect();
        assert_eq!(sizes, [16, 4, 4]);
        assert_eq!(
            groups("epyc-7r13-2s")[0],
            [0, 1, 2, 3, 4, 5, 6, 7, 96, 97, 98, 99, 100, 101, 102, 103]
        );
    }

    #[test]
    fn home_model_keeps_sibling_distance_separate() {
        let model = |name| crate::machine::catalog::load(name).unwrap().home_model.unwrap();
        assert_eq!(model("xeon-8375c-2s").smt_ns, Some(16.1));
        assert_eq!(model("xeon-8375c-2s").between_ns[(0, 0)], 102.5);
        assert_eq!(model("graviton3").smt_ns, None);
    }
}
