//! Distance classes: what two PUs of a described machine share.

use std::fmt;

/// The innermost part that two PUs share. Names are the keys of `[distance]`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum PairClass {
    /// One core: SMT siblings.
    Smt,
    /// One cluster of cores; on a hybrid processor, of efficiency cores.
    SameCluster,
    /// One L3; on a hybrid processor, both performance cores.
    SameL3,
    /// One L3, both efficiency cores, of different clusters.
    EfficiencyClusters,
    /// One L3, a performance core and an efficiency core.
    MixedKinds,
    /// One die, different L3s.
    SameDie,
    /// One package, different dies.
    SamePackage,
    /// Nothing but the machine.
    OtherPackage,
}

impl PairClass {
    /// All classes, inner before outer.
    pub const ALL: [PairClass; 8] = [
        PairClass::Smt,
        PairClass::SameCluster,
        PairClass::SameL3,
        PairClass::EfficiencyClusters,
        PairClass::MixedKinds,
        PairClass::SameDie,
        PairClass::SamePackage,
        PairClass::OtherPackage,
    ];

    /// The key in `[distance]`.
    pub fn key(self) -> &'static str {
        [
            "smt",
            "same_cluster",
            "same_l3",
            "efficiency_clusters",
            "mixed_kinds",
            "same_die",
            "same_package",
            "other_package",
        ][self as usize]
    }

    /// Whether the pair meets outside any L3, which serves both itself, so that the home of the
    /// line matters.
    pub fn consults_home(self) -> bool {
        self >= PairClass::SameDie
    }

    /// The classes inside this one, which should not be farther.
    pub(super) fn inside(self, hybrid: bool) -> &'static [PairClass] {
        match (self, hybrid) {
            // On a hybrid processor the SMT siblings are performance cores, and only efficiency
            // cores have clusters.
            (PairClass::Smt, _) | (PairClass::SameCluster, true) | (PairClass::MixedKinds, _) => {
                &[]
            }
            (PairClass::SameCluster, false) | (PairClass::SameL3, true) => &[PairClass::Smt],
            (PairClass::SameL3, false) => &[PairClass::Smt, PairClass::SameCluster],
            (PairClass::EfficiencyClusters, _) => &[PairClass::SameCluster],
            (PairClass::SameDie, _) => &PairClass::ALL[..5],
            (PairClass::SamePackage, _) => &PairClass::ALL[..6],
            (PairClass::OtherPackage, _) => &PairClass::ALL[..7],
        }
    }
}

impl fmt::Display for PairClass {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.key())
    }
}
