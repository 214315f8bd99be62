//! CPUs for the threads of the calling program, by its channels.

use crate::argument::array;
use crate::failure::PlaceCallFailure;
use crate::machine::MachineHandle;
use crate::status::PlaceStatus;
use seatmap_c_abi::{Boundary, take_back};
use seatmap_measure::seats::line_homes::LINE_BYTES;
use seatmap_measure::seats::{ProgramChannels, ThreadAttributes};
use seatmap_os::affinity;
use std::ffi::c_void;
use std::sync::atomic::AtomicU64;

/// A channel between two threads of the program, which are counted from 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ThreadPair {
    /// The number of one thread.
    pub first: u32,
    /// The number of the other thread.
    pub second: u32,
}

/// The attributes for creating a thread.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeatAttributes {
    /// The CPU to pin it to, by the operating system's number.
    pub cpu: u32,
    /// Whether it matters which line the channel uses; false if the machine's homes of lines are
    /// unknown.
    pub has_line: bool,
    /// The line for its channel, or 0 if it does not matter. Lines have 64 bytes, and count from
    /// the start of the given memory; without memory, from the start of any page, as far as homes
    /// repeat from page to page.
    pub line: u32,
}

/// CPUs for threads, and lines for their channels. It never changes, so threads may share it.
pub struct Seats(seatmap_measure::seats::ProgramSeats);

/// Finds CPUs for the threads of count channels: next to the homes of the channels' lines if the
/// machine's homes are known, else by distance. sections is 0, or the number of slices of a ring or
/// mesh over which the groups of threads are distributed; it must divide the machine's cores.
///
/// If machine is NULL, it is this host as `seatmap measure` stored it below $XDG_STATE_HOME or
/// ~/.local/state, limited to the CPUs that the process may use.
///
/// On success, free *seats with seatmap_seats_free; on failure it is NULL.
///
/// If there are fewer CPUs than threads, threads share CPUs; with sections that is an error.
///
/// Fails with SEATMAP_STATUS_NOT_POSSIBLE if the host has not been measured, is not the measured
/// computer, or has fewer lines than channels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_channels_seats(
    machine: *const MachineHandle,
    channels: *const ThreadPair,
    count: usize,
    sections: usize,
    seats: *mut *mut Seats,
) -> PlaceStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        PlaceCallFailure::give(seats, "seats", || found_seats(machine, channels, count, sections))
    }
}

/// # Safety
/// As [`seatmap_channels_seats`].
unsafe fn found_seats(
    machine: *const MachineHandle,
    channels: *const ThreadPair,
    count: usize,
    sections: usize,
) -> Result<Seats, PlaceCallFailure> {
    // SAFETY: the caller keeps the rules of the header.
    let (machine, declared) = unsafe { (machine.as_ref(), declared(channels, count, sections)?) };
    let found =
        machine.map_or_else(|| declared.seats(), |machine| declared.seats_on(&machine.0, None));
    Ok(Seats(found?))
}

/// As seatmap_channels_seats, next to lines of the given memory, which the channels will use. The
/// line in each side's attributes is counted from the start of the memory, which must be a multiple
/// of 64 bytes.
///
/// If the homes of lines are known, pinned threads first find the home of each line, two at a time
/// on CPUs that the process may use, while the calling thread waits. That takes a fraction of a
/// millisecond per line, and fails after 1 s and 4 ms per line. No other thread may use the memory
/// meanwhile; its contents do not change. If the homes are not known, nothing is measured.
///
/// machine may be NULL, or a profile of this host from another file.
///
/// Fails with SEATMAP_STATUS_BAD_ARGUMENT if the memory begins inside a line. Fails with
/// SEATMAP_STATUS_NOT_POSSIBLE as seatmap_channels_seats does, if other programs keep CPUs busy,
/// and if fewer homes were found than there are channels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_channels_seats_over(
    machine: *const MachineHandle,
    channels: *const ThreadPair,
    count: usize,
    sections: usize,
    memory: *mut c_void,
    size_bytes: usize,
    seats: *mut *mut Seats,
) -> PlaceStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        PlaceCallFailure::give(seats, "seats", || {
            seats_over(machine, channels, count, sections, (memory, size_bytes))
        })
    }
}

