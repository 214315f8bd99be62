//! `seatmap-profile/1`: everything known of one machine.

use crate::nanoseconds::too_long;
use crate::{
    Clock, CoreDistance, Deciles, Environment, HomeModel, Loaded, Matrix, Origin, SeatSpeed,
    Topology, Wakeups,
};
use seatmap_document::DocumentError;
use seatmap_statistics::words::counted;
use serde::{Deserialize, Serialize};

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-profile/1";

/// Everything known of one machine. Readers ignore keys that they do not know, and refuse versions
/// that they do not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Profile {
    /// Name and version of the format.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: String,
    /// The machine's name for people: a host name, a processor, a file's stem.
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
    /// Core distances of all pairs; null where none are known.
    #[serde(default)]
    pub core_distance: Option<CoreDistance>,
    /// The distances explained by groups and homes; null where they could not be.
    #[serde(default)]
    pub home_model: Option<HomeModel>,
    /// Core distances under load, by ascending number of pairs; empty where they were not measured.
    #[serde(default)]
    pub loaded: Vec<Loaded>,
    /// The seed of the random pairs of `loaded`, so that the very same ones can be drawn again;
    /// `null` where it is unknown.
    #[serde(default)]
    pub loaded_seed: Option<u64>,
    /// How fast each PU works, relative to the fastest; absent where that is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<SeatSpeed>,
    /// The cost of waking a thread that sleeps, on the same CPU and on another one; absent where it
    /// was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wakeups: Option<Wakeups>,
}

impl Profile {
    /// A profile with nothing but a name, an origin and a topology.
    #[must_use]
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
        }
    }

    /// Reads a profile and checks that its parts fit together.
    ///
    /// # Errors
    /// [`DocumentError`], with line and column for text that is not such JSON.
    pub fn from_json(text: &str) -> Result<Self, DocumentError> {
        let profile: Profile = seatmap_document::read(text, FORMAT)?;
        profile.check()?;
        Ok(profile)
    }

    /// The profile as JSON with a final newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        seatmap_document::written(self)
    }

    /// Checks sizes, references and values.
    ///
    /// # Errors
    /// [`DocumentError::Inconsistent`] with the first thing found wrong.
    pub fn check(&self) -> Result<(), DocumentError> {
        check_unique("topology.pus", self.topology.os_indices())?;
        if let Some(distance) = &self.core_distance {
            check_core_distance(distance, &self.topology)?;
        }
        if let Some(model) = &self.home_model {
            check_home_model(model, self.core_distance.as_ref())?;
        }
        if let Some(speed) = &self.speed {
            check_speed(speed, &self.topology)?;
        }
        if let Some(problem) =
            self.wakeups.as_ref().and_then(|wakeups| wakeups.problem(&self.topology))
        {
            return wrong(format!("wakeups.{problem}"));
        }
        Ok(())
    }
}

fn wrong<T>(what: String) -> Result<T, DocumentError> {
    Err(DocumentError::Inconsistent(what))
}

fn check_unique(what: &str, os: impl Iterator<Item = u32>) -> Result<(), DocumentError> {
    let mut seen = std::collections::HashSet::new();
    for os in os {
        if !seen.insert(os) {
            return wrong(format!("{what}: PU {os} stands there twice"));
        }
    }
    Ok(())
}

fn check_speed(speed: &SeatSpeed, topology: &Topology) -> Result<(), DocumentError> {
    check_unique("speed.pus", speed.pus.iter().copied())?;
    if let Some(os) = speed.pus.iter().find(|os| topology.pu(**os).is_none()) {
        return wrong(format!("speed.pus: PU {os} is not in topology.pus"));
    }
    match speed.problem() {
        Some(problem) => wrong(format!("speed.{problem}")),
        None => Ok(()),
    }
}

