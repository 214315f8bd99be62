//! `seatmap services`.

mod meant;

use crate::myself;
use clap::{Args, Subcommand};
use seatmap_cell::undo::Left;
use seatmap_cell::{GuardedHost, Name};
use seatmap_console::{
    Bar, CliError, CliResult, ResultForms, StopFlag, choice, input, output, time_in,
};
use seatmap_data::document::written;
use seatmap_os::Root;
use seatmap_report::{counted, services as page};
use seatmap_services::apply::ServicesHost;
use seatmap_services::drift::DriftReport;
use seatmap_services::import::SeatsFormat;
use seatmap_services::race::ServicesRaceRequest;
use seatmap_services::{RecordRequest, ServicesPlan, ServicesRecord, find};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Args)]
pub struct Services {
    #[command(subcommand)]
    verb: ServicesVerb,
}

impl Services {
    /// Whether it reads documents, and nothing of this computer.
    pub fn reads_documents(&self) -> bool {
        match &self.verb {
            ServicesVerb::Plan(plan) => plan.record.is_some(),
            ServicesVerb::Import(_) => true,
            _ => false,
        }
    }
}

#[derive(Subcommand)]
enum ServicesVerb {
    /// Find the running services, and write or extend services.toml.
    Init(ServicesInit),
    /// Read services and CPU sets from files of kubelet, systemd or libvirt.
    Import(ServicesImport),
    /// Show the services now: load, CPUs, memory.
    Show(ServicesShow),
    /// Record the services' load over time, and their communication.
    Observe(ServicesObserve),
    /// Find a CPU set for each service, compared with other methods' sets.
    Plan(ServicesPlanArgs),
    /// Apply a plan's CPU sets, for a limited time.
    Apply(ServicesApply),
    /// Try a plan on the running services in alternating periods, and keep it only if it wins.
    Race(ServicesRace),
    /// Keep an applied plan until it is undone.
    Keep(ServicesNamed),
    /// Undo a plan.
    Undo(ServicesNamed),
    /// Report what has changed since a plan was applied; exit code 1 if anything has.
    Drift(ServicesDrift),
}

#[derive(Args)]
struct ServicesInit {
    /// The file. Its text stays; only new services are added.
    #[arg(value_name = "FILE", default_value = "services.toml")]
    file: PathBuf,
    /// How long to sample the load of all programs.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = time_in("200ms to 1d"))]
    seconds: Duration,
}

#[derive(Args)]
struct ServicesImport {
    /// Files, or folders such as /etc/systemd/system: cpu_manager_state, memory_manager_state or
    /// the configuration of kubelet; unit files, drop-ins, or the output of 'systemctl show';
    /// domains of libvirt in XML. - is stdin.
    #[arg(value_name = "FILE", required = true)]
    sources: Vec<PathBuf>,
    /// The format of all files. Default: detected from each file.
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<SeatsFormatName>,
    /// The description of services to write or extend.
    #[arg(long, value_name = "FILE", default_value = "services.toml")]
    file: PathBuf,
    /// The machine of the files: host, a bundled machine, or a profile's file.
    #[arg(long, value_name = "MACHINE", default_value = "host")]
    on: String,
    /// Write the CPUs as a plan to a file; - is stdout.
    #[arg(short, long, value_name = "PLAN")]
    output: Option<PathBuf>,
    #[command(flatten)]
    forms: ResultForms,
}

choice! {
    /// The tools whose files are read.
    SeatsFormatName for SeatsFormat {
        /// cpu_manager_state, memory_manager_state, KubeletConfiguration.
        Kubelet,
        /// Unit files, drop-ins, 'systemctl show'.
        Systemd,
        /// Domains in XML.
        Libvirt,
    }
}

#[derive(Args)]
struct ServicesShow {
    /// The description of services, from 'seatmap services init'.
    #[arg(value_name = "FILE", default_value = "services.toml")]
    file: PathBuf,
    #[command(flatten)]
    forms: ResultForms,
}

#[derive(Args)]
struct ServicesObserve {
    /// The description of services, from 'seatmap services init'.
    #[arg(value_name = "FILE", default_value = "services.toml")]
    file: PathBuf,
    /// How long to record: 30s, 10m; a plain number is seconds.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = time_in("200ms to 1d"))]
    seconds: Duration,
    /// The time of one sample.
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = time_in("20ms to 1m"))]
    interval: Duration,
    /// Do not record communication, which costs a microsecond per message.
    #[arg(long)]
    no_talk: bool,
    /// Write the record to a file; - is stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    forms: ResultForms,
}

