//! `seatmap run`.

mod auto;
mod page;

use crate::args::{Detach, Huge, Run};
use crate::verbs::place::ranks;
use page::{Files, Voice};
use seatmap_console::error::CliError;
use seatmap_console::{input, plan_input, stdio};
use seatmap_launch::share::SoleWork;
use seatmap_launch::{
    AttachRequest, Executable, GrantedSeats, LaunchError, MemoryWish, PageMove, ReturnsAt,
    RunRequest, SeatSource, SeatingError, SeatingRequest, request,
};
use seatmap_os::Root;
use seatmap_os::mempolicy::MemoryNodes;

pub use page::{show, tell_share, warn_of_settings, write};

/// A command line's meaning.
enum Meant {
    /// A program that is to start.
    Start(RunRequest),
    /// Processes that run.
    Attach(AttachRequest),
}

/// Runs a program, or takes one that runs, and seats its threads. A program's exit code is this
/// process's.
pub fn run(typed: &Run) -> Result<(), CliError> {
    if typed.auto || typed.live.replay.is_some() || typed.live.guard {
        return auto::run(typed);
    }
    let meant = meant(typed)?;
    let files = Files::new(typed)?;
    match meant {
        Meant::Attach(request) => {
            page::attached(request.run().map_err(failed)?, typed.allow_unseated, &files)
        }
        Meant::Start(request) => {
            warn_of_settings(&request.program, &request.seats, request.widens, typed.quiet);
            let program = request.program.path().to_string_lossy().into_owned();
            let mut voice = Voice { files, program, has_plan: typed.plan.is_some() };
            request.run(&mut voice).map_err(failed)?.leave_alike()
        }
    }
}

/// The program or the processes, with seats that this computer has.
fn meant(typed: &Run) -> Result<Meant, CliError> {
    if let Some(option) = typed.live.typed() {
        return Err(CliError::input(format!(
            "{option} is about seats that are tried while the program runs: add --auto"
        )));
    }
    let seats = source(typed)?;
    let is_running = !typed.pid.is_empty();
    let has_seats = seats != SeatSource::Rules || !typed.rules.is_empty();
    let seating = SeatingRequest {
        seats,
        once: typed.once,
        soft: typed.soft,
        rules: typed.rules.clone(),
        skip: typed.skip,
        strict: typed.strict,
        is_running,
        memory: typed.memory.clone().filter(|_| !is_running),
    };
    let GrantedSeats { allocator, memory, remarks } = seating.grant().map_err(ungranted)?;
    page::remark(&remarks, typed.quiet);
    if is_running {
        return Ok(Meant::Attach(AttachRequest {
            pids: typed.pid.clone(),
            force: typed.force,
            seats: has_seats.then_some(allocator),
            pages: pages(typed)?,
        }));
    }
    Ok(Meant::Start(RunRequest {
        program: program(typed)?,
        seats: allocator,
        memory,
        widens: !typed.strict,
        start_at: typed.start_at.clone(),
        verify_memory: typed.verify_memory,
        returns_at: match typed.detach {
            Detach::Start => ReturnsAt::Start,
            Detach::Exit => ReturnsAt::Exit,
            Detach::Never => ReturnsAt::End,
        },
    }))
}

fn source(typed: &Run) -> Result<SeatSource, CliError> {
    let Some(path) = &typed.plan else {
        return Ok(typed.cpus.clone().map_or(SeatSource::Rules, SeatSource::List));
    };
    let bytes = input::bytes(path)?;
    match ranks::of_bytes(path, &bytes)? {
        Some(plan) => ranks::own_cpus(path, &plan, typed.any_machine).map(SeatSource::Rank),
        None => {
            let plan = plan_input::plan_of_host(path, &bytes, typed.any_machine)?;
            Ok(SeatSource::Plan(Box::new(plan)))
        }
    }
}

fn program(typed: &Run) -> Result<Executable, CliError> {
    let program = Executable::find(&typed.command).map_err(CliError::input)?;
    let program = program.without_streams(stdio::closed());
    Ok(match typed.huge {
        Some(huge) => program.with_huge_pages(huge == Huge::Prefer),
        None => program,
    })
}

/// The nodes to which the pages of running processes are to move; `None` where they stay.
fn pages(typed: &Run) -> Result<Option<PageMove>, CliError> {
    match &typed.memory {
        None => Ok(typed.move_pages.then_some(PageMove::ToThreads)),
        Some(_) if !typed.move_pages => Err(CliError::input(
            "a running program's threads choose their memory policy themselves; add --move-pages to move the pages that \
             it has",
        )),
        Some(MemoryWish::Nodes(nodes)) => {
            MemoryNodes::read(&Root::new("/")).check(nodes).map_err(CliError::input)?;
            Ok(Some(PageMove::ToNodes(nodes.clone())))
        }
        Some(wish) => Err(CliError::input(format!(
            "pages move to nodes, and '{wish}' names none; give --memory node:LIST, or leave --memory out to move them to \
             where the threads sit"
        ))),
    }
}

/// Checks that work on all CPUs of this node is not done by several starts of one command, against
/// each other.
pub fn check_sole(work: SoleWork) -> Result<(), CliError> {
    request::check_sole(work).map_err(ungranted)
}

pub fn ungranted(error: SeatingError) -> CliError {
    if error.is_input() { CliError::input(error) } else { CliError::work(error) }
}

pub fn failed(error: LaunchError) -> CliError {
    if error.is_input() { CliError::input(error) } else { CliError::work(error) }
}
