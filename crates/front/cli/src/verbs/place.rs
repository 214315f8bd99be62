//! `seatmap place`.

mod args;
mod on_cluster;
mod ranks;

pub use args::{ObjectiveChoice, PlaceArgs};
pub use on_cluster::OnCluster;
pub use ranks::{nodes, own_cpus, pattern_of_ranks, show as show_ranks};

use super::gallery;
use args::PreferChoice;
use seatmap_cluster::Cluster;
use seatmap_console::waiting::Waiting;
use seatmap_console::{Bar, CliError, CliResult, Destination, here, input, output, pattern_input};
use seatmap_data::machine::{Level, Profile};
use seatmap_data::pattern::Pattern;
use seatmap_data::plan::Objective;
use seatmap_machines::catalog::Machine;
use seatmap_machines::catalog::usable::{self, Usable};
use seatmap_measure::appraise::{Appraisal, AppraisalRequest, QapRequest};
use seatmap_measure::gallery::RankingRequest;
use seatmap_place::{PlaceMethod, PlaceRequest, Weight};
use seatmap_report::floor::{self, FloorPlan, SeatingComparison};
use seatmap_report::{placement, qap, ranking, remarks};
use std::path::Path;

/// Places the tasks of a pattern on a machine, on the nodes of a cluster, or on the locations of a
/// QAPLIB instance. On the gallery, ranks its machines.
pub fn run(typed: &PlaceArgs) -> CliResult {
    CliError::check_input(typed.unused())?;
    if let Some(folder) = typed.gallery() {
        CliError::check_input(typed.for_clusters())?;
        return on_gallery(typed, folder);
    }
    if typed.qaplib.is_none()
        && let Some(cluster) =
            input::if_in_file(&typed.on, Cluster::is_cluster, Cluster::from_json)?
    {
        return ranks::run(typed, &cluster);
    }
    CliError::check_input(typed.for_clusters())?;
    match &typed.qaplib {
        Some(file) => of_matrices(typed, file),
        None => on_machine(typed),
    }
}

fn on_machine(typed: &PlaceArgs) -> CliResult {
    let outputs = PlaceOutputs::new(typed)?;
    let pattern = pattern(typed)?;
    let machine = input::machine(&typed.on)?;
    let profile = input::profile_of(&machine)?;
    let chosen = typed.or_all.on(typed.cpus.as_ref(), &machine)?;
    let named = chosen.as_ref().map(|chosen| chosen.list.0.clone());
    let fixed: Vec<u32> = typed.fix.iter().map(|(_, cpu)| *cpu).collect();
    let Usable { cpus, remarks } = usable::for_tasks(&machine, &profile, named, &fixed)?;
    output::tell_each(remarks);
    let place = request(typed, &profile, &pattern, cpus);
    CliError::check_input(typed.unused_loads(place.objective))?;
    let request = AppraisalRequest {
        machine: &machine,
        place,
        time: typed.time(),
        stop: None,
        rounds: typed.rounds(),
        widen: typed.widen.map(Level::from),
        near_memory: typed.memory,
        with_remarks: outputs.printed == Some(Printed::Table),
        before: outputs.is_drawn().then_some(typed.before.into()),
        date: here::today(),
        tool: here::tool(),
    };
    let waiting = Waiting::new("searching", request.time.seconds());
    let mut appraisal = request.appraise()?;
    drop(waiting);
    if let Some(kept) = chosen.and_then(|chosen| chosen.kept) {
        kept.keep_in(&mut appraisal.plan);
    }
    outputs.draw(&appraisal, &machine, &profile, &pattern)?;
    match outputs.printed {
        Some(Printed::Json) => output::print_exact(&appraisal.plan.to_json()),
        Some(Printed::Table) => {
            let weight = typed.weight.map_or(Weight::Bytes, Weight::from);
            let mean = placement::mean_distance(&appraisal.plan, &pattern, weight);
            let said = mean.into_iter().chain(remarks::sentences(&appraisal.remarks));
            output::show(&placement::table(&appraisal.plan).and(said.collect()))
        }
        None => Ok(()),
    }
}

fn pattern(typed: &PlaceArgs) -> CliResult<Pattern> {
    let mut pattern = pattern_input::pattern(typed.pattern.as_deref().unwrap_or_default())?;
    pattern_input::give_loads(&mut pattern, typed.load.as_deref())?;
    pattern.load_ns = typed.load_ns.or(pattern.load_ns);
    Ok(pattern)
}

