//! A run of the Cell model allocates only at its start and end, not for events.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use seatmap_cell_sim::channels::{Atomic, Bed, ChannelProgram};
use seatmap_cell_sim::workload::stats::{AtomicsWorkload, BufferLocation, Transfers};
use seatmap_cell_sim::{CellBed, catalog};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`, and `alloc` above got it from the
        // system.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn count<P: ChannelProgram>(bed: &mut CellBed, program: &P) -> u64 {
    let seats: Vec<u32> = (0..program.shape().tasks as u32).collect();
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    bed.run(&seats, program, 1).unwrap();
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

/// A run with ten times as many events has the same number of allocations, on a machine that has
/// run before.
fn assert_steady<P: ChannelProgram>(what: &str, of: impl Fn(u64) -> P) {
    let mut bed = CellBed::new(catalog::load("cell-qs20").unwrap().unwrap());
    bed.run(&(0..16).collect::<Vec<_>>(), &of(200), 1).unwrap();
    let short = count(&mut bed, &of(20));
    let short_events = bed.counters().events;
    let long = count(&mut bed, &of(200));
    let long_events = bed.counters().events;
    assert!(long_events > 5 * short_events, "{what}: {short_events} events and {long_events}");
    assert_eq!(short, long, "{what}: {short_events} events and {long_events}");
}

#[test]
fn events_allocate_nothing() {
    let transfers = |elements, size_bytes| {
        move |iterations| Transfers {
            is_get: true,
            tasks: 16,
            size_bytes,
            elements,
            stride_bytes: Some(4096),
            source: BufferLocation::Memory(0),
            warm_up: 0,
            iterations,
        }
    };
    assert_steady("transfers", transfers(None, 4096));
    assert_steady("lists", transfers(Some(16), 64));
    assert_steady("atomics", |iterations| AtomicsWorkload {
        operation: Atomic::Add,
        operand: 1,
        tasks: 16,
        stride_bytes: None,
        module: 0,
        warm_up: 0,
        iterations,
    });
}
