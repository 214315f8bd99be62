//! The thread that owns the session, and in which the programs take turns.

use crate::context::Context;
use crate::notify::Notify;
use crate::run::{Pause, Stop};
use crate::simulated::compute::{CHOICE, Compute};
use crate::simulated::desk::{Ask, Desk, Request};
use crate::simulated::ppe::Seat;
use seatmap_sim::CellModel;
use seatmap_sim::cell_be::session::{Call, Session, Turn};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a standstill lasts before it is looked into: threads that have just begun or ended have time to say so.
const PATIENCE: Duration = Duration::from_millis(20);

/// The way to the driver.
#[derive(Debug)]
pub struct Driver {
    model: Arc<CellModel>,
    inbox: Mutex<VecDeque<Request>>,
    bell: Notify,
}

impl Driver {
    /// The model of the machine.
    #[must_use]
    pub fn model(&self) -> &Arc<CellModel> {
        &self.model
    }

    /// Sends a request.
    pub fn send(&self, request: Request) {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner).push_back(request);
        self.bell.ring();
    }

    fn take_within(&self, time: Duration) -> Option<Request> {
        self.bell.wait_until(Some(Instant::now() + time), || self.take())
    }

    fn take(&self) -> Option<Request> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

impl std::fmt::Debug for Request {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.debug_struct("Request").field("desk", &self.desk).finish_non_exhaustive()
    }
}

/// Starts the driver of a machine.
///
/// # Errors
/// Words: what in the environment is wrong, or why there is no thread.
pub fn start(model: &Arc<CellModel>) -> Result<Arc<Driver>, String> {
    let compute = Compute::parse(std::env::var("SEATMAP_SPE_COMPUTE").ok().as_deref())?;
    let seats = seats(std::env::var("SEATMAP_SPE_SEATS").ok().as_deref(), model)?;
    _ = CHOICE.set(compute);
    let driver = Arc::new(Driver { model: Arc::clone(model), inbox: Mutex::default(), bell: Notify::default() });
    let own = Arc::clone(&driver);
    let work = move || Turns::new(own, &seats, compute).take();
    let thread = std::thread::Builder::new().name("simulated-cell".into()).spawn(work);
    thread.map(|_| driver).map_err(|error| format!("no thread for the simulated Cell: {error}"))
}

/// The SPEs in the order in which contexts take them.
fn seats(listed: Option<&str>, model: &CellModel) -> Result<Vec<u16>, String> {
    let Some(text) = listed else { return Ok(Vec::new()) };
    let list = text.parse::<seatmap_os::CpuList>().map_err(|error| format!("SEATMAP_SPE_SEATS={text}: {error}"))?;
    let spes = model.spes() as u32;
    match list.0.iter().find(|seat| **seat >= spes) {
        Some(seat) => Err(format!("SEATMAP_SPE_SEATS={text}: {} has SPEs 0 to {}, not {seat}", model.name, spes - 1)),
        None => Ok(list.0.iter().map(|seat| *seat as u16).collect()),
    }
}

/// A task of the session, as the driver knows it.
enum Task {
    Free,
    Thread(Arc<Desk>),
    Spu(Arc<Context>),
}

/// The driver's own: the session, and the tasks in it.
struct Turns {
    driver: Arc<Driver>,
    session: Session,
    cycles_per_ns: f64,
    tasks: Vec<Task>,
    threads: u32,
    /// Threads that run on this computer, between two calls.
    running: Vec<u16>,
}

impl Turns {
    fn new(driver: Arc<Driver>, seats: &[u16], compute: Compute) -> Self {
        let session = Session::new(&driver.model, seats);
        let cycles_per_ns = driver.model.frequency_ghz * compute.factor();
        Turns { driver, session, cycles_per_ns, tasks: Vec::new(), threads: 0, running: Vec::new() }
    }

    /// Takes turns as long as the process lives.
    fn take(&mut self) {
        loop {
            while let Some(request) = self.driver.take() {
                self.serve(request);
            }
            if !self.running.is_empty() {
                self.await_request();
                continue;
            }
            match self.session.advance() {
                Some(turn) => self.turn(turn),
                None => self.stand_still(),
            }
        }
    }

