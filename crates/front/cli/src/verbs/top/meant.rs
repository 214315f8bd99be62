//! Converts a command line into programs, or a usage error.

use crate::args::Top;
use seatmap_console::error::CliError;
use seatmap_console::plan_input;
use seatmap_machines::host::{remembered, topology};
use seatmap_observe::wakes::WakeCounter;
use seatmap_report::terminal::top::SeatGroups;
use seatmap_watch::{ProcessChoice, Standard, WatchedPrograms};

/// The programs to show, and the map of the CPUs by shared parts.
pub fn begin(typed: &Top) -> Result<(WatchedPrograms, SeatGroups), CliError> {
    let seats = plan_input::expected_seats(typed.expect.as_deref(), typed.any_machine)?;
    let topology = topology::of_group().map_err(CliError::work)?;
    // A host without a usable profile has the kernel's groups.
    let profile = remembered::host().ok().filter(|profile| profile.core_distance.is_some());
    let measured =
        profile.map(|profile| profile.home_model.map(|model| model.groups).unwrap_or_default());
    // The map includes cells' CPUs.
    let map = topology::whole().unwrap_or_else(|_| topology.clone());
    let groups = SeatGroups::new(&map, measured.as_deref());
    let named = ProcessChoice::named(&typed.pid, true, typed.cgroup.clone(), typed.name.clone());
    let choice = named.unwrap_or(ProcessChoice::All);
    let standard = Standard { seats, ..Standard::default() };
    let mut watched = WatchedPrograms::begin(&choice, standard, topology, measured)?;
    if typed.wakes {
        count_wakes(&mut watched)?;
    }
    Ok((watched, groups))
}

/// Counts wakeups between threads from now on, among the running programs and all that they start.
pub fn count_wakes(watched: &mut WatchedPrograms) -> Result<(), CliError> {
    let mut counter = WakeCounter::begin(watched.pids())?;
    watched.count_by(Some(Box::new(move || counter.take())));
    Ok(())
}
