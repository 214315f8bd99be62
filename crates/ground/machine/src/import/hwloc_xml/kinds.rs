//! hwloc's kinds of CPUs, as performance and efficiency cores.

use super::super::cpuset::CpuSet;
use crate::CoreKind;

/// One `cpukind` of the file.
#[derive(Debug, Default)]
pub(super) struct RawKind {
    pub(super) cpuset: CpuSet,
    /// The class among all kinds, a higher one being faster and hungrier; negative if unknown.
    pub(super) efficiency: Option<i64>,
    /// What the processor calls it.
    pub(super) core_type: Option<CoreKind>,
}

impl RawKind {
    /// `IntelCore` and `IntelAtom` are hwloc's names for what CPUID says; the other two are ours.
    pub(super) fn core_type(name: &str) -> Option<CoreKind> {
        match name {
            "IntelCore" | "Performance" => Some(CoreKind::Performance),
            "IntelAtom" | "Efficiency" => Some(CoreKind::Efficiency),
            _ => None,
        }
    }
}

/// Which PU is of which kind.
pub(super) struct Kinds<'a> {
    raw: &'a [RawKind],
    /// The highest efficiency class, where there are several.
    highest: Option<i64>,
}

impl<'a> Kinds<'a> {
    pub(super) fn of(raw: &'a [RawKind]) -> Self {
        let classes = || raw.iter().filter_map(|kind| kind.efficiency).filter(|class| *class >= 0);
        let highest = classes().max().filter(|highest| classes().any(|class| class < *highest));
        Kinds { raw, highest }
    }

    pub(super) fn of_pu(&self, os: u32) -> Option<CoreKind> {
        let kind = self.raw.iter().find(|kind| kind.cpuset.contains(os))?;
        let by_class = || match (kind.efficiency?, self.highest?) {
            (class, highest) if class == highest => Some(CoreKind::Performance),
            (0.., _) => Some(CoreKind::Efficiency),
            _ => None,
        };
        kind.core_type.or_else(by_class)
    }
}
