//! `seatmap pretend --zoo`.

use super::Pretend;
use crate::myself;
use clap::Args;
use seatmap_console::values::duration;
use seatmap_console::{Bar, CliError, CliResult, Outputs, StopFlag, input, output};
use seatmap_data::machine::Topology;
use seatmap_launch::Ending;
use seatmap_launch::count::CpuCount;
use seatmap_machines::catalog::MachineList;
use seatmap_pretend::zoo::ZooRequest;
use seatmap_pretend::zoo::report::{ZooReport, ZooRun};
use seatmap_pretend::zoo::situation::Situation;
use seatmap_report::{Page, pretend};
use seatmap_watch::Rule;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Args)]
pub struct ZooArgs {
    /// Run the command on all machines of 'seatmap machines --zoo', or on these, each whole and in
    /// situations that containers make, and print a table of what went wrong.
    #[arg(
        long,
        value_name = "MACHINE,...",
        num_args = 0..=1,
        conflicts_with_all = ["cpus", "offline", "quota"]
    )]
    zoo: Option<Option<String>>,
    /// The longest time of a run in the zoo (default: 60s). A program that takes longer is ended
    /// with its children.
    #[arg(long, value_name = "TIME", requires = "zoo", value_parser = duration)]
    timeout: Option<Duration>,
    /// Runs side by side in the zoo. Default: the CPUs of this process.
    #[arg(
        long,
        value_name = "N",
        requires = "zoo",
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    jobs: Option<u16>,
    /// Fail also if the output differs from that on the whole machine.
    #[arg(long, requires = "zoo")]
    same_output: bool,
    /// Write the zoo's table as one page.
    #[arg(long, value_name = "FILE", requires = "zoo")]
    html: Option<PathBuf>,
    /// Write the zoo's runs as JUnit XML, for CI.
    #[arg(long, value_name = "FILE", requires = "zoo")]
    junit: Option<PathBuf>,
}

impl ZooArgs {
    /// The machines, separated by commas; empty for all. `None` without the zoo.
    pub fn machines(&self) -> Option<&str> {
        self.zoo.as_ref().map(|list| list.as_deref().unwrap_or_default())
    }
}

/// Runs the command on many machines. Fails if something is wrong anywhere.
pub fn run(typed: &Pretend, machines: &str) -> CliResult {
    let zoo = &typed.zoo;
    let outputs = Outputs::new(typed.json, typed.output.as_deref(), zoo.html.as_deref())?;
    let junit = output::beside(zoo.junit.as_deref(), outputs.on_stdout(), "--junit")?;
    let request = request(typed, machines)?;
    let bar = Bar::new("runs");
    let stop = StopFlag::listen()?;
    let ran = request.run(&|done, all| bar.show(done, all), &|| stop.is_raised());
    drop(bar);
    let report = ran?;
    if let Some(file) = junit {
        file.write_silently(&report.junit())?;
    }
    outputs.write(&report, typed.quiet)?;
    let is_wrong = report.wrong() > 0;
    let has_other_form = typed.json || zoo.html.is_some();
    if is_wrong || has_other_form || !typed.quiet {
        outputs.show(&report, &page(&report))?;
    }
    if is_wrong { Ending::Exited(1).leave_alike() } else { Ok(()) }
}

fn request(typed: &Pretend, machines: &str) -> CliResult<ZooRequest> {
    let zoo = &typed.zoo;
    // Without a machine before it, the command's first word takes the machine's place.
    let first = typed.machine.as_ref().map(Into::into);
    let command = first.into_iter().chain(typed.command.iter().cloned()).collect::<Vec<_>>();
    refuse_if!(command.is_empty(), "no program to run in the zoo; put it after --");
    let jobs = match zoo.jobs {
        Some(jobs) => jobs.into(),
        None => CpuCount::of_self()?.threads(),
    };
    Ok(ZooRequest {
        machines: opened(machines)?,
        pretend: myself::pretending(),
        options: options(typed)?,
        command,
        timeout: zoo.timeout.unwrap_or(TIMEOUT),
        jobs,
        same_output: zoo.same_output,
    })
}

fn opened(machines: &str) -> CliResult<Vec<(String, Topology)>> {
    let names: Vec<String> = if machines.is_empty() {
        let list = MachineList::zoo().map_err(CliError::work)?;
        list.machines.iter().map(|entry| entry.machine.to_owned()).collect()
    } else {
        machines.split(',').map(str::to_owned).collect()
    };
    let mut seen = HashSet::new();
    let opened = names.into_iter().filter(|name| seen.insert(name.clone())).map(|name| {
        let topology = input::topology_of(&input::machine(&name)?)?;
        Ok((name, topology))
    });
    opened.collect()
}

/// The options that each run has. The rules are read here once for their errors.
fn options(typed: &Pretend) -> CliResult<Vec<String>> {
    let Some(check) = &typed.check else { return Ok(Vec::new()) };
    refuse_if!(
        Path::new(check).is_file(),
        "--check {check}: a plan is for one machine; give rules with --zoo"
    );
    for rule in check.split(',') {
        rule.parse::<Rule>().map_err(CliError::input)?;
    }
    let strict = typed.strict.then(|| "--strict".to_owned());
    Ok(["--check".to_owned(), check.clone()].into_iter().chain(strict).collect())
}

fn page(report: &ZooReport) -> Page {
    let rows = report.machines().into_iter().map(|machine| {
        let runs: Vec<&ZooRun> = report.runs.iter().filter(|run| run.machine == machine).collect();
        let words = Situation::ALL.iter().map(|situation| {
            let run = runs.iter().find(|run| run.situation == situation.name);
            run.map_or("-".to_owned(), |run| run.word())
        });
        std::iter::once(machine.to_owned()).chain(words).collect()
    });
    let findings = report.findings().into_iter().map(|finding| {
        let facts = [finding.rule, finding.what, finding.repeat].map(str::to_owned);
        (facts, finding.runs)
    });
    let situations = Situation::ALL.map(|situation| situation.name);
    pretend::zoo(report.headline(), &situations, rows.collect(), findings.collect())
}
