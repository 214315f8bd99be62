//! The table of results: `docs/src/tested.md`.

use crate::boot::{self, BootReport, BootRequest, GuestFile};
use crate::computer::{self, Architecture, EmulatedComputer};
use crate::error::LabError;
use crate::tool::write;
use crate::trial::{VerbOutcome, VerbTrial};
use crate::{cache, guest_file};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// Computers for other experiments, not in the table.
const OTHERS: [&str; 5] = ["four-cpus", "four-nodes", "sixteen", "two-cpus", "two-nodes"];

#[derive(Debug, clap::Args)]
pub struct TestedArguments {
    /// Seatmap's program, built with or without the feature `faults`.
    #[arg(long)]
    seatmap: PathBuf,
    /// The folder with Seatmap's and the lab's programs for Arm; without it, Arm computers are
    /// skipped.
    #[arg(long)]
    arm: Option<PathBuf>,
    /// Only this computer; can be repeated.
    #[arg(long)]
    on: Vec<String>,
    /// Only these verbs, separated by commas.
    #[arg(long, default_value = "")]
    only: String,
    /// Time limit per computer in seconds.
    #[arg(long, default_value_t = 3600)]
    seconds: u64,
    /// Leave out a computer that exceeds the time limit without an error before that, with a
    /// message.
    #[arg(long)]
    skip_late: bool,
    /// Write the page with all saved runs to this file.
    #[arg(long)]
    write: Option<PathBuf>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct KeptRun {
    computer: String,
    kernel: String,
    date: String,
    seconds: f64,
    has_ended: bool,
    trials: Vec<VerbTrial>,
}

/// The exit code is 1 if a verb was wrong.
///
/// # Errors
/// [`LabError`] if a computer cannot be read or the page cannot be written.
pub fn run(arguments: &TestedArguments) -> Result<ExitCode, LabError> {
    let folder = computer::folder();
    let names = if arguments.on.is_empty() { table_computers()? } else { arguments.on.clone() };
    let mut is_right = true;
    for name in names {
        let computer = EmulatedComputer::read(&folder, &name)?;
        is_right &= match ask(arguments, &computer) {
            Err(error) if error.is_absence() => {
                say!("lab: skipped: {}: {error}", computer.name);
                true
            }
            asked => asked?,
        };
    }
    if let Some(path) = &arguments.write {
        write(path, page(&kept()?)?)?;
    }
    Ok(if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn table_computers() -> Result<Vec<String>, LabError> {
    let names = EmulatedComputer::names(&computer::folder())?;
    Ok(names.into_iter().filter(|name| !OTHERS.contains(&name.as_str())).collect())
}

fn ask(arguments: &TestedArguments, computer: &EmulatedComputer) -> Result<bool, LabError> {
    let report = boot::boot(computer, &request(arguments, computer)?)?;
    let run = keep(arguments, computer, &report)?;
    for trial in run.trials.iter().filter(|trial| trial.outcome != VerbOutcome::Right) {
        say!(
            "{}: {:?}: {} ({}): {}",
            run.computer,
            trial.outcome,
            trial.verb,
            trial.question,
            trial.detail
        );
    }
    say!(
        "{}, Linux {}: {} right, {} refused, {} wrong, {:.0} s{}",
        run.computer,
        run.kernel,
        run.count(VerbOutcome::Right),
        run.count(VerbOutcome::Refused),
        run.count(VerbOutcome::Wrong),
        run.seconds,
        if run.has_ended { "" } else { ", and it did not come to its end" }
    );
    let is_well = run.count(VerbOutcome::Wrong) == 0;
    if is_well && !run.has_ended && arguments.skip_late {
        say!("lab: skipped: the rest on {}: no end in time", run.computer);
        return Ok(true);
    }
    Ok(is_well && run.has_ended && !run.trials.is_empty())
}

fn request(
    arguments: &TestedArguments,
    computer: &EmulatedComputer,
) -> Result<BootRequest, LabError> {
    let lab = computer::lab_folder();
    let own = std::env::current_exe().map_err(LabError::file(Path::new("seatmap-lab")))?;
    let is_arm = computer.architecture == Architecture::Arm;
    let (seatmap, guest) = if is_arm {
        let folder = arguments.arm.as_ref().ok_or_else(|| {
            LabError::Missing("--arm FOLDER, which holds seatmap and seatmap-lab for Arm,".into())
        })?;
        (folder.join("seatmap"), folder.join("seatmap-lab"))
    } else {
        (arguments.seatmap.clone(), own)
    };
    let mut programs = vec![GuestFile { source: guest, path: "bin/seatmap-lab".to_owned() }];
    if !is_arm {
        programs.extend(installed(&["lstopo-no-graphics", "numactl"]));
    }
    let cache = cache()?;
    let mut words = Vec::new();
    if !arguments.only.is_empty() {
        words.push(format!("lab_only={}", arguments.only));
    }
    Ok(BootRequest {
        seatmap,
        experiment: lab.join("guest/tested"),
        programs,
        words,
        limit: Duration::from_secs(arguments.seconds),
        is_shown: std::env::var_os("LAB_SHOW").is_some(),
        log: Some(cache.join(format!("verbs.{}.console", computer.name))),
        cache,
        ..BootRequest::default()
    })
}

/// The guest reports the missing ones.
fn installed(names: &[&str]) -> Vec<GuestFile> {
    let files = names.iter().filter_map(|name| guest_file(name).ok());
    files.map(|file| in_place(file.source)).collect()
}

fn in_place(source: PathBuf) -> GuestFile {
    let path = source.display().to_string();
    GuestFile { source, path }
}

fn keep(
    arguments: &TestedArguments,
    computer: &EmulatedComputer,
    report: &BootReport,
) -> Result<KeptRun, LabError> {
    let run = KeptRun {
        computer: computer.name.clone(),
        kernel: report.kernel.clone(),
        date: today(),
        seconds: report.seconds,
        has_ended: report.result.is_some(),
        trials: VerbTrial::among(&report.console),
    };
    // The table has only complete runs.
    if arguments.only.is_empty() {
        let path = cache()?.join(format!("verbs.{}.json", computer.name));
        write(&path, serde_json::to_string_pretty(&run).unwrap_or_default())?;
    }
    Ok(run)
}

fn read_kept(path: &Path) -> Option<KeptRun> {
    serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
}

impl KeptRun {
    fn count(&self, outcome: VerbOutcome) -> usize {
        self.trials.iter().filter(|trial| trial.outcome == outcome).count()
    }
}

fn today() -> String {
    let date = crate::tool::output(Command::new("date").arg("+%F")).unwrap_or_default();
    date.trim().to_owned()
}

fn kept() -> Result<Vec<KeptRun>, LabError> {
    let folder = cache()?;
    let mut runs = Vec::new();
    for name in table_computers()? {
        runs.extend(read_kept(&folder.join(format!("verbs.{name}.json"))));
    }
    Ok(runs)
}

const HEAD: &str = include_str!("tested/head.md");

fn page(runs: &[KeptRun]) -> Result<String, LabError> {
    let mut text = HEAD.to_owned();
    text += "\n## Computers\n\n| computer | CPUs | Linux | stands for |\n|---|---|---|---|\n";
    for run in runs {
        let computer = EmulatedComputer::read(&computer::folder(), &run.computer)?;
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            run.computer,
            computer.cpus(),
            run.kernel,
            computer.stands_for
        );
    }
    text += "\n## Verbs\n\n";
    text += &table(runs);
    text += &refusals(runs);
    Ok(text)
}

fn table(runs: &[KeptRun]) -> String {
    let mut columns: Vec<&str> = Vec::new();
    for trial in runs.iter().flat_map(|run| &run.trials) {
        if !columns.contains(&trial.verb.as_str()) && trial.verb != "lab" {
            columns.push(&trial.verb);
        }
    }
    let mut text = format!("| computer | {} | day | boot and questions |\n", columns.join(" | "));
    text += &format!("|---|{}---|---|\n", "---|".repeat(columns.len()));
    for run in runs {
        let cells: Vec<String> = columns.iter().map(|verb| cell(run, verb)).collect();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.0} s |",
            run.computer,
            cells.join(" | "),
            run.date,
            run.seconds
        );
    }
    text
}

