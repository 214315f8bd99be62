//! `seatmap machines`.

use super::gallery;
use clap::Args;
use seatmap_console::{AtPath, CliError, CliResult, Destination, output};
use seatmap_data::document::shell_escaped;
use seatmap_data::machine::SharedProfile;
use seatmap_data::statistics::words::counted;
use seatmap_machines::catalog::MachineList;
use seatmap_report::gallery::{self as gallery_report, INDEX};
use seatmap_report::shown;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct Machines {
    /// Add these to the site: host, files, or folders of files from 'seatmap measure --share'.
    #[arg(value_name = "PROFILE")]
    profiles: Vec<String>,
    /// Write the gallery into a folder: pages of all machines, and of those with the same
    /// processor side by side. A browser reads them without a server.
    #[arg(long, value_name = "FOLDER", conflicts_with = "json")]
    site: Option<PathBuf>,
    /// List the machines of 'seatmap pretend --zoo': also those without distances.
    #[arg(long, conflicts_with_all = ["site", "profiles"])]
    zoo: bool,
    /// Print only the list as JSON, on stdout.
    #[arg(long)]
    json: bool,
}

/// Lists the bundled machines with their capabilities and sources, or writes their gallery.
pub fn run(typed: &Machines) -> CliResult {
    if let Some(folder) = &typed.site {
        return site(typed, folder);
    }
    CliError::check_input(typed.profiles.first().map(|name| {
        format!(
            "{name}: 'seatmap show {}' draws one machine, and --site FOLDER makes pages of several",
            shell_escaped(name)
        )
    }))?;
    let list = if typed.zoo { MachineList::zoo() } else { MachineList::bundled() };
    let list = list.map_err(CliError::work)?;
    if typed.json { output::json(&list) } else { output::show(&shown::machines(&list)) }
}

/// Writes the pages, the index last: a folder with an index is complete.
fn site(typed: &Machines, folder: &Path) -> CliResult {
    let gallery = gallery::of(&typed.profiles)?;
    for machine in gallery.machines().iter().filter(|machine| machine.summary.is_none()) {
        let names = SharedProfile::names_in(&machine.profile);
        if !names.is_empty() {
            output::tell(&format!(
                "{}: the site shows {}; 'seatmap measure --share FILE' leaves it out",
                machine.given_name,
                names.join(" and ")
            ));
        }
    }
    std::fs::create_dir_all(folder).at(folder)?;
    let files = gallery_report::site(&gallery);
    for file in files.iter().rev() {
        Destination::new(&folder.join(&file.name))?.write_silently(&file.text)?;
    }
    let machines = counted(gallery.machines().len(), "machine");
    output::tell(&format!("wrote {} ({machines})", folder.join(INDEX).display()));
    Ok(())
}
