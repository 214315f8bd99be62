//! The options of an experiment, and its result.

use super::curve::{self, DistanceCurve};
use super::pair_gain::{self, PairSeats};
use super::renderer_gain;
use super::slices::{self, Slices};
use super::{ChannelRuns, ChannelSeating, ChannelsError, Chip, FIRST_LINE, SeatGain};
use seatmap_cell_sim::workload::{Mandelbrot, MandelbrotView};
use seatmap_data::port::Testbed;
use serde::Serialize;

/// The value of the `format` key of [`ChannelsResult`].
pub const FORMAT: &str = "seatmap-channels/1";
/// Images of a whole run of the renderer (Liu et al. 2015, section IV.B).
const IMAGES: u32 = 100;
/// The factor by which each side of an image is rendered smaller: each point still takes as long.
const SHRUNK: u32 = 8;
const ZOOM: f64 = 0.9;
/// The centre of the zoom: a spiral at the edge of the set, with detail in all images.
const CENTRE: (f64, f64) = (-0.743_643_887, 0.131_825_904);
const MOST_ITERATIONS: u16 = 256;
/// Cycles of an iteration: an assumption of about ten dependent operations of four cycles each on
/// an in-order core, because the paper gives neither the size of its images nor the time of a
/// point.
const CYCLES_PER_ITERATION: u64 = 40;
/// Timed batches if distances are the result; finding the nearest core needs only one.
const BATCHES: u32 = 4;

/// The options of an experiment.
#[derive(Clone, Debug)]
pub enum ExperimentOptions {
    /// Distances from one PU.
    Curve(curve::CurveOptions),
    /// Many pairs at once, at random and in slices.
    Slices(slices::SlicesOptions),
    /// The producer-consumer model.
    Pairs(pair_gain::PairGainOptions),
    /// The Mandelbrot renderer.
    Renderer(renderer_gain::RendererOptions),
}

/// The result of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChannelsResult {
    /// Name and version of the format.
    pub format: &'static str,
    /// The name of the experiment.
    #[cfg_attr(
        feature = "schema",
        schemars(extend("enum" = ["curve", "slices", "producer-consumer", "mandelbrot"]))
    )]
    pub what: &'static str,
    /// Its figures.
    #[serde(flatten)]
    pub figures: ExperimentFigures,
    /// How busy the machine was in the last run; null without counters.
    pub load: Option<MachineLoad>,
}

/// The figures of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ExperimentFigures {
    /// Distances from one PU.
    Curve(DistanceCurve),
    /// Many pairs at once.
    Slices(Slices),
    /// The gain of a run.
    Gain(SeatGain),
}

/// How busy a machine was, by its counters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineLoad {
    /// The busy share of the time of links, over all links of the busiest lane.
    pub link_share: f64,
    /// The busy share of the time of the busiest directory.
    pub directory_share: f64,
}

impl MachineLoad {
    /// The busy shares in this many cycles. `lanes` has the busy cycles of all links of each lane,
    /// `directories` those of each directory.
    pub fn of(cycles: u64, links: usize, lanes: &[u64], directories: &[u64]) -> Self {
        MachineLoad {
            link_share: most(cycles, lanes) / links.max(1) as f64,
            directory_share: most(cycles, directories),
        }
    }
}

fn most(cycles: u64, busy: &[u64]) -> f64 {
    busy.iter().copied().max().unwrap_or(0) as f64 / cycles.max(1) as f64
}

impl ChannelsResult {
    /// The seats and lines of the last comparison. For a curve these are the pairs with the
    /// farthest and the nearest CPU.
    pub fn seated(&self) -> Option<ChannelRuns> {
        match &self.figures {
            ExperimentFigures::Curve(curve) => {
                let farthest = curve.points.iter().max_by(|a, b| a.cycles.total_cmp(&b.cycles))?;
                Some(ChannelRuns::pairs(
                    ChannelSeating {
                        pus: vec![curve.from, farthest.pu],
                        lines: vec![FIRST_LINE + curve.line],
                    },
                    ChannelSeating {
                        pus: vec![curve.from, curve.nearest],
                        lines: vec![FIRST_LINE + curve.line],
                    },
                ))
            }
            ExperimentFigures::Slices(slices) => slices.seated.clone(),
            ExperimentFigures::Gain(gain) => gain.seated.clone(),
        }
    }
}

impl ExperimentOptions {
    /// Distances from a PU over a candidate line, for this many pairs at once.
    pub fn curve(from: u32, line: u32, pairs: usize, runs: u32, seed: u64) -> Self {
        ExperimentOptions::Curve(curve::CurveOptions {
            from,
            line,
            pairs,
            runs,
            batches: BATCHES,
            seed,
        })
    }

    /// Pairs at random and in slices. `lines` defaults to a quarter more candidate lines than
    /// pairs.
    pub fn slices(
        pairs: usize,
        sections: usize,
        lines: Option<usize>,
        runs: u32,
        seed: u64,
    ) -> Self {
        let lines = lines.unwrap_or_else(|| with_spares(pairs));
        ExperimentOptions::Slices(slices::SlicesOptions {
            pairs,
            sections,
            lines,
            runs,
            batches: BATCHES,
            seed,
        })
    }

