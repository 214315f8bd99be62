//! The thread that owns the session and runs the programs by turns.

use crate::simulated::compute::{CHOICE, Compute};
use crate::simulated::finish::{self, Wishes};
use crate::simulated::request::{Driver, DriverRequest, DriverSlot, Request};
use crate::simulated::spin;
use crate::simulated::watch::{self, RunningThread, SpinningThread, ThreadState};
use crate::stop::{Pause, Resumable, StopReason, Turned};
use seatmap_cell_sim::CellModel;
use seatmap_cell_sim::session::{CellBeSession, Next, ProgramTurn, SessionCall};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// Starts a machine's driver.
///
/// # Errors
/// A message: a wrong environment variable, or no thread.
pub fn start(model: &Arc<CellModel>) -> Result<Arc<Driver>, String> {
    let compute = Compute::parse(std::env::var("SEATMAP_SPE_COMPUTE").ok().as_deref())?;
    let seats = seats(std::env::var("SEATMAP_SPE_SEATS").ok().as_deref(), model)?;
    let wishes = Wishes::read()?;
    let wants_trace = wishes.wants_trace();
    _ = CHOICE.set(compute);
    let driver = Arc::new(Driver::new(Arc::clone(model)));
    let own = Arc::clone(&driver);
    let thread = std::thread::Builder::new().name("simulated-cell".into()).spawn(move || {
        // The broken invariant has already been reported, and nothing can continue.
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            Turns::new(own, &seats, compute, wants_trace).take()
        }))
        .is_err()
        {
            finish::give_up();
            std::process::exit(1);
        }
    });
    finish::at_end(&driver, wishes);
    thread.map(|_| driver).map_err(|error| format!("no thread for the simulated Cell: {error}"))
}

fn seats(listed: Option<&str>, model: &CellModel) -> Result<Vec<u16>, String> {
    let Some(text) = listed else { return Ok(Vec::new()) };
    let list = text
        .parse::<seatmap_os::CpuList>()
        .map_err(|error| format!("SEATMAP_SPE_SEATS={text}: {error}"))?;
    let spes = model.spes() as u32;
    match list.0.iter().find(|seat| **seat >= spes) {
        Some(seat) => Err(format!(
            "SEATMAP_SPE_SEATS={text}: {} has SPEs 0 to {}, not {seat}",
            model.name,
            spes - 1
        )),
        None => Ok(list.0.iter().map(|seat| *seat as u16).collect()),
    }
}

enum Task {
    Free,
    Thread(Arc<DriverSlot>),
    Spu(Arc<dyn Resumable>),
}

struct Turns {
    driver: Arc<Driver>,
    session: CellBeSession,
    compute: Compute,
    tasks: Vec<Task>,
    threads: u32,
    /// Threads that run here, while virtual time stops.
    running: Vec<RunningThread>,
    /// Threads that spin until memory changes, while virtual time continues.
    spinning: Vec<SpinningThread>,
    held: Vec<Request>,
    still_since: Option<Instant>,
}

impl Turns {
    fn new(driver: Arc<Driver>, seats: &[u16], compute: Compute, wants_trace: bool) -> Self {
        let mut session = CellBeSession::new(driver.model(), seats);
        if wants_trace {
            session.begin_trace();
        }
        Turns {
            driver,
            session,
            compute,
            tasks: Vec::new(),
            threads: 0,
            running: Vec::new(),
            spinning: Vec::new(),
            held: Vec::new(),
            still_since: None,
        }
    }

    fn take(&mut self) {
        // Without ticks, a spinning SPU program is not detected.
        let _ticks = spin::begin();
        loop {
            self.receive();
            match (self.running.is_empty(), self.spinning.is_empty()) {
                (false, _) => self.await_call(),
                (true, true) => match self.session.advance() {
                    Some(turn) => self.turn(turn),
                    None => self.stand_still(),
                },
                (true, false) => self.advance_beside_spinning(),
            }
        }
    }

    fn receive(&mut self) {
        while let Some(request) = self.driver.take() {
            let task = task_of(&request.desk);
            if self.spinning.iter().any(|spinning| spinning.task == task) {
                self.held.push(request)
            } else {
                self.serve(request)
            }
        }
    }

