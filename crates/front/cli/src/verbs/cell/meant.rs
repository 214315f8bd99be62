//! The cells, requests and programs that a command line means. All errors of usage are made here.

use crate::args::{CellCreate, CellRun, CellServe, CellVerb};
use crate::myself;
use seatmap_cell::{CellRequest, CpuChoice, Host, Record};
use seatmap_console::error::CliError;
use seatmap_console::{input, output, pattern_input, plan_input, stdio};
use seatmap_control::{Ask, Create, Exported, ServerOptions, channel, server};
use seatmap_launch::{Executable, GrantedSeats, SeatSource, SeatingError, SeatingRequest};
use seatmap_ninep::{Fence, client};
use seatmap_os::{CpuSet, peer};
use seatmap_place::PlaceRequest;
use std::num::NonZeroUsize;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// The request to a controller, and whether the answer is printed as JSON; `None` for a subcommand
/// that asks none.
pub fn ask(verb: &CellVerb) -> Result<Option<(Ask, bool)>, CliError> {
    Ok(Some(match verb {
        CellVerb::Create(typed) if typed.profile.is_some() => {
            return Err(CliError::input(
                "a controller chooses CPUs without a profile; leave --profile out, or name the \
                 CPUs",
            ));
        }
        CellVerb::Create(typed) => (Ask::Create(order(typed)?), typed.json),
        CellVerb::Destroy { name, .. } => (Ask::Destroy { name: name.clone() }, false),
        CellVerb::Renew(typed) => {
            (Ask::Renew { name: typed.name.clone(), lease_s: typed.ttl }, typed.json)
        }
        CellVerb::List { json, .. } => (Ask::List, *json),
        _ => return Ok(None),
    }))
}

/// A new cell as it is requested. A bare name would take CPUs of Seatmap's choice for ever: it is a
/// slip more often than a wish.
fn order(typed: &CellCreate) -> Result<Create, CliError> {
    let chooses = typed.cpus.is_some() || typed.count.is_some() || typed.pattern.is_some();
    if !chooses && typed.ttl.is_none() {
        return Err(CliError::input(
            "say which CPUs or for how long: --cpus 2-5 or --count 2 reserves these until \
             'seatmap cell destroy', --ttl 10m reserves CPUs of Seatmap's choice for that time",
        ));
    }
    Ok(Create {
        name: typed.name.clone(),
        cpus: typed.cpus.as_ref().map(|list| list.0.clone()),
        count: typed.count.map(NonZeroUsize::get),
        require: typed.require.into(),
        noise_limit: typed.noise,
        is_tested: !typed.untested,
        lease_s: typed.ttl,
        memory_bytes: typed.memory,
        priority: typed.queued.priority,
        takes_turns: typed.queued.turns,
        is_detached: !typed.queued.hold,
        waits: !typed.queued.no_wait,
    })
}

/// The cell that is to be made here.
pub fn cell(host: &Host, typed: &CellCreate) -> Result<CellRequest, CliError> {
    Ok(order(typed)?.on(cpus(host, typed)?))
}

fn cpus(host: &Host, typed: &CellCreate) -> Result<CpuSet, CliError> {
    if let Some(list) = &typed.cpus {
        return match typed.profile {
            None => Ok(list.into()),
            Some(_) => Err(CliError::input(
                "CPUs that are named are not chosen; leave --profile or --cpus out",
            )),
        };
    }
    let mut choice = CpuChoice::for_new(host, &typed.name)?;
    let profile = typed.profile.as_deref().map(input::profile).transpose()?;
    if let (Some(pattern), Some(profile)) = (&typed.pattern, &profile) {
        let pattern = pattern_input::pattern(pattern)?;
        let mut request = PlaceRequest::new(profile, &pattern);
        request.cpus = Some(choice.candidates(pattern.tasks)?);
        let answer = request.place().map_err(CliError::input)?;
        return Ok(answer.placement.into_iter().collect());
    }
    if !typed.untested {
        // Where stolen time cannot be measured, it decides nothing.
        let noise = seatmap_noise::measure_briefly(&choice.free.list().0);
        choice.steal_percent = noise.map(|noise| noise.steal_percent()).unwrap_or_default();
    }
    Ok(choice.best(typed.count.map(NonZeroUsize::get), profile.as_ref())?)
}

/// A program that is to run in a cell.
pub struct ProgramInCell {
    /// The cell.
    pub cell: Record,
    /// The program, which knows of its cell.
    pub program: Executable,
    /// Its seats.
    pub seats: GrantedSeats,
    /// Its connection to files, console and input, which is open as long as this.
    _channel: Option<UnixStream>,
}

/// The program, with seats among the CPUs of its cell.
pub fn program(host: &Host, typed: &CellRun) -> Result<ProgramInCell, CliError> {
    let words: Vec<_> = std::env::args_os().collect();
    let (name, command) = typed.cell_and_command(&words).map_err(CliError::input)?;
    let cell = host.cell(&name)?;
    let plan = typed.plan.as_deref().map(plan_input::plan).transpose()?;
    let seats = SeatSource::Cell(Box::new(cell.clone()), plan.map(Box::new));
    let seating = SeatingRequest { seats, ..SeatingRequest::default() };
    let seats = seating.grant().map_err(|error| match (&error, &typed.plan) {
        (SeatingError::OutsideCell { .. }, Some(path)) => CliError::at(path, error),
        _ => error.into(),
    })?;
    let program = Executable::find(&command).map_err(CliError::input)?;
    let program = program.without_streams(stdio::closed()).in_cell(&host.root, &cell);
    let program = if typed.no_io {
        program.check_static().map_err(CliError::input)?;
        program.behind(Fence::before_exec().map_err(CliError::work)?)
    } else {
        program
    };
    let channel = channel(host, typed)?;
    let program = match &channel {
        Some(channel) => program.with_variable(client::VARIABLE, channel.as_raw_fd().to_string()),
        None => program,
    };
    Ok(ProgramInCell { cell, program, seats, _channel: channel })
}

/// The connection to files, console and input, where one is wanted.
fn channel(host: &Host, typed: &CellRun) -> Result<Option<UnixStream>, CliError> {
    let Some(socket) = &typed.channel else { return Ok(None) };
    let socket = socket.clone().unwrap_or_else(|| channel::beside(&host.run.file(server::SOCKET)));
    let console = std::io::stdout();
    let input = std::io::stdin();
    channel::connect(&socket, [console.as_fd(), input.as_fd()]).map(Some).map_err(CliError::input)
}

/// The controller that is to serve cells here.
pub fn server(host: &Host, typed: &CellServe) -> Result<ServerOptions, CliError> {
    Ok(ServerOptions {
        group: typed.group.as_deref().map(group).transpose()?,
        socket: typed.socket.clone().unwrap_or_else(|| host.run.file(server::SOCKET)),
        policy: typed.policy,
        slice: Duration::from_secs(typed.slice),
        warden: myself::warden(),
        export: export(typed)?,
    })
}

fn group(name: &str) -> Result<u32, CliError> {
    peer::group(name).ok_or_else(|| {
        CliError::input(format!(
            "there is no group '{}'; /etc/group lists them",
            output::visible(name)
        ))
    })
}

/// The folder to export, as an absolute path, because the file proxy starts in another folder.
fn export(typed: &CellServe) -> Result<Option<Exported>, CliError> {
    let Some(folder) = &typed.export else { return Ok(None) };
    Ok(Some(Exported {
        folder: std::path::absolute(folder).map_err(CliError::input)?,
        is_read_only: typed.export_read_only,
        file_proxy: myself::file_proxy(),
    }))
}
