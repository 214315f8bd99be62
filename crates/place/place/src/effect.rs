//! How much seats could change the program that a pattern was observed of.
//!
//! A placement that costs a tenth of another by a model may save a program nothing: a program that
//! sends a thousand messages a second spends at most a few hundredths of its time on them. So this
//! holds the messages that were seen against the time in which they were seen. No message takes
//! longer than between the farthest PUs, so that no plan saves more than that without the messages
//! on its own seats. Messages that overlap save less; where even so more would be saved than the
//! program waits, the work of its busiest task is the bound.

use crate::{PlaceError, PlaceRequest, Pus};
use seatmap_plan::Effect;

/// The time that a message takes.
struct MessageTimes<'a> {
    pus: &'a Pus,
    nearest_ns: f64,
    farthest_ns: f64,
}

impl<'a> MessageTimes<'a> {
    /// `None` where there is one PU only, and no task sleeps.
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

    /// The time between two seats. Two that spin on one PU count like two on the nearest PUs, as
    /// they do in the placement.
    fn between_ns(&self, i: usize, j: usize) -> f64 {
        if i == j && self.pus.wakeup_ns.is_none() {
            return self.nearest_ns;
        }
        message_ns(self.pus, i, j)
    }
}

/// One message: a wakeup, of which a round trip has two, or the whole round trip of a line. The
/// sender of a line gets it back before it can write again.
fn message_ns(pus: &Pus, i: usize, j: usize) -> f64 {
    let round_trip_ns = pus.message_ns(i, j);
    if pus.wakeup_ns.is_some() { round_trip_ns / 2.0 } else { round_trip_ns }
}

impl PlaceRequest<'_> {
    /// How much a placement could change the program; `None` for a pattern that was not observed,
    /// or not for a known time.
    ///
    /// # Errors
    /// [`PlaceError`]: the CPUs have no distances.
    pub fn effect(&self, placement: &[u32]) -> Result<Option<Effect>, PlaceError> {
        let Some(observed_s) = self.observed_s() else { return Ok(None) };
        let pus = self.costed(Pus::new(self.profile, self.cpus.as_deref(), self.homes)?);
        let Some(times) = MessageTimes::of(&pus) else { return Ok(None) };
        let rows = placement.iter().map(|os| pus.index_of(*os).ok_or(PlaceError::NoSuchPu(*os)));
        let rows = rows.collect::<Result<Vec<usize>, _>>()?;
        let mut messages = 0.0;
        let mut planned_s = 0.0;
        for edge in &self.pattern.edges {
            messages += edge.messages;
            planned_s += edge.messages * times.between_ns(rows[edge.from], rows[edge.to]) / 1e9;
        }
        let farthest_s = messages * times.farthest_ns / 1e9;
        // A task that spins works while it waits, so that its work bounds nothing.
        let sleeps = pus.wakeup_ns.is_some() && !self.pattern.loads.is_empty();
        let busiest = sleeps.then(|| self.pattern.loads.iter().copied().fold(0.0, f64::max));
        let waiting_s = observed_s * (1.0 - busiest.unwrap_or(0.0)).max(0.0);
        let saved_s = (farthest_s - planned_s).clamp(0.0, waiting_s);
        Ok(Some(Effect {
            observed_s,
            messages,
            nearest_ns: times.nearest_ns,
            farthest_ns: times.farthest_ns,
            planned_s,
            farthest_s,
            busiest_percent: busiest.map(|load| 100.0 * load),
            saves_at_most_percent: 100.0 * saved_s / observed_s,
        }))
    }

    /// How long the program was observed. A load of 1 is one CPU for that time.
    fn observed_s(&self) -> Option<f64> {
        self.pattern.observation.as_ref()?;
        self.pattern.load_ns.filter(|ns| *ns > 0.0).map(|ns| ns / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::tests::{sleeping_pairs, two_cpus};
    use seatmap_machine::catalog;
    use seatmap_pattern::{Observed, generate};

    #[test]
    fn messages_that_take_little_of_the_time_save_little() {
        let machine = catalog::load("epyc-7r13-2s").unwrap();
        let mut pattern = generate("pairs:2").unwrap();
        pattern.edges.iter_mut().for_each(|edge| edge.messages = 1000.0);
        let silent = PlaceRequest::new(&machine, &pattern).effect(&[0, 1]);
        assert_eq!(silent, Ok(None), "nobody observed it");
        pattern.load_ns = Some(1e9);
        pattern.observation = Some(Observed::default());
        let request = PlaceRequest::new(&machine, &pattern);
        let effect = request.effect(&[0, 1]).unwrap().unwrap();
        assert_eq!((effect.observed_s, effect.messages), (1.0, 2000.0));
        assert!(effect.nearest_ns < effect.farthest_ns && effect.planned_s < effect.farthest_s);
        let most_percent = 100.0 * 2000.0 * effect.farthest_ns / 1e9;
        assert!((0.0..most_percent).contains(&effect.saves_at_most_percent), "{effect:?}");
        assert!(!effect.is_bound_by_work());
        // The farthest seats save nothing.
        let core_distance = machine.core_distance.as_ref().unwrap();
        let far = core_distance.median_ns.pairs().max_by(|a, b| a.2.total_cmp(b.2)).unwrap();
        let far = [core_distance.pus[far.0], core_distance.pus[far.1]];
        assert_eq!(request.effect(&far).unwrap().unwrap().saves_at_most_percent, 0.0);
    }

    #[test]
    fn work_is_not_saved() {
        let machine = two_cpus();
        let mut pattern = sleeping_pairs();
        pattern.edges.iter_mut().for_each(|edge| edge.messages = 1e6);
        pattern.load_ns = Some(1e9);
        pattern.loads = vec![0.25; pattern.tasks];
        pattern.loads[0] = 0.9;
        let request = PlaceRequest::new(&machine, &pattern);
        let seats = vec![0; pattern.tasks];
        let effect = request.effect(&seats).unwrap().unwrap();
        assert_eq!(effect.busiest_percent, Some(90.0));
        assert!((effect.saves_at_most_percent - 10.0).abs() < 1e-9, "{effect:?}");
        assert!(effect.is_bound_by_work());
    }
}
