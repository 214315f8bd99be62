//! `seatmap-papers rank`.

mod over_ranks;
mod request;
mod results;

use crate::args::{RankArgs, RankCommand, RankStudy};
use crate::machine::{self, ExperimentRunner};
use request::RankStudyRequest;
use results::RankOutputs;
use seatmap_cell_sim::channels::{Bed, HostBed};
use seatmap_cell_sim::{CellBed, CellModel};
use seatmap_console::bar::Bar;
use seatmap_console::error::CliError;
use seatmap_console::here;
use seatmap_console::input;
use seatmap_console::interrupt::StopFlag;
use seatmap_console::output::Destination;
use seatmap_console::over_ranks::LaunchedRank;
use seatmap_data::document::written;
use seatmap_experiments::rank::figures::RankedMapping;
use seatmap_experiments::rank::journal::RankJournal;
use seatmap_experiments::rank::study::{in_blocks, in_parallel};
use seatmap_experiments::rank::{
    MappingTimes, MappingTrial, Ranking, RankingError, Setup, TaskMapping, merge,
};
use seatmap_machines::catalog::Capability;
use seatmap_os::trusted;
use seatmap_os::trusted::Open;
use seatmap_sim::CoherentBed;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const COUNTERS: &str = "seatmap-counters/1";

/// Runs every mapping and ranks them, or merges the parts of a ranking.
pub fn run(typed: &RankArgs) -> Result<(), CliError> {
    match &typed.command {
        Some(RankCommand::Merge { files, results }) => {
            RankOutputs::new(results)?.deliver(&merged(files)?)
        }
        None => {
            let start = typed
                .study
                .spread
                .then(|| LaunchedRank::of_launcher(&typed.study.meeting))
                .transpose()?;
            match start {
                // Only rank 0 writes results; the other ranks send theirs to it.
                Some(start) if !start.is_first() => over_ranks::follow(&start, &typed.study),
                start => study(&typed.study, &RankOutputs::new(&typed.results)?, start.as_ref()),
            }
        }
    }
}

fn study(
    typed: &RankStudy,
    results: &RankOutputs,
    start: Option<&LaunchedRank>,
) -> Result<(), CliError> {
    let runner = machine::runner(&typed.on, Capability::RunsChannels, &typed.figures)?;
    // Before a bed is created, because ranks on this computer would share its CPUs.
    start.map_or(Ok(()), |_| runner.check_ranks())?;
    runner.check_cpus(typed.cpus.as_ref())?;
    let mut bed = match &runner {
        ExperimentRunner::Host => Some(host(typed)?),
        _ => None,
    };
    let counters = typed.counters.as_deref().map(Destination::new).transpose()?;
    // Only this host has a bed here; models create one for each run.
    if counters.is_some() && !matches!(runner, ExperimentRunner::CellBe(_)) {
        return Err(CliError::input(
            "--counters needs a model of a Cell, such as --on cell-qs20; use perf for this \
             computer's counters",
        ));
    }
    let pus = bed.as_ref().map_or(&[][..], HostBed::pus);
    let setup = RankStudyRequest { runner: &runner, pus }.setup(typed)?;
    let mut times =
        MappingTimes::new(setup.indices(typed.shard).map_err(CliError::input)?, setup.runs);
    // Before the journal is opened, because a program that sees the journal may interrupt the run.
    let interrupt = StopFlag::listen()?;
    let mut journal = typed
        .resume
        .as_ref()
        .map(|path| {
            let file = trusted::open(path, Open::Keep).map_err(CliError::work)?;
            RankJournal::open(path, file, &setup, typed.shard, &mut times).map_err(CliError::from)
        })
        .transpose()?;
    let study = Study {
        setup: &setup,
        times: &mut times,
        journal: journal.as_mut(),
        interrupt: &interrupt,
        start,
    };
    // Interrupted: the known times stay in the journal, and an incomplete study is never ranked.
    if !study.timed(&runner, bed.as_mut())? {
        return Err(CliError::work(farewell(typed.resume.as_deref(), &times)));
    }
    if setup.is_shuffled {
        times.shuffle(setup.seed);
    }
    let ranking = Ranking::new(setup, typed.shard, &times);
    let ranking = ranking.ok_or_else(|| CliError::work(RankingError::Incomplete))?;
    // Before the journal is removed: a full disk must not cost the whole study.
    results.deliver(&ranking)?;
    if let (Some(destination), ExperimentRunner::CellBe(model)) = (counters, &runner) {
        destination.write(&counted(model, &ranking)?)?;
    }
    // All results are written, so the journal is no longer needed.
    journal.map_or(Ok(()), |journal| journal.remove().map_err(CliError::work))
}

