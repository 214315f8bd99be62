//! `seatmap top`.

mod pin;
mod recorder;
mod screen;

use clap::{ArgGroup, Args};
use recorder::Recorder;
use seatmap_console::{CliError, CliResult, StopFlag, output, plan_input, time_in, view};
use seatmap_machines::host::{remembered, topology};
use seatmap_observe::wakes::WakeCounter;
use seatmap_report::terminal::top::{Scene, SeatGroups, TopView, plain, rows};
use seatmap_watch::live::SeatingFrame;
use seatmap_watch::{ProcessChoice, Standard, WatchedPrograms};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[derive(Args)]
#[command(group = ArgGroup::new("shown").args(["pid", "cgroup", "name"]))]
pub struct Top {
    /// Show this process and its children; may be given several times. Default: all programs.
    #[arg(short, long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pid: Vec<i32>,
    /// Show the members of this control group, and of the groups below it.
    #[arg(long, value_name = "PATH")]
    cgroup: Option<String>,
    /// Show the programs with this name; * matches any text.
    #[arg(long, value_name = "GLOB")]
    name: Option<String>,
    /// The time between two samples: 500ms, 2s; a plain number is seconds.
    #[arg(long, value_name = "TIME", default_value = "1.5", value_parser = time_in("100ms to 1h"))]
    interval: Duration,
    /// Start with the view of wakeups (key W), and record them too. Requires root, or CAP_BPF and
    /// CAP_PERFMON.
    #[arg(long)]
    wakes: bool,
    /// The expected seats, as for 'seatmap check': a plan, or the output of 'seatmap run --report'
    /// or 'seatmap check -o'; - is stdin. Default: the seats of a running 'seatmap run'.
    #[arg(long, value_name = "FILE")]
    expect: Option<PathBuf>,
    /// Accept a plan made for another machine.
    #[arg(long, requires = "expect")]
    any_machine: bool,
    /// Print one sample as JSON on stdout and exit: the document of 'seatmap check --json', with
    /// events per second.
    #[arg(long, conflicts_with_all = ["record", "once"])]
    json: bool,
    /// Print one frame as text and exit; also if stdout is not a terminal.
    #[arg(long, conflicts_with = "record")]
    once: bool,
    /// Record to a file while this runs; 'seatmap show FILE --html PAGE' replays it. - is stdout,
    /// with --seconds.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Record for this time, without a screen: 30s, 5m; a plain number is seconds.
    #[arg(long, value_name = "TIME", requires = "record", value_parser = time_in("100ms to 1d"))]
    seconds: Option<Duration>,
}

const PAUSE: Duration = Duration::from_millis(100);

pub fn run(typed: &Top) -> CliResult {
    let has_screen =
        std::io::stdout().is_terminal() && !typed.once && !typed.json && typed.seconds.is_none();
    let record =
        typed.record.as_deref().map(|path| recorder::destination(path, has_screen)).transpose()?;
    let (watched, groups) = begin(typed)?;
    match record {
        Some(destination) if !has_screen => {
            self::record(watched, typed, Recorder::begin(destination)?)
        }
        record if has_screen => screen::run(watched, groups, typed, record),
        _ => print_once(watched, &groups, typed),
    }
}

/// The programs to show, and the map of the CPUs by shared parts.
fn begin(typed: &Top) -> CliResult<(WatchedPrograms, SeatGroups)> {
    let seats = plan_input::expected_seats(typed.expect.as_deref(), typed.any_machine)?;
    let topology = topology::of_group().map_err(CliError::work)?;
    // A host without a usable profile has the kernel's groups.
    let profile = remembered::host().ok().filter(|profile| profile.core_distance.is_some());
    let measured =
        profile.map(|profile| profile.home_model.map(|model| model.groups).unwrap_or_default());
    // The map includes cells' CPUs.
    let map = topology::whole().unwrap_or_else(|_| topology.clone());
    let groups = SeatGroups::new(&map, measured.as_deref());
    let named = ProcessChoice::named(&typed.pid, true, typed.cgroup.clone(), typed.name.clone());
    let choice = named.unwrap_or(ProcessChoice::All);
    let standard = Standard { seats, ..Standard::default() };
    let mut watched = WatchedPrograms::begin(&choice, standard, topology, measured)?;
    if typed.wakes {
        count_wakes(&mut watched)?;
    }
    Ok((watched, groups))
}

/// Counts wakeups between threads from now on, among the running programs and all that they start.
fn count_wakes(watched: &mut WatchedPrograms) -> CliResult {
    let mut counter = WakeCounter::begin(watched.pids())?;
    watched.count_by(Some(Box::new(move || counter.take())));
    Ok(())
}

fn print_once(mut watched: WatchedPrograms, groups: &SeatGroups, typed: &Top) -> CliResult {
    std::thread::sleep(typed.interval);
    if typed.json {
        let frame = watched.frame();
        check_seen(&frame)?;
        return output::json(&watched.document(&frame).map_err(CliError::work)?);
    }
    let (frame, judgement) = watched.look().map_err(CliError::work)?;
    check_seen(&frame)?;
    let view = TopView { shows_wakes: typed.wakes, ..TopView::default() };
    let scene = Scene {
        frame: &frame,
        findings: &judgement.findings,
        groups,
        view: &view,
        rows: &rows(&frame, &judgement, &view),
        recording: None,
    };
    output::print_drawn(&plain(&scene, u16::try_from(view::width()).unwrap_or(u16::MAX)))
}

fn check_seen(frame: &SeatingFrame) -> CliResult {
    if frame.seating.threads.is_empty() {
        return Err(CliError::input(frame.seating.why_empty()));
    }
    Ok(())
}

/// Without a screen, until the time is over, Ctrl-C or the end of the programs.
fn record(mut watched: WatchedPrograms, typed: &Top, mut recorder: Recorder) -> CliResult {
    let interrupt = StopFlag::listen()?;
    let began = Instant::now();
    let time = typed.seconds.unwrap_or(Duration::MAX);
    let mut looks = 0_u32;
    while !interrupt.is_raised() && began.elapsed() < time {
        looks += 1;
        // Late observations do not add up.
        let due = typed.interval.saturating_mul(looks).min(time);
        while let Some(left) = due.checked_sub(began.elapsed())
            && !interrupt.is_raised()
        {
            std::thread::sleep(left.min(PAUSE));
        }
        let frame = watched.frame();
        recorder.write(&watched, &frame)?;
        if frame.seating.threads.is_empty() {
            break;
        }
    }
    recorder.end()
}
