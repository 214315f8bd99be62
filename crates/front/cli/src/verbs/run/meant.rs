//! Converts a command line into a program on seats, or a usage error.

use super::{Huge, RunArgs, page};
use crate::verbs::place;
use seatmap_console::{CliError, CliResult, input, plan_input, stdio};
use seatmap_launch::{
    AttachRequest, CpuFit, Executable, GrantedSeats, LaunchOptions, MemoryWish, PageMove,
    RunRequest, SeatSource, SeatingRequest,
};
use seatmap_os::Root;
use seatmap_os::mempolicy::MemoryNodes;

pub enum Meant {
    Start(Box<RunRequest>),
    Attach(Box<AttachRequest>),
}

/// The program or the processes, with seats of this computer.
pub fn request(typed: &RunArgs) -> CliResult<Meant> {
    CliError::check_input(
        typed.live.given_option().map(|option| {
            format!("{option} needs --auto, which tries seats while the program runs")
        }),
    )?;
    let seats = source(typed)?;
    let is_running = !typed.pid.is_empty();
    // Otherwise only `--move-pages` was meant.
    let has_seats = seats != SeatSource::Rules || !typed.rules.is_empty();
    let seating = SeatingRequest {
        seats,
        or_all: typed.or_all,
        once: typed.once,
        soft: typed.soft,
        rules: typed.rules.clone(),
        skip: typed.skip,
        strict: typed.strict,
        is_running,
        // Only a thread itself can set its memory policy (set_mempolicy(2)).
        memory: typed.memory.clone().filter(|_| !is_running),
    };
    let GrantedSeats { allocator, memory, remarks } = seating.grant()?;
    page::remark(&remarks, typed.quiet);
    if is_running {
        return Ok(Meant::Attach(Box::new(AttachRequest {
            pids: typed.pid.clone(),
            force: typed.force,
            seats: has_seats.then_some(allocator),
            pages: pages(typed)?,
        })));
    }
    let program = program(typed)?;
    let fit = typed.fit.map(|threads| CpuFit::of(&program, &allocator.whole, threads));
    let fit = fit.transpose()?;
    page::remark_on_fit(fit.as_ref(), typed.quiet);
    Ok(Meant::Start(Box::new(RunRequest {
        program: fit.iter().fold(program, |program, fit| fit.prepare(program)),
        seats: allocator,
        options: LaunchOptions {
            start_at: typed.start_at.clone(),
            widens: !typed.strict,
            memory,
            verify_memory: typed.verify_memory,
            fit,
            ..LaunchOptions::default()
        },
        returns_at: typed.detach.into(),
    })))
}

fn source(typed: &RunArgs) -> CliResult<SeatSource> {
    let Some(path) = &typed.plan else {
        return Ok(typed.cpus.clone().map_or(SeatSource::Rules, SeatSource::List));
    };
    let bytes = input::bytes(path)?;
    // A plan for ranks: this rank finds its seat by its number.
    match plan_input::rank_plan_in(path, &bytes)? {
        Some(plan) => place::own_cpus(path, &plan, typed.any_machine).map(SeatSource::Rank),
        None => {
            let plan = plan_input::plan_of_host(path, &bytes, typed.any_machine)?;
            Ok(SeatSource::Plan(Box::new(plan)))
        }
    }
}

fn program(typed: &RunArgs) -> CliResult<Executable> {
    let mut program = Executable::find(&typed.command).map_err(CliError::input)?;
    // Rust's runtime has opened `/dev/null` for streams that were closed.
    program.closed = stdio::closed();
    Ok(match typed.huge {
        Some(huge) => program.with_huge_pages(huge == Huge::Prefer),
        None => program,
    })
}

/// The nodes for the pages of running processes; `None` to leave them.
fn pages(typed: &RunArgs) -> CliResult<Option<PageMove>> {
    match &typed.memory {
        None => Ok(typed.move_pages.then_some(PageMove::ToThreads)),
        Some(_) if !typed.move_pages => Err(CliError::input(
            "the memory policy of a running program cannot be set; add --move-pages to move its \
             pages",
        )),
        Some(MemoryWish::Nodes(nodes)) => {
            MemoryNodes::read(&Root::new("/")).check(nodes).map_err(CliError::input)?;
            Ok(Some(PageMove::ToNodes(nodes.clone())))
        }
        Some(wish) => Err(CliError::input(format!(
            "'{wish}' names no node for the pages; give --memory node:LIST, or leave --memory out \
             to move them to the threads' nodes"
        ))),
    }
}
