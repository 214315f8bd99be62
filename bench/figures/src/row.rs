//! One line of the table.

/// A benchmark's row: the figure's name, the result and the target.
#[derive(Clone)]
pub struct Row {
    /// The name of the figure.
    pub what: String,
    /// The result, with its unit.
    pub got: String,
    /// The target; empty for a figure that only informs.
    pub target: String,
    /// Whether the result meets the target; `None` for a figure that only informs.
    pub met: Option<bool>,
}

impl Row {
    /// A figure held against its target.
    pub fn held(
        what: impl Into<String>,
        got: impl Into<String>,
        target: impl Into<String>,
        met: bool,
    ) -> Self {
        Row { what: what.into(), got: got.into(), target: target.into(), met: Some(met) }
    }

    /// A figure that only informs.
    pub fn info(what: impl Into<String>, got: impl Into<String>) -> Self {
        Row { what: what.into(), got: got.into(), target: String::new(), met: None }
    }

    /// The word in front of the line.
    pub fn verdict(&self) -> &'static str {
        match self.met {
            Some(true) => "met",
            Some(false) => "MISS",
            None => "",
        }
    }

    /// A row of an earlier run; `None` where the JSON is not a row.
    pub fn from_json(row: &serde_json::Value) -> Option<Self> {
        Some(Row {
            what: text(row, "what")?,
            got: text(row, "got")?,
            // The key that kept files have had from the first; the field has another name.
            target: text(row, "wanted")?,
            // Null, of a figure that only informs, becomes `None`.
            met: row.get("met")?.as_bool(),
        })
    }

    /// The row as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({ "what": self.what, "got": self.got, "wanted": self.target, "met": self.met })
    }
}

fn text(row: &serde_json::Value, key: &str) -> Option<String> {
    row.get(key)?.as_str().map(str::to_owned)
}