fn cell(run: &KeptRun, verb: &str) -> String {
    let words = [
        (VerbOutcome::Right, "right"),
        (VerbOutcome::Refused, "refused"),
        (VerbOutcome::Wrong, "WRONG"),
    ];
    let words: Vec<String> = words
        .into_iter()
        .map(|(outcome, word)| (of_verb(run, verb, outcome), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    if words.is_empty() { "not asked".to_owned() } else { words.join(", ") }
}

fn of_verb(run: &KeptRun, verb: &str, outcome: VerbOutcome) -> usize {
    run.trials.iter().filter(|trial| trial.verb == verb && trial.outcome == outcome).count()
}

fn refusals(runs: &[KeptRun]) -> String {
    let mut sentences = BTreeMap::<(VerbOutcome, String), BTreeSet<&str>>::new();
    for run in runs {
        for trial in run.trials.iter().filter(|trial| trial.outcome != VerbOutcome::Right) {
            let sentence = format!("`{}`, {}: {}", trial.verb, trial.question, trial.detail);
            sentences.entry((trial.outcome, sentence)).or_default().insert(&run.computer);
        }
    }
    if sentences.is_empty() {
        return "\nNothing was refused, and nothing was wrong.\n".to_owned();
    }
    let mut text = "\n| outcome | question and sentence | computers |\n|---|---|---|\n".to_owned();
    for ((outcome, sentence), computers) in sentences {
        let computers = computers.into_iter().collect::<Vec<_>>().join(", ");
        let sentence = sentence.replace('|', "\\|").replace('\n', " ");
        let word = format!("{outcome:?}").to_lowercase();
        let _ = writeln!(text, "| {word} | {sentence} | {computers} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_shows_wrong_answer() {
        let trial = |verb: &str, outcome| VerbTrial {
            verb: verb.to_owned(),
            question: "q".to_owned(),
            outcome,
            detail: "a | b".to_owned(),
            seconds: 1.0,
        };
        let run = KeptRun {
            computer: "small".to_owned(),
            kernel: "6.1".to_owned(),
            date: "2026-11-26".to_owned(),
            seconds: 61.4,
            has_ended: true,
            trials: vec![
                trial("run", VerbOutcome::Right),
                trial("run", VerbOutcome::Wrong),
                trial("cell", VerbOutcome::Refused),
            ],
        };
        let text = table(std::slice::from_ref(&run));
        assert!(
            text.contains("| small | 1 right, 1 WRONG | 1 refused | 2026-11-26 | 61 s |"),
            "{text}"
        );
        assert!(refusals(&[run]).contains("| wrong | `run`, q: a \\| b | small |"));
    }
}
