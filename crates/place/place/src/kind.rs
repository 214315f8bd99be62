//! Restricts a request to seats of one kind, or to equal seats.

use crate::build::count;
use crate::{Level, PlaceError, PlaceRequest, no_distances, unfit};
use seatmap_data::machine::CoreKind;
use seatmap_data::statistics::Ordered;
use seatmap_data::statistics::words::counted;
use std::cmp::Reverse;

/// PUs within this share of the fastest are equal.
const EQUAL: f64 = 0.05;

impl PlaceRequest<'_> {
    /// Restricts the request to PUs of one kind of core.
    ///
    /// # Errors
    /// There is no such PU, or a task is fixed on another one.
    pub fn only(&mut self, kind: CoreKind) -> Result<(), PlaceError> {
        let all = self.allowed_in_order()?;
        let chosen: Vec<u32> =
            all.iter().copied().filter(|os| self.kind_of(*os) == Some(kind)).collect();
        if chosen.is_empty() {
            let machine = &self.profile.name;
            let why = if all.iter().any(|os| self.kind_of(*os).is_some()) {
                format!("{machine} has no usable CPU of that kind")
            } else {
                format!("the topology of {machine} does not distinguish kinds of CPUs")
            };
            let word = kind.word();
            return unfit(format!("--kind {word}: {why}; leave --kind out"));
        }
        self.use_only(chosen, || format!("a CPU of kind {}", kind.word()))
    }

    /// Restricts the request to the fastest group of PUs of one kind, within 5 %, with a core for
    /// each task, or else a PU. Returns whether each gets a core.
    ///
    /// # Errors
    /// There are too few equal PUs, or a task is fixed on another one.
    pub fn only_equal(&mut self) -> Result<bool, PlaceError> {
        let all = self.allowed_in_order()?;
        let groups = self.equal_groups(&all);
        let tasks = self.pattern.tasks;
        // SMT siblings slow each other down.
        let mut fitting = [true, false].into_iter().filter_map(|by_core| {
            let group = groups.iter().find(|group| self.seats(group, by_core) >= tasks)?;
            Some((group.clone(), by_core))
        });
        let Some((chosen, has_cores)) = fitting.next() else {
            return unfit(format!(
                "{} do not fit on equal seats: {} has at most {}; use fewer tasks, or leave \
                 --equal-kind out",
                counted(tasks, "task"),
                self.profile.name,
                counted(groups.iter().map(Vec::len).max().unwrap_or(0), "equal usable CPU")
            ));
        };
        self.use_only(chosen, || "one of the equal CPUs".to_owned())?;
        Ok(has_cores)
    }

    fn equal_groups(&self, all: &[u32]) -> Vec<Vec<u32>> {
        let mut starts: Vec<(f64, Option<CoreKind>)> =
            all.iter().map(|os| (self.speed_of(*os), self.kind_of(*os))).collect();
        starts.sort_by_key(|(speed, kind)| (Reverse(Ordered(*speed)), *kind));
        starts.dedup();
        starts
            .into_iter()
            .map(|(fastest, kind)| {
                let equal = fastest * (1.0 - EQUAL)..=fastest;
                all.iter()
                    .copied()
                    .filter(|os| self.kind_of(*os) == kind && equal.contains(&self.speed_of(*os)))
                    .collect()
            })
            .collect()
    }

    fn seats(&self, group: &[u32], by_core: bool) -> usize {
        let cores = if by_core { Level::Core.groups(&self.profile.topology, group) } else { None };
        cores.map_or(group.len(), |cores| count(&cores))
    }

    fn use_only(
        &mut self,
        chosen: Vec<u32>,
        what: impl FnOnce() -> String,
    ) -> Result<(), PlaceError> {
        if let Some((task, os)) = self.fixed.iter().find(|(_, os)| !chosen.contains(os)) {
            return unfit(format!("task {task} is fixed on CPU {os}, which is not {}", what()));
        }
        self.cpus = Some(chosen);
        Ok(())
    }

    fn allowed_in_order(&self) -> Result<Vec<u32>, PlaceError> {
        let mut all = self.allowed().ok_or_else(|| no_distances(self.profile))?;
        if self.cpus.is_none() {
            all.sort_unstable();
        }
        Ok(all)
    }

    fn kind_of(&self, os: u32) -> Option<CoreKind> {
        self.profile.topology.pu(os)?.kind
    }

    pub(crate) fn is_of_unknown_speed(&self, os: u32) -> bool {
        let speed = self.profile.speed.as_ref().and_then(|speed| speed.alone_of(os));
        speed.is_none() && self.kind_of(os).is_none()
    }

    fn speed_of(&self, os: u32) -> f64 {
        self.profile.speed.as_ref().and_then(|speed| speed.alone_of(os)).unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::request;

    #[test]
    fn kind_option_restricts_cpus() {
        let mut hybrid = request("core-i9-12900k", "ring:4");
        hybrid.only(CoreKind::Efficiency).unwrap();
        assert_eq!(hybrid.cpus, Some((16..24).collect()));
        hybrid.only(CoreKind::Performance).unwrap_err();
        let plain = request("graviton3", "ring:4").only(CoreKind::Performance);
        assert_eq!(
            plain.unwrap_err().to_string(),
            "--kind performance: the topology of graviton3 does not distinguish kinds of CPUs; \
             leave --kind out"
        );
    }

    #[test]
    fn equal_seats_use_fastest_sufficient_cpus() {
        let chosen = |tasks: usize| {
            let mut request = request("core-i9-12900k", &format!("idle:{tasks}"));
            let has_cores = request.only_equal()?;
            Ok::<_, PlaceError>((request.cpus.unwrap(), has_cores))
        };
        assert_eq!(chosen(8), Ok(((0..16).collect(), true)), "eight performance cores");
        assert_eq!(chosen(16), Ok(((0..16).collect(), false)), "their hardware threads");
        assert!(chosen(17).unwrap_err().to_string().contains("at most 16 equal usable CPUs"));
    }

    #[test]
    fn equal_seats_separate_dies_with_different_clocks() {
        let mut request = request("ryzen-7950x3d", "idle:8");
        assert_eq!(request.only_equal(), Ok(true));
        let higher = (8..16).chain(24..32).collect();
        assert_eq!(request.cpus, Some(higher), "the die that clocks higher");
        request.fixed = vec![(0, 1)];
        request.cpus = None;
        assert!(request.only_equal().unwrap_err().to_string().contains("task 0 is fixed on CPU 1"));
    }
}
