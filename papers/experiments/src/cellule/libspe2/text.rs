//! Tables for people.

use crate::cellule::costs::{CALLS, TimedCall};
use crate::cellule::libspe2::Libspe2;
use crate::cellule::libspe2::gains::{Curves, StyleGain};
use crate::cellule::libspe2::noise::OsNoise;
use crate::cellule::text::{spread, time};
use std::fmt::Write;

const MADE: [(TimedCall, &str); 9] = [
    (TimedCall::CtxRun, "spe_context_run of an empty program"),
    (TimedCall::ThrCreate, "pthread_create of a thread that calls spe_context_run"),
    (TimedCall::ThrJoin, "pthread_join of that thread after its program"),
    (TimedCall::PgmLoad, "spe_program_load"),
    (TimedCall::MapPS, "spe_ps_area_get"),
    (TimedCall::MBoxWr, "spe_in_mbox_write to a waiting program"),
    (TimedCall::MBoxRd, "spe_out_mbox_read of an available message"),
    (TimedCall::Acquire, "spe_context_create"),
    (TimedCall::Release, "spe_context_destroy"),
];

/// The whole comparison.
pub fn libspe2(found: &Libspe2) -> String {
    let mut text = table(found);
    let _ = writeln!(
        text,
        "\n(Linux - cell) / Linux in %, of whole programs, and the kernel's part: cell | Linux"
    );
    for figure in &found.figures {
        text.push('\n');
        text += &curves(figure);
    }
    let _ = writeln!(text, "\nOS noise of one SPE: gaps of 1 us and more in its clock");
    text += &noise("cell", &found.noise.cell);
    text + &noise("Linux", &found.noise.linux)
}

fn table(found: &Libspe2) -> String {
    let spes = if found.spes == 1 { "1 SPE".to_owned() } else { format!("{} SPEs", found.spes) };
    let mut text = format!(
        "C programs against libspe2, {spes}; median +- standard deviation, of all together\n"
    );
    let _ = writeln!(
        text,
        "  {:<10} {:>22}  {:>22}  {:>7}",
        "call", "cell style", "Linux style", "ratio"
    );
    for (call, name, _) in CALLS {
        if let Some(both) = found.table.get(&call) {
            let ratio = both.cell.median_ns / both.linux.median_ns;
            let _ = writeln!(
                text,
                "  {name:<10} {}  {}  {ratio:>7.4}",
                spread(&both.cell),
                spread(&both.linux)
            );
        }
    }
    text.push('\n');
    for ((_, name, _), (_, what)) in CALLS.iter().zip(MADE) {
        let _ = writeln!(text, "  {name:<10} {what}");
    }
    text
}

fn curves(figure: &Curves) -> String {
    let mut text = format!("{}, by {}\n", figure.title, figure.across);
    for curve in &figure.series {
        for (at, each) in curve.points.iter().enumerate() {
            let name = if at == 0 { curve.name.as_str() } else { "" };
            let _ = writeln!(text, "  {name:<14} {}", point(each));
        }
    }
    text
}

fn point(of: &StyleGain) -> String {
    let times = format!("{} | {}", time(of.time.cell.median_ns), time(of.time.linux.median_ns));
    let kernel = format!("{} | {}", share(of.kernel_percent.cell), share(of.kernel_percent.linux));
    format!("{:>5}: {:>6.1} %   {times:<22} in the kernel {kernel}", of.at, of.gain_percent)
}

fn share(percent: Option<f64>) -> String {
    percent.map_or_else(|| "?".to_owned(), |percent| format!("{percent:.0} %"))
}

fn noise(name: &str, of: &OsNoise) -> String {
    let gaps = of.gaps_per_second;
    let lost = of.lost_percent;
    let longest = time(of.longest_ns);
    format!(
        "  {name:<6} {gaps:>7.0} gaps a second, {lost:.3} % of the time, the longest {longest}\n"
    )
}
