//! Lines sorted by home, and the nearest core found, on the simulated Xeon Phi 5110P: idle, and
//! with half of its cores communicating.

use crate::own_lines::whole;
use crate::row::FigureRow;
use seatmap_data::machine::{HomesChecked, Rate};
use seatmap_measure::homes;
use seatmap_measure::plan::{Effort, SurveyPlan};
use seatmap_measure::probe::Probe;
use seatmap_measure::survey::{self, SurveyRequest};
use seatmap_measure::testbed_probe::TestbedProbe;
use seatmap_sim::{CoherentBed, CoherentModel};
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

const MODEL: &str = include_str!("../../../machines/xeon-phi-5110p.toml");
const HASH: &str = "hash_seed = 1\n";
/// The first chip; each has a different hash and seed. Chips 1 to 28 were used to choose the
/// sorting method, and 31 to 38 to try an earlier one.
const FIRST_CHIP: u64 = 41;
const CHIPS: u64 = 8;
const LINES: u32 = 64;
/// Utilisation in percent, and the target share of correct answers.
const WANTED: [(u32, f64); 2] = [(0, 100.0), (50, 95.0)];
const Z: f64 = 1.96;

pub fn rows() -> Result<Vec<FigureRow>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for (utilisation_percent, wanted_percent) in WANTED {
        let mut all = [Rate::default(); 3];
        let began = Instant::now();
        let mut samples = 0;
        for chip in FIRST_CHIP..FIRST_CHIP + CHIPS {
            let (HomesChecked { found, said, nearest }, visits) =
                checked(utilisation_percent, chip)?;
            // The mean over chips, because the number of visits differs little between them.
            samples += visits / CHIPS;
            all.iter_mut().zip([found, said, nearest]).for_each(|(all, more)| *all += more);
        }
        let seconds = began.elapsed().as_secs_f64() / CHIPS as f64;
        let about =
            format!("xeon-phi-5110p at {utilisation_percent} %, {LINES} lines of {CHIPS} chips");
        let whats = [
            "same-home pairs found",
            "pairs said to share a home that do",
            "nearest core (FindTD)",
        ];
        for (what, rate) in whats.into_iter().zip(all) {
            let percent = seatmap_data::statistics::words::percent(rate.right, rate.of);
            let [low, high] = interval(rate);
            let got = format!(
                "{percent:.1} % [{low:.1}, {high:.1}], {rate}; {samples} visits, {seconds:.0} s a \
                 chip"
            );
            let target = format!(">= {wanted_percent} %");
            rows.push(FigureRow::held(
                format!("{about}: {what}"),
                got,
                target,
                percent >= wanted_percent,
            ));
        }
    }
    Ok(rows)
}

/// In percent (Wilson 1927).
fn interval(rate: Rate) -> [f64; 2] {
    let n = rate.of.max(1) as f64;
    let share = rate.right as f64 / rate.of.max(1) as f64;
    // It stays between 0 and 1, even near the ends.
    let middle = share + Z * Z / (2.0 * n);
    let reach = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    [middle - reach, middle + reach].map(|end| 100.0 * end / (1.0 + Z * Z / n))
}

/// The homes that `seatmap measure --homes 64 --utilisation N` finds.
fn checked(utilisation_percent: u32, chip: u64) -> Result<(HomesChecked, u64), Box<dyn Error>> {
    // Each seed distributes the homes differently.
    let text = MODEL.replace(HASH, &format!("hash_seed = {chip}\n"));
    let model = Arc::new(CoherentModel::from_toml("chip", &text)?);
    let pus: Vec<u32> = model.topology.os_indices().collect();
    let plan = SurveyPlan {
        seed: chip,
        ..SurveyPlan::new(Effort::Usual, model.ns_per_tick()).without_noise()
    };
    let request = SurveyRequest {
        pus: pus.clone(),
        plan,
        parallel: false,
        homes: LINES,
        utilisation_percent,
        loaded: false,
    };
    let needed = survey::lines_needed(&request, &model.topology);
    let mut probe =
        TestbedProbe::new(CoherentBed::new(Arc::clone(&model)), &model.topology, needed)?;
    let candidates = probe.spread(LINES);
    let survey = whole(&mut probe, &model.topology, &request)?;
    let lines = survey.home_model.and_then(|model| model.lines).ok_or("no lines in the model")?;
    Ok((homes::checked(&lines, &model, &candidates, &pus), lines.samples))
}
