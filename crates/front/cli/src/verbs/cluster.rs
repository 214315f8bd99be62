//! `seatmap cluster`.

use crate::args::{Cluster, ClusterCommand, ClusterDoctor, ClusterMeasure};
use crate::myself;
use seatmap_cluster::judge::Diagnosis;
use seatmap_cluster::measure::{self, MeasureError, Own};
use seatmap_cluster::{Cluster as Measured, Facts, Options, Progress, Rank};
use seatmap_console::bar::Bar;
use seatmap_console::error::{AtFile, CliError, with_causes};
use seatmap_console::here;
use seatmap_console::output::{self, Destination};
use seatmap_console::{input, meet};
use seatmap_machine::Profile;
use seatmap_os::limited;
use seatmap_report::{cluster, counted};
use std::path::Path;
use std::time::Duration;

/// Measures a cluster, or says what is wrong with one.
pub fn run(typed: &Cluster) -> Result<(), CliError> {
    match &typed.command {
        ClusterCommand::Measure(typed) => measure(typed),
        ClusterCommand::Doctor(typed) => doctor(typed),
    }
}

/// The cluster in a file; `None` where it is something else.
pub fn of_file(name: &str) -> Result<Option<Measured>, CliError> {
    let path = Path::new(name);
    if name == "-" || !path.is_file() {
        return Ok(None);
    }
    let bytes = input::bytes(path)?;
    if Measured::is_cluster(&bytes) { read(path, &bytes).map(Some) } else { Ok(None) }
}

/// The cluster in a file that was read.
pub fn read(path: &Path, bytes: &[u8]) -> Result<Measured, CliError> {
    let cluster = Measured::from_json(&String::from_utf8_lossy(bytes));
    cluster.map_err(|error| CliError::input(AtFile::new(path, error)))
}

/// Shows a cluster.
pub fn show(cluster: &Measured, json: bool) -> Result<(), CliError> {
    if json { output::json(cluster) } else { output::print(&cluster::page(cluster)) }
}

fn measure(typed: &ClusterMeasure) -> Result<(), CliError> {
    let rank = meet::rank()?;
    // Only rank 0 writes.
    let destination = match (&typed.output, rank.rank) {
        (Some(path), 0) => Some(Destination::new(path)?),
        _ => None,
    };
    let options = Options {
        meeting: meet::place(typed.meet.as_deref(), &rank),
        secret: meet::secret(typed.secret_file.as_deref())?,
        all: typed.all,
        each_rank: typed.each_rank,
        loaded: typed.loaded,
        mpicc: typed.mpi.then(|| compiler(typed)),
        trips: typed.trips,
        at_once: usize::from(typed.at_once),
        timeout: typed.timeout,
        earlier: earlier(typed, &rank)?,
        date: Some(here::today()),
    };
    let bars = Bars::default();
    let mut keep = |found: &Measured| {
        // It is written again when all is known; a failure shows then.
        let written = destination.iter().filter(|place| **place != Destination::Stdout);
        written.for_each(|place| drop(place.write(&found.to_json())));
    };
    let found =
        measure::run(&rank, own(typed), &options, &mut |progress| bars.show(progress), &mut keep)
            .map_err(failed)?;
    let Some(found) = found else { return Ok(()) };
    drop(bars);
    tell(&found, typed, destination)
}

/// The bars of rank 0, one after the other.
#[derive(Default)]
struct Bars {
    now: std::cell::RefCell<Option<(&'static str, Bar)>>,
    /// Whether it was said that pairs are measured again.
    has_told: std::cell::Cell<bool>,
}

impl Bars {
    /// Measuring bad pairs again takes as long as all pairs took: the user hears of it, also
    /// without a terminal.
    fn tell_of_looks(&self, pairs: usize, at_most: std::time::Duration) {
        if !self.has_told.replace(true) {
            *self.now.borrow_mut() = None;
            output::tell(&format!(
                "some pairs look bad: {} measured again beside like pairs, for at most {:.0} s",
                counted(pairs, "pair"),
                at_most.as_secs_f64()
            ));
        }
    }

