//! Records samples with perf(1).

use crate::{Method, ObservationOutcome, ObserveError, Sighting, SubjectCommand, command};
use seatmap_data::document::visible;
use seatmap_launch::Ending;
use seatmap_os::StopCheck;
use seatmap_os::limited::{self, LimitedError};
use seatmap_os::scratch::Scratch;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// With counters passed through to a virtual machine it takes a second.
const TRIAL_LIMIT: Duration = Duration::from_secs(30);

const PERF: &str = "perf";

/// Checks that perf can sample a program here.
///
/// # Errors
/// [`ObserveError::Unavailable`] with perf's message.
pub fn check() -> Result<(), ObserveError> {
    let folder = Scratch::new("observe").map_err(ObserveError::System)?;
    let mut trial = recorder(&folder.path().join("trial"));
    trial.args(["--", "true"]);
    let reason = match limited::output("perf c2c record", &mut trial, TRIAL_LIMIT) {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => {
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            let last = words.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it failed");
            format!("'perf c2c record' says: {}", visible(last.trim()))
        }
        Err(LimitedError::Start { source, .. }) => {
            format!("cannot start perf, which records the samples: {source}")
        }
        Err(late @ LimitedError::Late { .. }) => late.to_string(),
    };
    Err(ObserveError::Unavailable { method: Method::C2c, reason })
}

pub(crate) fn run(
    command: &SubjectCommand,
    stop: StopCheck,
) -> Result<ObservationOutcome, ObserveError> {
    let folder = Scratch::new("observe").map_err(ObserveError::System)?;
    let path = folder.path().join("perf.data");
    let mut perf = command.prepared_behind(recorder(&path));
    let child = perf.spawn().map_err(ObserveError::System)?;
    let status = command::attend(child, false, stop).map_err(ObserveError::System)?;
    Ok(ObservationOutcome::of_ended(Ending::of(status), Sighting::of_recording(&path)))
}

fn recorder(path: &Path) -> Command {
    let mut perf = Command::new(PERF);
    perf.args(["c2c", "record", "-o"]).arg(path);
    perf
}
