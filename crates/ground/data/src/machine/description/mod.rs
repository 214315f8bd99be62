//! Machines described by hand, in TOML: `seatmap-machine/1`.
//!
//! A description lists the parts of a machine and one distance for each class, each with its
//! source. [`Description::to_profile`] turns it into a [`Profile`], to place threads on a machine
//! that is not at hand.
//!
//! | module | holds |
//! |---|---|
//! | [`shape`] | `[topology]`: the numbers of parts, and how the OS numbers them |
//! | [`class`] | the distance classes, from SMT siblings to other packages |
//! | [`distances`], [`parameter`] | `[distance]`: one figure with its source for each class |
//! | [`speed`] | `[speed]`: how fast the cores of a kind, or at an L3, are |
//! | [`home`] | `[home]`: the extra time of cores far from a line's home |
//!
//! ```
//! # use seatmap_data::machine::Description;
//! let description = Description::from_toml(r#"
//! format = "seatmap-machine/1"
//! name = "pair"
//! summary = "Two cores that share an L3"
//! sources = ["made up"]
//! [topology]
//! packages = 1
//! cores_per_l3 = 2
//! [distance]
//! same_l3 = { round_trip_ns = 45.0, kind = "assumption", source = "usual for a shared L3" }
//! "#)?;
//! let distance = description.to_profile().core_distance;
//! assert_eq!(distance.map(|it| it.median_ns[(0, 1)]), Some(45.0));
//! # Ok::<(), seatmap_data::document::DocumentError>(())
//! ```

mod check;
pub mod class;
pub mod distances;
pub mod home;
mod locate;
pub mod parameter;
mod predict;
mod seat;
pub mod shape;
pub mod speed;

pub use class::PairClass;
pub use distances::ClassDistances;
pub use home::Home;
pub use parameter::{Basis, RoundTripParameter};
pub use shape::{Hybrid, MachineShape, Numbering};
pub use speed::{RelativeSpeed, Speeds};

use crate::document::{DocumentError, read_toml};
use crate::machine::Profile;
use serde::{Deserialize, Serialize};
use std::ops::Deref;

/// The value of the `format` key.
pub const FORMAT: &str = "seatmap-machine/1";

/// A valid machine description.
///
/// Unknown keys are errors, unlike in files that programs write: a mistyped key would silently lose
/// its figure.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Description {
    written: Written,
}

/// A machine described by hand, in TOML. Unknown keys are errors, because they are typing mistakes.
// Apart from `Description`, which has passed the checks.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// Name and version of the format.
    pub format: String,
    /// The machine's name on the command line.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[a-z0-9._-]+$")))]
    pub name: String,
    /// A description in one line.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub summary: String,
    /// The publications and files behind the figures, each in one line with its licence if it has
    /// one.
    #[cfg_attr(feature = "schema", schemars(length(min = 1), inner(length(min = 1))))]
    pub sources: Vec<String>,
    /// Core frequency, in GHz, to convert figures in cycles.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(
        range(max = check::MAX_FREQUENCY_GHZ),
        extend("exclusiveMinimum" = 0)
    ))]
    pub frequency_ghz: Option<f64>,
    /// The parts of the machine: packages of dies of L3s of cores of threads.
    pub topology: MachineShape,
    /// One figure for each distance class of the machine.
    pub distance: ClassDistances,
    /// The home that the distances are for, if it matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<Home>,
    /// The speeds of cores by kind or L3, if they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<Speeds>,
}

impl Deref for Description {
    type Target = Written;

    fn deref(&self) -> &Written {
        &self.written
    }
}

impl Description {
    /// Reads and checks a description.
    ///
    /// # Errors
    /// [`DocumentError`], with line and column in the text.
    pub fn from_toml(text: &str) -> Result<Self, DocumentError> {
        // A file of another version is refused for its version, not for its unknown keys.
        let written: Written = read_toml(text, FORMAT)?;
        check::check(&written).map_err(|flaw| locate::placed(text, flaw))?;
        Ok(Description { written })
    }

