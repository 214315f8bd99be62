//! Changes of a model's figures for one run.

use clap::Args;
use std::str::FromStr;

#[derive(Clone, Debug, PartialEq)]
pub struct FigureChange {
    pub key: String,
    pub value: f64,
}

impl FromStr for FigureChange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text
            .split_once('=')
            .and_then(|(key, value)| Some((key.trim(), value.trim().parse().ok()?)));
        match parts {
            Some((key, value)) if !key.is_empty() => {
                Ok(FigureChange { key: key.to_owned(), value })
            }
            _ => Err(
                "write a figure's key in the model's file and a number, such as snoop_cycles=200"
                    .to_owned(),
            ),
        }
    }
}

/// The changes of one run.
#[derive(Debug, Default, Args)]
pub struct FigureChanges {
    /// Change a figure of a Cell model for this run, by its key in the model file, to see its
    /// effect; can be repeated.
    #[arg(long, value_name = "FIGURE=VALUE")]
    pub set: Vec<FigureChange>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_change_parses_key_and_number() {
        let change = |key: &str, value| Ok(FigureChange { key: key.to_owned(), value });
        assert_eq!("snoop_cycles=1e2".parse(), change("snoop_cycles", 100.0));
        assert_eq!("beats = 8".parse(), change("beats", 8.0));
        for text in ["beats", "=8", "beats=", "beats=many"] {
            assert!(text.parse::<FigureChange>().is_err(), "{text}");
        }
    }
}
