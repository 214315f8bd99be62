//! The most time that seats could save, from a program's messages.
//!
//! As in [`Effect`]: the time of all observed messages between the farthest CPUs minus that between
//! the nearest ones. The real gain is smaller: messages overlap, and not all pairs can be nearest
//! or farthest.

use seatmap_data::machine::Profile;
use seatmap_data::pattern::Pattern;
use seatmap_data::plan::Effect;
use seatmap_place::{PlaceError, PlaceRequest};
use serde::{Deserialize, Serialize};

/// The most that seats could save.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MostGain {
    /// The machine with these distances.
    pub machine: String,
    /// The observed messages and their times.
    pub effect: Effect,
    /// The most that seats save, in percent of the program's time. Overlapping messages may exceed
    /// 100.
    pub percent: f64,
}

impl MostGain {
    /// The most that seats on these CPUs save; `None` if distances or the pattern's time are
    /// unknown.
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
        // Any seats will do, because only the nearest and farthest times count.
        let effect = request.effect(&vec![first; pattern.tasks])?;
        Ok(effect.map(|effect| MostGain::by(machine, effect)))
    }

    fn by(machine: &Profile, mut effect: Effect) -> Self {
        effect.planned_s = effect.messages * effect.nearest_ns / 1e9;
        MostGain { machine: machine.name.clone(), percent: effect.saving_percent(), effect }
    }
}
