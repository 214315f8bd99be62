//! `seatmap check`.

use clap::{ArgGroup, Args};
use seatmap_console::cpus::OrAll;
use seatmap_console::error::with_causes;
use seatmap_console::{
    CliError, CliResult, Destination, Outputs, StopFlag, baseline_input, here, input, output,
    plan_input, time_in, view,
};
use seatmap_machines::host::topology;
use seatmap_report::terminal::Colour;
use seatmap_watch::metrics::server::MetricsServer;
use seatmap_watch::{CheckRequest, CheckView, ProcessChoice, Rule, Standard};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// From a few ticks of the kernel's clock to a day.
const WINDOW: &str = "50ms to 1d";

#[derive(Args)]
#[command(
    group = ArgGroup::new("checked").args(["pid", "cgroup", "unit", "slurm_step", "name", "all"])
)]
pub struct Check {
    /// Check this process and its children; may be given several times. By default all pinned
    /// programs are checked.
    #[arg(short, long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pid: Vec<i32>,
    /// With --pid, leave its children out.
    #[arg(long, requires = "pid")]
    no_children: bool,
    /// The default, for scripts that name it.
    #[arg(long, requires = "pid", conflicts_with = "no_children", hide = true)]
    children: bool,
    /// Check the members of this control group, and of the groups below it.
    #[arg(long, value_name = "PATH")]
    cgroup: Option<String>,
    /// Check the processes of this systemd unit.
    #[arg(long, value_name = "UNIT")]
    unit: Option<String>,
    /// Check the processes of the Slurm step that this command runs in.
    #[arg(long)]
    slurm_step: bool,
    /// Check the programs with this name; * matches any text.
    #[arg(long, value_name = "GLOB")]
    name: Option<String>,
    /// Check every program that this user can see.
    #[arg(long)]
    all: bool,
    /// The expected seats: a plan (thread k, in order of creation, is task k), or the output of
    /// 'seatmap run --report' or 'seatmap check -o'; - is stdin.
    #[arg(long, value_name = "FILE")]
    expect: Option<PathBuf>,
    /// Compare each unit with its known good state, written by 'seatmap check --all -o FILE', or a
    /// folder of such files; may be given several times. By default all programs are checked. A
    /// unit without a good state does not count as good.
    #[arg(long, value_name = "FILE")]
    baseline: Vec<PathBuf>,
    /// Accept a plan made for another machine.
    #[arg(long, requires = "expect")]
    any_machine: bool,
    /// Check this rule instead of the default ones; may be given several times. Rules: one-per-cpu,
    /// one-per-core, memory-local, device-near, no-irq, no-strangers, on=kind:performance (all
    /// threads on these CPUs), same-core|l3|numa|package, spread=core|l3|numa|package; default
    /// means the default rules.
    #[arg(long = "rule", value_name = "RULE")]
    rules: Vec<Rule>,
    /// If a word of an on= rule distinguishes no CPUs here, take all of them, and say so.
    #[arg(long, requires = "rules")]
    or_all: bool,
    /// How long to watch: 500ms, 10s, 2m; a plain number is seconds.
    #[arg(long, value_name = "TIME", default_value = "0.5", value_parser = time_in(WINDOW))]
    seconds: Duration,
    /// Have the kernel record on which CPUs the threads run, instead of sampling, and print it.
    /// Requires root, or CAP_BPF and CAP_PERFMON.
    #[arg(long)]
    trace: bool,
    /// Check again at this interval, and print changes, until Ctrl-C or until the programs have
    /// ended.
    #[arg(long, value_name = "TIME", value_parser = time_in(WINDOW))]
    watch: Option<Duration>,
    /// Fail also if something could not be seen.
    #[arg(long)]
    strict: bool,
    /// Print nothing unless something is wrong.
    #[arg(short, long)]
    quiet: bool,
    /// Write the findings as OpenMetrics to a file, for node_exporter; - is stdout. Or serve them,
    /// for example at 127.0.0.1:9410: each request of /metrics checks again, until Ctrl-C.
    #[arg(long, value_name = "FILE|ADDRESS")]
    metrics: Option<MetricsTarget>,
    /// Write the seating with the findings as JSON to a file; - is stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print only the seating with the findings as JSON, on stdout.
    #[arg(long)]
    json: bool,
}

