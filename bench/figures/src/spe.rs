//! libspe2: what its calls take in the cell's style, transfers against copies, and C programs on
//! the simulated Cell.

use crate::pair;
use crate::row::Row;
use seatmap_experiments::cellule::libspe2::programs::{Program, Programs, Said, compiler};
use seatmap_experiments::cellule::libspe2::style::Style;
use seatmap_experiments::cellule::{CelluleError, Seats};
use seatmap_statistics::{median, quantile};
use std::error::Error;

/// Turns of each program; the medians count.
const TURNS: usize = 7;
/// Calls, or round trips of both kinds, of a turn.
const ROUNDS: u32 = 200;
/// Eight SPEs of one simulated chip, each getting 16 KiB again and again.
const SIMULATED: &str = "-f dmaget -N 8 -b 16384 -i 2000 -w 100";

/// Measures programs in C against libspe2. Without `seatmap-cellcc` there is nothing to measure.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let Some(cpus) = pair::cpus()? else { return Ok(Vec::new()) };
    let needed = [Program::Calls, Program::Mailbox, Program::Transfers, Program::CellStats];
    let programs = match Programs::build(&compiler(), &needed) {
        Err(error @ CelluleError::Compiler { .. }) => {
            eprintln!("bench: skipped: {error}");
            return Ok(Vec::new());
        }
        // Any other failure to build is a defect of the library, and ends the bench.
        programs => programs?,
    };
    let seats = Seats::new(&cpus, 1)?;
    let rows = seats.control(|| {
        let calls = calls(&programs, &seats)?;
        let mailbox = mailbox(&programs, &seats)?;
        Ok([calls, mailbox, transfers(&programs, &seats)?].concat())
    })?;
    Ok([rows, vec![simulated(&programs)?]].concat())
}

fn turns(
    programs: &Programs,
    seats: &Seats,
    program: Program,
    style: Style,
) -> Result<Vec<Said>, CelluleError> {
    let numbers: &[u32] = match program {
        Program::Calls => &[ROUNDS, 1],
        Program::Mailbox => &[ROUNDS],
        _ => &[],
    };
    (0..TURNS).map(|_| programs.run(program, numbers, style, &seats.workers)).collect()
}

fn of(turns: &[Said], name: &str) -> f64 {
    median(&turns.iter().flat_map(|said| said.all(name)).collect::<Vec<f64>>()).unwrap_or(f64::NAN)
}

fn calls(programs: &Programs, seats: &Seats) -> Result<Vec<Row>, CelluleError> {
    let cell = of(&turns(programs, seats, Program::Calls, Style::Cell)?, "CtxRun");
    let linux = of(&turns(programs, seats, Program::Calls, Style::Linux)?, "CtxRun");
    let got = format!("{:.2} us; Linux's style {:.1} us", cell / 1e3, linux / 1e3);
    Ok(vec![Row::held("spe_context_run of an empty program", got, "<= 2 us", cell <= 2e3)])
}

/// A question and its answer against the same by one line, in the same program and by turns. Half
/// of a round trip is one message.
fn mailbox(programs: &Programs, seats: &Seats) -> Result<Vec<Row>, CelluleError> {
    let turns = turns(programs, seats, Program::Mailbox, Style::Cell)?;
    let mailbox = of(&turns, "mailbox");
    let line = of(&turns, "line");
    let ratios: Vec<f64> = turns
        .iter()
        .flat_map(|said| {
            said.all("mailbox")
                .into_iter()
                .zip(said.all("line"))
                .map(|(ours, theirs)| ours / theirs)
        })
        .collect();
    let [low, ratio, high] =
        [0.25, 0.5, 0.75].map(|share| quantile(&ratios, share).unwrap_or(f64::NAN));
    let got = format!("{ratio:.2} ({low:.2}-{high:.2}), {mailbox:.0} / {line:.0} ns");
    let what = "spe_in_mbox_write and an SPU's answer / core distance of one line";
    Ok(vec![Row::held(what, got, "<= 1.5", ratio <= 1.5)])
}

fn transfers(programs: &Programs, seats: &Seats) -> Result<Vec<Row>, CelluleError> {
    let turns = turns(programs, seats, Program::Transfers, Style::Cell)?;
    Ok(vec![
        copy_row(&turns, "mfc_get of 16 KiB / memcpy, from the SPU's own cache", "own"),
        copy_row(&turns, "the same of bytes that the PPE's CPU has just written", "written"),
    ])
}

fn copy_row(turns: &[Said], what: &str, kind: &str) -> Row {
    let [copy, get] = ["memcpy", "get"].map(|way| of(turns, &format!("{way}_{kind} 16384")));
    let got = format!("{:.2}, {:.1} / {:.1} GB/s", copy / get, 16384.0 / get, 16384.0 / copy);
    Row::held(what, got, ">= 0.9", copy / get >= 0.9)
}

fn simulated(programs: &Programs) -> Result<Row, CelluleError> {
    let arguments: Vec<String> = SIMULATED.split(' ').map(str::to_owned).collect();
    let environment = [("SEATMAP_SPE", "cell-qs20"), ("SEATMAP_SPE_SUMMARY", "yes")];
    let mut rates = Vec::new();
    for _ in 0..TURNS {
        let output = programs.output(Program::CellStats, &arguments, &environment)?;
        rates.push(rate(&String::from_utf8_lossy(&output.stderr)).unwrap_or(f64::NAN));
    }
    let rate = median(&rates).unwrap_or(f64::NAN);
    let got = format!("{rate:.1} M events/s");
    Ok(Row::held("simulator under eight SPEs in C", got, ">= 5 M events/s", rate >= 5.0))
}

/// The rate in the summary that the library leaves: `N events in S s here: R M/s`.
fn rate(summary: &str) -> Option<f64> {
    summary.trim_end().strip_suffix(" M/s")?.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::rate;

    #[test]
    fn the_rate_ends_the_summary() {
        assert_eq!(
            rate("libspe2: cell-qs20, 8 ns\n  70 events in 0.01 s here: 12.5 M/s\n"),
            Some(12.5)
        );
        assert_eq!(rate("libspe2: no such machine"), None);
    }
}