fn request<'a>(
    typed: &PlaceArgs,
    profile: &'a Profile,
    pattern: &'a Pattern,
    cpus: Option<Vec<u32>>,
) -> PlaceRequest<'a> {
    let method = typed.method();
    let mut place = PlaceRequest {
        weight: typed.weight.map(Into::into),
        waiting: typed.waiting(),
        cpus,
        kind: typed.kind.map(Into::into),
        equal_seats: typed.equal_kind,
        smt: typed.smt(),
        fixed: typed.fix.clone(),
        method,
        prefers_cache: typed.prefer == Some(PreferChoice::BigCache),
        homes: typed.homes || method == PlaceMethod::GetCore,
        threads: typed.threads(),
        seed: typed.seed,
        ..PlaceRequest::new(profile, pattern)
    };
    place.objective = typed.objective.map_or_else(|| place.usual_objective(), Objective::from);
    place
}

struct PlaceOutputs {
    plan: Option<Destination>,
    page: Option<Destination>,
    picture: Option<Destination>,
    /// `None` if a file uses stdout.
    printed: Option<Printed>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Printed {
    Json,
    Table,
}

impl PlaceOutputs {
    fn new(typed: &PlaceArgs) -> CliResult<Self> {
        let plan = output::beside(typed.output.as_deref(), None, "-o")?;
        let page = output::beside(typed.forms.html.as_deref(), None, "--html")?;
        let picture = output::beside(typed.svg.as_deref(), None, "--svg")?;
        let files = [&plan, &page, &picture].into_iter().flatten();
        let on_stdout = files.filter(|to| **to == Destination::Stdout).count();
        let printed = match (on_stdout, typed.forms.json) {
            (0, true) => Some(Printed::Json),
            (0, false) => Some(Printed::Table),
            (1, false) => None,
            _ => {
                return Err(CliError::input(
                    "only one of --json, -o -, --html - and --svg - can have stdout",
                ));
            }
        };
        Ok(PlaceOutputs { plan, page, picture, printed })
    }

    fn is_drawn(&self) -> bool {
        self.page.is_some() || self.picture.is_some()
    }

    fn draw(
        &self,
        appraisal: &Appraisal,
        machine: &Machine,
        profile: &Profile,
        pattern: &Pattern,
    ) -> CliResult {
        let plan = &appraisal.plan;
        if let Some(destination) = &self.plan {
            destination.write(&plan.to_json())?;
        }
        let Some(both) = appraisal.before_and_after.clone() else { return Ok(()) };
        let floor = FloorPlan::of(profile, machine.model());
        let drawn = SeatingComparison::new(floor, pattern, plan, both);
        if let Some(page) = &self.page {
            page.write(&placement::page(profile, pattern, plan, &drawn).html())?;
        }
        if let Some(picture) = &self.picture {
            picture.write(&floor::svg(&drawn))?;
        }
        Ok(())
    }
}

/// `seatmap place --on gallery`.
fn on_gallery(typed: &PlaceArgs, folder: Option<&str>) -> CliResult {
    CliError::check_input(typed.of_one_seating().map(|option| {
        format!(
            "{option} is for one machine, but --on {} compares many; choose one of them, or leave \
             {option} out",
            typed.on
        )
    }))?;
    let outputs = typed.forms.outputs(None)?;
    let pattern = pattern(typed)?;
    let named: Vec<String> = folder.map(str::to_owned).into_iter().collect();
    let request = RankingRequest {
        gallery: &gallery::of(&named)?,
        pattern: &pattern,
        objective: typed.objective.map(Into::into),
        waiting: typed.waiting(),
        smt: typed.smt(),
        kind: typed.kind.map(Into::into),
        equal_seats: typed.equal_kind,
        time: typed.time(),
        rounds: typed.rounds(),
        threads: typed.threads(),
        seed: typed.seed,
        date: here::today(),
        tool: here::tool(),
    };
    let bar = Bar::new("machines");
    let ranking = request.rank(&mut |done, all| bar.show(done, all)).map_err(CliError::input)?;
    drop(bar);
    CliError::check_input(typed.unused_loads(ranking.objective))?;
    outputs.show(&ranking, &ranking::page(&ranking))
}

/// `seatmap place --qaplib`.
fn of_matrices(typed: &PlaceArgs, file: &Path) -> CliResult {
    let request = QapRequest {
        name: file.file_stem().map(|stem| stem.to_string_lossy().into_owned()),
        instance: pattern_input::instance(file)?,
        time: typed.time(),
        threads: typed.threads(),
        seed: typed.seed,
        tool: here::tool(),
    };
    let waiting = Waiting::new("solving", request.time.seconds());
    let solution = request.solve();
    drop(waiting);
    if typed.forms.json {
        output::json(&solution)
    } else {
        output::print(&qap::text(&file.display().to_string(), &solution))
    }
}
