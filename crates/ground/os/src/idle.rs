//! How idle CPUs wait for work, which decides how fast a thread on them wakes.

use crate::Root;
use crate::bytes::words;

const CPUIDLE: &str = "/sys/devices/system/cpu/cpuidle";

/// The guest driver that spins before it halts (Documentation/virt/guest-halt-polling.rst).
const HALTPOLL: &str = "haltpoll";

/// The arguments for idle CPUs that never halt, on x86 and on Arm (kernel-parameters.txt).
const NEVER_HALT: [&str; 2] = ["idle=poll", "nohlt"];

/// The idle settings of a kernel.
#[derive(Debug, Default, PartialEq)]
pub struct IdleSettings {
    /// Driver of idle states; `none` if idle CPUs just halt, `None` if unreadable.
    pub driver: Option<String>,
    /// Governor, which chooses among the driver's states; `None` if unreadable.
    pub governor: Option<String>,
    /// Whether idle CPUs never halt.
    pub never_halts: bool,
}

impl IdleSettings {
    /// Reads the settings.
    pub fn read(root: &Root) -> Self {
        let command_line = root.read("/proc/cmdline").unwrap_or_default();
        IdleSettings {
            driver: root.read(&format!("{CPUIDLE}/current_driver")).ok(),
            governor: root.read(&format!("{CPUIDLE}/current_governor")).ok(),
            never_halts: words(command_line.as_bytes())
                .any(|word| NEVER_HALT.iter().any(|argument| word == argument.as_bytes())),
        }
    }

    /// Whether idle CPUs of a virtual machine spin for a while before they halt.
    pub fn polls_before_halt(&self) -> bool {
        self.driver.as_deref() == Some(HALTPOLL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tests::with_files;

    #[test]
    fn driver_governor_and_command_line_are_read() {
        let (_folder, root) = with_files(&[
            ("/sys/devices/system/cpu/cpuidle/current_driver", "haltpoll\n"),
            ("/sys/devices/system/cpu/cpuidle/current_governor", "haltpoll\n"),
            ("/proc/cmdline", "quiet idle=poll\n"),
        ]);
        let settings = IdleSettings::read(&root);
        assert!(settings.polls_before_halt() && settings.never_halts, "{settings:?}");
        assert_eq!(settings.governor.as_deref(), Some("haltpoll"));
        let (_folder, root) = with_files(&[("/proc/cmdline", "idle=polled\n")]);
        assert_eq!(IdleSettings::read(&root), IdleSettings::default());
    }
}
