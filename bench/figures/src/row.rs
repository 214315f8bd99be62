//! A line of the table.

pub struct FigureRow {
    pub what: String,
    pub got: String,
    pub target: String,
    /// Whether the result meets the target; `None` for an informative figure.
    pub met: Option<bool>,
}

impl FigureRow {
    pub fn held(
        what: impl Into<String>,
        got: impl Into<String>,
        target: impl Into<String>,
        met: bool,
    ) -> Self {
        FigureRow { what: what.into(), got: got.into(), target: target.into(), met: Some(met) }
    }

    pub fn info(what: impl Into<String>, got: impl Into<String>) -> Self {
        FigureRow { what: what.into(), got: got.into(), target: String::new(), met: None }
    }

    pub fn verdict(&self) -> &'static str {
        match self.met {
            Some(true) => "met",
            Some(false) => "MISS",
            None => "",
        }
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "what": self.what, "got": self.got, "wanted": self.target, "met": self.met,
        })
    }
}
