//! The core distances of this rank's own node, measured by another process.

use seatmap_machine::Profile;
use seatmap_os::limited::{self, LimitedError};
use std::process::Command;
use std::time::Duration;

/// Runs a command that measures this node and prints the profile as JSON. Returns the profile, and
/// the command's words for people. Without a profile, where the command failed, the result shows a
/// node without core distances.
///
/// # Errors
/// [`LimitedError`]: it does not start, or takes longer than the limit.
pub fn measured_by(
    command: &mut Command,
    limit: Duration,
) -> Result<(Option<Profile>, String), LimitedError> {
    let output = limited::output("seatmap measure --quick", command, limit)?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let profile = if output.status.success() { Profile::from_json(&printed).ok() } else { None };
    Ok((profile, String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_machine::{Origin, OriginKind, Topology};

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_profile_counts_where_the_command_did_well() {
        let origin =
            Origin { kind: OriginKind::Measured, source: "n".into(), date: None, tool: None };
        let profile = Profile::new("n", origin, Topology::unknown(0..2));
        let script = format!("echo waits >&2; printf '%s' '{}'", profile.to_json().trim());
        let limit = Duration::from_secs(60);
        let well = measured_by(&mut shell(&script), limit).unwrap();
        assert_eq!(well, (Some(profile), "waits\n".to_owned()));
        let failed = measured_by(&mut shell(&format!("{script}; exit 1")), limit).unwrap();
        assert_eq!(failed, (None, "waits\n".to_owned()));
        assert_eq!(measured_by(&mut shell("echo none"), limit).unwrap().0, None);
    }
}
