//! Linux's way: a thread for each SPE and the program's own thread, all on one CPU.
//!
//! The paper's kernel had one CPU (section 4.1), so its work for one thread delays the others. The
//! threads take turns by the rules of Linux 2.6.30's fair scheduler (kernel/sched_fair.c): a new
//! thread runs before its maker; a woken thread preempts one that is far enough ahead of it; time
//! slices end at timer interrupts. Work inside the kernel is not preempted (the kernel for the Cell
//! had `CONFIG_PREEMPT_NONE`).

use super::inputs::CostKind;
use super::program::{ProgramRun, SpeCalls, since};
use super::scheduler::{FairScheduler, PickedThread};
use seatmap_cell_sim::channels::{Channels, SignalNumber};
use std::cell::RefCell;

const MAIN: usize = 0;
/// The interval of looks for stopped SPEs, in microseconds: shorter than a mailbox call.
const GRAIN_US: f64 = 0.25;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    User,
    Kernel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// In `spu_run`, before its SPE runs.
    Activating,
    /// Asleep until its SPE stops.
    Running,
    Returning,
    Exiting,
    Ended,
}

#[derive(Clone, Copy, Debug)]
struct SpeThread {
    stage: Stage,
    left: u64,
    /// The time base when it called `spe_context_run`.
    called: Option<u32>,
    was_interrupted: bool,
    /// Whether its registers have been accessed since it was bound to its SPE.
    is_mapped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    Activation(usize),
    End(usize),
}

struct State {
    scheduler: FairScheduler,
    spes: Vec<SpeThread>,
    next_tick: u64,
    waits: Option<Wait>,
    kernel: u64,
    user: u64,
    run_ticks: u64,
}

pub struct Linux<'a, C> {
    channels: &'a C,
    run: &'a ProgramRun,
    state: RefCell<State>,
    grain: u64,
    tick_period: u64,
}

impl<'a, C: Channels> Linux<'a, C> {
    pub fn new(channels: &'a C, run: &'a ProgramRun) -> Self {
        let tick_period =
            (run.cycles_per_us * 1e6 / run.inputs.value(CostKind::TickRate)).max(1.0) as u64;
        let scheduler = FairScheduler::new(
            run.cycles(CostKind::Latency),
            run.cycles(CostKind::Granularity),
            run.cycles(CostKind::WakeupGranularity),
        );
        let state = RefCell::new(State {
            scheduler,
            spes: Vec::new(),
            next_tick: (run.phase * tick_period as f64) as u64,
            waits: None,
            kernel: 0,
            user: 0,
            run_ticks: 0,
        });
        let grain = (GRAIN_US * run.cycles_per_us).max(1.0) as u64;
        Linux { channels, run, state, grain, tick_period }
    }

    fn pass(&self, cycles: u64, mode: Mode) {
        self.channels.compute(cycles);
        self.account(cycles, mode);
    }

    fn account(&self, cycles: u64, mode: Mode) {
        let mut state = self.state.borrow_mut();
        if state.scheduler.charge(cycles) {
            match mode {
                Mode::User => state.user += cycles,
                Mode::Kernel => state.kernel += cycles,
            }
        }
    }

    fn kernel(&self, cost: CostKind) {
        self.pass(self.run.cycles(cost), Mode::Kernel);
    }

    fn take_interrupts(&self) {
        loop {
            let now = self.channels.cycles();
            if now >= self.state.borrow().next_tick {
                self.state.borrow_mut().next_tick += self.tick_period;
                self.kernel(CostKind::Tick);
                self.state.borrow_mut().scheduler.tick();
            } else if let Some(spe) = self.stopped() {
                self.state.borrow_mut().spes[spe].was_interrupted = true;
                self.kernel(CostKind::Interrupt);
                self.wake_for(spe);
            } else {
                return;
            }
        }
    }

    fn stopped(&self) -> Option<usize> {
        let state = self.state.borrow();
        (0..state.spes.len()).find(|spe| {
            !state.spes[*spe].was_interrupted && self.run.signs[*spe].stopped_at().is_some()
        })
    }

    fn wake_for(&self, spe: usize) {
        let mut state = self.state.borrow_mut();
        state.spes[spe].stage = Stage::Returning;
        state.spes[spe].left = self.run.cycles(CostKind::Return);
        state.scheduler.wake(1 + spe);
    }

    fn step(&self) -> u64 {
        let state = self.state.borrow();
        let to_tick = state.next_tick.saturating_sub(self.channels.cycles()).max(1);
        let watches = state.spes.iter().any(|spe| spe.stage == Stage::Running);
        if watches { to_tick.min(self.grain) } else { to_tick }
    }

    fn work(&self, mut left: u64, mode: Mode) -> u64 {
        while left > 0 {
            self.take_interrupts();
            if mode == Mode::User && self.state.borrow().scheduler.must_switch() {
                return left;
            }
            let step = left.min(self.step());
            self.pass(step, mode);
            left -= step;
        }
        0
    }

    fn spend(&self, cost: CostKind, mode: Mode) {
        let mut left = self.run.cycles(cost);
        loop {
            left = self.work(left, mode);
            if left == 0 {
                return self.leave_kernel();
            }
            self.schedule();
        }
    }

