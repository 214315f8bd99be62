//! Pins a thread that sends or answers small messages.

use seatmap_os::{CpuSet, kept_masks};

/// Without pinning, trips show the kernel's choice of CPUs instead of the network: between two
/// nodes on one computer, a round trip takes 17 us if both threads share a CPU, and 110 us if a
/// sleeping CPU wakes each time. Trips therefore use each node's last allowed CPU (the first
/// handles most interrupts), streams all CPUs.
#[derive(Debug)]
pub struct TripPinning {
    usual: Option<CpuSet>,
    trips: Option<u32>,
    is_seated: bool,
}

impl TripPinning {
    pub fn new() -> Self {
        let trips = CpuSet::of_thread(0).ok().and_then(|now| now.last());
        TripPinning { usual: kept_masks::to_put_back(0).ok(), trips, is_seated: false }
    }

    pub fn for_trips(&mut self, seated: bool) {
        let Some(usual) = self.usual.as_ref().filter(|_| self.is_seated != seated) else { return };
        let wanted = if seated { self.trips.map(CpuSet::single) } else { Some(usual.clone()) };
        // Restoring the mask after each group of trips adds new CPUs to it; `kept_masks` later adds
        // CPUs that are offline at the end.
        let _ = wanted.map(|cpus| kept_masks::give(0, &cpus));
        self.is_seated = seated;
    }
}

impl Drop for TripPinning {
    fn drop(&mut self) {
        self.for_trips(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trip_pinning_is_undone() {
        let before = CpuSet::of_thread(0).unwrap();
        let mut seat = TripPinning::new();
        seat.for_trips(true);
        assert_eq!(CpuSet::of_thread(0).unwrap().only(), before.last());
        seat.for_trips(false);
        assert_eq!(CpuSet::of_thread(0).unwrap(), before);
        seat.for_trips(true);
        drop(seat);
        assert_eq!(CpuSet::of_thread(0).unwrap(), before);
    }
}