fn check_core_distance(distance: &CoreDistance, topology: &Topology) -> Result<(), DocumentError> {
    check_unique("core_distance.pus", distance.pus.iter().copied())?;
    // A set, because thousands of PUs are looked up.
    let known: std::collections::HashSet<u32> = topology.os_indices().collect();
    if let Some(os) = distance.pus.iter().find(|os| !known.contains(os)) {
        return wrong(format!("core_distance.pus: PU {os} is not in topology.pus"));
    }
    let named = [
        ("median_ns", Some(&distance.median_ns)),
        ("p10_ns", distance.p10_ns.as_ref()),
        ("mad_ns", distance.mad_ns.as_ref()),
        ("ci95_low_ns", distance.ci95_low_ns.as_ref()),
        ("ci95_high_ns", distance.ci95_high_ns.as_ref()),
    ];
    for (name, matrix) in named.into_iter().filter_map(|(name, matrix)| Some((name, matrix?))) {
        check_matrix(name, matrix, distance.pus.len())?;
    }
    check_deciles(distance)?;
    if distance.status.n() == distance.pus.len() {
        Ok(())
    } else {
        wrong(format!(
            "core_distance.status has {} for {}",
            counted(distance.status.n(), "row"),
            counted(distance.pus.len(), "PU")
        ))
    }
}

fn check_deciles(distance: &CoreDistance) -> Result<(), DocumentError> {
    let Some(deciles) = &distance.deciles_ns else { return Ok(()) };
    let pairs = distance.pus.len() * distance.pus.len().saturating_sub(1) / 2;
    if deciles.len() != pairs {
        return wrong(format!(
            "core_distance.deciles_ns has {} for {}",
            counted(deciles.len(), "row"),
            counted(pairs, "pair")
        ));
    }
    match deciles.iter().position(|row| !row.as_ref().is_none_or(ascend)) {
        Some(at) => {
            wrong(format!("core_distance.deciles_ns[{at}] does not ascend from 0 or above"))
        }
        None => Ok(()),
    }
}

fn ascend(row: &Deciles) -> bool {
    row[0] >= 0.0 && row.windows(2).all(|two| two[0] <= two[1])
}

fn check_matrix(name: &str, matrix: &Matrix, n: usize) -> Result<(), DocumentError> {
    if matrix.n() != n {
        return wrong(format!(
            "core_distance.{name} has {} for {}",
            counted(matrix.n(), "row"),
            counted(n, "PU")
        ));
    }
    for i in 0..n {
        // Unknown distances are not a number, and so are not below 0.
        if let Some(j) = matrix.row(i).iter().position(|cell| *cell < 0.0) {
            return wrong(format!(
                "core_distance.{name}[{i}][{j}] is negative: {}",
                matrix[(i, j)]
            ));
        }
    }
    check_length(&format!("core_distance.{name}"), (0..n).map(|i| matrix.row(i)))?;
    check_symmetric(&format!("core_distance.{name}"), matrix)
}

/// Profiles that were not read from a file must keep to the limits of files.
fn check_length<'a>(
    name: &str,
    rows: impl Iterator<Item = &'a [f64]>,
) -> Result<(), DocumentError> {
    for (i, row) in rows.enumerate() {
        if let Some((j, problem)) =
            row.iter().enumerate().find_map(|(j, ns)| Some((j, too_long(*ns)?)))
        {
            return wrong(format!("{name}[{i}][{j}]: {problem}"));
        }
    }
    Ok(())
}

/// A round trip is the same from both ends, and searches that trust in that would never end where
/// it is not.
fn check_symmetric(name: &str, matrix: &Matrix) -> Result<(), DocumentError> {
    match matrix.pairs().find(|(i, j, there)| {
        let back = matrix[(*j, *i)];
        // Two that are unknown are alike, though NaN is never equal.
        **there != back && !(there.is_nan() && back.is_nan())
    }) {
        Some((i, j, there)) => wrong(format!(
            "{name}[{i}][{j}] is {there}, and [{j}][{i}] is {}: make them equal",
            matrix[(j, i)]
        )),
        None => Ok(()),
    }
}

