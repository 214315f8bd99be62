//! The fits on published matrices of core-to-core-latency.
//!
//! Run with `--nocapture` to see the results.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails as a test does")]

use seatmap_data::machine::{CoreDistance, HomeModel, Topology, import};
use seatmap_measure::fit::{explain, siblings};

struct Published {
    distance: CoreDistance,
    model: HomeModel,
}

impl Published {
    fn read(name: &str) -> Option<Self> {
        let path = seatmap_needs::published(&format!("core-to-core/{name}.csv"))?;
        let bytes = std::fs::read(&path).unwrap();
        let profile = import::read(&bytes, path.to_str().unwrap(), None).unwrap();
        let distance = profile.core_distance.unwrap();
        let model = explain(&distance, &Topology::default()).unwrap();
        let published = Published { distance, model };
        eprintln!("{name}: {}", published.line());
        Some(published)
    }

    fn line(&self) -> String {
        let model = &self.model;
        let mut sizes: Vec<usize> = model.groups.iter().map(Vec::len).collect();
        sizes.dedup();
        let star = model.star_r2.map_or("-".to_owned(), |r2| format!("{r2:.4}"));
        let smt = model.smt_ns.map_or("-".to_owned(), |ns| format!("{ns:.1}"));
        format!(
            "{} groups of {sizes:?} PUs, SMT {smt} ns, R2 {:.5}, residual {:.2} ns, star R2 {star}",
            model.groups.len(),
            model.r2,
            model.residual_ns,
        )
    }

    fn core(&self) -> Vec<usize> {
        siblings::cores(&self.distance, &Topology::default())
    }

    fn assert_groups(&self, expected: impl Fn(u32) -> u32) {
        let mut groups = std::collections::BTreeMap::<u32, Vec<u32>>::new();
        self.distance.pus.iter().for_each(|os| groups.entry(expected(*os)).or_default().push(*os));
        let expected: Vec<Vec<u32>> = groups.into_values().collect();
        assert_eq!(self.model.groups, expected);
    }

    fn assert_siblings(&self, expected: impl Fn(u32) -> u32) {
        let core = self.core();
        for (i, a) in self.distance.pus.iter().enumerate() {
            for (j, b) in self.distance.pus.iter().enumerate() {
                assert_eq!(core[i] == core[j], expected(*a) == expected(*b), "PUs {a} and {b}");
            }
        }
    }
}

#[test]
fn epyc_7r13_has_twelve_complexes_of_eight_cores() {
    let Some(published) = Published::read("epyc-7r13-2s-192") else { return };
    published.assert_siblings(|os| os % 96);
    published.assert_groups(|os| os % 96 / 8);
    assert!(published.model.r2 >= 0.998);
}

#[test]
fn epyc_9654_has_twenty_four_complexes_of_eight_cores() {
    let Some(published) = Published::read("epyc-9654-2s") else { return };
    published.assert_siblings(|os| os);
    published.assert_groups(|os| os / 8);
    assert!(published.model.r2 >= 0.998);
    assert!(!published.model.pair_view_empty);
}

#[test]
fn threadripper_3960x_has_eight_complexes_of_three_cores() {
    let Some(published) = Published::read("threadripper-3960x-48") else { return };
    published.assert_siblings(|os| os % 24);
    published.assert_groups(|os| os % 24 / 3);
    // Three cores per complex: a star fits anything, so the fit is meaningless.
    assert_eq!(published.model.star_r2, None);
}

#[test]
fn kunpeng_920_has_sixteen_clusters_of_four_cores() {
    let Some(published) = Published::read("kunpeng-920-64") else { return };
    published.assert_siblings(|os| os);
    published.assert_groups(|os| os / 4);
    assert!(published.model.r2 >= 0.998);
    assert!(!published.model.pair_view_empty);
}

#[test]
fn ryzen_5950x_has_two_complexes_of_eight_cores() {
    let Some(published) = Published::read("ryzen-5950x-32") else { return };
    published.assert_siblings(|os| os % 16);
    published.assert_groups(|os| os % 16 / 8);
    assert!(published.model.r2 >= 0.998);
}

#[test]
fn coarse_clock_does_not_hide_the_complexes() {
    let Some(published) = Published::read("ryzen-7950x-32-coarse-clock") else { return };
    published.assert_siblings(|os| os / 2);
    published.assert_groups(|os| os / 16);
}

#[test]
fn core_i9_12900k_has_performance_cores_and_two_clusters() {
    let Some(published) = Published::read("core-i9-12900k-24") else { return };
    published.assert_siblings(|os| if os < 16 { os / 2 } else { os });
    published.assert_groups(|os| if os < 16 { 0 } else { os / 4 });
}

#[test]
fn xeon_8375c_is_two_sockets_of_stars() {
    let Some(published) = Published::read("xeon-8375c-2s-128") else { return };
    published.assert_siblings(|os| os % 64);
    published.assert_groups(|os| os % 64 / 32);
    assert!(published.model.star_r2.unwrap() > 0.99 && published.model.pair_view_empty);
}

#[test]
fn xeon_e5_2695v4_is_two_sockets_of_stars() {
    let Some(published) = Published::read("xeon-e5-2695v4-72") else { return };
    published.assert_siblings(|os| os % 36);
    published.assert_groups(|os| os % 36 / 18);
    assert!(published.model.star_r2.unwrap() > 0.99 && published.model.pair_view_empty);
}

#[test]
fn graviton_3_is_one_group() {
    let Some(published) = Published::read("graviton3-64") else { return };
    published.assert_siblings(|os| os);
    published.assert_groups(|_| 0);
    assert!(!published.model.pair_view_empty);
}

#[test]
fn xeon_phi_7210_has_tiles_of_two_cores() {
    let Some(published) = Published::read("xeon-phi-7210-64") else { return };
    published.assert_siblings(|os| os);
    published.assert_groups(|os| os / 2);
}
