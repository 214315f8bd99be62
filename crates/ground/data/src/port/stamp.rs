//! A clock reading with its PU.

/// A clock reading with the PU that took it. On x86-64 one instruction reads both (RDTSCP), so a
/// migration between two readings is detected at no cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Ticks of the machine's clock; [`crate::port::Testbed::ns_per_tick`] converts them.
    pub ticks: u64,
    /// PU, by OS index.
    pub pu: u32,
}
