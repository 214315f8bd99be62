//! How much of its time a program could save by its seats at most, by its messages.
//!
//! The arithmetic is that of [`Effect`]: all messages that were seen, one after another, between
//! the farthest CPUs that it may use and on the best seats that a search finds. A program saves
//! less than the difference, since messages overlap with work and with each other, and since the
//! kernel does not put every pair as far apart as it can.

use seatmap_machine::Profile;
use seatmap_pattern::Pattern;
use seatmap_place::search::Limit;
use seatmap_place::{PlaceError, PlaceRequest};
use seatmap_plan::Effect;
use serde::{Deserialize, Serialize};

/// The longest search for the best seats, in seconds.
const LONGEST_SEARCH_S: f64 = 1.0;

/// The most that seats could save by the messages that were seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MostGain {
    /// The machine whose distances were used.
    pub machine: String,
    /// The messages that were seen, and the time of one.
    pub effect: Effect,
    /// The most that seats save, in percent of the program's time. Above 100 the messages overlap.
    pub percent: f64,
}

impl MostGain {
    /// The most that seats of these CPUs save; `None` where the machine's distances or the time of
    /// the pattern are not known.
    ///
    /// # Errors
    /// [`PlaceError`]: the pattern does not fit the machine.
    pub fn of(
        machine: &Profile,
        pattern: &Pattern,
        cpus: Option<Vec<u32>>,
    ) -> Result<Option<Self>, PlaceError> {
        let Some(distance) = &machine.core_distance else { return Ok(None) };
        let has_distance = |cpu: &&u32| distance.index_of(**cpu).is_some();
        let first = cpus.as_ref().unwrap_or(&distance.pus).iter().find(has_distance).copied();
        let mut request = PlaceRequest { cpus, ..PlaceRequest::new(machine, pattern) };
        request.objective = request.usual_objective();
        request.limit = Limit::seconds(LONGEST_SEARCH_S);
        if pattern.edges.is_empty() {
            // Any seats do: there is nothing to search for.
            let seats = first.map_or_else(Vec::new, |first| vec![first; pattern.tasks]);
            return Ok(request.effect(&seats)?.map(|effect| MostGain::by(machine, effect)));
        }
        let answer = request.place()?;
        Ok(request.effect(&answer.placement)?.map(|effect| MostGain::by(machine, effect)))
    }

    fn by(machine: &Profile, effect: Effect) -> Self {
        MostGain { machine: machine.name.clone(), percent: effect.saving_percent(), effect }
    }
}
