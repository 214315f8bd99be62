//! Candidates on a cluster: orders of a job's ranks. Each run is one start of the job by its own
//! launcher.

use crate::tune::program_race::placeholders::{holds, replaced};
use crate::tune::program_race::{ClusterGround, RaceEvent, RaceRequest};
use crate::tune::race::DEFAULT;
use crate::tune::trial::{Contestant, texts};
use crate::tune::tuned::{CandidateSeats, Entrant, RankSeat};
use crate::tune::{CommandRunner, Metric};
use seatmap_data::document::Failure;
use seatmap_data::pattern::{Pattern, import};
use seatmap_data::statistics::words::counted;
use seatmap_os::named_file;
use seatmap_os::scratch::Scratch;
use seatmap_os::whole_file::folder_of;
use seatmap_place::ranks::{ClusterNodes, RankCandidate, RankPlan, RankRequest, orders};
use seatmap_place::search::SearchLimit;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The placeholder in a command for the hosts file.
pub const HOSTS: &str = "{hosts}";

/// The placeholder in a command for the words that seat a rank.
pub const SEAT: &str = "{seat}";

/// The model's search time for each candidate.
const SEARCH_S: f64 = 2.0;

/// The most tries, because starts on a cluster sometimes fail.
const TRIES: u32 = 3;

/// For a launcher's daemons after a run; those of Open MPI need milliseconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

fn rank_request<'a>(
    race: &RaceRequest,
    ground: &ClusterGround,
    nodes: &'a ClusterNodes,
    pattern: &'a Pattern,
) -> RankRequest<'a> {
    RankRequest {
        wishes: ground.wishes.clone(),
        limit: SearchLimit::seconds(SEARCH_S),
        seed: race.seed,
        ..RankRequest::new(nodes, pattern)
    }
}

pub(super) fn may_fail(tries: u32) -> bool {
    tries < TRIES
}

pub(super) struct ClusterJob<'a> {
    race: &'a RaceRequest,
    ground: &'a ClusterGround,
    nodes: ClusterNodes,
    pattern: Pattern,
    /// Next to the record, because other nodes must see the job's files.
    folder: Scratch,
}

impl<'a> ClusterJob<'a> {
    /// The pattern is the given one, or that of one observed start.
    pub(super) fn new(
        race: &'a RaceRequest,
        ground: &'a ClusterGround,
        stop: &dyn Fn() -> bool,
        hear: &mut dyn FnMut(RaceEvent<'_>),
    ) -> Result<Self, Failure> {
        let place = folder_of(&race.record);
        let folder =
            Scratch::within(place, ".seatmap-tune-").map_err(Failure::input_at(place.display()))?;
        let pattern = match &ground.pattern {
            Some(pattern) => pattern.clone(),
            None => observed(race, ground, &folder, stop, hear)?,
        };
        let nodes = (ground.nodes)(&pattern).map_err(Failure::Input)?;
        let job = ClusterJob { race, ground, nodes, pattern, folder };
        job.request().seats()?;
        Ok(job)
    }

    fn request(&self) -> RankRequest<'_> {
        rank_request(self.race, self.ground, &self.nodes, &self.pattern)
    }

    pub(super) fn entrants(&self) -> Result<Vec<Entrant>, Failure> {
        let most = self.race.candidates;
        let found = self.request().candidates(most)?;
        let block = self.block()?;
        let has_seat = holds(&self.race.command, SEAT);
        // Without seats on the nodes, this order is the default's.
        let others =
            found.iter().filter(|candidate| has_seat || candidate.plan.node_of_rank != block);
        let entrants: Vec<Entrant> = others.take(most.saturating_sub(1)).map(entrant).collect();
        if entrants.is_empty() {
            let why = "nothing to tune: these ranks have only one order";
            return Err(Failure::input(why));
        }
        Ok(entrants)
    }

    fn block(&self) -> Result<Vec<usize>, Failure> {
        Ok(orders::block(self.pattern.tasks, &self.request().seats()?))
    }

    pub(super) fn write_files(&self, entrants: &[Entrant]) -> Result<(), Failure> {
        for (at, Entrant { name, seats, .. }) in entrants.iter().enumerate() {
            let plan = match seats {
                CandidateSeats::Ranks(_) => self.plan(name, seats)?,
                _ => {
                    // A plan must have CPUs, but the default's are never read.
                    let cpus = vec![vec![0]; self.pattern.tasks];
                    self.request().ordered(name, self.block()?, cpus)
                }
            };
            write(&file(&self.folder, at, HOSTS_FILE), &(self.ground.hosts)(&plan))?;
            write(&file(&self.folder, at, PLAN_FILE), &plan.to_json())?;
        }
        Ok(())
    }

    pub(super) fn plan(&self, name: &str, seats: &CandidateSeats) -> Result<RankPlan, Failure> {
        let CandidateSeats::Ranks(seats) = seats else {
            unreachable!("a job's candidates have seats for ranks")
        };
        let ranks = self.pattern.tasks;
        if seats.len() != ranks {
            let race = counted(seats.len(), "rank");
            return Err(Failure::input(format!(
                "the race was for {race}, but the pattern has {ranks}"
            )));
        }
        let nodes = seats.iter().map(|seat| self.node(&seat.node));
        let nodes = nodes.collect::<Result<Vec<_>, _>>()?;
        let cpus = seats.iter().map(|seat| seat.cpus.clone()).collect();
        Ok(self.request().ordered(name, nodes, cpus))
    }

