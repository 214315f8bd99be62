//! SPU programs that wait for a change of their local store without a call, found out and put
//! aside.
//!
//! While a program has its turn, its thread looks at itself every few milliseconds of its CPU time.
//! If the registers and all bytes of the local store are as they were in an earlier look, the
//! program does the same for ever unless its store changes from outside. It then waits in virtual
//! time until bytes arrive there. A program that computes is never in the same state twice, however
//! long it takes.

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

/// How often a thread looks at itself: a look at a store of 256 KiB takes a hundredth of it.
const EVERY: Duration = Duration::from_millis(4);
/// States that are kept of one turn.
const KEPT: usize = 64;
/// Bytes of the stack that a program must have left, so that it can be interrupted: the kernel
/// saves its registers there.
const ROOM_BYTES: u64 = 8 << 10;

/// The turn of a program that is looked at.
struct Watch {
    /// Its store as it sees it, and its length.
    base: u64,
    bytes: u64,
    /// Its store as others see it.
    words: *const u64,
    /// Where its stack ends.
    limit: u64,
    /// Whether it counts its work.
    counts: bool,
    spu: *mut SpuState,
    states: [Cell<u64>; KEPT],
    count: Cell<usize>,
}

static WATCH: AtomicPtr<Watch> = AtomicPtr::new(std::ptr::null_mut());

/// Begins to look at programs that run on the calling thread.
///
/// # Errors
/// The kernel's error: then programs that spin are not found out.
pub fn begin() -> io::Result<Ticks> {
    Ticks::begin(EVERY, look, interrupt)
}

/// Lets a program have its turn, while it is looked at.
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
    // SAFETY: it is set only while the thread that looks is in `watched`.
    unsafe { WATCH.load(Ordering::Acquire).as_ref() }
}

/// Whether the program is in a state in which it was before.
fn look(sample: ThreadSample) -> bool {
    let Some(watch) = watch() else { return false };
    if !watch.can_be_interrupted(sample) {
        return false;
    }
    // A program that counts its work is in the same state if only that has changed.
    let counter = if watch.counts { 0 } else { sample.counter };
    let state = watch.number() ^ sample.registers ^ counter;
    let count = watch.count.get();
    let is_known = watch.states[..count.min(KEPT)].iter().any(|known| known.get() == state);
    watch.states[count % KEPT].set(state);
    watch.count.set(count + 1);
    is_known
}

impl Watch {
    /// Whether the program is in its own code, with room on its stack.
    fn can_be_interrupted(&self, sample: ThreadSample) -> bool {
        let is_own_code = sample.at.wrapping_sub(self.base) < self.bytes;
        is_own_code && (self.limit + ROOM_BYTES..self.base + self.bytes).contains(&sample.stack)
    }

    /// A number for all bytes of the store.
    fn number(&self) -> u64 {
        // FNV-1a over words, with a turn so that high bits count.
        // SAFETY: within the store, which outlives the turn.
        (0..self.bytes as usize / 8)
            .fold(0, |number, at| mixed(number, unsafe { self.words.add(at).read_volatile() }))
    }
}

fn mixed(number: u64, word: u64) -> u64 {
    (number ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
}

/// On the program's own stack, at the lowest place where it spins: waits in virtual time. The work
/// that it counted since its last call is not charged, because that depends on how long the
/// spinning took here.
fn interrupt(sample: ThreadSample) {
    if let Some(watch) = watch().filter(|watch| watch.can_be_interrupted(sample)) {
        // SAFETY: the program is interrupted in its own code, so that nothing else uses its state.
        let spu = unsafe { &mut *watch.spu };
        spu.simulated.count.forget(sample.counter);
        call(spu, SessionCall::AwaitStore);
    }
}
