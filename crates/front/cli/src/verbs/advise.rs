//! `seatmap advise`.

use super::run::command_to_watch;
use crate::myself;
use clap::{ArgGroup, Args};
use seatmap_advise::request::{AdviceDistances, LOOK, PROOF, TRIAL};
use seatmap_advise::{AdviceProgress, AdviceRequest, Scope};
use seatmap_cluster::node_profile::remembered_or_measured;
use seatmap_console::{
    Bars, CliError, CliResult, ResultForms, StopFlag, here, input, output, time_in,
};
use seatmap_data::machine::{Profile, Topology};
use seatmap_machines::host::topology;
use seatmap_report::advise;
use seatmap_trial::live::WorkMetric;
use seatmap_watch::ProcessChoice;
use std::cell::RefCell;
use std::ffi::OsString;
use std::time::Duration;

#[derive(Args)]
#[command(override_usage = "\
    seatmap advise [OPTIONS] [--] COMMAND [ARGUMENT]...
       seatmap advise [OPTIONS] --pid PID (or --name, --unit, --cgroup)")]
#[command(
    group = ArgGroup::new("advised")
        .args(["pid", "name", "unit", "cgroup", "command"])
        .required(true)
)]
pub struct Advise {
    /// Advise on this process and its children; may be given several times.
    #[arg(short, long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pid: Vec<i32>,
    /// Advise on the programs with this name; * matches any text.
    #[arg(long, value_name = "GLOB")]
    name: Option<String>,
    /// Advise on the processes of this systemd unit.
    #[arg(long, value_name = "UNIT")]
    unit: Option<String>,
    /// Advise on the members of this control group, and of the groups below it.
    #[arg(long, value_name = "PATH")]
    cgroup: Option<String>,
    /// Advise for another machine: a bundled machine or a profile's file. The program is examined
    /// here, and no seats are tried.
    #[arg(long, value_name = "MACHINE", conflicts_with = "prove")]
    on: Option<String>,
    /// The measure of work that compares seats: command:LINE prints a growing total. Default: bytes
    /// between the program's threads, and between it and its local clients.
    #[arg(long, value_name = "METRIC", value_parser = total)]
    metric: Option<WorkMetric>,
    /// The most time to try seats: 10s, 2m; a plain number is seconds. Default: 16 s, with --prove
    /// 60 s.
    #[arg(long, value_name = "TIME", value_parser = time_in("1s to 1d"))]
    seconds: Option<Duration>,
    /// Try seats for a minute, even if the examination shows that they hardly matter.
    #[arg(long)]
    prove: bool,
    #[command(flatten)]
    forms: ResultForms,
    /// The command to run and to advise on. It continues after the advice. With --json its output
    /// goes to stderr.
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Waits and switches do not serve: threads on one CPU switch more or less often for the same work.
fn total(text: &str) -> Result<WorkMetric, String> {
    match WorkMetric::parse(text) {
        Ok(metric @ WorkMetric::Command(_)) => Ok(metric),
        _ => Err(format!("'{text}' is not command:LINE, a shell line that prints a growing total")),
    }
}

pub fn run(typed: &Advise) -> CliResult {
    let outputs = typed.forms.outputs(None)?;
    let request = request(typed, outputs.on_stdout().is_some())?;
    let interrupt = StopFlag::listen()?;
    let bars = RefCell::default();
    let run = request.run(&|| interrupt.is_raised(), &|step| tell(&bars, step));
    bars.borrow_mut().clear();
    let mut run = run?;
    let shown = outputs.show(&run.advice, &advise::page(&run.advice));
    if run.runs_on() {
        output::tell("the command continues to run; Ctrl-C ends it");
    }
    // The command runs to its end even without a reader.
    run.wait(&|| interrupt.is_raised()).map_err(CliError::work)?;
    shown
}

fn tell(bars: &RefCell<Bars>, step: AdviceProgress) {
    match step {
        AdviceProgress::Looking => bars.borrow_mut().wait("observing", Some(LOOK)),
        AdviceProgress::Trying(percent) => bars.borrow_mut().show("trying seats", percent, 100),
        AdviceProgress::LeftChanged(mask) => output::tell(mask),
    }
}

/// The request; `leaves_stdout` if stdout is for a document.
fn request(typed: &Advise, leaves_stdout: bool) -> CliResult<AdviceRequest> {
    let elsewhere = typed.on.as_ref().map(|name| input::profile(name)).transpose()?;
    Ok(AdviceRequest {
        memory: elsewhere.clone().or_else(input::remembered_of_host),
        scope: scope(typed, leaves_stdout)?,
        trial: typed.seconds.unwrap_or(if typed.prove { PROOF } else { TRIAL }),
        proves: typed.prove,
        metric: typed.metric.clone(),
        topology: topology::of_group().map_err(CliError::work)?,
        distances: match elsewhere {
            Some(profile) => AdviceDistances::Elsewhere(Box::new(profile)),
            None => AdviceDistances::Here(measured_here),
        },
        guardian: myself::mask_guardian(),
        machine: here::host_name(),
        begun: here::now(),
    })
}

fn scope(typed: &Advise, leaves_stdout: bool) -> CliResult<Scope> {
    if typed.command.is_empty() {
        let named =
            ProcessChoice::named(&typed.pid, true, typed.cgroup.clone(), typed.name.clone());
        let unit = typed.unit.clone().map(ProcessChoice::Unit);
        return Ok(Scope::Running(unit.or(named).unwrap_or(ProcessChoice::All)));
    }
    let how = Some("seatmap advise --name NAME");
    Ok(Scope::Command(command_to_watch(&typed.command, how, leaves_stdout)?))
}

/// Remembered distances, or a quick measurement.
fn measured_here(topology: &Topology) -> Option<Profile> {
    let remembered = input::remembered_of_host();
    remembered_or_measured(remembered, topology.pus.len(), &mut myself::quick_measurement())
}