    fn show(&self, progress: Progress) {
        let (word, done, of) = match progress {
            Progress::Met(done, of) => ("ranks", done, of),
            Progress::Nodes(done, of) => ("nodes", done, of),
            Progress::Pairs(done, of) => ("pairs", done, of),
            Progress::Again { done, of, at_most } => {
                self.tell_of_looks(of, at_most);
                ("pairs again", done, of)
            }
            Progress::Loaded(done, of) => ("exchanges", done, of),
            Progress::Mpi(done, of) => ("pairs by MPI", done, of),
        };
        let mut bar = self.now.borrow_mut();
        if bar.as_ref().is_none_or(|(now, _)| *now != word) {
            *bar = Some((word, Bar::new(word)));
        }
        if let Some((_, bar)) = bar.as_ref() {
            bar.show(done, of);
        }
    }
}

fn compiler(typed: &ClusterMeasure) -> String {
    let named = typed.mpicc.clone().or_else(|| std::env::var("MPICC").ok());
    named.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "mpicc".to_owned())
}

fn earlier(typed: &ClusterMeasure, rank: &Rank) -> Result<Option<Measured>, CliError> {
    match &typed.resume {
        Some(path) if rank.rank == 0 => read(path, &input::bytes(path)?).map(Some),
        _ => Ok(None),
    }
}

fn own(typed: &ClusterMeasure) -> Own {
    // Rank 0 waits for the whole time: a node that has given up by then is not lost.
    let limit = 2 * typed.timeout / 3;
    Own {
        name: here::host_name(),
        facts: Facts::read(),
        profile: typed.nodes.then(|| Box::new(move || profile(limit)) as _),
    }
}

/// This node's core distances, by this program: `seatmap measure` waits until nobody else measures
/// here. `None` where it fails or takes longer than the limit, which shows in the result as a node
/// without them.
fn profile(limit: Duration) -> Option<Profile> {
    let measured =
        limited::output("seatmap measure --quick", &mut myself::quick_measurement(), limit);
    let output = measured.map_err(|error| output::tell(&with_causes(&error))).ok()?;
    output::tell_text(&String::from_utf8_lossy(&output.stderr));
    let machine = input::machine_in("this node", &output.stdout).ok()?;
    output.status.success().then(|| input::profile_of(&machine).ok())?
}

fn tell(
    found: &Measured,
    typed: &ClusterMeasure,
    destination: Option<Destination>,
) -> Result<(), CliError> {
    if let Some(destination) = destination {
        destination.write(&found.to_json())?;
    }
    if typed.json {
        output::json(found)?
    } else {
        output::print(&cluster::page(found))?
    }
    if found.missing.is_empty() {
        return Ok(());
    }
    let nodes = found.missing.iter().filter(|missing| missing.nodes.len() == 1).count();
    let pairs = found.missing.len() - nodes;
    let what: Vec<String> = [(nodes, "node"), (pairs, "pair")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counted(count, what))
        .collect();
    Err(CliError::work(format!(
        "{} could not be measured; --resume measures what is missing",
        what.join(" and ")
    )))
}

fn failed(error: MeasureError) -> CliError {
    if error.is_input() { CliError::input(error) } else { CliError::work(error) }
}

fn doctor(typed: &ClusterDoctor) -> Result<(), CliError> {
    let cluster = read(&typed.cluster, &input::bytes(&typed.cluster)?)?;
    let diagnosis = Diagnosis::of(&cluster);
    if typed.json {
        output::json(&diagnosis)?
    } else {
        output::print(&cluster::verdict(&cluster, &diagnosis.faults))?
    }
    if typed.fail && !diagnosis.faults.is_empty() {
        let faults = counted(diagnosis.faults.len(), "fault");
        return Err(CliError::work(format!("{faults} found")));
    }
    Ok(())
}
