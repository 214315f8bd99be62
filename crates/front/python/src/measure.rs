//! A measurement of this host, as `seatmap measure` makes it.

use crate::call::{Interruption, beside_python};
use crate::failure::PythonFailure;
use crate::machine::PyMachine;
use pyo3::prelude::*;
use seatmap_console::{here, input, output};
use seatmap_data::document::with_causes;
use seatmap_measure::measurement::{Measurement, MeasurementRequest};
use seatmap_measure::past;
use seatmap_measure::plan::Effort;
use seatmap_measure::source::{MeasuredBy, RoundTripSource};
use seatmap_measure::wakeups::USUAL_PAIRS;
use seatmap_os::CpuList;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The options of a measurement, as a Python dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct MeasureOptions {
    cpus: Option<Vec<u32>>,
    effort: String,
    passes: Option<u32>,
    homes: u32,
    loaded: bool,
    speed: bool,
    seed: u64,
}

fn effort(word: &str) -> Result<Effort, PythonFailure> {
    match word {
        "quick" => Ok(Effort::Quick),
        "usual" => Ok(Effort::Usual),
        "thorough" => Ok(Effort::Thorough),
        other => Err(PythonFailure::Input(format!(
            "unknown effort '{other}'; expected one of: quick, usual, thorough"
        ))),
    }
}

/// Measures the core distances of these CPUs, or of all CPUs available to this process. A
/// measurement of all CPUs is remembered as this host's, as by the command line.
#[pyfunction]
pub fn measure(py: Python<'_>, options: MeasureOptions) -> PyResult<PyMachine> {
    beside_python(py, || {
        let source =
            RoundTripSource::host(here::cpus_to_measure(options.cpus.map(CpuList).as_ref())?)?;
        let journal = source.journal(None).unwrap_or_else(|error| {
            output::tell(&format!("the measurement will not be saved: {}", with_causes(&error)));
            None
        });
        let request = MeasurementRequest {
            source,
            effort: effort(&options.effort)?,
            passes: options.passes,
            seed: options.seed,
            parallel: false,
            homes: options.homes,
            utilisation_percent: 0,
            loaded: options.loaded,
            speed: options.speed,
            wakeup_pairs: USUAL_PAIRS,
            bandwidth: false,
            journal,
            resume: false,
            by: MeasuredBy { tool: here::tool(), date: here::today() },
        };
        let interruption = Interruption::listen();
        let measured = request.run(&mut |news| {
            output::tell_each(news.sentence());
            if interruption.is_raised() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        let measurement = interruption.unless_raised(measured.map_err(PythonFailure::from))?;
        kept(measurement, &request.source)
    })
}

/// Reports the remarks on the measurement and remembers it.
fn kept(measurement: Measurement, source: &RoundTripSource) -> Result<PyMachine, PythonFailure> {
    output::tell_each(&measurement.warnings);
    measurement.used_up.iter().for_each(|quotas| output::tell_of_used_up(quotas));
    let profile = Arc::new(measurement.profile.clone());
    if let RoundTripSource::Host { pus, .. } = source {
        // Before it is remembered, because it would be compared with itself.
        output::tell_each(past::remark_on_change(&profile));
        output::tell_each(past::remember(&profile, pus).remark());
    }
    measurement.forget_journal().map_err(PythonFailure::work)?;
    Ok(PyMachine { machine: input::machine("host")?, profile })
}
