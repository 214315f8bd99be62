//! A model's figures as the hot paths need them.

use crate::cell::CellModel;
use crate::figure::Figure;

/// Whole core cycles, and counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    pub bus: u64,
    pub transfer: u64,
    pub ring_gap: u64,
    pub ring_transfers: usize,
    pub longest_hops: u64,
    pub command_gap: u64,
    pub snoop: u64,
    pub channel: u64,
    pub dma_start: u64,
    pub line_gap: u64,
    pub lines_in_flight: u32,
    pub mfc_queue: usize,
    pub list_element: u64,
    pub tag: u64,
    pub mic_read: u64,
    pub mic_write: u64,
    pub mic_turn: u64,
    pub mic_latency: u64,
    pub mic_queue: u64,
    pub mic_retry: u64,
    pub bif_latency: u64,
    /// Of one byte, in 1/256 of a cycle.
    pub bif_byte_256ths: u64,
    pub bif_packet: u64,
    pub register: u64,
    pub signal: u64,
    pub signal_far: u64,
    pub atomic_half: u64,
    pub ppe_load: [u64; 2],
    pub ppe_room: [u64; 2],
    pub thread: u64,
    pub mailbox_call: u64,
    pub signal_call: u64,
    pub start_skew: u64,
}

impl Timing {
    pub fn new(model: &CellModel) -> Self {
        let f = &model.figures;
        let whole = |figure: &Figure| figure.value.round() as u64;
        let ns = |figure: &Figure| (figure.value * model.frequency_ghz).round() as u64;
        let bus = whole(&f.bus_cycles).max(1);
        Timing {
            bus,
            transfer: whole(&f.beats) * bus,
            ring_gap: whole(&f.ring_start_bus_cycles) * bus,
            ring_transfers: whole(&f.ring_transfers) as usize,
            longest_hops: whole(&f.longest_hops),
            command_gap: whole(&f.command_bus_cycles) * bus,
            snoop: whole(&f.snoop_cycles),
            channel: whole(&f.channel_cycles),
            dma_start: whole(&f.dma_start_cycles),
            line_gap: whole(&f.line_gap_cycles),
            lines_in_flight: whole(&f.lines_in_flight) as u32,
            mfc_queue: whole(&f.mfc_queue).clamp(1, 32) as usize,
            list_element: whole(&f.list_element_cycles),
            tag: whole(&f.tag_cycles),
            mic_read: whole(&f.mic_read_cycles),
            mic_write: whole(&f.mic_write_cycles),
            mic_turn: whole(&f.mic_turn_cycles),
            mic_latency: whole(&f.mic_latency_cycles),
            mic_queue: whole(&f.mic_queue),
            mic_retry: whole(&f.mic_retry_cycles),
            bif_latency: whole(&f.bif_latency_cycles),
            bif_byte_256ths: (256.0 * model.frequency_ghz / f.bif_gbps.value).round() as u64,
            bif_packet: whole(&f.bif_packet_bytes),
            register: whole(&f.register_cycles),
            signal: whole(&f.signal_cycles),
            signal_far: whole(&f.signal_far_cycles),
            atomic_half: whole(&f.atomic_half_cycles),
            ppe_load: [whole(&f.ppe_load_cycles), whole(&f.ppe_load_far_cycles)],
            ppe_room: [whole(&f.ppe_room_cycles), whole(&f.ppe_room_far_cycles)],
            thread: ns(&f.thread_ns),
            mailbox_call: ns(&f.mailbox_call_ns),
            signal_call: ns(&f.signal_call_ns),
            start_skew: whole(&f.start_skew_cycles),
        }
    }

    /// The time of so many bytes between the chips.
    pub fn bif(&self, bytes: u64) -> u64 {
        (bytes * self.bif_byte_256ths).div_ceil(256)
    }
}
