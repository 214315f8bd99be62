//! The CPU of a thread that sends or answers small messages.

use seatmap_os::{CpuSet, kept_masks};

/// Two threads whose CPUs the kernel chooses anew show its choices, and not the network: with both
/// on one CPU, a round trip between two nodes of one computer takes 17 us, and with a sleeping CPU
/// woken each time 110 us. So each node does its trips on one CPU, the last that it may use, as the
/// first one has the most interrupts. Streams take all.
#[derive(Debug)]
pub(crate) struct TripPinning {
    /// The mask that this thread had; `None` where it cannot be seated.
    usual: Option<CpuSet>,
    /// The CPU for trips: the last one that is online.
    trips: Option<u32>,
    is_seated: bool,
}

impl TripPinning {
    /// The thread that calls, with its CPUs as they are.
    pub(crate) fn new() -> Self {
        let trips = CpuSet::of_thread(0).ok().and_then(|now| now.last());
        TripPinning { usual: kept_masks::to_put_back(0).ok(), trips, is_seated: false }
    }

    /// Seats the thread that calls for trips, or gives it all its CPUs back.
    pub(crate) fn for_trips(&mut self, seated: bool) {
        let Some(usual) = self.usual.as_ref().filter(|_| self.is_seated != seated) else { return };
        let wanted = if seated { self.trips.map(CpuSet::single) } else { Some(usual.clone()) };
        // A thread that cannot be seated measures as well, with more scatter. It gets its mask back
        // after each group of trips, and so CPUs that have come meanwhile; one that is offline at
        // the end comes by itself while the process lives.
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
    fn a_thread_is_seated_for_trips_and_has_all_its_cpus_afterwards() {
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
