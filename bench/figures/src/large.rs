//! Thousands of tasks.

use crate::mapping::relabelled;
use crate::row::Row;
use crate::scotch;
use seatmap_machine::Square;
use seatmap_pattern::Pattern;
use seatmap_place::search::Limit;
use seatmap_place::solve::cheapest;
use seatmap_place::{Problem, Traffic};
use std::error::Error;
use std::time::Instant;

/// Dense 2-opt from a good mapping, over Scotch's cost, in the notes' figures for a 32 x 32
/// stencil: 2.15 M over 2.283 M.
const WANTED_OVER_SCOTCH: f64 = 2.15 / 2.283;

/// Nanoseconds between PUs of one core complex of 8, one NUMA node of 64, one machine of 256, and
/// beyond.
fn distance(i: usize, j: usize) -> f32 {
    match (i, j) {
        _ if i == j => 0.0,
        _ if i / 8 == j / 8 => 50.0,
        _ if i / 64 == j / 64 => 200.0,
        _ if i / 256 == j / 256 => 400.0,
        _ => 2000.0,
    }
}

/// A stencil of 1024 tasks beside Scotch's, and one of 16,384.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let problem = relabelled("stencil2d:32x32", Square::from_fn(1024, distance))?;
    let began = Instant::now();
    // The target is 10 s in all, and the last step of a search may end past its limit.
    let cost = cheapest(&problem, 0.0, &Limit::seconds(9.0), 1, 1).solution.cost;
    let seconds = began.elapsed().as_secs_f64();
    let mut rng = seatmap_statistics::Xoshiro::new(1);
    let random = problem.cost(&seatmap_place::seed::random(&problem, &mut rng));
    let mut rows = vec![match scotch::map(&problem) {
        Some(mapped) => {
            let ratio = cost / problem.cost(&mapped.slot_of);
            let got =
                format!("{ratio:.3} of Scotch's, {:.3} of random's, {seconds:.1} s", cost / random);
            let target = format!("<= {WANTED_OVER_SCOTCH:.3} of Scotch's, 10 s");
            Row::held(
                "1024-task stencil, cost",
                got,
                target,
                ratio <= WANTED_OVER_SCOTCH && seconds <= 10.0,
            )
        }
        None => Row::info(
            "1024-task stencil, cost",
            format!("{cost} ({:.3} of random's), {seconds:.1} s", cost / random),
        ),
    }];
    let tiled =
        tiling(&seatmap_pattern::generate("stencil2d:32x32")?, Square::from_fn(1024, distance));
    rows.push(Row::info("the same, over that of nested tiles", format!("{:.3}", cost / tiled)));
    // The peak should be that of the larger problem alone.
    drop(problem);
    forget_peak();
    let problem = relabelled("stencil2d:128x128", Square::from_fn(16_384, distance))?;
    let random = problem.cost(&seatmap_place::seed::random(&problem, &mut rng));
    let began = Instant::now();
    let cost = cheapest(&problem, 0.0, &Limit::seconds(20.0), 1, 1).solution.cost;
    let seconds = began.elapsed().as_secs_f64();
    let peak_gib = peak_gib();
    let got = format!("{:.3} of random's, {seconds:.0} s, peak {peak_gib:.1} GiB", cost / random);
    let target = "60 s, 4 GiB".to_owned();
    rows.push(Row::held(
        "16,384 tasks on as many PUs",
        got,
        target,
        seconds <= 60.0 && peak_gib <= 4.0,
    ));
    Ok(rows)
}

/// The cost of a 32 x 32 stencil in nested square and oblong tiles, which fit this machine's groups
/// of 8, 64 and 256.
fn tiling(stencil: &Pattern, distance: Square<f32>) -> f64 {
    // The bits of row and column by turns (Morton 1966): every power of two of places in a row is
    // such a tile.
    let edges = stencil.edges.iter().map(|edge| (edge.from, edge.to, edge.bytes));
    let problem = Problem::new(Traffic::new(stencil.tasks, edges), distance);
    problem.cost(
        &(0..stencil.tasks)
            .map(|task| {
                (0..5)
                    .map(|at| {
                        ((task % 32) >> at & 1) << (2 * at)
                            | ((task / 32) >> at & 1) << (2 * at + 1)
                    })
                    .sum::<usize>() as u32
            })
            .collect::<Vec<u32>>(),
    )
}

/// Forgets the most memory that this process has had until now: other figures may have needed more.
fn forget_peak() {
    // 5 resets the peak, proc_pid_clear_refs(5). Where it cannot be written, the peak is the whole
    // run's, which is never too low.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The most memory that this process has had.
fn peak_gib() -> f64 {
    // "VmHWM:\t  123456 kB", proc_pid_status(5).
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let kib = line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(f64::NAN);
    kib / 1_048_576.0
}
