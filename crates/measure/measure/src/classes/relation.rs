//! The relation of two PUs: the levels of the hierarchy that they share.

use crate::appraise::nested::word;
use crate::fit::groups::partition;
use crate::fit::{self, siblings};
use crate::schedule::all_pairs;
use seatmap_data::machine::{CoreDistance, Level, Profile, Pu, Topology};
use seatmap_data::statistics::{greatest, least, median};
use std::collections::{BTreeSet, HashMap};

/// Packages get separate classes if their own pairs differ by more than this ratio.
const UNEQUAL: f64 = 1.25;

/// The levels above the core, from the finest.
pub const LEVELS: [Level; 5] = [Level::L2, Level::L3, Level::Die, Level::Numa, Level::Package];

/// The relation of any two PUs of a profile, given by their rows.
pub struct Relations {
    /// Core of each PU.
    pub core: Vec<usize>,
    /// Group of each PU in the home model; one group without a model.
    pub group: Vec<usize>,
    /// Sphere of each PU: its package, otherwise near groups.
    pub sphere: Vec<usize>,
    pus: Vec<Pu>,
    levels: Vec<Level>,
    split_groups: Vec<Level>,
    unequal: bool,
}

impl Relations {
    /// The relations in a profile.
    pub fn of(profile: &Profile, distance: &CoreDistance) -> Self {
        let model = fit::model_of(profile);
        let group = model.as_ref().map(|model| model.group_of(&distance.pus)).unwrap_or_default();
        let mut relations = Relations {
            core: siblings::cores(distance, &profile.topology),
            group: distance
                .pus
                .iter()
                .enumerate()
                .map(|(at, _)| group.get(at).copied().flatten().unwrap_or(0))
                .collect(),
            sphere: Vec::new(),
            pus: pus(&profile.topology, &distance.pus),
            levels: Vec::new(),
            split_groups: Vec::new(),
            unequal: false,
        };
        relations.levels = relations.telling_levels();
        relations.sphere = match relations.packages() {
            Some(packages) => packages,
            None => relations
                .spheres_of_groups(model.as_ref().map(|model| partition(&model.between_ns))),
        };
        relations.split_groups = relations.mixed_levels();
        relations.unequal = relations.spheres_differ(distance);
        relations
    }

    /// The relation of the PUs in two rows, in words.
    pub fn name(&self, i: usize, j: usize) -> String {
        if self.core[i] == self.core[j] {
            return "SMT siblings".to_owned();
        }
        match self.level(i, j) {
            Some((level, true)) => self.name_of_shared(level, i, j),
            Some((level, false)) => format!("other {}", word(level)),
            None => self.name_by_group(i, j).to_owned(),
        }
    }

    fn name_of_shared(&self, level: Level, i: usize, j: usize) -> String {
        let word = word(level);
        let name = match (self.split_groups.contains(&level), self.group[i] == self.group[j]) {
            (false, _) => format!("same {word}"),
            (true, true) => format!("same {word}, same group"),
            (true, false) => format!("same {word}, other group"),
        };
        match self.pus[i].package.filter(|_| self.unequal && level == Level::Package) {
            Some(package) => format!("{name} ({package})"),
            None => name,
        }
    }

    fn name_by_group(&self, i: usize, j: usize) -> &'static str {
        match (self.group[i] == self.group[j], self.sphere[i] == self.sphere[j]) {
            (true, _) => "same group",
            (false, _) if self.sphere.iter().all(|sphere| *sphere == self.sphere[0]) => {
                "other group"
            }
            (false, true) => "other group, near",
            (false, false) => "other group, far",
        }
    }

    /// The finest shared level (`true`) or the coarsest (`false`), if any.
    fn level(&self, i: usize, j: usize) -> Option<(Level, bool)> {
        let mut levels = self.levels.iter();
        let shared = levels.find(|level| level.of(&self.pus[i]) == level.of(&self.pus[j]));
        let shared = shared.map(|level| (*level, true));
        shared.or_else(|| self.levels.last().map(|level| (*level, false)))
    }

    /// Levels known for every PU that differ from the next finer one.
    fn telling_levels(&self) -> Vec<Level> {
        let mut levels = Vec::new();
        let mut parts = self.core.iter().collect::<BTreeSet<_>>().len();
        // An equally large die or NUMA node adds nothing to the package, the coarsest level.
        let packages = self.count(Level::Package);
        for level in LEVELS {
            let Some(count) = self.count(level) else { continue };
            let repeats_package =
                matches!(level, Level::Die | Level::Numa) && packages == Some(count);
            if count < parts && !repeats_package {
                levels.push(level);
                parts = count;
            }
        }
        levels
    }

    fn count(&self, level: Level) -> Option<usize> {
        let numbers: Option<BTreeSet<u32>> = self.pus.iter().map(|pu| level.of(pu)).collect();
        numbers.map(|numbers| numbers.len())
    }

    fn packages(&self) -> Option<Vec<usize>> {
        self.count(Level::Package).filter(|count| *count > 1)?;
        self.pus.iter().map(|pu| pu.package.map(|package| package as usize)).collect()
    }

    fn spheres_of_groups(&self, sphere_of_group: Option<Vec<usize>>) -> Vec<usize> {
        let spheres = sphere_of_group.unwrap_or_default();
        self.group.iter().map(|group| spheres.get(*group).copied().unwrap_or(0)).collect()
    }

    /// Levels that contain pairs both within one group and across groups.
    fn mixed_levels(&self) -> Vec<Level> {
        let mut seen = HashMap::<Level, [bool; 2]>::new();
        for (i, j) in all_pairs(self.pus.len()) {
            if let Some((level, true)) = self.level(i, j).filter(|_| self.core[i] != self.core[j]) {
                seen.entry(level).or_default()[usize::from(self.group[i] == self.group[j])] = true;
            }
        }
        seen.into_iter().filter(|(_, seen)| seen[0] && seen[1]).map(|(level, _)| level).collect()
    }

    fn spheres_differ(&self, distance: &CoreDistance) -> bool {
        // The median distance between groups, inside each sphere.
        let mut inside = HashMap::<usize, Vec<f64>>::new();
        for (i, j, value) in distance.median_ns.pairs() {
            if self.sphere[i] == self.sphere[j] && self.group[i] != self.group[j] {
                inside.entry(self.sphere[i]).or_default().push(*value);
            }
        }
        let medians: Vec<f64> = inside.values().filter_map(median).collect();
        let low = least(&medians);
        let high = greatest(&medians);
        medians.len() > 1 && high > UNEQUAL * low
    }
}

fn pus(topology: &Topology, os: &[u32]) -> Vec<Pu> {
    os.iter()
        .map(|os| topology.pu(*os).cloned().unwrap_or(Pu { os: *os, ..Pu::default() }))
        .collect()
}
