//! The requests of the PPE's threads to the driver.

use crate::simulated::bell::TurnBell;
use crate::simulated::series::MessageSeries;
use crate::stop::{Resumable, StopReason};
use seatmap_cell_sim::CellModel;
use seatmap_cell_sim::session::{CellBeSession, SessionCall};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

type Now = Box<dyn FnOnce(&mut CellBeSession) -> u64 + Send>;

/// A request of a thread to the driver.
pub enum DriverRequest {
    /// Registers the thread, which runs on.
    Join,
    /// A call that takes virtual time.
    Call(SessionCall),
    /// A run of a context's program.
    Run {
        /// The context's task.
        context: u16,
        /// The program.
        program: Arc<dyn Resumable>,
        /// Whether it starts instead of resuming.
        is_fresh: bool,
    },
    /// Work without virtual time.
    Now(Now),
    /// A slot for a new thread, which starts when virtual time continues.
    Open(Arc<DriverSlot>),
    /// The thread ends without waiting for an answer.
    Leave,
}

/// A request to the driver.
pub struct Request {
    /// The thread's slot.
    pub desk: Arc<DriverSlot>,
    /// The thread's CPU time since its last call, if charged.
    pub worked_ns: u64,
    /// The request itself.
    pub ask: DriverRequest,
}

// SAFETY: the pointers in a call refer to memory of the calling thread, which waits until the call
// is done.
unsafe impl Send for Request {}

/// A thread's slot at the driver.
#[derive(Debug, Default)]
pub struct DriverSlot {
    /// The thread's task in the session, set by the driver.
    pub task: AtomicU32,
    /// The thread's kernel ID, after its start.
    pub tid: AtomicI32,
    answer: AtomicU64,
    bell: TurnBell,
    series: Mutex<Option<MessageSeries>>,
    /// The end of a context's last run.
    pub stop: Mutex<Option<StopReason>>,
}

impl DriverSlot {
    /// Sets the messages that the thread's next call begins to move.
    pub fn put_series(&self, series: MessageSeries) {
        *self.series.lock().unwrap_or_else(PoisonError::into_inner) = Some(series);
    }

    /// Takes the messages back after the last call.
    pub fn take_series(&self) -> Option<MessageSeries> {
        self.series.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The next call of a series after this answer.
    pub fn next_call(&self, answer: u64) -> Option<SessionCall> {
        self.series.lock().unwrap_or_else(PoisonError::into_inner).as_mut()?.next(answer)
    }

    /// Answers and resumes the thread.
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

/// The connection to the driver.
#[derive(Debug)]
pub struct Driver {
    model: Arc<CellModel>,
    inbox: Mutex<VecDeque<Request>>,
    bell: TurnBell,
}

impl Driver {
    /// A new connection.
    pub fn new(model: Arc<CellModel>) -> Self {
        Driver { model, inbox: Mutex::default(), bell: TurnBell::default() }
    }

    /// The machine's model.
    pub fn model(&self) -> &Arc<CellModel> {
        &self.model
    }

    /// Sends a request.
    pub fn send(&self, request: Request) {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner).push_back(request);
        self.bell.ring();
    }

    /// Takes the oldest request, and waits up to `time` for one.
    pub fn take_within(&self, time: Duration) -> Option<Request> {
        if let Some(request) = self.take() {
            return Some(request);
        }
        let deadline = Some(Instant::now() + time);
        // The bell may have rung for an earlier request.
        while self.bell.wait(deadline) {
            if let Some(request) = self.take() {
                return Some(request);
            }
        }
        self.take()
    }

    /// Takes the oldest request, if any.
    pub fn take(&self) -> Option<Request> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

impl std::fmt::Debug for Request {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.debug_struct("Request").field("desk", &self.desk).finish_non_exhaustive()
    }
}
