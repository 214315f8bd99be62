//! `seatmap show`.

mod recording;

use crate::args::{OrderChoice, Show};
use seatmap_console::error::CliError;
use seatmap_console::output::{self, Destination};
use seatmap_console::view::ColourChoice;
use seatmap_console::{input, view};
use seatmap_machine::Profile;
use seatmap_os::kernel::Scheduler;
use seatmap_os::{CpuList, Root};
use seatmap_report::counted;
use seatmap_report::floor::Floor;
use seatmap_report::shown::{SetApart, ShownMachine};
use seatmap_report::terminal::{self, DrawOptions};
use seatmap_report::{Order, html};

/// Shows a machine in the terminal, as a page, or as JSON.
pub fn run(typed: Show, colour: ColourChoice) -> Result<(), CliError> {
    let destination = output::page(typed.html.as_deref(), typed.json)?;
    // Seatmap's other documents first: the readers of machines would call them damaged profiles.
    if let Some(recording) = recording::of_file(&typed.machine)? {
        return recording::show(&recording, &typed, destination);
    }
    if let Some(cluster) = super::cluster::of_file(&typed.machine)? {
        if let Some(destination) = destination {
            write_page(&typed, &destination, &html::cluster(&cluster))?;
            return if typed.json { super::cluster::show(&cluster, true) } else { Ok(()) };
        }
        return super::cluster::show(&cluster, typed.json);
    }
    if let Some(plan) = super::place::ranks::of_file(&typed.machine)? {
        return match destination {
            Some(_) if !typed.json => Err(CliError::input(
                "the ranks of a job are shown in the terminal or with --json, not as a page",
            )),
            _ => super::place::ranks::show(&plan, typed.json),
        };
    }
    let machine = input::machine(&typed.machine)?;
    let profile = input::profile_of(&machine)?;
    // After the machine is known: only it says which CPUs and homes there are.
    check(&profile, &typed)?;
    // Isolated CPUs are a fact of this computer now, and no part of a profile.
    let set_apart = if machine.is_host() {
        SetApart::of(&Scheduler::read(&Root::new("/")))
    } else {
        SetApart::default()
    };
    if let Some(destination) = destination {
        let floor = Floor::of(&profile, machine.model()).with_isolated(set_apart.isolated.clone());
        write_page(&typed, &destination, &html::page(&profile, &floor))?;
        return if typed.json {
            output::json(&ShownMachine::of(&profile, set_apart))
        } else {
            Ok(())
        };
    }
    if typed.json {
        return output::json(&ShownMachine::of(&profile, set_apart));
    }
    let options = DrawOptions {
        colour: view::colour(colour, &std::io::stdout()),
        width: view::width(typed.width),
        order: order(typed.order),
        home: typed.home,
    };
    output::print(&(terminal::page(&profile, &options, typed.near) + &set_apart.text()))
}

/// Writes a page, and says so where nothing else is printed.
fn write_page(typed: &Show, destination: &Destination, page: &str) -> Result<(), CliError> {
    destination.write(page)?;
    if let Some(path) =
        typed.html.as_ref().filter(|_| !typed.json && *destination != Destination::Stdout)
    {
        output::tell(&format!("wrote {}", path.display()));
    }
    Ok(())
}

/// A CPU or home that the profile does not have.
fn check(profile: &Profile, typed: &Show) -> Result<(), CliError> {
    if let Some(cpu) = typed.near.filter(|cpu| profile.topology.pu(*cpu).is_none()) {
        let known = CpuList(profile.topology.os_indices().collect());
        return Err(CliError::input(format!(
            "--near {cpu}: {} has {}",
            profile.name,
            known.named()
        )));
    }
    let homes = profile.home_model.as_ref().map_or(0, seatmap_machine::HomeModel::homes);
    match typed.home.filter(|home| *home >= homes) {
        Some(home) => Err(CliError::input(format!(
            "--home {home}: {} knows {}, counted from 0; 'seatmap measure --homes N' finds more",
            profile.name,
            counted(homes, "home")
        ))),
        None => Ok(()),
    }
}

fn order(choice: OrderChoice) -> Order {
    match choice {
        OrderChoice::Group => Order::Group,
        OrderChoice::Os => Order::Os,
    }
}
