//! Requests of the PPE's threads to the driver, and the ways there and back.

use crate::simulated::bell::TurnBell;
use crate::stop::{Resumable, StopReason};
use seatmap_cell_sim::CellModel;
use seatmap_cell_sim::session::{CellBeSession, SessionCall};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Work on the session that takes no virtual time.
type Now = Box<dyn FnOnce(&mut CellBeSession) -> u64 + Send>;

/// A request of a thread to the driver.
pub enum DriverRequest {
    /// To be known, and to run on.
    Join,
    /// A call that takes virtual time.
    Call(SessionCall),
    /// A run of the program of a context.
    Run {
        /// The context's task.
        context: u16,
        /// The program.
        program: Arc<dyn Resumable>,
        /// Whether it begins, and does not go on from where it stopped.
        is_fresh: bool,
    },
    /// Something at once.
    Now(Now),
    /// A desk for a thread that is about to begin; it has its turn when virtual time goes on.
    Open(Arc<DriverSlot>),
    /// Nothing more: the thread ends. Nobody waits for the answer.
    Leave,
}

/// A request on its way to the driver.
pub struct Request {
    /// The desk of the thread that asks.
    pub desk: Arc<DriverSlot>,
    /// CPU time that the thread has used since its last call, if that is charged.
    pub worked_ns: u64,
    /// The request itself.
    pub ask: DriverRequest,
}

// SAFETY: the pointers in a call lead to memory of the thread that asks, which waits until the call
// is done.
unsafe impl Send for Request {}

/// A thread's place at the driver.
#[derive(Debug, Default)]
pub struct DriverSlot {
    /// The thread's task in the session; the driver sets it.
    pub task: AtomicU32,
    /// The kernel's number of the thread, once it has begun.
    pub tid: AtomicI32,
    answer: AtomicU64,
    bell: TurnBell,
    /// How the last run of a context ended.
    pub stop: Mutex<Option<StopReason>>,
}

impl DriverSlot {
    /// Answers the thread, which goes on.
    pub fn answer(&self, answer: u64) {
        self.answer.store(answer, Ordering::Relaxed);
        self.bell.ring();
    }

    /// Waits for the answer.
    pub fn wait(&self) -> u64 {
        while !self.bell.wait(None) {}
        self.answer.load(Ordering::Relaxed)
    }
}

/// The way to the driver.
#[derive(Debug)]
pub struct Driver {
    model: Arc<CellModel>,
    inbox: Mutex<VecDeque<Request>>,
    bell: TurnBell,
}

impl Driver {
    /// The way to the driver of this model, to which nobody has sent anything yet.
    #[must_use]
    pub fn new(model: Arc<CellModel>) -> Self {
        Driver { model, inbox: Mutex::default(), bell: TurnBell::default() }
    }

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

    /// Takes the oldest request, and waits for one as long as `time`.
    pub fn take_within(&self, time: Duration) -> Option<Request> {
        if let Some(request) = self.take() {
            return Some(request);
        }
        let deadline = Some(Instant::now() + time);
        // A ring may be that of a request that was taken before.
        while self.bell.wait(deadline) {
            if let Some(request) = self.take() {
                return Some(request);
            }
        }
        self.take()
    }

    /// Takes the oldest request, if there is one.
    pub fn take(&self) -> Option<Request> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

impl std::fmt::Debug for Request {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.debug_struct("Request").field("desk", &self.desk).finish_non_exhaustive()
    }
}
