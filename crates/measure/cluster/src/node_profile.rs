//! Core distances of this rank's own node, measured by another process.

use seatmap_data::machine::Profile;
use seatmap_os::limited::{self, LimitedError};
use std::process::Command;
use std::time::Duration;

/// With more CPUs a measurement takes too long to wait for.
const MOST_MEASURED: usize = 64;

const PATIENCE: Duration = Duration::from_secs(20);

/// The remembered profile if it has wakeups or the computer is too large; otherwise measures, with
/// the remembered one as a substitute.
pub fn remembered_or_measured(
    remembered: Option<Profile>,
    pus: usize,
    command: &mut Command,
) -> Option<Profile> {
    let has_wakeups = remembered.as_ref().is_some_and(|profile| profile.wakeups.is_some());
    if has_wakeups || pus > MOST_MEASURED {
        return remembered;
    }
    // A later step reports the missing profile.
    let measured = measured_by(command, PATIENCE).ok();
    measured.and_then(|(profile, _)| profile).or(remembered)
}

/// `command` prints the profile as JSON, while rank 0 waits for `timeout`. Returns the profile, if
/// any, and messages.
///
/// # Errors
///
/// [`LimitedError`]: the command does not start or takes too long.
pub fn measured_by(
    command: &mut Command,
    timeout: Duration,
) -> Result<(Option<Profile>, String), LimitedError> {
    // It gives up before rank 0 counts this node as lost.
    let limit = 2 * timeout / 3;
    let output = limited::output("seatmap measure --quick", command, limit)?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let profile = if output.status.success() { Profile::from_json(&printed).ok() } else { None };
    Ok((profile, String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::machine::{Origin, OriginKind, Topology};

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn profile_counts_only_after_success() {
        let origin =
            Origin { kind: OriginKind::Measured, source: "n".into(), date: None, tool: None };
        let profile = Profile::new("n", origin, Topology::unknown(0..2));
        let script = format!("echo waits >&2; printf '%s' '{}'", profile.to_json().trim());
        let timeout = Duration::from_secs(90);
        let well = measured_by(&mut shell(&script), timeout).unwrap();
        assert_eq!(well, (Some(profile), "waits\n".to_owned()));
        let failed = measured_by(&mut shell(&format!("{script}; exit 1")), timeout).unwrap();
        assert_eq!(failed, (None, "waits\n".to_owned()));
        assert_eq!(measured_by(&mut shell("echo none"), timeout).unwrap().0, None);
    }
}
