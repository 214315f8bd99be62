//! `seatmap place`.

pub mod ranks;
mod remarks;
mod runs;
mod smt;

use crate::args::{BeforeChoice, MethodChoice, ObjectiveChoice, Place, PreferChoice, WeightChoice};
use seatmap_catalog::{Machine, usable};
use seatmap_console::error::CliError;
use seatmap_console::output::{self, Destination};
use seatmap_console::waiting::Waiting;
use seatmap_console::{here, input, pattern_input};
use seatmap_machine::Level;
use seatmap_machine::{Profile, Square};
use seatmap_os::cpus::Cpus;
use seatmap_pattern::Pattern;
use seatmap_place::search::{Limit, Qap};
use seatmap_place::typical::DRAWN;
use seatmap_place::{Answer, PlaceError, PlaceMethod, PlaceRequest, Weight, knows_wakeups};
use seatmap_plan::Plan;
use seatmap_report::floor::{self, Comparison, DrawnPlacement};
use seatmap_report::{html, placement};
use std::path::Path;
use std::time::Instant;

/// The format of a solved QAPLIB instance.
const SOLUTION: &str = "seatmap-qap/1";

/// Says where the tasks of a pattern should sit on a machine.
pub fn run(typed: &Place) -> Result<(), CliError> {
    if let Some(unused) = typed.unused() {
        return Err(CliError::input(unused));
    }
    if typed.qaplib.is_none()
        && let Some(cluster) = super::cluster::of_file(&typed.on)?
    {
        return ranks::run(typed, &cluster);
    }
    if let Some(unused) = typed.for_clusters() {
        return Err(CliError::input(unused));
    }
    if let Some(file) = &typed.qaplib {
        return solve(typed, file);
    }
    let destination = typed.output.as_deref().map(Destination::new).transpose()?;
    let page = typed.html.as_deref().map(Destination::new).transpose()?;
    let picture = typed.svg.as_deref().map(Destination::new).transpose()?;
    let wanting_stdout = [&destination, &page, &picture]
        .iter()
        .filter(|to| ***to == Some(Destination::Stdout))
        .count();
    if wanting_stdout + usize::from(typed.json) > 1 {
        return Err(CliError::input(
            "only one of --json, -o -, --html - and --svg - can have stdout",
        ));
    }
    let mut pattern = pattern_input::pattern(typed.pattern.as_deref().unwrap_or_default())?;
    pattern_input::give_loads(&mut pattern, typed.load.as_deref())?;
    pattern.load_ns = typed.load_ns.or(pattern.load_ns);
    let machine = input::machine(&typed.on)?;
    let profile = input::profile_of(&machine)?;
    let cpus = cpus(typed, &machine, &profile)?;
    let began = Instant::now();
    let waiting = Waiting::new("searching", typed.kicks.is_none().then_some(typed.seconds));
    let request = request(typed, &profile, &pattern, cpus).map_err(CliError::input)?;
    let answer = match typed.objective {
        ObjectiveChoice::Simulated => {
            runs::judged(typed, &machine, &pattern, |judge| request.place_by(judge))?
        }
        _ => request.place().map_err(CliError::input)?,
    };
    let mut plan = plan(&request, &answer, began.elapsed().as_secs_f64());
    if let Some(level) = typed.widen.map(Level::from) {
        plan.widen(&profile.topology, |pu| level.of(pu));
    }
    if typed.memory {
        plan.near_memory(&profile.topology);
    }
    let printed = match wanting_stdout {
        1 => None,
        _ if typed.json => Some(plan.to_json()),
        _ => Some(
            placement::table(&plan) + &remarks::remarks(typed, &machine, &request, &answer, &plan)?,
        ),
    };
    let is_drawn = page.is_some() || picture.is_some();
    let drawn = is_drawn.then(|| drawn(typed, &machine, &request, &plan)).transpose()?;
    drop(waiting);
    if let Some(destination) = &destination {
        destination.write(&plan.to_json())?;
    }
    if let Some(drawn) = drawn {
        page.map_or(Ok(()), |page| {
            page.write(&html::placement(&profile, &pattern, &plan, &drawn))
        })?;
        picture.map_or(Ok(()), |picture| picture.write(&floor::svg(&drawn)))?;
    }
    printed.map_or(Ok(()), |printed| output::print(&printed))
}

/// The CPUs that tasks may sit on, where they are not all that have distances: those that were
/// named, or those of this host that this process may use now.
fn cpus(typed: &Place, machine: &Machine, profile: &Profile) -> Result<Option<Vec<u32>>, CliError> {
    let named = typed.cpus.as_ref().map(|cpus| cpus.0.clone());
    if !machine.is_host() {
        return Ok(named);
    }
    let here = Cpus::read().map_err(CliError::work)?;
    if let Some(named) = named {
        here.check(&named).map_err(CliError::input)?;
        return Ok(Some(named));
    }
    let fixed: Vec<u32> = typed.fix.iter().map(|(_, cpu)| *cpu).collect();
    here.check(&fixed).map_err(CliError::input)?;
    let usable = usable::of_host(profile, &here).map_err(CliError::input)?;
    usable.remarks.iter().for_each(|remark| output::tell(&remark.to_string()));
    Ok(usable.cpus)
}

