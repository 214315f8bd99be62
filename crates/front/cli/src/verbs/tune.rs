//! `seatmap tune`.

mod meant;

use super::bench::{BetterReadings, RandomOrders, SESSION};
use super::place::{ObjectiveChoice, OnCluster};
use clap::Args;
use meant::ModelPart;
use seatmap_cluster::spread::SpreadError;
use seatmap_console::cpus::{OrAll, RequestedCpus, requested_cpus};
use seatmap_console::over_ranks::{LaunchedRank, MeetingPlace};
use seatmap_console::{
    Bar, CliError, CliResult, Outputs, ResultForms, StopFlag, choice, output, over_ranks, time_in,
};
use seatmap_data::document::Failure;
use seatmap_measure::appraise::rehearsal::ROUNDS;
use seatmap_os::switches::Switch;
use seatmap_place::ranks::export::{mpich, openmpi, rankfile, slurm};
use seatmap_report::{tune, under_way};
use seatmap_trial::tune::counts::CountAxis;
use seatmap_trial::tune::model_race::{NumberedJob, TakeTimes};
use seatmap_trial::tune::program_race::RaceDimension;
use seatmap_trial::tune::program_race::request::HostsWriter;
use seatmap_trial::tune::{Metric, RaceEnd, RaceEvent, program_race};
use std::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

#[derive(Args)]
pub struct Tune {
    /// Make at most N runs. Default: ten per candidate, and the confirmation.
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    budget: Option<u32>,
    /// Make as many runs as fit in this time: 10m, 2h.
    ///
    /// At least enough for a result. A plain number is seconds.
    #[arg(long, value_name = "TIME", conflicts_with = "budget", value_parser = time_in(SESSION))]
    seconds: Option<Duration>,
    /// Try placements of a pattern's tasks, as for 'seatmap place'.
    ///
    /// Without a pattern, orders and groups of CPUs are tried.
    #[arg(long, value_name = "PATTERN")]
    pattern: Option<String>,
    /// Observe one run of the program first, and use its pattern.
    #[arg(long, conflicts_with = "pattern")]
    observe: bool,
    /// A cluster, on which orders of a job's ranks race; or, without COMMAND, a model, on which
    /// placements of --pattern race.
    ///
    /// 'seatmap cluster measure' writes a cluster. Each run starts COMMAND once. In COMMAND,
    /// {hosts} is replaced by a file with the hosts, and {seat} by the words that seat a rank. On a
    /// model, the time of the messages counts.
    #[arg(long, value_name = "CLUSTER|MODEL", conflicts_with_all = ["cpus", "objective"])]
    on: Option<String>,
    /// On a cluster: the format of the file {hosts}.
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "openmpi",
        requires = "on",
        hide_short_help = true
    )]
    hosts: HostsChoice,
    /// The options for ranks on a cluster.
    #[command(flatten)]
    on_cluster: OnCluster,
    /// The objective by which the model ranks placements [default: time if the tasks' work is
    /// known, else distance].
    #[arg(long, value_name = "OBJECTIVE")]
    objective: Option<ObjectiveChoice>,
    /// The most candidates, the default included.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 12,
        value_parser = clap::value_parser!(u16).range(2..=512)
    )]
    candidates: u16,
    /// Find the best number of threads, and race it: a variable (OMP_NUM_THREADS=1..8) or an option
    /// ('-t {}=1,2,4,8').
    ///
    /// The option takes the place of {} in COMMAND, or follows its first word. Without numbers, up
    /// to twice what fits.
    #[arg(
        long,
        value_name = "SETTING[=NUMBERS]",
        allow_hyphen_values = true,
        conflicts_with_all = ["on", "pattern", "observe"]
    )]
    count: Option<CountAxis>,
    /// Also race other settings, unpinned: kernel switches (toggled for each run and restored, even
    /// after a crash; requires root), memory policies, OpenMP's wait policy.
    #[arg(long, value_name = "SETTING", value_delimiter = ',', conflicts_with = "on")]
    vary: Vec<VaryChoice>,
    /// The CPUs for the program. Default: all allowed ones.
    #[arg(long, value_name = "LIST", value_parser = requested_cpus)]
    cpus: Option<RequestedCpus>,
    #[command(flatten)]
    or_all: OrAll,
    /// The metric of the race: time, regex:PATTERN, command:LINE, perf:EVENT.
    ///
    /// As in 'seatmap bench'. With --count, a second one is shown by number of threads.
    #[arg(long, value_name = "METRIC", default_value = "time", value_parser = Metric::parse)]
    metric: Vec<Metric>,
    #[command(flatten)]
    readings: BetterReadings,
    #[command(flatten)]
    randomness: RandomOrders,
    /// Write the winner as a plan, if it is not worse than the default.
    ///
    /// It is proven to be at most 2 % worse.
    #[arg(short, long, value_name = "PLAN")]
    output: Option<PathBuf>,
    /// Keep every run in this file, as it is made [default: seatmap-tune.json].
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Continue with the runs in the file.
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    forms: ResultForms,
    /// On a model: rounds of all messages [default: 4].
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000),
        requires = "on",
        conflicts_with = "command",
        hide_short_help = true
    )]
    rounds: Option<u32>,
    /// On a model: spread the runs over all ranks of this start. srun, mpirun or torchrun starts
    /// the same command on each node, or set RANK and WORLD_SIZE; rank 0 writes the results.
    #[arg(long, requires = "on", conflicts_with = "command", hide_short_help = true)]
    spread: bool,
    /// Where the ranks meet.
    #[command(flatten)]
    meeting: MeetingPlace,
    /// The program and its arguments.
    #[arg(value_name = "COMMAND", trailing_var_arg = true)]
    command: Vec<OsString>,
}

