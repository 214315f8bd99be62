//! `seatmap show`.

use super::{cluster, place::ranks, services};
use crate::args::Show;
use seatmap_console::error::CliError;
use seatmap_console::output::{self, Destination};
use seatmap_console::view::ColourChoice;
use seatmap_console::{input, view};
use seatmap_document::shell_escaped;
use seatmap_launch::report;
use seatmap_os::Root;
use seatmap_os::kernel::Scheduler;
use seatmap_plan::Plan;
use seatmap_plan::plan::is_plan;
use seatmap_ranks::RankPlan;
use seatmap_report::html;
use seatmap_report::placement;
use seatmap_report::shown::{self, SetApart, ShownMachine};
use seatmap_report::terminal::{self, DrawOptions};
use seatmap_services::ServicesPlan;
use seatmap_watch::recording::Recording;
use std::convert::Infallible;
use std::path::Path;

/// Shows a machine, a cluster, a plan, the ranks of a job or a recording: in the terminal, as a
/// page, or as JSON.
pub fn run(typed: &Show, colour: ColourChoice) -> Result<(), CliError> {
    view::keep_to(typed.width);
    let page = output::page(typed.forms.html.as_deref(), typed.forms.json)?;
    let name = &typed.machine;
    // Seatmap's other documents first: the readers of machines would call them damaged profiles.
    if let Some(recording) = input::if_in_file(name, Recording::is_recording, Recording::read)? {
        return replay(typed, page, &recording);
    }
    if let Some(elsewhere) = input::if_in_file(name, report::is_seating, |text| {
        Ok::<_, Infallible>(report::where_to_look(text))
    })? {
        return Err(CliError::at(Path::new(name), elsewhere));
    }
    if input::if_in_file(name, is_pattern, |_| Ok::<_, Infallible>(()))?.is_some() {
        let elsewhere = format!(
            "holds a communication pattern, which 'seatmap pattern show {}' draws",
            shell_escaped(name)
        );
        return Err(CliError::at(Path::new(name), elsewhere));
    }
    if let Some(cluster) = cluster::of_file(name)? {
        return deliver(typed, page, &|| html::cluster(&cluster), &|| {
            cluster::show(&cluster, typed.forms.json)
        });
    }
    if let Some(plan) = input::if_in_file(name, is_plan, Plan::from_json)? {
        return show_plan(&plan, page.is_some(), typed.forms.json);
    }
    if let Some(plan) = input::if_in_file(name, ServicesPlan::is_plan, ServicesPlan::from_json)? {
        return services::show_plan(&plan, &typed.forms);
    }
    match input::if_in_file(name, RankPlan::is_plan, RankPlan::from_json)? {
        None => machine(typed, page, colour),
        Some(plan) if page.is_none() => ranks::show(&plan, typed.forms.json),
        Some(_) => Err(CliError::input(
            "the ranks of a job are shown in the terminal or with --json, not as a page",
        )),
    }
}

fn is_pattern(bytes: &[u8]) -> bool {
    seatmap_document::is_kind(bytes, "seatmap-pattern/")
}

/// The table that 'seatmap place' printed. A page of it has the pattern, which the plan lacks.
fn show_plan(plan: &Plan, is_page: bool, is_json: bool) -> Result<(), CliError> {
    if is_page {
        return Err(CliError::input(
            "a plan is shown in the terminal or with --json; 'seatmap place --html PAGE' writes a \
             page of a placement with its pattern",
        ));
    }
    output::print(&if is_json { plan.to_json() } else { placement::table(plan) })
}

fn machine(typed: &Show, page: Option<Destination>, colour: ColourChoice) -> Result<(), CliError> {
    let machine = input::machine(&typed.machine)?;
    let profile = input::profile_of(&machine)?;
    // After the machine is known: only it says which CPUs and homes there are.
    shown::check(&profile, typed.near, typed.home).map_err(CliError::input)?;
    // Isolated CPUs are a fact of this computer now, and no part of a profile.
    let scheduler = machine.is_host().then(|| Scheduler::read(&Root::new("/")));
    let set_apart = scheduler.map_or_else(SetApart::default, |scheduler| SetApart::of(&scheduler));
    let isolated = &set_apart.isolated;
    deliver(typed, page, &|| html::page(&profile, machine.model(), isolated), &|| {
        if typed.forms.json {
            return output::json(&ShownMachine::of(&profile, set_apart.clone()));
        }
        let options = DrawOptions {
            colour: view::colour(colour, &std::io::stdout()),
            width: view::width(),
            order: typed.order.into(),
            home: typed.home,
        };
        output::print(&(terminal::page(&profile, &options, typed.near) + &set_apart.text()))
    })
}

/// Writes the page where one was asked for, and prints where there is none, or JSON beside it.
fn deliver(
    typed: &Show,
    page: Option<Destination>,
    text: &dyn Fn() -> String,
    print: &dyn Fn() -> Result<(), CliError>,
) -> Result<(), CliError> {
    match page {
        None => print(),
        Some(page) if typed.forms.json => page.write(&text()).and_then(|()| print()),
        Some(page) => page.write_named(&text(), typed.forms.html.as_deref()),
    }
}

fn replay(typed: &Show, page: Option<Destination>, recording: &Recording) -> Result<(), CliError> {
    let Some(page) = page.filter(|_| !typed.forms.json) else {
        let remedy =
            "is a recording; 'seatmap show FILE --html PAGE' writes the page that replays it";
        return Err(CliError::at(Path::new(&typed.machine), remedy));
    };
    // A recorder that was killed leaves a part of a line; all before it is whole.
    if recording.is_cut_off {
        output::tell(&format!("{}: the last line was cut off and is left out", typed.machine));
    }
    page.write_named(&html::replay(recording), typed.forms.html.as_deref())
}
