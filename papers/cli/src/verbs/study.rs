//! `seatmap-papers study`: computes each figure with the command in the study's file.

use crate::args::StudyArgs as StudyArguments;
use seatmap_console::bar::Bar;
use seatmap_console::error::CliError;
use seatmap_console::output::{self, Destination};
use seatmap_console::{here, input};
use seatmap_data::document::visible_lines;
use seatmap_os::limited;
use seatmap_papers_report::study::{
    FORMAT, FigureSource, FilledTable, JudgedStudy, MeasuredFigure, NotRun, Study, StudyFigure,
    csv, markdown, text,
};
use seatmap_report::counted;
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const STUDIES: [&str; 9] = [
    include_str!("../../../studies/cellstats/study.toml"),
    include_str!("../../../studies/cellule-2010/study.toml"),
    include_str!("../../../studies/cellule-libspe2/study.toml"),
    include_str!("../../../studies/cellule-ports/study.toml"),
    include_str!("../../../studies/cellule-qs20/study.toml"),
    include_str!("../../../studies/keller/study.toml"),
    include_str!("../../../studies/keller-why/study.toml"),
    include_str!("../../../studies/liu-2015/study.toml"),
    include_str!("../../../studies/sudheer/study.toml"),
];

/// Runs studies. If a row cannot run here, the others still do.
pub fn run(typed: &StudyArguments) -> Result<(), CliError> {
    let mut all = Vec::new();
    let mut runs = Runs::default();
    for mut study in named_studies(&typed.name)? {
        if study.is_of_host {
            // A study of this computer names it; figures of models are the same everywhere.
            study.about += &format!(" Measured on {}.", here()?);
        }
        let judged = judged(study, &mut runs);
        if let Some(folder) = &typed.write {
            write(&judged, folder)?;
        }
        if !typed.json {
            output::print(&(visible_lines(text(&judged)) + "\n"))?;
        }
        all.push(judged);
    }
    if typed.json {
        output::json(&document(&all))?;
    }
    complete(&all)
}

fn document(all: &[JudgedStudy]) -> serde_json::Value {
    let studies = all.iter().map(|one| {
        serde_json::json!({
            "name": one.study.name,
            "figures": one.found,
            "tables": one.tables,
            "not_run": one.not_run,
        })
    });
    serde_json::json!({ "format": FORMAT, "studies": studies.collect::<Vec<_>>() })
}

/// Fails if rows could not run, because they have no verdict.
fn complete(all: &[JudgedStudy]) -> Result<(), CliError> {
    let not_run: Vec<&NotRun> = all.iter().flat_map(|one| &one.not_run).collect();
    let Some(first) = not_run.first() else { return Ok(()) };
    Err(CliError::work(format!(
        "{} could not be run here; the first: {}",
        counted(not_run.len(), "row"),
        first.why
    )))
}

fn here() -> Result<String, CliError> {
    let environment = seatmap_machines::host::environment::read();
    let cpus = seatmap_os::affinity::current().map_err(CliError::work)?.len();
    let cpu = known(environment.cpu_model);
    let kernel = known(environment.kernel);
    Ok(format!("{cpu}, {}, Linux {kernel}, {}", counted(cpus, "CPU"), here::today()))
}

fn known(value: Option<String>) -> String {
    output::visible(&value.unwrap_or_else(|| "unknown".to_owned()))
}

pub fn names() -> impl Iterator<Item = String> {
    STUDIES.iter().filter_map(|text| Study::from_toml(text).ok()).map(|study| study.name)
}

/// The study with this name or in this file, or all bundled ones.
fn named_studies(name: &str) -> Result<Vec<Study>, CliError> {
    if input::is_file(name) {
        // A file comes first, so that people can change a copy of a study and run it.
        return Ok(vec![read(
            Path::new(name),
            &String::from_utf8_lossy(&input::bytes(Path::new(name))?),
        )?]);
    }
    let studies = STUDIES.iter().map(|text| read(Path::new("a study of Seatmap's own"), text));
    let mut studies = studies.collect::<Result<Vec<Study>, _>>()?;
    let known: Vec<String> = studies.iter().map(|study| study.name.clone()).collect();
    studies.retain(|study| name == "all" || name == study.name);
    if studies.is_empty() {
        Err(CliError::input(format!(
            "unknown study '{name}'; expected one of: {}, all, or a file",
            known.join(", ")
        )))
    } else {
        Ok(studies)
    }
}

fn read(path: &Path, text: &str) -> Result<Study, CliError> {
    Study::from_toml(text).map_err(|error| CliError::at(path, error))
}

fn judged(study: Study, runs: &mut Runs) -> JudgedStudy {
    let began = Instant::now();
    let mut not_run = Vec::new();
    let found = figures(&study, runs, &mut not_run);
    let tables = tables(&study, runs, &mut not_run);
    JudgedStudy { study, found, tables, not_run, took: began.elapsed() }
}

fn figures(study: &Study, runs: &mut Runs, not_run: &mut Vec<NotRun>) -> Vec<MeasuredFigure> {
    let bar = Bar::new("studying");
    let mut found = Vec::new();
    for (done, figure) in study.figure.iter().enumerate() {
        bar.show(done, study.figure.len());
        match runs.measured(figure) {
            Ok(measured) => found.push(measured),
            Err(why) => {
                not_run.push(NotRun { place: figure.place.clone(), what: figure.what.clone(), why })
            }
        }
    }
    found
}

