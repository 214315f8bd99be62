//! Measures the cost of `seatmap run` to a program: for each thread that it creates, and when all
//! of them sit.
//!
//! This executable plays every part. The bench starts itself as the launcher, which may have no
//! other threads. The launcher starts itself as the program, which measures itself and prints the
//! figures.

mod program;

use crate::pair;
use crate::row::Row;
use crate::statistic::{median, quantile};
use program::{Figures, THREADS};
use seatmap_launch::{Beyond, Executable, LaunchOptions, ProgramMemory, SeatAllocator, SeatList};
use seatmap_os::mempolicy::MemoryPolicy;
use seatmap_os::{CpuList, CpuSet};
use std::error::Error;
use std::process::Command;
use std::time::Instant;

/// Runs of each kind, taking turns.
const TURNS: usize = 15;

/// The most that creating a thread may take longer, in microseconds.
const WANTED_US: f64 = 60.0;

/// How far from 1 the ratio of times after seating may be.
const NOISE: f64 = 0.02;

/// Short-lived processes in one run, as a shell script starts them, and what one may cost under
/// `run` over without.
const HELPERS: u32 = 200;
const HELPERS_WANTED: f64 = 1.3;

/// The parts that this executable plays beside the bench, by their first argument.
const LAUNCHER: &str = "launcher";
const PROGRAM: &str = "program";
const SHELL: &str = "shell";

/// The forms of a seating that the launcher takes.
const FORMS: [(&str, Beyond); 3] = [
    ("a plan", Beyond::Leave),
    ("a list that cycles", Beyond::Cycle),
    (WITH_MEMORY, Beyond::Leave),
];
/// The form that gives each thread but the first a memory policy of its own, set in the thread
/// before it begins.
const WITH_MEMORY: &str = "a plan with memory";

/// Plays another part than the bench, where the arguments ask for it.
pub fn played(arguments: &[String]) -> Option<Result<(), Box<dyn Error>>> {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [PROGRAM, first, second] => Some(program::play([first, second])),
        [SHELL, first, second] => Some(shell([first, second])),
        [LAUNCHER, form, first, second] => Some(launch(form, [first, second])),
        _ => None,
    }
}

/// The added time of a creation, and the ratio of times after seating, for each form.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let Some(cpus) = pair::cpus()? else { return Ok(Vec::new()) };
    let mut found: [Vec<Figures>; 1 + FORMS.len()] = Default::default();
    for turn in 0..TURNS {
        for step in 0..found.len() {
            // Another one begins in each turn.
            let kind = (turn + step) % found.len();
            found[kind].push(figures(kind.checked_sub(1).map(|form| FORMS[form].0), cpus)?);
        }
    }
    let [alone, seated @ ..] = &found;
    let mut rows: Vec<Row> = FORMS
        .iter()
        .zip(seated)
        .flat_map(|((form, _), seated)| compared(form, alone, seated))
        .collect();
    rows.push(helpers(cpus)?);
    Ok(rows)
}

/// The time of a short-lived process under a list that cycles, divided by its time without a
/// launcher.
fn helpers(cpus: [u32; 2]) -> Result<Row, Box<dyn Error>> {
    let own = std::env::current_exe()?;
    let list = cpus.map(|cpu| cpu.to_string());
    let mut times: [Vec<f64>; 2] = Default::default();
    for turn in 0..TURNS {
        for step in 0..2 {
            // The first of the two changes from turn to turn.
            let kind = (turn + step) % 2;
            let mut command = if kind == 0 { Command::new("sh") } else { Command::new(&own) };
            match kind {
                0 => command.args(["-c", &script()]),
                _ => command.arg(SHELL).args(&list),
            };
            let begun = Instant::now();
            let status = command.status()?;
            times[kind].push(begun.elapsed().as_secs_f64() * 1e3 / f64::from(HELPERS));
            if !status.success() {
                return Err(format!("the shell's loop ended with {status}").into());
            }
        }
    }
    let [plain, seated] = &times;
    let ratios: Vec<f64> = plain.iter().zip(seated).map(|(plain, seated)| seated / plain).collect();
    let ratio = quantile(&ratios, 0.5);
    let got = format!(
        "{ratio:.2} (by turns, middle half {:.2}-{:.2}; {:.2} and {:.2} ms)",
        quantile(&ratios, 0.25),
        quantile(&ratios, 0.75),
        quantile(seated, 0.5),
        quantile(plain, 0.5)
    );
    let target = format!("<= {HELPERS_WANTED}");
    Ok(Row::held("a short-lived process under run / without", got, target, ratio <= HELPERS_WANTED))
}

