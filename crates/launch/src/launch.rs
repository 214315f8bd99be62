//! Runs a program and seats its threads while it runs.

use crate::child::{Child, Start};
use crate::ending::Ending;
use crate::error::LaunchError;
use crate::gate::Gate;
use crate::mask::Mask;
use crate::program::Program;
use crate::report::Report;
use crate::seating::Seating;
use crate::signals::{self, Came, Signals};
use crate::usher::{Arrival, Usher};
use crate::watch::Watch;
use std::path::Path;
use std::time::Duration;

/// Between two looks whether the child is the program already.
const STARTING: Duration = Duration::from_millis(1);

/// Runs a program to its end, seats its threads, and reports. Standard streams, terminal and process group are the
/// caller's; signals sent to the calling process are passed on while it runs.
///
/// The calling process should have one thread and no other children: their ends would be heard here.
///
/// # Errors
/// [`LaunchError`] where the program could not be started. That a thread could not be seated is in the report.
pub fn run(program: &Program, seating: Seating) -> Result<(Ending, Report), LaunchError> {
    let own = Mask::of(0).map_err(LaunchError::system("read this process's affinity"))?;
    let signals = Signals::hold().map_err(LaunchError::system("hold back signals"))?;
    let mut child = Child::new(program, &signals).map_err(LaunchError::system("start a process"))?;
    // Closing the child's pipe by returning ends it.
    let enter = |members: &Path| std::fs::write(members, child.pid.to_string());
    program.group().map_or(Ok(()), enter).map_err(LaunchError::system("move the program into its control group"))?;
    let mut gate = Gate::new(child.pid);
    if seating.order_is_open() {
        gate.seize().map_err(LaunchError::seizing)?;
    }
    let mut usher = Usher::new(seating, own);
    usher.arrive(child.pid, Arrival::Newborn);
    child.begin();
    let mut launch = Launch { signals, gate, usher, watch: Watch::new(child.pid), asked_to_stop: false };
    launch.start(program, &mut child)?;
    let ending = launch.attend(&child);
    launch.watch.last_look(&mut launch.usher);
    let report = Report::of(&launch.usher, Some(child.pid), launch.gate.hampered);
    Ok((ending, report))
}

/// A program under way.
struct Launch {
    signals: Signals,
    gate: Gate,
    usher: Usher,
    watch: Watch,
    /// Whether this process was asked to stop, and stops as soon as the program has.
    asked_to_stop: bool,
}

impl Launch {
    /// Until the child is the program.
    fn start(&mut self, program: &Program, child: &mut Child) -> Result<(), LaunchError> {
        loop {
            self.gate.hear(&mut self.usher);
            match child.start() {
                Start::Running => return Ok(()),
                Start::Refused(source) => {
                    let path = program.path().to_string_lossy().into_owned();
                    self.attend(child);
                    return Err(LaunchError::Execute { path, source });
                }
                Start::Pending => self.pass_on(child, STARTING),
            }
        }
    }

    /// Until the program ends.
    fn attend(&mut self, child: &Child) -> Ending {
        loop {
            let more = self.gate.hear(&mut self.usher);
            if let Some(ending) = self.gate.ending {
                return ending;
            }
            self.stop_with_the_program();
            if self.watch.wait().is_zero() {
                self.watch.look(&mut self.usher, &mut self.gate);
            }
            self.pass_on(child, if more { Duration::ZERO } else { self.watch.wait() });
        }
    }

    /// Waits for a signal, and passes it on where the program has not got it already.
    fn pass_on(&mut self, child: &Child, wait: Duration) {
        let Some(came @ Came { signal, to_group }) = self.signals.next(wait) else { return };
        match signal {
            libc::SIGCONT => {
                self.asked_to_stop = false;
                if self.gate.stopped.is_some() {
                    signals::send(child.pid, signal);
                }
            }
            _ => {
                self.asked_to_stop |= came.asks_to_stop();
                if !to_group {
                    signals::send(child.pid, signal);
                }
            }
        }
    }

    /// The shell sees a job as stopped when the process that it started is. The program goes first: it may want to
    /// restore the terminal, or not stop at all.
    fn stop_with_the_program(&mut self) {
        if let Some(signal) = self.gate.stopped.filter(|_| self.asked_to_stop) {
            self.asked_to_stop = false;
            self.signals.stop_here(signal);
        }
    }
}
