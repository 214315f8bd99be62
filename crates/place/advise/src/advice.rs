//! The `seatmap-advice/1` format: the advice for a program and its evidence.

use crate::commands::Paste;
use crate::conclusion::{AdviceVerdict, Conclusion, Reason, conclude};
use crate::evidence::Evidence;
use seatmap_launch::sets::ComputerCpus;
use serde::{Deserialize, Serialize};

/// The format's name.
pub const FORMAT: &str = "seatmap-advice/1";

/// The advice for a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Advice {
    /// `seatmap-advice/1`.
    pub format: String,
    /// Seatmap's version.
    pub tool_version: String,
    /// The computer of the program.
    pub machine: String,
    /// The start of the look, as `2026-01-31T12:00:00Z`.
    pub begun: String,
    /// The conclusion.
    pub conclusion: Conclusion,
    /// The command to paste, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paste: Option<Paste>,
    /// The evidence for the conclusion.
    pub evidence: Evidence,
}

impl Advice {
    /// The advice that follows from the evidence.
    pub fn of(machine: &str, begun: &str, evidence: Evidence) -> Self {
        let conclusion = conclude(&evidence);
        let paste = match &conclusion.reason {
            Reason::Better { seats } => Some(if evidence.has_goroutines {
                Paste::of_processes(seats, &evidence.pids, &evidence.cpus)
            } else {
                Paste::of_seats(seats, &evidence.pids, &evidence.cpus)
            }),
            Reason::Setting { finding } if conclusion.verdict == AdviceVerdict::DoThis => {
                let command = finding.remedy.clone();
                command.map(|command| Paste { command, undo: evidence.undo.clone(), word: None })
            }
            _ => None,
        };
        Advice {
            format: FORMAT.to_owned(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            machine: machine.to_owned(),
            begun: begun.to_owned(),
            conclusion,
            paste,
            evidence,
        }
    }

    /// Names the better seats by a word of the computer on which they were tried, if one fits.
    pub fn worded(mut self, computer: &ComputerCpus) -> Self {
        if let Reason::Better { seats } = &self.conclusion.reason {
            self.paste = self.paste.map(|paste| paste.worded(seats, computer));
        }
        self
    }
}