    /// The predicted profile: full topology, every distance, and the home model.
    pub fn to_profile(&self) -> Profile {
        predict::profile(&self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEAD: &str = r#"
format = "seatmap-machine/1"
name = "pair"
summary = "Two cores"
sources = ["made up"]
"#;

    pub(super) fn dual(topology: &str, distance: &str, rest: &str) -> String {
        format!("{HEAD}[topology]\npackages = 2\n{topology}\n[distance]\n{distance}\n{rest}")
    }

    pub(super) fn figure(key: &str, ns: f64) -> String {
        format!(
            "{key} = {{ round_trip_ns = {ns:?}, kind = \"assumption\", source = \"made up\" }}\n"
        )
    }

    pub(super) fn refusal(text: &str) -> String {
        Description::from_toml(text).unwrap_err().to_string()
    }

    #[test]
    fn errors_name_line_and_column() {
        assert_eq!(
            refusal("format = \"seatmap-machine/1\"\nname = \n"),
            "line 2, column 8: string values must be quoted, expected literal string"
        );
        let text = dual("cores_per_l3 = 1", &figure("other_pakage", 200.0), "");
        let error = refusal(&text);
        let wanted = "line 10, column 1: unknown field `other_pakage`, expected one of `smt`";
        assert!(error.starts_with(wanted), "{error}");
        let error = refusal(&dual("cores_per_l3 = 0", "", ""));
        assert_eq!(error, "line 8, column 16: invalid value: integer `0`, expected a nonzero u32");
        let error = refusal(&dual("cores_per_l3 = 1", "", "[hmoe]\n"));
        assert!(error.contains("unknown field `hmoe`"), "{error}");
    }

    #[test]
    fn other_format_versions_are_refused() {
        let error = refusal("format = \"seatmap-machine/2\"\nnovelty = 1");
        assert_eq!(
            error,
            "its format is 'seatmap-machine/2', but this program reads seatmap-machine/1"
        );
        assert!(refusal("name = \"x\"").contains("missing field `format`"));
    }

    #[test]
    fn description_keeps_the_values_of_the_file() {
        let text = dual("cores_per_l3 = 1", &figure("other_package", 200.0), "");
        let description = Description::from_toml(&text).unwrap();
        assert_eq!((&*description.name, &*description.summary), ("pair", "Two cores"));
        assert_eq!(description.sources, ["made up"]);
        assert_eq!(description.topology.pus(), 2);
        assert_eq!(
            description.distance.get(PairClass::OtherPackage).unwrap().kind,
            Basis::Assumption
        );
        assert_eq!(description.distance.get(PairClass::Smt), None);
    }

    const COUNTS: [&str; 9] = [
        "packages",
        "numa_nodes_per_package",
        "dies_per_package",
        "l3_per_die",
        "cores_per_l3",
        "cores_per_cluster",
        "threads_per_core",
        "hybrid.efficiency_cores_per_l3",
        "hybrid.efficiency_cores_per_cluster",
    ];

    fn counted(counts: &[u32], hybrid: bool) -> String {
        let counts = COUNTS.iter().zip(counts).take(if hybrid { 9 } else { 7 });
        let topology: String = counts.map(|(key, count)| format!("{key} = {count}\n")).collect();
        let shape: MachineShape = toml::from_str(&topology).unwrap();
        let classes = (1..).zip(PairClass::ALL).filter(|(_, class)| shape.has(*class));
        let distance: String =
            classes.map(|(rank, class)| figure(class.key(), f64::from(rank))).collect();
        format!("{HEAD}[topology]\n{topology}\n[distance]\n{distance}")
    }

    proptest! {
        #[test]
        fn toml_round_trip_keeps_description(counts in prop::collection::vec(1u32..4, 9), hybrid: bool) {
            if let Ok(description) = Description::from_toml(&counted(&counts, hybrid)) {
                let text = toml::to_string(&description).unwrap();
                let again = Description::from_toml(&text).unwrap();
                prop_assert_eq!(again, description);
            }
        }

        #[test]
        fn accepted_description_makes_a_valid_profile(
            counts in prop::collection::vec(prop::sample::select(vec![1, 1, 2, 3, u32::MAX]), 9),
            hybrid: bool,
        ) {
            if let Ok(description) = Description::from_toml(&counted(&counts, hybrid)) {
                let profile = description.to_profile();
                prop_assert_eq!(profile.topology.pus.len() as u64, description.topology.pus());
                prop_assert_eq!(profile.check().map_err(|error| error.to_string()), Ok(()));
                let distance = profile.core_distance.unwrap();
                prop_assert!(distance.median_ns.pairs().all(|(_, _, ns)| *ns > 0.0));
            }
        }
    }
}
