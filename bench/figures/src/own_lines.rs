//! Finds the homes of a program's own lines, inside the program, from a profile of other lines.

use crate::row::FigureRow;
use crate::synthetic::{AddressHash, Mesh, MeshProbe, ProbeNoise};
use seatmap_data::machine::{HomeLines, Origin, OriginKind, Profile, Topology};
use seatmap_data::port::{Addr, Testbed, Workload};
use seatmap_data::statistics::words::percent;
use seatmap_measure::plan::{Effort, Passes, SurveyPlan};
use seatmap_measure::probe::{PairAt, Probe, Visit};
use seatmap_measure::samples::Samples;
use seatmap_measure::seats::line_homes::{BATCHES, CandidateLines, DistanceReading, find, find_by};
use seatmap_measure::survey::{Survey, SurveyOutcome, SurveyRequest, survey};
use seatmap_place::PlaceError;
use seatmap_sim::{CoherentBed, SimError, catalog, coherent};
use std::error::Error;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Lines of the program: one page.
const LINES: u32 = 64;
/// Lines of the process that measured the profile: several for each home of the meshes.
const PROFILED: u32 = 256;
const SEEDS: u64 = 5;
/// The program's page has other addresses than the profile's.
const ELSEWHERE: u64 = 1 << 40;
const WANTED_PERCENT: f64 = 99.0;
const MOST_MS: f64 = 1.0;

/// A bare-metal mesh's noise: the part that stays in a visit's median, and the part that each batch
/// adds.
const NOISE: ProbeNoise = ProbeNoise { visit_ns: 1.5, batch_ns: 3.0 };

#[derive(Clone, Copy, Default)]
struct HomeTally {
    lines: u64,
    located: u64,
    right: u64,
    visits: u64,
}

pub fn rows() -> Result<Vec<FigureRow>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for (name, mesh) in [("KNL_38", Mesh::knl_38()), ("SKX_28", Mesh::skx_28())] {
        let Some(hash) = hash(name)? else { continue };
        let mut all = HomeTally::default();
        for seed in 0..SEEDS {
            on_mesh(&hash, &mesh, seed, &mut all)?;
        }
        let what = format!(
            "{name}: homes of {LINES} lines in another process, noise {} ns a visit",
            NOISE.visit_ns
        );
        rows.push(row(what, all, String::new(), true));
    }
    rows.push(on_the_phi()?);
    Ok(rows)
}

fn row(what: String, all: HomeTally, more: String, more_met: bool) -> FigureRow {
    let right = percent(all.right, all.located);
    let got = format!(
        "{right:.2} % right of {:.1} % that are told, {:.1} visits a line{more}",
        percent(all.located, all.lines),
        all.visits as f64 / all.lines.max(1) as f64
    );
    FigureRow::held(
        what,
        got,
        format!(">= {WANTED_PERCENT} % right"),
        right >= WANTED_PERCENT && more_met,
    )
}

fn on_mesh(
    hash: &AddressHash,
    mesh: &Mesh,
    seed: u64,
    all: &mut HomeTally,
) -> Result<(), Box<dyn Error>> {
    let mut measured = MeshProbe::new(hash.clone(), mesh.clone(), NOISE, seed);
    let survey = surveyed(&mut measured, PROFILED, seed)?;
    let origin =
        Origin { kind: OriginKind::Model, source: "a mesh".to_owned(), date: None, tool: None };
    let mut profile = Profile::new("mesh", origin, Topology::unknown(measured.pus()));
    (profile.core_distance, profile.home_model) = (Some(survey.core_distance), survey.home_model);
    let lines = profile
        .home_model
        .as_ref()
        .and_then(|model| model.lines.clone())
        .ok_or("no lines in the model")?;
    let tiles = tiles(&lines, &measured);
    let mut program = MeshProbe::new(hash.clone(), mesh.clone(), NOISE, seed ^ ELSEWHERE);
    let homes = find_by(&profile, None, LINES as usize, |[a, b], open| {
        all.visits += open.len() as u64;
        let pairs = open.iter().map(|line| PairAt { a, b, line: *line as u32 }).collect();
        let brought = program.visit(&Visit { pairs, batches: BATCHES, round_trips: 1 });
        let brought = brought.map_err(|error| PlaceError::Unfit(error.to_string()))?;
        Ok(brought
            .iter()
            .map(|batches| DistanceReading::of_batches(&batches.round_trip_ns))
            .collect())
    })?;
    for (line, home) in homes.into_iter().enumerate() {
        all.lines += 1;
        all.located += u64::from(home.is_some());
        let tile = home.and_then(|home| *tiles.get(home as usize)?);
        all.right += u64::from(tile == Some(program.home(line as u32)));
    }
    Ok(())
}

