//! The state shared by a worker and the threads that give it orders.

use crate::bell::Bell;
use crate::program::ALONE;
use crate::signal::WorkerSignal;
use crate::{WorkerError, WorkerOptions, WorkerProgram};
use seatmap_os::affinity;
use seatmap_os::partners::{Loss, Partners};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The number of the worker's first answer: whether it was pinned. Orders follow it.
pub const SEATED: u32 = 1;

/// An order to a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerCommand {
    /// Run the program.
    Run = 1,
    /// Scrub the local store.
    Scrub = 2,
    /// Sleep until the next order.
    Sleep = 3,
    /// End.
    Quit = 4,
}

/// An order's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// A program's stop code; 0 for other orders.
    Stop(u32),
    /// The program panicked; the message is in the control.
    Panicked,
    /// The worker is gone; `partners` has the reason.
    Lost,
}

/// An order: one cache line, which moves to the worker once.
#[repr(align(64))]
struct Slip {
    /// The order's number in the upper half, its kind in the lower.
    order: AtomicU64,
    program: AtomicPtr<Arc<dyn WorkerProgram>>,
    argument: AtomicU64,
}

/// The answer, in one line that moves back once: the order's number, the stop code, and whether the
/// program panicked.
#[repr(align(64))]
struct WorkerAnswer {
    stop: AtomicU64,
    panicked: AtomicU32,
}

/// The orders and answers of one worker.
pub struct WorkerControl {
    slip: Slip,
    answer: WorkerAnswer,
    orders: Bell,
    answers: Bell,
    pub signals: [WorkerSignal; 2],
    pub options: WorkerOptions,
    /// The address of the worker's local store.
    pub store: AtomicPtr<u8>,
    pub words: Mutex<String>,
    /// The worker's CPU.
    pub cpu: u32,
    /// A lost worker's report.
    pub partners: Partners,
    is_abandoned: AtomicBool,
}

impl WorkerControl {
    pub fn new(cpu: u32, options: WorkerOptions, store: *mut u8) -> Self {
        WorkerControl {
            slip: Slip {
                order: AtomicU64::new(u64::from(SEATED) << 32),
                program: AtomicPtr::new(std::ptr::null_mut()),
                argument: AtomicU64::new(0),
            },
            answer: WorkerAnswer { stop: AtomicU64::new(0), panicked: AtomicU32::new(0) },
            orders: Bell::default(),
            answers: Bell::default(),
            signals: [
                WorkerSignal::new(options.signals_or[0], options.polling),
                WorkerSignal::new(options.signals_or[1], options.polling),
            ],
            options,
            store: AtomicPtr::new(store),
            words: Mutex::new(String::new()),
            cpu,
            partners: Partners::default(),
            is_abandoned: AtomicBool::new(false),
        }
    }

    /// Gives an order. A program must stay in place until the order is done.
    pub fn put(
        &self,
        number: u32,
        order: WorkerCommand,
        program: *mut Arc<dyn WorkerProgram>,
        argument: u64,
        may_sleep: bool,
    ) {
        self.slip.program.store(program, Ordering::Relaxed);
        self.slip.argument.store(argument, Ordering::Relaxed);
        self.slip.order.store(u64::from(number) << 32 | order as u64, Ordering::Release);
        if may_sleep || self.options.polling.may_sleep() {
            self.orders.ring();
        }
    }

    /// On the worker: waits for the next order, and returns it with its number. The next order may
    /// overtake one to sleep. `None` if the worker has lost its CPU.
    pub fn take(
        &self,
        last: u32,
        asleep: bool,
    ) -> Option<(u32, WorkerCommand, *mut Arc<dyn WorkerProgram>, u64)> {
        let polling = if asleep { crate::Polling::Sleep } else { self.options.polling };
        let word = self.orders.wait(
            polling,
            || {
                let word = self.slip.order.load(Ordering::Acquire);
                ((word >> 32) as u32 != last).then_some(word)
            },
            || self.has_lost_its_seat(),
        )?;
        let order = match word as u32 {
            1 => WorkerCommand::Run,
            2 => WorkerCommand::Scrub,
            3 => WorkerCommand::Sleep,
            _ => WorkerCommand::Quit,
        };
        let program = &self.slip.program;
        let argument = &self.slip.argument;
        Some((
            (word >> 32) as u32,
            order,
            program.load(Ordering::Relaxed),
            argument.load(Ordering::Relaxed),
        ))
    }

