//! Applies the sets of a plan to running services.

use super::drop_in::DropIn;
use super::host::{AppliedPlan, ServicesHost};
use super::targets::{SeatingWay, of_drop_in, of_interrupts, of_queues, of_threads};
use super::{PlanJournalError, owners, setting};
use crate::{PlannedService, ServicesPlan, living};
use seatmap_cell::{
    CellJournal, CellJournalHeader, GuardedHost, JournalEntry, Name, SettingChange, SettingKind,
    fault, posted,
};
use seatmap_data::document::{Failure, unfit};
use seatmap_data::statistics::words::counted;
use seatmap_os::root::FileError;
use seatmap_os::{CpuSet, Root, boot, irq, layout, rights, rps, task};
use std::time::Duration;

/// The default name of a plan.
pub const USUAL_NAME: &str = "services";

/// The default duration of a plan.
pub const USUAL_TIME: Duration = Duration::from_secs(600);

/// Rounds of looking for new threads.
const ROUNDS: u32 = 8;

/// A request to apply a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplyRequest {
    /// The plan.
    pub plan: ServicesPlan,
    /// Its name, for undoing it.
    pub name: Name,
    /// Its duration.
    pub time: Duration,
    /// Whether to move device interrupts off the CPUs of quiet services.
    pub moves_interrupts: bool,
    /// Whether to move the processing of received packets off them too.
    pub moves_packets: bool,
}

/// The result of applying a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplyResult {
    /// The applied plan.
    pub applied: AppliedPlan,
    /// The number of changed settings.
    pub changes: usize,
    /// The number of threads among them.
    pub threads: usize,
    /// The interrupts that the kernel refused to move.
    pub interrupts_left: Vec<String>,
    /// The queues of network cards that the kernel refused to steer.
    pub queues_left: Vec<String>,
    /// Services whose memory stays, because no owner moves it while they run.
    pub memory_left: Vec<String>,
}

/// How often to check for an effect, and the interval.
const EFFECT_LOOKS: u32 = 50;
const EFFECT_PAUSE: Duration = Duration::from_millis(40);

struct PlannedSeat<'a> {
    planned: &'a PlannedService,
    way: SeatingWay,
    changes: Vec<SettingChange>,
}

/// Every change is in the journal before it is made.
struct ServiceSite<'a> {
    host: &'a ServicesHost,
    journal: CellJournal,
}

impl ServicesHost {
    /// Gives each service its set. If one fails, all are restored.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn apply(&self, request: &ApplyRequest) -> Result<ApplyResult, Failure> {
        let plan = &request.plan;
        plan.services.iter().try_for_each(|planned| owners::check(&planned.service))?;
        self.check_cpus(plan)?;
        let living = living::all(&self.root, plan.services.iter().map(|one| &one.service))?;
        let mut ways = Vec::new();
        for (planned, pids) in plan.services.iter().zip(&living) {
            let way = SeatingWay::of(&self.root, planned)?;
            if way == SeatingWay::Threads {
                owners::check_processes(&planned.service.name, pids)?;
            }
            ways.push((planned, way));
        }
        let _lock = self.run.lock().map_err(PlanJournalError::from)?;
        self.recover()?;
        self.check_claims(request)?;
        let mut seats = Vec::new();
        for (planned, way) in ways {
            let changes = way.changes(&self.root, planned);
            let changes = changes.map_err(|error| refused(planned, error))?;
            owners::check_changes(&self.root, &planned.service.name, &changes)?;
            seats.push(PlannedSeat { planned, way, changes });
        }
        let posted = posted::post(&self.guardian, &request.name)?;
        let mut site = ServiceSite { host: self, journal: self.begin(request)? };
        fault::point();
        let seated = site.seat(request, &seats);
        let left = match &seated {
            Ok(_) => Vec::new(),
            Err(_) => self.end(&request.name)?,
        };
        // The guardian stays if masks lack offline CPUs.
        drop(posted::dismiss(posted, left));
        seated
    }

    /// Keeps a plan until it is undone or the computer reboots; units keep their CPUs even then.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn keep(&self, name: Option<&Name>) -> Result<AppliedPlan, Failure> {
        let _lock = self.run.lock().map_err(PlanJournalError::from)?;
        self.recover()?;
        let mut applied = self.plan(name)?;
        let name = applied.name.clone();
        applied.ends_s = None;
        let journal = self.journals()?.into_iter().find(|one| one.header.cell == name);
        let mut site = journal.map(|journal| ServiceSite { host: self, journal });
        let before = site.as_ref().map_or(0, |site| site.journal.changes.len());
        let kept = site.as_mut().map_or(Ok(()), ServiceSite::keep_units);
        let kept = kept.and_then(|()| self.remember(&applied));
        if let Some(site) = site.filter(|_| kept.is_err()) {
            site.forget_kept(before);
        }
        kept?;
        posted::relieve(&self.run, &name);
        Ok(applied)
    }

    fn begin(&self, request: &ApplyRequest) -> Result<CellJournal, Failure> {
        let last = self.journals()?.last().map_or(0, |journal| journal.header.serial);
        let header = CellJournalHeader::new(
            &request.name,
            all_cpus(&request.plan),
            last.saturating_add(1),
            Some(boot::ticks()),
        );
        let path = self.run.journal(&request.name);
        Ok(CellJournal::begin(&path, &self.boot_id, header).map_err(PlanJournalError::from)?)
    }

    fn check_cpus(&self, plan: &ServicesPlan) -> Result<(), Failure> {
        let wanted = all_cpus(plan);
        let online =
            layout::online(&self.root).map_err(|error| refused(&plan.services[0], error))?;
        let missing = wanted.without(&online);
        if !missing.is_empty() {
            return unfit(format!(
                "CPUs {missing} of the plan are not online here ({online} are); plan again on this \
                 computer"
            ));
        }
        let cells = seatmap_cell::standing(&self.root);
        let in_cells = CpuSet::from_iter(cells.values().flatten()).within(&wanted);
        if !in_cells.is_empty() {
            return unfit(format!(
                "CPUs {in_cells} belong to a cell; 'seatmap cell list' shows it"
            ));
        }
        Ok(())
    }

    fn check_claims(&self, request: &ApplyRequest) -> Result<(), Failure> {
        let wanted = all_cpus(&request.plan);
        for AppliedPlan { name, plan, .. } in self.standing()? {
            if name == request.name {
                return unfit(format!(
                    "plan '{name}' is already applied; run 'seatmap services undo {name}', or give \
                     --name"
                ));
            }
            let cpus = all_cpus(&plan).within(&wanted);
            if !cpus.is_empty() {
                return unfit(format!(
                    "CPUs {cpus} belong to the applied plan '{name}'; undo it first, or plan both \
                     together"
                ));
            }
        }
        Ok(())
    }
}

