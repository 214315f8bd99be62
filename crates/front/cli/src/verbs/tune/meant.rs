//! Converts command lines into races.

use super::{RanksOfRace, Tune};
use crate::verbs::place;
use crate::{myself, verbs};
use seatmap_cluster::Cluster;
use seatmap_console::over_ranks::LaunchedRank;
use seatmap_console::{CliError, CliResult, Destination, here, input, pattern_input};
use seatmap_data::document::content_hash;
use seatmap_data::machine::import::MAX_FILE_BYTES;
use seatmap_data::pattern::Pattern;
use seatmap_launch::Executable;
use seatmap_launch::share::SoleWork;
use seatmap_machines::catalog::Capability;
use seatmap_os::trusted;
use seatmap_trial::tune::metric::Better;
use seatmap_trial::tune::program_race::cluster_job::{HOSTS, SEAT};
use seatmap_trial::tune::program_race::placeholders::holds;
use seatmap_trial::tune::program_race::request::OwnCommands;
use seatmap_trial::tune::program_race::{ClusterGround, HostGround, ProgramTraffic, RaceGround};
use seatmap_trial::tune::{Metric, ModelRace, OnModel, Provenance, RaceRequest, Tuned};
use std::path::{Path, PathBuf};

pub fn of_program(typed: &Tune) -> CliResult<RaceRequest> {
    let record = record(typed)?;
    let (metric, second) = metrics(typed)?;
    let better = direction(metric.better(typed.readings.direction()))?;
    Executable::find(&typed.command).map_err(CliError::input)?;
    verbs::run::check_sole(SoleWork::Tune)?;
    let earlier = typed.resume.then(|| earlier(&typed.record())).transpose()?;
    let ground = match &typed.on {
        Some(name) => RaceGround::Cluster(Box::new(on_cluster(typed, name)?)),
        None => RaceGround::Host(on_host(typed, earlier.is_some())?),
    };
    Ok(RaceRequest {
        command: typed.command.clone(),
        ground,
        metric,
        better,
        second,
        confidence: typed.randomness.confidence,
        seed: typed.randomness.seed,
        candidates: typed.candidates.into(),
        runs: typed.budget.map(|runs| runs as usize),
        time: typed.seconds,
        record,
        earlier,
        provenance: provenance(typed, here::host_name()),
        now: here::now,
        own: OwnCommands {
            on_seats: myself::on_seats,
            switch_guardian: myself::switch_guardian,
            rank_on_seats: myself::rank_on_seats,
            rank_observed: myself::rank_observed,
        },
    })
}

/// The metric of the race, and a second one for the numbers of threads.
fn metrics(typed: &Tune) -> CliResult<(Metric, Option<(Metric, Better)>)> {
    match &typed.metric[..] {
        [metric] => Ok((metric.clone(), None)),
        [metric, second] if typed.count.is_some() => {
            // Times and events are less if they are better, whatever the first metric is.
            let better = direction(second.better(None).or(typed.readings.direction()))?;
            Ok((metric.clone(), Some((second.clone(), better))))
        }
        _ => Err(CliError::input(
            "the race has one metric; with --count, a second one is shown by number of threads",
        )),
    }
}

fn direction(better: Option<Better>) -> CliResult<Better> {
    better.ok_or_else(|| {
        CliError::input(
            "cannot tell which readings are better; add --higher-is-better or --lower-is-better",
        )
    })
}

fn record(typed: &Tune) -> CliResult<PathBuf> {
    match Destination::new(&typed.record())? {
        Destination::File(path) => Ok(path),
        _ => Err(CliError::input(
            "--record needs a regular file, because it is rewritten after every run",
        )),
    }
}

/// From a file that only this user can have written, because its runs decide the winner.
fn earlier(path: &Path) -> CliResult<Tuned> {
    let bytes = trusted::read_own(path, MAX_FILE_BYTES as u64).map_err(CliError::input)?;
    input::parsed(path, &bytes, Tuned::from_json)
}

fn on_host(typed: &Tune, is_resumed: bool) -> CliResult<HostGround> {
    CliError::check_input(
        typed
            .on_cluster
            .given_option()
            .map(|option| format!("{option} needs a cluster: give its file with --on")),
    )?;
    let pattern = match &typed.pattern {
        // An earlier race keeps its candidates.
        Some(text) if !is_resumed => Some(pattern_input::pattern(text)?),
        _ => None,
    };
    let has_traffic = !is_resumed && (pattern.is_some() || typed.observe);
    let traffic = if has_traffic {
        let profile = input::profile("host")?;
        Some(Box::new(ProgramTraffic {
            pattern,
            profile,
            objective: typed.objective.map(Into::into),
        }))
    } else {
        None
    };
    Ok(HostGround {
        cpus: typed.or_all.here(typed.cpus.as_ref())?.map(|chosen| chosen.list),
        traffic,
        counts: typed.count.clone(),
        vary: typed.vary.iter().map(|choice| (*choice).into()).collect(),
    })
}