    /// On the worker: whether it runs on a wrong CPU. Reports that to the waiting threads.
    pub fn has_lost_its_seat(&self) -> bool {
        let found = affinity::current_cpu();
        let has_moved = found != self.cpu;
        if has_moved {
            self.lose(Loss::off(self.cpu, found));
        }
        has_moved
    }

    /// Reports that the worker is gone, which ends all waits for it.
    pub fn lose(&self, loss: Loss) {
        self.partners.lose(loss);
        self.answers.ring();
    }

    /// On the worker: whether its program waits in vain.
    pub fn is_alone(&self) -> bool {
        self.is_abandoned.load(Ordering::Acquire) || self.has_lost_its_seat()
    }

    /// Sets whether the worker is abandoned, and wakes a program that waits for a signal. The
    /// caller rings its mailbox.
    pub fn abandon(&self, is_abandoned: bool) {
        if self.is_abandoned.load(Ordering::Relaxed) != is_abandoned {
            self.is_abandoned.store(is_abandoned, Ordering::Release);
        }
        if is_abandoned {
            self.signals.iter().for_each(WorkerSignal::ring);
        }
    }

    /// Reports a finished order.
    pub fn finish(&self, number: u32, done: Done) {
        let (code, panicked) = match done {
            Done::Stop(code) => (code, 0),
            Done::Panicked | Done::Lost => (0, 1),
        };
        self.answer.panicked.store(panicked, Ordering::Relaxed);
        self.answer.stop.store(u64::from(number) << 32 | u64::from(code), Ordering::Release);
        if self.options.polling.may_sleep() {
            self.answers.ring();
        }
    }

    /// Waits until an order is done, or the worker is gone.
    pub fn wait(&self, number: u32) -> Done {
        self.wait_and(number, || {})
    }

    /// As [`WorkerControl::wait`], for a controller that sends nothing meanwhile: a program that
    /// waits for its message is ended. A program that ends at once gets no notice, which would
    /// cost the worker a cache line. `ring` wakes the program at its mailbox.
    pub fn wait_abandoning(&self, number: u32, ring: impl Fn()) -> Done {
        let done = self.wait_and(number, || {
            if !self.is_abandoned.load(Ordering::Relaxed) {
                self.abandon(true);
                ring();
            }
        });
        self.abandon(false);
        done
    }

    fn wait_and(&self, number: u32, now_and_then: impl Fn()) -> Done {
        self.answers
            .wait(
                self.options.polling,
                || self.is_done(number),
                || {
                    now_and_then();
                    self.partners.loss().is_some()
                },
            )
            .unwrap_or(Done::Lost)
    }

    /// The error for a program that panicked.
    pub fn panic_error(&self, words: String) -> WorkerError {
        if words == ALONE {
            WorkerError::Waiting { cpu: self.cpu }
        } else {
            WorkerError::Panicked(words)
        }
    }

    /// Why an order's program sends no message: it has ended, or its worker is gone. `None` if one
    /// may come.
    pub fn why_silent(&self, number: Option<u32>) -> Option<WorkerError> {
        if let Some(loss) = self.partners.loss() {
            return Some(loss.clone().into());
        }
        let how = match number {
            None => "has not been started".to_owned(),
            Some(number) => match self.is_done(number)? {
                Done::Stop(code) => format!("ended with stop code {code}"),
                Done::Panicked | Done::Lost => format!("panicked: {}", self.panic_words()),
            },
        };
        Some(WorkerError::Silent { cpu: self.cpu, how })
    }

    /// The last panic's message.
    pub fn panic_words(&self) -> String {
        self.words.lock().map(|words| words.clone()).unwrap_or_default()
    }

    /// An order's outcome, if it is done.
    pub fn is_done(&self, number: u32) -> Option<Done> {
        let word = self.answer.stop.load(Ordering::Acquire);
        let is_this = (word >> 32) as u32 == number;
        is_this.then(|| {
            if self.answer.panicked.load(Ordering::Relaxed) == 1 {
                Done::Panicked
            } else {
                Done::Stop(word as u32)
            }
        })
    }
}
