//! What `seatmap run` costs a program: for each thread that it creates, and when all of them sit.
//!
//! This executable plays every part. The bench starts itself as the launcher, which may have no other threads, and that
//! starts itself as the program, which measures itself and prints what it found.

mod program;

use crate::pair;
use crate::row::Row;
use program::{Figures, THREADS};
use seatmap_launch::{Beyond, Options, Program, Seating, Seats};
use seatmap_machine::CpuList;
use seatmap_measure::statistics::{median, quantile};
use std::error::Error;
use std::process::Command;

/// Runs of each kind, taking turns.
const TURNS: usize = 15;

/// What a creation may cost more, in microseconds.
const WANTED_US: f64 = 60.0;

/// How far from 1 the ratio of times after seating may be.
const NOISE: f64 = 0.02;

/// The parts that this executable plays beside the bench, by their first argument.
const LAUNCHER: &str = "launcher";
const PROGRAM: &str = "program";

/// The two forms of a seating, as the launcher is told.
const FORMS: [(&str, Beyond); 2] = [("a plan", Beyond::Leave), ("a list that cycles", Beyond::Cycle)];

/// Plays another part than the bench, where the arguments ask for it.
pub fn played(arguments: &[String]) -> Option<Result<(), Box<dyn Error>>> {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [PROGRAM, first, second] => Some(program::play([first, second])),
        [LAUNCHER, form, first, second] => Some(launch(form, [first, second])),
        _ => None,
    }
}

/// The added time of a creation, and the ratio of times after seating, for both forms.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let Some(cpus) = pair::cpus()? else { return Ok(Vec::new()) };
    let mut found: [Vec<Figures>; 3] = Default::default();
    for turn in 0..TURNS {
        for step in 0..found.len() {
            let kind = (turn + step) % found.len();
            found[kind].push(figures(kind.checked_sub(1).map(|form| FORMS[form].0), cpus)?);
        }
    }
    let [alone, seated @ ..] = &found;
    Ok(FORMS.iter().zip(seated).flat_map(|((form, _), seated)| compared(form, alone, seated)).collect())
}

/// One run of the program, alone or under a form of seating.
fn figures(form: Option<&str>, cpus: [u32; 2]) -> Result<Figures, Box<dyn Error>> {
    let part = form.map_or(vec![PROGRAM], |form| vec![LAUNCHER, form]);
    let output = Command::new(std::env::current_exe()?).args(part).args(cpus.map(|cpu| cpu.to_string())).output()?;
    Figures::read(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned().into())
}

fn launch(form: &str, cpus: [&str; 2]) -> Result<(), Box<dyn Error>> {
    let (_, beyond) = FORMS.into_iter().find(|(name, _)| *name == form).ok_or("no such form")?;
    let own = std::env::current_exe()?.into_os_string();
    let program = Program::find(&[own, PROGRAM.into(), cpus[0].into(), cpus[1].into()])?;
    // The main thread and those that live for a moment, and then the last seat of the plan for the last thread.
    let mut list = vec![cpus[0].parse()?; 1 + THREADS];
    list.push(cpus[1].parse()?);
    let list = CpuList(list);
    let seating = Seating::new(Seats::of_cpus(&list, beyond), Vec::new(), 0).strict(true);
    let (ending, report) = seatmap_launch::run(&program, seating, Options::default())?;
    match report.troubles().first() {
        Some(trouble) => Err(trouble.clone().into()),
        None => ending.leave_alike(),
    }
}

fn compared(form: &str, alone: &[Figures], seated: &[Figures]) -> [Row; 2] {
    let pairs = || alone.iter().zip(seated);
    let added: Vec<f64> = pairs().map(|(alone, seated)| seated.creation_us - alone.creation_us).collect();
    let ratios: Vec<f64> = pairs().map(|(alone, seated)| seated.phase_s / alone.phase_s).collect();
    let usual = median(&alone.iter().map(|alone| alone.creation_us).collect::<Vec<_>>()).unwrap_or(f64::NAN);
    let of = |values: &[f64], share| quantile(values, share).unwrap_or(f64::NAN);
    let (us, ratio) = (of(&added, 0.5), of(&ratios, 0.5));
    let creation =
        format!("{us:.1} us (by turns, middle half {:.1}-{:.1}; alone {usual:.1})", of(&added, 0.25), of(&added, 0.75));
    let phase = format!("{ratio:.3} (by turns, middle half {:.3}-{:.3})", of(&ratios, 0.25), of(&ratios, 0.75));
    [
        Row::held(
            format!("added to a thread's creation by {form}"),
            creation,
            format!("<= {WANTED_US} us"),
            us <= WANTED_US,
        ),
        Row::held(
            format!("compute, signals, futexes under {form} / alone"),
            phase,
            "1.00 within noise",
            ratio <= 1.0 + NOISE,
        ),
    ]
}