    fn node(&self, name: &str) -> Result<usize, Failure> {
        self.nodes.nodes.iter().position(|node| node.name == name).ok_or_else(|| {
            Failure::input(format!("the race used node {name}, but the cluster does not have it"))
        })
    }

    /// The command with its hosts and the seat's words (none for the default).
    pub(super) fn command(&self, candidate: usize, seats: &CandidateSeats) -> Vec<OsString> {
        let seat = match seats {
            CandidateSeats::Ranks(_) => {
                let plan = file(&self.folder, candidate, PLAN_FILE);
                (self.race.own.rank_on_seats)(&self.ground.program, &plan)
            }
            _ => Vec::new(),
        };
        filled(&self.race.command, &file(&self.folder, candidate, HOSTS_FILE), &seat)
    }

    pub(super) fn seats(&self) -> String {
        let ranks = self.pattern.tasks;
        let nodes = self.nodes.nodes.len();
        format!("{} on {}", counted(ranks, "rank"), counted(nodes, "node"))
    }
}

const HOSTS_FILE: &str = "hosts";

const PLAN_FILE: &str = "plan.json";

/// Absolute, because launchers start ranks in other folders.
fn file(folder: &Scratch, candidate: usize, kind: &str) -> PathBuf {
    let name = folder.path().join(format!("{candidate}-{kind}"));
    std::path::absolute(&name).unwrap_or(name)
}

fn entrant(candidate: &RankCandidate) -> Entrant {
    let plan = &candidate.plan;
    let seats = plan.cpus_of_rank.iter().enumerate().map(|(rank, cpus)| {
        let node = plan.node(rank).to_owned();
        RankSeat { node, cpus: cpus.clone() }
    });
    Entrant {
        predicted: Some(plan.costs.total_ns),
        ..Entrant::new(candidate.name.as_str(), CandidateSeats::Ranks(seats.collect()))
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(Failure::work_at(path.display()))
}

/// Within a word, such as a shell command, the seat's words are quoted. The default has none.
fn filled(command: &[OsString], hosts: &Path, seat: &[OsString]) -> Vec<OsString> {
    let line = shlex::try_join(texts(seat).iter().map(String::as_str)).unwrap_or_default();
    let with_hosts = replaced(command, HOSTS, &[hosts.into()], &hosts.to_string_lossy());
    replaced(&with_hosts, SEAT, seat, &line)
}

/// From the ranks' message logs of one start in block order.
fn observed(
    race: &RaceRequest,
    ground: &ClusterGround,
    folder: &Scratch,
    stop: &dyn Fn() -> bool,
    hear: &mut dyn FnMut(RaceEvent<'_>),
) -> Result<Pattern, Failure> {
    let hosts = file(folder, DEFAULT, HOSTS_FILE);
    let pattern = file(folder, DEFAULT, "pattern.json");
    write(&hosts, &(ground.hosts)(&every_seat(race, ground)?))?;
    let seat = (race.own.rank_observed)(&ground.program, &pattern);
    let contestant = Contestant {
        command: filled(&race.command, &hosts, &seat),
        patience: PATIENCE,
        ..Contestant::default()
    };
    let runner = CommandRunner::new(Metric::Time, None);
    let mut tries = 1;
    loop {
        match runner.run(&contestant, stop) {
            Ok(Some(_)) => return written_by_ranks(&pattern),
            Ok(None) => return Err(Failure::work("interrupted while observing the job")),
            Err(error) if may_fail(tries) => {
                hear(RaceEvent::ObservedStartFailed { error: &error.into() });
            }
            Err(error) => return Err(error.into()),
        }
        tries += 1;
    }
}

fn written_by_ranks(path: &Path) -> Result<Pattern, Failure> {
    let bytes = named_file::read(path, import::MAX_FILE_BYTES as u64)
        .map_err(Failure::input_at(path.display()))?;
    let imported = import::read(&bytes, "observed", None);
    let imported = imported.map_err(Failure::input_at(path.display()))?;
    Ok(imported.pattern)
}

/// All, because the number of ranks is not yet known.
fn every_seat(race: &RaceRequest, ground: &ClusterGround) -> Result<RankPlan, Failure> {
    let none = Pattern::silent("none", 0);
    let nodes = (ground.nodes)(&none).map_err(Failure::Input)?;
    let seats: usize = rank_request(race, ground, &nodes, &none).seats()?.iter().sum();
    let all = Pattern::silent("all", seats);
    let of_all = rank_request(race, ground, &nodes, &all);
    let order = orders::block(seats, &of_all.seats()?);
    Ok(of_all.ordered("block", order, vec![vec![0]; seats]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn job_command_substitutes_hosts_and_seat() {
        let command: Vec<OsString> =
            ["mpirun", "--hostfile={hosts}", "{seat}", "./a"].map(Into::into).to_vec();
        let seat: Vec<OsString> = ["/opt/a b/seatmap", "run", "--"].map(Into::into).to_vec();
        let words = filled(&command, Path::new("/x/hosts"), &seat);
        assert_eq!(
            words,
            ["mpirun", "--hostfile=/x/hosts", "/opt/a b/seatmap", "run", "--", "./a"]
                .map(OsString::from)
        );
        let line: Vec<OsString> =
            ["sh", "-c", "mpiexec -f {hosts} {seat} ./a"].map(Into::into).to_vec();
        let words = filled(&line, Path::new("h"), &seat);
        assert_eq!(words[2], "mpiexec -f h '/opt/a b/seatmap' run -- ./a");
        assert_eq!(filled(&line, Path::new("h"), &[])[2], "mpiexec -f h  ./a");
        assert!(holds(&line, HOSTS) && !holds(&line, "{host}"));
    }
}
