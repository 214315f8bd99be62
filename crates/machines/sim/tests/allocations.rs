//! A longer run on a coherent machine allocates no more than a short one.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use seatmap_data::port::{Addr, Testbed};
use seatmap_machines::workload::PingPong;
use seatmap_sim::{CoherentBed, catalog};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the place came from the system's allocator.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(bed: &mut CoherentBed, round_trips: u32) -> u64 {
    let lines: Vec<Addr> = (0..8).map(|pair| Addr::line(4 + pair)).collect();
    let pairs = PingPong { lines, gate: Addr::line(0), batches: 2, round_trips };
    let seats: Vec<u32> = (0..16).map(|at| 2 * at).collect();
    bed.run(&seats, &pairs).unwrap();
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    bed.run(&seats, &pairs).unwrap();
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

#[test]
fn longer_run_allocates_no_more() {
    for name in ["xeon-phi-5110p", "scc-48", "epyc"] {
        let model = match name {
            "epyc" => {
                let profile = seatmap_data::machine::catalog::load("epyc-7r13-2s").unwrap();
                std::sync::Arc::new(
                    seatmap_sim::CoherentModel::from_profile(&profile, "", 2.5).unwrap(),
                )
            }
            name => catalog::load(name).unwrap().unwrap(),
        };
        let mut bed = CoherentBed::new(model);
        let short = allocations(&mut bed, 20);
        let long = allocations(&mut bed, 400);
        assert_eq!(short, long, "{name}: the second run is 20 times as long");
    }
}
