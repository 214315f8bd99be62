//! `seatmap run`.

mod auto;
mod memory;
mod page;

use crate::args::{Detach, Huge, Run};
use crate::verbs::place::ranks;
use seatmap_console::error::CliError;
use seatmap_console::output::{self, Destination};
use seatmap_console::{here, input, plan_input, stdio};
use seatmap_launch::front::{self, Link, Side};
use seatmap_launch::rule::Who;
use seatmap_launch::sets::Computer;
use seatmap_launch::share::SoleWork;
use seatmap_launch::{
    Behind, Beyond, Ending, Executable, Launch, LaunchError, LaunchOptions, ProgramMemory, Report,
    SeatAllocator, SeatList, SeatRule, asks, attach, sets, share,
};
use seatmap_live::Soft;
use seatmap_machine::Topology;
use seatmap_os::cpus::Cpus;
use seatmap_os::task;
use seatmap_os::{CpuSet, Root};
use seatmap_plan::Plan;
use seatmap_plan::local_rank::Start;
use seatmap_report::counted;
use serde::Serialize;
use std::path::Path;

/// Runs a program, or takes one that runs, and seats its threads. A program's exit code is this
/// process's.
pub fn run(typed: &Run) -> Result<(), CliError> {
    if typed.auto || typed.live.replay.is_some() || typed.live.guard {
        return auto::run(typed);
    }
    if let Some(option) = typed.live.typed() {
        return Err(CliError::input(format!(
            "{option} is about seats that are tried while the program runs: add --auto"
        )));
    }
    let planned = typed.plan.as_ref().map(|path| planned(path, typed.any_machine)).transpose()?;
    let seating = seating(typed, planned.as_ref())?;
    let plan = match planned {
        Some(Planned::Plan(plan)) => Some(*plan),
        _ => None,
    };
    let memory = memory::asked(typed, seating.whole(), plan.as_ref())?;
    let files = Files::new(typed)?;
    if !typed.pid.is_empty() {
        return seat_running(typed, seating, &files);
    }
    let program =
        Executable::find(&typed.command).map_err(CliError::input)?.without_streams(stdio::closed());
    let program = match typed.huge {
        Some(huge) => program.with_huge_pages(huge == Huge::Prefer),
        None => program,
    };
    warn_of_settings(&program, &seating, !typed.strict, typed.quiet);
    match front::split().map_err(no_supervisor)? {
        Side::Front(front) => match front.wait() {
            Some(ending) => ending.leave_alike(),
            None => Err(CliError::work(
                "the process that seats the threads was killed; the program runs on, and each thread where it sits",
            )),
        },
        Side::Supervisor(link) => supervise(typed, &program, (seating, memory), link, &files),
    }
}

/// The program needs a second process beside it, which a limit on processes may forbid.
fn no_supervisor(error: std::io::Error) -> CliError {
    CliError::work(format!("the process that watches over the program cannot be started: {error}"))
}

/// The process behind the one that the caller waits for: it starts the program, seats its threads,
/// and stays while any of them lives. It reports a failure itself; the process in front ends with
/// its exit code.
fn supervise(
    typed: &Run,
    program: &Executable,
    (seating, memory): (SeatAllocator, Option<ProgramMemory>),
    mut link: Link,
    files: &Files,
) -> Result<(), CliError> {
    if typed.detach == Detach::Start {
        front::leave_session();
        front::leave_terminal_input();
    }
    let options = LaunchOptions {
        start_at: typed.start_at.clone(),
        home: None,
        widens: !typed.strict,
        memory,
        verify_memory: typed.verify_memory,
        link: Some(&mut link),
    };
    let begun = Launch::begin(program, seating, options).map_err(failed);
    let done = begun.and_then(|launch| attend(typed, program, launch, files));
    link.end(done.unwrap_or_else(|error| error.ending()));
    std::process::exit(0)
}

/// Seats the threads of a program that has started, until none of them lives.
fn attend(
    typed: &Run,
    program: &Executable,
    mut launch: Launch<'_>,
    files: &Files,
) -> Result<Ending, CliError> {
    let supervisor = std::process::id() as i32;
    front::leave_streams();
    if typed.detach == Detach::Start {
        started(typed, program, launch.pid(), supervisor);
        leave(&mut launch, Ending::Exited(0));
    }
    let ending = launch.attend();
    let behind = launch.behind();
    if typed.detach == Detach::Exit || behind.processes == 0 {
        let lives_on =
            (behind.processes > 0).then_some(Behind { supervisor: Some(supervisor), ..behind });
        let report = Report { behind: lives_on, ..launch.report() };
        let ending = told(&report, typed, files, ending);
        if lives_on.is_none() {
            return Ok(ending);
        }
        leave(&mut launch, ending);
    }
    let is_over = launch.stay();
    let freed = if is_over { launch.give_masks_back() } else { 0 };
    let behind = if is_over { Some(Behind { freed, ..launch.behind() }) } else { None };
    let report = Report { behind, ..launch.report() };
    Ok(told(&report, typed, files, ending))
}

