//! Settings that work without a plan.

use crate::baselines::AS_GOOD;
use crate::build::PlaceGround;
use crate::{Level, PlaceError, PlaceRequest, PlacementResult};
use seatmap_data::plan::Objective;

/// A usual order at the cost of an answer, with equally good settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainSettings {
    /// `compact`, `scatter` or `OS order`.
    pub name: &'static str,
    /// Settings of OpenMP and Open MPI.
    pub settings: Vec<&'static str>,
}

impl PlaceRequest<'_> {
    /// The usual order that costs no more than an answer; `None` if runs judged.
    ///
    /// Settings are named only if the program alone determines its seats: on the whole machine,
    /// with known cores and no fixed task. Each possible order of places must be good enough.
    ///
    /// # Errors
    /// [`PlaceError`], as [`PlaceRequest::place`].
    pub fn plain(&self, answer: &PlacementResult) -> Result<Option<PlainSettings>, PlaceError> {
        let usual_costs = [
            ("compact", answer.baselines.compact),
            ("scatter", answer.baselines.scatter),
            ("OS order", answer.baselines.os),
        ];
        let Some((name, _)) =
            usual_costs.into_iter().find(|(_, cost)| *cost <= answer.cost * AS_GOOD)
        else {
            return Ok(None);
        };
        if !matches!(self.objective, Objective::Distance | Objective::Congestion) || !self.is_free()
        {
            return Ok(Some(PlainSettings { name, settings: Vec::new() }));
        }
        let ground = PlaceGround::of(self)?;
        let mut settings = ground.settings();
        settings.retain(|(_, orders)| {
            orders.iter().all(|rows| ground.cost(rows) <= answer.cost * AS_GOOD)
        });
        let settings = settings.into_iter().map(|(setting, _)| setting).collect();
        Ok(Some(PlainSettings { name, settings }))
    }

    /// All constraints must be expressible.
    fn is_free(&self) -> bool {
        self.cpus.is_none()
            && self.fixed.is_empty()
            && matches!(self.one_per, None | Some(Level::Core))
    }
}

