//! Images of the Mandelbrot set, point by point over channels.

use seatmap_data::port::{Addr, Port, Stamp, Workload};
use seatmap_machines::workload::{MOST_WORDS, SpinChannel};

/// Points of the largest message: four counts fit in a word of the answer.
pub const MOST_POINTS: u32 = 4 * MOST_WORDS as u32;

/// The part of the plane in an image, and how it shrinks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MandelbrotView {
    /// The centre of all images.
    pub centre: (f64, f64),
    /// The first image's width.
    pub width: f64,
    /// The width of each image relative to the image before.
    pub zoom: f64,
}

/// The renderer of Liu et al. 2015 (section IV.B). Coordinators, each with a slice of every image,
/// send coordinates to their workers over spin-locked channels; the workers count iterations and
/// send the counts back.
///
/// Coordinator c is task c (1 + `workers`), and its workers are the tasks after it. Worker w
/// (counted over all coordinators) receives on the line `channels[w][0]` and answers on
/// `channels[w][1]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Mandelbrot {
    /// Coordinators; the paper has four.
    pub coordinators: usize,
    /// Workers of each coordinator; the paper has eight.
    pub workers: usize,
    /// Points across an image, and down.
    pub size: (u32, u32),
    /// Images.
    pub frames: u32,
    /// Iterations after which a point counts as part of the set; 65,535 at most.
    pub most_iterations: u16,
    /// The part of the plane that the images show.
    pub view: MandelbrotView,
    /// Points of a message, 1 to [`MOST_POINTS`]; one as in the paper.
    pub points: u32,
    /// Core cycles of an iteration, for simulated machines.
    pub cycles_per_iteration: u64,
    /// The lines of each worker's channels.
    pub channels: Vec<[Addr; 2]>,
}

/// The result of one task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The clock before the first point.
    pub began: Stamp,
    /// The clock after the last point.
    pub ended: Stamp,
    /// For a coordinator: the iterations of each point of its slice, image by image, row by row.
    /// Empty for a worker.
    pub counts: Vec<u16>,
}

impl Mandelbrot {
    /// The rows of a coordinator's slice of every image.
    pub fn rows(&self, coordinator: usize) -> std::ops::Range<u32> {
        self.border(coordinator)..self.border(coordinator + 1)
    }

    fn border(&self, coordinator: usize) -> u32 {
        (u64::from(self.size.1) * coordinator as u64 / self.coordinators as u64) as u32
    }

    /// An image, row by row, from the coordinators' slices.
    pub fn image(&self, rendered: &[Rendered], frame: u32) -> Vec<u16> {
        (0..self.coordinators)
            .flat_map(|at| {
                let points = self.rows(at).len() * self.size.0 as usize;
                let counts =
                    rendered.get(at * (1 + self.workers)).map_or(&[][..], |task| &task.counts);
                counts
                    .get(frame as usize * points..(frame as usize + 1) * points)
                    .unwrap_or_default()
            })
            .copied()
            .collect()
    }

    fn point(&self, frame: u32, column: u32, row: u32) -> (f64, f64, f64) {
        let width = self.view.width * self.view.zoom.powi(frame as i32);
        let step = width / f64::from(self.size.0.max(1));
        let (re, im) = self.view.centre;
        (
            re + from_middle(step, column, self.size.0),
            im + from_middle(step, row, self.size.1),
            step,
        )
    }

    fn coordinate<P: Port>(&self, port: &P, coordinator: usize, rendered: &mut Rendered) {
        let mine = coordinator * self.workers..(coordinator + 1) * self.workers;
        let channels: Vec<_> = self.channels[mine]
            .iter()
            .map(|[to, from]| (SpinChannel::new(port, *to), SpinChannel::new(port, *from)))
            .collect();
        let mut pending: Vec<Option<(usize, u32)>> = vec![None; self.workers];
        let mut next = 0;
        for frame in 0..self.frames {
            for row in self.rows(coordinator) {
                for column in (0..self.size.0).step_by(self.points as usize) {
                    let worker = next % self.workers;
                    next += 1;
                    gather(&channels[worker].1, &mut pending[worker], &mut rendered.counts);
                    let count = self.points.min(self.size.0 - column);
                    let (re, im, step) = self.point(frame, column, row);
                    channels[worker].0.put(&[
                        re.to_bits(),
                        im.to_bits(),
                        step.to_bits(),
                        u64::from(count),
                    ]);
                    pending[worker] = Some((rendered.counts.len(), count));
                    rendered.counts.resize(rendered.counts.len() + count as usize, 0);
                }
            }
        }
        for ((to, from), pending) in channels.iter().zip(&mut pending) {
            gather(from, pending, &mut rendered.counts);
            to.put(&[0; 4]);
        }
    }

