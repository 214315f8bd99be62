//! `seatmap cell`.

use super::run;
use crate::myself;
use clap::{Args, Subcommand};
use seatmap_cell::{
    CellHost, CellList, CellRecord, CellRequest, CellVerdict, CpuChoice, GuardedHost, Name,
    NameError,
};
use seatmap_console::new_cell::{NewCell, lease_s};
use seatmap_console::{
    CliError, CliResult, Destination, input, output, pattern_input, plan_input, stdio,
};
use seatmap_health::noise::{NoiseListener, ProgramNoise, measure_briefly};
use seatmap_launch::{Executable, Report, SeatSource, SeatingError, SeatingRequest, run_in_cell};
use seatmap_os::{CpuList, CpuSet};
use seatmap_place::PlaceRequest;
use seatmap_report::{cell as words, counted};
use serde::Serialize;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Args)]
pub struct CellArgs {
    #[command(subcommand)]
    verb: CellVerb,
}

#[derive(Subcommand)]
enum CellVerb {
    /// Create a cell: move all other work off its CPUs.
    Create(CellCreate),
    /// List all cells.
    List {
        /// Print only a JSON array, on stdout.
        #[arg(long)]
        json: bool,
    },
    /// Show a cell: its isolation, the work left on its CPUs, and its faults.
    Show(CellNamed),
    /// Run a program in a cell, one thread per CPU.
    Run(CellRun),
    /// Verify that a cell is still as it was created; exit code 1 if it is not.
    Verify(CellNamed),
    /// Destroy a cell. Programs in it are moved out.
    Destroy {
        /// The cell's name, as in 'seatmap cell list'.
        #[arg(value_name = "NAME", default_value = seatmap_cell::name::USUAL)]
        name: Name,
    },
    /// Change the end of a cell's lease.
    Renew(CellRenew),
    /// Undo all changes of all cells on this host.
    Restore,
}

#[derive(Args)]
struct CellCreate {
    #[command(flatten)]
    cell: NewCell,
    /// Choose CPUs that are close to each other by this profile.
    #[arg(long, alias = "near", value_name = "FILE")]
    profile: Option<String>,
    /// Choose one CPU per task of this pattern, so that communication is cheapest by the profile.
    #[arg(
        long,
        value_name = "PATTERN",
        requires = "profile",
        conflicts_with_all = ["cpus", "count"]
    )]
    pattern: Option<String>,
    /// Print only the cell as JSON, on stdout.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct CellRenew {
    /// The cell's name, as in 'seatmap cell list'.
    #[arg(value_name = "NAME", default_value = seatmap_cell::name::USUAL)]
    name: Name,
    /// Time until its end, from now: 30s, 10m, 2h.
    #[arg(long, value_name = "TIME", value_parser = lease_s)]
    ttl: u64,
    /// Print only the cell as JSON, on stdout.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct CellNamed {
    /// The cell's name, as in 'seatmap cell list'.
    #[arg(value_name = "NAME", default_value = seatmap_cell::name::USUAL)]
    name: Name,
    /// Print only JSON, on stdout.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub struct CellRun {
    /// The cell [default: cell]. After a leading -- the command follows, in the default cell.
    #[arg(value_name = "NAME")]
    name: Option<OsString>,
    /// Seat threads by this plan on the cell's CPUs; by default each takes the next CPU in turn.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Write the seating, and the noise during the run, as JSON.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Print nothing unless a thread is off its seat.
    #[arg(short, long)]
    quiet: bool,
    /// The program and its arguments.
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// A word of a command line that `cell run` cannot use.
#[derive(Debug, thiserror::Error)]
enum CellRunError {
    /// The first word names no cell.
    #[error(
        "{0}; write seatmap cell run NAME COMMAND, or -- before the command for the default cell"
    )]
    Name(#[from] NameError),
    /// Only the cell was named.
    #[error(
        "COMMAND is missing: write seatmap cell run NAME COMMAND, or seatmap cell run -- COMMAND"
    )]
    NoCommand,
}

impl CellRun {
    /// The cell and the command, from the words of the whole command line: the parser does not
    /// report whether `--` precedes the first word.
    ///
    /// # Errors
    /// The first word names no cell, or there is no command.
    fn cell_and_command(&self, words: &[OsString]) -> Result<(Name, Vec<OsString>), CellRunError> {
        let Some(first) = &self.name else { return Err(CellRunError::NoCommand) };
        // The cell and the command end the line, so a `--` is right before them or absent.
        let own_words = self.command.len() + 1;
        let before = words.len().checked_sub(own_words + 1).and_then(|at| words.get(at));
        // In `seatmap cell run -- app`, `app` begins the command.
        let is_unnamed = before.is_some_and(|word| word == "--")
            && words.get(words.len() - own_words) == Some(first);
        if is_unnamed {
            let command = std::iter::once(first).chain(&self.command).cloned().collect();
            return Ok((seatmap_cell::name::USUAL.parse()?, command));
        }
        let cell = first.to_string_lossy().parse()?;
        if self.command.is_empty() {
            Err(CellRunError::NoCommand)
        } else {
            Ok((cell, self.command.clone()))
        }
    }
}

