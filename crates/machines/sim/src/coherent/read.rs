//! Reads a coherent machine: from its own file, or from the distances of a profile.

use crate::ModelError;
use crate::coherent::CoherentModel;
use crate::coherent::hierarchy::{self, Hierarchy};
use crate::coherent::written::Written;
use crate::figure::parsed;
use seatmap_data::machine::Profile;

impl CoherentModel {
    /// Reads a model and checks that it can run.
    ///
    /// # Errors
    /// [`ModelError`]; `name` is the name of the text in its message.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, ModelError> {
        match hierarchy::kind_of_fabric(text).as_deref() {
            Some("levels") => Hierarchy::read(name, text)?.model(name),
            None | Some("ring" | "mesh") => parsed::<Written>(name, text)?.model(name),
            Some(other) => Err(ModelError::impossible(
                name,
                format!("unknown fabric.kind '{other}'; expected ring, mesh or levels"),
            )),
        }
    }

    /// A hierarchical machine (SMT siblings, caches, dies, packages) from core distances, which the
    /// simulation reproduces to the tick. Figures missing in profiles (busy times of directories
    /// and links) come from [`hierarchy::ORDINARY`].
    ///
    /// # Errors
    /// [`ModelError`], for a profile without topology, distances or a sufficient frequency.
    pub fn from_profile(
        profile: &Profile,
        summary: &str,
        frequency_ghz: f64,
    ) -> Result<Self, ModelError> {
        Hierarchy::described(profile, summary, frequency_ghz)?.model(&profile.name)
    }
}
