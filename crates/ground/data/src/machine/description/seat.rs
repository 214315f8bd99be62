//! The hardware threads of a described machine.

use super::{MachineShape, Numbering, PairClass};
use crate::machine::{CoreKind, Pu};
use std::num::NonZeroU64;

/// One hardware thread. `Pu` has no clusters without a cache, so the cluster is separate.
#[derive(Clone, Debug)]
pub struct DescribedPu {
    pub pu: Pu,
    /// Cluster, by its first core.
    pub cluster: u32,
}

impl DescribedPu {
    /// The distance class of two different seats: the smallest common part.
    pub fn class(&self, other: &DescribedPu) -> PairClass {
        let a = &self.pu;
        let b = &other.pu;
        // From the largest part inwards: the first difference determines the class.
        match () {
            () if a.package != b.package => PairClass::OtherPackage,
            () if a.die != b.die => PairClass::SamePackage,
            () if a.l3 != b.l3 => PairClass::SameDie,
            () if a.core == b.core => PairClass::Smt,
            () if a.kind != b.kind => PairClass::MixedKinds,
            () if self.cluster == other.cluster => PairClass::SameCluster,
            () if a.kind == Some(CoreKind::Efficiency) => PairClass::EfficiencyClusters,
            () => PairClass::SameL3,
        }
    }
}

pub fn seats(shape: &MachineShape) -> Vec<DescribedPu> {
    let cores = shape.l3_total() * shape.all_cores_per_l3();
    let mut seats: Vec<DescribedPu> = (0..cores).flat_map(|core| threads(shape, core)).collect();
    if shape.numbering == Numbering::ThreadsLast {
        // A stable sort: first threads of all cores in order, then the second ones, as Linux on x86
        // numbers them.
        seats.sort_by_key(|seat| seat.pu.smt);
    }
    for (os, seat) in (0..).zip(&mut seats) {
        seat.pu.os = os;
    }
    seats
}

