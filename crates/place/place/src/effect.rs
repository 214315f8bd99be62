//! How much seats could change the observed program.
//!
//! A placement that costs a tenth less by a model may save nothing: at a thousand messages a
//! second, messages take a few hundredths of the time. If each message takes the time between the
//! farthest PUs, no plan saves more than their sum minus the time on its own seats. The CPU time of
//! the tasks is not a bound: waking a task on another CPU counts as their own.

use crate::{PlaceError, PlaceRequest, Pus};
use seatmap_data::plan::Effect;

/// Methods that see shared memory; `pages` is from earlier versions.
const OF_MEMORY: [&str; 3] = ["pages", "tsan", "c2c"];

/// Sums of equal times differ by this in floating point.
const ROUNDING: f64 = 1e-9;

struct MessageTimes<'a> {
    pus: &'a Pus,
    nearest_ns: f64,
    farthest_ns: f64,
}

impl<'a> MessageTimes<'a> {
    /// `None` for a single PU without sleeping tasks.
    fn of(pus: &'a Pus) -> Option<Self> {
        let n = pus.os.len();
        let may_share = pus.wakeup_ns.is_some();
        let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        let mut nearest_ns = f64::INFINITY;
        let mut farthest_ns: f64 = 0.0;
        for (i, j) in pairs.filter(|(i, j)| may_share || i != j) {
            let ns = message_ns(pus, i, j);
            nearest_ns = nearest_ns.min(ns);
            farthest_ns = farthest_ns.max(ns);
        }
        nearest_ns.is_finite().then_some(MessageTimes { pus, nearest_ns, farthest_ns })
    }

    /// Two spinning tasks on one PU count like two on the nearest PUs.
    fn between_ns(&self, i: usize, j: usize) -> f64 {
        if i == j && self.pus.wakeup_ns.is_none() {
            return self.nearest_ns;
        }
        message_ns(self.pus, i, j)
    }
}

/// A wakeup is half a round trip, a line a whole one: the sender must get it back before it can
/// write again.
fn message_ns(pus: &Pus, i: usize, j: usize) -> f64 {
    let round_trip_ns = pus.message_ns(i, j);
    if pus.wakeup_ns.is_some() { round_trip_ns / 2.0 } else { round_trip_ns }
}

impl PlaceRequest<'_> {
    /// The most that placement could change, by messages. `None` without an observation of known
    /// duration, or if tasks sleep and the cost of a wakeup is unknown.
    ///
    /// # Errors
    /// [`PlaceError`]: the CPUs have no distances.
    pub fn effect(&self, placement: &[u32]) -> Result<Option<Effect>, PlaceError> {
        let Some(observed_s) = self.observed_s() else { return Ok(None) };
        let pus = self.costed(Pus::new(self.profile, self.cpus.as_deref(), self.homes)?);
        // Distances between spinning threads do not bound wakeups.
        if self.pattern.waits() && pus.wakeup_ns.is_none() {
            return Ok(None);
        }
        let Some(times) = MessageTimes::of(&pus) else { return Ok(None) };
        let rows = pus.rows(placement)?;
        let mut messages = 0.0;
        let mut planned_s = 0.0;
        for edge in &self.pattern.edges {
            messages += edge.messages;
            planned_s += edge.messages * times.between_ns(rows[edge.from], rows[edge.to]) / 1e9;
        }
        let farthest_s = messages * times.farthest_ns / 1e9;
        // With equal distances, the sums differ only by rounding.
        if farthest_s - planned_s <= ROUNDING * farthest_s {
            planned_s = farthest_s;
        }
        Ok(Some(Effect {
            observed_s,
            messages,
            outside_wakeups: self.outside_wakeups(),
            saw_memory: self.saw_memory(),
            nearest_ns: times.nearest_ns,
            farthest_ns: times.farthest_ns,
            planned_s,
            farthest_s,
        }))
    }

    fn observed_s(&self) -> Option<f64> {
        self.pattern.observation.as_ref()?.seconds.filter(|seconds| *seconds > 0.0)
    }

    fn saw_memory(&self) -> bool {
        let observed = self.pattern.observation.as_ref();
        let mut methods = observed.into_iter().flat_map(|observed| &observed.methods);
        methods.any(|method| OF_MEMORY.contains(&method.as_str()))
    }

    fn outside_wakeups(&self) -> f64 {
        let observed = self.pattern.observation.iter();
        observed.flat_map(|observed| &observed.outsiders).map(|one| one.wakeups).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::tests::{sleeping_pairs, two_cpus};
    use seatmap_data::machine::catalog;
    use seatmap_data::pattern::{PatternObservation, generate};

    #[test]
    fn rare_messages_bound_saving_of_observed_program() {
        let machine = catalog::load("epyc-7r13-2s").unwrap();
        let mut pattern = generate("pairs:2").unwrap();
        pattern.edges.iter_mut().for_each(|edge| edge.messages = 1000.0);
        let silent = PlaceRequest::new(&machine, &pattern).effect(&[0, 1]);
        assert_eq!(silent, Ok(None), "nobody observed it");
        pattern.observation =
            Some(PatternObservation { seconds: Some(1.0), ..PatternObservation::default() });
        let request = PlaceRequest::new(&machine, &pattern);
        let effect = request.effect(&[0, 1]).unwrap().unwrap();
        assert_eq!((effect.observed_s, effect.messages), (1.0, 2000.0));
        assert!(effect.nearest_ns < effect.farthest_ns && effect.planned_s < effect.farthest_s);
        let most_percent = 100.0 * 2000.0 * effect.farthest_ns / 1e9;
        assert!((0.0..most_percent).contains(&effect.saving_percent()), "{effect:?}");
        // The time of a load is irrelevant.
        let mut timed = pattern.clone();
        timed.load_ns = Some(5.0);
        assert_eq!(PlaceRequest::new(&machine, &timed).effect(&[0, 1]), Ok(Some(effect)));
        let core_distance = machine.core_distance.as_ref().unwrap();
        let far = core_distance.median_ns.pairs().max_by(|a, b| a.2.total_cmp(b.2)).unwrap();
        let far = [core_distance.pus[far.0], core_distance.pus[far.1]];
        assert_eq!(request.effect(&far).unwrap().unwrap().saving_percent(), 0.0);
    }

    #[test]
    fn sleeping_tasks_save_wakeup_time_if_measured() {
        let machine = two_cpus();
        let mut pattern = sleeping_pairs();
        pattern.observation.as_mut().unwrap().seconds = Some(1.0);
        let seats = vec![0; pattern.tasks];
        let request = PlaceRequest::new(&machine, &pattern);
        // 8000 messages: 2.5 us on one CPU, 19.5 us across.
        let effect = request.effect(&seats).unwrap().unwrap();
        assert!((effect.saving_percent() - 100.0 * 8000.0 * 17e-6).abs() < 1e-9, "{effect:?}");
        let one_seat =
            PlaceRequest { cpus: Some(vec![0]), ..PlaceRequest::new(&machine, &pattern) };
        assert_eq!(one_seat.effect(&seats).unwrap().unwrap().saving_percent(), 0.0);
        let mut silent = machine.clone();
        silent.wakeups = None;
        let unknown = PlaceRequest::new(&silent, &pattern).effect(&seats);
        assert_eq!(unknown, Ok(None), "distances of threads that spin bound no wakeup");
    }
}