impl PlaceGround<'_> {
    /// Runtimes number places along the topology (compact) or, inside a package, by OS number
    /// (GCC's libgomp); both must be good enough.
    fn settings(&self) -> Vec<(&'static str, Vec<Vec<usize>>)> {
        let tasks = self.problem.tasks();
        let places = self.pus.os.len();
        let Some(numbered) = self.by_package().filter(|_| tasks <= places) else {
            return Vec::new();
        };
        // A setting deals from the whole list.
        let [_, compact, _] = self.usual(places);
        let along = [compact, numbered];
        let close = along.each_ref().map(|order| order[..tasks].to_vec());
        let first = vec![close[0].clone()];
        if self.request.smt_cores().is_some() && self.request.one_per.is_none() {
            return vec![
                ("OMP_PLACES=threads OMP_PROC_BIND=close", close.into()),
                ("mpirun --use-hwthread-cpus --map-by hwthread --bind-to hwthread", first),
            ];
        }
        let mut settings = vec![
            ("OMP_PLACES=cores OMP_PROC_BIND=close", close.into()),
            ("mpirun --map-by core --bind-to core", first),
        ];
        // Runtimes may choose the larger parts (OpenMP 5.2, 10.1.3).
        if places.is_multiple_of(tasks) {
            let spread = along
                .each_ref()
                .map(|order| order.iter().copied().step_by(places / tasks).collect());
            settings.push(("OMP_PLACES=cores OMP_PROC_BIND=spread", spread.into()));
        }
        settings.extend(
            self.round_robin(&along[0])
                .map(|rows| ("mpirun --map-by socket --bind-to core", vec![rows])),
        );
        settings
    }

    /// By package, then by the OS number of the core. `None` if unknown.
    fn by_package(&self) -> Option<Vec<usize>> {
        let topology = &self.request.profile.topology;
        let os = &self.pus.os;
        let mut keyed = (0..os.len())
            .map(|row| {
                let pu = topology.pu(os[row])?;
                // Linux often numbers second threads after all first ones.
                let all = os.iter().filter_map(|os| topology.pu(*os));
                let siblings = all.filter(|other| other.core == pu.core);
                let first = siblings.map(|other| other.os).min()?;
                Some(((pu.package?, first, pu.core?, pu.os), row))
            })
            .collect::<Option<Vec<_>>>()?;
        keyed.sort_unstable();
        Some(keyed.into_iter().map(|(_, row)| row).collect())
    }

    /// Like Open MPI's `--map-by socket`. `None` for one package, or if one fills up.
    fn round_robin(&self, compact: &[usize]) -> Option<Vec<usize>> {
        let topology = &self.request.profile.topology;
        let package = |row: &usize| topology.pu(self.pus.os[*row]).and_then(|pu| pu.package);
        let packages: Vec<&[usize]> = compact.chunk_by(|a, b| package(a) == package(b)).collect();
        if packages.len() < 2 {
            return None;
        }
        (0..self.problem.tasks())
            .map(|task| packages[task % packages.len()].get(task / packages.len()).copied())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::SearchLimit;
    use seatmap_data::machine::{Profile, catalog};
    use seatmap_data::pattern::{Edge, Pattern, generate};

    fn plain(
        machine: &Profile,
        pattern: &Pattern,
        change: impl Fn(&mut PlaceRequest),
    ) -> Option<PlainSettings> {
        let mut request = PlaceRequest::new(machine, pattern);
        (request.limit, request.one_per) = (SearchLimit::kicks(2000), Some(Level::Core));
        change(&mut request);
        request.plain(&request.place().unwrap()).unwrap()
    }

    /// Siblings are 10 ns apart, cores 50, packages 200.
    fn small() -> Profile {
        let pu = |os: u32| seatmap_data::machine::Pu {
            os,
            core: Some(os % 4),
            smt: Some(os / 4),
            package: Some(os % 4 / 2),
            ..Default::default()
        };
        let mut machine = catalog::load("graviton3").unwrap();
        machine.topology.pus = (0..8).map(pu).collect();
        let ns = |a: usize, b: usize| match (a == b, a % 4 == b % 4, a % 4 / 2 == b % 4 / 2) {
            (true, ..) => 0.0,
            (_, true, _) => 10.0,
            (_, _, true) => 50.0,
            _ => 200.0,
        };
        let median_ns = seatmap_data::machine::Matrix::from_fn(8, ns);
        machine.core_distance =
            Some(seatmap_data::machine::CoreDistance::imported((0..8).collect(), median_ns));
        machine
    }

    #[test]
    fn pipeline_gets_compact_settings() {
        let found = plain(&small(), &generate("pipeline:4").unwrap(), |_| ()).unwrap();
        assert_eq!(found.name, "compact");
        // With equally many tasks and cores, spread equals close.
        let all = [
            "OMP_PLACES=cores OMP_PROC_BIND=close",
            "mpirun --map-by core --bind-to core",
            "OMP_PLACES=cores OMP_PROC_BIND=spread",
        ];
        assert_eq!(found.settings, all);
    }

    #[test]
    fn distant_partners_get_scatter_settings() {
        let pattern = Pattern::gathered("apart", 4, [Edge::unit(0, 2), Edge::unit(1, 3)]);
        let found = plain(&small(), &pattern, |_| ()).unwrap();
        assert_eq!(
            (found.name, &found.settings[..]),
            ("scatter", &["mpirun --map-by socket --bind-to core"][..])
        );
    }

    #[test]
    fn shared_cores_use_hardware_threads_as_places() {
        let found =
            plain(&small(), &generate("pairs:8").unwrap(), |request| request.one_per = None)
                .unwrap();
        assert_eq!(found.settings[0], "OMP_PLACES=threads OMP_PROC_BIND=close");
        assert!(found.settings[1].contains("--bind-to hwthread"), "{found:?}");
    }

    #[test]
    fn pattern_needing_plan_gets_no_settings() {
        let crossed = Pattern::gathered("crossed", 4, [Edge::unit(0, 3), Edge::unit(1, 2)]);
        assert_eq!(plain(&small(), &crossed, |_| ()), None);
        let wished = plain(&small(), &generate("pipeline:4").unwrap(), |request| {
            request.fixed = vec![(0, 0)]
        })
        .unwrap();
        assert!(wished.settings.is_empty(), "{wished:?}");
    }
}
