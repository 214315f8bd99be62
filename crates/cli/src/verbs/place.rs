//! `seatmap place`.

mod runs;

use crate::args::{BeforeChoice, MethodChoice, ObjectiveChoice, Place};
use crate::error::CliError;
use crate::output::{self, Destination};
use crate::{input, model_input, pattern_input, place};
use seatmap_machine::{Profile, Square};
use seatmap_pattern::Pattern;
use seatmap_place::search::{Limit, Qap};
use seatmap_place::typical::DRAWN;
use seatmap_place::{Answer, Level, Method, Request};
use seatmap_plan::Plan;
use seatmap_report::floor::{self, Comparison, Seating};
use seatmap_report::{html, placement};
use std::path::Path;
use std::time::Instant;

/// Says where the tasks of a pattern should sit on a machine.
pub fn run(typed: &Place) -> Result<(), CliError> {
    if let Some(file) = &typed.qaplib {
        return solve(typed, file);
    }
    let destination = typed.output.as_deref().map(Destination::new).transpose()?;
    let page = typed.html.as_deref().map(Destination::new).transpose()?;
    let picture = typed.svg.as_deref().map(Destination::new).transpose()?;
    let wanting_stdout = [&destination, &page, &picture].iter().filter(|to| ***to == Some(Destination::Stdout)).count();
    if wanting_stdout + usize::from(typed.json) > 1 {
        return Err(CliError::input("only one of --json, -o -, --html - and --svg - can have stdout"));
    }
    let pattern = pattern_input::pattern(typed.pattern.as_deref().unwrap_or_default())?;
    let profile = input::machine(&typed.on)?;
    let began = Instant::now();
    let request = request(typed, &profile, &pattern);
    let answer = match typed.objective {
        ObjectiveChoice::Simulated => runs::judged(typed, &pattern, |judge| request.place_by(judge))?,
        _ => request.place().map_err(CliError::input)?,
    };
    let plan = plan(&request, &answer, began.elapsed().as_secs_f64());
    if let Some(destination) = &destination {
        destination.write(&plan.to_json())?;
    }
    if page.is_some() || picture.is_some() {
        let drawn = drawn(typed, &request, &plan)?;
        page.map_or(Ok(()), |page| page.write(&html::placement(&profile, &pattern, &plan, &drawn)))?;
        picture.map_or(Ok(()), |picture| picture.write(&floor::svg(&drawn)))?;
    }
    match wanting_stdout {
        1 => Ok(()),
        _ if typed.json => output::print(&plan.to_json()),
        _ => output::print(&(placement::table(&plan) + &remarks(&answer))),
    }
}

fn request<'a>(typed: &Place, profile: &'a Profile, pattern: &'a Pattern) -> Request<'a> {
    let mut request = Request::new(profile, pattern);
    request.objective = typed.objective.into();
    request.weight = typed.weight.into();
    request.cpus = typed.cpus.as_ref().map(|cpus| cpus.0.clone());
    request.one_per = typed.one_per.map(Level::from).or(typed.avoid_smt.then_some(Level::Core));
    request.fixed.clone_from(&typed.fix);
    request.method = match typed.method {
        MethodChoice::Auto => Method::Auto,
        MethodChoice::Partition => Method::Partition,
        MethodChoice::Pizza => Method::Pizza(typed.sections),
        MethodChoice::Getcore => Method::GetCore,
    };
    request.homes = typed.homes;
    request.threads = typed.threads.map_or_else(cores, usize::from);
    request.seed = typed.seed;
    request.limit = limit(typed);
    request
}

/// The machine before and after; links carry what a run counted, where runs judge.
fn drawn<'a>(typed: &Place, request: &Request<'a>, plan: &Plan) -> Result<Comparison<'a>, CliError> {
    let (profile, pattern) = (request.profile, request.pattern);
    let model = model_input::known(&typed.on)?;
    let mut seatings = [before(typed, request, plan)?, Seating::planned(pattern, plan)];
    if let (ObjectiveChoice::Simulated, Some(model)) = (typed.objective, &model) {
        seatings.iter_mut().try_for_each(|seating| runs::count(typed, pattern, model, seating))?;
    }
    Ok(Comparison::new(profile, model.as_ref(), pattern, plan, seatings))
}

