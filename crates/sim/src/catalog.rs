//! The models that come with Seatmap, compiled in.

use crate::{CellModel, ModelError};

const MODELS: [(&str, &str); 3] = [
    ("cell-ps3", include_str!("../../../machines/cell-ps3.toml")),
    ("cell-qs20", include_str!("../../../machines/cell-qs20.toml")),
    ("cell-qs22", include_str!("../../../machines/cell-qs22.toml")),
];

/// The names of all bundled models.
pub fn names() -> impl Iterator<Item = &'static str> {
    MODELS.iter().map(|(name, _)| *name)
}

/// A bundled model; `None` where none has this name.
///
/// # Errors
/// A bundled model that is wrong, which is a mistake of Seatmap's.
pub fn load(name: &str) -> Option<Result<CellModel, ModelError>> {
    let (name, text) = MODELS.iter().find(|(known, _)| *known == name)?;
    Some(CellModel::from_toml(name, text))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_bundled_model_is_sound() {
        for name in super::names() {
            let model = super::load(name).unwrap().unwrap();
            assert_eq!(model.name, name);
            assert!(model.figures.all().all(|(_, figure)| !figure.source.is_empty()));
        }
    }
}
