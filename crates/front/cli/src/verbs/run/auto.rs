//! `seatmap run --auto`: seats that are tried while the program runs.

use crate::args::Run;
use crate::myself;
use crate::verbs::observe;
use seatmap_console::error::{AtFile, CliError};
use seatmap_console::here::host_name;
use seatmap_console::interrupt::Interrupt;
use seatmap_console::{input, output};
use seatmap_launch::share::SoleWork;
use seatmap_launch::{Ending, Executable, attach};
use seatmap_live::conductor::Setting;
use seatmap_live::guard::{self, Guard};
use seatmap_live::log::{FORMAT, Header, Line, Log, written};
use seatmap_live::meter::Meter;
use seatmap_live::{Conductor, Rules, Soft};
use seatmap_observe::{End, Means, Method, Session, Subject};
use seatmap_os::cpus::Cpus;
use seatmap_os::{CpuSet, Tid, task, whole_file};
use seatmap_report::auto;
use seatmap_report::counted;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time for which a program is observed before seats are tried, where nobody says: about a
/// hundred messages of each pair.
const OBSERVED: Duration = Duration::from_secs(2);

/// A period where nobody says: long beside a slice of the scheduler (a few ms) and short beside a
/// drift (many seconds).
const PERIOD: Duration = Duration::from_millis(500);

/// Runs a program, or takes one that runs, and looks for its seats. A program's exit code is this
/// process's.
pub fn run(typed: &Run) -> Result<(), CliError> {
    if typed.live.guard {
        guard::stand(io::stdin().lock());
        return Ok(());
    }
    if let Some(path) = &typed.live.replay {
        return replay(path);
    }
    if typed.pid.is_empty() {
        super::check_sole(SoleWork::Auto)?;
    }
    let mut file = typed.live.log.as_deref().map(LogFile::create).transpose()?;
    let subject = subject(typed)?;
    let interrupt = Interrupt::listen()?;
    let (allowed, topology) = seats(&typed.pid)?;
    let profile = input::profile("host").ok();
    let guard = Guard::begin(&mut myself::mask_guard()).map_err(CliError::work)?;
    // The counter counts what is executed next, so the program comes right after it.
    let meter =
        Meter::new(typed.live.metric.clone(), typed.pid.is_empty()).map_err(CliError::input)?;
    let metric = meter.metric().clone();
    let session =
        Session::begin(Some(Method::Wakeups), Means::Best, &subject).map_err(observe::failed)?;
    let setting = Setting {
        topology: &topology,
        profile: profile.as_ref(),
        allowed: &allowed,
        soft: typed.soft.then_some(Soft),
        observe: typed.live.observe_for.unwrap_or(OBSERVED),
        period: period(typed),
        rules: Rules::default(),
        stop: &|| interrupt.asked(),
        time: typed.live.seconds,
    };
    let header = header(typed, &metric.to_string(), session.mechanism());
    let mut begun = file.as_mut().map_or(Ok(()), |file| file.add(&written(&header)?));
    let mut log = |line: &Line| match &mut file {
        // The header's failure is the first line's.
        Some(file) => {
            std::mem::replace(&mut begun, Ok(())).and_then(|()| file.add(&written(line)?))
        }
        None => Ok(()),
    };
    let (outcome, done, session) =
        Conductor::new(setting, session, meter, guard, &mut log).conduct();
    let (_, child) = session.finish();
    let is_asked = outcome.end == Some(End::Asked);
    let status = child
        .map(|child| observe::attend(child, is_asked, &interrupt))
        .transpose()
        .map_err(CliError::work)?;
    if typed.quiet {
        auto::losses(&outcome).iter().for_each(|loss| output::tell(loss));
    } else {
        output::tell_text(&auto::text(&outcome, &metric));
    }
    match (status.map(observe::ending_of), done) {
        (Some(ending), _) if ending != Ending::Exited(0) => ending.leave_alike(),
        (_, Err(error)) => Err(CliError::work(error)),
        _ => Ok(()),
    }
}

fn period(typed: &Run) -> Duration {
    typed.live.period.unwrap_or(PERIOD)
}

