//! The environment of a measurement.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The circumstances of a measurement that may have changed its figures. Every field is optional,
/// because files of other tools have none of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Environment {
    /// The hypervisor; `none` on bare metal.
    pub hypervisor: Option<String>,
    /// CPU time that the hypervisor gave to other guests during the measurement, in per cent of
    /// all.
    pub steal_percent: Option<f64>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Processor model name.
    pub cpu_model: Option<String>,
    /// Microcode revision.
    pub microcode: Option<String>,
    /// Frequency governor; `mixed` if CPUs differ.
    pub governor: Option<String>,
    /// Whether turbo frequencies are allowed.
    pub turbo: Option<bool>,
    /// The kernel's SMT control: `on`, `off`, `notsupported`...
    pub smt: Option<String>,
    /// Transparent huge pages: `always`, `madvise`, `never`.
    pub thp: Option<String>,
    /// Vendor, version and date of the firmware.
    pub bios: Option<String>,
    /// Load average over one minute, before measuring.
    pub load_average: Option<f64>,
    /// CPU vulnerabilities and their mitigations, in the kernel's words.
    pub mitigations: BTreeMap<String, String>,
    /// The CPUs that the process could use, as a list: `0-3,8`.
    pub cpuset: Option<String>,
    /// Offline CPUs of the machine, as a list.
    pub offline: Option<String>,
    /// The smallest quota of CPU time that a control group sets on this process, in words; `none`
    /// without one.
    pub quota: Option<String>,
}

impl Environment {
    /// Whether SMT is on, in plain words.
    pub fn smt_word(&self) -> Option<String> {
        self.smt.as_deref().map(smt_word)
    }
}

/// The kernel's SMT control (`/sys/devices/system/cpu/smt/control`) in plain words.
pub fn smt_word(control: &str) -> String {
    match control {
        "forceoff" => "off until the next boot",
        "notsupported" => "not supported by the processor",
        "notimplemented" => "not known to the kernel",
        other => other,
    }
    .to_owned()
}