#[derive(Args)]
struct ServicesPlanArgs {
    /// The services with their limits. Default: services.toml, or those of the record.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Plan for this record of 'seatmap services observe' instead of the current load.
    #[arg(long, value_name = "RECORD")]
    record: Option<PathBuf>,
    /// Plan for another machine: a bundled machine or a profile's file.
    #[arg(long, value_name = "MACHINE", requires = "record")]
    on: Option<String>,
    /// Also rate the sets of this plan, such as one of 'seatmap services import'.
    #[arg(long, value_name = "PLAN")]
    beside: Option<PathBuf>,
    /// Time to sample the services, without --record.
    #[arg(
        long,
        value_name = "TIME",
        default_value = "10s",
        value_parser = time_in("200ms to 1d"),
        conflicts_with = "record"
    )]
    seconds: Duration,
    /// Write the plan to a file; - is stdout.
    #[arg(short, long, value_name = "PLAN")]
    output: Option<PathBuf>,
    #[command(flatten)]
    forms: ResultForms,
}

#[derive(Args)]
struct ServicesApply {
    /// The file from 'seatmap services plan -o'.
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    #[command(flatten)]
    standing: PlanStanding,
}

/// How a plan stands, and what goes with it.
#[derive(Args)]
struct PlanStanding {
    /// How long the plan applies: 10m, 1h; then everything is restored.
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = time_in("1s to 30d"))]
    ttl: Duration,
    /// The plan's name, for undo.
    #[arg(long, value_name = "NAME", default_value = "services")]
    name: Name,
    /// Move device interrupts off the CPUs of quiet services.
    #[arg(long)]
    interrupts: bool,
    /// Steer received packets (RPS) away from the CPUs of quiet services.
    #[arg(long)]
    rps: bool,
}

#[derive(Args)]
struct ServicesRace {
    /// The plan; its services have a metric.
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    /// Rounds of two periods in random order: the services as they are, and with the plan.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 12,
        value_parser = clap::value_parser!(u32).range(1..=10_000)
    )]
    rounds: u32,
    /// The length of each period.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = time_in("200ms to 1d"))]
    period: Duration,
    #[command(flatten)]
    standing: PlanStanding,
    /// Print only the outcome as JSON, on stdout.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct ServicesNamed {
    /// The plan. Default: the only applied one.
    #[arg(value_name = "NAME")]
    name: Option<Name>,
}

#[derive(Args)]
struct ServicesDrift {
    /// The plan. Default: the only applied one.
    #[arg(value_name = "NAME")]
    name: Option<Name>,
    /// Compare with the plan in this file instead, applied or not.
    #[arg(long, value_name = "PLAN", conflicts_with = "name")]
    plan: Option<PathBuf>,
    /// Print only the differences as JSON, on stdout.
    #[arg(long)]
    json: bool,
}

pub fn run(typed: &Services) -> CliResult {
    use ServicesVerb::*;
    match &typed.verb {
        Init(typed) => init(typed),
        Import(typed) => import(typed),
        Show(typed) => {
            let outputs = typed.forms.outputs(None)?;
            let record = recorded(&meant::glance(&typed.file)?)?;
            outputs.show(&record, &page::record_page(&record))
        }
        Observe(typed) => observe(typed),
        Plan(typed) => plan(typed),
        Apply(typed) => {
            let request = meant::seating(meant::planned(&typed.plan)?, &typed.standing);
            output::print(&page::seated(&host()?.apply(&request)?))
        }
        Undo(typed) => {
            let (name, left) = host()?.undo(typed.name.as_ref())?;
            undone(&left)?;
            output::print(&format!("plan '{name}' is undone\n"))
        }
        Keep(typed) => {
            let applied = host()?.keep(typed.name.as_ref())?;
            let standing = page::standing(&applied);
            output::print(&format!("plan '{}' is kept: {standing}\n", applied.name))
        }
        Drift(typed) => drift(typed),
        Race(typed) => race(typed),
    }
}

/// The host, after finishing what a killed program left.
fn host() -> CliResult<ServicesHost> {
    let host = ServicesHost::here(myself::services_guardian())?;
    output::tell_each(host.take_over()?);
    Ok(host)
}

fn undone(left: &[Left]) -> CliResult {
    output::tell_each(left);
    match left.len() {
        0 => Ok(()),
        count => Err(CliError::work(format!("{} not restored", counted(count, "setting")))),
    }
}

