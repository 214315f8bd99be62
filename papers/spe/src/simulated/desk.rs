//! The calls of the PPE's threads.

use crate::simulated::compute;
pub use crate::simulated::request::DriverSlot;
use crate::simulated::request::{Driver, DriverRequest, Request};
use crate::simulated::series::MessageSeries;
use crate::stop::{Resumable, StopReason};
use seatmap_cell_sim::session::{CellBeSession, SessionCall};
use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

struct Seated {
    driver: Arc<Driver>,
    desk: Arc<DriverSlot>,
    since_ns: u64,
    /// Its last call's context, if it only looked, and the message that it tried to send.
    looked_at: Option<(u16, Option<u32>)>,
}

thread_local! {
    static SEATED: RefCell<Option<Seated>> = const { RefCell::new(None) };
}

impl Seated {
    fn ask(&mut self, ask: DriverRequest) -> u64 {
        self.looked_at = match ask {
            DriverRequest::Call(SessionCall::Count { of, .. }) => Some((of, None)),
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
        // The first thread ends with the process and its virtual time.
        if seatmap_os::task::own_tid() == std::process::id() as seatmap_os::Tid {
            return;
        }
        self.driver.send(Request {
            desk: Arc::clone(&self.desk),
            worked_ns: 0,
            ask: DriverRequest::Leave,
        });
    }
}

fn with_seat<T>(driver: &Arc<Driver>, work: impl FnOnce(&mut Seated) -> T) -> Option<T> {
    // An ending thread has no seat.
    SEATED
        .try_with(|seated| {
            let mut seated = seated.try_borrow_mut().ok()?;
            if seated.is_none() {
                let desk = Arc::new(DriverSlot::default());
                desk.tid.store(seatmap_os::task::own_tid(), Ordering::Release);
                let mut joined =
                    Seated { driver: Arc::clone(driver), desk, since_ns: 0, looked_at: None };
                joined.ask(DriverRequest::Join);
                *seated = Some(joined);
            }
            seated.as_mut().map(work)
        })
        .ok()
        .flatten()
}

/// Sends a request and waits for the answer. Registers an unknown thread.
pub fn ask(driver: &Arc<Driver>, ask: DriverRequest) -> u64 {
    with_seat(driver, |seated| seated.ask(ask)).unwrap_or_default()
}

/// Makes a call that takes virtual time.
pub fn call(driver: &Arc<Driver>, call: SessionCall) -> u64 {
    ask(driver, DriverRequest::Call(call))
}

/// Moves messages. `None` for a thread that ends.
pub fn exchange(driver: &Arc<Driver>, series: MessageSeries) -> Option<MessageSeries> {
    let exchanged = with_seat(driver, |seated| {
        let first = series.call()?;
        seated.desk.put_series(series);
        seated.ask(DriverRequest::Call(first));
        let series = seated.desk.take_series()?;
        seated.looked_at = Some(series.unmoved());
        Some(series)
    });
    exchanged.flatten()
}

/// Whether this thread's last call only looked at this context, or tried to send it this message.
pub fn looks_again(message: (u16, Option<u32>)) -> bool {
    SEATED
        .try_with(|seated| seated.borrow().as_ref().and_then(|seated| seated.looked_at))
        .ok()
        .flatten()
        == Some(message)
}

/// Runs work on the session without virtual time.
pub fn now(
    driver: &Arc<Driver>,
    work: impl FnOnce(&mut CellBeSession) -> u64 + Send + 'static,
) -> u64 {
    ask(driver, DriverRequest::Now(Box::new(work)))
}

/// Runs a context's program, from its start if fresh; returns why it stopped.
pub fn run(
    driver: &Arc<Driver>,
    context: u16,
    program: Arc<dyn Resumable>,
    is_fresh: bool,
) -> StopReason {
    let stopped = with_seat(driver, |seated| {
        seated.ask(DriverRequest::Run { context, program, is_fresh });
        seated.desk.stop.lock().unwrap_or_else(PoisonError::into_inner).take()
    });
    stopped.flatten().unwrap_or(StopReason::Defect)
}

/// Creates a slot for the next thread.
pub fn open(driver: &Arc<Driver>) -> Arc<DriverSlot> {
    let desk = Arc::new(DriverSlot::default());
    ask(driver, DriverRequest::Open(Arc::clone(&desk)));
    desk
}

/// The new calling thread takes its slot and waits for its first turn.
pub fn take(driver: &Arc<Driver>, desk: Arc<DriverSlot>) {
    desk.tid.store(seatmap_os::task::own_tid(), Ordering::Release);
    desk.wait();
    let since_ns = compute::spent_ns();
    let seated = Seated { driver: Arc::clone(driver), desk, since_ns, looked_at: None };
    _ = SEATED.try_with(|place| place.replace(Some(seated)));
}

/// The calling thread ends as a task. It may run on; the driver does not wait for it.
pub fn leave() {
    _ = SEATED.try_with(|place| place.take());
}

/// Removes the slot of a thread that could not be created.
pub fn close(driver: &Arc<Driver>, desk: Arc<DriverSlot>) {
    driver.send(Request { desk, worked_ns: 0, ask: DriverRequest::Leave });
}