fn script() -> String {
    format!("i=0; while [ $i -lt {HELPERS} ]; do /bin/true; i=$((i+1)); done")
}

/// Plays the launcher of a shell script.
fn shell(cpus: [&str; 2]) -> Result<(), Box<dyn Error>> {
    let program = Executable::find(&["sh".into(), "-c".into(), script().into()])?;
    let list = CpuList(vec![cpus[0].parse()?, cpus[1].parse()?]);
    let seating = SeatAllocator::new(SeatList::of_cpus(&list, Beyond::Cycle), Vec::new(), 0);
    let (ending, _) = seatmap_launch::run(&program, seating, LaunchOptions::default())?;
    ending.leave_alike()
}

/// One run of the program, alone or under a form of seating.
fn figures(form: Option<&str>, cpus: [u32; 2]) -> Result<Figures, Box<dyn Error>> {
    let part = form.map_or(vec![PROGRAM], |form| vec![LAUNCHER, form]);
    let output = Command::new(std::env::current_exe()?)
        .args(part)
        .args(cpus.map(|cpu| cpu.to_string()))
        .output()?;
    Figures::read(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned().into())
}

fn launch(form: &str, cpus: [&str; 2]) -> Result<(), Box<dyn Error>> {
    let (_, beyond) = FORMS.into_iter().find(|(name, _)| *name == form).ok_or("no such form")?;
    let own = std::env::current_exe()?.into_os_string();
    let program = Executable::find(&[own, PROGRAM.into(), cpus[0].into(), cpus[1].into()])?;
    // The main thread and those that live for a moment, and then the last seat of the plan for the
    // last thread.
    let mut list = vec![cpus[0].parse()?; 1 + THREADS];
    list.push(cpus[1].parse()?);
    let list = CpuList(list);
    let seating = SeatAllocator::new(SeatList::of_cpus(&list, beyond), Vec::new(), 0).strict(true);
    let memory = (form == WITH_MEMORY).then(|| memory(1 + THREADS));
    let options = LaunchOptions { memory, ..LaunchOptions::default() };
    let (ending, report) = seatmap_launch::run(&program, seating, options)?;
    match report.troubles().first() {
        // A seat that was not verified would make the figures those of another seating.
        Some(trouble) => Err(trouble.clone().into()),
        None => ending.leave_alike(),
    }
}

/// Memory of node 0 for each task but the first, so that every thread differs from its creator.
fn memory(others: usize) -> ProgramMemory {
    let of_task = Some(MemoryPolicy::bind(CpuSet::single(0)));
    let tasks = std::iter::once(None).chain(std::iter::repeat_n(of_task, others)).collect();
    ProgramMemory { wish: "plan".to_owned(), tasks, all: None, nodes: None }
}

fn compared(form: &str, alone: &[Figures], seated: &[Figures]) -> [Row; 2] {
    let added: Vec<f64> = alone
        .iter()
        .zip(seated)
        .map(|(alone, seated)| seated.creation_us - alone.creation_us)
        .collect();
    let ratios: Vec<f64> =
        alone.iter().zip(seated).map(|(alone, seated)| seated.phase_s / alone.phase_s).collect();
    let usual = median(&alone.iter().map(|alone| alone.creation_us).collect::<Vec<_>>());
    let us = quantile(&added, 0.5);
    let ratio = quantile(&ratios, 0.5);
    let creation = format!(
        "{us:.1} us (by turns, middle half {:.1}-{:.1}; alone {usual:.1})",
        quantile(&added, 0.25),
        quantile(&added, 0.75)
    );
    let phase = format!(
        "{ratio:.3} (by turns, middle half {:.3}-{:.3})",
        quantile(&ratios, 0.25),
        quantile(&ratios, 0.75)
    );
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
