//! Pinned threads, created in advance, that run programs. A program arrives as a message.

use crate::crowd::{self, LOOKS, SERVING, is_crowded};
use crate::error::SpeError;
use crate::notify::Notify;
use crate::stop::{Resumable, StopReason};
use crate::style::SpeStyle;
use seatmap_os::affinity;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};

#[derive(Debug, Default)]
struct Seat {
    order: Mutex<Option<Arc<dyn Resumable>>>,
    has_order: AtomicBool,
    worker: Notify,
    result: Mutex<Option<StopReason>>,
    is_done: AtomicBool,
    caller: Notify,
}

struct Pool {
    cpus: Vec<u32>,
    is_named: bool,
    idle: Mutex<Vec<Vec<Arc<Seat>>>>,
}

const CPUS: &str = "SEATMAP_SPE_CPUS";

fn pool() -> Result<&'static Pool, SpeError> {
    static POOL: OnceLock<Result<Pool, String>> = OnceLock::new();
    let pool = POOL.get_or_init(|| {
        let named = named_cpus(std::env::var(CPUS).ok().as_deref())?;
        let is_named =
            !named.is_empty() && (1..named.len()).all(|at| !named[..at].contains(&named[at]));
        let cpus =
            if !named.is_empty() { named } else { affinity::current().unwrap_or_else(|_| vec![0]) };
        let idle = Mutex::new(vec![Vec::new(); cpus.len()]);
        Ok(Pool { cpus, is_named, idle })
    });
    pool.as_ref().map_err(|words| SpeError::Argument(words.clone()))
}

fn named_cpus(text: Option<&str>) -> Result<Vec<u32>, String> {
    let text = text.unwrap_or_default();
    if text.is_empty() {
        return Ok(Vec::new());
    }
    text.parse::<seatmap_os::CpuList>()
        .map(|list| list.0.clone())
        .map_err(|why| format!("{CPUS}={text}: {why}"))
}

/// The looks before an idle thread on a listed CPU sleeps: some milliseconds.
const LOOKS_IDLE: u32 = 128 * LOOKS;
/// Pinned threads that can run without sharing a CPU.
///
/// # Errors
/// [`SpeError::Argument`] for an invalid list of CPUs.
pub fn seats() -> Result<usize, SpeError> {
    pool().map(|pool| pool.cpus.len())
}

fn cpus_in_reach() -> usize {
    static REACHED: OnceLock<usize> = OnceLock::new();
    *REACHED.get_or_init(|| {
        let programs = pool().map(|pool| pool.cpus.clone()).unwrap_or_default();
        let mut all = [programs, affinity::current().unwrap_or_default()].concat();
        all.sort_unstable();
        all.dedup();
        all.len()
    })
}

/// Runs a prepared program on its seat until it stops.
///
/// # Errors
/// [`SpeError::Thread`].
pub fn resume(seat: usize, program: Arc<dyn Resumable>) -> Result<StopReason, SpeError> {
    let pool = pool()?;
    crowd::count_running(cpus_in_reach(), |running| running.fetch_add(1, Ordering::Relaxed) + 1);
    let at = seat % pool.cpus.len();
    let stop = match SpeStyle::current() {
        SpeStyle::Cell => by_seat(pool, at, program),
        SpeStyle::Linux => by_thread(pool.cpus[at], program),
    };
    crowd::count_running(cpus_in_reach(), |running| running.fetch_sub(1, Ordering::Relaxed) - 1);
    stop
}

fn by_seat(pool: &Pool, at: usize, program: Arc<dyn Resumable>) -> Result<StopReason, SpeError> {
    let idle = pool.idle.lock().unwrap_or_else(PoisonError::into_inner)[at].pop();
    let seat = match idle {
        Some(seat) => seat,
        None => start(pool.cpus[at], if pool.is_named { LOOKS_IDLE } else { LOOKS })?,
    };
    let stop = seat.call(program);
    pool.idle.lock().unwrap_or_else(PoisonError::into_inner)[at].push(seat);
    Ok(stop)
}

fn by_thread(cpu: u32, program: Arc<dyn Resumable>) -> Result<StopReason, SpeError> {
    let thread = std::thread::Builder::new().name(format!("spe-{cpu}")).spawn(move || {
        affinity::pin(&[cpu])?;
        // SAFETY: the caller waits for this thread, and `Context::hold` surrounds it.
        Ok(catch_unwind(AssertUnwindSafe(|| unsafe { program.resume() }))
            .unwrap_or(StopReason::Defect))
    });
    let ended = thread.and_then(|thread| thread.join().unwrap_or(Ok(StopReason::Defect)));
    ended.map_err(|source| SpeError::Thread { cpu, source })
}

fn start(cpu: u32, looks: u32) -> Result<Arc<Seat>, SpeError> {
    let seat = Arc::new(Seat::default());
    let own = Arc::clone(&seat);
    let (report, reports) = mpsc::channel();
    let thread = std::thread::Builder::new().name(format!("spe-{cpu}")).spawn(move || {
        let pinned = affinity::pin(&[cpu]);
        let is_pinned = pinned.is_ok();
        // It is counted before it is reported, so that an ending thread seems to be another
        // program's.
        SERVING.fetch_add(usize::from(is_pinned), Ordering::Release);
        // A thread without a listener gets no work.
        if report.send(pinned).is_ok() && is_pinned {
            own.serve(looks);
        }
    });
    let pinned = thread.and_then(|_| {
        reports.recv().unwrap_or_else(|_| Err(std::io::Error::other("it ended at once")))
    });
    pinned.map(|()| seat).map_err(|source| SpeError::Thread { cpu, source })
}

impl Seat {
    fn call(&self, program: Arc<dyn Resumable>) -> StopReason {
        *self.order.lock().unwrap_or_else(PoisonError::into_inner) = Some(program);
        self.has_order.store(true, Ordering::Release);
        self.worker.ring();
        self.caller.wait(|| self.is_done.swap(false, Ordering::Acquire).then_some(()));
        self.result
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
            .unwrap_or(StopReason::Defect)
    }

    fn serve(&self, looks: u32) {
        loop {
            let order = || self.has_order.swap(false, Ordering::Acquire).then_some(());
            self.worker
                .look(if is_crowded() { 1 } else { looks }, &order)
                .unwrap_or_else(|| self.worker.wait(order));
            let order = self.order.lock().unwrap_or_else(PoisonError::into_inner).take();
            let stop = order.map(|program| {
                // SAFETY: the caller waits in `call`, which `Context::hold` surrounds.
                catch_unwind(AssertUnwindSafe(|| unsafe { program.resume() }))
                    .unwrap_or(StopReason::Defect)
            });
            *self.result.lock().unwrap_or_else(PoisonError::into_inner) = stop;
            self.is_done.store(true, Ordering::Release);
            self.caller.ring();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_variable_is_a_list_or_an_error() {
        assert_eq!((named_cpus(None), named_cpus(Some("")).unwrap()), (Ok(Vec::new()), Vec::new()));
        assert_eq!(named_cpus(Some("2-3,0")), Ok(vec![2, 3, 0]));
        assert!(named_cpus(Some("two")).unwrap_err().starts_with("SEATMAP_SPE_CPUS=two: "));
    }
}
