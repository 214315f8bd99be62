//! Checks the fits of the models against published matrices.

use crate::data;
use crate::row::Row;
use seatmap_machine::{CoreDistance, Topology};
use seatmap_measure::fit::{explain, hubs, siblings};
use std::error::Error;

/// A published matrix, how many groups it has, of which sizes, and the least R2 of the model where
/// one is asked for.
const MATRICES: [(&str, usize, &[usize], Option<f64>); 11] = [
    ("epyc-7r13-2s-192", 12, &[16], Some(0.998)),
    ("epyc-9654-2s", 24, &[8], Some(0.998)),
    ("threadripper-3960x-48", 8, &[6], None),
    ("kunpeng-920-64", 16, &[4], Some(0.998)),
    ("ryzen-5950x-32", 2, &[16], Some(0.998)),
    ("core-i9-12900k-24", 3, &[16, 4], None),
    ("xeon-8375c-2s-128", 2, &[64], None),
    ("xeon-e5-2695v4-72", 2, &[36], None),
    ("graviton3-64", 1, &[64], None),
    ("xeon-phi-7210-64", 32, &[2], None),
    ("ryzen-7950x-32-coarse-clock", 2, &[16], None),
];

/// Matrices whose other rows three hubs are to predict, and the largest root mean square error,
/// one-way.
const HUBS: [&str; 2] = ["xeon-8375c-2s-128", "xeon-e5-2695v4-72"];
const HUB_COUNT: usize = 3;
const HUB_LIMIT_NS: f64 = 0.6;

/// Groups and R2 of each matrix, and the error of three hubs.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for (name, groups, sizes, least_r2) in MATRICES {
        let Some(distance) = data::matrix(name).and_then(|profile| profile.core_distance) else {
            continue;
        };
        let model = explain(&distance, &Topology::default()).ok_or("no distances")?;
        let mut found: Vec<usize> = model.groups.iter().map(Vec::len).collect();
        // Groups of one size are listed as that size.
        found.dedup();
        let right = model.groups.len() == groups
            && found == sizes
            && least_r2.is_none_or(|least| model.r2 >= least);
        let star = model.star_r2.map_or("-".to_owned(), |r2| format!("{r2:.3}"));
        let got = format!(
            "{} groups of {found:?}, R2 {:.5}, residual {:.2} ns, star R2 {star}",
            model.groups.len(),
            model.r2,
            model.residual_ns
        );
        let r2_wanted = least_r2.map_or(String::new(), |least| format!(", R2 >= {least}"));
        rows.push(Row::held(
            format!("fit of {name}"),
            got,
            format!("{groups} groups of {sizes:?}{r2_wanted}"),
            right,
        ));
    }
    rows.extend(HUBS.iter().filter_map(|name| hub_row(name, &data::matrix(name)?.core_distance?)));
    Ok(rows)
}

fn hub_row(name: &str, distance: &CoreDistance) -> Option<Row> {
    let core = siblings::cores(distance, &Topology::default());
    let model = explain(distance, &Topology::default())?;
    let group: Vec<usize> = model.group_of(&distance.pus).into_iter().collect::<Option<_>>()?;
    let rows = hubs::choose(&group, &core, HUB_COUNT);
    let predicted = hubs::predict(&distance.median_ns, &rows, &group, &core);
    // A round trip crosses twice.
    let one_way_ns = hubs::rmse_ns(&predicted, &distance.median_ns, &rows)? / 2.0;
    let what = format!("{name}: all pairs from {HUB_COUNT} hubs, RMSE one-way");
    let target = format!("<= {HUB_LIMIT_NS} ns");
    Some(Row::held(what, format!("{one_way_ns:.2} ns"), target, one_way_ns <= HUB_LIMIT_NS))
}
