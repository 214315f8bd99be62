//! `seatmap check`.

use crate::args::{Check, MetricsTarget};
use seatmap_console::error::CliError;
use seatmap_console::interrupt::Interrupt;
use seatmap_console::output::{self, Destination};
use seatmap_console::view::{self, ColourChoice};
use seatmap_console::{baseline_input, here, plan_input};
use seatmap_host::topology;
use seatmap_report::terminal::Colour;
use seatmap_watch::metrics::server::MetricsServer;
use seatmap_watch::{CheckRequest, CheckStep, CheckView, Choice, Standard};
use std::net::SocketAddr;
use std::path::Path;

/// Checks where the threads of living programs sit. Exit code 1 means that something is wrong.
pub fn run(typed: &Check, colour: ColourChoice) -> Result<(), CliError> {
    let metrics = match &typed.metrics {
        Some(MetricsTarget::Address(address)) => return serve(typed, *address),
        Some(MetricsTarget::File(path)) => {
            output::beside(Some(path), stdout_of(typed), "--metrics")?
        }
        None => None,
    };
    let file = output::file(typed.output.as_deref(), typed.json)?;
    let view = CheckView {
        is_coloured: view::colour(colour, &std::io::stdout()) != Colour::None,
        is_document: typed.json || file.is_some(),
        is_quiet: typed.quiet,
    };
    let request = request(typed)?;
    // A single check leaves Ctrl-C alone, and ends at once by it.
    let interrupt = typed.watch.map(|_| Interrupt::listen()).transpose()?;
    let mut check = request.begin()?;
    while let Some(step) = check.next(&|| interrupt.as_ref().is_some_and(Interrupt::is_raised))? {
        let results = [&file, &metrics];
        let is_taken = results.contains(&&Some(Destination::Stdout));
        match show(&step, view, file.as_ref(), typed.json, is_taken) {
            // Nobody would read the next looks; the verdict stands in the exit code.
            Err(CliError::NobodyListens) => break,
            shown => shown?,
        }
        if let Some(metrics) = &metrics {
            metrics.write(&check.metrics()?)?;
        }
    }
    Ok(check.end()?)
}

/// The option whose document has stdout already.
fn stdout_of(typed: &Check) -> Option<&'static str> {
    let is_stdout = typed.output.as_deref() == Some(Path::new("-"));
    typed.json.then_some("--json").or(is_stdout.then_some("-o"))
}

/// Checks for each client that asks, until Ctrl-C.
fn serve(typed: &Check, address: SocketAddr) -> Result<(), CliError> {
    if typed.json || typed.output.is_some() || typed.watch.is_some() {
        return Err(CliError::input(
            "metrics that are served are checked for each client, and nothing else is written; \
             leave --json, -o and --watch out",
        ));
    }
    let request = request(typed)?;
    let interrupt = Interrupt::listen()?;
    let server = MetricsServer::listen(address)
        .map_err(|error| CliError::input(format!("cannot listen at {address}: {error}")))?;
    let address = server.address().map_err(CliError::work)?;
    output::tell(&format!("metrics at http://{address}/metrics until Ctrl-C"));
    let mut look = || request.metrics().map_err(|error| error.to_string());
    server.serve(&|| interrupt.is_raised(), &mut look).map_err(CliError::work)
}

/// The request that the command line means.
fn request(typed: &Check) -> Result<CheckRequest, CliError> {
    Ok(CheckRequest {
        choice: choice(typed),
        window: typed.seconds,
        trace: typed.trace,
        standard: Standard {
            rules: typed.rules.clone(),
            seats: plan_input::expected_seats(typed.expect.as_deref(), typed.any_machine)?,
            baselines: baseline_input::baselines(&typed.baseline)?,
            strict: typed.strict,
        },
        topology: topology::of_group().map_err(CliError::work)?,
        machine: here::host_name(),
        may_be_empty: choice(typed) == Choice::All,
        again_every: typed.watch,
    })
}

/// The processes that the user chose; without a choice, those that are bound.
fn choice(typed: &Check) -> Choice {
    let named = Choice::named(&typed.pid, typed.children, typed.cgroup.clone(), typed.name.clone());
    let is_all = typed.all || !typed.baseline.is_empty();
    let usual = if is_all { Choice::All } else { Choice::Bound };
    match &typed.unit {
        Some(unit) => Choice::Unit(unit.clone()),
        None if typed.slurm_step => Choice::SlurmStep,
        None => named.unwrap_or(usual),
    }
}

/// Writes and prints a step of the check, unless nothing has changed since the one before.
fn show(
    step: &CheckStep,
    view: CheckView,
    file: Option<&Destination>,
    is_json: bool,
    is_stdout_taken: bool,
) -> Result<(), CliError> {
    let Some(judged) = step.judged() else { return Ok(()) };
    if let Some(file) = file {
        let document = seatmap_document::written(judged);
        if view.is_quiet { file.write_silently(&document) } else { file.write(&document) }?;
    }
    if is_json {
        return output::json(judged);
    }
    // A document has stdout, and no text may stand beside it.
    let text = step.text(view).filter(|_| !is_stdout_taken);
    text.map_or(Ok(()), |text| output::print(&text))
}
