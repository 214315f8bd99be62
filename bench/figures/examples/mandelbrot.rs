//! The Mandelbrot renderer of Liu et al. 2015 (section IV.B): four coordinators with eight workers
//! each render a zoom as PNG frames, first as the kernel seats them, then on Seatmap's seats.
//!
//! `mandelbrot FOLDER [FRAMES [SIDE]]`; with `--once` it renders only as started, for `seatmap run
//! --skip 1 --plan PLAN` (the main thread only waits).

use seatmap_data::port::{Addr, Workload};
use seatmap_machines::host::HostClock;
use seatmap_machines::host::arena::Arena;
use seatmap_measure::seats::{ProgramChannels, ProgramSeats};
use seatmap_os::affinity;
use seatmap_place::PlaceError;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[path = "../../../papers/cell-sim/src/workload/mandelbrot.rs"]
mod mandelbrot;
mod yielding;
use mandelbrot::{MOST_POINTS, Mandelbrot, MandelbrotView, Rendered};
use yielding::Yielding;

const COORDINATORS: usize = 4;
const WORKERS: usize = 8;
const MOST_ITERATIONS: u16 = 256;

fn main() -> Result<(), Box<dyn Error>> {
    let (once, words): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word == "--once");
    let folder =
        PathBuf::from(words.first().ok_or("usage: mandelbrot FOLDER [FRAMES [SIDE]] [--once]")?);
    let frames = words.get(1).map_or(Ok(100), |word| word.parse::<u32>())?;
    let side = words.get(2).map_or(Ok(256), |word| word.parse::<u32>())?;
    let renderer = renderer(frames.max(1), side.max(1));
    std::fs::create_dir_all(&folder)?;
    let began = Instant::now();
    let rendered = render(&renderer, None)?;
    let usual = began.elapsed();
    write(&renderer, &rendered, &folder)?;
    println!("{} frames with the initial seats: {usual:.2?}", renderer.frames);
    if !once.is_empty() {
        return Ok(());
    }
    let began = Instant::now();
    match seats() {
        Err(error) => println!("cannot find seats: {error}"),
        Ok((seats, wrapped)) => {
            let again = render(&renderer, Some(&seats))?;
            println!(
                "on the best seats, including the time to find them: {:.2?}{wrapped}",
                began.elapsed()
            );
            let same = rendered.iter().zip(&again).all(|(one, other)| one.counts == other.counts);
            return if same { Ok(()) } else { Err("the two renderings differ".into()) };
        }
    }
    Ok(())
}

fn renderer(frames: u32, side: u32) -> Mandelbrot {
    Mandelbrot {
        coordinators: COORDINATORS,
        workers: WORKERS,
        size: (side, side),
        frames,
        most_iterations: MOST_ITERATIONS,
        view: MandelbrotView { centre: (-0.743_643_887, 0.131_825_904), width: 3.0, zoom: 0.9 },
        // With fewer CPUs than threads, each hand-over switches threads.
        points: MOST_POINTS,
        cycles_per_iteration: 0,
        channels: (0..(COORDINATORS * WORKERS) as u32)
            .map(|worker| [Addr::line(2 * worker), Addr::line(2 * worker + 1)])
            .collect(),
    }
}

/// A slice for each coordinator and its workers, or shared CPUs if the host has too few cores.
fn seats() -> Result<(Vec<u32>, String), PlaceError> {
    let threads = COORDINATORS * (1 + WORKERS);
    match channels().seats() {
        Ok(ProgramSeats { cpus, .. }) => Ok((cpus, String::new())),
        Err(error) => {
            let cpus = seatmap_os::affinity::current()
                .ok()
                .filter(|cpus| cpus.len() < threads)
                .ok_or(error)?;
            let remark = format!(" ({threads} threads on {} CPUs, by coordinator)", cpus.len());
            let seats = (0..threads)
                .map(|thread| thread / (1 + WORKERS) * cpus.len() / COORDINATORS)
                .map(|at| cpus[at.min(cpus.len() - 1)])
                .collect();
            Ok((seats, remark))
        }
    }
}

fn channels() -> ProgramChannels {
    let mut channels = ProgramChannels::new();
    channels.sections = Some(COORDINATORS);
    for coordinator in (0..COORDINATORS).map(|at| at * (1 + WORKERS)) {
        for worker in 1..=WORKERS {
            channels.between(coordinator, coordinator + worker);
        }
    }
    channels
}

fn render(renderer: &Mandelbrot, seats: Option<&[u32]>) -> Result<Vec<Rendered>, Box<dyn Error>> {
    let arena = Arena::new(renderer.lines())?;
    let clock = HostClock::calibrated();
    let port = Yielding::new(arena.words(), &clock);
    std::thread::scope(|scope| {
        let port = &port;
        let threads = (0..renderer.tasks())
            .map(|rank| {
                std::thread::Builder::new().name(format!("task {rank}")).spawn_scoped(
                    scope,
                    move || -> std::io::Result<Rendered> {
                        if let Some(cpu) = seats.and_then(|seats| seats.get(rank)) {
                            affinity::pin(&[*cpu])?;
                        }
                        Ok(renderer.task(port, rank))
                    },
                )
            })
            .collect::<Result<Vec<_>, _>>()?;
        threads
            .into_iter()
            .map(|thread| Ok(thread.join().map_err(|_| "a thread failed")??))
            .collect()
    })
}

/// Black in the set, brighter for points that leave sooner.
fn write(
    renderer: &Mandelbrot,
    rendered: &[Rendered],
    folder: &Path,
) -> Result<(), Box<dyn Error>> {
    for frame in 0..renderer.frames {
        let file = std::fs::File::create(folder.join(format!("{frame:03}.png")))?;
        let mut encoder =
            png::Encoder::new(std::io::BufWriter::new(file), renderer.size.0, renderer.size.1);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Eight);
        let pixels: Vec<u8> =
            renderer.image(rendered, frame).iter().map(|count| grey(*count)).collect();
        encoder.write_header()?.write_image_data(&pixels)?;
    }
    Ok(())
}

fn grey(count: u16) -> u8 {
    if count == MOST_ITERATIONS { 0 } else { 255 - count.min(254) as u8 }
}
