//! `seatmap check`.

use crate::args::Check;
use crate::verbs::place::ranks;
use seatmap_console::error::{AtFile, CliError};
use seatmap_console::interrupt::Interrupt;
use seatmap_console::output::{self, Destination};
use seatmap_console::view::ColourChoice;
use seatmap_console::{here, input, plan_input, view};
use seatmap_host::topology::{self, TopologyError};
use seatmap_machine::Topology;
use seatmap_os::cpus::in_cpuset;
use seatmap_report::terminal::Colour;
use seatmap_watch::judge::told::{Judged, changes};
use seatmap_watch::{
    CheckError, CheckRequest, CheckStep, Choice, Expected, Finding, Rule, SeatSource, Verdict,
};
use std::path::Path;
use std::time::Duration;

pub(super) use seatmap_watch::Standard;

/// Checks where the threads of living programs sit. Exit code 1 means that something is wrong.
pub fn run(typed: &Check, colour: ColourChoice) -> Result<(), CliError> {
    let page = Page::new(typed, colour)?;
    let request = request(typed)?;
    let interrupt = typed.watch.map(|_| Interrupt::listen()).transpose()?;
    let mut check = request.begin().map_err(failed)?;
    while let Some(step) =
        check.next(&|| interrupt.as_ref().is_some_and(Interrupt::asked)).map_err(failed)?
    {
        page.show(&step)?;
    }
    check.result().map_or(Ok(()), |(worst, findings)| page.end(worst, &findings))
}

/// The request that the command line means.
fn request(typed: &Check) -> Result<CheckRequest, CliError> {
    Ok(CheckRequest {
        choice: choice(typed),
        window: typed.seconds,
        trace: typed.trace,
        standard: standard(&typed.rules, typed.expect.as_deref(), typed.any_machine, typed.strict)?,
        topology: topology()?,
        machine: here::host_name(),
        may_be_empty: typed.all,
        again_every: typed.watch,
    })
}

/// The processes that the user chose; without a choice, those that are bound.
fn choice(typed: &Check) -> Choice {
    if !typed.pid.is_empty() {
        return Choice::Processes { pids: typed.pid.clone(), with_children: typed.children };
    }
    match (&typed.cgroup, &typed.unit, &typed.name) {
        (Some(path), _, _) => Choice::Group(path.clone()),
        (_, Some(unit), _) => Choice::Unit(unit.clone()),
        (_, _, Some(name)) => Choice::Name(name.clone()),
        _ if typed.slurm_step => Choice::SlurmStep,
        _ if typed.all => Choice::All,
        _ => Choice::Bound,
    }
}

/// These rules, and the seats of a file: a plan, a plan for ranks, or a seating.
pub(super) fn standard(
    rules: &[Rule],
    expect: Option<&Path>,
    any_machine: bool,
    strict: bool,
) -> Result<Standard, CliError> {
    let seats = expect.map(|path| seats(path, any_machine)).transpose()?.unwrap_or_default();
    Ok(Standard { rules: rules.to_vec(), seats, strict })
}

fn seats(path: &Path, any_machine: bool) -> Result<SeatSource, CliError> {
    let bytes = input::bytes(path)?;
    if let Some(plan) = ranks::of_bytes(path, &bytes)? {
        let seats = seatmap_cluster::ranks_here::seats(&plan, &here::host_name(), any_machine);
        return Ok(SeatSource::Ranks(seats));
    }
    if seatmap_plan::plan::is_plan(&bytes) {
        let plan = plan_input::plan_of_host(path, &bytes, any_machine)?;
        return Ok(SeatSource::Given(Expected::of_plan(&plan)));
    }
    Expected::of_seating(&String::from_utf8_lossy(&bytes)).map(SeatSource::Given).map_err(|error| {
        CliError::input(AtFile::new(path, format!("neither a plan nor a seating: {error}")))
    })
}

/// The whole computer, as far as this process's control group shows it. Its own mask hides nothing.
pub(super) fn topology() -> Result<Topology, CliError> {
    let cpus = in_cpuset().map_err(|error| CliError::work(TopologyError::from(error)))?;
    Ok(topology::showing(&cpus))
}

fn failed(error: CheckError) -> CliError {
    if error.is_input() { CliError::input(error) } else { CliError::work(error) }
}

/// Where the result goes, and how.
struct Page<'a> {
    typed: &'a Check,
    file: Option<Destination>,
    coloured: bool,
}

impl<'a> Page<'a> {
    fn new(typed: &'a Check, colour: ColourChoice) -> Result<Self, CliError> {
        let file = typed.output.as_deref().map(Destination::new).transpose()?;
        if typed.json && file == Some(Destination::Stdout) {
            return Err(CliError::input(
                "--json and -o - both print on stdout; give -o a file's name",
            ));
        }
        let coloured = view::colour(colour, &std::io::stdout()) != Colour::None;
        Ok(Page { typed, file, coloured })
    }

    fn show(&self, step: &CheckStep) -> Result<(), CliError> {
        let is_document = self.typed.json || self.file.is_some();
        match step {
            CheckStep::First(judged) => self.tell(judged),
            CheckStep::NothingBound(judged) if is_document || self.typed.quiet => self.tell(judged),
            CheckStep::NothingBound(_) => output::print(
                "no program is bound; --pid PID, --name GLOB and --all check others\n",
            ),
            CheckStep::Again { before, judged, gone } => {
                let changes = changes(before, &judged.findings, self.coloured);
                if changes.is_empty() {
                    Ok(())
                } else if is_document {
                    self.tell(judged)
                } else {
                    output::print(&after(*gone, &changes))
                }
            }
        }
    }

    /// The whole result, on paper and on the screen.
    fn tell(&self, judged: &Judged) -> Result<(), CliError> {
        if let Some(file) = &self.file {
            file.write(&seatmap_document::written(judged))?;
        }
        if self.typed.json {
            return output::json(judged);
        }
        let is_quiet = self.typed.quiet && !judged.verdict.fails(self.typed.strict);
        if is_quiet || self.file == Some(Destination::Stdout) {
            return Ok(());
        }
        output::print(&judged.table(self.coloured))
    }

    /// Exit code 1, with a line that says why, where the check fails.
    fn end(&self, verdict: Verdict, findings: &[Finding]) -> Result<(), CliError> {
        if !verdict.fails(self.typed.strict) {
            return Ok(());
        }
        let wrong = findings.iter().filter(|finding| finding.is_wrong()).count();
        Err(CliError::work(match wrong {
            0 if verdict == Verdict::Wrong => {
                "something was wrong while the programs were watched".to_owned()
            }
            0 => "not everything could be seen, and --strict asks for that; run it as root"
                .to_owned(),
            1 => "1 thing is wrong".to_owned(),
            count => format!("{count} things are wrong"),
        }))
    }
}

fn after(gone: Duration, changes: &str) -> String {
    format!("after {:.0} s:\n{changes}", gone.as_secs_f64())
}
