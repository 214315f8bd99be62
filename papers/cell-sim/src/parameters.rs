//! The list of all parameters of a Cell model.
//!
//! No parameter has a default.

use seatmap_sim::figure::ModelFigure;
use std::fmt;
use std::ops::RangeInclusive;

/// Fractions of a core cycle in which the time of a byte between the chips is counted.
const BYTE_PARTS: u64 = 256;
/// The largest permitted value: far above any machine's, but sums of cycles cannot overflow.
const LARGEST: f64 = 1e9;

/// A parameter's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterUnit {
    /// Cycles of the core clock.
    CoreCycles,
    /// Cycles of the bus clock.
    BusCycles,
    /// Nanoseconds.
    Nanoseconds,
    /// A count.
    Count,
    /// Bytes.
    Bytes,
    /// 10^9 bytes a second.
    GigabytesPerSecond,
}

impl ParameterUnit {
    /// Converts a value to core cycles; a rate becomes 256ths of a core cycle per byte.
    fn whole(self, value: f64, frequency_ghz: f64, bus: u64) -> u64 {
        match self {
            ParameterUnit::CoreCycles | ParameterUnit::Count | ParameterUnit::Bytes => {
                value.round() as u64
            }
            ParameterUnit::BusCycles => value.round() as u64 * bus,
            // DRAM and the kernel have their own clocks: their times in core cycles grow with the
            // core clock.
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

/// A parameter of a Cell model.
#[derive(Clone, Debug, PartialEq)]
pub struct CellBeParameter {
    /// Its key below `[figures]`.
    pub name: &'static str,
    /// Its value's unit.
    pub unit: ParameterUnit,
    /// The permitted values.
    pub range: RangeInclusive<f64>,
}

impl CellBeParameter {
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

/// Times above zero: steps that take no time could repeat forever.
const SOME: RangeInclusive<f64> = 1.0..=LARGEST;
const ANY: RangeInclusive<f64> = 0.0..=LARGEST;
/// Bus clocks and transfers, which are multiplied with each other.
const FEW: RangeInclusive<f64> = 1.0..=1e4;
/// Times and rates that need not be whole numbers.
const FRACTION: RangeInclusive<f64> = 1e-3..=LARGEST;

/// Declares [`CellBeFigures`], [`CellBeTiming`] and [`PARAMETERS`] from one list of `key => name:
/// unit, range`.
macro_rules! parameters {
    ($($(#[doc = $doc:literal])+ $name:ident $(=> $short:ident)?: $unit:ident, $range:expr;)+) => {
        /// Every figure of a Cell model with its source, as the file states it.
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

            /// The figure with this key.
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

        #[derive(Clone, Debug, PartialEq)]
        pub(crate) struct CellBeTiming {
            $($(
                #[doc = concat!("[`CellBeFigures::", stringify!($name), "`] as a whole number.")]
                pub $short: u64,
            )?)+
        }

        impl CellBeTiming {
            /// Converts the figures of a model with this core clock.
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
    /// Core cycles per bus cycle.
    bus_cycles => bus: CoreCycles, FEW;
    /// Time for which a transfer occupies each ring segment on its route: 128 bytes at 16 per bus
    /// cycle.
    beats => transfer: BusCycles, FEW;
    /// Time between two starts on one ring.
    ring_start_bus_cycles => ring_gap: BusCycles, FEW;
    /// Concurrent transfers on one ring; the hardware has three.
    ring_transfers => ring_transfers: Count, 1.0..=3.0;
    /// Longest permitted route in segments. Below half the ring, some elements could not reach each
    /// other.
    longest_hops => longest_hops: Count, 6.0..=11.0;
    /// Time between two commands on the command network.
    command_bus_cycles => command_gap: BusCycles, FEW;
    /// Time from a command's grant to its combined response, on one chip.
    snoop_cycles => snoop: CoreCycles, SOME;
    /// Levels of the tree of address concentrators, each of which serves its inputs in turn.
    /// `snoop_cycles` includes the time that a single command needs on them.
    concentrator_levels => concentrator_levels: Count, 1.0..=3.0;
    /// Time until a command to a busy line is sent again, from its response; 0 if the concentrators
    /// hold the command until the line is free.
    command_retry_cycles => command_retry: CoreCycles, ANY;
    /// Time for an SPU to hand its MFC a command, or to read or write a channel.
    channel_cycles => channel: CoreCycles, SOME;
    /// Time from then to the first request on the bus.
    dma_start_cycles => dma_start: CoreCycles, SOME;
    /// Time between two line requests of one MFC.
    line_gap_cycles => line_gap: CoreCycles, SOME;
    /// Concurrent line requests of one MFC.
    lines_in_flight => lines_in_flight: Count, SOME;
    /// Entries of an MFC's command queue.
    mfc_queue => mfc_queue: Count, 1.0..=32.0;
    /// Time to fetch the next list element.
    list_element_cycles => list_element: CoreCycles, ANY;
    /// Time from the last byte of a transfer to the SPU's notification.
    tag_cycles => tag: CoreCycles, SOME;
    /// Channels of a memory; each has its own data pins.
    mic_channels => mic_channels: Count, 1.0..=2.0;
    /// Banks of a memory over all channels: even banks on the first channel, odd banks on the
    /// second.
    mic_banks => mic_banks: Count, 2.0..=64.0;
    /// Time for which a line occupies a channel's pins.
    mic_line_ns => mic_line: Nanoseconds, FRACTION;
    /// Time for which a read occupies its bank, from opening its row to opening the next.
    bank_read_ns => bank_read: Nanoseconds, FRACTION;
    /// Time for which a write occupies its bank.
    bank_write_ns => bank_write: Nanoseconds, FRACTION;
    /// Idle time of the pins between a read and a write.
    mic_to_write_ns => mic_to_write: Nanoseconds, ANY;
    /// Idle time of the pins between a write and a read from a bank of the same set. The even banks
    /// of a channel are one set, the odd banks the other.
    mic_to_read_ns => mic_to_read: Nanoseconds, ANY;
    /// Idle time of the pins between a write and a read from a bank of the other set.
    mic_to_read_other_set_ns => mic_to_read_other_set: Nanoseconds, ANY;
    /// Lines at the head of a channel's queue from which it serves the first with a free bank.
    mic_window => mic_window: Count, FEW;
    /// Lines that a channel serves in one direction while the other direction waits.
    mic_batch => mic_batch: Count, SOME;
    /// Time between two refreshes of a channel; 0 for none.
    refresh_interval_ns => refresh_interval: Nanoseconds, ANY;
    /// Banks closed by one refresh.
    refresh_banks => refresh_banks: Count, 1.0..=64.0;
    /// Time for which a refresh closes its banks.
    refresh_bank_ns => refresh_bank: Nanoseconds, ANY;
    /// Time for which a refresh keeps the channel from opening a row.
    refresh_channel_ns => refresh_channel: Nanoseconds, ANY;
    /// Time from a read line on the pins to its data.
    mic_latency_cycles => mic_latency: CoreCycles, SOME;
    /// Reads that a channel's queue holds; further reads are refused and sent again.
    mic_read_queue => mic_read_queue: Count, FEW;
    /// Writes that a channel's queue holds, including writes whose data has not arrived.
    mic_write_queue => mic_write_queue: Count, FEW;
    /// Time until a refused command is sent again.
    mic_retry_cycles => mic_retry: CoreCycles, SOME;
    /// Time between two tokens of a quarter of a chip's ring, for the even or the odd banks of a
    /// memory; 0 if commands need no tokens.
    token_interval_ns => token_interval: Nanoseconds, ANY;
    /// One-way time from chip to chip.
    bif_latency_cycles => bif_latency: CoreCycles, SOME;
    /// Rate of one direction between the chips.
    bif_gbps => bif_byte_256ths: GigabytesPerSecond, FRACTION;
    /// Size of a command, a reflected command, a response or a data packet's header between the
    /// chips.
    bif_packet_bytes => bif_packet: Bytes, SOME;
    /// Time from the ring to a mapped register.
    register_cycles => register: CoreCycles, SOME;
    /// Extra time of a signal over a mailbox message.
    signal_cycles => signal: CoreCycles, ANY;
    /// Extra time of a signal to the other chip.
    signal_far_cycles => signal_far: CoreCycles, ANY;
    /// Time of each half of an atomic (reserve, store conditionally) in the SPU and its MFC,
    /// without the bus.
    atomic_half_cycles => atomic_half: CoreCycles, SOME;
    /// Time for which an SPU waits after a failed conditional store.
    atomic_backoff_cycles => atomic_backoff: CoreCycles, ANY;
    /// Time for the PPE to read a mapped register of an SPE on its chip.
    ppe_load_cycles => ppe_load: CoreCycles, SOME;
    /// Time for the PPE to read a mapped register of an SPE on the other chip.
    ppe_load_far_cycles => ppe_load_far: CoreCycles, SOME;
    /// Time for the PPE to check that a mailbox on its chip has room before it writes.
    ppe_room_cycles => ppe_room: CoreCycles, SOME;
    /// Time for the PPE to check that a mailbox on the other chip has room.
    ppe_room_far_cycles => ppe_room_far: CoreCycles, SOME;
    /// Time to create a thread, run it and join it.
    thread_ns => thread: Nanoseconds, FRACTION;
    /// Extra time of a mailbox message sent through a system call.
    mailbox_call_ns => mailbox_call: Nanoseconds, FRACTION;
    /// Extra time of a signal sent through a system call.
    signal_call_ns => signal_call: Nanoseconds, ANY;
    /// Time per tick of the decrementer.
    decrementer_ns: Nanoseconds, FRACTION;
    /// The longest time between the starts of two tasks; start times are random.
    start_skew_cycles => start_skew: CoreCycles, ANY;
}

impl CellBeTiming {
    /// Core cycles for sending these bytes in one direction between the chips.
    pub fn bif(&self, bytes: u64) -> u64 {
        (bytes * self.bif_byte_256ths).div_ceil(BYTE_PARTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    #[test]
    fn units_convert_to_whole_numbers() {
        let whole = |unit: ParameterUnit, value| unit.whole(value, 3.2, 2);
        assert_eq!(whole(ParameterUnit::CoreCycles, 81.4), 81);
        assert_eq!(whole(ParameterUnit::BusCycles, 8.0), 16);
        assert_eq!(whole(ParameterUnit::Nanoseconds, 12.5), 40);
        assert_eq!(
            (whole(ParameterUnit::Count, 16.0), whole(ParameterUnit::Bytes, 128.0)),
            (16, 128)
        );
        // 25.6 GB/s at 3.2 GHz is 8 bytes per cycle.
        assert_eq!(whole(ParameterUnit::GigabytesPerSecond, 25.6), 32);
    }

    #[test]
    fn keys_end_with_their_unit() {
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
    fn out_of_range_or_unsourced_figures_are_refused() {
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
    fn bytes_between_chips_take_link_cycles() {
        let timing = catalog::load("cell-qs20").unwrap().unwrap().timing();
        // 20 GB/s at 3.2 GHz is 0.16 cycles per byte, rounded to 41/256.
        assert_eq!((timing.bif(0), timing.bif(1), timing.bif(128)), (0, 1, 21));
    }
}
