//! `seatmap-profile/1`: everything known about one machine.

mod check;

use crate::document::DocumentError;
use crate::machine::{
    Bandwidth, Clock, CoreDistance, Environment, HomeModel, LoadedPoint, Origin, SeatSpeed,
    Topology, Wakeups,
};
use serde::{Deserialize, Serialize};

/// The value of the `format` key.
pub const FORMAT: &str = "seatmap-profile/1";

/// Everything known about one machine. Readers ignore unknown keys and refuse unknown versions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Profile {
    /// Name and version of the format.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: String,
    /// The machine's name for people: a host name, a processor, or a file's name without extension.
    pub name: String,
    /// The origin of the figures.
    pub origin: Origin,
    /// The circumstances of the measurement.
    #[serde(default)]
    pub environment: Environment,
    /// The clock behind the figures.
    #[serde(default)]
    pub clock: Clock,
    /// The hardware threads and the parts that they share.
    pub topology: Topology,
    /// Core distances of all pairs; null if unknown.
    #[serde(default)]
    pub core_distance: Option<CoreDistance>,
    /// The distances explained by groups and homes; null if no model fits.
    #[serde(default)]
    pub home_model: Option<HomeModel>,
    /// Core distances under load, by ascending number of pairs; empty if not measured.
    #[serde(default)]
    pub loaded: Vec<LoadedPoint>,
    /// The seed of the random pairs of `loaded`, to draw the same pairs again; `null` if unknown.
    #[serde(default)]
    pub loaded_seed: Option<u64>,
    /// The speed of each PU, relative to the fastest; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<SeatSpeed>,
    /// The cost of waking a sleeping thread, on the same CPU and on another one; absent if not
    /// measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wakeups: Option<Wakeups>,
    /// Memory bandwidth by number of threads; absent if not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Bandwidth>,
}

impl Profile {
    /// A profile with only a name, an origin and a topology.
    pub fn new(name: impl Into<String>, origin: Origin, topology: Topology) -> Self {
        Profile {
            format: FORMAT.to_owned(),
            name: name.into(),
            origin,
            environment: Environment::default(),
            clock: Clock::default(),
            topology,
            core_distance: None,
            home_model: None,
            loaded: Vec::new(),
            loaded_seed: None,
            speed: None,
            wakeups: None,
            bandwidth: None,
        }
    }

    /// Reads and checks a profile.
    ///
    /// # Errors
    /// [`DocumentError`], with line and column for invalid JSON.
    pub fn from_json(text: &str) -> Result<Self, DocumentError> {
        let profile: Profile = crate::document::read(text, FORMAT)?;
        profile.check()?;
        Ok(profile)
    }

