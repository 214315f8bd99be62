//! `seatmap show`.

use super::{cluster, place::ranks, services};
use crate::args::Show;
use seatmap_console::error::CliError;
use seatmap_console::output::{self, Destination, visible};
use seatmap_console::view::ColourChoice;
use seatmap_console::{here, input, view};
use seatmap_data::document::shell_escaped;
use seatmap_data::machine::{Origin, OriginKind, Profile, Topology};
use seatmap_data::plan::Plan;
use seatmap_data::plan::placed::is_plan;
use seatmap_launch::report;
use seatmap_machines::catalog::Machine;
use seatmap_os::Root;
use seatmap_os::kernel::SchedulerSettings;
use seatmap_place::ranks::RankPlan;
use seatmap_report::floor::{self, FloorPlan};
use seatmap_report::html;
use seatmap_report::shown::{self, SetApart, ShownMachine};
use seatmap_report::terminal::{self, DrawOptions};
use seatmap_report::{placement, svg};
use seatmap_services::ServicesPlan;
use seatmap_watch::recording::Recording;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::path::Path;

/// Shows a machine, a cluster, a plan, the ranks of a job or a recording: in the terminal, as a
/// page, or as JSON.
pub fn run(typed: &Show, colour: ColourChoice) -> Result<(), CliError> {
    view::keep_to(typed.width);
    let page = output::page(typed.forms.html.as_deref(), typed.forms.json)?;
    let picture = picture(typed, page.as_ref())?;
    let name = &typed.machine;
    if let Some(plan) = input::if_in_file(name, is_plan, Plan::from_json)? {
        return show_plan(typed, page, picture, &plan);
    }
    if picture.is_some() {
        input::if_in_file(name, is_other, |_| {
            Err::<Infallible, _>(
                "--svg draws machines and plans of tasks; leave it out to see this document",
            )
        })?;
    }
    // Otherwise these would seem damaged profiles.
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
            "is a communication pattern; 'seatmap pattern show {}' draws it",
            shell_escaped(name)
        );
        return Err(CliError::at(Path::new(name), elsewhere));
    }
    if let Some(cluster) = cluster::of_file(name)? {
        return deliver(typed, page, &|| seatmap_report::cluster::page(&cluster).html(), &|| {
            cluster::show(&cluster, typed.forms.json)
        });
    }
    if let Some(plan) = input::if_in_file(name, ServicesPlan::is_plan, ServicesPlan::from_json)? {
        return services::show_plan(&plan, &typed.forms);
    }
    match input::if_in_file(name, RankPlan::is_plan, RankPlan::from_json)? {
        None => machine(typed, page, picture, colour),
        Some(plan) if page.is_none() => ranks::show(&plan, typed.forms.json),
        Some(_) => {
            Err(CliError::input("a plan for ranks cannot be shown as a page; leave --html out"))
        }
    }
}

fn picture(typed: &Show, page: Option<&Destination>) -> Result<Option<Destination>, CliError> {
    let has_page = (page == Some(&Destination::Stdout)).then_some("--html -");
    let on_stdout = if typed.forms.json { Some("--json") } else { has_page };
    output::beside(typed.svg.as_deref(), on_stdout, "--svg")
}

fn is_other(bytes: &[u8]) -> bool {
    seatmap_data::document::is_kind(bytes, "")
        && !seatmap_data::document::is_kind(bytes, "seatmap-profile/")
}

fn is_pattern(bytes: &[u8]) -> bool {
    seatmap_data::document::is_kind(bytes, "seatmap-pattern/")
}

fn show_plan(
    typed: &Show,
    page: Option<Destination>,
    picture: Option<Destination>,
    plan: &Plan,
) -> Result<(), CliError> {
    if page.is_none() && picture.is_none() {
        let is_json = typed.forms.json;
        return if is_json {
            output::print_exact(&plan.to_json())
        } else {
            output::show(&placement::table(plan))
        };
    }
    let (profile, machine) = machine_of(plan)?;
    let floor = FloorPlan::of(&profile, machine.as_ref().and_then(Machine::model));
    if let Some(picture) = picture {
        let title = visible(&placement::title(plan));
        picture.write_named(&floor::tasks_svg(&floor, plan, &title), typed.svg.as_deref())?;
    }
    let Some(page) = page else { return Ok(()) };
    deliver(typed, Some(page), &|| placement::saved_page(&profile, &floor, plan).html(), &|| {
        output::print_exact(&plan.to_json())
    })
}

/// This computer, a bundled machine, or the plan's own CPUs: a name in a file never opens another
/// file.
fn machine_of(plan: &Plan) -> Result<(Profile, Option<Machine>), CliError> {
    let machine = match plan.check_machine(&here::host_name()) {
        Ok(()) => Some(input::machine("host")?),
        Err(_) => Machine::bundled(&plan.machine).ok(),
    };
    if let Some(machine) = machine {
        return Ok((input::profile_of(&machine)?, Some(machine)));
    }
    let topology = match &plan.pus[..] {
        [] => Topology::unknown(plan.placement.iter().copied().collect::<BTreeSet<u32>>()),
        pus => Topology { pus: pus.to_vec() },
    };
    let origin = Origin {
        kind: OriginKind::Imported,
        source: plan.machine.clone(),
        date: plan.date.clone(),
        tool: plan.tool.clone(),
    };
    Ok((Profile::new(&plan.machine, origin, topology), None))
}

fn machine(
    typed: &Show,
    page: Option<Destination>,
    picture: Option<Destination>,
    colour: ColourChoice,
) -> Result<(), CliError> {
    let machine = input::machine(&typed.machine)?;
    let profile = input::profile_of(&machine)?;
    // After the machine is known, because CPUs and homes depend on it.
    shown::check(&profile, typed.near, typed.home).map_err(CliError::input)?;
    if let Some(picture) = picture {
        let drawn = svg::heatmap(&profile, typed.order.into());
        picture.write_named(&drawn, typed.svg.as_deref())?;
        if page.is_none() && !typed.forms.json {
            return Ok(());
        }
    }
    // Not in a profile.
    let scheduler = machine.is_host().then(|| SchedulerSettings::read(&Root::new("/")));
    let set_apart = scheduler.map_or_else(SetApart::default, |scheduler| SetApart::of(&scheduler));
    let isolated = &set_apart.isolated;
    let words = input::words_of(&machine, &profile.topology);
    deliver(typed, page, &|| html::page(&profile, machine.model(), isolated), &|| {
        if typed.forms.json {
            return output::json(&ShownMachine::of(&profile, set_apart.clone(), words.clone()));
        }
        let options = DrawOptions {
            colour: view::colour(colour, &std::io::stdout()),
            width: view::width(),
            order: typed.order.into(),
            home: typed.home,
        };
        let page = terminal::page(&profile, &options, typed.near);
        output::show(&page.words(&words).paragraph(set_apart.lines()))
    })
}

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
    // A killed recorder leaves a partial last line.
    if recording.is_cut_off {
        output::tell(&format!("{}: the last line is incomplete and was omitted", typed.machine));
    }
    page.write_named(&html::replay(recording), typed.forms.html.as_deref())
}
