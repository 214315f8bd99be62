//! `seatmap cell run`.

use super::told;
use crate::args::CellRun;
use crate::verbs::run;
use seatmap_cell::{Host, Record, census, memory};
use seatmap_console::error::{AtFile, CliError};
use seatmap_console::output::{self, Destination};
use seatmap_console::{plan_input, stdio};
use seatmap_control::{channel, server};
use seatmap_launch::{
    Beyond, Executable, LaunchOptions, Report, SeatAllocator, SeatList, loader, request,
};
use seatmap_ninep::{Fence, client};
use seatmap_noise::{Heard, Listener};
use seatmap_os::CpuList;
use seatmap_os::group;
use serde::Serialize;
use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Runs a program in a cell. Its exit code is this process's.
pub fn run(host: &Host, typed: &CellRun) -> Result<(), CliError> {
    let words: Vec<_> = std::env::args_os().collect();
    let (cell, command) = typed.cell_and_command(&words).map_err(CliError::input)?;
    let record = host.cell(&cell)?;
    let start = request::this_start()?;
    let seats = seats(&record, typed)?
        .shared_with(&start, typed.plan.is_some())
        .map_err(CliError::input)?;
    run::tell_share(&start, &seats, typed.quiet);
    let destination = typed.report.as_deref().map(Destination::new).transpose()?;
    let program =
        Executable::find(&command).map_err(CliError::input)?.without_streams(stdio::closed());
    let program = enclosed(at_home(host, &record, program), typed)?;
    // Open until the program has ended, which inherits it.
    let channel = channel(host, typed)?;
    let program = match &channel {
        Some(channel) => program.with_variable(client::VARIABLE, channel.as_raw_fd().to_string()),
        None => program,
    };
    clean(&record)?;
    let listener = Listener::begin();
    let home = Some(record.cpus.iter().copied().collect());
    let options = LaunchOptions { home, ..LaunchOptions::default() };
    let seating = SeatAllocator::new(seats, Vec::new(), 0);
    run::warn_of_settings(&program, &seating, options.widens, typed.quiet);
    let (ending, report) = seatmap_launch::run(&program, seating, options)?;
    let noise = listener.end(&record.cpus);
    clean(&record)?;
    run::show(&report, typed.quiet);
    if !typed.quiet {
        told::heard(&noise).iter().for_each(|line| output::tell(line));
    }
    if let Some(Err(error)) =
        destination.map(|file| run::write(&Seated { report: &report, noise: &noise }, &file))
    {
        error.report();
    }
    ending.leave_alike()
}

/// The launcher's report of threads and seats, with the noise heard on those CPUs.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Seated<'a> {
    #[serde(flatten)]
    report: &'a Report,
    /// The interruptions of the CPUs of its cell while it ran.
    noise: &'a Heard,
}

/// A seat a thread. Nothing balances in a cell, so the list starts again where there are more
/// threads than seats.
fn seats(record: &Record, typed: &CellRun) -> Result<SeatList, CliError> {
    let Some(path) = &typed.plan else {
        return Ok(SeatList::of_cpus(&CpuList(record.cpus.clone()), Beyond::Cycle));
    };
    let plan = plan_input::plan(path)?;
    match (0..plan.placement.len())
        .flat_map(|task| plan.seat(task))
        .find(|cpu| !record.cpus.contains(cpu))
    {
        None => Ok(SeatList { beyond: Beyond::Cycle, ..SeatList::of_plan(&plan) }),
        Some(cpu) => Err(CliError::input(format!(
            "{}: CPU {cpu} is not in the cell '{}', which has {}",
            path.display(),
            record.name,
            CpuList(record.cpus.clone()).named()
        ))),
    }
}

fn at_home(host: &Host, record: &Record, program: Executable) -> Executable {
    let mut program = program.with_variable(census::VARIABLE, record.name.to_string());
    if let Some(group) = &record.group {
        program = program.in_group(host.root.path(&group::members_file(&host.root, group)));
    }
    match record.memory.as_ref().and_then(|memory| Some((memory.path.clone()?, memory.size_bytes)))
    {
        None => program,
        Some((path, size_bytes)) => {
            let program = program.with_variable(memory::VARIABLE, path);
            program.with_variable(memory::BYTES_VARIABLE, size_bytes.to_string())
        }
    }
}

/// The connection to files, console and input, where one is wanted.
fn channel(host: &Host, typed: &CellRun) -> Result<Option<UnixStream>, CliError> {
    let Some(socket) = &typed.channel else { return Ok(None) };
    let socket = socket.clone().unwrap_or_else(|| channel::beside(&host.run.file(server::SOCKET)));
    let console = std::io::stdout();
    let input = std::io::stdin();
    channel::connect(&socket, [console.as_fd(), input.as_fd()]).map(Some).map_err(CliError::input)
}

/// A program that needs a loader would not get as far as its first instruction.
fn enclosed(program: Executable, typed: &CellRun) -> Result<Executable, CliError> {
    if !typed.no_io {
        return Ok(program);
    }
    let path = Path::new(OsStr::from_bytes(program.path().to_bytes()));
    match loader::is_static(path) {
        Ok(true) => Ok(program.behind(Fence::before_exec().map_err(CliError::work)?)),
        Ok(false) => Err(CliError::input(format!(
            "{}: opens libraries before it runs, which --no-io forbids; link it statically, or have it put up its own fence",
            path.display()
        ))),
        Err(error) => Err(CliError::input(AtFile::new(path, error))),
    }
}

/// No program finds what another left.
fn clean(record: &Record) -> Result<(), CliError> {
    record.memory.as_ref().map_or(Ok(()), memory::scrub).map_err(CliError::work)
}
