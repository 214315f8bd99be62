//! `seatmap check`, as typed.

use clap::{ArgGroup, Args};
use seatmap_console::time::time_within;
use seatmap_watch::{Rule, UnknownRule};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("checked").args(["pid", "cgroup", "unit", "slurm_step", "name", "all"])
)]
pub struct Check {
    /// Check this process and its children; may be given several times. By default all pinned
    /// programs are checked.
    #[arg(short, long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub pid: Vec<i32>,
    /// With --pid, leave its children out.
    #[arg(long, requires = "pid")]
    pub no_children: bool,
    /// The default, for scripts that name it.
    #[arg(long, requires = "pid", conflicts_with = "no_children", hide = true)]
    pub children: bool,
    /// Check the members of this control group, and of the groups below it.
    #[arg(long, value_name = "PATH")]
    pub cgroup: Option<String>,
    /// Check the processes of this systemd unit.
    #[arg(long, value_name = "UNIT")]
    pub unit: Option<String>,
    /// Check the processes of the Slurm step that this command runs in.
    #[arg(long)]
    pub slurm_step: bool,
    /// Check the programs with this name; * matches any text.
    #[arg(long, value_name = "GLOB")]
    pub name: Option<String>,
    /// Check every program that this user can see.
    #[arg(long)]
    pub all: bool,
    /// The expected seats: a plan (thread k, in order of creation, is task k), or the output of
    /// 'seatmap run --report' or 'seatmap check -o'; - is stdin.
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,
    /// Compare each unit with its known good state, written by 'seatmap check --all -o FILE', or a
    /// folder of such files; may be given several times. By default all programs are checked. A
    /// unit without a good state does not count as good.
    #[arg(long, value_name = "FILE")]
    pub baseline: Vec<PathBuf>,
    /// Accept a plan made for another machine.
    #[arg(long, requires = "expect")]
    pub any_machine: bool,
    /// Check this rule instead of the default ones; may be given several times. Rules: one-per-cpu,
    /// one-per-core, memory-local, device-near, no-irq, no-strangers, on=kind:performance (all
    /// threads on these CPUs), same-core|l3|numa|package, spread=core|l3|numa|package; default
    /// means the default rules.
    #[arg(long = "rule", value_name = "RULE", value_parser = rule)]
    pub rules: Vec<Rule>,
    /// How long to watch: 500ms, 10s, 2m; a plain number is seconds.
    #[arg(long, value_name = "TIME", default_value = "0.5", value_parser = window)]
    pub seconds: Duration,
    /// Have the kernel record on which CPUs the threads run, instead of sampling, and print it.
    /// Requires root, or CAP_BPF and CAP_PERFMON.
    #[arg(long)]
    pub trace: bool,
    /// Check again at this interval, and print changes, until Ctrl-C or until the programs have
    /// ended.
    #[arg(long, value_name = "TIME", value_parser = window)]
    pub watch: Option<Duration>,
    /// Fail also if something could not be seen.
    #[arg(long)]
    pub strict: bool,
    /// Print nothing unless something is wrong.
    #[arg(short, long)]
    pub quiet: bool,
    /// Write the findings as OpenMetrics to a file, for node_exporter; - is stdout. Or serve them,
    /// for example at 127.0.0.1:9410: each request of /metrics checks again, until Ctrl-C.
    #[arg(long, value_name = "FILE|ADDRESS")]
    pub metrics: Option<MetricsTarget>,
    /// Write the seating with the findings as JSON to a file; - is stdout.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print only the seating with the findings as JSON, on stdout.
    #[arg(long)]
    pub json: bool,
}

impl Check {
    /// Whether all programs are checked if none is named, as with baselines.
    pub fn is_of_all(&self) -> bool {
        self.all || !self.baseline.is_empty()
    }
}

/// The place where metrics go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetricsTarget {
    /// A file.
    File(PathBuf),
    /// An address at which they are served.
    Address(SocketAddr),
}

impl MetricsTarget {
    /// The file, unless they are served.
    pub fn file(&self) -> Option<&Path> {
        match self {
            MetricsTarget::File(path) => Some(path),
            MetricsTarget::Address(_) => None,
        }
    }
}

impl FromStr for MetricsTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(address) = text.parse() {
            return Ok(MetricsTarget::Address(address));
        }
        let port = text.rsplit_once(':').map(|(_, port)| port);
        let is_port = port.is_some_and(|port| port.parse::<u16>().is_ok());
        if is_port && !text.contains('/') {
            return Err(format!(
                "'{text}' is not a numeric address; write 127.0.0.1:9410 or [::1]:9410, or \
                 ./{text} for a file of this name"
            ));
        }
        Ok(MetricsTarget::File(text.into()))
    }
}

fn rule(text: &str) -> Result<Rule, UnknownRule> {
    text.parse()
}

/// From a few ticks of the kernel's clock to a day.
fn window(text: &str) -> Result<Duration, String> {
    time_within(text, Duration::from_millis(50)..=Duration::from_secs(86_400), "50ms to 1d")
}
