//! The CPUs that the commands run on, and who is kept away from them.

use super::Named;
use crate::args::Bench;
use crate::myself;
use crate::verbs::check;
use seatmap_cell::{Backend, CellRequest, CpuChoice, Host, Name};
use seatmap_console::error::CliError;
use seatmap_console::output;
use seatmap_os::CpuSet;
use seatmap_os::cpus::Cpus;
use seatmap_report::counted;
use seatmap_tune::{Contestant, activity, seats};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long others are watched before seats are chosen.
const LOOK: Duration = Duration::from_millis(500);

/// A cell outlives a program that was killed by this long.
const LEASE_S: u64 = 15;

/// The lease is renewed this often.
const RENEWED: Duration = Duration::from_secs(5);

/// Seats, kept quiet until this is dropped.
pub struct Room {
    cpus: CpuSet,
    cores: usize,
    notes: Vec<String>,
    quiet: bool,
    cell: Option<Lease>,
}

impl Room {
    /// Chooses seats unless these are wanted, and closes them where the user wants quiet and may
    /// have it.
    pub fn take(typed: &Bench, wanted: Option<&CpuSet>) -> Result<Self, CliError> {
        let allowed = CpuSet::of_thread(0).map_err(CliError::work)?;
        let topology = check::topology()?;
        let mut notes = Vec::new();
        if typed.quiet {
            match Lease::take(typed, wanted) {
                Ok(cell) => return Ok(Room::in_cell(cell)),
                Err(error) => notes.push(format!(
                    "there is no cell ({}); the kernel prefers the commands instead",
                    error.text()
                )),
            }
        }
        let chosen = match wanted {
            Some(cpus) => named(cpus, &topology)?,
            None => {
                let all = topology.pus.iter().map(|pu| pu.os).collect();
                seats::choose(&topology, &allowed, &activity::look(&all, LOOK), typed.seats)
                    .map_err(CliError::input)?
            }
        };
        notes.extend(chosen.notes);
        Ok(Room { cpus: chosen.cpus, cores: chosen.cores, notes, quiet: typed.quiet, cell: None })
    }

    fn in_cell(cell: Lease) -> Self {
        let pinned = "the kernel moves no threads about in a cell, so each thread of a command has one CPU, and keeps it";
        let notes = if cell.cpus.len() > 1 { vec![pinned.to_owned()] } else { Vec::new() };
        Room { cpus: cell.cpus.clone(), cores: cell.cores, notes, quiet: true, cell: Some(cell) }
    }

    /// A command on these seats.
    pub fn contestant(&self, named: &Named) -> Contestant {
        let name = named.name.clone();
        let command = named.words.clone();
        let seated = Contestant { name, command, ..Contestant::default() };
        match &self.cell {
            // One CPU needs no seats, and the launcher takes its time.
            Some(Lease { group: Some(members), cpus, .. }) if cpus.len() == 1 => {
                Contestant { group: Some(members.clone()), cell: Some(cpus.clone()), ..seated }
            }
            Some(cell) => {
                Contestant { launcher: cell.launcher(), cell: Some(cell.cpus.clone()), ..seated }
            }
            None => Contestant { cpus: Some(self.cpus.clone()), ..seated },
        }
    }

    /// The CPUs.
    pub fn cpus(&self) -> &CpuSet {
        &self.cpus
    }

    /// Sentences about them.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// How many there are, in words.
    pub fn size(&self) -> String {
        format!("{} on {}", counted(self.cpus.len(), "CPU"), counted(self.cores, "core"))
    }

    /// The way they are kept quiet, as a fingerprint has it.
    pub fn kept_by(&self) -> &'static str {
        match (&self.cell, self.quiet) {
            (Some(_), _) => "a cell",
            (None, true) => "preference",
            (None, false) => "nobody",
        }
    }

    /// Whether the kernel is asked to prefer the commands to others.
    pub fn is_preferred(&self) -> bool {
        self.quiet && self.cell.is_none()
    }
}