/// The default file of runs.
const RECORD: &str = "seatmap-tune.json";

impl Tune {
    /// The file with the runs.
    pub fn record(&self) -> PathBuf {
        self.record.clone().unwrap_or_else(|| RECORD.into())
    }

    /// Rounds of all messages.
    pub fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(ROUNDS)
    }

    /// A given option that applies only to races of programs.
    fn for_programs(&self) -> Option<String> {
        let given = first_given!(
            self;
            observe,
            seconds,
            metric = !matches!(self.metric[..], [Metric::Time]),
            count,
            lower_is_better = self.readings.lower_is_better,
            higher_is_better = self.readings.higher_is_better,
            record,
            resume,
            hosts = self.hosts != HostsChoice::Openmpi
        );
        given.or_else(|| self.on_cluster.given_option())
    }
}

choice! {
    /// A setting besides seats.
    VaryChoice for RaceDimension {
        /// Pages and threads move towards each other (/proc/sys/kernel/numa_balancing).
        NumaBalancing = RaceDimension::Switch(Switch::NumaBalancing),
        /// The threads of a process stay near one cache (SCHED_CACHE, Linux 7.2).
        SchedCache = RaceDimension::Switch(Switch::CacheAware),
        /// Pages from all NUMA nodes in turn, or from one, as 'run --memory'.
        Memory,
        /// OMP_WAIT_POLICY=passive and active: waiting threads sleep or spin.
        WaitPolicy,
    }
}

choice! {
    /// A file with hosts that a launcher reads.
    HostsChoice for HostsWriter {
        /// mpirun --map-by seq --hostfile {hosts} of Open MPI.
        Openmpi = openmpi,
        /// mpiexec -f {hosts} of MPICH.
        Mpich = mpich,
        /// SLURM_HOSTFILE={hosts} of srun --distribution=arbitrary.
        SlurmHostfile = slurm,
        /// mpirun --rankfile {hosts} of Open MPI 4, which pins ranks itself.
        Rankfile = rankfile,
    }
}

/// The ranks of a start, which make the runs of one race, and the inputs of all times besides CPUs
/// and skew: ranks with other inputs are refused.
type RanksOfRace = (LaunchedRank, String);

pub fn run(typed: &Tune) -> CliResult {
    match &typed.on {
        Some(name) if typed.command.is_empty() => on_model(typed, name),
        None if typed.command.is_empty() => Err(CliError::input(
            "nothing to run: give a COMMAND, or race on a model with --on MODEL --pattern PATTERN",
        )),
        _ => of_program(typed),
    }
}

fn of_program(typed: &Tune) -> CliResult {
    let outputs = typed.forms.outputs(typed.output.as_deref())?;
    let request = meant::of_program(typed)?;
    let interrupt = StopFlag::listen()?;
    let mut bar = Some(Bar::new("racing"));
    let end = program_race::run(&request, &|| interrupt.is_raised(), &mut |event| {
        tell(&event, &mut bar);
    })?;
    drop(bar);
    show(&outputs, &end)
}

/// The runs are made by all ranks of a start, if there are several.
fn on_model(typed: &Tune, name: &str) -> CliResult {
    let (race, ranks) = match meant::on_model(typed, name)? {
        ModelPart::Follow(messages, (start, name)) => {
            let times = |jobs: &[NumberedJob], is_over: &AtomicBool| {
                messages.numbered_times_ns(jobs, is_over)
            };
            start.ranks().follow(&name, &times)?;
            return Ok(());
        }
        ModelPart::Lead(race, ranks) => (race, ranks),
    };
    let outputs = typed.forms.outputs(typed.output.as_deref())?;
    let interrupt = StopFlag::listen()?;
    let times =
        |jobs: &[NumberedJob], is_over: &AtomicBool| race.messages.numbered_times_ns(jobs, is_over);
    let mut lead = ranks.as_ref().map(|(start, name)| {
        |jobs: &[NumberedJob], take: &mut TakeTimes<'_>| -> Result<(), Box<dyn Error>> {
            let spread = start.ranks().lead(name, jobs, &times, take, &|| interrupt.flow())?;
            over_ranks::tell(&spread);
            Ok(())
        }
    });
    let bar = Bar::new("racing");
    let end = race.run(
        lead.as_mut().map(|lead| lead as _),
        &|| interrupt.is_raised(),
        &mut |known, of| bar.show(known, of),
    );
    drop(bar);
    show(&outputs, &end.map_err(failed)?)
}

fn failed(error: Failure) -> CliError {
    match error {
        Failure::Work(error) => match error.downcast::<SpreadError>() {
            Ok(error) => (*error).into(),
            Err(error) => CliError::Work(error),
        },
        error => error.into(),
    }
}

fn tell(event: &RaceEvent<'_>, bar: &mut Option<Bar>) {
    match event {
        RaceEvent::RunMade { runs, of } => bar.iter().for_each(|bar| bar.show(*runs, *of)),
        RaceEvent::RunsKept { .. } | RaceEvent::RunLost { .. } | RaceEvent::TookLonger { .. } => {
            *bar = None;
        }
        _ => {}
    }
    output::tell_each(under_way::of_race(event));
}

fn show(outputs: &Outputs, end: &RaceEnd) -> CliResult {
    outputs.show(&end.tuned, &tune::page(&end.tuned))?;
    match (&outputs.file, &end.plan) {
        (None, _) => Ok(()),
        (Some(file), Ok(plan)) => file.write(plan),
        (Some(_), Err(none)) => {
            output::tell(&none.to_string());
            Ok(())
        }
    }
}