    /// Waits for a call of a running thread; meanwhile observes the threads.
    fn await_call(&mut self) {
        if let Some(request) = self.driver.take_within(watch::PATIENCE) {
            return self.serve(request);
        }
        for mut running in std::mem::take(&mut self.running) {
            match running.look() {
                ThreadState::Running => self.running.push(running),
                ThreadState::Away => {}
                ThreadState::Gone => self.leave(running.task),
                ThreadState::Spinning(spinning) => self.spinning.push(spinning),
            }
        }
        self.session.memory_changed();
    }

    fn advance_beside_spinning(&mut self) {
        match self.session.advance_to_store() {
            Some(Next::Turn(turn)) => self.turn(turn),
            Some(Next::Store) => {}
            None if self.spinning.iter().any(SpinningThread::has_unseen) => {
                return self.look_at_memory(|_| true);
            }
            None => return self.stand_still(),
        }
        self.still_since = None;
        // An SPU's program may also have stored to its local store.
        self.look_at_memory(SpinningThread::stored);
    }

    /// Lets the due spinning threads look at memory. A thread that no longer spins runs again.
    fn look_at_memory(&mut self, is_due: impl Fn(&mut SpinningThread) -> bool) {
        for mut spinning in std::mem::take(&mut self.spinning) {
            let task = spinning.task;
            if !is_due(&mut spinning) || spinning.looks(|| self.has_called(task)) {
                self.spinning.push(spinning);
                continue;
            }
            self.session.memory_changed();
            match self.held.iter().position(|request| task_of(&request.desk) == task) {
                Some(at) => {
                    let request = self.held.remove(at);
                    self.serve(request);
                }
                None => self.run_again(task),
            }
        }
    }

    fn has_called(&mut self, task: u16) -> bool {
        while let Some(request) = self.driver.take() {
            self.held.push(request);
        }
        self.held.iter().any(|request| task_of(&request.desk) == task)
    }

    fn run_again(&mut self, task: u16) {
        if let Some(Task::Thread(desk)) = self.tasks.get(usize::from(task)) {
            self.running.push(RunningThread::new(task, Arc::clone(desk)));
        }
    }

    fn turn(&mut self, turn: ProgramTurn) {
        match self.tasks.get(usize::from(turn.task)) {
            Some(Task::Spu(program)) => {
                let program: *const dyn Resumable = Arc::as_ptr(program);
                // SAFETY: `tasks` keeps the program until it has stopped.
                self.spu_turn(turn, unsafe { &*program });
            }
            Some(Task::Thread(desk)) => {
                let desk = Arc::clone(desk);
                match desk.next_call(turn.answer) {
                    Some(call) => {
                        self.session.memory_changed();
                        self.session.call(turn.task, call, 0);
                    }
                    None => self.let_go(&desk, turn.answer),
                }
            }
            _ => {}
        }
    }

    fn let_go(&mut self, desk: &Arc<DriverSlot>, answer: u64) {
        self.running.push(RunningThread::new(task_of(desk), Arc::clone(desk)));
        desk.answer(answer);
    }

    fn spu_turn(&mut self, turn: ProgramTurn, program: &dyn Resumable) {
        let session = &raw mut self.session;
        // SAFETY: the thread that runs the program waits for its end, and only the program uses the
        // session meanwhile.
        let Turned { pause, worked_ns, counted } =
            unsafe { program.resume_simulated(session, turn) };
        let work = self.compute.cycles(worked_ns, counted, self.driver.model().frequency_ghz);
        match pause {
            Pause::Call(call) => self.session.call(turn.task, call, work),
            Pause::Stop(stop) => self.spu_stopped(turn.task, stop),
        }
    }

    fn spu_stopped(&mut self, task: u16, stop: StopReason) {
        let goes_on = stop.goes_on();
        if let Some(Task::Thread(desk)) =
            self.session.runner(task).and_then(|task| self.tasks.get(usize::from(task)))
        {
            *desk.stop.lock().unwrap_or_else(PoisonError::into_inner) = Some(stop);
        }
        self.session.stopped(task, !goes_on);
    }

