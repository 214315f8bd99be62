//! Detects SPU programs that spin on their local store without a call.
//!
//! During a program's turn, its thread samples itself every few milliseconds of CPU time. If
//! registers and local store are as in an earlier sample, the program spins until its store changes
//! from outside, and waits in virtual time for new bytes. A computing program is never in the same
//! state twice.

use crate::image::LoadedProgram;
use crate::simulated::call::call;
use crate::spu::SpuState;
use crate::store::SpeStore;
use seatmap_cell_sim::os::sample::{ThreadSample, Ticks};
use seatmap_cell_sim::session::SessionCall;
use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

/// The CPU time between samples. A sample of a store of 256 KiB takes 1/100 of it.
const EVERY: Duration = Duration::from_millis(4);
const KEPT: usize = 64;
/// The stack for an interruption, with the kernel's saved registers.
const ROOM_BYTES: u64 = 8 << 10;

struct Watch {
    base: u64,
    bytes: u64,
    words: *const u64,
    limit: u64,
    counts: bool,
    spu: *mut SpuState,
    states: [Cell<u64>; KEPT],
    count: Cell<usize>,
}

static WATCH: AtomicPtr<Watch> = AtomicPtr::new(std::ptr::null_mut());

/// Starts to observe programs on the calling thread.
///
/// # Errors
/// The kernel's error: spinning programs are then not detected.
pub fn begin() -> io::Result<Ticks> {
    Ticks::begin(EVERY, look, interrupt)
}

/// Gives a program its turn and observes it.
pub fn watched<T>(
    store: &SpeStore,
    loaded: &LoadedProgram,
    spu: *mut SpuState,
    turn: impl FnOnce() -> T,
) -> T {
    let base = store.base() as u64;
    let bytes = store.bytes() as u64;
    let words = store.effective().cast::<u64>().cast_const();
    let states = [const { Cell::new(0) }; KEPT];
    let limit = base + loaded.end as u64;
    let counts = loaded.counts;
    let mut watch = Watch { base, bytes, words, limit, counts, spu, states, count: Cell::new(0) };
    WATCH.store(&raw mut watch, Ordering::Release);
    let result = turn();
    WATCH.store(std::ptr::null_mut(), Ordering::Release);
    result
}

fn watch<'a>() -> Option<&'a Watch> {
    // SAFETY: it is set only while the sampling thread is in `watched`.
    unsafe { WATCH.load(Ordering::Acquire).as_ref() }
}

fn look(sample: ThreadSample) -> bool {
    let Some(watch) = watch() else { return false };
    if !watch.can_be_interrupted(sample) {
        return false;
    }
    // The counter of a program's work is not part of the state.
    let counter = if watch.counts { 0 } else { sample.counter };
    let state = watch.number() ^ sample.registers ^ counter;
    let count = watch.count.get();
    let is_known = watch.states[..count.min(KEPT)].iter().any(|known| known.get() == state);
    watch.states[count % KEPT].set(state);
    watch.count.set(count + 1);
    is_known
}

impl Watch {
    fn can_be_interrupted(&self, sample: ThreadSample) -> bool {
        let is_own_code = sample.at.wrapping_sub(self.base) < self.bytes;
        is_own_code && (self.limit + ROOM_BYTES..self.base + self.bytes).contains(&sample.stack)
    }

    fn number(&self) -> u64 {
        // FNV-1a over words, rotated for the high bits. SAFETY: within the store, which outlives
        // the turn.
        (0..self.bytes as usize / 8)
            .fold(0, |number, at| mixed(number, unsafe { self.words.add(at).read_volatile() }))
    }
}

fn mixed(number: u64, word: u64) -> u64 {
    (number ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
}

/// Waits in virtual time, on the program's own stack. Does not charge the work since the last call,
/// which depends on the time of spinning here.
fn interrupt(sample: ThreadSample) {
    if let Some(watch) = watch().filter(|watch| watch.can_be_interrupted(sample)) {
        // SAFETY: the program is interrupted in its own code, so nothing else uses its state.
        let spu = unsafe { &mut *watch.spu };
        spu.simulated.count.forget(sample.counter);
        call(spu, SessionCall::AwaitStore);
    }
}