fn check_home_model(
    model: &HomeModel,
    distance: Option<&CoreDistance>,
) -> Result<(), DocumentError> {
    let Some(distance) = distance else {
        return wrong("home_model stands there without core_distance".to_owned());
    };
    check_unique("home_model.groups", model.groups.iter().flatten().copied())?;
    if let Some(os) = model.groups.iter().flatten().find(|os| !distance.pus.contains(os)) {
        return wrong(format!("home_model.groups: PU {os} is not in core_distance.pus"));
    }
    if model.between_ns.n() != model.groups.len() {
        let rows = model.between_ns.n();
        let groups = model.groups.len();
        return wrong(format!(
            "home_model.between_ns has {} for {}",
            counted(rows, "row"),
            counted(groups, "group")
        ));
    }
    check_symmetric("home_model.between_ns", &model.between_ns)?;
    if model.offset_ns.len() != distance.pus.len() {
        let rows = model.offset_ns.len();
        let pus = distance.pus.len();
        return wrong(format!(
            "home_model.offset_ns has {} for {}",
            counted(rows, "row"),
            counted(pus, "PU")
        ));
    }
    check_length(
        "home_model.between_ns",
        (0..model.groups.len()).map(|i| model.between_ns.row(i)),
    )?;
    check_length("home_model.offset_ns", model.offset_ns.iter().map(Vec::as_slice))?;
    check_length("home_model.inside_ns", model.inside_ns.iter().flatten().map(Vec::as_slice))?;
    let homes = model.homes();
    if let Some(inside) = &model.inside_ns
        && (inside.len() != model.groups.len() || inside.iter().any(|row| row.len() != homes))
    {
        return wrong(format!(
            "home_model.inside_ns is not {} by {homes}",
            counted(model.groups.len(), "group"),
            homes = counted(homes, "home")
        ));
    }
    match model.offset_ns.iter().position(|row| row.len() != homes) {
        Some(bad) => {
            wrong(format!("home_model.offset_ns[{bad}] has another number of homes than row 0"))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OriginKind;

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
    fn survives_the_file() {
        assert_eq!(Profile::from_json(&small().to_json()).unwrap(), small());
    }

    #[test]
    fn keeps_the_promised_keys() {
        let value: serde_json::Value = serde_json::from_str(&small().to_json()).unwrap();
        for pointer in [
            "/format",
            "/name",
            "/origin/kind",
            "/clock/step_ns",
            "/topology/pus/0/os",
            "/topology/pus/0/l3",
        ] {
            assert!(value.pointer(pointer).is_some(), "{pointer}");
        }
        assert_eq!(value.pointer("/core_distance/median_ns/0/1").unwrap(), 80.0);
        assert_eq!(value.pointer("/core_distance/status/0/1").unwrap(), "imported");
    }

    #[test]
    fn unknown_fields_are_ignored_and_unknown_versions_refused() {
        let text = small().to_json().replacen('{', "{\"colour\": [1, {}],", 1);
        assert_eq!(Profile::from_json(&text).unwrap(), small());
        let text = small().to_json().replace("profile/1", "profile/9");
        assert!(
            matches!(Profile::from_json(&text), Err(DocumentError::Format { found, .. }) if found == "seatmap-profile/9")
        );
    }

    #[test]
    fn distances_are_the_same_both_ways() {
        let mut profile = small();
        let distance = profile.core_distance.as_mut().unwrap();
        distance.median_ns[(0, 1)] = 3.0;
        let error = profile.check().unwrap_err().to_string();
        assert_eq!(error, "core_distance.median_ns[0][1] is 3, and [1][0] is 80: make them equal");
        profile.core_distance.as_mut().unwrap().median_ns.set_both(0, 1, f64::NAN);
        profile.check().unwrap();
    }

    #[test]
    fn deciles_are_a_row_a_pair_and_ascend() {
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
                "core_distance.deciles_ns[0] does not ascend from 0 or above"
            );
        }
    }

    #[test]
    fn bad_parts_are_named() {
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
        assert!(error.starts_with("line 2, column 12: expected"), "{error}");
    }

    #[test]
    fn distances_have_an_end() {
        let longest = small().to_json().replace("80.0", "2e9");
        assert!(Profile::from_json(&longest).is_ok());
        let error = Profile::from_json(&longest.replace("2e9", "1e100")).unwrap_err().to_string();
        let place = "line 1, column ";
        assert!(
            error.starts_with(place) && error.contains(": 1e100 ns is beyond any machine"),
            "{error}"
        );
        let mut profile = small();
        profile.core_distance.as_mut().unwrap().median_ns.set_both(0, 1, f64::INFINITY);
        let error = profile.check().unwrap_err().to_string();
        assert!(
            error.starts_with("core_distance.median_ns[0][1]: inf ns is beyond any machine"),
            "{error}"
        );
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_overflow() {
        let text = format!("{{\"format\": {}", "[".repeat(100_000));
        assert!(matches!(Profile::from_json(&text), Err(DocumentError::Json { .. })));
    }
}
