//! The orders of a job's ranks on a cluster as candidates. Each run is one start of the job, by its
//! own launcher.

use crate::args::{HostsChoice, Tune};
use crate::myself;
use crate::verbs::cluster;
use crate::verbs::place::ranks;
use seatmap_cluster::Cluster;
use seatmap_console::error::{AtFile, CliError};
use seatmap_console::input;
use seatmap_console::interrupt::Interrupt;
use seatmap_console::{output, pattern_input};
use seatmap_os::scratch::Scratch;
use seatmap_pattern::Pattern;
use seatmap_place::search::Limit;
use seatmap_ranks::export::{mpich, openmpi, rankfile, slurm};
use seatmap_ranks::{Nodes, RankPlan, RankRequest, orders};
use seatmap_report::counted;
use seatmap_tune::race::DEFAULT;
use seatmap_tune::tuned::{Entrant, RankSeat, Seats};
use seatmap_tune::{Metric, Runner};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The word for a file with the hosts, and that for the words which seat a rank.
const HOSTS: &str = "{hosts}";
const SEAT: &str = "{seat}";

/// How long the model searches for each candidate.
const SEARCH_S: f64 = 2.0;

/// Starts of a job, one of which must succeed.
const TRIES: u32 = 3;

/// How long a launcher's daemons may live on after a run. Those of Open MPI take a few
/// milliseconds.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// A job, and the files for its candidates.
pub struct Job {
    nodes: Nodes,
    pattern: Pattern,
    typed: Wishes,
    /// Beside the record: a folder that other nodes see as well.
    files: Scratch,
    seatmap: PathBuf,
}

/// The words that were typed of the job.
struct Wishes {
    on_cluster: crate::args::OnCluster,
    hosts: HostsChoice,
    has_seat: bool,
    seed: u64,
}

impl Job {
    /// The job on a cluster, with the pattern that was named, or that one start of it shows.
    pub fn new(typed: &Tune, name: &str, interrupt: &Interrupt) -> Result<Self, CliError> {
        let cluster = cluster_in(name)?;
        let has =
            |word: &str| typed.command.iter().any(|part| part.to_string_lossy().contains(word));
        if !has(HOSTS) {
            return Err(CliError::input(format!(
                "nothing in the command is {HOSTS}, the file with the order of the hosts; such as: mpirun --map-by seq \
                 --bind-to none --hostfile {HOSTS} {SEAT} PROGRAM"
            )));
        }
        let record = typed.record();
        let folder =
            record.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        let files = Scratch::within(folder, ".seatmap-tune-");
        let files = files.map_err(|error| CliError::input(AtFile::new(folder, error)))?;
        let seatmap = myself::path().map_err(CliError::work)?;
        let wishes = Wishes {
            on_cluster: typed.on_cluster.clone(),
            hosts: typed.hosts,
            has_seat: has(SEAT),
            seed: typed.seed,
        };
        let pattern = match &typed.pattern {
            Some(pattern) => ranks::pattern(pattern, &typed.on_cluster)?,
            None if typed.observe && wishes.has_seat => observed(
                typed,
                name,
                &cluster,
                &Place { files: &files, seatmap: &seatmap },
                interrupt,
            )?,
            None if typed.observe => {
                return Err(CliError::input(format!(
                    "--observe needs {SEAT} in the command, before the program"
                )));
            }
            None => {
                return Err(CliError::input(
                    "on a cluster, --pattern names who talks to whom, or --observe finds out",
                ));
            }
        };
        let nodes = ranks::places(name, &cluster, &typed.on_cluster, &pattern)?;
        let job = Job { nodes, pattern, typed: wishes, files, seatmap };
        job.request().seats().map_err(CliError::input)?;
        Ok(job)
    }

