//! The Cell models that come with Seatmap, compiled in.

use crate::CellModel;
use seatmap_sim::ModelError;
use std::sync::Arc;

const MODELS: [(&str, &str); 3] = [
    ("cell-ps3", include_str!("../machines/cell-ps3.toml")),
    ("cell-qs20", include_str!("../machines/cell-qs20.toml")),
    ("cell-qs22", include_str!("../machines/cell-qs22.toml")),
];

const FAMILY: &str = "seatmap-model/";

/// The models' names.
pub fn names() -> impl Iterator<Item = &'static str> {
    MODELS.iter().map(|(name, _)| *name)
}

/// The model with this name, if any.
///
/// # Errors
/// [`ModelError`] if a bundled model is wrong, which is a bug in Seatmap.
pub fn load(name: &str) -> Option<Result<Arc<CellModel>, ModelError>> {
    let (_, text) = MODELS.iter().find(|(known, _)| *known == name)?;
    Some(CellModel::from_toml(name, text).map(Arc::new))
}

/// Whether a text declares itself a Cell model.
pub fn is_model(text: &str) -> bool {
    text.lines().any(|line| {
        let value = line.trim_start().strip_prefix("format").unwrap_or_default();
        value.trim_start_matches([' ', '\t', '=', '"', '\'']).starts_with(FAMILY)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bundled_model_is_sound() {
        for name in names() {
            let model = load(name).unwrap().unwrap();
            assert_eq!(model.name, name);
            assert!(model.figures.all().all(|(_, figure)| !figure.source.is_empty()));
        }
    }
}
