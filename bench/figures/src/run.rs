//! Measures the cost of `seatmap run` to a program: for each created thread, and after all are
//! pinned.
//!
//! The bench starts itself as the launcher, because a launcher must be single-threaded. The
//! launcher starts itself as the program, which measures itself and prints the figures.

mod program;

use crate::pair;
use crate::row::FigureRow;
use crate::statistic::{in_turns, median, ratios, spread};
use program::{ProgramTimes, THREADS};
use seatmap_launch::{Beyond, Executable, LaunchOptions, SeatAllocator, SeatList};
use seatmap_os::CpuList;
use std::error::Error;
use std::process::Command;
use std::time::Instant;

const TURNS: usize = 15;

/// The target for the extra time of creating a thread, in us.
const WANTED_US: f64 = 60.0;

const NOISE: f64 = 0.02;

/// Short-lived processes in one run, as a shell script starts them.
const HELPERS: u32 = 200;
const HELPERS_WANTED: f64 = 1.3;

/// The roles of this executable besides the bench, by first argument.
const LAUNCHER: &str = "launcher";
const PROGRAM: &str = "program";
const SHELL: &str = "shell";

const FORMS: [(&str, Beyond); 2] =
    [("a plan", Beyond::Leave), ("a list that cycles", Beyond::Cycle)];

pub fn played(arguments: &[String]) -> Option<Result<(), Box<dyn Error>>> {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [PROGRAM, first, second] => Some(program::play([first, second])),
        [SHELL, first, second] => Some(shell([first, second])),
        [LAUNCHER, form, first, second] => Some(launch(form, [first, second])),
        _ => None,
    }
}

/// The extra time of a thread's creation, and the ratio of times after pinning, for each seating.
pub fn rows() -> Result<Vec<FigureRow>, Box<dyn Error>> {
    let Some(cpus) = pair::cpus()? else { return Ok(Vec::new()) };
    let [alone, seated @ ..]: [_; 1 + FORMS.len()] =
        in_turns(TURNS, |kind| figures(kind.checked_sub(1).map(|form| FORMS[form].0), cpus))?;
    let mut rows: Vec<FigureRow> = FORMS
        .iter()
        .zip(&seated)
        .flat_map(|((form, _), seated)| compared(form, &alone, seated))
        .collect();
    rows.push(helpers(cpus)?);
    Ok(rows)
}

/// The time of a short-lived process under a cyclic list, divided by its time without a launcher.
fn helpers(cpus: [u32; 2]) -> Result<FigureRow, Box<dyn Error>> {
    let own = std::env::current_exe()?;
    let list = cpus.map(|cpu| cpu.to_string());
    let [plain, seated] = in_turns(TURNS, |kind| {
        let mut command = Command::new(if kind == 0 { "sh".as_ref() } else { own.as_os_str() });
        match kind {
            0 => command.args(["-c", &script()]),
            _ => command.arg(SHELL).args(&list),
        };
        let begun = Instant::now();
        let status = command.status()?;
        let took_ms = begun.elapsed().as_secs_f64() * 1e3 / f64::from(HELPERS);
        if status.success() {
            Ok(took_ms)
        } else {
            Err(Box::<dyn Error>::from(format!("the shell's loop ended with {status}")))
        }
    })?;
    let ratios = ratios(&seated, &plain);
    let ratio = median(&ratios);
    let got =
        format!("{}; {:.2} and {:.2} ms", spread(&ratios, ""), median(&seated), median(&plain));
    let target = format!("<= {HELPERS_WANTED}");
    Ok(FigureRow::held(
        "a short-lived process under run / without",
        got,
        target,
        ratio <= HELPERS_WANTED,
    ))
}

fn script() -> String {
    format!("i=0; while [ $i -lt {HELPERS} ]; do /bin/true; i=$((i+1)); done")
}

fn shell(cpus: [&str; 2]) -> Result<(), Box<dyn Error>> {
    let program = Executable::find(&["sh".into(), "-c".into(), script().into()])?;
    let list = CpuList(vec![cpus[0].parse()?, cpus[1].parse()?]);
    let seating = SeatAllocator::new(SeatList::of_cpus(&list, Beyond::Cycle), Vec::new(), 0);
    let (ending, _) = seatmap_launch::run(&program, seating, LaunchOptions::default())?;
    ending.leave_alike()
}

fn figures(form: Option<&str>, cpus: [u32; 2]) -> Result<ProgramTimes, Box<dyn Error>> {
    let part = form.map_or(vec![PROGRAM], |form| vec![LAUNCHER, form]);
    let output = Command::new(std::env::current_exe()?)
        .args(part)
        .args(cpus.map(|cpu| cpu.to_string()))
        .output()?;
    ProgramTimes::read(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned().into())
}

fn launch(form: &str, cpus: [&str; 2]) -> Result<(), Box<dyn Error>> {
    let (_, beyond) = FORMS.into_iter().find(|(name, _)| *name == form).ok_or("no such form")?;
    let own = std::env::current_exe()?.into_os_string();
    let program = Executable::find(&[own, PROGRAM.into(), cpus[0].into(), cpus[1].into()])?;
    // The main thread and the short-lived threads come first, then the plan's last seat for the
    // last thread.
    let mut list = vec![cpus[0].parse()?; 1 + THREADS];
    list.push(cpus[1].parse()?);
    let list = CpuList(list);
    let seating = SeatAllocator::new(SeatList::of_cpus(&list, beyond), Vec::new(), 0).strict(true);
    let (ending, report) = seatmap_launch::run(&program, seating, LaunchOptions::default())?;
    match report.troubles().first() {
        // An unverified seat would make these the figures of another seating.
        Some(trouble) => Err(trouble.clone().into()),
        None => ending.leave_alike(),
    }
}

fn compared(form: &str, alone: &[ProgramTimes], seated: &[ProgramTimes]) -> [FigureRow; 2] {
    let [usual_us, seated_us] =
        [alone, seated].map(|of| of.iter().map(|one| one.creation_us).collect::<Vec<_>>());
    let added: Vec<f64> =
        usual_us.iter().zip(&seated_us).map(|(alone, seated)| seated - alone).collect();
    let [usual_s, seated_s] =
        [alone, seated].map(|of| of.iter().map(|one| one.phase_s).collect::<Vec<_>>());
    let slowdowns = ratios(&seated_s, &usual_s);
    let creation = format!("{}; alone {:.1}", spread(&added, " us"), median(&usual_us));
    [
        FigureRow::held(
            format!("added to a thread's creation by {form}"),
            creation,
            format!("<= {WANTED_US} us"),
            median(&added) <= WANTED_US,
        ),
        FigureRow::held(
            format!("compute, signals, futexes under {form} / alone"),
            spread(&slowdowns, ""),
            "1.00 within noise",
            median(&slowdowns) <= 1.0 + NOISE,
        ),
    ]
}
