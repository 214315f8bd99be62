//! The order of requests that cannot all be granted at once.

use std::fmt;
use std::str::FromStr;

/// The highest priority; 0 is the default.
pub const HIGHEST_PRIORITY: u8 = 9;

/// The waiting time that equals one step of priority, in ms: later requests pass a request for at
/// most [`HIGHEST_PRIORITY`] times this.
pub const AGEING_MS: u64 = 60_000;

/// The order in which requests are granted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// The oldest request first.
    #[default]
    Fifo,
    /// The highest priority first; one step equals [`AGEING_MS`] of waiting.
    Priority,
    /// The user with the least recent usage first, see [`crate::usage`]; a CPU-ms equals 1 ms of
    /// waiting.
    Fair,
}

impl Policy {
    /// All policies.
    pub const ALL: [Policy; 3] = [Policy::Fifo, Policy::Priority, Policy::Fair];

    /// The policy's name on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Policy::Fifo => "fifo",
            Policy::Priority => "priority",
            Policy::Fair => "fair",
        }
    }
}

/// The error for an unknown policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a policy; write fifo, priority or fair")]
pub struct QueuePolicyError(String);

impl FromStr for Policy {
    type Err = QueuePolicyError;

    fn from_str(text: &str) -> Result<Self, QueuePolicyError> {
        Policy::ALL
            .into_iter()
            .find(|policy| policy.word() == text)
            .ok_or_else(|| QueuePolicyError(text.to_owned()))
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.word().fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_names_round_trip() {
        for policy in Policy::ALL {
            assert_eq!(policy.to_string().parse(), Ok(policy));
        }
        assert!("FIFO".parse::<Policy>().is_err());
    }
}
