//! The file of a measurement, in which programs find the profile of their host.

use crate::host::{arm, environment};
use seatmap_data::machine::{Profile, import};
use seatmap_os::{small, state, trusted};
use std::path::Path;

/// Why the remembered profile of this host cannot be used, with the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RememberedError(pub String);

/// This host's remembered profile.
///
/// # Errors
/// [`RememberedError`] if the host was not measured, or if its file cannot be read, can be changed
/// by other users, or belongs to another computer.
pub fn host() -> Result<Profile, RememberedError> {
    let profile = latest()?.ok_or_else(|| RememberedError(not_measured().to_owned()))?;
    of_this_computer(&profile)?;
    Ok(profile)
}

/// The message for a host without a remembered measurement, with the remedy.
pub fn not_measured() -> &'static str {
    if state::takes_files() {
        "this host has not been measured yet; 'seatmap measure' does it in 1 to 2 s"
    } else {
        "this user has no folder for measurements of this host: set XDG_STATE_HOME or HOME, or use \
         'seatmap measure -o FILE' and --on FILE"
    }
}

/// The profile remembered under this host's name, perhaps of another computer; `None` if none.
///
/// # Errors
/// [`RememberedError`] if the file cannot be read, or if other users can change it. The profile
/// decides on which CPUs threads run.
pub fn latest() -> Result<Option<Profile>, RememberedError> {
    match state::host_profile().filter(|path| path.symlink_metadata().is_ok()) {
        Some(path) => read(&path).map(Some),
        None => Ok(None),
    }
}

/// Checks that a remembered profile belongs to this computer: several computers of one name may
/// share a home folder, and a virtual machine may move to another processor.
///
/// # Errors
/// [`RememberedError`] if the profile and the computer have different processors.
pub fn of_this_computer(profile: &Profile) -> Result<(), RememberedError> {
    let cpuinfo = small::read("/proc/cpuinfo").unwrap_or_default();
    same_processor(profile.environment.cpu_model.as_deref(), &cpuinfo)
}

/// Arm's `cpuinfo` has numbers instead of a name, and a list of several for different cores, one
/// kind of which may be offline.
fn same_processor(measured: Option<&str>, cpuinfo: &str) -> Result<(), RememberedError> {
    match (measured, environment::model_in(cpuinfo)) {
        (Some(measured), Some(here)) if !arm::is_part_of_other(measured, &here) => {
            Err(RememberedError(format!(
                "this host was measured with '{measured}', but now has '{here}'; run 'seatmap \
                 measure' again"
            )))
        }
        _ => Ok(()),
    }
}

fn read(path: &Path) -> Result<Profile, RememberedError> {
    let bytes = trusted::read(path).map_err(|error| unfit(path, &error))?;
    import::read(&bytes, &path.to_string_lossy(), None).map_err(|error| unfit(path, &error))
}

fn unfit(path: &Path, error: &dyn std::fmt::Display) -> RememberedError {
    RememberedError(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torn_profile_is_refused_by_name() {
        let torn = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        let error = read(torn).unwrap_err().to_string();
        assert!(error.contains("Cargo.toml: "), "{error}");
        assert!(read(Path::new("/nowhere/at-all.json")).is_err());
    }

    #[test]
    fn profile_of_another_processor_is_refused() {
        let here = "processor\t: 0\nmodel name\t: Xeon B\n";
        let error = same_processor(Some("Xeon A"), here).unwrap_err().to_string();
        assert!(
            error.contains("with 'Xeon A', but now has 'Xeon B'; run 'seatmap measure'"),
            "{error}"
        );
        assert!(same_processor(Some("Xeon B"), here).is_ok() && same_processor(None, here).is_ok());
        assert!(same_processor(Some("Xeon A"), "").is_ok(), "this computer does not say");
        let arm = "CPU implementer\t: 0x41\nCPU part\t: 0xd40\n";
        let other = same_processor(Some("Arm Neoverse-N1"), arm);
        assert!(other.unwrap_err().to_string().contains("now has 'Arm Neoverse-V1'"));
        assert!(same_processor(Some("Arm Neoverse-V1"), arm).is_ok());
    }
}
