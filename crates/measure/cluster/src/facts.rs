//! Hardware and settings of a node; those of a bad node often differ.

use seatmap_data::machine::Environment;
use seatmap_os::cpus::Cpus;
use seatmap_os::{Root, memory};
use serde::{Deserialize, Serialize};

pub const UNKNOWN: &str = "unknown";

/// Hardware and settings of one node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct NodeConfiguration {
    /// CPUs online.
    pub cpus: usize,
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// Processor, kernel and settings.
    pub environment: Environment,
}

impl NodeConfiguration {
    /// Reads this computer.
    pub fn read() -> Self {
        NodeConfiguration {
            cpus: Cpus::read().map_or(0, |cpus| cpus.online.len()),
            memory_bytes: memory::total_bytes(&Root::new("/")).unwrap_or(0),
            environment: seatmap_machines::host::environment::read(),
        }
    }

    /// The facts that nodes of one kind share, by name.
    pub fn kind(&self) -> Vec<(&'static str, String)> {
        // Firmware takes a little memory, which varies.
        let gib = (self.memory_bytes as f64 / f64::from(1 << 30)).round();
        vec![
            ("CPUs", self.cpus.to_string()),
            ("memory", format!("{gib} GiB")),
            ("processor", or_unknown(&self.environment.cpu_model)),
            ("microcode", or_unknown(&self.environment.microcode)),
            ("kernel", or_unknown(&self.environment.kernel)),
            ("governor", or_unknown(&self.environment.governor)),
            (
                "turbo",
                match self.environment.turbo {
                    Some(true) => "on",
                    Some(false) => "off",
                    None => UNKNOWN,
                }
                .to_owned(),
            ),
            ("SMT", or_unknown(&self.environment.smt_word())),
        ]
    }
}

fn or_unknown(text: &Option<String>) -> String {
    text.clone().unwrap_or_else(|| UNKNOWN.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_computer_has_cpus_and_memory() {
        let facts = NodeConfiguration::read();
        assert!(facts.cpus >= 1 && facts.memory_bytes > 1 << 20, "{facts:?}");
        assert_eq!(facts.kind()[0], ("CPUs", facts.cpus.to_string()));
        let text = serde_json::to_string(&facts).unwrap();
        assert_eq!(serde_json::from_str::<NodeConfiguration>(&text).unwrap(), facts);
    }
}
