//! hwloc's kinds of CPUs as kinds of cores.

use super::super::cpuset::HwlocBitmap;
use crate::document::whole_number;
use crate::machine::speed::kinds_of;
use crate::machine::{CoreKind, Speed};

/// The capacity of the fastest CPU (`SCHED_CAPACITY_SCALE` of `include/linux/sched.h`).
const LINUX_HIGHEST: i64 = 1024;

#[derive(Debug, Default)]
pub struct RawKind {
    pub cpuset: HwlocBitmap,
    /// The class among all kinds, a higher one being faster and needing more power; negative if
    /// unknown. On Linux it is the capacity.
    pub efficiency: Option<i64>,
    pub core_type: Option<CoreKind>,
    pub speed: Speed,
}

impl RawKind {
    pub fn learn(&mut self, name: &str, value: &str) {
        match name {
            "CoreType" => self.core_type = RawKind::core_type(value),
            "LinuxCapacity" => self.speed.capacity = whole_number(value),
            "FrequencyBaseMHz" => self.speed.base_khz = khz(value),
            "FrequencyMaxMHz" => self.speed.max_khz = khz(value),
            _ => {}
        }
    }

    /// `IntelCore`, `IntelAtom` and `IntelLowPower` are hwloc's names for CPUID's values; the
    /// others are ours.
    fn core_type(name: &str) -> Option<CoreKind> {
        match name {
            "IntelCore" | "Performance" => Some(CoreKind::Performance),
            "Middle" => Some(CoreKind::Middle),
            "IntelAtom" | "Efficiency" => Some(CoreKind::Efficiency),
            "IntelLowPower" | "LowPower" => Some(CoreKind::LowPower),
            _ => None,
        }
    }

    fn class(&self) -> Option<i64> {
        self.efficiency.filter(|class| *class >= 0)
    }

    /// Versions of hwloc without the capacity write it as the class.
    fn speed(&self, classes_are_capacities: bool) -> Speed {
        let class = self.class().filter(|_| classes_are_capacities);
        let class = class.and_then(|class| u64::try_from(class).ok());
        Speed { capacity: self.speed.capacity.or(class), ..self.speed }
    }
}

fn khz(mhz: &str) -> Option<u64> {
    whole_number::<u64>(mhz)?.checked_mul(1000)
}

pub struct Kinds<'a> {
    raw: &'a [RawKind],
    kinds: Vec<Option<CoreKind>>,
}

impl<'a> Kinds<'a> {
    pub fn of(raw: &'a [RawKind]) -> Self {
        let is_given = raw.iter().any(|kind| kind.core_type.is_some());
        let highest = raw.iter().filter_map(RawKind::class).max();
        let lowest = raw.iter().filter_map(RawKind::class).min();
        let speeds: Vec<Speed> =
            raw.iter().map(|kind| kind.speed(highest == Some(LINUX_HIGHEST))).collect();
        let is_of_linux = speeds.iter().any(|speed| *speed != Speed::default());
        // One class for all CPUs, or none, is useless.
        let differ = raw.iter().filter_map(RawKind::class).any(|class| Some(class) < highest);
        let kinds = match () {
            // The file's own kinds, then Linux's figures by the common rule, then the classes of
            // other systems.
            () if is_given => raw.iter().map(|kind| kind.core_type).collect(),
            () if is_of_linux => kinds_of(&speeds),
            () if differ => raw
                .iter()
                .map(|kind| match kind.class() {
                    Some(class) if Some(class) == highest => Some(CoreKind::Performance),
                    Some(class) if Some(class) == lowest => Some(CoreKind::Efficiency),
                    class => class.map(|_| CoreKind::Middle),
                })
                .collect(),
            () => vec![None; raw.len()],
        };
        Kinds { raw, kinds }
    }

    pub fn of_pu(&self, os: u32) -> Option<CoreKind> {
        let at = self.raw.iter().position(|kind| kind.cpuset.contains(os))?;
        self.kinds[at]
    }
}