fn init(typed: &ServicesInit) -> CliResult {
    let known = meant::known(&typed.file)?;
    let interrupt = StopFlag::listen()?;
    let found =
        find::find(&Root::new("/"), known.as_ref(), typed.seconds, &|| interrupt.is_raised());
    let text = find::text(known.as_ref(), &found.map_err(CliError::work)?);
    meant::extend(&typed.file, known.is_some(), text)
}

fn import(typed: &ServicesImport) -> CliResult {
    let outputs = typed.forms.outputs(typed.output.as_deref())?;
    meant::check_file(&typed.file, outputs.path())?;
    let known = meant::known(&typed.file)?;
    let seats = meant::imported(typed)?;
    let profile = input::profile(&typed.on)?;
    let plan = outputs.file.as_ref().map(|file| Ok::<_, CliError>((file, seats.plan(&profile)?)));
    let plan = plan.transpose()?;
    // The same command can finish after a later failure.
    meant::add_imported(typed, known.as_ref(), &seats)?;
    if let Some((file, plan)) = plan {
        file.write(&written(&plan))?;
    }
    outputs.show(&seats, &page::import_page(&seats, &profile))?;
    match seats.claims() {
        0 => Ok(()),
        count => {
            let pairs = counted(count, "pair");
            Err(CliError::work(format!("conflicting claims to CPUs: {pairs} of services")))
        }
    }
}

fn observe(typed: &ServicesObserve) -> CliResult {
    let outputs = typed.forms.outputs(typed.output.as_deref())?;
    let record = recorded(&RecordRequest {
        time: typed.seconds,
        interval: typed.interval,
        sees_talk: !typed.no_talk,
        ..meant::glance(&typed.file)?
    })?;
    outputs.write(&record, false)?;
    outputs.show(&record, &page::record_page(&record))
}

fn recorded(request: &RecordRequest) -> CliResult<ServicesRecord> {
    let interrupt = StopFlag::listen()?;
    let bar = Bar::new("recording");
    let root = Root::new("/");
    Ok(request.run(&root, &|| interrupt.is_raised(), &|done, steps| bar.show(done, steps))?)
}

fn plan(typed: &ServicesPlanArgs) -> CliResult {
    let outputs = typed.forms.outputs(typed.output.as_deref())?;
    let record = match &typed.record {
        Some(path) => meant::record(path, typed.file.as_deref())?,
        None => {
            let file = typed.file.as_deref().unwrap_or(Path::new("services.toml"));
            let glance = meant::glance(file)?;
            recorded(&RecordRequest { time: typed.seconds, sees_talk: true, ..glance })?
        }
    };
    let profile = input::profile(typed.on.as_deref().unwrap_or("host"))?;
    let beside = typed.beside.as_deref().map(meant::planned).transpose()?;
    let plan = meant::plan(typed, &record, &profile, beside.as_ref())?.plan()?;
    outputs.write(&plan, false)?;
    outputs.show(&plan, &page::plan_page(&plan, &profile))
}

/// Shows a saved plan as `services plan` does, on its machine if it is known here.
pub fn show_plan(plan: &ServicesPlan, forms: &ResultForms) -> CliResult {
    let outputs = forms.outputs(None)?;
    outputs.show(plan, &page::plan_page(plan, &meant::pictured_machine(plan)))
}

fn race(typed: &ServicesRace) -> CliResult {
    let request = ServicesRaceRequest {
        apply: meant::seating(meant::raced(&typed.plan)?, &typed.standing),
        period: typed.period,
        rounds: typed.rounds as usize,
    };
    let host = host()?;
    let interrupt = StopFlag::listen()?;
    let bar = Bar::new("racing");
    let report =
        host.race(&request, &|| interrupt.is_raised(), &|done, rounds| bar.show(done, rounds))?;
    drop(bar);
    if typed.json { output::json(&report) } else { output::show(&page::race_page(&report)) }
}

fn drift(typed: &ServicesDrift) -> CliResult {
    let report = match &typed.plan {
        Some(path) => {
            let plan = meant::planned(path)?;
            DriftReport::of_file(&Root::new("/"), &path.to_string_lossy(), &plan)
        }
        None => {
            let host = host()?;
            let applied = host.plan(typed.name.as_ref())?;
            let found = find::find(&host.root, None, meant::GLANCE, &|| false);
            DriftReport::of(&host.root, &applied, &found.map_err(CliError::work)?)
        }
    };
    output::even_unread(if typed.json {
        output::json(&report)
    } else {
        output::print(&page::drift_text(&report))
    })?;
    match report.faults.len() {
        0 => Ok(()),
        count => Err(CliError::work(format!("{} found", counted(count, "difference")))),
    }
}
