//! A reading of the clock, and where it was taken.

/// A reading of a machine's clock together with the PU that took it. One instruction on x86-64
/// (RDTSCP), so a thread that was moved between two readings gives itself away at no cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Ticks of the machine's clock; [`crate::port::Testbed::ns_per_tick`] converts them.
    pub ticks: u64,
    /// The PU, by OS index.
    pub pu: u32,
}