    fn request(&self) -> RankRequest<'_> {
        RankRequest {
            limit: Limit::seconds(SEARCH_S),
            seed: self.typed.seed,
            ..ranks::request(&self.typed.on_cluster, &self.nodes, &self.pattern)
        }
    }

    /// The candidates besides the default.
    pub fn entrants(&self, typed: &Tune) -> Result<Vec<Entrant>, CliError> {
        let found =
            self.request().candidates(usize::from(typed.candidates)).map_err(CliError::input)?;
        let entrant = |candidate: &seatmap_ranks::Candidate| Entrant {
            name: candidate.name.clone(),
            seats: seats_of(&candidate.plan),
            predicted: Some(candidate.plan.costs.total_ns),
        };
        // Without seats on the nodes, the order of the default needs no second candidate.
        let block = self.block()?;
        let is_new = |candidate: &&seatmap_ranks::Candidate| {
            self.typed.has_seat || candidate.plan.node_of_rank != block
        };
        let most = usize::from(typed.candidates) - 1;
        let entrants: Vec<Entrant> = found.iter().filter(is_new).take(most).map(entrant).collect();
        if entrants.is_empty() {
            Err(CliError::input("there is one order of these ranks, and nothing to choose"))
        } else {
            Ok(entrants)
        }
    }

    /// The order in which launchers start ranks if nothing is said.
    fn block(&self) -> Result<Vec<usize>, CliError> {
        let seats = self.request().seats().map_err(CliError::input)?;
        Ok(orders::block(self.pattern.tasks, &seats))
    }

    /// Writes the files of each candidate.
    pub fn write_files(&self, entrants: &[Entrant]) -> Result<(), CliError> {
        let place = self.place();
        for (at, Entrant { name, seats, .. }) in entrants.iter().enumerate() {
            let plan = match seats {
                Seats::Ranks(_) => self.plan(name, seats)?,
                _ => {
                    let cpus = vec![vec![0]; self.pattern.tasks];
                    self.request().ordered(name, self.block()?, cpus)
                }
            };
            write(&place.file(at, "hosts"), &hosts(self.typed.hosts, &plan))?;
            write(&place.file(at, "plan.json"), &plan.to_json())?;
        }
        Ok(())
    }

    /// A candidate as a plan.
    pub fn plan(&self, name: &str, seats: &Seats) -> Result<RankPlan, CliError> {
        let Seats::Ranks(seats) = seats else {
            unreachable!("a job's candidates have seats for ranks")
        };
        if seats.len() != self.pattern.tasks {
            return Err(CliError::input(format!(
                "the race was for {}, and the pattern has {}",
                counted(seats.len(), "rank"),
                self.pattern.tasks
            )));
        }
        let node =
            |seat: &RankSeat| self.nodes.nodes.iter().position(|node| node.name == seat.node);
        let found = |seat: &RankSeat| {
            node(seat).ok_or_else(|| {
                CliError::input(format!("the race used {}, which is not in the cluster", seat.node))
            })
        };
        let node_of = seats.iter().map(found).collect::<Result<Vec<_>, _>>()?;
        let cpus = seats.iter().map(|seat| seat.cpus.clone()).collect();
        Ok(self.request().ordered(name, node_of, cpus))
    }

    /// The command of a candidate: its hosts, and the words that seat a rank of it; none for the
    /// default.
    pub fn command(&self, command: &[OsString], candidate: usize, seats: &Seats) -> Vec<OsString> {
        let place = self.place();
        let plan = place.file(candidate, "plan.json");
        let seat: Vec<OsString> = match seats {
            Seats::Ranks(_) => words(&self.seatmap, &["run", "--quiet", "--plan"], &plan),
            _ => Vec::new(),
        };
        filled(command, &place.file(candidate, "hosts"), &seat)
    }

    /// The ranks and nodes, in words.
    pub fn seats(&self) -> String {
        let ranks = self.pattern.tasks;
        let nodes = self.nodes.nodes.len();
        format!("{} on {}", counted(ranks, "rank"), counted(nodes, "node"))
    }

    fn place(&self) -> Place<'_> {
        Place { files: &self.files, seatmap: &self.seatmap }
    }
}

/// The folder of the files, and this program as other nodes start it.
struct Place<'a> {
    files: &'a Scratch,
    seatmap: &'a Path,
}

impl Place<'_> {
    /// A file of a candidate, by its whole path: launchers start ranks in folders of their own.
    fn file(&self, candidate: usize, what: &str) -> PathBuf {
        let name = self.files.path().join(format!("{candidate}-{what}"));
        std::path::absolute(&name).unwrap_or(name)
    }
}

fn cluster_in(name: &str) -> Result<Cluster, CliError> {
    let path = Path::new(name);
    if !path.exists() {
        return Err(CliError::input(format!(
            "{name} is not a file: with COMMAND, --on names the file of a cluster; on a model, leave COMMAND out"
        )));
    }
    let bytes = input::bytes(path)?;
    if Cluster::is_cluster(&bytes) {
        cluster::read(path, &bytes)
    } else {
        Err(CliError::input(AtFile::new(
            path,
            "is not a cluster; 'seatmap cluster measure' writes one, and without --on a program races on this computer",
        )))
    }
}

fn seats_of(plan: &RankPlan) -> Seats {
    let seat = |rank: usize| RankSeat {
        node: plan.node(rank).to_owned(),
        cpus: plan.cpus_of_rank[rank].clone(),
    };
    Seats::Ranks((0..plan.node_of_rank.len()).map(seat).collect())
}

