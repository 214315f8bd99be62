//! The facts of a computer that must agree for two results to be comparable.

use seatmap_data::machine::Environment;
use seatmap_data::machine::smt_word;
use seatmap_os::Root;
use serde::{Deserialize, Serialize};

/// The computer and its settings that affect a program's speed. Unknown values are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Fingerprint {
    /// The computer's name.
    pub machine: String,
    /// The processor's model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_model: Option<String>,
    /// Its microcode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub microcode: Option<String>,
    /// The hypervisor; `none` on bare metal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hypervisor: Option<String>,
    /// The kernel's release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The frequency governor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// Whether turbo frequencies are allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turbo: Option<bool>,
    /// Whether SMT is on, in the kernel's word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smt: Option<String>,
    /// Transparent huge pages, in the kernel's word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thp: Option<String>,
    /// A digest of the mitigations of processor vulnerabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mitigations: Option<String>,
    /// The smallest CPU quota of a control group, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota: Option<String>,
    /// The commands' share of a contested CPU, in words; absent if usual, and in older documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
    /// The number of CPUs and cores of the commands.
    pub seats: String,
    /// How the seats were kept quiet: `a cell`, `preference`, or `nobody`.
    pub quiet: String,
}

impl Fingerprint {
    /// The fingerprint of this computer.
    pub fn new(machine: String, environment: Environment, seats: String, quiet: String) -> Self {
        let Environment { cpu_model, microcode, hypervisor, kernel, .. } = environment;
        let Environment { governor, turbo, smt, thp, quota, mitigations, .. } = environment;
        let mitigations: String = mitigations
            .iter()
            .map(|(fault, mitigation)| format!("{fault}: {mitigation}\n"))
            .collect();
        // A digest is short; kernels list more vulnerabilities every year.
        let mitigations =
            (!mitigations.is_empty()).then(|| format!("{:08x}", fnv(mitigations.as_bytes())));
        Fingerprint {
            machine,
            cpu_model,
            microcode,
            hypervisor,
            kernel,
            governor,
            turbo,
            smt,
            thp,
            mitigations,
            quota,
            priority: seatmap_os::priority::of_self(&Root::new("/")),
            seats,
            quiet,
        }
    }

    /// The differences from another fingerprint, as `kernel: 6.12.0, not 6.1.0`. Results are
    /// comparable without differences.
    pub fn differences(&self, then: &Fingerprint) -> Vec<String> {
        let [now, then] = [self, then].map(Fingerprint::words);
        now.into_iter()
            .zip(then)
            .filter(|((_, now), (_, then))| now != then)
            .map(|((what, now), (_, then))| format!("{what}: {now}, not {then}"))
            .collect()
    }

    /// Each fact with its value, `unknown` if absent.
    pub fn words(&self) -> Vec<(&'static str, String)> {
        let turbo = self.turbo.map(|on| if on { "on" } else { "off" }.to_owned());
        vec![
            ("machine", self.machine.clone()),
            ("processor", word(&self.cpu_model)),
            ("microcode", word(&self.microcode)),
            ("hypervisor", word(&self.hypervisor)),
            ("kernel", word(&self.kernel)),
            ("governor", word(&self.governor)),
            ("turbo", word(&turbo)),
            ("SMT", word(&self.smt.as_deref().map(smt_word))),
            ("huge pages", word(&self.thp)),
            ("mitigations", word(&self.mitigations)),
            ("CPU quota", word(&self.quota)),
            ("priority", self.priority.clone().unwrap_or_else(|| "usual".to_owned())),
            ("seats", self.seats.clone()),
            ("kept quiet by", self.quiet.clone()),
        ]
    }
}

/// The 32-bit FNV-1a hash (Fowler, Noll and Vo).
fn fnv(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

fn word(fact: &Option<String>) -> String {
    fact.clone().unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(kernel: &str) -> Fingerprint {
        let mitigations = [("spectre_v2".to_owned(), "Mitigation: IBRS".to_owned())].into();
        let environment =
            Environment { kernel: Some(kernel.to_owned()), mitigations, ..Environment::default() };
        Fingerprint::new("box".to_owned(), environment, "2 CPUs".to_owned(), "nothing".to_owned())
    }

    #[test]
    fn differences_are_named() {
        assert!(made("6.1").differences(&made("6.1")).is_empty());
        assert_eq!(made("6.1").differences(&made("6.12")), ["kernel: 6.1, not 6.12"]);
        let mut other = made("6.1");
        other.mitigations = None;
        other.turbo = Some(false);
        let told = made("6.1").differences(&other);
        assert!(
            told.len() == 2
                && told[0] == "turbo: unknown, not off"
                && told[1].ends_with("not unknown"),
            "{told:?}"
        );
    }

    #[test]
    fn quota_distinguishes_fingerprints() {
        let mut under_quota = made("6.1");
        under_quota.quota = Some("0.5 CPUs in periods of 100 ms".to_owned());
        let mut free = made("6.1");
        free.quota = Some("none".to_owned());
        assert_eq!(
            under_quota.differences(&free),
            ["CPU quota: 0.5 CPUs in periods of 100 ms, not none"]
        );
    }

    #[test]
    fn fnv_matches_published_values() {
        assert_eq!([fnv(b""), fnv(b"foobar")], [0x811c_9dc5, 0xbf9c_f968]);
    }
}