    fn serve(&mut self, request: Request) {
        let Request { desk, worked_ns, ask } = request;
        let task = task_of(&desk);
        let work = self.compute.cycles(worked_ns, 0, self.driver.model().frequency_ghz);
        self.session.memory_changed();
        match ask {
            DriverRequest::Join => {
                self.seat(&desk);
                self.let_go(&desk, 0);
            }
            DriverRequest::Open(new) => {
                let task = self.seat(&new);
                self.session.begin(task);
                desk.answer(0);
            }
            DriverRequest::Now(does) => desk.answer(does(&mut self.session)),
            DriverRequest::Call(call) => self.call(task, call, work),
            DriverRequest::Run { context, program, is_fresh } => {
                self.put(context, Task::Spu(program));
                self.call(task, SessionCall::Run { context, is_fresh }, work);
            }
            DriverRequest::Leave => self.leave(task),
        }
    }

    fn call(&mut self, task: u16, call: SessionCall, work: u64) {
        self.running.retain(|other| other.task != task);
        if let SessionCall::Destroy(context) = call {
            self.put(context, Task::Free);
        }
        self.session.call(task, call, work);
    }

    fn seat(&mut self, desk: &Arc<DriverSlot>) -> u16 {
        let task = self.session.add_thread(self.threads);
        self.threads += 1;
        desk.task.store(task.into(), Ordering::Release);
        self.put(task, Task::Thread(Arc::clone(desk)));
        task
    }

    fn put(&mut self, task: u16, what: Task) {
        let at = usize::from(task);
        if self.tasks.len() <= at {
            self.tasks.resize_with(at + 1, || Task::Free);
        }
        self.tasks[at] = what;
    }

    fn leave(&mut self, task: u16) {
        self.running.retain(|other| other.task != task);
        self.spinning.retain(|other| other.task != task);
        self.session.remove_thread(task);
        self.put(task, Task::Free);
    }

    /// Handles a standstill, if nothing is in progress and no known thread runs: another thread can
    /// still make a call, or all wait forever.
    fn stand_still(&mut self) {
        if let Some(at) = (!self.held.is_empty()).then_some(0) {
            let request = self.held.remove(at);
            let task = task_of(&request.desk);
            self.spinning.retain(|other| other.task != task);
            return self.serve(request);
        }
        if self.session.look_at_arrivals() {
            return;
        }
        if let Some(request) = self.driver.take_within(watch::PATIENCE) {
            let task = task_of(&request.desk);
            self.spinning.retain(|other| other.task != task);
            return self.serve(request);
        }
        let since = *self.still_since.get_or_insert_with(Instant::now);
        if self.has_strangers() || !(self.spinning.is_empty() || watch::is_over(since)) {
            return;
        }
        self.report_deadlock();
    }

    /// Whether any thread might end a wait.
    fn has_strangers(&self) -> bool {
        let threads =
            self.tasks.iter().enumerate().filter(|(_, task)| matches!(task, Task::Thread(_)));
        let known = threads
            .filter(|(at, _)| self.session.is_waiting(*at as u16) || self.is_spinning(*at as u16))
            .count();
        let all = seatmap_os::task::threads(std::process::id() as seatmap_os::Tid);
        // The driver is one of them. An unreadable list may contain others.
        all.map_or(true, |all| all.len() > known + 1)
    }

    fn is_spinning(&self, task: u16) -> bool {
        self.spinning.iter().any(|spinning| spinning.task == task)
    }

    fn report_deadlock(&mut self) -> ! {
        let waiting: Vec<String> = self
            .session
            .waiting()
            .into_iter()
            .chain(self.spinning.iter().filter_map(|spinning| self.session.spins(spinning.task)))
            .collect();
        eprintln!(
            "libspe2: deadlock after {:.0} ns: {}",
            self.session.now_ns(),
            waiting.join("; ")
        );
        finish::leave(&mut self.session);
        std::process::exit(1);
    }
}

fn task_of(desk: &DriverSlot) -> u16 {
    desk.task.load(Ordering::Acquire) as u16
}
