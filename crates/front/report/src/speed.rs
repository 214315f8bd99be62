//! The speeds of PUs, in words.

use crate::about::{counted, cpus};
use seatmap_data::machine::{CoreKind, Profile, SeatSpeed};
use seatmap_data::statistics::words::joined;
use std::collections::BTreeSet;

/// PUs of one kind and cache size, with speeds within 3 %.
pub struct SpeedClass {
    /// The L3 cache only if the sizes differ.
    pub what: String,
    pub pus: Vec<u32>,
    /// The speeds of the slowest and the fastest PU.
    pub alone: (f64, f64),
    /// The speed while all PUs work, if known.
    pub together: Option<(f64, f64)>,
}

pub fn sentence(speed: &SeatSpeed) -> String {
    let percent = 100.0 * speed.spread();
    let all = counted(speed.pus.len(), "CPU");
    if speed.differs() {
        format!("The slowest of {all} is {percent:.1} % slower than the fastest, measured alone.")
    } else {
        format!("All {all} are equally fast, within {percent:.1} %, measured alone.")
    }
}

/// The classes, the fastest first; empty if all are alike.
pub fn classes(profile: &Profile) -> Vec<SpeedClass> {
    let Some(speed) = profile.speed.as_ref().filter(|speed| speed.differs()) else {
        return Vec::new();
    };
    let pu = |os: u32| profile.topology.pu(os);
    let sort_of = |os: u32| {
        (pu(os).and_then(|pu| pu.kind).map(CoreKind::word), pu(os).and_then(|pu| pu.l3_bytes))
    };
    let mut order: Vec<(f64, u32)> =
        speed.alone.iter().copied().zip(speed.pus.iter().copied()).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut groups: Vec<(f64, Vec<u32>)> = Vec::new();
    for (alone, os) in order {
        // Compared with the fastest: otherwise a chain of ever slower PUs would be one class.
        let near = |(fastest, pus): &&mut (f64, Vec<u32>)| {
            sort_of(pus[0]) == sort_of(os)
                && alone >= *fastest * (1.0 - seatmap_data::machine::seat_speed::EQUAL_WITHIN)
        };
        match groups.iter_mut().find(near) {
            Some((_, pus)) => pus.push(os),
            None => groups.push((alone, vec![os])),
        }
    }
    // Processors with a stacked cache on one chiplet have different sizes.
    let sizes: BTreeSet<Option<u64>> = speed.pus.iter().map(|os| sort_of(*os).1).collect();
    let class = |pus: Vec<u32>| {
        let (kind, l3_bytes) = sort_of(pus[0]);
        let cache =
            l3_bytes.filter(|_| sizes.len() > 1).map(|bytes| format!("{} MiB of L3", bytes >> 20));
        let what = kind.map(str::to_owned).into_iter().chain(cache);
        let range = |of: &dyn Fn(u32) -> Option<f64>| {
            let speeds = pus.iter().map(|os| of(*os)).collect::<Option<Vec<f64>>>()?;
            Some((
                speeds.iter().copied().fold(f64::INFINITY, f64::min),
                speeds.iter().copied().fold(0.0, f64::max),
            ))
        };
        let alone = range(&|os| speed.alone_of(os)).unwrap_or((0.0, 0.0));
        SpeedClass {
            what: joined(what, ", "),
            alone,
            together: range(&|os| speed.together_of(os)),
            pus,
        }
    };
    groups.into_iter().map(|(_, pus)| class(pus)).collect()
}

impl SpeedClass {
    /// Kind, CPUs, alone, together.
    pub fn row(&self) -> [String; 4] {
        let range = |(least, most): (f64, f64)| {
            // With three decimals, both ends would look equal.
            if most - least < 0.0005 {
                format!("{most:.3}")
            } else {
                format!("{least:.3}-{most:.3}")
            }
        };
        let together = self.together.map(range).unwrap_or_default();
        [self.what.clone(), cpus(&self.pus).to_string(), range(self.alone), together]
    }
}