fn hosts(format: HostsChoice, plan: &RankPlan) -> String {
    match format {
        HostsChoice::Openmpi => openmpi::write(plan),
        HostsChoice::Mpich => mpich::write(plan),
        HostsChoice::SlurmHostfile => slurm::write(plan),
        HostsChoice::Rankfile => rankfile::write(plan),
    }
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    std::fs::write(path, text).map_err(|error| CliError::work(AtFile::new(path, error)))
}

fn words(program: &Path, options: &[&str], file: &Path) -> Vec<OsString> {
    let options = options.iter().map(Into::into);
    [program.into()].into_iter().chain(options).chain([file.into(), "--".into()]).collect()
}

/// A command with its hosts and the words that seat a rank. Where these are a part of a word, as in
/// a line for a shell, they are quoted for it.
fn filled(command: &[OsString], hosts: &Path, seat: &[OsString]) -> Vec<OsString> {
    let seat: Vec<String> = seat.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let line = shlex::try_join(seat.iter().map(String::as_str)).unwrap_or_default();
    let word = |word: &OsString| match word.to_str() {
        Some(SEAT) => seat.iter().map(Into::into).collect(),
        Some(text) => {
            vec![text.replace(HOSTS, &hosts.to_string_lossy()).replace(SEAT, &line).into()]
        }
        None => vec![word.clone()],
    };
    command.iter().flat_map(word).collect()
}

/// The pattern of one start of the job in block order, whose ranks write down their messages.
fn observed(
    typed: &Tune,
    name: &str,
    cluster: &Cluster,
    place: &Place,
    interrupt: &Interrupt,
) -> Result<Pattern, CliError> {
    let pattern = place.file(DEFAULT, "pattern.json");
    let hosts_file = place.file(DEFAULT, "hosts");
    write(&hosts_file, &hosts(typed.hosts, &every_seat(typed, name, cluster)?))?;
    let seat = words(place.seatmap, &["observe", "--method", "mpi", "-o"], &pattern);
    let command = filled(&typed.command, &hosts_file, &seat);
    let contestant = seatmap_tune::Contestant { command, patience: PATIENCE, ..Default::default() };
    let runner = Runner::new(Metric::Time);
    let mut tries = 1;
    loop {
        match runner.run(&contestant, &|| interrupt.asked()) {
            Ok(Some(_)) => return pattern_input::pattern(&pattern.to_string_lossy()),
            Ok(None) => return Err(CliError::work("interrupted while the job was observed")),
            Err(error) => {
                let error = CliError::work(error);
                match excuse(&error, tries) {
                    Some(excuse) => output::tell(&format!("{excuse}; it is started again")),
                    None => return Err(error),
                }
            }
        }
        tries += 1;
    }
}

/// Why a start that failed says nothing about its order, if so many tries may be made: on a
/// cluster, starts fail.
pub fn excuse(error: &CliError, tries: u32) -> Option<String> {
    (tries < TRIES)
        .then(|| format!("a start of the job failed ({})", output::visible(&error.text())))
}

/// Ranks on all seats in block order: before the job was seen, nobody knows how many ranks it has.
fn every_seat(typed: &Tune, name: &str, cluster: &Cluster) -> Result<RankPlan, CliError> {
    let none = Pattern::silent("none", 0);
    let nodes = ranks::places(name, cluster, &typed.on_cluster, &none)?;
    let seats: usize = ranks::request(&typed.on_cluster, &nodes, &none)
        .seats()
        .map_err(CliError::input)?
        .iter()
        .sum();
    let all = Pattern::silent("all", seats);
    let request = ranks::request(&typed.on_cluster, &nodes, &all);
    let order = orders::block(seats, &request.seats().map_err(CliError::input)?);
    Ok(request.ordered("block", order, vec![vec![0]; seats]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_gets_its_hosts_and_seats() {
        let command: Vec<OsString> =
            ["mpirun", "--hostfile={hosts}", "{seat}", "./a"].map(Into::into).to_vec();
        let seat: Vec<OsString> = ["/opt/a b/seatmap", "run", "--"].map(Into::into).to_vec();
        let told = filled(&command, Path::new("/x/hosts"), &seat);
        assert_eq!(
            told,
            ["mpirun", "--hostfile=/x/hosts", "/opt/a b/seatmap", "run", "--", "./a"]
                .map(OsString::from)
        );
        let line: Vec<OsString> =
            ["sh", "-c", "mpiexec -f {hosts} {seat} ./a"].map(Into::into).to_vec();
        let told = filled(&line, Path::new("h"), &seat);
        assert_eq!(told[2], "mpiexec -f h '/opt/a b/seatmap' run -- ./a");
        assert_eq!(filled(&line, Path::new("h"), &[])[2], "mpiexec -f h  ./a");
    }
}
