//! The model of a Cell machine and its file format, `seatmap-model/2`.

use crate::parameters::{CellBeFigures, CellBeTiming, PARAMETERS};
use crate::ring::ELEMENTS;
use seatmap_data::machine::description::Basis;
use seatmap_data::statistics::words::counted;
use seatmap_sim::ModelError;
use seatmap_sim::figure::{ModelFigure, parsed};
use serde::{Deserialize, Serialize};

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-model/2";

/// A Cell machine: chips, rings, and every operation's cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellModel {
    /// [`FORMAT`].
    pub format: String,
    /// Its name on the command line.
    pub name: String,
    /// A one-line description.
    pub summary: String,
    /// The publications with the figures.
    pub sources: Vec<String>,
    /// The core clock.
    pub frequency_ghz: f64,
    /// Chips; each has its memory.
    pub chips: usize,
    /// The physical SPEs of each chip that programs can use, in logical order.
    pub spes: Vec<u8>,
    /// The elements along the ring: `PPE`, `SPE0` to `SPE7`, `MIC`, `BIF` (IOIF0) and `IOIF1`.
    pub ring: Vec<String>,
    /// The figures.
    pub figures: CellBeFigures,
}

impl CellModel {
    /// Reads and checks a model. `name` names the text in errors.
    ///
    /// # Errors
    /// [`ModelError`] if the text is not a model, or the machine cannot run.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, ModelError> {
        let model: CellModel = parsed(name, text)?;
        match model.flaw() {
            Some(message) => Err(ModelError::impossible(name, message)),
            None => Ok(model),
        }
    }

    /// Returns the model with a changed figure, to measure that figure's effect.
    ///
    /// # Errors
    /// [`ModelError`] if the figure does not exist, or the machine cannot run with this value.
    pub fn with_figure(mut self, key: &str, value: f64) -> Result<Self, ModelError> {
        let name = self.name.clone();
        let Some(figure) = self.figures.get_mut(key) else {
            let keys: Vec<&str> = PARAMETERS.iter().map(|parameter| parameter.name).collect();
            let message = format!("unknown figure '{key}'; expected one of: {}", keys.join(", "));
            return Err(ModelError::impossible(&name, message));
        };
        *figure = ModelFigure {
            value,
            kind: Basis::Assumption,
            source: "chosen for this run".to_owned(),
        };
        match self.flaw() {
            Some(message) => Err(ModelError::impossible(&name, message)),
            None => Ok(self),
        }
    }

    /// Usable SPEs of all chips.
    pub fn spes(&self) -> usize {
        self.chips * self.spes.len()
    }

    pub(crate) fn timing(&self) -> CellBeTiming {
        CellBeTiming::new(&self.figures, self.frequency_ghz)
    }

    /// The PU number of the first chip's PPE; lower PUs are SPEs.
    pub fn ppe(&self) -> u32 {
        self.spes() as u32
    }

    /// Bytes that an element receives or sends per core cycle: one line per transfer time.
    pub fn port_bytes_per_cycle(&self) -> f64 {
        f64::from(super::memory::LINE_BYTES)
            / (self.figures.beats.value * self.figures.bus_cycles.value)
    }

    fn flaw(&self) -> Option<String> {
        if self.format != FORMAT {
            return Some(format!("unknown format '{}'; expected {FORMAT}", self.format));
        }
        if !(1..=2).contains(&self.chips) {
            return Some(format!("chips is {}; give 1 or 2", self.chips));
        }
        if !(0.1..=100.0).contains(&self.frequency_ghz) {
            return Some(format!(
                "frequency_ghz is {}; give a clock from 0.1 to 100",
                self.frequency_ghz
            ));
        }
        self.ring_flaw().or_else(|| self.figure_flaw())
    }

    fn ring_flaw(&self) -> Option<String> {
        let mut sorted: Vec<&str> = self.ring.iter().map(String::as_str).collect();
        // Machines may differ in the order of their elements, but not in the names.
        sorted.sort_unstable();
        let mut expected = ELEMENTS.to_vec();
        expected.sort_unstable();
        if sorted != expected {
            return Some(format!(
                "ring must hold each of {} once: a hop to anything else leads nowhere",
                expected.join(", ")
            ));
        }
        let mut spes = self.spes.clone();
        spes.sort_unstable();
        spes.dedup();
        let is_sound =
            !spes.is_empty() && spes.len() == self.spes.len() && spes.iter().all(|spe| *spe < 8);
        (!is_sound).then(|| "spes must hold different numbers from 0 to 7".to_owned())
    }

    fn figure_flaw(&self) -> Option<String> {
        let flaw = PARAMETERS
            .iter()
            .zip(self.figures.all())
            .find_map(|(parameter, (_, figure))| parameter.flaw(figure));
        flaw.or_else(|| self.memory_flaw())
    }

    fn memory_flaw(&self) -> Option<String> {
        let CellBeFigures { mic_banks, mic_channels, refresh_banks, .. } = &self.figures;
        let [banks, channels, refreshed] =
            [mic_banks, mic_channels, refresh_banks].map(ModelFigure::whole);
        if banks % channels != 0 {
            return Some(format!(
                "figures.mic_banks is {banks}; give a multiple of the {channels}",
                channels = counted(channels, "channel")
            ));
        }
        if refreshed > banks / channels {
            let each = banks / channels;
            return Some(format!(
                "figures.refresh_banks is {refreshed}; a channel has only {each} banks"
            ));
        }
        let CellBeFigures { refresh_interval_ns, refresh_bank_ns, refresh_channel_ns, .. } =
            &self.figures;
        let interval = refresh_interval_ns.value;
        // Refreshes may take half of the time; beyond that, the model makes no progress.
        let busy = refresh_bank_ns.value + refresh_channel_ns.value;
        (interval != 0.0 && interval < 2.0 * busy).then(|| {
            format!(
                "figures.refresh_interval_ns is {interval}; give 0 or at least {}: lines need \
                 time, too",
                2.0 * busy
            )
        })
    }
}