fn all_cpus(plan: &ServicesPlan) -> CpuSet {
    plan.services.iter().flat_map(PlannedService::cpu_set).collect()
}

pub(super) fn refused(planned: &PlannedService, source: FileError) -> Failure {
    not_given(&planned.service.name, &planned.cpus, source)
}

fn not_given(service: &str, cpus: &str, source: FileError) -> Failure {
    let advice = match source.source.raw_os_error() {
        Some(EBUSY) => " (a group below it has other CPUs, or another group has these exclusively)",
        _ => rights::way_out(&source.source),
    };
    let path = &source.path;
    let what = format!("cannot give service '{service}' CPUs {cpus}: {path}{advice}");
    Failure::work_at(what)(source)
}

/// errno(3).
const EBUSY: i32 = 16;

fn interrupt(root: &Root, path: &str) -> String {
    irq::name(root, path.split('/').nth(3).unwrap_or_default())
}

impl ServiceSite<'_> {
    fn seat(
        &mut self,
        request: &ApplyRequest,
        seats: &[PlannedSeat],
    ) -> Result<ApplyResult, Failure> {
        for PlannedSeat { planned, way, changes } in seats {
            self.note(changes)?;
            for change in changes.iter().filter(|change| DropIn::of(&change.path).is_none()) {
                self.make(planned, change)?;
            }
            if *way == SeatingWay::Threads {
                self.seat_threads(planned)?;
            } else {
                self.check_effect(planned)?;
            }
        }
        let plan = &request.plan;
        let mut interrupts_left = Vec::new();
        if request.moves_interrupts {
            interrupts_left = self.narrow(plan, of_interrupts, interrupt)?;
        }
        let mut queues_left = Vec::new();
        if request.moves_packets {
            queues_left = self.narrow(plan, of_queues, |_, path| rps::queue(path))?;
        }
        let memory_left = seats.iter().filter(|seat| {
            let has_none = matches!(seat.way, SeatingWay::Threads | SeatingWay::Domain(_));
            has_none && !seat.planned.nodes.is_empty()
        });
        let memory_left = memory_left.map(|seat| seat.planned.service.name.clone()).collect();
        let applied = AppliedPlan {
            name: request.name.clone(),
            plan: request.plan.clone(),
            began_ticks: self.journal.header.began_ticks,
            ends_s: Some(boot::seconds() + request.time.as_secs().max(1)),
        };
        self.host.remember(&applied)?;
        self.journal.append(&[JournalEntry::Done]).map_err(PlanJournalError::from)?;
        let changes = self.journal.changes.iter();
        let threads = changes.clone().filter(|change| change.what == SettingKind::Affinity);
        Ok(ApplyResult {
            applied,
            threads: threads.count(),
            changes: changes.filter(|change| DropIn::of(&change.path).is_none()).count(),
            interrupts_left,
            queues_left,
            memory_left,
        })
    }

    fn note(&mut self, changes: &[SettingChange]) -> Result<(), PlanJournalError> {
        Ok(self.journal.note(changes)?)
    }

    fn make(&self, planned: &PlannedService, change: &SettingChange) -> Result<(), Failure> {
        let root = &self.host.root;
        let made = setting::set(root, change, &change.new);
        fault::point();
        let read = made.and_then(|()| setting::current(root, change));
        match read {
            Ok(found) if change.same(&found, &change.new) || change.is_given(&found) => Ok(()),
            Ok(found) => Err(Failure::work(format!(
                "service '{}': {} was set to '{}', but reads '{found}'; another program writes it \
                 too",
                planned.service.name, change.path, change.new
            ))),
            Err(error) if change.what == SettingKind::Affinity && error.is_absent() => Ok(()),
            Err(error) => Err(refused(planned, error)),
        }
    }

    /// systemd accepts a property even if no cpuset enforces it.
    fn check_effect(&self, planned: &PlannedService) -> Result<(), Failure> {
        let cpus = planned.cpu_set();
        let mut outside = 0;
        for _ in 0..EFFECT_LOOKS {
            let pids = living::processes(&self.host.root, &planned.service)?;
            let tids = pids.iter().flat_map(|pid| task::threads(*pid).unwrap_or_default());
            let masks = tids.filter_map(|tid| CpuSet::of_thread(tid).ok());
            outside = masks.filter(|mask| !mask.is_subset(&cpus)).count();
            if outside == 0 {
                return Ok(());
            }
            // The owner may act a little later.
            std::thread::sleep(EFFECT_PAUSE);
        }
        Err(Failure::work(format!(
            "service '{}': CPUs {} were set, but {} may still run elsewhere: no cpuset enforces \
             the setting; name the service by pid or command to change the masks of its threads",
            planned.service.name,
            planned.cpus,
            counted(outside, "thread")
        )))
    }

    fn seat_threads(&mut self, planned: &PlannedService) -> Result<(), Failure> {
        let mut threads = 0;
        for _ in 0..ROUNDS {
            let pids = living::processes(&self.host.root, &planned.service)?;
            let changes = of_threads(pids.iter().copied(), &planned.cpu_set());
            threads += pids.len();
            if changes.is_empty() {
                break;
            }
            self.note(&changes)?;
            for change in &changes {
                self.make(planned, change)?;
            }
        }
        if threads == 0 {
            return Err(Failure::work(format!(
                "service '{}' has no thread with a changeable mask",
                planned.service.name
            )));
        }
        Ok(())
    }

    /// Narrows interrupts or packets to the CPUs left to them. Returns those that the kernel
    /// refuses: it manages some interrupts itself, and leaves isolated CPUs alone.
    fn narrow(
        &mut self,
        plan: &ServicesPlan,
        changes: fn(&Root, &CpuSet) -> Result<Vec<SettingChange>, FileError>,
        name: fn(&Root, &str) -> String,
    ) -> Result<Vec<String>, Failure> {
        let host = self.host;
        let root = &host.root;
        let Some(allowed) = CpuSet::of_list(&plan.interrupts).filter(|set| !set.is_empty()) else {
            return Ok(Vec::new());
        };
        let changes = changes(root, &allowed);
        let changes = changes.map_err(|error| refused(&plan.services[0], error))?;
        self.note(&changes)?;
        let mut left = Vec::new();
        for change in changes {
            if setting::set(root, &change, &change.new).is_err() {
                left.push(name(root, &change.path));
            }
            fault::point();
        }
        Ok(left)
    }

    /// Removes the permanent files of an unfinished `keep`, which would outlast a reboot. Ending
    /// the plan handles its other journal lines.
    fn forget_kept(&self, before: usize) {
        let noted = &self.journal.changes[before.min(self.journal.changes.len())..];
        let kept: Vec<DropIn> = noted.iter().filter_map(|one| DropIn::of(&one.path)).collect();
        for drop_in in &kept {
            let _ = drop_in.remove(&self.host.root);
        }
        if !kept.is_empty() {
            let _ = setting::reload_units();
        }
    }

    fn keep_units(&mut self) -> Result<(), Failure> {
        let mut runtime = self.journal.changes.clone();
        runtime.retain(|change| change.path.starts_with("unit:"));
        for change in runtime {
            let path = format!("kept-{}", change.path);
            let kept = SettingChange { path, ..change };
            let property = kept.path.splitn(3, ':').skip(1).collect::<Vec<_>>();
            if let [name, property] = property[..] {
                let drop_in = of_drop_in(&self.host.root, &kept, name, property, true);
                self.note(drop_in.as_slice())?;
            }
            self.note(std::slice::from_ref(&kept))?;
            setting::set(&self.host.root, &kept, &kept.new)
                .map_err(|error| not_given(&kept.path, &kept.new, error))?;
        }
        Ok(())
    }
}
