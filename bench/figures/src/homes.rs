//! Lines sorted by home on meshes whose address hashes are published.

use crate::row::Row;
use seatmap_machine::Topology;
use seatmap_measure::plan::{Effort, Passes, SurveyPlan};
use seatmap_measure::samples::Samples;
use seatmap_measure::survey::{Ended, Survey, SurveyRequest, survey};
use seatmap_measure::synthetic::{AddressHash, Mesh, MeshProbe, Noise};
use seatmap_statistics::words::percent;
use std::error::Error;
use std::ops::ControlFlow;

/// Numbers of candidate lines: the fewest that can be told apart, and several pages of them.
const LINES: [u32; 2] = [64, 256];
const SEEDS: u64 = 5;
const WANTED_PERCENT: f64 = 99.0;

/// The noise of a bare-metal mesh: the part that stays in the median of a visit, and the part that
/// each batch adds.
pub const NOISE: Noise = Noise { visit_ns: 1.5, batch_ns: 3.0 };

/// The share of line pairs said to share a home that do, and the share of those that do that are
/// said to.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for (name, mesh) in [("KNL_38", Mesh::knl_38()), ("SKX_28", Mesh::skx_28())] {
        let Some(hash) = hash(name)? else { continue };
        for lines in LINES {
            rows.push(row(name, &hash, &mesh, lines)?);
        }
    }
    Ok(rows)
}

/// The published hash of a processor, where it is there.
pub fn hash(name: &str) -> Result<Option<AddressHash>, Box<dyn Error>> {
    let (Some(base), Some(masks)) = (
        seatmap_needs::published(&format!("intel-address-hash/BaseSequence_{name}-slice.tbl")),
        seatmap_needs::published(&format!("intel-address-hash/PermSelectMasks_{name}-slice.tbl")),
    ) else {
        return Ok(None);
    };
    Ok(Some(AddressHash::parse(&std::fs::read_to_string(base)?, &std::fs::read_to_string(masks)?)?))
}

fn row(name: &str, hash: &AddressHash, mesh: &Mesh, lines: u32) -> Result<Row, Box<dyn Error>> {
    let mut said = 0u64;
    let mut are = 0u64;
    let mut both = 0u64;
    let mut resolved = 0u64;
    for seed in 0..SEEDS {
        let mut probe = MeshProbe::new(hash.clone(), mesh.clone(), NOISE, seed);
        let (home_of_line, resolvable) = grouped(surveyed(&mut probe, lines, seed)?)?;
        // A scan that could not tell homes apart claims no pair, and is counted as a failure here.
        resolved += u64::from(resolvable);
        for (a, b) in seatmap_measure::schedule::all_pairs(home_of_line.len())
            .into_iter()
            .filter(|_| resolvable)
        {
            let together = home_of_line[a] == home_of_line[b];
            let truly = probe.home(a as u32) == probe.home(b as u32);
            // Pairs of lines, because numbers of homes mean nothing by themselves.
            said += u64::from(together);
            are += u64::from(truly);
            both += u64::from(together && truly);
        }
    }
    let got = format!(
        "{:.2} % right, {:.2} % found, {resolved}/{SEEDS} scans resolved",
        percent(both, said),
        percent(both, are)
    );
    let met = resolved == SEEDS && percent(both, said) >= WANTED_PERCENT;
    let what = format!("{name}: {lines} lines sorted by home, noise {} ns a visit", NOISE.visit_ns);
    Ok(Row::held(what, got, format!(">= {WANTED_PERCENT} % same home"), met))
}

/// The whole protocol: the matrix at one line, then the scan from the hubs, then the grouping.
pub fn surveyed(probe: &mut MeshProbe, lines: u32, seed: u64) -> Result<Survey, Box<dyn Error>> {
    let pus = probe.pus();
    let plan = SurveyPlan { passes: Passes::Fixed(3), seed, ..SurveyPlan::new(Effort::Usual, 1.0) };
    let request = SurveyRequest {
        pus: pus.clone(),
        plan,
        parallel: false,
        homes: lines,
        utilisation_percent: 0,
        loaded: false,
    };
    let topology = Topology::unknown(pus.iter().copied());
    let ended = survey(probe, &topology, &request, None, Samples::new(pus), &mut |_| {
        ControlFlow::Continue(())
    })?;
    let Ended::Whole(survey) = ended else { return Err("nobody ended this survey".into()) };
    Ok(*survey)
}

/// The home of each line, and whether homes could be told apart.
fn grouped(survey: Survey) -> Result<(Vec<u32>, bool), Box<dyn Error>> {
    let lines = survey.home_model.and_then(|model| model.lines).ok_or("no lines in the model")?;
    Ok((lines.home_of_line, lines.resolvable))
}