fn on_cluster(typed: &Tune, name: &str) -> CliResult<ClusterGround> {
    let cluster = cluster_in(name)?;
    refuse_if!(
        !holds(&typed.command, HOSTS),
        "the command does not contain {HOSTS}, the file with the order of the hosts; for \
         example: mpirun --map-by seq --bind-to none --hostfile {HOSTS} {SEAT} PROGRAM"
    );
    let pattern = match &typed.pattern {
        Some(pattern) => Some(place::pattern_of_ranks(pattern, &typed.on_cluster)?),
        None if !typed.observe => {
            return Err(CliError::input(
                "a race on a cluster needs a pattern: give --pattern, or record one with --observe",
            ));
        }
        None if !holds(&typed.command, SEAT) => {
            return Err(CliError::input(format!(
                "--observe needs {SEAT} in the command, before the program"
            )));
        }
        None => None,
    };
    let wishes = typed.on_cluster.clone();
    let name = name.to_owned();
    Ok(ClusterGround {
        pattern,
        wishes: (&typed.on_cluster).into(),
        nodes: Box::new(move |pattern: &Pattern| {
            place::nodes(&name, &cluster, &wishes, pattern).map_err(|error| error.text().into())
        }),
        hosts: typed.hosts.into(),
        program: myself::path()?,
    })
}

fn cluster_in(name: &str) -> CliResult<Cluster> {
    let path = Path::new(name);
    refuse_if!(
        !path.exists(),
        "{name} is not a file: with COMMAND, --on needs a cluster's file; to race on a model, \
         leave COMMAND out"
    );
    let bytes = input::bytes(path)?;
    if Cluster::is_cluster(&bytes) {
        input::parsed(path, &bytes, Cluster::from_json)
    } else {
        Err(CliError::at(
            path,
            "is not a cluster; 'seatmap cluster measure' writes one; to race on this computer, \
             leave --on out",
        ))
    }
}

pub enum ModelPart {
    /// It makes runs for another rank.
    Follow(OnModel, RanksOfRace),
    /// It leads the race, over all ranks if there are several.
    Lead(Box<ModelRace>, Option<RanksOfRace>),
}

/// A race of ways to place a pattern on the model of this name.
pub fn on_model(typed: &Tune, name: &str) -> CliResult<ModelPart> {
    CliError::check_input(typed.for_programs().map(|option| {
        format!("{option} needs a COMMAND; without one, the messages of --pattern race on a model")
    }))?;
    refuse_if!(
        input::if_in_file(name, Cluster::is_cluster, Cluster::from_json)?.is_some(),
        "{name} is a cluster: give the COMMAND that starts a job"
    );
    let start = typed.spread.then(|| LaunchedRank::of_launcher(&typed.meeting)).transpose()?;
    let pattern = typed.pattern.as_deref().ok_or_else(|| {
        CliError::input("add --pattern: a race on a model runs a pattern's messages")
    })?;
    let pattern = pattern_input::pattern(pattern)?;
    let machine = input::machine(name)?;
    let model = machine.runner(Capability::RunsChannels).map_err(CliError::input)?;
    let Some(model) = &model else {
        return Err(CliError::input(
            "a race on this host needs a COMMAND; to race on a model, make one with 'seatmap model \
             fit host -o twin.toml'",
        ));
    };
    let messages = OnModel::new(model, &pattern, typed.rounds()).map_err(CliError::input)?;
    let ranks = start.map(|start| (start, content_hash(&format!("{messages:?}"))));
    match ranks {
        Some(ranks) if !ranks.0.is_first() => Ok(ModelPart::Follow(messages, ranks)),
        ranks => {
            let race = ModelRace {
                profile: input::profile_of(&machine)?,
                pattern,
                messages,
                rounds: typed.rounds(),
                candidates: typed.candidates.into(),
                runs: typed.budget.map(|runs| runs as usize),
                confidence: typed.randomness.confidence,
                seed: typed.randomness.seed,
                provenance: provenance(typed, machine.name),
            };
            Ok(ModelPart::Lead(Box::new(race), ranks))
        }
    }
}

fn provenance(typed: &Tune, machine: String) -> Provenance {
    let pattern = typed.pattern.clone();
    Provenance { machine, pattern, date: here::today(), tool: here::tool() }
}
