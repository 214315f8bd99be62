//! The gallery for several verbs.

use seatmap_console::{CliError, CliResult, input, output};
use seatmap_machines::catalog::{Machine, MachineList};
use seatmap_measure::gallery::Gallery;
use seatmap_measure::gallery::collection::files_in;
use std::path::Path;

/// The bundled machines and the named ones: `host`, files, and all files of folders. A file in a
/// folder that is not a machine is skipped with a message.
pub fn of(named: &[String]) -> CliResult<Gallery> {
    let mut gallery = Gallery::default();
    for entry in MachineList::bundled().map_err(CliError::work)?.machines {
        let machine = Machine::bundled(entry.machine).map_err(CliError::work)?;
        let profile = input::profile_of(&machine)?;
        gallery.add_bundled(entry, machine, profile);
    }
    for name in named {
        if Path::new(name).is_dir() {
            for file in files_in(Path::new(name)).map_err(CliError::input)? {
                if let Err(error) = add(&mut gallery, &file.to_string_lossy()) {
                    output::tell(&format!("left out: {}", error.text()));
                }
            }
        } else {
            add(&mut gallery, name)?;
        }
    }
    Ok(gallery)
}

fn add(gallery: &mut Gallery, name: &str) -> CliResult {
    let machine = input::machine(name)?;
    let profile = input::profile_of(&machine)?;
    gallery.add(machine, profile);
    Ok(())
}
