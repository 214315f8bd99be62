//! Figures of models with their sources.

use crate::ModelError;
use seatmap_data::document::{Position, parser_message};
use seatmap_data::machine::description::Basis;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// One figure, its basis, and its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFigure {
    /// Figure, in the unit at the end of its key.
    pub value: f64,
    /// Basis of the figure: stated, fitted, or assumed.
    pub kind: Basis,
    /// Publication that states it, the data of the fit, or the reason to assume it.
    pub source: String,
}

impl ModelFigure {
    /// The figure as a whole number.
    pub fn whole(&self) -> u64 {
        self.value.round() as u64
    }

    pub(crate) fn ticks(&self, ticks_per_cycle: u32) -> u64 {
        (self.value * f64::from(ticks_per_cycle)).round() as u64
    }
}

/// Declares a struct of figures whose fields can be listed with their keys.
macro_rules! figures {
    ($about:literal, $($(#[doc = $doc:literal])+ $name:ident,)+) => {
        #[doc = $about]
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct CoherentFigures {
            $($(#[doc = $doc])+ pub $name: $crate::figure::ModelFigure,)+
        }

        impl CoherentFigures {
            /// Each figure with its key.
            pub fn all(
                &self,
            ) -> impl Iterator<Item = (&'static str, &$crate::figure::ModelFigure)> {
                [$((stringify!($name), &self.$name),)+].into_iter()
            }
        }
    };
}
pub(crate) use figures;

/// Reads TOML.
///
/// # Errors
/// [`ModelError`] with the position of the mistake; `name` is the name of the text.
pub fn parsed<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, ModelError> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        // An error without a position concerns the whole text.
        let at = error.span().map_or(0, |span| span.start);
        let Position { line, column } = Position::of(text.as_bytes(), at);
        ModelError {
            place: format!("{name}:{line}:{column}"),
            message: parser_message(error.message()),
        }
    })
}
