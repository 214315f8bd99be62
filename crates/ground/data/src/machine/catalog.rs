//! The machines bundled with Seatmap: the descriptions and models in `machines/`, compiled in.

use crate::document::DocumentError;
use crate::machine::{Description, Profile, zoo};

/// The name and text of each machine in a folder.
macro_rules! machines_in {
    ($folder:literal: $($name:literal,)*) => {
        [$(($name, include_str!(concat!("../../", $folder, "/", $name, ".toml"))),)*]
    };
}

pub(super) use machines_in;

/// The name and text of each bundled machine; names are those of the files.
const MACHINES: [(&str, &str); 13] = machines_in![
    "machines":
    "core-i9-12900k",
    "epyc-7r13-2s",
    "epyc-9654-2s",
    "graviton3",
    "kunpeng-920",
    "ryzen-5950x",
    "ryzen-7950x3d",
    "scc-48",
    "threadripper-3960x",
    "xeon-8375c-2s",
    "xeon-e5-2680-2s",
    "xeon-e5-2695v4-2s",
    "xeon-phi-5110p",
];

/// Why a bundled machine could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// No bundled machine has this name.
    #[error("no machine called '{name}' comes with Seatmap{}", hint(*.nearest))]
    Unknown {
        /// Given name.
        name: String,
        /// A similar name.
        nearest: Option<&'static str>,
    },
    /// The bundled machine is a model, which the simulator reads, or its description is wrong.
    #[error("the bundled machine '{0}': {1}")]
    Invalid(String, #[source] DocumentError),
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!("; did you mean '{nearest}'?")).unwrap_or_default()
}

/// The names of all bundled machines, in alphabetical order.
pub fn names() -> impl Iterator<Item = &'static str> {
    MACHINES.iter().map(|(name, _)| *name)
}

/// The text of a bundled machine, as TOML: a description, or a model for `seatmap_sim`.
pub fn find(name: &str) -> Option<&'static str> {
    MACHINES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The profile that a bundled machine's description predicts.
///
/// # Errors
/// [`CatalogError::Unknown`] with the nearest name, if no machine has this name.
///
/// ```
/// let error = seatmap_data::machine::catalog::load("epic-7r13-2s").unwrap_err();
/// let expected = "no machine called 'epic-7r13-2s' comes with Seatmap; \
///     did you mean 'epyc-7r13-2s'?";
/// assert_eq!(error.to_string(), expected);
/// ```
pub fn load(name: &str) -> Result<Profile, CatalogError> {
    let text = find(name)
        .ok_or_else(|| CatalogError::Unknown { name: name.to_owned(), nearest: suggest(name) })?;
    let description = Description::from_toml(text)
        .map_err(|error| CatalogError::Invalid(name.to_owned(), error))?;
    Ok(description.to_profile())
}

/// The bundled machine nearest to a mistyped name: one that begins with or contains it, or else
/// that with the fewest edits, at most a third of the letters.
pub fn suggest(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let longest = known().map(str::len).max().unwrap_or(0);
    // The comparison takes the product of both lengths, and a name may be a whole file by mistake.
    if name.is_empty() || name.len() > 2 * longest {
        return None;
    }
    let containing =
        known().filter(|known| known.contains(&name)).min_by_key(|known| known.find(&name));
    containing.or_else(|| {
        known()
            .min_by_key(|known| edits(&name, known))
            .filter(|known| 3 * edits(&name, known) <= known.len())
    })
}

fn known() -> impl Iterator<Item = &'static str> {
    names().chain(zoo::names())
}

/// The Levenshtein distance: characters to insert, delete or replace.
pub fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        // One row of the table of Wagner & Fischer 1974, overwritten from left to right.
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_file_is_bundled() {
        let folder =
            std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../machines")).unwrap();
        let files = folder.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        let mut files: Vec<String> =
            files.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
        files.sort();
        assert_eq!(files, names().map(|name| format!("{name}.toml")).collect::<Vec<_>>());
    }

    #[test]
    fn bundled_descriptions_load_under_their_names() {
        let described = names().filter_map(|name| Some((name, load(name).ok()?)));
        let checked = described.map(|(name, profile)| {
            assert_eq!(profile.name, name);
            profile.check().unwrap();
        });
        assert_eq!(checked.count(), 11, "the others are models");
    }

    #[test]
    fn edit_distance_counts_edits() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("same", "same"), 0);
    }

    #[test]
    fn misspelt_machine_name_gets_a_suggestion() {
        let suggested = ["gravitn3", "EPYC", "12900k", "xeon-e5-2680"].map(suggest);
        let names = ["graviton3", "epyc-7r13-2s", "core-i9-12900k", "xeon-e5-2680-2s"];
        assert_eq!(suggested, names.map(Some));
        assert_eq!(["power7", "", &"x".repeat(1 << 20)].map(suggest), [None; 3]);
    }
}
