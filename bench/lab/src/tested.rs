//! The table of computers and verbs, with the day: `docs/src/tested.md`.

use crate::boot::{self, BootReport, BootRequest, GuestFile};
use crate::computer::{self, Architecture, Computer};
use crate::error::LabError;
use crate::trial::{Outcome, Trial};
use crate::{cache, guest_file};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// The experiments of the table, in the order of the page.
const EXPERIMENTS: [&str; 3] = ["verbs", "programs", "hotplug"];
/// Computers that other experiments use, and that the table leaves out.
const OTHERS: [&str; 5] = ["four-cpus", "four-nodes", "sixteen", "two-cpus", "two-nodes"];

/// The questions, and the computers that are asked.
#[derive(Debug, clap::Args)]
pub struct TestedArguments {
    /// Seatmap's program, built with the feature `faults` or without.
    #[arg(long)]
    seatmap: PathBuf,
    /// Seatmap's and the lab's programs for Arm, in this folder; without it, Arm's computers are
    /// skipped.
    #[arg(long)]
    arm: Option<PathBuf>,
    /// These computers alone; may be given several times.
    #[arg(long)]
    on: Vec<String>,
    /// These experiments alone: verbs, programs, hotplug; may be given several times.
    #[arg(long)]
    experiment: Vec<String>,
    /// These verbs or programs alone, with commas between them.
    #[arg(long, default_value = "")]
    only: String,
    /// Rounds of each verb while CPUs go and come.
    #[arg(long, default_value_t = 50)]
    rounds: u32,
    /// Chooses the CPUs and the moments.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// End a computer after this many seconds.
    #[arg(long, default_value_t = 3600)]
    seconds: u64,
    /// Leave out, visibly, a computer that does not come to its end in time and had nothing wrong
    /// until then.
    #[arg(long)]
    skip_late: bool,
    /// Write the page to this file, of everything that is kept.
    #[arg(long)]
    write: Option<PathBuf>,
}

/// The outcomes of one experiment on one computer, as they are kept.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct KeptRun {
    computer: String,
    experiment: String,
    kernel: String,
    date: String,
    seconds: f64,
    has_ended: bool,
    trials: Vec<Trial>,
}