fn subject(typed: &Run) -> Result<Subject, CliError> {
    if !typed.pid.is_empty() {
        if !typed.force {
            attach::check(&typed.pid).map_err(super::failed)?;
        }
        return Ok(Subject::Processes(typed.pid.clone()));
    }
    Executable::find(&typed.command).map_err(CliError::input)?;
    Ok(Subject::Command { words: typed.command.clone(), leaves_stdout: false })
}

/// The CPUs for seats, and what they share: those of this process's mask, and those that the kernel
/// was started to set apart where threads of the program were put there already.
fn seats(pids: &[Tid]) -> Result<(CpuSet, seatmap_machine::Topology), CliError> {
    let own = CpuSet::of_thread(0).map_err(CliError::work)?;
    let set_apart: CpuSet = Cpus::read().map_err(CliError::work)?.set_apart.into_iter().collect();
    let topology = seatmap_host::topology::reachable().map_err(CliError::work)?;
    let mut tids = Vec::new();
    for pid in pids {
        tids.extend(task::threads(*pid).map_err(CliError::work)?);
    }
    let masks = tids.into_iter().filter_map(|tid| CpuSet::of_thread(tid).ok());
    Ok((with_named(own, &set_apart, masks), topology))
}

/// A process's CPUs with those that are set apart and stand in one of these masks.
fn with_named(own: CpuSet, set_apart: &CpuSet, masks: impl Iterator<Item = CpuSet>) -> CpuSet {
    masks.fold(own, |all, mask| all.with(&mask.within(set_apart)))
}

fn header(typed: &Run, metric: &str, means: String) -> Header {
    let words: Vec<_> = typed.command.iter().map(|word| word.to_string_lossy()).collect();
    let pids: Vec<_> = typed.pid.iter().map(|pid| format!("process {pid}")).collect();
    Header {
        format: FORMAT.to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        begun: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        machine: host_name(),
        program: if pids.is_empty() { words.join(" ") } else { pids.join(", ") },
        metric: metric.to_owned(),
        means,
        period_s: period(typed).as_secs_f64(),
        soft: typed.soft,
        rules: Rules::default(),
    }
}

/// A log that grows line by line, so that nothing is lost when this process is killed.
struct LogFile {
    path: PathBuf,
    file: File,
}

impl LogFile {
    fn create(path: &Path) -> Result<Self, CliError> {
        let file =
            whole_file::create(path).map_err(|error| CliError::input(AtFile::new(path, error)))?;
        Ok(LogFile { path: path.to_owned(), file })
    }

    fn add(&mut self, line: &str) -> io::Result<()> {
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}", self.path.display()))
        };
        self.file.write_all(line.as_bytes()).map_err(named)
    }
}

/// Takes the decisions of a log again.
fn replay(path: &Path) -> Result<(), CliError> {
    let text = String::from_utf8_lossy(&input::bytes(path)?).into_owned();
    let wrong = |error| CliError::input(AtFile::new(path, error));
    let log = Log::read(&text).map_err(wrong)?;
    log.replay().map_err(|error| CliError::work(AtFile::new(path, error)))?;
    log.lines.iter().try_for_each(|line| output::print(&told(line)))?;
    let cut = if log.is_cut_off { " The last line of the file was cut off." } else { "" };
    output::print(&format!(
        "{}, and the same decisions again.{cut}\n",
        counted(log.lines.len(), "line")
    ))
}

fn told(line: &Line) -> String {
    match &line.said {
        seatmap_live::log::Said::Event(event) => {
            format!("{:>9.3} s  {}\n", line.at_s, plain(event))
        }
        seatmap_live::log::Said::Decision(decision) => {
            format!("{:>9.3} s    -> {}\n", line.at_s, plain(decision))
        }
    }
}

/// A document as one line of words: JSON without its punctuation around names.
fn plain(document: &impl serde::Serialize) -> String {
    serde_json::to_string(document).unwrap_or_default().replace('"', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_set_apart_are_for_a_program_that_was_put_there() {
        let set = |list: &str| CpuSet::of_list(list).unwrap();
        let seats = |masks: &[&str]| {
            with_named(set("0-1"), &set("4-7"), masks.iter().map(|mask| set(mask)))
        };
        assert_eq!(seats(&["4", "0-5"]), set("0-1,4-5"));
        assert_eq!(seats(&["0-3"]), set("0-1"), "CPUs that another mask keeps from this process");
        assert_eq!(seats(&[]), set("0-1"));
    }
}
