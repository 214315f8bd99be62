//! Compares two profiles: their distance classes and the machines' differing facts.

use crate::classes::{DistanceClass, classes_with_distances};
use seatmap_data::machine::Profile;
use seatmap_data::statistics::signed_rank::between;
use seatmap_data::statistics::words::joined;
use seatmap_data::statistics::{Ordered, least};
use serde::Serialize;

const CONFIDENCE: f64 = 0.95;

/// More would not narrow the interval below the clock's resolution.
const MOST_PAIRS: usize = 500;

/// Name and version of the format.
pub const FORMAT: &str = "seatmap-comparison/1";

/// Two machines compared: the output of `seatmap compare --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfileComparison {
    /// Name and version of the format.
    format: String,
    /// The names of the two machines.
    pub machines: [String; 2],
    /// Whether both profiles name the same processor.
    pub same_processor: bool,
    /// The distance classes of both, nearest first.
    pub classes: Vec<ClassComparison>,
    /// The differing facts in both profiles' words; null if one lacks it.
    pub differences: Vec<FactDifference>,
}

/// One distance class on both machines.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassComparison {
    /// The relation of the pairs: `same L3`, `other package`...
    pub name: String,
    /// The number of pairs on each machine.
    pub pairs: [usize; 2],
    /// The median round trip on each machine; null without such pairs.
    pub median_ns: [Option<f64>; 2],
    /// The second machine's distances relative to the first's: the Hodges-Lehmann estimate of the
    /// ratio; with fewer than six pairs the ratio of the medians; null if one machine has no such
    /// pairs.
    pub ratio: Option<f64>,
    /// The 95 % confidence interval of the ratio; null with fewer than six pairs.
    pub ratio_ci95: Option<[f64; 2]>,
}

/// A fact that differs between the profiles.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FactDifference {
    /// The fact: `firmware`, `kernel`...
    pub fact: String,
    /// The fact in both profiles' words.
    pub values: [Option<String>; 2],
}

impl ProfileComparison {
    /// Compares two profiles. Omits classes and facts that neither has.
    pub fn of(first: &Profile, second: &Profile) -> Self {
        let [processor, other] = [first, second].map(|one| one.environment.cpu_model.as_ref());
        ProfileComparison {
            format: FORMAT.to_owned(),
            same_processor: processor.is_some() && processor == other,
            machines: [first.name.clone(), second.name.clone()],
            classes: classes(first, second),
            differences: differences(first, second),
        }
    }

    /// The class whose distances differ most; `None` without a common class.
    pub fn widest(&self) -> Option<&ClassComparison> {
        let known = self.classes.iter().filter(|class| class.ratio.is_some());
        known.max_by_key(|it| Ordered(it.distance()))
    }
}

impl ClassComparison {
    fn distance(&self) -> f64 {
        self.ratio.map_or(0.0, |ratio| ratio.ln().abs())
    }

    fn nearest_ns(&self) -> f64 {
        least(self.median_ns.iter().flatten())
    }

    /// Whether the whole interval is on one side of 1.
    pub fn is_shown(&self) -> bool {
        self.ratio_ci95.is_some_and(|[low, high]| low > 1.0 || high < 1.0)
    }
}

fn classes(first: &Profile, second: &Profile) -> Vec<ClassComparison> {
    let sides = [first, second].map(classes_with_distances);
    let mut names: Vec<&str> = Vec::new();
    for (class, _) in sides.iter().flatten() {
        if !names.contains(&class.name.as_str()) {
            names.push(&class.name);
        }
    }
    let mut classes: Vec<ClassComparison> =
        names.into_iter().map(|name| class(name, &sides)).collect();
    classes.sort_by_key(|it| Ordered(it.nearest_ns()));
    classes
}

fn class(name: &str, sides: &[Vec<(DistanceClass, Vec<f64>)>; 2]) -> ClassComparison {
    let found = sides.each_ref().map(|side| side.iter().find(|(class, _)| class.name == name));
    let medians = found.map(|class| class.map(|(class, _)| class.median_ns));
    let distances = found.map(|class| class.map_or(&[][..], |(_, distances)| distances));
    let ratio = shift_of_logarithms(distances);
    let of_medians = medians[0].zip(medians[1]).map(|(a, b)| b / a);
    ClassComparison {
        name: name.to_owned(),
        pairs: distances.map(<[f64]>::len),
        median_ns: medians,
        ratio: ratio.map(|[ratio, ..]| ratio).or(of_medians),
        ratio_ci95: ratio.map(|[_, low, high]| [low, high]),
    }
}