fn tables(study: &Study, runs: &mut Runs, not_run: &mut Vec<NotRun>) -> Vec<FilledTable> {
    let bar = Bar::new("studying");
    let total: usize = study.table.iter().map(|table| table.row.len() * table.column.len()).sum();
    let mut done = 0;
    let mut found = Vec::new();
    for table in &study.table {
        let filled = table.filled(|command| {
            bar.show(done, total);
            done += 1;
            runs.value(command, &table.value)
        });
        match filled {
            Ok(filled) => found.push(filled),
            Err(why) => {
                not_run.push(NotRun { place: String::new(), what: table.title.clone(), why });
            }
        }
    }
    found
}

fn write(judged: &JudgedStudy, folder: &Path) -> Result<(), CliError> {
    let study = &judged.study;
    std::fs::create_dir_all(folder).map_err(|error| CliError::work_at(folder, error))?;
    let rows = seatmap_papers_report::svg::study(&judged.found);
    let files = [("md", Some(markdown(judged))), ("csv", Some(csv(judged))), ("svg", rows)];
    for (ending, text) in files.into_iter().filter_map(|(ending, text)| Some((ending, text?))) {
        let file = folder.join(format!("{}.{ending}", study.name));
        Destination::new(&file)?.write(&visible_lines(text))?;
    }
    for picture in &study.picture {
        let file = folder.join(&picture.file).display().to_string();
        // Replaced after splitting, because a folder's name may contain spaces.
        let words: Vec<String> =
            picture.command.split(' ').map(|word| word.replace("FILE", &file)).collect();
        printed_by(&words).map_err(CliError::work)?;
    }
    Ok(())
}

/// The document or error of each command; several figures may use one command.
#[derive(Default)]
struct Runs(HashMap<String, Result<serde_json::Value, String>>);

impl Runs {
    /// Our figure, and if it agrees with the paper, that of the arm without the effect, which can
    /// only take an agreement away.
    fn measured(&mut self, figure: &StudyFigure) -> Result<MeasuredFigure, String> {
        let ours = self.ours(&figure.source)?;
        let null = figure.null.as_ref().filter(|_| figure.verdict(ours).is_agreement());
        let null = null.map(|arm| self.ours(&arm.source)).transpose()?;
        Ok(figure.beside(ours, null))
    }

    /// The quantity of the source's command, divided by or minus that of another command.
    fn ours(&mut self, source: &FigureSource) -> Result<f64, String> {
        let mut ours = self.quantity(&source.command, source)?;
        if let Some(over) = &source.over {
            ours /= self.quantity(over, source)?;
        }
        if let Some(minus) = &source.minus {
            ours -= self.quantity(minus, source)?;
        }
        Ok(ours)
    }

    /// A command's value, divided by or minus another value of the same command if the figure has
    /// one.
    fn quantity(&mut self, command: &str, source: &FigureSource) -> Result<f64, String> {
        let mut value = self.value(command, &source.value)?;
        if let Some(divisor) = &source.over_value {
            value /= self.value(command, divisor)?;
        }
        if let Some(less) = &source.minus_value {
            value -= self.value(command, less)?;
        }
        Ok(value)
    }

    fn value(&mut self, command: &str, pointer: &str) -> Result<f64, String> {
        // Each command runs only once.
        let document =
            self.0.entry(command.to_owned()).or_insert_with(|| document_of(command)).as_ref();
        let document = document.map_err(String::clone)?;
        found_in(document, pointer)
            .ok_or_else(|| format!("seatmap-papers {command} --json has no number at {pointer}"))
    }
}

/// A command's document, or why there is none.
fn document_of(command: &str) -> Result<serde_json::Value, String> {
    let words: Vec<String> = command.split(' ').chain(["--json"]).map(str::to_owned).collect();
    let printed = printed_by(&words)?;
    serde_json::from_slice(&printed).map_err(|error| error.to_string())
}

/// The number at a pointer (RFC 6901), in which `[NAME]` stands for the array element with this
/// name.
fn found_in(document: &serde_json::Value, pointer: &str) -> Option<f64> {
    let mut at = document;
    for part in pointer.strip_prefix('/')?.split('/') {
        let name = part.strip_prefix('[').and_then(|part| part.strip_suffix(']'));
        at = match (name, at.as_array()) {
            // By name, because the index depends on the machine.
            (Some(name), Some(elements)) => elements.iter().find(|one| is_named(one, name))?,
            _ => at.pointer(&format!("/{part}"))?,
        };
    }
    at.as_f64()
}

fn is_named(element: &serde_json::Value, name: &str) -> bool {
    ["name", "what", "mapping"].iter().any(|key| element[key] == name)
}

const LIMIT: Duration = Duration::from_secs(3600);

/// A command line's output, run as a process, so that a figure is exactly what its command prints.
fn printed_by(words: &[String]) -> Result<Vec<u8>, String> {
    let line = format!("seatmap-papers {}", words.join(" "));
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = limited::output(&line, Command::new(program).args(words), LIMIT)
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(format!("{line}: {said}"))
}
