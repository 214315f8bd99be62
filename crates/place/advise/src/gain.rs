//! How much of its time a program could save by its seats at most, by its messages.
//!
//! The arithmetic is that of [`Effect`]: all messages that were seen, one after another, between
//! the farthest CPUs that it may use and between the nearest ones. A program saves less than the
//! difference, since messages overlap with work and with each other, since not all pairs can sit
//! nearest, and since the kernel does not put every pair as far apart as it can.

use seatmap_data::machine::Profile;
use seatmap_data::pattern::Pattern;
use seatmap_data::plan::Effect;
use seatmap_place::{PlaceError, PlaceRequest};
use serde::{Deserialize, Serialize};

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
        let usable = cpus.as_ref().unwrap_or(&distance.pus).iter();
        let first = usable.copied().find(|cpu| distance.index_of(*cpu).is_some());
        let request = PlaceRequest { cpus, ..PlaceRequest::new(machine, pattern) };
        let Some(first) = first else { return Ok(None) };
        // Any seats do: only the messages and the times of the nearest and farthest ones count.
        let effect = request.effect(&vec![first; pattern.tasks])?;
        Ok(effect.map(|effect| MostGain::by(machine, effect)))
    }

    fn by(machine: &Profile, mut effect: Effect) -> Self {
        effect.planned_s = effect.messages * effect.nearest_ns / 1e9;
        MostGain { machine: machine.name.clone(), percent: effect.saving_percent(), effect }
    }
}
