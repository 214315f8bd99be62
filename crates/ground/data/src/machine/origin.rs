//! The origin of a profile.

use serde::{Deserialize, Serialize};

/// The origin of a profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Origin {
    /// Measured, imported or described.
    pub kind: OriginKind,
    /// The host, the file or the publication.
    pub source: String,
    /// The day, as `YYYY-MM-DD`; the day of the import if the file has none.
    #[serde(default)]
    pub date: Option<String>,
    /// The program that made the figures, with its version.
    #[serde(default)]
    pub tool: Option<String>,
}

/// How a profile was made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum OriginKind {
    /// Measured by this tool, on the machine.
    Measured,
    /// Imported from another tool's file.
    Imported,
    /// Computed from a hand-written description.
    Model,
}

impl OriginKind {
    /// The word used in profiles.
    pub fn word(self) -> &'static str {
        match self {
            OriginKind::Measured => "measured",
            OriginKind::Imported => "imported",
            OriginKind::Model => "model",
        }
    }
}
