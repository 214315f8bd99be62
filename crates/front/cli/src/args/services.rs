//! `seatmap services`, as typed.

use clap::{Args, Subcommand, ValueEnum};
use seatmap_cell::{Name, NameError};
use seatmap_console::outputs::ResultForms;
use seatmap_console::time::time_within;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct Services {
    #[command(subcommand)]
    pub verb: ServicesVerb,
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

#[derive(Debug, Subcommand)]
pub enum ServicesVerb {
    /// Find the services that run here, and write or extend services.toml.
    Init(ServicesInit),
    /// Read the services and CPUs that kubelet, systemd or libvirt have on file.
    Import(ServicesImport),
    /// Show the services as they are: load, CPUs, memory.
    Show(ServicesShow),
    /// Record the load of the services over time, and who talks to whom.
    Observe(ServicesObserve),
    /// Find a set of CPUs for each service, beside the sets that other ways give.
    Plan(ServicesPlanArgs),
    /// Give the services the sets of a plan, for a time.
    Apply(ServicesApply),
    /// Try a plan on the living services in alternating periods, and keep it only if it wins.
    Race(ServicesRace),
    /// Let a plan stand until it is undone.
    Keep(ServicesNamed),
    /// Take the sets of a plan back.
    Undo(ServicesNamed),
    /// Look what has moved since a plan was applied; exit code 1 where something has.
    Drift(ServicesDrift),
}

#[derive(Debug, Args)]
pub struct ServicesInit {
    /// The file. Services that it has already are not repeated, and its text stays as it is.
    #[arg(value_name = "FILE", default_value = "services.toml")]
    pub file: PathBuf,
    /// How long to look at the load of everything that runs.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = look)]
    pub seconds: Duration,
}

#[derive(Debug, Args)]
pub struct ServicesImport {
    /// Files, or folders such as /etc/systemd/system: cpu_manager_state, memory_manager_state or
    /// the configuration of kubelet; unit files, drop-ins, or the output of 'systemctl show';
    /// domains of libvirt in XML. - is stdin.
    #[arg(value_name = "FILE", required = true)]
    pub sources: Vec<PathBuf>,
    /// The format of all files; by default each one's content tells.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub format: Option<SeatsFormatName>,
    /// The description of the services that is written or extended.
    #[arg(long, value_name = "FILE", default_value = "services.toml")]
    pub file: PathBuf,
    /// The machine of the files: host, the name of a bundled one, or the file of a profile.
    #[arg(long, value_name = "MACHINE", default_value = "host")]
    pub on: String,
    /// Write the CPUs as a plan to a file; - is stdout.
    #[arg(short, long, value_name = "PLAN")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub forms: ResultForms,
}

/// The tools whose files are read.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SeatsFormatName {
    /// cpu_manager_state, memory_manager_state, KubeletConfiguration.
    Kubelet,
    /// Unit files, drop-ins, 'systemctl show'.
    Systemd,
    /// Domains in XML.
    Libvirt,
}

#[derive(Debug, Args)]
pub struct ServicesShow {
    /// The description of the services, as 'seatmap services init' writes it.
    #[arg(value_name = "FILE", default_value = "services.toml")]
    pub file: PathBuf,
    #[command(flatten)]
    pub forms: ResultForms,
}

#[derive(Debug, Args)]
pub struct ServicesObserve {
    /// The description of the services, as 'seatmap services init' writes it.
    #[arg(value_name = "FILE", default_value = "services.toml")]
    pub file: PathBuf,
    /// How long to record: 30s, 10m; a number alone is seconds.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = look)]
    pub seconds: Duration,
    /// The time of one sample.
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = interval)]
    pub interval: Duration,
    /// Do not see who talks to whom: that costs each message of the services a microsecond.
    #[arg(long)]
    pub no_talk: bool,
    /// Write the record to a file; - is stdout.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub forms: ResultForms,
}

#[derive(Debug, Args)]
pub struct ServicesPlanArgs {
    /// The services with their limits. By default services.toml, and those of the record where
    /// there is one.
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Plan for this record of 'seatmap services observe' instead of a look now.
    #[arg(long, value_name = "RECORD")]
    pub record: Option<PathBuf>,
    /// Plan for another machine: the name of a bundled one, or the file of a profile.
    #[arg(long, value_name = "MACHINE", requires = "record")]
    pub on: Option<String>,
    /// Judge the sets of this plan too, such as one of 'seatmap services import'.
    #[arg(long, value_name = "PLAN")]
    pub beside: Option<PathBuf>,
    /// Time to look at the services, without --record.
    #[arg(
        long,
        value_name = "TIME",
        default_value = "10s",
        value_parser = look,
        conflicts_with = "record"
    )]
    pub seconds: Duration,
    /// Write the plan to a file; - is stdout.
    #[arg(short, long, value_name = "PLAN")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub forms: ResultForms,
}

#[derive(Debug, Args)]
pub struct ServicesApply {
    /// The file that 'seatmap services plan -o' wrote.
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    #[command(flatten)]
    pub standing: PlanStanding,
}

/// How a plan stands, and what goes with it.
#[derive(Debug, Args)]
pub struct PlanStanding {
    /// How long the plan stands: 10m, 1h; then everything is put back.
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = life)]
    pub ttl: Duration,
    /// The name by which it is undone.
    #[arg(long, value_name = "NAME", default_value = "services", value_parser = plan_name)]
    pub name: Name,
    /// Send interrupts of devices to other CPUs than those of quiet services.
    #[arg(long)]
    pub interrupts: bool,
    /// Steer received packets (RPS) to other CPUs than those of quiet services.
    #[arg(long)]
    pub rps: bool,
}

#[derive(Debug, Args)]
pub struct ServicesRace {
    /// The plan, of services that have a metric.
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Rounds of two periods: the services as they are, and with the plan, in random order.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 12,
        value_parser = clap::value_parser!(u32).range(1..=10_000)
    )]
    pub rounds: u32,
    /// How long each of them lasts.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = look)]
    pub period: Duration,
    #[command(flatten)]
    pub standing: PlanStanding,
    /// Print the outcome as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ServicesNamed {
    /// The plan; the only one that stands by default.
    #[arg(value_name = "NAME", value_parser = plan_name)]
    pub name: Option<Name>,
}

#[derive(Debug, Args)]
pub struct ServicesDrift {
    /// The plan; the only one that stands by default.
    #[arg(value_name = "NAME", value_parser = plan_name)]
    pub name: Option<Name>,
    /// Look at the plan of this file instead, which need not have been applied.
    #[arg(long, value_name = "PLAN", conflicts_with = "name")]
    pub plan: Option<PathBuf>,
    /// Print the differences as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

fn plan_name(text: &str) -> Result<Name, NameError> {
    text.parse()
}

fn look(text: &str) -> Result<Duration, String> {
    time_within(text, Duration::from_millis(200)..=Duration::from_secs(86_400), "200ms to 1d")
}

fn interval(text: &str) -> Result<Duration, String> {
    time_within(text, Duration::from_millis(20)..=Duration::from_secs(60), "20ms to 1m")
}

fn life(text: &str) -> Result<Duration, String> {
    time_within(text, Duration::from_secs(1)..=Duration::from_secs(30 * 86_400), "1s to 30d")
}
