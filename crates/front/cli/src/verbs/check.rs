//! `seatmap check`.

use crate::args::{Check, MetricsTarget};
use seatmap_console::error::{CliError, with_causes};
use seatmap_console::interrupt::StopFlag;
use seatmap_console::output::{self, Destination};
use seatmap_console::outputs::Outputs;
use seatmap_console::view::{self, ColourChoice};
use seatmap_console::{baseline_input, here, input, plan_input};
use seatmap_machines::host::topology;
use seatmap_os::Root;
use seatmap_report::terminal::Colour;
use seatmap_watch::metrics::server::MetricsServer;
use seatmap_watch::{CheckRequest, CheckView, ProcessChoice, Standard};
use std::net::SocketAddr;

/// Checks the CPUs of running programs' threads. Exit code 1 if something is wrong.
pub fn run(typed: &Check, colour: ColourChoice) -> Result<(), CliError> {
    if let Some(MetricsTarget::Address(address)) = typed.metrics {
        return serve(typed, address);
    }
    let outputs = Outputs::new(typed.json, typed.output.as_deref(), None)?;
    let metrics = typed.metrics.as_ref().and_then(MetricsTarget::file);
    let metrics = output::beside(metrics, outputs.on_stdout(), "--metrics")?;
    let is_printed = metrics != Some(Destination::Stdout);
    let is_coloured = view::colour(colour, &std::io::stdout()) != Colour::None;
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

fn serve(typed: &Check, address: SocketAddr) -> Result<(), CliError> {
    if typed.json || typed.output.is_some() || typed.watch.is_some() {
        return Err(CliError::input(
            "served metrics are checked at each request, and nothing else is written; leave \
             --json, -o and --watch out",
        ));
    }
    let request = request(typed)?;
    let interrupt = StopFlag::listen()?;
    let server = MetricsServer::listen(address)?;
    output::tell(&format!("metrics at http://{}/metrics until Ctrl-C", server.address()));
    let mut look = || request.metrics().map_err(|error| with_causes(&error));
    server.serve(&|| interrupt.is_raised(), &mut look).map_err(CliError::work)
}

fn request(typed: &Check) -> Result<CheckRequest, CliError> {
    let topology = topology::of_group().map_err(CliError::work)?;
    Ok(CheckRequest {
        choice: choice(typed),
        window: typed.seconds,
        trace: typed.trace,
        standard: Standard {
            rules: input::rules_on(typed.rules.clone(), &topology, Some(Root::new("/")))?,
            seats: plan_input::expected_seats(typed.expect.as_deref(), typed.any_machine)?,
            baselines: baseline_input::baselines(&typed.baseline)?,
            strict: typed.strict,
        },
        topology,
        machine: here::host_name(),
        again_every: typed.watch,
    })
}

/// The user's processes; by default the bound ones.
fn choice(typed: &Check) -> ProcessChoice {
    let with_children = typed.children || !typed.no_children;
    let named =
        ProcessChoice::named(&typed.pid, with_children, typed.cgroup.clone(), typed.name.clone());
    let usual = if typed.is_of_all() { ProcessChoice::All } else { ProcessChoice::Bound };
    match &typed.unit {
        Some(unit) => ProcessChoice::Unit(unit.clone()),
        None if typed.slurm_step => ProcessChoice::SlurmStep,
        None => named.unwrap_or(usual),
    }
}