fn request<'a>(
    typed: &Place,
    profile: &'a Profile,
    pattern: &'a Pattern,
    cpus: Option<Vec<u32>>,
) -> Result<PlaceRequest<'a>, PlaceError> {
    let mut request = PlaceRequest::new(profile, pattern);
    request.objective = typed.objective.into();
    request.weight = typed.weight.map_or(Weight::Bytes, Into::into);
    request.waits = waits(typed, profile, request.waits)?;
    request.prefers_cache = typed.prefer == Some(PreferChoice::BigCache);
    request.cpus = cpus;
    request.fixed.clone_from(&typed.fix);
    request.method = match typed.method {
        MethodChoice::Auto => PlaceMethod::Auto,
        MethodChoice::Partition => PlaceMethod::Partition,
        MethodChoice::Pizza => PlaceMethod::Pizza(typed.sections()),
        MethodChoice::Getcore => PlaceMethod::GetCore,
    };
    // A placement by homes alone is judged by the homes that it chose.
    request.homes = typed.homes || request.method == PlaceMethod::GetCore;
    request.threads = typed.threads();
    request.seed = typed.seed;
    if let Some(kind) = typed.kind {
        request.only(kind.into())?;
    }
    let have_cores = typed.equal_kind && request.only_equal()?;
    request.one_per = smt::one_per(typed, &request, have_cores);
    request.limit = smt::limit(typed, &request);
    Ok(request)
}

/// Whether a message costs a wakeup: as typed, or else as the pattern was observed.
fn waits(typed: &Place, profile: &Profile, by_default: bool) -> Result<bool, PlaceError> {
    if typed.waiting && !knows_wakeups(profile) {
        let machine = &profile.name;
        return Err(PlaceError::Unfit(format!(
            "--waiting needs the cost of wakeups, and {machine} has none; 'seatmap measure' on that computer finds them"
        )));
    }
    // A weight of bytes asks for distances.
    let is_of_bytes = typed.weight == Some(WeightChoice::Bytes);
    Ok(typed.waiting || (by_default && !typed.spinning && !is_of_bytes))
}

/// The machine before and after; links carry what a run counted, where runs judge.
fn drawn<'a>(
    typed: &Place,
    machine: &Machine,
    request: &PlaceRequest<'a>,
    plan: &Plan,
) -> Result<Comparison<'a>, CliError> {
    let profile = request.profile;
    let pattern = request.pattern;
    let model = machine.model();
    let mut seatings =
        [before(typed, machine, request, plan)?, DrawnPlacement::planned(pattern, plan)];
    if let (ObjectiveChoice::Simulated, Some(model)) = (typed.objective, model) {
        seatings.iter_mut().try_for_each(|seating| runs::count(typed, pattern, model, seating))?;
    }
    Ok(Comparison::new(profile, model, pattern, plan, seatings))
}

/// The placement that the plan is compared with.
fn before(
    typed: &Place,
    machine: &Machine,
    request: &PlaceRequest,
    plan: &Plan,
) -> Result<DrawnPlacement, CliError> {
    let profile = request.profile;
    let pattern = request.pattern;
    let drawn = match (typed.before, typed.objective) {
        (BeforeChoice::Os, _) => return seating_in_order(request, plan),
        (BeforeChoice::Random, ObjectiveChoice::Simulated) => {
            runs::judged(typed, machine, pattern, |judge| request.typical(Some(judge)))?
        }
        (BeforeChoice::Random, _) => request.typical(None).map_err(CliError::input)?,
    };
    Ok(DrawnPlacement::at_random(profile, pattern, plan, drawn, DRAWN))
}

/// The seating in the OS's order of CPUs.
fn seating_in_order(request: &PlaceRequest, plan: &Plan) -> Result<DrawnPlacement, CliError> {
    let in_order = request.in_order().map_err(CliError::input)?;
    Ok(DrawnPlacement::in_order(request.profile, request.pattern, plan, in_order))
}

fn plan(request: &PlaceRequest, answer: &Answer, seconds: f64) -> Plan {
    let mut plan = request.plan(answer);
    plan.seconds = Some(seconds);
    plan.date = Some(here::today());
    plan.tool = Some(here::tool());
    plan
}

fn solve(typed: &Place, file: &Path) -> Result<(), CliError> {
    let instance = pattern_input::instance(file)?;
    let n = instance.n;
    let matrix = |cells: &[f64]| Square::from_fn(n, |i, j| cells[i * n + j]);
    let qap = Qap::new(matrix(&instance.a), matrix(&instance.b));
    let began = Instant::now();
    let waiting = Waiting::new("solving", typed.kicks.is_none().then_some(typed.seconds));
    let limit = typed.kicks.map_or_else(|| Limit::seconds(typed.seconds), Limit::kicks);
    let solved = seatmap_place::solve::solve(&qap, &limit, typed.threads(), typed.seed);
    drop(waiting);
    let seconds = began.elapsed().as_secs_f64();
    let cost = solved.found.cost;
    let permutation = solved.found.slot_of;
    if typed.json {
        let instance = file.file_stem().map(|stem| stem.to_string_lossy());
        let document = serde_json::json!({
            "format": SOLUTION, "instance": instance, "tool": here::tool(), "n": n, "cost": cost, "permutation": permutation, "lower_bound": solved.lower_bound,
            "optimal": solved.optimal, "method": solved.method, "seconds": seconds, "seed": typed.seed,
        });
        return output::print(&format!("{document}\n"));
    }
    let places: Vec<String> = permutation.iter().map(u32::to_string).collect();
    let proven = if solved.optimal { ", optimal" } else { "" };
    output::print(&format!(
        "{}: n = {n}, cost {cost}{proven} ({}), lower bound {}, {seconds:.2} s\n{}\n",
        output::visible(&file.display().to_string()),
        solved.method,
        solved.lower_bound,
        places.join(" ")
    ))
}
