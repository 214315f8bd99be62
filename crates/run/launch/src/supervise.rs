//! Runs a program on seats.

use crate::allocator::SeatAllocator;
use crate::error::LaunchError;
use crate::executable::Executable;
use crate::front::{ForkSide, FrontLink};
use crate::launch::{Launch, LaunchOptions};
use crate::neighbours::SeatNeighbours;
use crate::report::{Behind, Report};
use crate::{Ending, front};
use seatmap_os::{Tid, task};
use std::time::Duration;

/// Two programs started together have their first threads by then. A shorter one hardly shares its
/// seats.
const SETTLED: Duration = Duration::from_millis(500);

/// When the awaited process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnsAt {
    /// When the program has started.
    Start,
    /// When its first process has ended.
    Exit,
    /// When all its processes have ended.
    End,
}

/// A program to run on seats.
#[derive(Debug)]
pub struct RunRequest {
    /// The program.
    pub program: Executable,
    /// Its seats.
    pub seats: SeatAllocator,
    /// The options, without the connection to the front.
    pub options: LaunchOptions<'static>,
    /// When the awaited process ends.
    pub returns_at: ReturnsAt,
}

/// Receives reports, in the process that seats the threads.
pub trait RunListener {
    /// The program has started. If this process is killed, this is the last report.
    fn begun(&mut self, report: &mut dyn FnMut() -> Report);

    /// The program has started, and the caller waits no longer.
    fn started(&mut self, program: Tid, supervisor: Tid);

    /// Other programs on this run's CPUs, possibly none.
    fn shares(&mut self, neighbours: &SeatNeighbours);

    /// The first process has ended, or all later ones have. Returns how the front must end: like
    /// the first process, if all went well.
    fn seated(&mut self, report: &Report, ending: Ending) -> Ending;

    /// The program could not start. Returns how the front must end.
    fn failed(&mut self, error: LaunchError) -> Ending;
}

impl RunRequest {
    /// Runs the program in the process group of this single-threaded process, and returns only
    /// here. Another process seats the threads, and ends with them.
    ///
    /// # Errors
    /// [`LaunchError::System`]: nothing was started. [`LaunchError::SupervisorKilled`].
    pub fn run(self, listener: &mut dyn RunListener) -> Result<Ending, LaunchError> {
        match front::split()
            .map_err(LaunchError::system("start the process that watches the program"))?
        {
            ForkSide::Front(front) => front.wait().ok_or(LaunchError::SupervisorKilled),
            ForkSide::Supervisor(mut link) => {
                let ending = self.supervise(&mut link, listener);
                link.end(ending);
                std::process::exit(0)
            }
        }
    }

    fn supervise(self, link: &mut FrontLink, listener: &mut dyn RunListener) -> Ending {
        if self.returns_at == ReturnsAt::Start {
            front::leave_session();
            front::leave_terminal_input();
        }
        let options = LaunchOptions { link: Some(link), ..self.options };
        match Launch::begin(&self.program, self.seats, options) {
            Ok(launch) => attend(launch, self.returns_at, listener),
            Err(error) => listener.failed(error),
        }
    }
}

fn attend(mut launch: Launch, returns_at: ReturnsAt, listener: &mut dyn RunListener) -> Ending {
    let supervisor = task::own_pid();
    front::leave_streams();
    listener.begun(&mut || launch.report());
    if returns_at == ReturnsAt::Start {
        listener.started(launch.pid(), supervisor);
        // The caller would miss a later report.
        tell_of_others(&mut launch, listener);
        leave(&mut launch, Ending::Exited(0));
    }
    let early = launch.attend_for(SETTLED);
    if early.is_none() && returns_at != ReturnsAt::Start {
        tell_of_others(&mut launch, listener);
    }
    let ending = early.unwrap_or_else(|| launch.attend());
    let behind = launch.behind();
    if returns_at == ReturnsAt::Exit || behind.processes == 0 {
        let lives_on =
            (behind.processes > 0).then_some(Behind { supervisor: Some(supervisor), ..behind });
        let complete = lives_on.is_none();
        let report = Report { behind: lives_on, complete, ..launch.report() };
        let ending = listener.seated(&report, ending);
        if lives_on.is_none() {
            return ending;
        }
        leave(&mut launch, ending);
    }
    let is_over = launch.stay();
    let behind = launch.behind();
    let behind = is_over.then(|| launch.give_masks_back(behind));
    let report = Report { behind, complete: true, ..launch.report() };
    listener.seated(&report, ending)
}

fn tell_of_others(launch: &mut Launch, listener: &mut dyn RunListener) {
    let leased = launch.shared_cpus();
    listener.shares(&SeatNeighbours::of(&launch.report(), &leased));
}

fn leave(launch: &mut Launch, ending: Ending) {
    if let Some(link) = launch.link() {
        link.leave(ending);
    }
    front::go_to_the_background();
}