/// What the plan is held against.
fn before(typed: &Place, request: &Request, plan: &Plan) -> Result<Seating, CliError> {
    let (profile, pattern) = (request.profile, request.pattern);
    let drawn = match (typed.before, typed.objective) {
        (BeforeChoice::Os, _) => {
            let in_order = request.in_order().map_err(CliError::input)?;
            return Ok(Seating::in_order(profile, pattern, plan, in_order));
        }
        (BeforeChoice::Random, ObjectiveChoice::Simulated) => {
            runs::judged(typed, pattern, |judge| request.typical(Some(judge)))?
        }
        (BeforeChoice::Random, _) => request.typical(None).map_err(CliError::input)?,
    };
    Ok(Seating::at_random(profile, pattern, plan, drawn, DRAWN))
}

fn limit(typed: &Place) -> Limit {
    typed.kicks.map_or_else(|| Limit::seconds(typed.seconds), Limit::kicks)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn plan(request: &Request, answer: &Answer, seconds: f64) -> Plan {
    let mut plan = request.plan(answer);
    plan.seconds = Some(seconds);
    plan.date = Some(place::today());
    plan.tool = Some(place::tool());
    plan
}

fn remarks(answer: &Answer) -> String {
    let mut text = String::new();
    if let Some((crossing, all)) = answer.crossing {
        let percent = if all > 0.0 { 100.0 * crossing / all } else { 0.0 };
        text += &format!("{crossing} of the weight {all} crosses between sections ({percent:.1} %).\n");
    }
    let without = answer.channels.iter().filter(|channel| channel.line.is_none()).count();
    if without > 0 && without < answer.channels.len() {
        text +=
            &format!("{without} channels are left without a candidate line: there are fewer lines than channels.\n");
    }
    if let Some(agreement) = &answer.agreement {
        let with = |of: Option<f64>| of.map_or("says nothing".to_owned(), |of| format!("{of:.2}"));
        text += &format!(
            "Rank correlation with the runs, over {} placements: distance {}, congestion {}.\n",
            agreement.placements,
            with(agreement.distance),
            with(agreement.congestion)
        );
    }
    if let Some((link, load)) = &answer.busiest_link {
        text += &format!("The most loaded link is that of {link}: {load} crosses it.\n");
    }
    text
}

fn solve(typed: &Place, file: &Path) -> Result<(), CliError> {
    let instance = pattern_input::instance(file)?;
    let n = instance.n;
    let matrix = |cells: &[f64]| Square::from_fn(n, |i, j| cells[i * n + j]);
    let qap = Qap::new(matrix(&instance.a), matrix(&instance.b));
    let began = Instant::now();
    let solved = seatmap_place::solve::solve(&qap, &limit(typed), typed.seed);
    let seconds = began.elapsed().as_secs_f64();
    let (cost, permutation) = (solved.found.cost, solved.found.slot_of);
    if typed.json {
        let document = serde_json::json!({
            "n": n, "cost": cost, "permutation": permutation, "lower_bound": solved.lower_bound,
            "optimal": solved.optimal, "seconds": seconds, "seed": typed.seed,
        });
        return output::print(&format!("{document}\n"));
    }
    let places: Vec<String> = permutation.iter().map(u32::to_string).collect();
    let proven = if solved.optimal { ", optimal" } else { "" };
    output::print(&format!(
        "{}: n = {n}, cost {cost}{proven}, lower bound {}, {seconds:.2} s\n{}\n",
        output::visible(&file.display().to_string()),
        solved.lower_bound,
        places.join(" ")
    ))
}