pub fn run(typed: &CellArgs) -> CliResult {
    use CellVerb::*;
    let verb = &typed.verb;
    let host = &CellHost::here(myself::cell_guardian()).map_err(CliError::work)?;
    if !matches!(verb, Restore) {
        // Every other command finishes what a killed program left.
        output::tell_each(host.take_over()?);
    }
    match verb {
        Create(typed) => {
            typed.cell.check(typed.pattern.is_some())?;
            let request = typed.cell.on(cpus(host, typed)?);
            show(&create(host, &request, typed.cell.untested)?, &[], typed.json)
        }
        List { json } => {
            let records = seatmap_cell::examine_all(host)?;
            if *json {
                output::json(&CellList::of(&records))
            } else {
                output::print(&records.iter().map(words::row).collect::<String>())
            }
        }
        Show(typed) => {
            let (record, faults) = seatmap_cell::examine(host, &typed.name)?;
            show(&record, &faults, typed.json)
        }
        Verify(typed) => verify(host, typed),
        Destroy { name } => left(&seatmap_cell::destroy(host, name)?),
        Renew(typed) => show(&seatmap_cell::renew(host, &typed.name, typed.ttl)?, &[], typed.json),
        Run(typed) => run_program(host, typed),
        Restore => {
            let restored = seatmap_cell::restore(host)?;
            output::tell_each(&restored.lost);
            output::tell(&format!("{} undone", counted(restored.cells, "cell")));
            left(&restored.left)
        }
    }
}

fn create(host: &CellHost, request: &CellRequest, is_untested: bool) -> CliResult<CellRecord> {
    if is_untested {
        return Ok(seatmap_cell::create(host, request, None)?);
    }
    let mut judge = |cpus: &CpuList| Ok(measure_briefly(&cpus.0)?.worst_stolen_percent());
    Ok(seatmap_cell::create(host, request, Some(&mut judge))?)
}

fn cpus(host: &CellHost, typed: &CellCreate) -> CliResult<CpuSet> {
    let cell = &typed.cell;
    if let Some(found) = cell.or_all.here(cell.cpus.as_ref())? {
        return match typed.profile {
            None => Ok((&found.list).into()),
            Some(_) => Err(CliError::input(
                "--cpus gives the CPUs and --profile chooses them; leave one of them out",
            )),
        };
    }
    let mut choice = CpuChoice::for_new(host, &cell.name)?;
    let profile = typed.profile.as_deref().map(input::profile).transpose()?;
    if let (Some(pattern), Some(profile)) = (&typed.pattern, &profile) {
        let pattern = pattern_input::pattern(pattern)?;
        let mut request = PlaceRequest::new(profile, &pattern);
        request.cpus = Some(choice.candidates(pattern.tasks)?);
        let answer = request.place().map_err(CliError::input)?;
        return Ok(answer.placement.into_iter().collect());
    }
    if !cell.untested {
        // If stolen time cannot be measured, it is ignored.
        let noise = measure_briefly(&choice.free.list().0);
        choice.steal_percent = noise.map(|noise| noise.steal_percent()).unwrap_or_default();
    }
    Ok(choice.best(cell.count.map(NonZeroUsize::get), profile.as_ref())?)
}

fn show(record: &CellRecord, wrong: &[String], json: bool) -> CliResult {
    if json {
        output::json(record)
    } else {
        output::print(&(words::text(record) + &words::faults(wrong)))
    }
}

/// Shows whether a cell is as it was created. Exit code 1 if it is not.
fn verify(host: &CellHost, typed: &CellNamed) -> CliResult {
    let (record, faults) = &seatmap_cell::examine(host, &typed.name)?;
    output::even_unread(if typed.json {
        output::json(&CellVerdict { record, faults })
    } else {
        output::print(&words::verdict(record, faults))
    })?;
    words::damage(record, faults).map_or(Ok(()), |damage| Err(CliError::work(damage)))
}

/// Shows the changes that could not be restored. Exit code 1 if there are any.
fn left(left: &[seatmap_cell::undo::Left]) -> CliResult {
    output::tell_each(left);
    match left.len() {
        0 => Ok(()),
        count => {
            Err(CliError::work(format!("{count} of the cell's changes could not be restored")))
        }
    }
}

/// Runs a program in a cell, with seats among its CPUs. Its exit code is this process's.
fn run_program(host: &CellHost, typed: &CellRun) -> CliResult {
    let destination = typed.report.as_deref().map(Destination::new).transpose()?;
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
    let mut program = Executable::find(&command).map_err(CliError::input)?;
    // The program has its cell in its environment.
    program.closed = stdio::closed();
    let program = program.in_cell(&host.root, &cell);
    run::remark(&seats.remarks, typed.quiet);
    let seats = seats.allocator;
    run::warn_of_settings(&program, &seats, false, typed.quiet);
    let cpus = &cell.cpus;
    let (ending, report, noise) = run_in_cell(host, &cell, &program, seats, || {
        let listener = NoiseListener::begin();
        move || listener.end(cpus)
    })?;
    run::show(&report, typed.quiet);
    // Without a lasting cell, other work was on the CPUs too.
    if !typed.quiet && report.cell_end.is_none() {
        output::tell_each(words::noise(&noise));
    }
    let seated = CellRunReport { report: &report, noise: &noise };
    if let Some(Err(error)) = destination.map(|file| run::write(&seated, &file)) {
        error.report();
    }
    ending.leave_alike()
}

/// The launcher's report of threads and CPUs, with the noise on those CPUs.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CellRunReport<'a> {
    #[serde(flatten)]
    report: &'a Report,
    /// The interruptions of the cell's CPUs while it ran, including those after the cell's end if
    /// `cell_end` is set.
    noise: &'a ProgramNoise,
}
