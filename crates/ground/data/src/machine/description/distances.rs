//! `[distance]`: one figure for each distance class.

use super::{PairClass, RoundTripParameter};
use serde::{Deserialize, Serialize};

/// One figure for each class of pairs in the machine, and for no other.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ClassDistances {
    /// Two threads of one core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smt: Option<RoundTripParameter>,
    /// Inside a cluster of cores; on a hybrid processor, of efficiency cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_cluster: Option<RoundTripParameter>,
    /// Inside an L3, of different clusters; on a hybrid processor, of two performance cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_l3: Option<RoundTripParameter>,
    /// Two efficiency cores of different clusters at one L3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub efficiency_clusters: Option<RoundTripParameter>,
    /// A performance and an efficiency core at one L3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mixed_kinds: Option<RoundTripParameter>,
    /// Inside a die, between its L3s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_die: Option<RoundTripParameter>,
    /// Inside a package, between its dies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_package: Option<RoundTripParameter>,
    /// Between packages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_package: Option<RoundTripParameter>,
}

impl ClassDistances {
    /// The figure of a class.
    pub fn get(&self, class: PairClass) -> Option<&RoundTripParameter> {
        match class {
            PairClass::Smt => self.smt.as_ref(),
            PairClass::SameCluster => self.same_cluster.as_ref(),
            PairClass::SameL3 => self.same_l3.as_ref(),
            PairClass::EfficiencyClusters => self.efficiency_clusters.as_ref(),
            PairClass::MixedKinds => self.mixed_kinds.as_ref(),
            PairClass::SameDie => self.same_die.as_ref(),
            PairClass::SamePackage => self.same_package.as_ref(),
            PairClass::OtherPackage => self.other_package.as_ref(),
        }
    }
}
