//! Distance classes: what two PUs of a described machine share.

use std::fmt;

/// The innermost thing that two PUs share. Names are the keys of `[distance]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
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
    /// The two PUs share nothing but the machine.
    OtherPackage,
}

impl Class {
    /// All classes, inner before outer.
    pub const ALL: [Class; 8] = [
        Class::Smt,
        Class::SameCluster,
        Class::SameL3,
        Class::EfficiencyClusters,
        Class::MixedKinds,
        Class::SameDie,
        Class::SamePackage,
        Class::OtherPackage,
    ];

    /// The key in `[distance]`.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Class::Smt => "smt",
            Class::SameCluster => "same_cluster",
            Class::SameL3 => "same_l3",
            Class::EfficiencyClusters => "efficiency_clusters",
            Class::MixedKinds => "mixed_kinds",
            Class::SameDie => "same_die",
            Class::SamePackage => "same_package",
            Class::OtherPackage => "other_package",
        }
    }

    /// Whether the pair meets outside any L3, where the home of the line has a say. Inside, the L3
    /// serves both itself.
    #[must_use]
    pub fn consults_home(self) -> bool {
        self >= Class::SameDie
    }

    /// The classes that lie inside this one, and so should not be farther.
    pub(super) fn inside(self, hybrid: bool) -> &'static [Class] {
        match (self, hybrid) {
            // On a hybrid processor the SMT siblings are performance cores, and only efficiency
            // cores stand in clusters.
            (Class::Smt, _) | (Class::SameCluster, true) | (Class::MixedKinds, _) => &[],
            (Class::SameCluster, false) | (Class::SameL3, true) => &[Class::Smt],
            (Class::SameL3, false) => &[Class::Smt, Class::SameCluster],
            (Class::EfficiencyClusters, _) => &[Class::SameCluster],
            (Class::SameDie, _) => &Class::ALL[..5],
            (Class::SamePackage, _) => &Class::ALL[..6],
            (Class::OtherPackage, _) => &Class::ALL[..7],
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.key())
    }
}