fn threads(shape: &MachineShape, core: u32) -> impl Iterator<Item = DescribedPu> + use<> {
    let l3 = core / shape.all_cores_per_l3();
    let slot = core % shape.all_cores_per_l3();
    let performance = shape.cores_per_l3.get();
    let (kind, into_cluster, shares_l2, threads) = match &shape.hybrid {
        Some(hybrid) if slot >= performance => {
            let into_cluster = (slot - performance) % hybrid.efficiency_cores_per_cluster;
            (Some(CoreKind::Efficiency), into_cluster, true, 1)
        }
        Some(_) => (Some(CoreKind::Performance), 0, false, shape.threads_per_core.get()),
        None => {
            let into_cluster = slot % shape.cores_per_cluster;
            (None, into_cluster, shape.clusters_share_l2, shape.threads_per_core.get())
        }
    };
    // A cluster has its first core's number, which no other can have.
    let cluster = core - into_cluster;
    let die = l3 / shape.l3_per_die;
    let cores_per_node = shape.cores_per_package() / shape.numa_nodes_per_package;
    let [l1d_bytes, l1i_bytes, l2_bytes] = match (&shape.hybrid, kind) {
        (Some(hybrid), Some(CoreKind::Efficiency)) => {
            [hybrid.efficiency_l1d_bytes, hybrid.efficiency_l1i_bytes, hybrid.efficiency_l2_bytes]
        }
        _ => [shape.l1d_bytes, shape.l1i_bytes, shape.l2_bytes],
    };
    let [base_khz, max_khz] = match (&shape.hybrid, kind) {
        (Some(hybrid), Some(CoreKind::Efficiency)) => {
            [hybrid.efficiency_base_khz, hybrid.efficiency_max_khz]
        }
        _ => [shape.base_khz, shape.max_khz],
    };
    let pu = Pu {
        os: 0,
        core: Some(core),
        smt: None,
        l2: Some(if shares_l2 { cluster } else { core }),
        l3: Some(l3),
        die: Some(die),
        numa: Some(core / cores_per_node),
        package: Some(die / shape.dies_per_package),
        kind,
        l1d_bytes,
        l1i_bytes,
        l2_bytes,
        l3_bytes: shape
            .l3_bytes
            .get(if shape.l3_bytes.len() > 1 { l3 as usize } else { 0 })
            .copied(),
        base_khz: base_khz.map(NonZeroU64::get),
        max_khz: max_khz.map(NonZeroU64::get),
        ..Pu::default()
    };
    (0..threads).map(move |smt| DescribedPu { pu: Pu { smt: Some(smt), ..pu.clone() }, cluster })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    fn shape(text: &str) -> MachineShape {
        toml::from_str(text).unwrap()
    }

    /// One line per seat: OS index, then core.thread, L2, L3, die, NUMA node, package and kind.
    fn picture(text: &str) -> String {
        seats(&shape(text)).iter().fold(String::new(), |mut lines, DescribedPu { pu, .. }| {
            let [core, smt, l2, l3, die, numa, package] =
                [pu.core, pu.smt, pu.l2, pu.l3, pu.die, pu.numa, pu.package]
                    .map(|level| level.unwrap());
            let kind = pu.kind.map_or("-", CoreKind::letters);
            writeln!(lines, "{} {core}.{smt} {l2} {l3} {die} {numa} {package} {kind}", pu.os)
                .unwrap();
            lines
        })
    }

    #[test]
    fn server_numbering_puts_siblings_last() {
        let text = "packages = 2\nl3_per_die = 2\ncores_per_l3 = 1\nthreads_per_core = 2\nnuma_nodes_per_package = 2";
        insta::assert_snapshot!(picture(text), @"
        0 0.0 0 0 0 0 0 -
        1 1.0 1 1 0 1 0 -
        2 2.0 2 2 1 2 1 -
        3 3.0 3 3 1 3 1 -
        4 0.1 0 0 0 0 0 -
        5 1.1 1 1 0 1 0 -
        6 2.1 2 2 1 2 1 -
        7 3.1 3 3 1 3 1 -
        ");
    }

    #[test]
    fn efficiency_cores_come_last_in_their_l3() {
        let text =
            "packages = 1\ncores_per_l3 = 2\nthreads_per_core = 2\nnumbering = \"threads-adjacent\"
            [hybrid]\nefficiency_cores_per_l3 = 4\nefficiency_cores_per_cluster = 2";
        insta::assert_snapshot!(picture(text), @"
        0 0.0 0 0 0 0 0 P
        1 0.1 0 0 0 0 0 P
        2 1.0 1 0 0 0 0 P
        3 1.1 1 0 0 0 0 P
        4 2.0 2 0 0 0 0 E
        5 3.0 2 0 0 0 0 E
        6 4.0 4 0 0 0 0 E
        7 5.0 4 0 0 0 0 E
        ");
    }

    #[test]
    fn every_pair_has_its_class() {
        let clusters = shape(
            "packages = 2\ndies_per_package = 2\nl3_per_die = 2\ncores_per_l3 = 4\ncores_per_cluster = 2",
        );
        let seats = seats(&clusters);
        let classes = [1, 2, 4, 8, 16].map(|os: usize| seats[0].class(&seats[os]).key());
        assert_eq!(
            classes,
            ["same_cluster", "same_l3", "same_die", "same_package", "other_package"]
        );

        let hybrid = shape(
            "packages = 1\ncores_per_l3 = 2\nthreads_per_core = 2\nnumbering = \"threads-adjacent\"
            [hybrid]\nefficiency_cores_per_l3 = 4\nefficiency_cores_per_cluster = 2",
        );
        let seats = super::seats(&hybrid);
        let class = |a: usize, b: usize| seats[a].class(&seats[b]).key();
        let classes = [class(0, 1), class(0, 2), class(0, 4), class(4, 5), class(4, 6)];
        assert_eq!(
            classes,
            ["smt", "same_l3", "mixed_kinds", "same_cluster", "efficiency_clusters"]
        );
    }

    #[test]
    fn shape_classes_match_seat_classes() {
        for text in [
            "packages = 1\ncores_per_l3 = 1",
            "packages = 2\ncores_per_l3 = 2\nthreads_per_core = 2",
            "packages = 1\ndies_per_package = 2\nl3_per_die = 2\ncores_per_l3 = 4\ncores_per_cluster = 4",
            "packages = 1\ncores_per_l3 = 4\ncores_per_cluster = 2",
            "packages = 1\ncores_per_l3 = 1\n[hybrid]\nefficiency_cores_per_l3 = 2\nefficiency_cores_per_cluster = 1",
            "packages = 1\ncores_per_l3 = 2\n[hybrid]\nefficiency_cores_per_l3 = 2\nefficiency_cores_per_cluster = 2",
        ] {
            let shape = shape(text);
            let seats = seats(&shape);
            assert_eq!(seats.len() as u64, shape.pus(), "{text}");
            for class in PairClass::ALL {
                let seen = seats
                    .iter()
                    .any(|a| seats.iter().any(|b| a.pu.os != b.pu.os && a.class(b) == class));
                assert_eq!(seen, shape.has(class), "{class} in {text}");
            }
        }
    }
}