    /// The profile as JSON with a final newline.
    pub fn to_json(&self) -> String {
        crate::document::written(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Deciles, Matrix, OriginKind};

    fn small() -> Profile {
        let origin =
            Origin { kind: OriginKind::Imported, source: "test".into(), date: None, tool: None };
        let mut profile = Profile::new("small", origin, Topology::unknown([0, 4]));
        let mut median_ns = Matrix::filled(2, 0.0);
        median_ns.set_both(0, 1, 80.0);
        profile.core_distance = Some(CoreDistance::imported(vec![0, 4], median_ns));
        profile
    }

    #[test]
    fn reader_ignores_unknown_keys_and_refuses_unknown_versions() {
        let text = small().to_json().replacen('{', "{\"colour\": [1, {}],", 1);
        assert_eq!(Profile::from_json(&text).unwrap(), small());
        let text = small().to_json().replace("profile/1", "profile/9");
        assert!(
            matches!(Profile::from_json(&text), Err(DocumentError::Format { found, .. }) if found == "seatmap-profile/9")
        );
    }

    #[test]
    fn asymmetric_distances_are_refused() {
        let mut profile = small();
        let distance = profile.core_distance.as_mut().unwrap();
        distance.median_ns[(0, 1)] = 3.0;
        let error = profile.check().unwrap_err().to_string();
        assert_eq!(
            error,
            "core_distance.median_ns[0][1] is 3, but [1][0] is 80; they must be equal"
        );
        profile.core_distance.as_mut().unwrap().median_ns.set_both(0, 1, f64::NAN);
        profile.check().unwrap();
    }

    #[test]
    fn deciles_need_one_ascending_row_per_pair() {
        let mut profile = small();
        let mut told = |deciles: Vec<Option<Deciles>>| {
            profile.core_distance.as_mut().unwrap().deciles_ns = Some(deciles);
            profile.check().map_err(|error| error.to_string())
        };
        let ascending: Deciles = std::array::from_fn(|at| 70.0 + at as f64);
        assert_eq!(told(vec![Some(ascending)]).and_then(|()| told(vec![None])), Ok(()));
        assert_eq!(told(vec![]).unwrap_err(), "core_distance.deciles_ns has 0 rows for 1 pair");
        for wrong in [f64::NAN, -1.0, 99.0] {
            let mut row = ascending;
            row[0] = wrong;
            assert_eq!(
                told(vec![Some(row)]).unwrap_err(),
                "core_distance.deciles_ns[0] must ascend from 0 or more"
            );
        }
    }

    #[test]
    fn check_errors_name_the_bad_part() {
        let mut profile = small();
        profile.topology = Topology::unknown([0, 1]);
        assert_eq!(
            profile.check().unwrap_err().to_string(),
            "core_distance.pus: PU 4 is not in topology.pus"
        );
        let text = small().to_json().replace("80.0", "-80.0");
        let error = Profile::from_json(&text).unwrap_err().to_string();
        assert_eq!(error, "core_distance.median_ns[0][1] is negative: -80");
        let error = Profile::from_json("{\n \"format\": 3}").unwrap_err().to_string();
        assert!(error.starts_with("line 2, column 12: invalid type: integer"), "{error}");
    }

    #[test]
    fn distance_beyond_limit_is_refused() {
        let longest = small().to_json().replace("80.0", "2e9");
        assert!(Profile::from_json(&longest).is_ok());
        let error = Profile::from_json(&longest.replace("2e9", "1e100")).unwrap_err().to_string();
        let place = "line 1, column ";
        assert!(error.starts_with(place) && error.contains(": 1e100 ns is too long"), "{error}");
        let mut profile = small();
        profile.core_distance.as_mut().unwrap().median_ns.set_both(0, 1, f64::INFINITY);
        let error = profile.check().unwrap_err().to_string();
        assert!(error.starts_with("core_distance.median_ns[0][1]: inf ns is too long"), "{error}");
    }

    fn full() -> serde_json::Value {
        serde_json::from_str(include_str!("../../tests/all/machine/full_profile.json")).unwrap()
    }

    fn refusal(pointer: &str, with: f64) -> Option<String> {
        let mut value = full();
        *value.pointer_mut(pointer).unwrap() = if with.fract() == 0.0 && with.abs() < 1e10 {
            (with as i64).into()
        } else {
            with.into()
        };
        Profile::from_json(&value.to_string()).err().map(|error| error.to_string())
    }

    #[test]
    fn impossible_number_is_refused_with_its_key() {
        assert_eq!(refusal("/clock/step_ns", 1.0), None);
        let places = [
            ("/clock/step_ns", -1.0),
            ("/clock/frequency_hz", -1.0),
            ("/environment/steal_percent", -1.0),
            ("/environment/load_average", 1e300),
            ("/core_distance/median_ns/0/0", -1.0),
            ("/core_distance/median_ns/1/1", -1.0),
            ("/core_distance/regimes/0/pus/1", 7.0),
            ("/core_distance/regimes/0/regimes/0/median_ns", 1e300),
            ("/core_distance/regimes/0/regimes/0/share", 1.5),
            ("/core_distance/deciles_ns/0/10", 1e300),
            ("/core_distance/protocol/resolution_ns", -1.0),
            ("/core_distance/protocol/seconds", -1.0),
            ("/loaded/1/median_ns", -1.0),
            ("/loaded/1/p10_ns", 1e300),
            ("/loaded/0/p90_ns", -0.5),
            ("/loaded/0/pairs", 2.0),
            ("/home_model/r2", 1.5),
            ("/home_model/residual_ns", -1.0),
            ("/home_model/star_r2", -1e300),
            ("/home_model/smt_ns", -1.0),
            ("/home_model/lines/confidence", 2.0),
            ("/home_model/lines/home_of_line/1", 2.0),
            ("/home_model/lines/nearest_pu/1", 3.0),
            ("/topology/pus/1/os", 4e9),
        ];
        let all: Vec<String> = places
            .map(|(place, with)| refusal(place, with).unwrap_or_else(|| format!("{place}: read")))
            .into();
        insta::assert_snapshot!(all.join("\n"));
    }

    #[test]
    fn non_finite_numbers_are_refused() {
        let mut profile = Profile::from_json(&full().to_string()).unwrap();
        profile.loaded[1].p90_ns = f64::NAN;
        let error = profile.check().unwrap_err().to_string();
        assert_eq!(error, "loaded[1].p90_ns is NaN, but must be from 0e0 to 2e9");
        profile.loaded[1].p90_ns = f64::INFINITY;
        assert!(profile.check().unwrap_err().to_string().starts_with("loaded[1].p90_ns is inf"));
    }
}