/// # Safety
/// As [`seatmap_channels_seats_over`].
unsafe fn seats_over(
    machine: *const MachineHandle,
    channels: *const ThreadPair,
    count: usize,
    sections: usize,
    (memory, size_bytes): (*mut c_void, usize),
) -> Result<Seats, PlaceCallFailure> {
    // SAFETY: the caller keeps the rules of the header.
    let (machine, declared) = unsafe { (machine.as_ref(), declared(channels, count, sections)?) };
    // SAFETY: the caller says that it can be written, and that nothing else uses it during the
    // call.
    let memory = unsafe { words(memory, size_bytes)? };
    let cpus = affinity::current().ok();
    let found = match machine {
        Some(machine) => declared.seats_over_on(memory, &machine.0, cpus.as_deref()),
        None => declared.seats_over(memory),
    };
    Ok(Seats(found?))
}

/// # Safety
/// `channels` is NULL or points to `count` of them that do not change during the call.
unsafe fn declared(
    channels: *const ThreadPair,
    count: usize,
    sections: usize,
) -> Result<ProgramChannels, PlaceCallFailure> {
    let mut declared = ProgramChannels::new();
    declared.sections = (sections > 0).then_some(sections);
    // SAFETY: passed on.
    for pair in unsafe { array(channels, count, "channels") }? {
        declared.between(pair.first as usize, pair.second as usize);
    }
    Ok(declared)
}

/// # Safety
/// `memory` is NULL or can be written for `size_bytes`, and nothing else uses it while the slice
/// lives.
unsafe fn words<'a>(
    memory: *mut c_void,
    size_bytes: usize,
) -> Result<&'a [AtomicU64], PlaceCallFailure> {
    if !memory.addr().is_multiple_of(LINE_BYTES) {
        return Err(PlaceCallFailure::argument(format!(
            "memory must start at a multiple of {LINE_BYTES} bytes, the size of a line"
        )));
    }
    // SAFETY: aligned as words are, as just seen, and the caller says that they are there.
    unsafe { array(memory.cast_const().cast(), size_bytes / size_of::<AtomicU64>(), "memory") }
}

/// Gives the attributes for creating the first (side 0) or second (side 1) thread of a channel,
/// counted from 0.
///
/// Fails with SEATMAP_STATUS_BAD_ARGUMENT if there is no such channel or side.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_seats_side(
    seats: *const Seats,
    channel: usize,
    side: usize,
    attributes: *mut SeatAttributes,
) -> PlaceStatus {
    PlaceCallFailure::call(|| {
        // SAFETY: the caller keeps the rules of the header.
        let seats = unsafe { PlaceCallFailure::known(seats, "seats") }?;
        let found = attributes_of(seats.0.side(channel, side).ok_or_else(|| {
            PlaceCallFailure::argument(format!("there is no channel {channel} with a side {side}"))
        })?);
        if attributes.is_null() {
            return Err(PlaceCallFailure::null("attributes"));
        }
        // SAFETY: not NULL, so the caller says that it can be written.
        unsafe { attributes.write(found) };
        Ok(())
    })
}

/// Frees seats; NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_seats_free(seats: *mut Seats) {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { take_back(seats) }
}

fn attributes_of(found: ThreadAttributes) -> SeatAttributes {
    let line = found.line.and_then(|line| u32::try_from(line).ok());
    SeatAttributes { cpu: found.cpu, has_line: line.is_some(), line: line.unwrap_or(0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_line_is_reported_if_present() {
        let with = attributes_of(ThreadAttributes { cpu: 3, line: Some(7) });
        assert_eq!(with, SeatAttributes { cpu: 3, has_line: true, line: 7 });
        assert!(!attributes_of(ThreadAttributes { cpu: 3, line: None }).has_line);
    }
}
