//! The parameters of a Cell model, each listed once.
//!
//! Each line of the list gives a parameter's key in the model's file, its name in the components,
//! its unit (which says how it becomes a whole number), and the values that can run. The file gives
//! the value and its source: a parameter has no default.

use seatmap_sim::figure::ModelFigure;
use std::fmt;
use std::ops::RangeInclusive;

/// The time of a byte between the chips is kept in these parts of a core cycle.
const BYTE_PARTS: u64 = 256;
/// The largest figure of any kind: far above that of any machine, and small enough that no sum of
/// such cycles overflows.
const LARGEST: f64 = 1e9;

/// The unit of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterUnit {
    /// Cycles of the core clock.
    CoreCycles,
    /// Cycles of the bus clock.
    BusCycles,
    /// Nanoseconds.
    Nanoseconds,
    /// A number of things.
    Count,
    /// Bytes.
    Bytes,
    /// 10^9 bytes a second.
    GigabytesPerSecond,
}

impl ParameterUnit {
    /// The whole number with which components compute: core cycles for every time, 256ths of a core
    /// cycle for each byte for a rate.
    fn whole(self, value: f64, frequency_ghz: f64, bus: u64) -> u64 {
        match self {
            ParameterUnit::CoreCycles | ParameterUnit::Count | ParameterUnit::Bytes => {
                value.round() as u64
            }
            ParameterUnit::BusCycles => value.round() as u64 * bus,
            // Nanoseconds belong to parts with a clock of their own (DRAM, the kernel), so that
            // their cycles grow with the core clock.
            ParameterUnit::Nanoseconds => (value * frequency_ghz).round() as u64,
            ParameterUnit::GigabytesPerSecond => {
                (BYTE_PARTS as f64 * frequency_ghz / value).round() as u64
            }
        }
    }
}

impl fmt::Display for ParameterUnit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            ParameterUnit::CoreCycles => "core cycles",
            ParameterUnit::BusCycles => "bus cycles",
            ParameterUnit::Nanoseconds => "nanoseconds",
            ParameterUnit::Count => "a number",
            ParameterUnit::Bytes => "bytes",
            ParameterUnit::GigabytesPerSecond => "GB/s",
        })
    }
}

/// One parameter of every Cell model.
#[derive(Clone, Debug, PartialEq)]
pub struct CellBeParameter {
    /// Its key below `[figures]`.
    pub name: &'static str,
    /// The unit of its value.
    pub unit: ParameterUnit,
    /// The values that can run.
    pub range: RangeInclusive<f64>,
}

impl CellBeParameter {
    /// The reason why a figure cannot be the value of this parameter; `None` if it can.
    pub(crate) fn flaw(&self, figure: &ModelFigure) -> Option<String> {
        let CellBeParameter { name, unit, range } = self;
        if !range.contains(&figure.value) {
            let least = range.start();
            let most = range.end();
            return Some(format!(
                "figures.{name} is {}; give {unit} from {least} to {most}",
                figure.value
            ));
        }
        figure
            .source
            .is_empty()
            .then(|| format!("figures.{name} has no source; say where its value comes from"))
    }
}

/// Times that must not be zero: a cycle of steps that take no time would stop the model's clock.
const SOME: RangeInclusive<f64> = 1.0..=LARGEST;
/// Times that may be zero.
const ANY: RangeInclusive<f64> = 0.0..=LARGEST;
/// Bus clocks and transfers, which are multiplied by each other.
const FEW: RangeInclusive<f64> = 1.0..=1e4;
/// Times and rates that need not be whole numbers.
const FRACTION: RangeInclusive<f64> = 1e-3..=LARGEST;

