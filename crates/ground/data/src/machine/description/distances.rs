//! `[distance]`: one figure a distance class.

use super::{Class, Parameter};
use serde::{Deserialize, Serialize};

/// One figure for each class of which the machine has pairs, and for no other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Distances {
    /// Two threads of one core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smt: Option<Parameter>,
    /// Inside a cluster of cores; on a hybrid processor, of efficiency cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_cluster: Option<Parameter>,
    /// Inside an L3, of different clusters; on a hybrid processor, of two performance cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_l3: Option<Parameter>,
    /// Two efficiency cores of different clusters at one L3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub efficiency_clusters: Option<Parameter>,
    /// A performance and an efficiency core at one L3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mixed_kinds: Option<Parameter>,
    /// Inside a die, between its L3s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_die: Option<Parameter>,
    /// Inside a package, between its dies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_package: Option<Parameter>,
    /// Between packages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_package: Option<Parameter>,
}

impl Distances {
    /// The figure of a class.
    #[must_use]
    pub fn get(&self, class: Class) -> Option<&Parameter> {
        match class {
            Class::Smt => self.smt.as_ref(),
            Class::SameCluster => self.same_cluster.as_ref(),
            Class::SameL3 => self.same_l3.as_ref(),
            Class::EfficiencyClusters => self.efficiency_clusters.as_ref(),
            Class::MixedKinds => self.mixed_kinds.as_ref(),
            Class::SameDie => self.same_die.as_ref(),
            Class::SamePackage => self.same_package.as_ref(),
            Class::OtherPackage => self.other_package.as_ref(),
        }
    }
}