/// The caller waits no longer.
fn leave(launch: &mut Launch<'_>, ending: Ending) {
    if let Some(link) = launch.link() {
        link.leave(ending);
    }
    front::go_to_the_background();
}

fn started(typed: &Run, program: &Executable, pid: i32, supervisor: i32) {
    if !typed.quiet {
        let name = program.path().to_string_lossy();
        // Plural: "runs" is a verb here.
        output::tell(&format!(
            "{name} runs as process {pid}; process {supervisor} keeps its threads seated"
        ));
    }
}

/// Tells of the seating, and how to end: a program that did well does not where its report could
/// not be written.
fn told(report: &Report, typed: &Run, files: &Files, ending: Ending) -> Ending {
    // A plan has a seat for each thread; --once and rules leave some out on purpose.
    if let Some(line) = report
        .left_over()
        .filter(|_| typed.quiet && typed.plan.is_some() && report.ordered_tasks > 0)
    {
        output::tell(&line);
    }
    match (tell(report, typed.quiet, files), ending) {
        (Err(error), Ending::Exited(0)) => error.ending(),
        (Err(error), ending) => {
            error.report();
            ending
        }
        (Ok(()), ending) => ending,
    }
}

/// Seats the threads of processes that run already.
fn seat_running(typed: &Run, seating: SeatAllocator, files: &Files) -> Result<(), CliError> {
    if !typed.force {
        attach::check(&typed.pid).map_err(failed)?;
    }
    let destination = memory::destination(typed)?;
    if typed.plan.is_none() && typed.cpus.is_none() && typed.rules.is_empty() {
        let gone = typed.pid.iter().find(|pid| !task::lives(**pid));
        gone.map_or(Ok(()), |pid| Err(failed(LaunchError::NoSuchProcess(*pid))))?;
        return memory::move_pages(typed, destination.flatten().as_ref());
    }
    let report = seatmap_launch::seat_running(&typed.pid, seating).map_err(failed)?;
    tell(&report, typed.quiet, files)?;
    destination.map_or(Ok(()), |nodes| memory::move_pages(typed, nodes.as_ref()))?;
    match (report.troubled().count(), report.unseated) {
        (0, 0) => Ok(()),
        (0, _) if typed.allow_unseated => Ok(()),
        (0, count) => Err(CliError::work(format!(
            "{count} of {} {} no seat; --allow-unseated accepts that",
            counted(report.created, "thread"),
            if count == 1 { "has" } else { "have" }
        ))),
        (count, _) => Err(CliError::work(format!(
            "{count} of {} could not be seated",
            counted(report.created, "thread")
        ))),
    }
}

/// The content of a file for the program.
enum Planned {
    /// A seat for each of its threads.
    Plan(Box<Plan>),
    /// It is a rank of a job, and these CPUs are all its threads'.
    Rank(CpuSet),
}

fn planned(path: &Path, any_machine: bool) -> Result<Planned, CliError> {
    let bytes = input::bytes(path)?;
    match ranks::of_bytes(path, &bytes)? {
        Some(plan) => ranks::own_cpus(path, &plan, any_machine).map(Planned::Rank),
        None => Ok(Planned::Plan(Box::new(plan_input::plan_of_host(path, &bytes, any_machine)?))),
    }
}

/// The seating that the user asked for, if this host has it.
fn seating(typed: &Run, planned: Option<&Planned>) -> Result<SeatAllocator, CliError> {
    let seats = match (planned, &typed.cpus) {
        (Some(Planned::Plan(plan)), _) => SeatList::of_plan(plan),
        (Some(Planned::Rank(cpus)), _) => SeatList::of_sets(vec![cpus.clone()], Beyond::Cycle),
        (None, cpus) => {
            let beyond = if typed.once { Beyond::Leave } else { Beyond::Cycle };
            let sets = cpus.as_ref().map(|list| sets::parse(list, &computer)).transpose();
            SeatList::of_sets(sets.map_err(CliError::input)?.unwrap_or_default(), beyond)
        }
    };
    let seats = if typed.soft { soft(seats)? } else { seats };
    let start = if typed.pid.is_empty() { this_start()? } else { Start::Alone };
    let is_rank_plan = matches!(planned, Some(Planned::Rank(_)));
    let seats = if is_rank_plan || seats.cpus.is_empty() {
        seats
    } else {
        seats
            .shared_with(&start, matches!(planned, Some(Planned::Plan(_))))
            .map_err(CliError::input)?
    };
    let rule = |text: &String| SeatRule::parse(text, &seats, &computer);
    let rules =
        typed.rules.iter().map(rule).collect::<Result<Vec<_>, _>>().map_err(CliError::input)?;
    let by_number = rules.iter().any(|rule| !matches!(rule.who, Who::Named(_)));
    if by_number && typed.pid.is_empty() {
        return Err(CliError::input(
            "numbers of threads are known only of programs that run; tid: and pid: need --pid",
        ));
    }
    let of_rules = rules.iter().flat_map(|rule| &rule.seats);
    if !is_rank_plan {
        share::check_rules(&start, of_rules.clone().any(|seat| seat.task.is_none()))
            .map_err(CliError::input)?;
        tell_share(&start, &seats, typed.quiet);
    }
    let of_rules = of_rules.flat_map(|seat| seat.cpus.iter());
    let wanted: Vec<u32> = seats.own().iter().flat_map(CpuSet::iter).chain(of_rules).collect();
    Cpus::read().map_err(CliError::work)?.check(&wanted).map_err(CliError::input)?;
    Ok(SeatAllocator::new(seats, rules, typed.skip).strict(typed.strict))
}

