//! `seatmap show`.

use super::{cluster, place, services};
use clap::Args;
use seatmap_cluster::Cluster;
use seatmap_console::output::visible;
use seatmap_console::{
    CliError, CliResult, Destination, ResultForms, choice, here, input, output, view,
};
use seatmap_data::document::{is_kind, shell_escaped};
use seatmap_data::machine::{Origin, OriginKind, Profile, Topology};
use seatmap_data::plan::Plan;
use seatmap_data::plan::placed::is_plan;
use seatmap_launch::report;
use seatmap_machines::catalog::Machine;
use seatmap_os::Root;
use seatmap_os::kernel::SchedulerSettings;
use seatmap_place::ranks::RankPlan;
use seatmap_report::floor::{self, FloorPlan};
use seatmap_report::shown::{self, SetApart, ShownMachine};
use seatmap_report::terminal::{self, DrawOptions};
use seatmap_report::{GridOrder, html, placement, svg};
use seatmap_services::ServicesPlan;
use seatmap_watch::recording::Recording;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct Show {
    /// The machine: host, a bundled machine, or a file. Also a recording of 'seatmap top', a plan
    /// of 'seatmap place', or a cluster.
    #[arg(value_name = "MACHINE", default_value = "host")]
    machine: String,
    /// The order of rows and columns.
    #[arg(long, default_value = "group")]
    order: OrderChoice,
    /// List the nearest neighbours of this CPU.
    #[arg(long, value_name = "CPU")]
    near: Option<u32>,
    /// Draw the model's distances for lines of this home.
    #[arg(long, value_name = "N")]
    home: Option<usize>,
    /// The width in columns; the terminal's by default.
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(20..))]
    width: Option<u16>,
    /// Draw a machine's distances, or a plan's tasks on its machine, as a picture; - is stdout.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    forms: ResultForms,
}

choice! {
    /// The order of rows and columns.
    OrderChoice for GridOrder {
        /// Group by group, SMT siblings side by side.
        Group,
        /// OS order: CPU 0, 1, 2 ...
        Os,
    }
}

/// Shows a machine, a cluster, a plan, the ranks of a job or a recording: in the terminal, as a
/// page, or as JSON.
pub fn run(typed: &Show) -> CliResult {
    view::keep_to(typed.width);
    let json = typed.forms.json;
    let page = output::page(typed.forms.html.as_deref(), json)?;
    let has_page = (page == Some(Destination::Stdout)).then_some("--html -");
    let on_stdout = if json { Some("--json") } else { has_page };
    let picture = output::beside(typed.svg.as_deref(), on_stdout, "--svg")?;
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
    let at = |elsewhere| CliError::at(Path::new(name), elsewhere);
    let look = |text: &str| Ok::<_, Infallible>(report::where_to_look(text));
    if let Some(elsewhere) = input::if_in_file(name, report::is_seating, look)? {
        return Err(at(elsewhere));
    }
    if input::if_in_file(name, is_pattern, |_| Ok::<_, Infallible>(()))?.is_some() {
        return Err(at(format!(
            "is a communication pattern; 'seatmap pattern show {}' draws it",
            shell_escaped(name)
        )));
    }
    if let Some(cluster) = input::if_in_file(name, Cluster::is_cluster, Cluster::from_json)? {
        let text = || seatmap_report::cluster::page(&cluster).html();
        return deliver(typed, page, &text, &|| cluster::show(&cluster, json));
    }
    if let Some(plan) = input::if_in_file(name, ServicesPlan::is_plan, ServicesPlan::from_json)? {
        return services::show_plan(&plan, &typed.forms);
    }
    match input::if_in_file(name, RankPlan::is_plan, RankPlan::from_json)? {
        None => machine(typed, page, picture),
        Some(plan) if page.is_none() => place::show_ranks(&plan, json),
        Some(_) => {
            Err(CliError::input("a plan for ranks cannot be shown as a page; leave --html out"))
        }
    }
}

fn is_other(bytes: &[u8]) -> bool {
    is_kind(bytes, "") && !is_kind(bytes, "seatmap-profile/")
}

fn is_pattern(bytes: &[u8]) -> bool {
    is_kind(bytes, "seatmap-pattern/")
}

fn show_plan(
    typed: &Show,
    page: Option<Destination>,
    picture: Option<Destination>,
    plan: &Plan,
) -> CliResult {
    if page.is_none() && picture.is_none() {
        return if typed.forms.json {
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
fn machine_of(plan: &Plan) -> CliResult<(Profile, Option<Machine>)> {
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

fn machine(typed: &Show, page: Option<Destination>, picture: Option<Destination>) -> CliResult {
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
    let set_apart = if machine.is_host() {
        SetApart::of(&SchedulerSettings::read(&Root::new("/")))
    } else {
        SetApart::default()
    };
    let words = input::words_of(&machine, &profile.topology);
    let text = || html::page(&profile, machine.model(), &set_apart.isolated, &words);
    deliver(typed, page, &text, &|| {
        if typed.forms.json {
            return output::json(&ShownMachine::of(&profile, set_apart.clone(), words.clone()));
        }
        let options = DrawOptions {
            colour: view::colour(&std::io::stdout()),
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
    print: &dyn Fn() -> CliResult,
) -> CliResult {
    match page {
        None => print(),
        Some(page) if typed.forms.json => page.write(&text()).and_then(|()| print()),
        Some(page) => page.write_named(&text(), typed.forms.html.as_deref()),
    }
}

fn replay(typed: &Show, page: Option<Destination>, recording: &Recording) -> CliResult {
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