    /// Does a preemption that was due inside the kernel.
    fn leave_kernel(&self) {
        self.take_interrupts();
        if self.state.borrow().scheduler.must_switch() {
            self.schedule();
        }
    }

    fn wait(&self, wait: Wait) {
        while !self.has_happened(wait) {
            let mut state = self.state.borrow_mut();
            state.waits = Some(wait);
            state.scheduler.sleep(MAIN);
            drop(state);
            self.schedule();
        }
    }

    fn has_happened(&self, wait: Wait) -> bool {
        let state = self.state.borrow();
        match wait {
            Wait::Activation(spe) => state.spes[spe].stage != Stage::Activating,
            Wait::End(spe) => state.spes[spe].stage == Stage::Ended,
        }
    }

    fn schedule(&self) {
        loop {
            let picked = self.state.borrow_mut().scheduler.pick();
            match picked {
                None => {
                    // No thread can run: the CPU waits for an interrupt.
                    self.pass(self.step(), Mode::Kernel);
                    self.take_interrupts();
                }
                Some(PickedThread { number, is_other }) => {
                    if is_other {
                        self.kernel(CostKind::Switch);
                    }
                    if number == MAIN {
                        return;
                    }
                    self.run_thread(number - 1);
                }
            }
        }
    }

    fn run_thread(&self, spe: usize) {
        loop {
            let SpeThread { stage, left, called, .. } = self.state.borrow().spes[spe];
            let mode = if stage == Stage::Returning { Mode::User } else { Mode::Kernel };
            if called.is_none() {
                self.state.borrow_mut().spes[spe].called = Some(self.channels.decrementer());
            }
            let left = self.work(left, mode);
            self.state.borrow_mut().spes[spe].left = left;
            if left > 0 || !self.next_stage(spe, stage) {
                return;
            }
        }
    }

    /// Returns false if the thread yields the CPU.
    fn next_stage(&self, spe: usize, stage: Stage) -> bool {
        match stage {
            Stage::Activating => {
                self.channels.signal(1 + spe, SignalNumber::One, 1);
                let mut state = self.state.borrow_mut();
                state.spes[spe].stage = Stage::Running;
                state.scheduler.sleep(1 + spe);
                state.wake_main(Wait::Activation(spe));
                false
            }
            Stage::Returning => {
                let mut state = self.state.borrow_mut();
                let called = state.spes[spe].called.unwrap_or_default();
                state.run_ticks += since(self.channels, called);
                state.spes[spe].stage = Stage::Exiting;
                state.spes[spe].left = self.run.cycles(CostKind::Exit);
                true
            }
            Stage::Exiting => {
                let mut state = self.state.borrow_mut();
                state.spes[spe].stage = Stage::Ended;
                state.scheduler.sleep(1 + spe);
                state.wake_main(Wait::End(spe));
                false
            }
            Stage::Running | Stage::Ended => false,
        }
    }

    fn access(&self, access: impl FnOnce(&C)) {
        let began = self.channels.cycles();
        access(self.channels);
        self.account(self.channels.cycles() - began, Mode::User);
    }
}

impl State {
    fn wake_main(&mut self, over: Wait) {
        if self.waits == Some(over) {
            self.waits = None;
            self.scheduler.wake(MAIN);
        }
    }
}

impl<C: Channels> SpeCalls for Linux<'_, C> {
    fn map(&self) {
        self.spend(CostKind::LinuxMap, Mode::Kernel);
    }

    fn load(&self) {
        self.spend(CostKind::LinuxLoad, Mode::User);
    }

    fn create(&self, _spe: usize) {
        self.spend(CostKind::Clone, Mode::Kernel);
        let mut state = self.state.borrow_mut();
        state.spes.push(SpeThread {
            stage: Stage::Activating,
            left: self.run.cycles(CostKind::Activate),
            called: None,
            was_interrupted: false,
            is_mapped: false,
        });
        state.scheduler.fork();
        drop(state);
        self.leave_kernel();
    }

    fn write(&self, spe: usize, message: u32) {
        if !self.state.borrow().spes[spe].is_mapped {
            // The fault waits until the context is on its SPE (spufs_ps_fault).
            self.wait(Wait::Activation(spe));
            self.spend(CostKind::Fault, Mode::Kernel);
            self.state.borrow_mut().spes[spe].is_mapped = true;
        }
        self.spend(CostKind::Library, Mode::User);
        self.access(|channels| channels.mailbox_write(1 + spe, message));
    }

    fn sees_answer(&self, spe: usize) -> bool {
        self.spend(CostKind::Look, Mode::User);
        self.run.signs[spe].has_answered()
    }

    fn read(&self, spe: usize) {
        self.spend(CostKind::Library, Mode::User);
        self.access(|channels| _ = channels.outbox_read(1 + spe));
    }

    fn join(&self, spe: usize) {
        self.wait(Wait::End(spe));
        self.spend(CostKind::Library, Mode::User);
    }

    fn run_ticks(&self) -> u64 {
        self.state.borrow().run_ticks
    }

    fn kernel_share(&self) -> Option<f64> {
        let state = self.state.borrow();
        let all = state.kernel + state.user;
        (all > 0).then(|| state.kernel as f64 / all as f64)
    }
}
