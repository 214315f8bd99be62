//! A line of the table.

/// A benchmark's row: the figure's name, the result and the target.
pub struct FigureRow {
    /// The name of the figure.
    pub what: String,
    /// The result, with its unit.
    pub got: String,
    /// The target; empty for an informative figure.
    pub target: String,
    /// Whether the result meets the target; `None` for an informative figure.
    pub met: Option<bool>,
}

impl FigureRow {
    /// Creates a figure with a target.
    pub fn held(
        what: impl Into<String>,
        got: impl Into<String>,
        target: impl Into<String>,
        met: bool,
    ) -> Self {
        FigureRow { what: what.into(), got: got.into(), target: target.into(), met: Some(met) }
    }

    /// Creates an informative figure.
    pub fn info(what: impl Into<String>, got: impl Into<String>) -> Self {
        FigureRow { what: what.into(), got: got.into(), target: String::new(), met: None }
    }

    /// The word at the start of the line.
    pub fn verdict(&self) -> &'static str {
        match self.met {
            Some(true) => "met",
            Some(false) => "MISS",
            None => "",
        }
    }

    /// The row as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "what": self.what, "got": self.got, "wanted": self.target, "met": self.met,
        })
    }
}
