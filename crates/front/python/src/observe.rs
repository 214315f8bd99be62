//! Observations of running programs, as `seatmap observe` makes them.

use crate::call::{Interruption, beside_python};
use crate::failure::PythonFailure;
use crate::pattern::PyPattern;
use pyo3::prelude::*;
use seatmap_observe::{
    Method, ObserveError, ObserveRequest, Subject, TracingMechanism, WatchRequest,
};
use seatmap_os::Tid;
use std::time::Duration;

/// Observes the communication between the threads of these processes: the pattern, and the table of
/// `seatmap observe`.
#[pyfunction]
pub fn observe(
    py: Python<'_>,
    pids: Vec<Tid>,
    seconds: f64,
    method: &str,
) -> PyResult<(PyPattern, String)> {
    beside_python(py, || {
        let time = Duration::try_from_secs_f64(seconds)
            .map_err(|error| PythonFailure::Input(format!("seconds={seconds}: {error}")))?;
        let request = ObserveRequest::Watch(WatchRequest {
            method: self::method(method)?,
            means: TracingMechanism::Best,
            subject: Subject::Programs(pids),
            time: Some(time),
        });
        let interruption = Interruption::listen();
        let seen = seen(&request, &interruption);
        interruption.unless_raised(seen)
    })
}

fn method(word: &str) -> Result<Option<Method>, PythonFailure> {
    match word {
        "auto" => Ok(None),
        "wakeups" => Ok(Some(Method::Wakeups)),
        "sockets" => Ok(Some(Method::Sockets)),
        "goroutines" => Ok(Some(Method::Goroutines)),
        other => Err(PythonFailure::Input(format!(
            "unknown method '{other}' for a running program; expected one of: auto, wakeups, \
             sockets, goroutines"
        ))),
    }
}

fn seen(
    request: &ObserveRequest,
    interruption: &Interruption,
) -> Result<(PyPattern, String), PythonFailure> {
    let observed = request.run(&|| interruption.is_raised())?;
    let sighting = observed.sighting;
    observed.end.wait(&|| interruption.is_raised())?;
    let Some(sighting) = sighting? else { return Err(ObserveError::NothingSeen.into()) };
    let observation = sighting.observation;
    let pattern = observation.pattern(observation.name());
    Ok((PyPattern::of(pattern), seatmap_report::observation::page(&observation).text(None)))
}