fn shift_of_logarithms(distances: [&[f64]; 2]) -> Option<[f64; 3]> {
    let [first, second] = distances.map(|values| {
        let positive = values.iter().filter(|value| **value > 0.0);
        thinned(positive.map(|value| value.ln()).collect())
    });
    let shift = between(&first, &second, CONFIDENCE)?;
    Some([shift.centre, shift.low, shift.high].map(f64::exp))
}

fn thinned(ascending: Vec<f64>) -> Vec<f64> {
    let count = ascending.len();
    if count <= MOST_PAIRS {
        return ascending;
    }
    (0..MOST_PAIRS).map(|at| ascending[at * (count - 1) / (MOST_PAIRS - 1)]).collect()
}

fn differences(first: &Profile, second: &Profile) -> Vec<FactDifference> {
    let [a, b] = [first, second].map(facts);
    let both = a.into_iter().zip(b).map(|((fact, first), (_, second))| (fact, [first, second]));
    both.filter(|(_, [first, second])| first != second)
        .map(|(fact, values)| FactDifference { fact: fact.to_owned(), values })
        .collect()
}

fn facts(profile: &Profile) -> Vec<(&'static str, Option<String>)> {
    let around = &profile.environment;
    let topology = &profile.topology;
    vec![
        ("processor", around.cpu_model.clone()),
        ("firmware", around.bios.clone()),
        ("microcode", around.microcode.clone()),
        ("hypervisor", around.hypervisor.clone()),
        ("kernel", around.kernel.clone()),
        ("governor", around.governor.clone()),
        ("turbo", around.turbo.map(|is_on| if is_on { "on" } else { "off" }.to_owned())),
        ("SMT", around.smt_word()),
        ("huge pages", around.thp.clone()),
        ("mitigations", (!around.mitigations.is_empty()).then(|| mitigations(profile))),
        ("PUs", Some(topology.pus.len().to_string())),
        ("cores", level(topology.count(|pu| pu.core))),
        ("L3 caches", level(topology.count(|pu| pu.l3))),
        ("dies", level(topology.count(|pu| pu.die))),
        ("NUMA nodes", level(topology.count(|pu| pu.numa))),
        ("packages", level(topology.count(|pu| pu.package))),
        ("measured by", profile.origin.tool.clone()),
    ]
}

fn level(count: usize) -> Option<String> {
    (count > 0).then(|| count.to_string())
}

fn mitigations(profile: &Profile) -> String {
    let known = profile.environment.mitigations.iter();
    let affected = known.filter(|(_, word)| *word != "Not affected");
    joined(affected.map(|(name, word)| format!("{name}: {word}")), "; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::machine::{Matrix, catalog};

    fn scaled(profile: &Profile, factor: f64) -> Profile {
        let mut other = profile.clone();
        if let Some(distance) = &mut other.core_distance {
            let before = distance.median_ns.clone();
            distance.median_ns = Matrix::from_fn(before.n(), |i, j| factor * before[(i, j)]);
            distance.deciles_ns = None;
        }
        other
    }

    #[test]
    fn comparison_with_itself_has_ratio_one() {
        let profile = catalog::load("epyc-7r13-2s").unwrap();
        let comparison = ProfileComparison::of(&profile, &profile);
        assert!(comparison.classes.len() > 2 && comparison.differences.is_empty());
        for class in &comparison.classes {
            assert_eq!(class.ratio, Some(1.0), "{class:?}");
            assert!(!class.is_shown(), "{class:?}");
        }
    }

    #[test]
    fn slower_machine_is_slower_by_its_factor() {
        let profile = catalog::load("epyc-7r13-2s").unwrap();
        let mut slower = scaled(&profile, 2.4);
        slower.environment.bios = Some("1.2".to_owned());
        let comparison = ProfileComparison::of(&profile, &slower);
        let widest = comparison.widest().unwrap();
        assert!((widest.ratio.unwrap() - 2.4).abs() < 0.01 && widest.is_shown(), "{widest:?}");
        let facts: Vec<&str> =
            comparison.differences.iter().map(|fact| fact.fact.as_str()).collect();
        assert_eq!(facts, ["firmware"]);
        assert!(!comparison.same_processor, "neither profile names one");
        slower.environment.cpu_model = Some("7R13".to_owned());
        assert!(ProfileComparison::of(&slower, &slower).same_processor);
    }

    #[test]
    fn classes_of_one_machine_have_no_ratio() {
        let first = catalog::load("graviton3").unwrap();
        let second = catalog::load("epyc-9654-2s").unwrap();
        let comparison = ProfileComparison::of(&first, &second);
        let alone = comparison.classes.iter().find(|class| class.name == "other package").unwrap();
        assert_eq!((alone.pairs[0], alone.ratio, alone.median_ns[0]), (0, None, None));
        assert!(alone.pairs[1] > 1000 && alone.median_ns[1].is_some());
    }
}
