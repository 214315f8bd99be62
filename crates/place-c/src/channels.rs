//! Seats for the threads of the calling program, by its channels.

use crate::argument::{array, known};
use crate::failure::Failure;
use crate::machine::Machine;
use crate::status::Status;
use seatmap_boundary::{Boundary, take_back};
use seatmap_place::{Channels, ThreadAttributes};

/// A channel between two threads of the program, which are counted from 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Channel {
    /// One of them.
    pub first: u32,
    /// The other.
    pub second: u32,
}

/// What a thread is created with.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The CPU to pin it to, by the operating system's number.
    pub cpu: u32,
    /// Whether it matters which line the channel uses; false where the machine tells no homes of lines apart.
    pub has_line: bool,
    /// The line that its channel should use: so many cache lines into memory that begins with a page; 0 where it does not
    /// matter.
    pub line: u32,
}

/// Where threads should sit, and which lines their channels should use. It never changes, so threads may share it.
pub struct Seats(seatmap_place::Seats);

/// Finds seats for the threads of count channels: next to the homes of the channels' lines where the machine tells homes
/// apart, else by distance. sections is 0, or how many slices of a ring or mesh the groups of threads are dealt to, which
/// must divide its cores.
///
/// machine may be NULL: this host, as `seatmap measure` remembers it below $XDG_STATE_HOME or ~/.local/state, and those of
/// its CPUs that the process may use.
///
/// On success *seats is the caller's, for seatmap_seats_free; else it is NULL.
///
/// Fails with SEATMAP_STATUS_NOT_POSSIBLE where the host has not been measured, or has fewer CPUs than there are threads,
/// or fewer lines than channels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_channels_seats(
    machine: *const Machine,
    channels: *const Channel,
    count: usize,
    sections: usize,
    seats: *mut *mut Seats,
) -> Status {
    let find = || {
        // SAFETY: the caller keeps the rules of the header.
        let (machine, pairs) = unsafe { (machine.as_ref(), array(channels, count, "channels")?) };
        let mut declared = Channels::new();
        declared.sections = (sections > 0).then_some(sections);
        for pair in pairs {
            declared.between(pair.first as usize, pair.second as usize);
        }
        let found = machine.map_or_else(|| declared.seats(), |machine| declared.seats_on(&machine.0, None));
        Ok(Seats(found?))
    };
    // SAFETY: as above.
    unsafe { Failure::give(seats, "seats", find) }
}

/// What the first (side 0) or second (side 1) thread of a channel, counted from 0, is created with.
///
/// Fails with SEATMAP_STATUS_BAD_ARGUMENT where there is no such channel or side.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_seats_side(
    seats: *const Seats,
    channel: usize,
    side: usize,
    attributes: *mut Attributes,
) -> Status {
    Failure::call(|| {
        // SAFETY: the caller keeps the rules of the header.
        let seats = unsafe { known(seats, "seats") }?;
        let none = || Failure::Argument(format!("there is no side {side} of a channel {channel}"));
        let found = told(seats.0.side(channel, side).ok_or_else(none)?);
        if attributes.is_null() {
            return Err(Failure::Null("attributes"));
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

fn told(found: ThreadAttributes) -> Attributes {
    let line = found.line.and_then(|line| u32::try_from(line).ok());
    Attributes { cpu: found.cpu, has_line: line.is_some(), line: line.unwrap_or(0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_told_where_there_is_one() {
        let with = told(ThreadAttributes { cpu: 3, line: Some(7) });
        assert_eq!(with, Attributes { cpu: 3, has_line: true, line: 7 });
        assert!(!told(ThreadAttributes { cpu: 3, line: None }).has_line);
    }
}
