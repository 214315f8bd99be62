//! One line of the table.

/// A benchmark's row: the figure's name, the result and the target.
#[derive(Clone)]
pub struct Row {
    /// The name of the figure.
    pub what: String,
    /// The result, with its unit.
    pub got: String,
    /// The target; empty for a figure that only informs.
    pub wanted: String,
    /// Whether it is what was wanted; `None` where nothing was.
    pub met: Option<bool>,
}

impl Row {
    /// A figure held against a wish.
    pub fn held(
        what: impl Into<String>,
        got: impl Into<String>,
        wanted: impl Into<String>,
        met: bool,
    ) -> Self {
        Row { what: what.into(), got: got.into(), wanted: wanted.into(), met: Some(met) }
    }

    /// A figure that only informs.
    pub fn told(what: impl Into<String>, got: impl Into<String>) -> Self {
        Row { what: what.into(), got: got.into(), wanted: String::new(), met: None }
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
        let text = |key: &str| row.get(key)?.as_str().map(str::to_owned);
        Some(Row {
            what: text("what")?,
            got: text("got")?,
            wanted: text("wanted")?,
            met: row.get("met")?.as_bool(),
        })
    }

    /// The row as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({ "what": self.what, "got": self.got, "wanted": self.wanted, "met": self.met })
    }
}

/// Today, in UTC, as `YYYY-MM-DD`.
pub fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}
