//! This computer's name, remembered profile and CPUs; and the date.

use crate::error::{CliError, CliResult};
use crate::{output, running};
use seatmap_machines::catalog::usable;
use seatmap_os::cpus::Cpus;
pub use seatmap_os::state::{folder as state_folder, host_name, host_profile};
use seatmap_os::{CpuList, host_names};

/// Whether a document about the computer of this name is about this one.
pub fn is_this_host(name: &str) -> bool {
    host_names::node_of(&host_name(), &[name]).is_some()
}

/// Today, in UTC, as `YYYY-MM-DD`.
pub fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

/// This moment in UTC, in the format of RFC 3339.
pub fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// This program with its version.
pub fn tool() -> String {
    format!("{} {}", running::name(), env!("CARGO_PKG_VERSION"))
}

/// The CPUs to measure: the named ones or this process's mask, with a message about isolated CPUs.
///
/// # Errors
/// A named CPU is not available.
pub fn cpus_to_measure(named: Option<&CpuList>) -> CliResult<Vec<u32>> {
    let here = Cpus::read()?;
    let measurable = usable::to_measure(named, &here).map_err(CliError::input)?;
    output::tell_each(measurable.remark);
    Ok(measurable.cpus)
}
