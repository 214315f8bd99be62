//! A run of a program: start, stop and resumption.

use crate::error::SpeError;
use crate::faults::{self, ProgramPlace};
use crate::hooks::Hooks;
use crate::image::{Image, LoadedProgram};
use crate::simulated::spu::CycleCount;
use crate::simulated::{compute, spin};
use crate::spu::SpuState;
use crate::state::SpeState;
pub use crate::stop::{Arguments, EntryPoint, Pause, RegisterWords, RunStop, StopReason, Turned};
use crate::store::SpeStore;
use crate::symbols::Symbols;
use corosensei::stack::{Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult};
use seatmap_cell_sim::session::{CellBeSession, ProgramTurn};
use std::cell::UnsafeCell;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Free bytes at the store's end, above the stack, as in the ABI of SPUs.
const TOP_BYTES: usize = 64;

struct StoreStack {
    base: StackPointer,
    limit: StackPointer,
}

// SAFETY: the range is in the store's mapping, which outlives the coroutine, above the program's
// data.
unsafe impl Stack for StoreStack {
    fn base(&self) -> StackPointer {
        self.base
    }

    fn limit(&self) -> StackPointer {
        self.limit
    }
}

type Program = Coroutine<(), Pause, StopReason, StoreStack>;
type Start = unsafe extern "C" fn(u64, u64, u64, *const RegisterWords);

/// A program in a store and its progress.
pub struct SpuRun {
    spu: Box<UnsafeCell<SpuState>>,
    loaded: Option<LoadedProgram>,
    symbols: Arc<Symbols>,
    program: Option<Program>,
}

impl std::fmt::Debug for SpuRun {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.debug_struct("Runner").field("loaded", &self.loaded).finish_non_exhaustive()
    }
}

impl SpuRun {
    /// The runner of a context without a program.
    pub fn new(spe: *const SpeState) -> Self {
        let spu = Box::new(UnsafeCell::new(SpuState::new(spe)));
        SpuRun { spu, loaded: None, symbols: Arc::default(), program: None }
    }

    /// Loads a program into the store, linked to `hooks`.
    ///
    /// # Errors
    /// The errors of [`Image::load`].
    pub fn load(
        &mut self,
        store: &SpeStore,
        hooks: &'static Hooks,
        image: &Image,
    ) -> Result<(), SpeError> {
        self.end();
        self.loaded = None;
        faults::retake();
        let loaded =
            image.load(store, [std::ptr::from_ref(hooks) as u64, self.spu.get() as u64])?;
        self.loaded = Some(loaded);
        self.symbols = image.symbols();
        // SAFETY: no program runs, so nothing else touches the state.
        let spu = unsafe { &mut *self.spu.get() };
        *spu = SpuState::new(spu.spe);
        spu.acknowledged = spu.spe().mailboxes().counts_before();
        Ok(())
    }

    /// Prepares the program to start or resume. Returns whether it starts.
    ///
    /// # Errors
    /// [`SpeError::NoProgram`].
    pub fn prepare(
        &mut self,
        spe: &SpeState,
        entry: EntryPoint,
        arguments: Arguments,
    ) -> Result<bool, SpeError> {
        let loaded = self.loaded.ok_or(SpeError::NoProgram(spe.number()))?;
        if entry == EntryPoint::Resume && self.program.is_some() {
            return Ok(false);
        }
        self.end();
        let base = spe.store().base() as usize;
        let bytes = spe.store().bytes();
        let stack = StoreStack {
            base: NonZeroUsize::new(base + (bytes - TOP_BYTES))
                .ok_or(SpeError::NoProgram(spe.number()))?,
            limit: NonZeroUsize::new(base + loaded.end).ok_or(SpeError::NoProgram(spe.number()))?,
        };
        let spu = self.spu.get();
        // SAFETY: no program runs, so nothing else touches the state. The count starts at 0.
        unsafe { (*spu).simulated.count = CycleCount::default() };
        let start = loaded.start;
        self.program = Some(Coroutine::with_stack(stack, move |yielder, ()| {
            // SAFETY: the state outlives the program, and only the program's thread touches it now.
            unsafe { (*spu).yielder = yielder };
            // SAFETY: the loader placed the runtime's start function there.
            let start = unsafe { std::mem::transmute::<usize, Start>(start) };
            let Arguments { numbers: [first, second, third], words } = arguments;
            // SAFETY: as above; the vectors are on the program's own stack.
            unsafe { start(first, second, third, &raw const words) };
            StopReason::Code(0x2000)
        }));
        Ok(true)
    }

    /// Runs the program on this thread until it stops.
    pub fn resume(&mut self) -> Pause {
        let place = self.place();
        let Some(program) = &mut self.program else { return Pause::Stop(StopReason::Defect) };
        let mut pause = match faults::running(&place, || program.resume(())) {
            CoroutineResult::Yield(pause) => pause,
            CoroutineResult::Return(stop) => Pause::Stop(stop),
        };
        if let Pause::Stop(StopReason::Fault(fault)) = &mut pause {
            fault.place = self.symbols.place(fault.at, place.base, place.bytes);
        }
        if matches!(&pause, Pause::Stop(stop) if !stop.goes_on()) {
            self.end();
        }
        pause
    }

    fn place(&self) -> ProgramPlace {
        let spu = self.spu.get();
        // SAFETY: no program runs, so nothing else touches the state.
        let store = unsafe { (*spu).spe().store() };
        ProgramPlace {
            spu,
            base: store.base() as u64,
            effective: store.effective() as u64,
            bytes: store.bytes() as u64,
            end: self.loaded.map_or(0, |loaded| loaded.end as u64),
        }
    }

    /// As [`Resumable::resume_simulated`](crate::stop::Resumable::resume_simulated).
    ///
    /// # Safety
    /// The session belongs to the program until it returns.
    pub unsafe fn resume_simulated(
        &mut self,
        store: &SpeStore,
        session: *mut CellBeSession,
        turn: ProgramTurn,
    ) -> Turned {
        let since_ns = compute::spent_ns();
        let spu = self.spu.get();
        // SAFETY: no program runs, so nothing else touches the state.
        let simulated = unsafe { &mut (*spu).simulated };
        (simulated.session, simulated.turn) = (session, turn);
        let Some(loaded) = self.loaded else {
            return Turned { pause: Pause::Stop(StopReason::Defect), worked_ns: 0, counted: 0 };
        };
        let pause = spin::watched(store, &loaded, spu, || self.resume());
        // SAFETY: the program has stopped.
        let counted = unsafe { (*spu).simulated.count.take() };
        let worked_ns = compute::spent_ns().saturating_sub(since_ns);
        Turned { pause, worked_ns, counted: if loaded.counts { counted } else { 0 } }
    }

    /// The local-store address that a stopped program reports.
    pub fn stopped_at(&self) -> u32 {
        // SAFETY: no program runs while the runner is held.
        unsafe { (*self.spu.get()).stopped_at }
    }

    fn end(&mut self) {
        if let Some(mut program) = self.program.take() {
            // SAFETY: its frames are those of C code in the store, and of closures here that own
            // nothing.
            unsafe { program.force_reset() };
        }
    }
}

impl Drop for SpuRun {
    fn drop(&mut self) {
        self.end();
    }
}