/// The CPUs that the user named, which are taken as they are.
fn named(cpus: &CpuSet, topology: &seatmap_machine::Topology) -> Result<seats::Chosen, CliError> {
    Cpus::read().map_err(CliError::work)?.check(&cpus.list().0).map_err(CliError::input)?;
    let core = |cpu: u32| {
        topology.pu(cpu).and_then(|pu| pu.core).map_or((Some(cpu), None), |core| (None, Some(core)))
    };
    let cores = cpus.iter().map(core).collect::<std::collections::BTreeSet<_>>().len();
    Ok(seats::Chosen { cpus: cpus.clone(), whole: cpus.clone(), cores, notes: Vec::new() })
}

/// A cell that is renewed while this lives, and undone when it is dropped.
struct Lease {
    name: Name,
    cpus: CpuSet,
    cores: usize,
    /// The file that takes its members.
    group: Option<PathBuf>,
    /// Dropped to end the thread that renews.
    alive: Option<Sender<()>>,
    renewing: Option<JoinHandle<()>>,
}

impl Lease {
    fn take(typed: &Bench, wanted: Option<&CpuSet>) -> Result<Self, CliError> {
        let host = host()?;
        let choice = CpuChoice::of_host(&host).map_err(CliError::work)?;
        let cpus = match wanted {
            Some(cpus) => cpus.clone(),
            // One core stays for the rest of the system.
            None => choice
                .best(Some(typed.seats.unwrap_or_else(|| all_but_one(&choice))), None)
                .map_err(CliError::work)?,
        };
        let name: Name = format!("bench-{}", std::process::id()).parse().map_err(CliError::work)?;
        let require = Backend::V1Exclusive;
        let lease_s = Some(LEASE_S);
        let request =
            CellRequest { name, cpus, require, noise_limit: None, lease_s, memory_bytes: 0 };
        let record = seatmap_cell::create(&host, &request, None).map_err(CliError::work)?;
        let cpus = record.set();
        let cores = choice.cores.iter().filter(|core| core.meets(&cpus)).count();
        let members =
            |group: &String| host.root.path(&seatmap_os::group::members_file(&host.root, group));
        let group = record.group.as_ref().map(members);
        let (alive, ended) = mpsc::channel();
        let name = record.name.clone();
        let renew = move || {
            while ended.recv_timeout(RENEWED) == Err(RecvTimeoutError::Timeout) {
                // A cell that somebody else has undone cannot be renewed; 'cell run' will say so.
                let _ = seatmap_cell::renew(&host, &name, LEASE_S);
            }
        };
        // From here on the cell is destroyed when the lease is dropped.
        let mut lease =
            Lease { name: record.name, cpus, cores, group, alive: Some(alive), renewing: None };
        let renewing = std::thread::Builder::new().spawn(renew);
        lease.renewing = Some(renewing.map_err(|error| {
            CliError::work(format!(
                "the thread that renews the cell's lease cannot be started: {error}"
            ))
        })?);
        Ok(lease)
    }

    fn launcher(&self) -> Vec<OsString> {
        myself::in_cell(&self.name)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        drop(self.alive.take());
        if let Some(thread) = self.renewing.take() {
            let _ = thread.join();
        }
        let undone = host()
            .and_then(|host| seatmap_cell::destroy(&host, &self.name).map_err(CliError::work));
        match undone {
            Ok(left) => left.iter().for_each(|left| output::tell(&left.to_string())),
            Err(error) => {
                output::tell(&format!("the cell '{}' is still there: {}", self.name, error.text()))
            }
        }
    }
}

fn host() -> Result<Host, CliError> {
    Host::here(myself::cell_guardian()).map_err(CliError::work)
}

fn all_but_one(choice: &CpuChoice) -> usize {
    let core = choice.cores.iter().map(CpuSet::len).max().unwrap_or(1);
    choice.free.len().saturating_sub(core).max(1)
}
