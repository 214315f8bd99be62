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

type Numbering = fn(u32) -> u32;

fn is_close(model: &HomeModel) -> bool {
    model.r2 >= 0.998
}

fn is_close_by_pairs(model: &HomeModel) -> bool {
    is_close(model) && !model.pair_view_empty
}

fn is_of_stars(model: &HomeModel) -> bool {
    model.star_r2.unwrap() > 0.99 && model.pair_view_empty
}

/// The core and the group of each PU, and what else is known of the fit.
type PublishedMachine = (&'static str, [Numbering; 2], fn(&HomeModel) -> bool);

const MACHINES: [PublishedMachine; 11] = [
    // Complexes of eight cores, the last ones behind a coarse clock.
    ("epyc-7r13-2s-192", [|os| os % 96, |os| os % 96 / 8], is_close),
    ("epyc-9654-2s", [|os| os, |os| os / 8], is_close_by_pairs),
    ("ryzen-5950x-32", [|os| os % 16, |os| os % 16 / 8], is_close),
    ("ryzen-7950x-32-coarse-clock", [|os| os / 2, |os| os / 16], |_| true),
    // Three cores per complex: a star fits anything, so the fit is meaningless.
    ("threadripper-3960x-48", [|os| os % 24, |os| os % 24 / 3], |model| model.star_r2.is_none()),
    // Clusters of four cores.
    ("kunpeng-920-64", [|os| os, |os| os / 4], is_close_by_pairs),
    // Performance cores, and two clusters.
    (
        "core-i9-12900k-24",
        [|os| if os < 16 { os / 2 } else { os }, |os| if os < 16 { 0 } else { os / 4 }],
        |_| true,
    ),
    // Two sockets of stars.
    ("xeon-8375c-2s-128", [|os| os % 64, |os| os % 64 / 32], is_of_stars),
    ("xeon-e5-2695v4-72", [|os| os % 36, |os| os % 36 / 18], is_of_stars),
    ("graviton3-64", [|os| os, |_| 0], |model| !model.pair_view_empty),
    // Tiles of two cores.
    ("xeon-phi-7210-64", [|os| os, |os| os / 2], |_| true),
];

#[test]
fn published_machines_have_their_cores_and_groups() {
    for (name, [core, group], is_as_known) in MACHINES {
        let Some(published) = Published::read(name) else { continue };
        published.assert_siblings(core);
        published.assert_groups(group);
        assert!(is_as_known(&published.model), "{name}");
    }
}