/// Declares [`CellBeFigures`], [`CellBeTiming`] and [`PARAMETERS`] from one list:
/// `key => name: unit, range` below the parameter's doc.
macro_rules! parameters {
    ($($(#[doc = $doc:literal])+ $name:ident $(=> $short:ident)?: $unit:ident, $range:expr;)+) => {
        /// Every figure of a Cell model with its source, as its file states it.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct CellBeFigures {
            $($(#[doc = $doc])+ pub $name: ModelFigure,)+
        }

        impl CellBeFigures {
            /// Each figure with its key.
            pub fn all(&self) -> impl Iterator<Item = (&'static str, &ModelFigure)> {
                [$((stringify!($name), &self.$name),)+].into_iter()
            }

            /// The figure of a key; `None` if there is no such parameter.
            pub fn get_mut(&mut self, key: &str) -> Option<&mut ModelFigure> {
                match key {
                    $(stringify!($name) => Some(&mut self.$name),)+
                    _ => None,
                }
            }
        }

        /// All parameters, in the order of [`CellBeFigures::all`].
        pub const PARAMETERS: &[CellBeParameter] =
            &[$(CellBeParameter {
                name: stringify!($name),
                unit: ParameterUnit::$unit,
                range: $range,
            },)+];

        /// A model's figures as whole numbers: core cycles, counts and bytes.
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) struct CellBeTiming {
            $($(
                #[doc = concat!("[`CellBeFigures::", stringify!($name), "`] as a whole number.")]
                pub $short: u64,
            )?)+
        }

        impl CellBeTiming {
            /// Converts the figures of a model whose cores have this clock.
            pub fn new(figures: &CellBeFigures, frequency_ghz: f64) -> Self {
                let bus_cycles = figures.bus_cycles.value;
                let bus = ParameterUnit::CoreCycles.whole(bus_cycles, frequency_ghz, 1);
                CellBeTiming {
                    $($(
                        $short: ParameterUnit::$unit
                            .whole(figures.$name.value, frequency_ghz, bus),
                    )?)+
                }
            }
        }
    };
}

parameters! {
    /// Core cycles of a bus cycle.
    bus_cycles => bus: CoreCycles, FEW;
    /// For how long a transfer occupies each segment that it passes: 128 bytes at 16 a bus cycle.
    beats => transfer: BusCycles, FEW;
    /// Time between two starts on one ring.
    ring_start_bus_cycles => ring_gap: BusCycles, FEW;
    /// Transfers on one ring at once; the hardware has three.
    ring_transfers => ring_transfers: Count, 1.0..=3.0;
    /// Segments of the longest route that the arbiter takes. Below half the ring, some elements
    /// could not reach each other.
    longest_hops => longest_hops: Count, 6.0..=11.0;
    /// Time between two commands on the command network.
    command_bus_cycles => command_gap: BusCycles, FEW;
    /// Time from a command's grant to the combined response, on one chip.
    snoop_cycles => snoop: CoreCycles, SOME;
    /// Levels of the tree of address concentrators, each of which serves its inputs in turn. The
    /// time that a command alone needs on them is part of its snoop.
    concentrator_levels => concentrator_levels: Count, 1.0..=3.0;
    /// Time from the response to a command whose line was busy until it is sent again; 0 if the
    /// concentrators hold it until the line is free.
    command_retry_cycles => command_retry: CoreCycles, ANY;
    /// Time in which an SPU hands its MFC a command, or reads or writes a channel.
    channel_cycles => channel: CoreCycles, SOME;
    /// Time from there to the first request on the bus.
    dma_start_cycles => dma_start: CoreCycles, SOME;
    /// Time between two line requests of one MFC.
    line_gap_cycles => line_gap: CoreCycles, SOME;
    /// Line requests that one MFC can have under way.
    lines_in_flight => lines_in_flight: Count, SOME;
    /// Commands that an MFC's queue holds.
    mfc_queue => mfc_queue: Count, 1.0..=32.0;
    /// Time to fetch the next element of a list.
    list_element_cycles => list_element: CoreCycles, ANY;
    /// Time from the last byte of a transfer until the SPU is told.
    tag_cycles => tag: CoreCycles, SOME;
    /// Channels of a memory, each with data pins of its own.
    mic_channels => mic_channels: Count, 1.0..=2.0;
    /// Banks of a memory, over all channels; even ones are on the first channel, odd ones on the
    /// second.
    mic_banks => mic_banks: Count, 2.0..=64.0;
    /// For how long a line occupies the pins of a channel.
    mic_line_ns => mic_line: Nanoseconds, FRACTION;
    /// For how long a read occupies its bank, from the opening of its row to that of the next.
    bank_read_ns => bank_read: Nanoseconds, FRACTION;
    /// For how long a write occupies its bank.
    bank_write_ns => bank_write: Nanoseconds, FRACTION;
    /// For how long the pins stay empty between a read and a write.
    mic_to_write_ns => mic_to_write: Nanoseconds, ANY;
    /// For how long the pins stay empty between a write and a read from a bank of the same set; the
    /// even banks of a channel are one set, the odd ones the other.
    mic_to_read_ns => mic_to_read: Nanoseconds, ANY;
    /// For how long the pins stay empty between a write and a read from a bank of the other set.
    mic_to_read_other_set_ns => mic_to_read_other_set: Nanoseconds, ANY;
    /// Lines at the head of a channel's queue among which it serves the first whose bank is free.
    mic_window => mic_window: Count, FEW;
    /// Lines that a channel serves in one direction while lines of the other direction wait.
    mic_batch => mic_batch: Count, SOME;
    /// Time between two refreshes of a channel; 0 for none.
    refresh_interval_ns => refresh_interval: Nanoseconds, ANY;
    /// Banks that a refresh closes at once.
    refresh_banks => refresh_banks: Count, 1.0..=64.0;
    /// For how long it closes them.
    refresh_bank_ns => refresh_bank: Nanoseconds, ANY;
    /// For how long it keeps the channel from opening a row.
    refresh_channel_ns => refresh_channel: Nanoseconds, ANY;
    /// Time from a read line on the pins until its data is there.
    mic_latency_cycles => mic_latency: CoreCycles, SOME;
    /// Reads that a channel holds; it refuses further ones, which are sent again.
    mic_read_queue => mic_read_queue: Count, FEW;
    /// Writes that a channel holds, with those whose data is to come.
    mic_write_queue => mic_write_queue: Count, FEW;
    /// Time until a refused command is sent again.
    mic_retry_cycles => mic_retry: CoreCycles, SOME;
    /// Time between two tokens that a quarter of a chip's ring gets for the even, and for the odd
    /// banks of a memory; 0 if commands need none.
    token_interval_ns => token_interval: Nanoseconds, ANY;
    /// Time from chip to chip, one way.
    bif_latency_cycles => bif_latency: CoreCycles, SOME;
    /// The rate of one direction between the chips.
    bif_gbps => bif_byte_256ths: GigabytesPerSecond, FRACTION;
    /// Bytes of a command, a reflected command or a response between the chips, and of a data
    /// packet's header.
    bif_packet_bytes => bif_packet: Bytes, SOME;
    /// Time from the ring into a mapped register.
    register_cycles => register: CoreCycles, SOME;
    /// The time that a signal takes beyond a mailbox message.
    signal_cycles => signal: CoreCycles, ANY;
    /// The time that a signal to the other chip takes beyond that.
    signal_far_cycles => signal_far: CoreCycles, ANY;
    /// Time of each half of an atomic (reserve, store conditionally) in the SPU and its MFC, beside
    /// the bus.
    atomic_half_cycles => atomic_half: CoreCycles, SOME;
    /// Time that an SPU waits after its conditional store has failed, before it begins again.
    atomic_backoff_cycles => atomic_backoff: CoreCycles, ANY;
    /// Time in which the PPE reads a mapped register of an SPE of its chip.
    ppe_load_cycles => ppe_load: CoreCycles, SOME;
    /// Time in which the PPE reads a mapped register of an SPE of the other chip.
    ppe_load_far_cycles => ppe_load_far: CoreCycles, SOME;
    /// Time in which the PPE sees whether a mailbox of its chip has room before it writes.
    ppe_room_cycles => ppe_room: CoreCycles, SOME;
    /// Time in which the PPE sees whether a mailbox of the other chip has room.
    ppe_room_far_cycles => ppe_room_far: CoreCycles, SOME;
    /// Time in which a thread is created, runs and is found ended.
    thread_ns => thread: Nanoseconds, FRACTION;
    /// The time that a system call adds to a mailbox message.
    mailbox_call_ns => mailbox_call: Nanoseconds, FRACTION;
    /// The time that a system call adds to a signal.
    signal_call_ns => signal_call: Nanoseconds, ANY;
    /// Time of a tick of the decrementer.
    decrementer_ns: Nanoseconds, FRACTION;
    /// The longest time between the starts of two tasks, which start at random times.
    start_skew_cycles => start_skew: CoreCycles, ANY;
}

impl CellBeTiming {
    /// The core cycles that one direction between the chips takes for these bytes.
    pub fn bif(&self, bytes: u64) -> u64 {
        (bytes * self.bif_byte_256ths).div_ceil(BYTE_PARTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    #[test]
    fn each_unit_becomes_its_whole_number() {
        let whole = |unit: ParameterUnit, value| unit.whole(value, 3.2, 2);
        assert_eq!(whole(ParameterUnit::CoreCycles, 81.4), 81);
        assert_eq!(whole(ParameterUnit::BusCycles, 8.0), 16);
        assert_eq!(whole(ParameterUnit::Nanoseconds, 12.5), 40);
        assert_eq!(
            (whole(ParameterUnit::Count, 16.0), whole(ParameterUnit::Bytes, 128.0)),
            (16, 128)
        );
        // 25.6 GB/s at 3.2 GHz are 8 bytes a cycle.
        assert_eq!(whole(ParameterUnit::GigabytesPerSecond, 25.6), 32);
    }

    #[test]
    fn a_key_ends_with_its_unit() {
        for CellBeParameter { name, unit, .. } in PARAMETERS {
            let ending = match unit {
                ParameterUnit::CoreCycles => {
                    name.ends_with("_cycles") && !name.ends_with("_bus_cycles")
                }
                ParameterUnit::BusCycles => name.ends_with("_bus_cycles") || *name == "beats",
                ParameterUnit::Nanoseconds => name.ends_with("_ns"),
                ParameterUnit::Bytes => name.ends_with("_bytes"),
                ParameterUnit::GigabytesPerSecond => name.ends_with("_gbps"),
                ParameterUnit::Count => !name.ends_with("_cycles") && !name.ends_with("_ns"),
            };
            assert!(ending, "{name} is in {unit}");
        }
    }

    #[test]
    fn figures_beyond_their_range_and_without_source_are_refused() {
        let model = catalog::load("cell-ps3").unwrap().unwrap();
        for (parameter, (name, figure)) in PARAMETERS.iter().zip(model.figures.all()) {
            assert_eq!((parameter.name, parameter.flaw(figure)), (name, None));
            for value in [
                f64::NAN,
                f64::INFINITY,
                -1.0,
                parameter.range.end() * 2.0,
                parameter.range.start() - 1e-4,
            ] {
                let flaw =
                    parameter.flaw(&ModelFigure { value, ..figure.clone() }).unwrap_or_default();
                assert!(flaw.starts_with(&format!("figures.{name} is {value}; give ")), "{flaw}");
            }
            let unfounded = ModelFigure { source: String::new(), ..figure.clone() };
            assert!(parameter.flaw(&unfounded).is_some_and(|flaw| flaw.contains("no source")));
        }
    }

    #[test]
    fn bytes_between_the_chips_take_their_time() {
        let timing = catalog::load("cell-qs20").unwrap().unwrap().timing();
        // 20 GB/s at 3.2 GHz: 0.16 cycles a byte, rounded to 41/256.
        assert_eq!((timing.bif(0), timing.bif(1), timing.bif(128)), (0, 1, 21));
    }
}
