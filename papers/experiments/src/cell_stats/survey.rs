//! The whole characterisation: the tables and figures of the paper's evaluation and
//! recommendations.

use super::many::measure_many;
use super::rows::rows;
use super::{CellStatsPrimitive, Rooms, StatsError, StatsOptions, measure};
use seatmap_cell_sim::channels::Bed;
use seatmap_os::pool;
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const SIZES: [u32; 12] = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];
const LISTS: [usize; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
/// Above this many workers, a deterministic machine is timed for one more operation, because a mean
/// would need too many to make the start negligible.
const MANY: usize = 16;
/// Atomics on a real machine for each operation of another kind, because they are the fastest.
const ATOMICS: u64 = 20;

/// The results of all measurements.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CellStatsSurvey {
    /// Single figures.
    pub rows: Vec<SurveyLatency>,
    /// Curves.
    pub figures: Vec<SurveyFigure>,
    /// Unreported measurements.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refused>,
}

/// An unreported figure, because the workers did not overlap.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Refused {
    /// The row, or a curve's point.
    pub what: String,
    /// The reason.
    pub why: String,
}

/// One figure of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SurveyLatency {
    /// Its name.
    pub what: String,
    /// Its time.
    pub latency_ns: f64,
}

/// One figure of the paper: latency and bandwidth against size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SurveyFigure {
    /// The title.
    pub title: String,
    /// The quantity on its horizontal axis.
    pub across: &'static str,
    /// Its curves.
    pub series: Vec<SurveySeries>,
}

/// One curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SurveySeries {
    /// Its name.
    pub name: String,
    /// Its points.
    pub points: Vec<LatencyPoint>,
}

/// One point of a curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LatencyPoint {
    /// Bytes, elements or workers.
    pub at: u64,
    /// The latency of one operation.
    pub latency_ns: f64,
    /// The bandwidth of all workers together; null if only a word moves.
    pub bandwidth_gbps: Option<f64>,
}

/// Measures everything, on machines that `bed` makes; deterministic machines run several
/// experiments in parallel. `progress` receives the number of finished steps and of all steps.
///
/// # Errors
/// As [`measure`].
pub fn survey<B: Bed>(
    bed: impl Fn() -> Result<B, B::Error> + Sync,
    rooms: &Rooms,
    iterations: u64,
    progress: impl Fn(usize, usize) + Sync,
) -> Result<CellStatsSurvey, StatsError<B::Error>> {
    let plans = figures(rooms, iterations);
    let steps: Vec<(u64, StatsOptions)> =
        plans.iter().flat_map(|plan| &plan.series).flat_map(|s| s.1.clone()).collect();
    let done = AtomicUsize::new(0);
    let one = |bed: &mut Result<B, B::Error>, (at, options): &(u64, StatsOptions)| {
        let bed = bed.as_mut().map_err(|error| StatsError::Impossible(error.to_string()))?;
        let has_many = rooms.is_deterministic && rooms.count() > MANY;
        let outcome =
            if has_many { measure_many(bed, rooms, options) } else { measure(bed, rooms, options) };
        let outcome = told_apart(outcome)?;
        progress(1 + done.fetch_add(1, Relaxed), steps.len());
        Ok(outcome.map(|outcome| LatencyPoint {
            at: *at,
            latency_ns: outcome.latency_ns,
            bandwidth_gbps: outcome.bandwidth_gbps,
        }))
    };
    let points: Result<Vec<Result<LatencyPoint, String>>, _> = if rooms.is_deterministic {
        pool::try_map(&steps, &bed, one)
    } else {
        // Other experiments would disturb a computer.
        let mut bed = bed();
        steps.iter().map(|step| one(&mut bed, step)).collect()
    };
    let mut points = points?.into_iter();
    let mut found = rows(&mut bed().map_err(StatsError::Run)?, rooms, iterations)?;
    for plan in plans {
        let figure = plan.drawn(&mut points, &mut found.refused);
        found.figures.push(figure);
    }
    Ok(found)
}

/// A refusal for lack of overlap is a result; any other error ends the survey.
pub fn told_apart<T, E: std::error::Error>(
    found: Result<T, StatsError<E>>,
) -> Result<Result<T, String>, StatsError<E>> {
    match found {
        Ok(found) => Ok(Ok(found)),
        Err(apart @ StatsError::Apart { .. }) => Ok(Err(apart.to_string())),
        Err(error) => Err(error),
    }
}

impl CellStatsSurvey {
    pub(super) fn take(&mut self, what: String, found: Result<f64, String>) {
        match found {
            Ok(latency_ns) => self.rows.push(SurveyLatency { what, latency_ns }),
            Err(why) => self.refused.push(Refused { what, why }),
        }
    }
}

struct Plan {
    title: String,
    across: &'static str,
    series: Vec<(String, Vec<(u64, StatsOptions)>)>,
}

impl Plan {
    fn drawn(
        self,
        found: &mut impl Iterator<Item = Result<LatencyPoint, String>>,
        refused: &mut Vec<Refused>,
    ) -> SurveyFigure {
        let Plan { title, across, series } = self;
        let series = series
            .into_iter()
            .map(|(name, steps)| {
                let mut points = Vec::new();
                // `steps` is first, so that `zip` does not take a result of the next curve.
                for ((at, _), found) in steps.iter().zip(found.by_ref()) {
                    match found {
                        Ok(point) => points.push(point),
                        Err(why) => refused
                            .push(Refused { what: format!("{title}, {name}, {at} {across}"), why }),
                    }
                }
                SurveySeries { name, points }
            })
            .collect();
        SurveyFigure { title, across, series }
    }
}

