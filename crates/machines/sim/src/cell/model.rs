//! A Cell machine as written down: `seatmap-model/1`.

use crate::ModelError;
use crate::cell::ring::ELEMENTS;
use crate::figure::{figures, syntax};
use serde::{Deserialize, Serialize};

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-model/1";

/// A Cell machine: chips, their rings, and what everything costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellModel {
    /// [`FORMAT`].
    pub format: String,
    /// What the command line calls it.
    pub name: String,
    /// What it is, in one line.
    pub summary: String,
    /// What the figures stand on.
    pub sources: Vec<String>,
    /// The core clock.
    pub frequency_ghz: f64,
    /// Chips, each with its memory.
    pub chips: usize,
    /// The physical SPEs of each chip that programs may use, in the order of their logical numbers.
    pub spes: Vec<u8>,
    /// The elements along the ring: `PPE`, `SPE0` to `SPE7`, `MIC`, `BIF` (IOIF0) and `IOIF1`.
    pub ring: Vec<String>,
    /// The figures.
    pub figures: Figures,
}

figures! {
    "Every figure of the model. Cycles are core cycles.",
    /// Core cycles of a bus cycle.
    bus_cycles,
    /// Bus cycles for which a transfer occupies each stretch of its way: 128 bytes at 16 a cycle.
    beats,
    /// Bus cycles between two starts on one ring.
    ring_start_bus_cycles,
    /// Transfers on one ring at once.
    ring_transfers,
    /// Stretches of the longest way that is taken.
    longest_hops,
    /// Bus cycles between two commands on the command network.
    command_bus_cycles,
    /// From a command's grant to the combined response, on one chip.
    snoop_cycles,
    /// What an SPU takes to hand its MFC a command, and to read or write a channel.
    channel_cycles,
    /// From there to the first request on the bus.
    dma_start_cycles,
    /// Between two line requests of one MFC.
    line_gap_cycles,
    /// Line requests of one MFC under way.
    lines_in_flight,
    /// Commands that an MFC's queue holds.
    mfc_queue,
    /// To fetch the next element of a list.
    list_element_cycles,
    /// From the last byte to the SPU's knowing of it.
    tag_cycles,
    /// Between two reads that a memory serves.
    mic_read_cycles,
    /// Between two writes.
    mic_write_cycles,
    /// When it turns from reads to writes or back.
    mic_turn_cycles,
    /// From a read's being served to its data's being there.
    mic_latency_cycles,
    /// Requests that a memory controller holds; further ones are sent again.
    mic_queue,
    /// After how long.
    mic_retry_cycles,
    /// From chip to chip, one way.
    bif_latency_cycles,
    /// What one direction between the chips carries.
    bif_gbps,
    /// Bytes of a command, a reflected command or a response between the chips, and of a data packet's head.
    bif_packet_bytes,
    /// From the ring into a mapped register.
    register_cycles,
    /// What a signal takes more than a mailbox message.
    signal_cycles,
    /// What it takes more still on the other chip.
    signal_far_cycles,
    /// Each half of an atomic (reserve, store conditionally) on a line that the MFC's cache holds alone.
    atomic_half_cycles,
    /// The PPE's reading a mapped register of an SPE of its chip.
    ppe_load_cycles,
    /// Of the other chip.
    ppe_load_far_cycles,
    /// Looking whether a mailbox has room before writing it.
    ppe_room_cycles,
    /// On the other chip.
    ppe_room_far_cycles,
    /// Creating a thread, running it and finding it ended.
    thread_ns,
    /// A mailbox message by a system call.
    mailbox_call_ns,
    /// A signal by a system call.
    signal_call_ns,
    /// A tick of the decrementer.
    decrementer_ns,
    /// Tasks start up to so much apart, by chance.
    start_skew_cycles,
}

impl CellModel {
    /// Reads a model and checks that it can run.
    ///
    /// # Errors
    /// [`ModelError`]; `name` is what it calls the text.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, ModelError> {
        let model: CellModel = toml::from_str(text).map_err(|error| syntax(name, text, &error))?;
        match model.flaw() {
            Some(message) => Err(ModelError::Impossible { name: name.to_owned(), message }),
            None => Ok(model),
        }
    }

    /// SPEs that programs may use, over all chips.
    #[must_use]
    pub fn spes(&self) -> usize {
        self.chips * self.spes.len()
    }

    /// The PU of the first chip's PPE; SPEs are the PUs below it.
    #[must_use]
    pub fn ppe(&self) -> u32 {
        self.spes() as u32
    }

    /// Bytes that an element takes in, or gives out, in a core cycle: a line in the beats of a transfer.
    #[must_use]
    pub fn port_bytes_per_cycle(&self) -> f64 {
        f64::from(super::memory::LINE_BYTES) / (self.figures.beats.value * self.figures.bus_cycles.value)
    }

    fn flaw(&self) -> Option<String> {
        if self.format != FORMAT {
            return Some(format!("format is '{}', and only {FORMAT} is known", self.format));
        }
        if !(1..=2).contains(&self.chips) || !(0.1..=100.0).contains(&self.frequency_ghz) {
            return Some("chips must be 1 or 2, and frequency_ghz a clock".to_owned());
        }
        self.ring_flaw().or_else(|| self.figure_flaw())
    }

    fn ring_flaw(&self) -> Option<String> {
        let mut sorted: Vec<&str> = self.ring.iter().map(String::as_str).collect();
        sorted.sort_unstable();
        let mut wanted = ELEMENTS.to_vec();
        wanted.sort_unstable();
        if sorted != wanted {
            return Some(format!(
                "ring must hold each of {} once: a hop to anything else leads nowhere",
                wanted.join(", ")
            ));
        }
        let mut spes = self.spes.clone();
        spes.sort_unstable();
        spes.dedup();
        let is_sound = !spes.is_empty() && spes.len() == self.spes.len() && spes.iter().all(|spe| *spe < 8);
        (!is_sound).then(|| "spes must hold different numbers from 0 to 7".to_owned())
    }

    /// A figure of zero where nothing may take no time would let time stand still.
    fn figure_flaw(&self) -> Option<String> {
        let may_be_zero = |key: &str| ["signal", "turn", "skew", "list"].iter().any(|part| key.contains(part));
        let bad = |(key, figure): &(&str, &crate::figure::Figure)| {
            let least = if may_be_zero(key) { 0.0 } else { 1e-3 };
            !figure.value.is_finite() || figure.value < least || figure.value > 1e9
        };
        let (key, figure) = self.figures.all().find(bad)?;
        Some(format!("figures.{key} is {}; a cycle that takes no time, or none that ends, cannot be run", figure.value))
    }
}
