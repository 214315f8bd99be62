//! Where a thread of the PPE hands in its calls, and waits for the answer.

use crate::context::Context;
use crate::notify::Notify;
use crate::run::Stop;
use crate::simulated::compute;
use crate::simulated::driver::Driver;
use seatmap_sim::cell_be::session::{Call, Session};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Work on the session that takes no virtual time.
type Now = Box<dyn FnOnce(&mut Session) -> u64 + Send>;

/// A request of a thread to the driver.
pub enum Ask {
    /// To be known, and to run on.
    Join,
    /// A call that takes virtual time.
    Call(Call),
    /// A run of a context's program, from its beginning or from where it stopped.
    Run(Arc<Context>, bool),
    /// Something at once.
    Now(Now),
    /// A desk for a thread that is about to begin; it has its turn when virtual time goes on.
    Open(Arc<Desk>),
    /// Nothing more: the thread ends. Nobody waits for the answer.
    Leave,
}

/// A request on its way to the driver.
pub struct Request {
    /// The desk of the thread that asks.
    pub desk: Arc<Desk>,
    /// CPU time that the thread has used since its last call, if that is charged.
    pub worked_ns: u64,
    /// The request itself.
    pub ask: Ask,
}

// SAFETY: the pointers in a call lead to memory of the thread that asks, which waits until the call
// is done.
unsafe impl Send for Request {}

/// A thread's place at the driver.
#[derive(Debug, Default)]
pub struct Desk {
    /// The thread's task in the session; the driver sets it.
    pub task: AtomicU32,
    /// The kernel's number of the thread, once it has begun.
    pub tid: AtomicI32,
    answer: Mutex<Option<u64>>,
    is_answered: AtomicBool,
    bell: Notify,
    /// How the last run of a context ended.
    pub stop: Mutex<Option<Stop>>,
}

impl Desk {
    /// Answers the thread, which goes on.
    pub fn answer(&self, answer: u64) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        self.is_answered.store(true, Ordering::Release);
        self.bell.ring();
    }

    fn wait(&self) -> u64 {
        self.bell.wait(|| self.is_answered.swap(false, Ordering::Acquire).then_some(()));
        let answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        answer.unwrap_or_default()
    }
}

/// A thread that is known to the driver, until it ends.
struct Seated {
    driver: Arc<Driver>,
    desk: Arc<Desk>,
    /// The thread's CPU time when it was let go on.
    since_ns: u64,
    /// The context that its last call looked at, if that was all it did.
    looked_at: Option<u16>,
}

thread_local! {
    static SEATED: RefCell<Option<Seated>> = const { RefCell::new(None) };
}

impl Seated {
    fn ask(&mut self, ask: Ask) -> u64 {
        self.looked_at = match ask {
            Ask::Call(Call::Receive { from: of, .. } | Call::Count { of, .. }) => Some(of),
            _ => None,
        };
        let worked_ns = compute::spent_ns().saturating_sub(self.since_ns);
        self.driver.send(Request { desk: Arc::clone(&self.desk), worked_ns, ask });
        let answer = self.desk.wait();
        self.since_ns = compute::spent_ns();
        answer
    }
}

impl Drop for Seated {
    fn drop(&mut self) {
        // The process's first thread ends with the process, which virtual time does not outlive.
        if seatmap_os::task::own_tid() == std::process::id() as seatmap_os::Tid {
            return;
        }
        self.driver.send(Request { desk: Arc::clone(&self.desk), worked_ns: 0, ask: Ask::Leave });
    }
}

fn with_seat<T>(driver: &Arc<Driver>, work: impl FnOnce(&mut Seated) -> T) -> Option<T> {
    // A thread that is ending has no seat any more.
    SEATED
        .try_with(|seated| {
            let mut seated = seated.try_borrow_mut().ok()?;
            if seated.is_none() {
                let desk = Arc::new(Desk::default());
                desk.tid.store(seatmap_os::task::own_tid(), Ordering::Release);
                let mut joined =
                    Seated { driver: Arc::clone(driver), desk, since_ns: 0, looked_at: None };
                joined.ask(Ask::Join);
                *seated = Some(joined);
            }
            seated.as_mut().map(work)
        })
        .ok()
        .flatten()
}

/// Asks the driver, and waits for the answer. A thread that is unknown becomes known.
pub fn ask(driver: &Arc<Driver>, ask: Ask) -> u64 {
    with_seat(driver, |seated| seated.ask(ask)).unwrap_or_default()
}

/// Makes a call that takes virtual time.
pub fn call(driver: &Arc<Driver>, call: Call) -> u64 {
    ask(driver, Ask::Call(call))
}

/// Whether the last call of this thread only looked at this context.
#[must_use]
pub fn looks_again(context: u16) -> bool {
    SEATED
        .try_with(|seated| seated.borrow().as_ref().and_then(|seated| seated.looked_at))
        .ok()
        .flatten()
        == Some(context)
}

/// Does something with the session at once.
pub fn now(driver: &Arc<Driver>, work: impl FnOnce(&mut Session) -> u64 + Send + 'static) -> u64 {
    ask(driver, Ask::Now(Box::new(work)))
}

/// Runs a context, and says why its program stopped.
pub fn run(driver: &Arc<Driver>, context: &Arc<Context>, is_fresh: bool) -> Stop {
    let stopped = with_seat(driver, |seated| {
        seated.ask(Ask::Run(Arc::clone(context), is_fresh));
        seated.desk.stop.lock().unwrap_or_else(PoisonError::into_inner).take()
    });
    stopped.flatten().unwrap_or(Stop::Defect)
}

/// Makes a desk for a thread that the calling one is about to create.
pub fn open(driver: &Arc<Driver>) -> Arc<Desk> {
    let desk = Arc::new(Desk::default());
    ask(driver, Ask::Open(Arc::clone(&desk)));
    desk
}

/// The calling thread, which is new, takes its desk and waits for its first turn.
pub fn take(driver: &Arc<Driver>, desk: Arc<Desk>) {
    desk.tid.store(seatmap_os::task::own_tid(), Ordering::Release);
    desk.wait();
    let since_ns = compute::spent_ns();
    let seated = Seated { driver: Arc::clone(driver), desk, since_ns, looked_at: None };
    _ = SEATED.try_with(|place| place.replace(Some(seated)));
}

/// The calling thread ends as a task; it may run on, and the driver does not wait for it.
pub fn leave() {
    _ = SEATED.try_with(|place| place.take());
}

/// A thread that was to be is not.
pub fn close(driver: &Arc<Driver>, desk: Arc<Desk>) {
    driver.send(Request { desk, worked_ns: 0, ask: Ask::Leave });
}
