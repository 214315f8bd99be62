//! Machines for tests.

use seatmap_data::machine::{
    CoreDistance, HomeModel, Matrix, Origin, OriginKind, Profile, Topology,
};

const BETWEEN_NS: f64 = 80.0;

/// Distances are for a line of the first home.
pub fn homely(pus: &[u32], offset_ns: Vec<Vec<f64>>) -> Profile {
    let origin =
        Origin { kind: OriginKind::Measured, source: "a test".to_owned(), date: None, tool: None };
    let mut profile = Profile::new("homely", origin, Topology::unknown(pus.iter().copied()));
    let apart = Matrix::from_fn(pus.len(), |i, j| {
        if i == j { 0.0 } else { BETWEEN_NS + offset_ns[i][0] + offset_ns[j][0] }
    });
    profile.core_distance = Some(CoreDistance::imported(pus.to_vec(), apart));
    profile.home_model = Some(HomeModel {
        groups: vec![pus.to_vec()],
        between_ns: Matrix::filled(1, BETWEEN_NS),
        inside_ns: None,
        offset_ns,
        r2: 1.0,
        residual_ns: 0.0,
        pair_view_empty: true,
        star_r2: None,
        smt_ns: None,
        lines: None,
    });
    profile
}
