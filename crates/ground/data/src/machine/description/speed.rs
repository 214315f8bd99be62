//! `[speed]`: the speeds of cores by kind or L3.

use super::check::{Flaw, flaw, is_one_line};
use super::{Basis, MachineShape};
use crate::machine::{CoreKind, Pu, SeatSpeed};
use crate::statistics::greatest;
use crate::statistics::words::counted;
use serde::{Deserialize, Serialize};

/// A relative speed and its source.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RelativeSpeed {
    /// Work in the same time, relative to the fastest core.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1)))]
    pub relative: f64,
    /// The origin of the figure.
    pub kind: Basis,
    /// The document, the data, or the reason for assuming it.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub source: String,
}

/// The speeds of cores. A PU's speed is the product of the figures of its kind and its L3, each 1
/// if not given.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Speeds {
    /// The speed of the efficiency cores of a hybrid machine; performance cores have 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub efficiency: Option<RelativeSpeed>,
    /// The speed of the cores at each L3, in the order of the L3s; empty if they do not differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_l3: Vec<RelativeSpeed>,
}

impl Speeds {
    pub(super) fn check(&self, shape: &MachineShape) -> Result<(), Flaw> {
        if self.efficiency.is_some() && shape.hybrid.is_none() {
            return flaw("speed.efficiency", "only a hybrid processor has efficiency cores");
        }
        let l3s = shape.l3_total();
        if !self.by_l3.is_empty() && self.by_l3.len() as u64 != u64::from(l3s) {
            let given = counted(self.by_l3.len(), "entry");
            return flaw("speed.by_l3", format!("has {given} for {l3s} L3s"));
        }
        let efficiency = self.efficiency.iter().map(|it| ("speed.efficiency", it));
        for (key, speed) in efficiency.chain(self.by_l3.iter().map(|it| ("speed.by_l3", it))) {
            let RelativeSpeed { relative, source, .. } = speed;
            if !(0.001..=1.0).contains(relative) {
                return flaw(
                    key,
                    format!("{relative} is not between 0.001 and 1, the speed of the fastest core"),
                );
            }
            if !is_one_line(source) {
                return flaw(key, "source: name the source of the figure in one line");
            }
        }
        Ok(())
    }

    pub(super) fn of_pus(&self, pus: &[Pu]) -> SeatSpeed {
        let alone: Vec<f64> = pus
            .iter()
            .map(|pu| {
                let of_kind = match (pu.kind, &self.efficiency) {
                    (Some(CoreKind::Efficiency), Some(speed)) => speed.relative,
                    _ => 1.0,
                };
                let of_l3 = pu.l3.and_then(|l3| self.by_l3.get(l3 as usize));
                of_kind * of_l3.map_or(1.0, |speed| speed.relative)
            })
            .collect();
        // Speeds are relative: the fastest seat has 1 even if every L3 is slower.
        let fastest = greatest(&alone);
        SeatSpeed {
            pus: pus.iter().map(|pu| pu.os).collect(),
            alone: alone.into_iter().map(|speed| speed / fastest).collect(),
            ..SeatSpeed::default()
        }
    }
}
