//! A type of core on Arm, as `MIDR_EL1` numbers it.

/// Arm's own implementer, and the first digit of its parts of version 7 (Cortex-A5 to A17; newer
/// ones begin with `0xd`), by arch/arm/include/asm/cputype.h.
const ARM: u64 = 0x41;
const FIRST_DIGIT_OF_V7: u64 = 0xc;

/// The architecture field of `MIDR_EL1`: identified by feature registers, as of all 64-bit cores.
const BY_FEATURES: u64 = 0xf_0000;

/// A type of core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmCore {
    pub implementer: u64,
    pub part: u64,
}

impl ArmCore {
    /// From `MIDR_EL1`, whose bits 24 to 31 are the implementer, and 4 to 15 the part.
    pub fn of(midr: u64) -> Self {
        ArmCore { implementer: midr >> 24 & 0xff, part: midr >> 4 & 0xfff }
    }

    pub fn has_64_bits(self) -> bool {
        self.implementer != ARM || self.part >> 8 != FIRST_DIGIT_OF_V7
    }

    pub fn architecture(self) -> u32 {
        if self.has_64_bits() { 8 } else { 7 }
    }

    /// Features that every core of its version has in Linux.
    pub fn least_features(self) -> &'static str {
        if self.has_64_bits() { "fp asimd" } else { "half thumb fastmult vfp edsp tls" }
    }

    /// The file of 64-bit kernels.
    pub fn midr(self) -> Option<u64> {
        self.has_64_bits().then_some(self.implementer << 24 | BY_FEATURES | self.part << 4)
    }
}