    fn await_request(&mut self) {
        let driver = Arc::clone(&self.driver);
        let request = driver.bell.wait(|| driver.take());
        self.serve(request);
    }

    fn turn(&mut self, turn: Turn) {
        match self.tasks.get(usize::from(turn.task)) {
            Some(Task::Spu(context)) => {
                let context: *const Context = Arc::as_ptr(context);
                // SAFETY: the context is kept in `tasks` until its program has stopped.
                self.spu_turn(turn, unsafe { &*context });
            }
            Some(Task::Thread(desk)) => {
                let desk = Arc::clone(desk);
                self.let_go(&desk, turn.answer);
            }
            _ => {}
        }
    }

    /// Lets a thread go on with an answer.
    fn let_go(&mut self, desk: &Desk, answer: u64) {
        self.running.push(task_of(desk));
        desk.answer(answer);
    }

    /// Lets an SPU's program run to its next call or stop.
    fn spu_turn(&mut self, turn: Turn, context: &Context) {
        let session = &raw mut self.session;
        // SAFETY: the thread that runs the context waits for its end; the session is used by the program alone
        // meanwhile.
        let (pause, worked) = unsafe { context.resume_simulated(session, turn) };
        let work = (worked as f64 * self.cycles_per_ns) as u64;
        match pause {
            Pause::Call(call) => self.session.call(turn.task, call, work),
            Pause::Stop(stop) => self.spu_stopped(turn.task, stop),
        }
    }

    fn spu_stopped(&mut self, task: u16, stop: Stop) {
        let goes_on = matches!(stop, Stop::Code(code) if !(0x2000..0x2100).contains(&code));
        if let Some(Task::Thread(desk)) = self.session.runner(task).and_then(|task| self.tasks.get(usize::from(task))) {
            *desk.stop.lock().unwrap_or_else(PoisonError::into_inner) = Some(stop);
        }
        self.session.stopped(task, !goes_on);
    }

    /// Does what a thread asks, or begins it.
    fn serve(&mut self, request: Request) {
        let Request { desk, worked_ns, ask } = request;
        let task = task_of(&desk);
        let work = (worked_ns as f64 * self.cycles_per_ns) as u64;
        self.session.memory_changed();
        match ask {
            Ask::Join => {
                self.seat(&desk);
                self.let_go(&desk, 0);
            }
            Ask::Open(new) => {
                let task = self.seat(&new);
                self.session.begin(task);
                desk.answer(0);
            }
            Ask::Now(does) => desk.answer(does(&mut self.session)),
            Ask::Call(call) => self.call(task, call, work),
            Ask::Run(context, is_fresh) => {
                let Some(number) = context.simulated().map(Seat::task) else { return desk.answer(0) };
                self.put(number, Task::Spu(context));
                self.call(task, Call::Run { context: number, is_fresh }, work);
            }
            Ask::Leave => self.leave(task),
        }
    }

    fn call(&mut self, task: u16, call: Call, work: u64) {
        self.running.retain(|other| *other != task);
        if let Call::Destroy(context) = call {
            self.put(context, Task::Free);
        }
        self.session.call(task, call, work);
    }

    fn seat(&mut self, desk: &Arc<Desk>) -> u16 {
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
        self.running.retain(|other| *other != task);
        self.session.remove_thread(task);
        self.put(task, Task::Free);
    }

    /// Nothing is under way, and no known thread runs: either another thread of the process can still make a call, or
    /// all wait for ever.
    fn stand_still(&mut self) {
        if let Some(request) = self.driver.take_within(PATIENCE) {
            return self.serve(request);
        }
        if self.has_strangers() {
            return self.await_request();
        }
        let waiting = self.session.waiting();
        eprintln!("libspe2: deadlock after {:.0} ns: {}", self.session.now_ns(), waiting.join("; "));
        std::process::exit(1);
    }

    /// Whether the process has threads that are not known: they may do something that others wait for.
    fn has_strangers(&self) -> bool {
        let known = self.tasks.iter().filter(|task| matches!(task, Task::Thread(_))).count();
        let all = seatmap_os::task::threads(std::process::id() as seatmap_os::Tid).len();
        // The driver is one of them.
        all > known + 1
    }
}

fn task_of(desk: &Desk) -> u16 {
    desk.task.load(Ordering::Acquire) as u16
}