/// The place where metrics go.
#[derive(Clone, Debug, PartialEq, Eq)]
enum MetricsTarget {
    /// A file.
    File(PathBuf),
    /// An address at which they are served.
    Address(SocketAddr),
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

/// Checks the CPUs of running programs' threads. Exit code 1 if something is wrong.
pub fn run(typed: &Check) -> CliResult {
    let file = match &typed.metrics {
        Some(MetricsTarget::Address(address)) => return serve(typed, *address),
        Some(MetricsTarget::File(path)) => Some(&**path),
        None => None,
    };
    let outputs = Outputs::new(typed.json, typed.output.as_deref(), None)?;
    let metrics = output::beside(file, outputs.on_stdout(), "--metrics")?;
    let is_printed = metrics != Some(Destination::Stdout);
    let is_coloured = view::colour(&std::io::stdout()) != Colour::None;
    let view =
        CheckView { is_document: typed.json || outputs.file.is_some(), is_quiet: typed.quiet };
    let request = request(typed)?;
    // A single check does not handle Ctrl-C, which ends it at once.
    let interrupt = typed.watch.map(|_| StopFlag::listen()).transpose()?;
    let mut check = request.begin()?;
    while let Some(step) = check.next(&|| interrupt.as_ref().is_some_and(StopFlag::is_raised))? {
        let text = step.text(view).filter(|_| is_printed);
        let page = text.map(|text| seatmap_report::check::page(&text, is_coloured));
        let judged = step.judged();
        match judged.map_or(Ok(()), |judged| outputs.step(judged, page, typed.quiet)) {
            // No reader is left; the exit code has the verdict.
            Err(CliError::NobodyListens) => break,
            shown => shown?,
        }
        if let Some(metrics) = &metrics {
            metrics.write(&check.metrics()?)?;
        }
    }
    Ok(check.end()?)
}

fn serve(typed: &Check, address: SocketAddr) -> CliResult {
    refuse_if!(
        typed.json || typed.output.is_some() || typed.watch.is_some(),
        "served metrics are checked at each request, and nothing else is written; leave \
         --json, -o and --watch out"
    );
    let request = request(typed)?;
    let interrupt = StopFlag::listen()?;
    let server = MetricsServer::listen(address)?;
    output::tell(&format!("metrics at http://{}/metrics until Ctrl-C", server.address()));
    let mut look = || request.metrics().map_err(|error| with_causes(&error));
    server.serve(&|| interrupt.is_raised(), &mut look).map_err(CliError::work)
}

fn request(typed: &Check) -> CliResult<CheckRequest> {
    let topology = topology::of_group().map_err(CliError::work)?;
    let computer = input::whole_computer(&topology);
    let or_all = OrAll { is_given: typed.or_all };
    Ok(CheckRequest {
        choice: choice(typed),
        window: typed.seconds,
        trace: typed.trace,
        standard: Standard {
            rules: input::rules_on(typed.rules.clone(), &computer, or_all)?,
            seats: plan_input::expected_seats(typed.expect.as_deref(), typed.any_machine)?,
            baselines: baseline_input::baselines(&typed.baseline)?,
            strict: typed.strict,
        },
        topology,
        machine: here::host_name(),
        again_every: typed.watch,
    })
}

/// The user's processes; by default the bound ones, with baselines all.
fn choice(typed: &Check) -> ProcessChoice {
    let with_children = typed.children || !typed.no_children;
    let named =
        ProcessChoice::named(&typed.pid, with_children, typed.cgroup.clone(), typed.name.clone());
    match (&typed.unit, named) {
        (Some(unit), _) => ProcessChoice::Unit(unit.clone()),
        _ if typed.slurm_step => ProcessChoice::SlurmStep,
        (_, Some(named)) => named,
        _ if typed.all || !typed.baseline.is_empty() => ProcessChoice::All,
        _ => ProcessChoice::Bound,
    }
}