/// Asks, keeps the outcomes, and writes the page. The exit code is 1 where a verb was wrong.
///
/// # Errors
/// [`LabError`], if a computer cannot be read or the page not be written.
pub fn run(arguments: &TestedArguments) -> Result<ExitCode, LabError> {
    let folder = computer::folder();
    let names = if arguments.on.is_empty() { table_computers()? } else { arguments.on.clone() };
    let mut is_right = true;
    for name in names {
        let computer = Computer::read(&folder, &name)?;
        for experiment in EXPERIMENTS {
            let is_named = arguments.experiment.iter().any(|one| one == experiment);
            let is_usual = arguments.experiment.is_empty() && is_usual(&computer, experiment);
            if is_named || is_usual {
                is_right &= ask(arguments, &computer, experiment)?;
            }
        }
    }
    if let Some(path) = &arguments.write {
        let page = page(&kept()?)?;
        std::fs::write(path, page)
            .map_err(|source| LabError::File { path: path.clone(), source })?;
    }
    Ok(if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn table_computers() -> Result<Vec<String>, LabError> {
    let names = Computer::names(&computer::folder())?;
    Ok(names.into_iter().filter(|name| !OTHERS.contains(&name.as_str())).collect())
}

/// Verbs are asked everywhere; programs and hotplug on those computers that differ most.
fn is_usual(computer: &Computer, experiment: &str) -> bool {
    match experiment {
        "programs" => ["four-sockets", "sub-numa"].contains(&computer.name.as_str()),
        "hotplug" => ["small", "sub-numa"].contains(&computer.name.as_str()),
        _ => true,
    }
}

fn ask(
    arguments: &TestedArguments,
    computer: &Computer,
    experiment: &str,
) -> Result<bool, LabError> {
    let request = match request(arguments, computer, experiment) {
        Ok(request) => request,
        Err(error) if error.is_absence() => {
            say!("lab: skipped: {} on {}: {error}", experiment, computer.name);
            return Ok(true);
        }
        Err(error) => return Err(error),
    };
    let report = match boot::boot(computer, &request) {
        Ok(report) => report,
        Err(error) if error.is_absence() => {
            say!("lab: skipped: {} on {}: {error}", experiment, computer.name);
            return Ok(true);
        }
        Err(error) => return Err(error),
    };
    let run = keep(arguments, computer, experiment, &report)?;
    for trial in run.trials.iter().filter(|trial| trial.outcome != Outcome::Right) {
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
        "{}, Linux {}, {experiment}: {} right, {} refused, {} wrong, {:.0} s{}",
        run.computer,
        run.kernel,
        run.count(Outcome::Right),
        run.count(Outcome::Refused),
        run.count(Outcome::Wrong),
        run.seconds,
        if run.has_ended { "" } else { ", and it did not come to its end" }
    );
    let is_well = run.count(Outcome::Wrong) == 0;
    if is_well && !run.has_ended && arguments.skip_late {
        say!("lab: skipped: the rest of {experiment} on {}: no end in time", run.computer);
        return Ok(true);
    }
    Ok(is_well && run.has_ended && !run.trials.is_empty())
}

fn request(
    arguments: &TestedArguments,
    computer: &Computer,
    experiment: &str,
) -> Result<BootRequest, LabError> {
    let lab = computer::lab_folder();
    let own = std::env::current_exe()
        .map_err(|source| LabError::File { path: PathBuf::from("seatmap-lab"), source })?;
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
    let mut trees = Vec::new();
    let mut files = Vec::new();
    if !is_arm {
        programs.extend(installed(&["lstopo-no-graphics", "numactl"]));
    }
    let cache = cache()?;
    if experiment == "programs" {
        programs.extend(real_programs(&cache));
        trees.extend(database(&cache));
        files.extend(users(&cache)?);
    }
    let mut words = vec![format!("lab_words={experiment}")];
    if !arguments.only.is_empty() {
        words.push(format!("lab_only={}", arguments.only));
    }
    words.push(format!("lab_rounds={}", arguments.rounds));
    words.push(format!("lab_seed={}", arguments.seed));
    Ok(BootRequest {
        seatmap,
        experiment: lab.join("guest/tested"),
        init: None,
        kernel: None,
        programs,
        files,
        trees,
        modules: Vec::new(),
        words,
        is_parallel: false,
        limit: Duration::from_secs(arguments.seconds),
        is_shown: std::env::var_os("LAB_SHOW").is_some(),
        log: Some(cache.join(format!("{experiment}.{}.console", computer.name))),
        cache,
    })
}

/// Those of these programs that are installed; the others are left out, visibly, in the guest.
fn installed(names: &[&str]) -> Vec<GuestFile> {
    let files = names.iter().filter_map(|name| guest_file(name).ok());
    files.map(|file| in_place(file.source)).collect()
}

/// A file or folder that stands in the guest where it stands here.
fn in_place(source: PathBuf) -> GuestFile {
    let path = source.display().to_string();
    GuestFile { source, path }
}

/// The real programs, and the OpenMP program that is built here.
fn real_programs(cache: &Path) -> Vec<GuestFile> {
    let names = ["redis-server", "redis-benchmark", "memcached", "nginx", "hackbench"];
    let mut programs = installed(&names);
    let postgres = Path::new("/usr/lib/postgresql/15/bin/postgres");
    if postgres.exists() {
        programs.push(in_place(postgres.to_owned()));
    }
    let source = computer::lab_folder().join("guest/openmp.c");
    let built = cache.join("openmp");
    let mut compile = Command::new("gcc");
    compile.args(["-O1", "-fopenmp"]).arg(source).arg("-o").arg(&built);
    if compile.status().is_ok_and(|status| status.success()) {
        programs.push(GuestFile { source: built, path: "bin/openmp".to_owned() });
    }
    programs
}

/// A new database's folder, and the files that its server reads.
fn database(cache: &Path) -> Vec<GuestFile> {
    let folder = cache.join("pgdata");
    let share = PathBuf::from("/usr/share/postgresql/15");
    let library = PathBuf::from("/usr/lib/postgresql/15/lib");
    if !folder.exists() {
        let line = format!(
            "mkdir -p {0} && chown nobody {0} && setpriv --reuid nobody --clear-groups \
             /usr/lib/postgresql/15/bin/initdb -D {0} -U postgres --no-locale --no-sync >/dev/null",
            folder.display()
        );
        if !Command::new("sh").args(["-c", &line]).status().is_ok_and(|status| status.success()) {
            let _ = std::fs::remove_dir_all(&folder);
            return Vec::new();
        }
    }
    let database = GuestFile { source: folder, path: "pgdata".to_owned() };
    vec![database, in_place(share), in_place(library)]
}

/// Users and groups for servers that do not run as root.
fn users(cache: &Path) -> Result<Vec<GuestFile>, LabError> {
    let texts = [
        ("passwd", "root:x:0:0::/tmp:/bin/sh\npostgres:x:100:100::/tmp:/bin/sh\n"),
        ("group", "root:x:0:\npostgres:x:100:\n"),
    ];
    let mut files = Vec::new();
    for (name, text) in texts {
        let source = cache.join(format!("guest-{name}"));
        std::fs::write(&source, text)
            .map_err(|error| LabError::File { path: source.clone(), source: error })?;
        files.push(GuestFile { source, path: format!("etc/{name}") });
    }
    Ok(files)
}

fn keep(
    arguments: &TestedArguments,
    computer: &Computer,
    experiment: &str,
    report: &BootReport,
) -> Result<KeptRun, LabError> {
    let run = KeptRun {
        computer: computer.name.clone(),
        experiment: experiment.to_owned(),
        kernel: report.kernel.clone(),
        date: today(),
        seconds: report.seconds,
        has_ended: report.result.is_some(),
        trials: Trial::among(&report.console),
    };
    let folder = cache()?;
    let stem = format!("{experiment}.{}", computer.name);
    let path = folder.join(format!("{stem}.json"));
    let whole = if arguments.only.is_empty() { None } else { read_kept(&path) };
    let merged = whole.map_or_else(|| run.clone(), |whole| whole.with(&run));
    write(path, &serde_json::to_string_pretty(&merged).unwrap_or_default())?;
    Ok(run)
}

fn read_kept(path: &Path) -> Option<KeptRun> {
    serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
}

impl KeptRun {
    fn count(&self, outcome: Outcome) -> usize {
        self.trials.iter().filter(|trial| trial.outcome == outcome).count()
    }

    /// This run with the part that was asked again.
    fn with(mut self, part: &KeptRun) -> KeptRun {
        for trial in &part.trials {
            match self.trials.iter_mut().find(|own| own.answers_as(trial)) {
                Some(own) => *own = trial.clone(),
                None => self.trials.push(trial.clone()),
            }
        }
        self.has_ended &= part.has_ended;
        self.date.clone_from(&part.date);
        self.kernel.clone_from(&part.kernel);
        self
    }
}

fn write(path: PathBuf, text: &str) -> Result<(), LabError> {
    std::fs::write(&path, text).map_err(|source| LabError::File { path, source })
}

fn today() -> String {
    let date = crate::tool::output(Command::new("date").arg("+%F")).unwrap_or_default();
    date.trim().to_owned()
}

/// All runs of the cache, in the order of the computers' names.
fn kept() -> Result<Vec<KeptRun>, LabError> {
    let folder = cache()?;
    let mut runs = Vec::new();
    for experiment in EXPERIMENTS {
        for name in table_computers()? {
            let path = folder.join(format!("{experiment}.{name}.json"));
            runs.extend(read_kept(&path));
        }
    }
    Ok(runs)
}

const HEAD: &str = include_str!("tested/head.md");
const PROGRAMS: &str = include_str!("tested/programs.md");
const HOTPLUG: &str = include_str!("tested/hotplug.md");

fn page(runs: &[KeptRun]) -> Result<String, LabError> {
    let mut text = HEAD.to_owned();
    let verbs: Vec<&KeptRun> = runs.iter().filter(|run| run.experiment == "verbs").collect();
    text += "\n## Computers\n\n| computer | CPUs | Linux | stands for |\n|---|---|---|---|\n";
    for run in &verbs {
        let computer = Computer::read(&computer::folder(), &run.computer)?;
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
    text += &table(&verbs);
    text += &refusals(&verbs);
    let others =
        [("programs", "Real programs", PROGRAMS), ("hotplug", "CPUs that go and come", HOTPLUG)];
    for (experiment, title, words) in others {
        let own: Vec<&KeptRun> = runs.iter().filter(|run| run.experiment == experiment).collect();
        if !own.is_empty() {
            let _ = write!(text, "\n## {title}\n\n{words}\n");
            text += &details(&own);
        }
    }
    Ok(text)
}

/// A row for each computer, a column for each verb.
fn table(runs: &[&KeptRun]) -> String {
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
    let words =
        [(Outcome::Right, "right"), (Outcome::Refused, "refused"), (Outcome::Wrong, "WRONG")];
    let words: Vec<String> = words
        .into_iter()
        .map(|(outcome, word)| (of_verb(run, verb, outcome), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    if words.is_empty() { "not asked".to_owned() } else { words.join(", ") }
}

fn of_verb(run: &KeptRun, verb: &str, outcome: Outcome) -> usize {
    run.trials.iter().filter(|trial| trial.verb == verb && trial.outcome == outcome).count()
}

/// The sentences of refusals and faults, each with its computers.
fn refusals(runs: &[&KeptRun]) -> String {
    let mut sentences = BTreeMap::<(Outcome, String), BTreeSet<&str>>::new();
    for run in runs {
        for trial in run.trials.iter().filter(|trial| trial.outcome != Outcome::Right) {
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

/// A row for each program or disturbed verb.
fn details(runs: &[&KeptRun]) -> String {
    let mut text = "| computer | Linux | of | outcome | day |\n|---|---|---|---|---|\n".to_owned();
    for run in runs {
        for trial in &run.trials {
            let word = if trial.outcome == Outcome::Right { "right" } else { "WRONG" };
            let detail = trial.detail.replace('|', "\\|").replace('\n', " ");
            let _ = writeln!(
                text,
                "| {} | {} | {} | {word}: {detail} | {} |",
                run.computer, run.kernel, trial.verb, run.date
            );
        }
        if !run.has_ended && !run.trials.is_empty() {
            let _ = writeln!(
                text,
                "| {} | {} | the rest | not asked: the time was over | {} |",
                run.computer, run.kernel, run.date
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_answer_is_in_the_table() {
        let trial = |verb: &str, outcome| Trial {
            verb: verb.to_owned(),
            question: "q".to_owned(),
            outcome,
            detail: "a | b".to_owned(),
            seconds: 1.0,
        };
        let run = KeptRun {
            computer: "small".to_owned(),
            experiment: "verbs".to_owned(),
            kernel: "6.1".to_owned(),
            date: "2026-11-26".to_owned(),
            seconds: 61.4,
            has_ended: true,
            trials: vec![
                trial("run", Outcome::Right),
                trial("run", Outcome::Wrong),
                trial("cell", Outcome::Refused),
            ],
        };
        let text = table(&[&run]);
        assert!(
            text.contains("| small | 1 right, 1 WRONG | 1 refused | 2026-11-26 | 61 s |"),
            "{text}"
        );
        assert!(refusals(&[&run]).contains("| wrong | `run`, q: a \\| b | small |"));
    }
}