fn figures(rooms: &Rooms, iterations: u64) -> Vec<Plan> {
    let counts = counts(rooms);
    let mut plans = Vec::new();
    for (is_private, sort) in [(false, "shared"), (true, "private")] {
        for (name, function) in
            [("GETs", CellStatsPrimitive::DmaGet), ("PUTs", CellStatsPrimitive::DmaPut)]
        {
            for module in 0..rooms.modules {
                let options = StatsOptions {
                    is_private,
                    module: module as u8,
                    iterations,
                    ..StatsOptions::new(function)
                };
                plans.push(Plan {
                    title: format!("{name} on {sort} buffers of memory {module}"),
                    across: "bytes",
                    series: counts.iter().map(|count| by_size(rooms, options, *count)).collect(),
                });
            }
        }
    }
    for (name, function) in
        [("GETs", CellStatsPrimitive::DmaGet), ("PUTs", CellStatsPrimitive::DmaPut)]
    {
        for chip in 0..rooms.chips.len() {
            let options = StatsOptions {
                between_workers: true,
                chip,
                iterations,
                ..StatsOptions::new(function)
            };
            let beside =
                counts.iter().filter(|count| **count > 1 && **count <= rooms.chips[chip].len());
            plans.push(Plan {
                title: format!("{name} on the first local store, from chip {chip}"),
                across: "bytes",
                series: beside.map(|count| by_size(rooms, options, *count)).collect(),
            });
        }
    }
    plans.extend(lists(rooms, &counts, iterations));
    // On a machine whose tasks start one by one, a few hundred atomics are over before the last
    // task starts.
    let atomic = if rooms.is_deterministic { iterations } else { ATOMICS * iterations };
    plans.push(atomics(rooms, &counts, atomic));
    plans
}

fn by_size(
    rooms: &Rooms,
    options: StatsOptions,
    count: usize,
) -> (String, Vec<(u64, StatsOptions)>) {
    (
        called(count, rooms),
        SIZES
            .iter()
            .map(|size| {
                (u64::from(*size), StatsOptions { size_bytes: *size, workers: count, ..options })
            })
            .collect::<Vec<_>>(),
    )
}

fn lists(rooms: &Rooms, counts: &[usize], iterations: u64) -> Vec<Plan> {
    (0..rooms.modules)
        .flat_map(|module| {
            [
                list_plan(
                    rooms,
                    counts,
                    iterations,
                    "GETs",
                    CellStatsPrimitive::DmaListGet,
                    module,
                ),
                list_plan(
                    rooms,
                    counts,
                    iterations,
                    "PUTs",
                    CellStatsPrimitive::DmaListPut,
                    module,
                ),
            ]
        })
        .collect()
}

fn list_plan(
    rooms: &Rooms,
    counts: &[usize],
    iterations: u64,
    name: &str,
    function: CellStatsPrimitive,
    module: usize,
) -> Plan {
    Plan {
        title: format!("Lists of {name}, 16 KiB in all, memory {module}"),
        across: "elements",
        series: counts
            .iter()
            .map(|count| {
                let options = StatsOptions {
                    module: module as u8,
                    workers: *count,
                    iterations,
                    ..StatsOptions::new(function)
                };
                (called(*count, rooms), LISTS.map(|elements| of_list(options, elements)).to_vec())
            })
            .collect(),
    }
}

fn of_list(options: StatsOptions, elements: usize) -> (u64, StatsOptions) {
    // 16 KiB is the limit of one command without a list.
    let size_bytes = 16384 / elements as u32;
    (elements as u64, StatsOptions { elements, size_bytes, ..options })
}

fn atomics(rooms: &Rooms, counts: &[usize], iterations: u64) -> Plan {
    let shared = (0..rooms.chips.len())
        .flat_map(|chip| (0..rooms.modules).map(move |module| (false, chip, module)));
    let all = shared.chain([(true, 0, 0)]);
    Plan {
        title: "Atomic fetch and add".to_owned(),
        across: "workers",
        series: all
            .map(|(is_private, chip, module)| {
                let base = StatsOptions {
                    is_private,
                    chip,
                    module: module as u8,
                    iterations,
                    ..StatsOptions::new(CellStatsPrimitive::FetchAdd)
                };
                // Each private counter has its own line of the Cell.
                let points = counts.iter().map(|count| {
                    (
                        *count as u64,
                        StatsOptions { workers: *count, stride_bytes: Some(128), ..base },
                    )
                });
                let sort = if is_private { "private" } else { "shared" };
                (format!("{sort}, chip {chip}, memory {module}"), points.collect())
            })
            .collect(),
    }
}

fn counts(rooms: &Rooms) -> Vec<usize> {
    let all = rooms.count();
    let mut counts: Vec<usize> =
        (0..).map(|power| 1 << power).take_while(|count| *count < all).collect();
    counts.push(all);
    counts
}

fn called(count: usize, rooms: &Rooms) -> String {
    if count == 1 { format!("1 {}", rooms.worker) } else { format!("{count} {}s", rooms.worker) }
}