fn host(typed: &RankStudy) -> Result<HostBed, CliError> {
    HostBed::on(here::cpus_to_measure(typed.cpus.as_ref())?).map_err(CliError::work)
}

struct Study<'a> {
    setup: &'a Setup,
    times: &'a mut MappingTimes,
    journal: Option<&'a mut RankJournal>,
    interrupt: &'a StopFlag,
    start: Option<&'a LaunchedRank>,
}

impl Study<'_> {
    /// Runs what is missing: models in parallel on all CPUs, the host serially. Returns whether all
    /// times are known now.
    fn timed(
        self,
        runner: &ExperimentRunner,
        host: Option<&mut HostBed>,
    ) -> Result<bool, CliError> {
        match (runner, host) {
            (ExperimentRunner::CellBe(model), _) => {
                self.on_models(|| CellBed::new(Arc::clone(model)))
            }
            (ExperimentRunner::Coherent(model), _) => {
                self.on_models(|| CoherentBed::new(Arc::clone(model)))
            }
            (ExperimentRunner::Host, Some(bed)) => {
                let bar = Bar::new("ranking");
                in_blocks(self.setup, self.times, bed, self.journal, &mut |done, total| {
                    go_on(&bar, self.interrupt, done, total)
                })
                .map_err(CliError::work)
            }
            (ExperimentRunner::Host, None) => unreachable!("this host has a bed"),
        }
    }

    fn on_models<B: Bed>(self, bed: impl Fn() -> B + Send + Sync) -> Result<bool, CliError> {
        let bar = Bar::new("ranking");
        let mut observe = |done, total| go_on(&bar, self.interrupt, done, total);
        match self.start {
            Some(start) => over_ranks::lead(
                start,
                self.setup,
                self.times,
                bed,
                self.journal,
                (&mut observe, &|| self.interrupt.is_raised()),
            ),
            None => in_parallel(self.setup, self.times, bed, self.journal, &mut observe)
                .map_err(CliError::work),
        }
    }
}

fn go_on(bar: &Bar, interrupt: &StopFlag, done: usize, total: usize) -> ControlFlow<()> {
    bar.show(done, total);
    interrupt.flow()
}

/// The counters of the best and the worst mapping, from an extra run of each.
fn counted(model: &Arc<CellModel>, ranking: &Ranking) -> Result<String, CliError> {
    let mut bed = CellBed::new(Arc::clone(model));
    let best = counted_row(&mut bed, &ranking.setup, ranking.ranking.first())?;
    let worst = counted_row(&mut bed, &ranking.setup, ranking.ranking.last())?;
    let machine = &ranking.setup.machine;
    Ok(written(&serde_json::json!({
        "format": COUNTERS, "machine": machine, "best": best, "worst": worst,
    })))
}

fn counted_row(
    bed: &mut CellBed,
    setup: &Setup,
    row: Option<&RankedMapping>,
) -> Result<serde_json::Value, CliError> {
    let found = row.and_then(|row| Some((row, TaskMapping::nth(setup.tasks, row.index)?)));
    let Some((row, mapping)) = found else { return Ok(serde_json::Value::Null) };
    let seats = setup.seats(&mapping, 0);
    // The first run's seed, so that its time is in the ranking.
    let seed = setup.seed_of(MappingTrial { index: row.index, run: 0 });
    bed.run(&seats, &setup.program(), seed).map_err(CliError::work)?;
    Ok(serde_json::json!({ "mapping": row.mapping, "seats": seats, "counters": bed.counters() }))
}

fn farewell(resume: Option<&Path>, times: &MappingTimes) -> String {
    let known = times.known();
    let total = times.total();
    match resume {
        Some(path) => {
            format!(
                "interrupted; {known} of {total} kept in {}: repeat the command to continue",
                path.display(),
                total = seatmap_data::statistics::words::counted(total, "run")
            )
        }
        None => format!(
            "interrupted after {known} of {total}; nothing was kept: --resume FILE keeps runs",
            total = seatmap_data::statistics::words::counted(total, "run")
        ),
    }
}

fn merged(files: &[PathBuf]) -> Result<Ranking, CliError> {
    let parts = files.iter().map(|path| read(path)).collect::<Result<Vec<Ranking>, CliError>>()?;
    merge(&parts).map_err(|(at, error)| match at.and_then(|at| files.get(at)) {
        Some(path) => CliError::at(path, error),
        None => CliError::input(error),
    })
}

fn read(path: &Path) -> Result<Ranking, CliError> {
    let text = String::from_utf8(input::bytes(path)?)
        .map_err(|_| CliError::at(path, "the file is not text, so it is not a ranking"))?;
    Ranking::from_json(&text).map_err(|error| CliError::at(path, error))
}