    /// A producer and its consumer.
    pub fn pairs(seats: PairSeats, iterations: u32, values: u64, seed: u64) -> Self {
        ExperimentOptions::Pairs(pair_gain::PairGainOptions {
            seats,
            iterations,
            values,
            batches: 1,
            seed,
        })
    }

    /// The renderer with (coordinators, workers of each) and (points of an image's side, images to
    /// run).
    pub fn renderer(
        tasks: (usize, usize),
        lines: Option<usize>,
        iterations: u32,
        (side, frames): (u32, u32),
        seed: u64,
    ) -> Self {
        // Images are rendered small and few, and their time is multiplied by `times`; the search
        // for homes does not grow with them.
        let shrunk = side.div_ceil(SHRUNK).max(1);
        let renderer = Mandelbrot {
            coordinators: tasks.0,
            workers: tasks.1,
            size: (shrunk, shrunk),
            frames,
            most_iterations: MOST_ITERATIONS,
            view: MandelbrotView {
                centre: CENTRE,
                // Wide enough for the whole set, from -2 to 0.47 on the real axis.
                width: 3.0,
                // Fewer frames zoom further, over the same way.
                zoom: ZOOM.powf(f64::from(IMAGES) / f64::from(frames.max(1))),
            },
            points: 1,
            cycles_per_iteration: CYCLES_PER_ITERATION,
            channels: Vec::new(),
        };
        // The factors of omitted images, and of omitted points in each image.
        let times = f64::from(IMAGES) / f64::from(frames.max(1))
            * (f64::from(side) / f64::from(shrunk)).powi(2);
        let lines = lines.unwrap_or_else(|| with_spares(2 * tasks.0 * tasks.1));
        ExperimentOptions::Renderer(renderer_gain::RendererOptions {
            renderer,
            times,
            lines,
            iterations,
            batches: 1,
            seed,
        })
    }

    /// The experiment with this many timed batches of each pair, for noisy machines.
    pub fn with_batches(mut self, count: u32) -> Self {
        match &mut self {
            ExperimentOptions::Curve(options) => options.batches = count,
            ExperimentOptions::Slices(options) => options.batches = count,
            ExperimentOptions::Pairs(options) => options.batches = count,
            ExperimentOptions::Renderer(options) => options.batches = count,
        }
        self
    }

    /// The lines of shared memory that the experiment needs.
    pub fn lines_needed(&self) -> u32 {
        match self {
            ExperimentOptions::Curve(options) => curve::lines_needed(options),
            // One line of each page: 64 lines of 64 bytes are 4 KiB.
            ExperimentOptions::Slices(options) => FIRST_LINE + 64 * (options.lines as u32 + 1),
            ExperimentOptions::Pairs(options) => FIRST_LINE + options.iterations,
            ExperimentOptions::Renderer(options) => {
                FIRST_LINE + options.iterations * options.lines as u32
            }
        }
    }
}

/// A quarter more lines than channels (footnote 3 of the paper).
fn with_spares(channels: usize) -> usize {
    channels + channels.div_ceil(4)
}

/// Runs an experiment. `load` returns the testbed's counts of its last run, if it has counters.
///
/// # Errors
/// [`ChannelsError`].
pub fn run<T: Testbed>(
    bed: &mut T,
    chip: &Chip,
    options: &ExperimentOptions,
    load: impl Fn(&T) -> Option<MachineLoad>,
) -> Result<ChannelsResult, ChannelsError> {
    let (what, figures) = match options {
        ExperimentOptions::Curve(options) => {
            ("curve", ExperimentFigures::Curve(curve::curve(bed, chip, options)?))
        }
        ExperimentOptions::Slices(options) => {
            ("slices", ExperimentFigures::Slices(slices::slices(bed, chip, options)?))
        }
        ExperimentOptions::Pairs(options) => (
            "producer-consumer",
            ExperimentFigures::Gain(pair_gain::pair_gain(bed, chip, options)?),
        ),
        ExperimentOptions::Renderer(options) => (
            "mandelbrot",
            ExperimentFigures::Gain(renderer_gain::renderer_gain(bed, chip, options)?),
        ),
    };
    Ok(ChannelsResult { format: FORMAT, what, figures, load: load(bed) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_reduced_images_are_scaled_back() {
        let times =
            |side, frames| match ExperimentOptions::renderer((4, 8), None, 1, (side, frames), 1) {
                ExperimentOptions::Renderer(options) => options.times,
                _ => f64::NAN,
            };
        assert_eq!((times(256, 4), times(256, 60)), (1600.0, 64.0 * 100.0 / 60.0));
        // 250 points are rendered as 32.
        assert_eq!(times(250, 100), (250.0_f64 / 32.0).powi(2));
    }
}
