//! The gain of the Mandelbrot renderer.

use super::find_td::find_td;
use super::gain::{ComparisonTimes, SeatGain};
use super::slices::{enough, in_slices};
use super::{ChannelRuns, ChannelSeating, ChannelsError, Chip, FIRST_LINE};
use fastrand::Rng;
use seatmap_cell_sim::workload::Mandelbrot;
use seatmap_data::port::{Addr, Testbed};

/// The comparison's options.
#[derive(Clone, Debug)]
pub struct RendererOptions {
    /// The renderer; each comparison sets its channels.
    pub renderer: Mandelbrot,
    /// The work of a whole run relative to that of `renderer`. Times are multiplied by this factor
    /// before they are compared with the search.
    pub times: f64,
    /// Candidate lines; the paper has a quarter more than channels.
    pub lines: usize,
    /// Comparisons.
    pub iterations: u32,
    /// Timed batches for each core in the search for a home.
    pub batches: u32,
    /// The draws' seed.
    pub seed: u64,
}

/// Compares the renderer on random cores with each coordinator's threads and lines in a slice of
/// the ring. The search for homes counts (section IV.B of Liu et al. 2015).
///
/// # Errors
/// More channels than lines, cores that coordinators do not divide or that are too few, or the
/// testbed's error.
pub fn renderer_gain<T: Testbed>(
    bed: &mut T,
    chip: &Chip,
    options: &RendererOptions,
) -> Result<SeatGain, ChannelsError> {
    let renderer = &options.renderer;
    let sections = chip.sections(renderer.coordinators)?;
    let threads = 1 + renderer.workers;
    let room = sections.first().map_or(0, ExactSizeIterator::len);
    if threads > room {
        return Err(ChannelsError::Unfit(format!(
            "{threads} threads need a core each, but a section has {room}"
        )));
    }
    // There and back, for each worker of each coordinator.
    let channels = 2 * renderer.coordinators * renderer.workers;
    enough(channels, options.lines)?;
    let mut rng = Rng::with_seed(options.seed);
    let mut times = Vec::new();
    let mut last = None;
    for iteration in 0..options.iterations {
        let first = FIRST_LINE + iteration * options.lines as u32;
        let lines: Vec<u32> = (first..first + options.lines as u32).collect();
        let before = ChannelSeating {
            pus: chip.spread(renderer.coordinators * threads, &mut rng)?,
            lines: lines.clone(),
        };
        // The usual run is first, before the search has warmed any line (T1 to T2 of figure 11).
        let usual = ticks(bed, &before.pus, renderer, &lines)?;
        // Spare lines are searched too, because they are known only afterwards.
        let mut search = 0;
        let mut homes = Vec::new();
        for line in &lines {
            let found = find_td(bed, chip, *line, options.batches)?;
            search += found.ticks;
            homes.push((*line, found.core));
        }
        let (chosen, _) = in_slices(&homes, channels, &sections);
        // `in_slices` distributes channels over sections in turn; the renderer needs a
        // coordinator's channels together.
        let dealt: Vec<u32> = (0..sections.len())
            .flat_map(|at| chosen.iter().skip(at).step_by(sections.len()).copied())
            .collect();
        let after = ChannelSeating {
            pus: sliced(chip, &sections, renderer.workers, &dealt, &homes),
            lines: dealt,
        };
        let placed = ticks(bed, &after.pus, renderer, &after.lines)?;
        times.push(ComparisonTimes {
            // The search is done once, whatever the images' size.
            usual: (usual as f64 * options.times) as u64,
            search,
            placed: (placed as f64 * options.times) as u64,
        });
        last = Some(ChannelRuns { channels: talk(renderer), usual: before, placed: after });
    }
    Ok(SeatGain { seated: last, ..SeatGain::of(&times, bed.ns_per_tick()) })
}

/// Each coordinator's channels to its workers and back, in the order of their lines.
fn talk(renderer: &Mandelbrot) -> Vec<(usize, usize)> {
    (0..renderer.coordinators)
        .flat_map(|coordinator| {
            let first = coordinator * (1 + renderer.workers);
            (1..=renderer.workers)
                .flat_map(move |worker| [(first, first + worker), (first + worker, first)])
        })
        .collect()
}

/// Puts the coordinator in the middle of its section, and each worker on the free core that is
/// nearest to its line's home.
fn sliced(
    chip: &Chip,
    sections: &[std::ops::Range<usize>],
    workers: usize,
    lines: &[u32],
    homes: &[(u32, usize)],
) -> Vec<u32> {
    let mut seats = Vec::new();
    for (at, section) in sections.iter().enumerate() {
        let mut free: Vec<usize> = section.clone().collect();
        // In the middle, so that no worker is farther than half the section.
        seats.push(chip.first(free.remove(free.len() / 2)));
        // Of a worker's two lines, the first decides its core.
        for line in lines[2 * at * workers..].iter().step_by(2).take(workers) {
            let home = homes
                .iter()
                .find(|(other, _)| other == line)
                .map_or(section.start, |(_, core)| *core);
            let nearest = (0..free.len()).min_by_key(|at| free[*at].abs_diff(home)).unwrap_or(0);
            seats.push(chip.first(free.remove(nearest)));
        }
    }
    seats
}

fn ticks<T: Testbed>(
    bed: &mut T,
    seats: &[u32],
    renderer: &Mandelbrot,
    lines: &[u32],
) -> Result<u64, ChannelsError> {
    // Two lines per worker, there and back, in the order of `talk`.
    let channels = lines.chunks_exact(2).take(renderer.coordinators * renderer.workers);
    let channels = channels.map(|two| [Addr::line(two[0]), Addr::line(two[1])]).collect();
    let rendered =
        bed.run(seats, &Mandelbrot { channels, ..renderer.clone() }).map_err(ChannelsError::run)?;
    let began = rendered.iter().map(|task| task.began.ticks).min().unwrap_or(0);
    Ok(rendered.iter().map(|task| task.ended.ticks).max().unwrap_or(0) - began)
}
