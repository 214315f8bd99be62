//! `seatmap show`.

mod recording;

use crate::args::{OrderChoice, Show};
use seatmap_console::error::CliError;
use seatmap_console::output::{self, Destination};
use seatmap_console::view::ColourChoice;
use seatmap_console::{input, view};
use seatmap_machine::{Origin, Profile, SeatSpeed};
use seatmap_measure::classes::{self, DistanceClass};
use seatmap_measure::findings::{self, Finding};
use seatmap_os::kernel::Scheduler;
use seatmap_os::{CpuList, CpuSet, Root};
use seatmap_report::counted;
use seatmap_report::floor::Floor;
use seatmap_report::terminal::{self, DrawOptions};
use seatmap_report::{Order, html};
use serde::Serialize;

/// Shows a machine in the terminal, as a page, or as JSON.
pub fn run(typed: Show, colour: ColourChoice) -> Result<(), CliError> {
    let destination = output::page(typed.html.as_deref(), typed.json)?;
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
    check(&profile, &typed)?;
    let set_apart = if machine.is_host() { SetApart::read() } else { SetApart::default() };
    if let Some(destination) = destination {
        let floor = Floor::of(&profile, machine.model()).with_isolated(set_apart.isolated.clone());
        write_page(&typed, &destination, &html::page(&profile, &floor))?;
        return if typed.json { output::json(&json(&profile, set_apart)) } else { Ok(()) };
    }
    if typed.json {
        return output::json(&json(&profile, set_apart));
    }
    let options = DrawOptions {
        colour: view::colour(colour, &std::io::stdout()),
        width: view::width(typed.width),
        order: order(typed.order),
        home: typed.home,
    };
    output::print(&(terminal::page(&profile, &options, typed.near) + &set_apart.text()))
}

/// The CPUs of this host that the kernel was started to set apart.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SetApart {
    /// The CPUs that the kernel was started to keep threads away from (`isolcpus=`); absent where
    /// there are none, and for other machines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    isolated: Vec<u32>,
    /// The CPUs without a timer tick while one thread runs alone (`nohz_full=`); absent where there
    /// are none, and for other machines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nohz_full: Vec<u32>,
}

impl SetApart {
    fn read() -> Self {
        let kernel = Scheduler::read(&Root::new("/"));
        let listed = |list: &str| CpuSet::of_list(list).unwrap_or_default().list().0;
        SetApart { isolated: listed(&kernel.isolated), nohz_full: listed(&kernel.no_hz_full) }
    }

    /// A paragraph about them; empty where there are none.
    fn text(&self) -> String {
        let lines = [
            (
                "isolated ",
                &self.isolated,
                "no thread is put there that does not ask; --cpus names them",
            ),
            ("nohz_full", &self.nohz_full, "no timer tick while one thread runs alone"),
        ];
        let told = lines.iter().filter(|(_, cpus, _)| !cpus.is_empty());
        let lines: Vec<String> = told
            .map(|(word, cpus, what)| format!("  {word}  {}: {what}\n", CpuList(cpus.to_vec())))
            .collect();
        if lines.is_empty() {
            String::new()
        } else {
            format!("\nSet apart at boot\n{}", lines.concat())
        }
    }
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

/// A profile in short: the output of `seatmap show --json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Document<'a> {
    /// Name and version of the format.
    #[cfg_attr(test, schemars(extend("const" = "seatmap-show/1")))]
    format: &'static str,
    /// The machine's name.
    machine: &'a str,
    /// The origin of the figures.
    origin: &'a Origin,
    /// Hardware threads.
    pus: usize,
    /// Distance classes, nearest first; none where there are no distances.
    classes: Vec<DistanceClass>,
    /// Groups of PUs, by OS index, that are near one another; null without distances.
    groups: Option<&'a [Vec<u32>]>,
    /// The share of the variance that groups and homes explain; null without distances.
    r2: Option<f64>,
    /// The root mean square of the part that they do not explain, in nanoseconds; null without
    /// distances.
    residual_ns: Option<f64>,
    /// The share of the variance inside groups that one figure a PU explains; null where that is
    /// unknown.
    star_r2: Option<f64>,
    /// Whether the matrix says only which PUs are near the line's home; null without distances.
    pair_view_empty: Option<bool>,
    /// Things that are odd.
    findings: Vec<Told>,
    /// The speed of each PU, relative to the fastest; absent where that is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    speed: Option<Speed<'a>>,
    #[serde(flatten)]
    set_apart: SetApart,
}

/// How fast the PUs are.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Speed<'a> {
    /// How far the slowest PU is behind the fastest, as a share of the fastest; differences that
    /// only noise gives do not count.
    spread: f64,
    #[serde(flatten)]
    of_pus: &'a SeatSpeed,
}

/// A finding, and the same in words.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Told {
    /// Its kind, with its figures.
    finding: Finding,
    /// The finding as sentences: the observation, the reason, and the remedy.
    text: String,
}

fn json(profile: &Profile, set_apart: SetApart) -> Document<'_> {
    let model = profile.home_model.as_ref();
    let found = findings::findings(profile);
    Document {
        format: "seatmap-show/1",
        machine: &profile.name,
        origin: &profile.origin,
        pus: profile.topology.pus.len(),
        classes: classes::classes(profile),
        groups: model.map(|model| model.groups.as_slice()),
        r2: model.map(|model| model.r2),
        residual_ns: model.map(|model| model.residual_ns),
        star_r2: model.and_then(|model| model.star_r2),
        pair_view_empty: model.map(|model| model.pair_view_empty),
        speed: profile.speed.as_ref().map(|of_pus| Speed { spread: of_pus.spread(), of_pus }),
        findings: found
            .into_iter()
            .map(|finding| Told { text: finding.to_string(), finding })
            .collect(),
        set_apart,
    }
}
