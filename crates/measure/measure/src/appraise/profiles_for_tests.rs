//! Profiles for tests.

use seatmap_data::machine::{HomeModel, Matrix, Origin, OriginKind, Profile, Pu, Topology};

pub fn of_groups(topology: Topology, groups: &[&[u32]]) -> Profile {
    let origin =
        Origin { kind: OriginKind::Imported, source: "sample".into(), date: None, tool: None };
    let mut profile = Profile::new("sample", origin, topology);
    profile.home_model = Some(HomeModel {
        groups: groups.iter().map(|group| group.to_vec()).collect(),
        between_ns: Matrix::filled(groups.len(), 40.0),
        inside_ns: None,
        offset_ns: Vec::new(),
        r2: 1.0,
        residual_ns: 0.0,
        pair_view_empty: false,
        star_r2: None,
        smt_ns: None,
        lines: None,
    });
    profile
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
