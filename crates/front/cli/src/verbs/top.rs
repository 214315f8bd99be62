//! `seatmap top`.

mod meant;
mod pin;
mod recorder;
mod screen;

use crate::args::Top;
use recorder::Recorder;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::StopFlag;
use seatmap_console::view::ColourChoice;
use seatmap_console::{output, view};
use seatmap_report::terminal::top::{Scene, SeatGroups, TopView, plain, rows};
use seatmap_watch::WatchedPrograms;
use seatmap_watch::live::SeatingFrame;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(100);

pub fn run(typed: &Top, colour: ColourChoice) -> Result<(), CliError> {
    let has_screen =
        std::io::stdout().is_terminal() && !typed.once && !typed.json && typed.seconds.is_none();
    let record =
        typed.record.as_deref().map(|path| recorder::destination(path, has_screen)).transpose()?;
    let (watched, groups) = meant::begin(typed)?;
    match record {
        Some(destination) if !has_screen => {
            self::record(watched, typed, Recorder::begin(destination)?)
        }
        record if has_screen => screen::run(watched, groups, typed, colour, record),
        _ => print_once(watched, &groups, typed),
    }
}

fn print_once(
    mut watched: WatchedPrograms,
    groups: &SeatGroups,
    typed: &Top,
) -> Result<(), CliError> {
    std::thread::sleep(typed.interval);
    if typed.json {
        let frame = watched.frame();
        check_seen(&frame)?;
        return output::json(&watched.document(&frame).map_err(CliError::work)?);
    }
    let (frame, judgement) = watched.look().map_err(CliError::work)?;
    check_seen(&frame)?;
    let view = TopView { shows_wakes: typed.wakes, ..TopView::default() };
    let rows = rows(&frame, &judgement, &view);
    let scene = Scene {
        frame: &frame,
        findings: &judgement.findings,
        groups,
        view: &view,
        rows: &rows,
        recording: None,
    };
    output::print_drawn(&plain(&scene, u16::try_from(view::width()).unwrap_or(u16::MAX)))
}

fn check_seen(frame: &SeatingFrame) -> Result<(), CliError> {
    if frame.seating.threads.is_empty() {
        return Err(CliError::input(frame.seating.why_empty()));
    }
    Ok(())
}

/// Without a screen, until the time is over, Ctrl-C or the end of the programs.
fn record(
    mut watched: WatchedPrograms,
    typed: &Top,
    mut recorder: Recorder,
) -> Result<(), CliError> {
    let interrupt = StopFlag::listen()?;
    let began = Instant::now();
    let time = typed.seconds.unwrap_or(Duration::MAX);
    let mut looks = 0_u32;
    while !interrupt.is_raised() && began.elapsed() < time {
        looks += 1;
        let left = time.saturating_sub(began.elapsed());
        // Late observations do not add up.
        let due = typed.interval.saturating_mul(looks).saturating_sub(began.elapsed());
        wait(due.min(left), &interrupt);
        let frame = watched.frame();
        recorder.write(&watched, &frame)?;
        if frame.seating.threads.is_empty() {
            break;
        }
    }
    recorder.end()
}

fn wait(time: Duration, interrupt: &StopFlag) {
    let began = Instant::now();
    while let Some(left) =
        time.checked_sub(began.elapsed()).filter(|left| !left.is_zero() && !interrupt.is_raised())
    {
        std::thread::sleep(left.min(PAUSE));
    }
}