    fn work<P: Port>(&self, port: &P, worker: usize) {
        let [hears, answers] = self.channels[worker].map(|line| SpinChannel::new(port, line));
        loop {
            let mut request = [0; 4];
            hears.take(&mut request);
            let [re, im, step] = [request[0], request[1], request[2]].map(f64::from_bits);
            if request[3] == 0 {
                return;
            }
            let mut answer = [0_u64; MOST_WORDS];
            let mut all = 0;
            for at in 0..request[3] as usize {
                let count = iterations(re + at as f64 * step, im, self.most_iterations);
                answer[at / 4] |= u64::from(count) << (16 * (at % 4));
                all += u64::from(count);
            }
            port.computed(all * self.cycles_per_iteration);
            answers.put(&answer[..request[3].div_ceil(4) as usize]);
        }
    }
}

fn from_middle(step: f64, at: u32, of: u32) -> f64 {
    (f64::from(at) - 0.5 * f64::from(of.saturating_sub(1))) * step
}

fn gather<P: Port>(
    channel: &SpinChannel<P>,
    pending: &mut Option<(usize, u32)>,
    counts: &mut [u16],
) {
    let Some((first, count)) = pending.take() else { return };
    let mut answer = [0; MOST_WORDS];
    channel.take(&mut answer[..count.div_ceil(4) as usize]);
    for at in 0..count as usize {
        counts[first + at] = (answer[at / 4] >> (16 * (at % 4))) as u16;
    }
}

/// The steps z -> z^2 + c, from 0 on, that stay within 2 of the origin, up to a limit.
pub fn iterations(re: f64, im: f64, most: u16) -> u16 {
    let mut x = 0.0_f64;
    let mut y = 0.0_f64;
    for count in 0..most {
        let xx = x * x;
        let yy = y * y;
        if xx + yy > 4.0 {
            return count;
        }
        (x, y) = (xx - yy + re, 2.0 * x * y + im);
    }
    most
}

impl Workload for Mandelbrot {
    type Output = Rendered;

    fn tasks(&self) -> usize {
        self.coordinators * (1 + self.workers)
    }

    fn lines(&self) -> u32 {
        self.channels.iter().flatten().map(|line| line.line_index() + 1).max().unwrap_or(0)
    }

    fn task<P: Port>(&self, port: &P, rank: usize) -> Rendered {
        let coordinator = rank / (1 + self.workers);
        let place = rank % (1 + self.workers);
        let mut rendered = Rendered { began: port.stamp(), ..Rendered::default() };
        match place {
            0 => self.coordinate(port, coordinator, &mut rendered),
            worker => self.work(port, coordinator * self.workers + worker - 1),
        }
        rendered.ended = port.stamp();
        rendered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_the_set_reach_the_iteration_limit() {
        assert_eq!(iterations(0.0, 0.0, 500), 500);
        assert_eq!(iterations(-1.0, 0.0, 500), 500);
        assert_eq!(iterations(2.0, 2.0, 500), 1);
        assert!((10..30).contains(&iterations(-0.75, 0.2, 500)));
    }

    #[test]
    fn slices_cover_every_row_once() {
        let renderer = Mandelbrot {
            coordinators: 4,
            workers: 8,
            size: (10, 7),
            frames: 1,
            most_iterations: 9,
            view: MandelbrotView { centre: (0.0, 0.0), width: 1.0, zoom: 1.0 },
            points: 1,
            cycles_per_iteration: 1,
            channels: Vec::new(),
        };
        let rows: Vec<u32> = (0..4).flat_map(|at| renderer.rows(at)).collect();
        assert_eq!(rows, (0..7).collect::<Vec<_>>());
    }
}
