//! `[speed]`: the speeds of cores by kind or L3.

use super::{Basis, MachineShape};
use crate::machine::{CoreKind, Pu, SeatSpeed};
use crate::statistics::words::counted;
use serde::{Deserialize, Serialize};

/// A relative speed and its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    pub(super) fn flaw(&self, shape: &MachineShape) -> Option<(String, String)> {
        if self.efficiency.is_some() && shape.hybrid.is_none() {
            return speed_flaw(
                "efficiency",
                "only a hybrid processor has efficiency cores".to_owned(),
            );
        }
        if !self.by_l3.is_empty() && self.by_l3.len() as u64 != u64::from(shape.l3_total()) {
            return speed_flaw(
                "by_l3",
                format!("has {} for {} L3s", counted(self.by_l3.len(), "entry"), shape.l3_total()),
            );
        }
        let named = self
            .efficiency
            .iter()
            .map(|it| ("efficiency", it))
            .chain(self.by_l3.iter().map(|it| ("by_l3", it)));
        for (key, speed) in named {
            if !(0.001..=1.0).contains(&speed.relative) {
                return speed_flaw(
                    key,
                    format!(
                        "{} is not between 0.001 and 1, the speed of the fastest core",
                        speed.relative
                    ),
                );
            }
            if speed.source.trim().is_empty() || speed.source.contains(crate::document::is_hidden) {
                return speed_flaw(
                    key,
                    "source: name the source of the figure in one line".to_owned(),
                );
            }
        }
        None
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
        let fastest = alone.iter().copied().fold(0.0, f64::max);
        SeatSpeed {
            pus: pus.iter().map(|pu| pu.os).collect(),
            alone: alone.into_iter().map(|speed| speed / fastest).collect(),
            together: None,
            work: None,
        }
    }
}

fn speed_flaw(key: &str, problem: String) -> Option<(String, String)> {
    Some((format!("speed.{key}"), problem))
}