/// Which of several starts of one command this process is.
pub fn this_start() -> Result<Start, CliError> {
    let here_cpus = Cpus::read().map_err(CliError::work)?.allowed.len();
    share::this_start(&Root::new("/"), here_cpus).map_err(CliError::input)
}

/// Checks that work on all CPUs of this node is not done by several starts of one command, against
/// each other.
pub fn check_sole(work: SoleWork) -> Result<(), CliError> {
    let here_cpus = Cpus::read().map_err(CliError::work)?.allowed.len();
    work.check(&Root::new("/"), here_cpus).map_err(CliError::input)
}

/// Says which seats this start takes, where there are others beside it.
pub fn tell_share(start: &Start, seats: &SeatList, quiet: bool) {
    if !quiet && !seats.cpus.is_empty() {
        share::told(start, seats).iter().for_each(|line| output::tell(line));
    }
}

/// The caches of seats in place of their CPUs.
fn soft(seats: SeatList) -> Result<SeatList, CliError> {
    let topology = topology().map_err(CliError::work)?;
    let allowed = Cpus::read().map_err(CliError::work)?.allowed.into_iter().collect::<CpuSet>();
    let group = |cpu: u32| Soft.group(&topology, cpu).within(&allowed);
    let wide = |cpus: &CpuSet| {
        cpus.iter().flat_map(|cpu| group(cpu).with(&CpuSet::single(cpu)).list().0).collect()
    };
    Ok(SeatList { cpus: seats.cpus.iter().map(wide).collect(), ..seats })
}

fn computer() -> Result<Computer, String> {
    Ok(Computer { topology: topology()?, set_apart: seatmap_os::cpus::set_apart(&Root::new("/")) })
}

fn topology() -> Result<Topology, String> {
    seatmap_host::topology::reachable().map_err(|error| error.to_string())
}

pub fn failed(error: LaunchError) -> CliError {
    match error {
        LaunchError::Execute { .. }
        | LaunchError::NoSuchProcess(_)
        | LaunchError::NeedsForce { .. } => CliError::input(error),
        LaunchError::Proc(_)
        | LaunchError::System { .. }
        | LaunchError::Forbidden(_)
        | LaunchError::Unseen { .. } => CliError::work(error),
    }
}

fn tell(report: &Report, quiet: bool, files: &Files) -> Result<(), CliError> {
    show(report, quiet);
    files.report.as_ref().map_or(Ok(()), |file| write(report, file))?;
    files.page.as_ref().map_or(Ok(()), |file| file.write(&page::page(&files.program, report)))
}

/// Where the seating is written, with paths that hold in the background too.
struct Files {
    report: Option<Destination>,
    page: Option<Destination>,
    /// The program, as it was typed.
    program: String,
}

impl Files {
    fn new(typed: &Run) -> Result<Self, CliError> {
        let file = |path: Option<&Path>| match path {
            None => Ok(None),
            Some(path) if path == Path::new("-") => {
                Err(CliError::input("stdout is the program's; give a file's name"))
            }
            Some(path) => {
                // An error names the path that the user typed.
                Destination::new(path)?;
                Destination::new(&std::path::absolute(path).map_err(CliError::input)?).map(Some)
            }
        };
        let words: Vec<_> = typed.command.iter().map(|word| word.to_string_lossy()).collect();
        let pids: Vec<_> = typed.pid.iter().map(|pid| format!("process {pid}")).collect();
        let program = if pids.is_empty() { words.join(" ") } else { pids.join(", ") };
        Ok(Files {
            report: file(typed.report.as_deref())?,
            page: file(typed.html.as_deref())?,
            program,
        })
    }
}

/// Says which settings of a program do not fit its seats. The grave ones are said in any case.
pub fn warn_of_settings(program: &Executable, seating: &SeatAllocator, widens: bool, quiet: bool) {
    let found = asks::disagreements(program, seating, widens);
    found
        .iter()
        .filter(|found| found.is_grave || !quiet)
        .for_each(|found| output::tell(&found.what));
}

/// The table, and what to know beside it, on stderr: stdout is the program's. Troubles are said in
/// any case.
pub fn show(report: &Report, quiet: bool) {
    if !quiet {
        output::tell_text(&report.table());
        report.notes().iter().for_each(|note| output::tell(note));
    }
    report.troubles().iter().for_each(|trouble| output::tell(trouble));
}

/// The report as JSON.
pub fn write(report: &impl Serialize, destination: &Destination) -> Result<(), CliError> {
    let machine = &here::host_name();
    destination.write(&seatmap_document::written(&output::OfMachine { document: report, machine }))
}
