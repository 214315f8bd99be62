//! The speeds of PUs, in words.

use crate::about::cpus;
use crate::alike::alike;
use crate::words::{counted, joined};
use seatmap_data::machine::seat_speed::EQUAL_WITHIN;
use seatmap_data::machine::{CoreKind, Profile, SeatSpeed};
use std::collections::BTreeSet;

pub fn sentence(speed: &SeatSpeed) -> String {
    let percent = 100.0 * speed.spread();
    let all = counted(speed.pus.len(), "CPU");
    if speed.differs() {
        format!("The slowest of {all} is {percent:.1} % slower than the fastest, measured alone.")
    } else {
        format!("All {all} are equally fast, within {percent:.1} %, measured alone.")
    }
}

/// The classes of PUs of one kind and cache size with speeds within 3 %, the fastest first; empty
/// if all are alike. Kind and cache, CPUs, speeds alone, speeds while all PUs work.
pub fn classes(profile: &Profile) -> Vec<[String; 4]> {
    let Some(speed) = profile.speed.as_ref().filter(|speed| speed.differs()) else {
        return Vec::new();
    };
    let sort_of = |os: u32| {
        let pu = profile.topology.pu(os);
        (pu.and_then(|pu| pu.kind).map(CoreKind::word), pu.and_then(|pu| pu.l3_bytes))
    };
    let mut order = Vec::from_iter(speed.alone.iter().copied().zip(speed.pus.iter().copied()));
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // Compared with the fastest: otherwise a chain of ever slower PUs would be one class.
    let groups = alike(order, |(fastest, first), (alone, os)| {
        sort_of(*first) == sort_of(*os) && *alone >= *fastest * (1.0 - EQUAL_WITHIN)
    });
    // Processors with a stacked cache on one chiplet have different sizes.
    let sizes = BTreeSet::from_iter(speed.pus.iter().map(|os| sort_of(*os).1));
    groups
        .into_iter()
        .map(|members| {
            let pus = Vec::from_iter(members.iter().map(|(_, os)| *os));
            let (kind, l3_bytes) = sort_of(pus[0]);
            let cache = l3_bytes
                .filter(|_| sizes.len() > 1)
                .map(|bytes| format!("{} MiB of L3", bytes >> 20));
            let what = kind.map(str::to_owned).into_iter().chain(cache);
            let alone = range(pus.iter().map(|os| speed.alone_of(*os)));
            let together = range(pus.iter().map(|os| speed.together_of(*os)));
            [joined(what, ", "), cpus(&pus).to_string(), alone, together]
        })
        .collect()
}

/// The slowest and the fastest; empty if one is unknown.
fn range(speeds: impl Iterator<Item = Option<f64>>) -> String {
    let Some(speeds) = speeds.collect::<Option<Vec<f64>>>() else { return String::new() };
    let least = speeds.iter().copied().fold(f64::INFINITY, f64::min);
    let most = speeds.iter().copied().fold(0.0, f64::max);
    // With three decimals, both ends would look equal.
    if most - least < 0.0005 { format!("{most:.3}") } else { format!("{least:.3}-{most:.3}") }
}