fn hash(name: &str) -> Result<Option<AddressHash>, Box<dyn Error>> {
    let (Some(base), Some(masks)) = (
        seatmap_needs::published(&format!("intel-address-hash/BaseSequence_{name}-slice.tbl")),
        seatmap_needs::published(&format!("intel-address-hash/PermSelectMasks_{name}-slice.tbl")),
    ) else {
        return Ok(None);
    };
    Ok(Some(AddressHash::parse(&std::fs::read_to_string(base)?, &std::fs::read_to_string(masks)?)?))
}

fn surveyed(probe: &mut MeshProbe, lines: u32, seed: u64) -> Result<Survey, Box<dyn Error>> {
    let pus = probe.pus();
    let plan = SurveyPlan { passes: Passes::fixed(3), seed, ..SurveyPlan::new(Effort::Usual, 1.0) };
    let request = SurveyRequest {
        pus: pus.clone(),
        plan,
        parallel: false,
        homes: lines,
        utilisation_percent: 0,
        loaded: false,
    };
    whole(probe, &Topology::unknown(pus), &request)
}

pub fn whole<P: Probe>(
    probe: &mut P,
    topology: &Topology,
    request: &SurveyRequest,
) -> Result<Survey, Box<dyn Error>> {
    let samples = Samples::new(request.pus.clone());
    let ended =
        survey(probe, topology, request, None, samples, &mut |_| ControlFlow::Continue(()))?;
    let SurveyOutcome::Whole(survey) = ended else {
        return Err("the survey was ended early".into());
    };
    Ok(*survey)
}

/// The tile of each home in a profile: that of most of its lines.
fn tiles(lines: &HomeLines, measured: &MeshProbe) -> Vec<Option<usize>> {
    (0..lines.nearest_pu.len() as u32)
        .map(|home| {
            let own = lines.home_of_line.iter().enumerate().filter(|(_, of)| **of == home);
            let tiles: Vec<usize> = own.map(|(line, _)| measured.home(line as u32)).collect();
            tiles
                .iter()
                .copied()
                // The profile numbers homes in the order of their discovery, so its tile is that of
                // most of its lines.
                .max_by_key(|tile| tiles.iter().filter(|other| *other == tile).count())
        })
        .collect()
}

/// The profile is the model's own. A visit counts for all lines, although the last lines had fewer.
fn on_the_phi() -> Result<FigureRow, Box<dyn Error>> {
    let model = catalog::load("xeon-phi-5110p").ok_or("no such model")??;
    let profile = coherent::profile(&model)?;
    let lines = 1000..1000 + 16 * LINES;
    // The meeting point is line 0, which is not among the tried lines.
    let program_lines =
        CandidateLines { words: lines.clone().map(Addr::line).collect(), meeting: Addr::line(0) };
    let mut timed = Timed { bed: CoherentBed::new(Arc::clone(&model)), cycles: 0, visits: 0 };
    let homes = find(&mut timed, &profile, None, &program_lines)?;
    let of = homes.len() as u64;
    let mut all = HomeTally { lines: of, visits: timed.visits * of, ..HomeTally::default() };
    for (line, home) in lines.zip(homes) {
        all.located += u64::from(home.is_some());
        all.right += u64::from(home.is_some() && home == model.home_of(line));
    }
    // Cycles divided by GHz are nanoseconds; a million of them are a millisecond.
    let ms = timed.cycles as f64 / model.frequency_ghz / 1e6 / of as f64;
    let what = format!(
        "xeon-phi-5110p: homes of {of} own lines, on the model's clock at most {MOST_MS} ms a line"
    );
    Ok(row(what, all, format!(", {ms:.3} ms a line"), ms <= MOST_MS))
}

struct Timed {
    bed: CoherentBed,
    cycles: u64,
    visits: u64,
}

impl Testbed for Timed {
    type Error = SimError;

    fn run<W: Workload>(
        &mut self,
        seats: &[u32],
        workload: &W,
    ) -> Result<Vec<W::Output>, SimError> {
        let outputs = self.bed.run(seats, workload)?;
        self.cycles += self.bed.counters().cycles;
        self.visits += 1;
        Ok(outputs)
    }

    fn pus(&self) -> &[u32] {
        self.bed.pus()
    }

    fn ns_per_tick(&self) -> f64 {
        self.bed.ns_per_tick()
    }

    fn clock_step_ns(&self) -> f64 {
        self.bed.clock_step_ns()
    }
}
