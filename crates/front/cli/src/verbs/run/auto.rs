//! `seatmap run --auto`: tries CPUs while the program runs.

use super::{RunArgs, check_sole, command_to_watch, page};
use crate::myself;
use seatmap_console::{AtPath, Bars, CliError, CliResult, StopFlag, here, input, output};
use seatmap_data::statistics::words::lasting;
use seatmap_launch::share::SoleWork;
use seatmap_launch::{Ending, attach};
use seatmap_observe::Subject;
use seatmap_report::auto;
use seatmap_report::counted;
use seatmap_trial::live::auto::OBSERVED;
use seatmap_trial::live::log::{Log, LogContent, LogFile, LogLine};
use seatmap_trial::live::{AutoRemark, AutoRequest};
use std::cell::RefCell;
use std::path::Path;

const OBSERVING: &str = "observing, then trying seats";

/// Runs a program, or attaches to a running one, and searches for its CPUs. The program's exit code
/// is this process's.
pub fn run(typed: &RunArgs) -> CliResult {
    if let Some(path) = &typed.live.replay {
        return replay(path);
    }
    let request = meant(typed)?;
    let interrupt = StopFlag::listen()?;
    let bars = RefCell::default();
    wait(typed, &bars);
    let run = request.run(&|| interrupt.is_raised(), &|remark| tell(typed, &bars, &remark));
    bars.borrow_mut().clear();
    let run = run?;
    if typed.quiet {
        // --quiet omits only the report.
        output::tell_each(auto::losses(&run.outcome));
    } else {
        output::tell_page(&auto::page(&run.outcome));
    }
    match (run.ending, run.failure) {
        // A failed program keeps its own exit code.
        (Ending::Exited(0), Some(error)) => Err(CliError::work(error)),
        (Ending::Exited(0), None) => Ok(()),
        (ending, _) => ending.leave_alike(),
    }
}

/// A bar for running processes. A command uses the terminal itself, and gets a line.
fn wait(typed: &RunArgs, bars: &RefCell<Bars>) {
    if typed.quiet {
        return;
    }
    if typed.command.is_empty() {
        bars.borrow_mut().wait(OBSERVING, typed.live.seconds);
        return;
    }
    let observed_s = typed.live.observe_for.unwrap_or(OBSERVED).as_secs_f64();
    output::tell_person(&format!(
        "observing {} for {}, then trying seats while it runs; the report follows at its end",
        page::named(typed),
        lasting(observed_s)
    ));
}

/// A line for running processes. A command has stderr for itself until its end.
fn tell(typed: &RunArgs, bars: &RefCell<Bars>, remark: &AutoRemark) {
    if typed.quiet || !typed.command.is_empty() {
        return;
    }
    bars.borrow_mut().clear();
    output::tell(&auto::remark(remark));
    bars.borrow_mut().wait(OBSERVING, None);
}

fn meant(typed: &RunArgs) -> CliResult<AutoRequest> {
    if typed.pid.is_empty() {
        // Instances on a node would compete for CPUs.
        check_sole(SoleWork::Auto)?;
    }
    let log = typed.live.log.as_deref().map(|path| LogFile::create(path).at(path));
    Ok(AutoRequest {
        subject: subject(typed)?,
        program: page::named(typed),
        // Without a measurement, the topology gives distances.
        profile: input::profile("host").ok(),
        metric: typed.live.metric.clone(),
        observe: typed.live.observe_for,
        period: typed.live.period,
        time: typed.live.seconds,
        soft: typed.soft,
        log: log.transpose()?,
        machine: here::host_name(),
        begun: here::now(),
        guardian: myself::mask_guardian(),
    })
}

fn subject(typed: &RunArgs) -> CliResult<Subject> {
    if typed.pid.is_empty() {
        return Ok(Subject::Command(command_to_watch(&typed.command, None, false)?));
    }
    // Changing process 1 or a kernel thread concerns the whole computer.
    if !typed.force {
        attach::check(&typed.pid)?;
    }
    Ok(Subject::Processes(typed.pid.clone()))
}

fn replay(path: &Path) -> CliResult {
    let log = input::document(path, Log::read)?;
    log.replay().work_at(path)?;
    log.lines.iter().try_for_each(|line| output::print(&sentence(line)))?;
    let cut = if log.is_cut_off { " The last line of the file is incomplete." } else { "" };
    output::print(&format!(
        "{} replayed, with the same decisions.{cut}\n",
        counted(log.lines.len(), "line")
    ))
}

fn sentence(line: &LogLine) -> String {
    let said = match &line.said {
        LogContent::Event(event) => plain(event),
        LogContent::Decision(decision) => format!("  -> {}", plain(decision)),
    };
    format!("{:>9.3} s  {said}\n", line.at_s)
}

/// A document as one line of words: JSON without quotation marks.
fn plain(document: &impl serde::Serialize) -> String {
    serde_json::to_string(document).unwrap_or_default().replace('"', "")
}
