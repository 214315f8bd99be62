//! Synthetic profiles for tests.

use seatmap_data::machine::{
    CoreDistance, HomeModel, Matrix, Origin, OriginKind, Profile, Pu, Topology,
};

/// The distances between the rows of these PUs; 0 between a PU and itself.
pub fn distance(
    pus: impl IntoIterator<Item = u32>,
    cell: impl Fn(usize, usize) -> f64,
) -> CoreDistance {
    let pus: Vec<u32> = pus.into_iter().collect();
    let d = Matrix::from_fn(pus.len(), |i, j| if i == j { 0.0 } else { cell(i.min(j), i.max(j)) });
    CoreDistance::imported(pus, d)
}

/// A measured profile without distances.
pub fn bare(topology: Topology) -> Profile {
    let origin =
        Origin { kind: OriginKind::Measured, source: "test".into(), date: None, tool: None };
    Profile::new("test", origin, topology)
}

pub fn measured(topology: Topology, cell: impl Fn(usize, usize) -> f64) -> Profile {
    let core_distance = Some(distance(topology.os_indices(), cell));
    Profile { core_distance, ..bare(topology) }
}

fn model(groups: &[&[u32]], between_ns: f64, offset_ns: Vec<Vec<f64>>) -> HomeModel {
    HomeModel {
        groups: groups.iter().map(|group| group.to_vec()).collect(),
        between_ns: Matrix::filled(groups.len(), between_ns),
        inside_ns: None,
        offset_ns,
        r2: 1.0,
        residual_ns: 0.0,
        pair_view_empty: true,
        star_r2: None,
        smt_ns: None,
        lines: None,
    }
}

pub fn of_groups(topology: Topology, groups: &[&[u32]]) -> Profile {
    Profile { home_model: Some(model(groups, 40.0, Vec::new())), ..bare(topology) }
}

/// Two packages, each a NUMA node with two L3s of two cores.
pub fn two_packages() -> Profile {
    let pus = (0..8)
        .map(|os| Pu {
            os,
            core: Some(os),
            smt: Some(0),
            l3: Some(os / 2),
            numa: Some(os / 4),
            package: Some(os / 4),
            ..Pu::default()
        })
        .collect();
    of_groups(Topology { pus }, &[&[0, 1, 2, 3], &[4, 5, 6, 7]])
}

/// One group with these offsets by home. Distances are for a line of the first home.
pub fn homely(pus: &[u32], offset_ns: Vec<Vec<f64>>) -> Profile {
    let profile = measured(Topology::unknown(pus.iter().copied()), |i, j| {
        80.0 + offset_ns[i][0] + offset_ns[j][0]
    });
    Profile { home_model: Some(model(&[pus], 80.0, offset_ns)), ..profile }
}
