//! Checks clients' requests and answers them.

use super::{MOST_WAITING, Scheduler};
use crate::answer::{CellPhase, ErrorOrigin, Listed, Say};
use crate::job::Job;
use crate::policy::HIGHEST_PRIORITY;
use crate::request::{ControlRequest, Create, RequestKind};
use crate::ticket::Ticket;
use crate::wants::Wants;
use seatmap_cell::{CellBackend, CellError, CellRecord, CpuChoice, Name, choose};
use seatmap_data::document::{Blame, with_causes};
use seatmap_os::layout;
use seatmap_os::{CpuSet, boot};

/// An expired lease would destroy the cell while it is created or renewed.
const NO_LEASE: &str = "a lease lasts at least 1 s";

impl Scheduler<'_> {
    pub(super) fn ask(&mut self, connection: u64, request: ControlRequest) {
        let Some(uid) = self.clients.get(&connection).map(|client| client.uid) else { return };
        let id = request.id;
        let said = match request.ask {
            RequestKind::List => self.list().map(|cells| Say::Cells { cells }),
            RequestKind::Destroy { name } => self.end(uid, &name),
            RequestKind::Renew { name, lease_s } => self.renew(uid, &name, lease_s),
            RequestKind::Create(create) => match self.queue_up(connection, uid, id, create) {
                Ok(()) => return,
                Err(error) => Err(error),
            },
        };
        self.say(connection, id, said.unwrap_or_else(|error| error));
    }

    fn queue_up(
        &mut self,
        connection: u64,
        uid: u32,
        request: u64,
        create: Create,
    ) -> Result<(), Say> {
        let wants = self.check(uid, &create)?;
        let id = self.number();
        let priority = create.priority;
        let takes_turns = create.takes_turns;
        let waits = create.waits;
        let phase = CellPhase::Waiting;
        let stopped = Vec::new();
        let faults = Vec::new();
        let connection = Some(connection);
        let ends_s = None;
        let place_sent = None;
        let job =
            Job { create, uid, connection, request, phase, stopped, faults, ends_s, place_sent };
        self.jobs.insert(id, job);
        self.queue.submit(boot::milliseconds(), Ticket { id, uid, priority, wants, takes_turns });
        if !waits {
            // A client that does not wait gets no `waiting` answers.
            self.pump_quietly(id);
            if self.queue.place(id).is_some() {
                self.drop_tenant(id);
                let message =
                    "its CPUs are not free now; leave --no-wait out to queue it".to_owned();
                return Err(Say::error(ErrorOrigin::Busy, message));
            }
        }
        Ok(())
    }

    fn pump_quietly(&mut self, id: u64) {
        let request = self.jobs.get_mut(&id).and_then(|job| {
            job.place_sent = self.queue.place(id);
            job.place_sent
        });
        if request.is_some() {
            self.pump();
        }
    }

    fn check(&self, uid: u32, create: &Create) -> Result<Wants, Say> {
        let online =
            layout::online(&self.host.root).map_err(|error| refused(CellError::from(error)))?;
        // If these cannot be read, the client would wait without a reason.
        self.pool().map_err(|error| failed(&error))?;
        let is_taken = self.jobs.values().any(|job| job.create.name == create.name);
        if is_taken || self.host.cell(&create.name).is_ok() {
            return Err(refused(CellError::NameTaken(create.name.clone())));
        }
        if create.priority > HIGHEST_PRIORITY {
            return Err(refused(format!("a priority is 0 to {HIGHEST_PRIORITY}")));
        }
        if create.noise_limit.is_some_and(|limit| !(0.0..=100.0).contains(&limit)) {
            return Err(refused("a noise limit is 0 to 100 %"));
        }
        if create.lease_s == Some(0) {
            return Err(refused(NO_LEASE));
        }
        if create.takes_turns && create.memory_bytes > 0 {
            return Err(refused(
                "a cell that takes turns cannot have memory, because its CPUs are handed on",
            ));
        }
        if self.queue.waiting_of(uid) >= MOST_WAITING {
            return Err(Say::error(
                ErrorOrigin::Busy,
                format!("at most {MOST_WAITING} requests of one user may wait"),
            ));
        }
        self.wants(create, &online)
    }

    fn wants(&self, create: &Create, online: &CpuSet) -> Result<Wants, Say> {
        let wants = match named(create).map_err(refused)? {
            Some(wants) => wants,
            None => Wants::Count(self.usual_size()?),
        };
        let cpus = if let Wants::Cpus(cpus) = &wants { cpus.clone() } else { CpuSet::default() };
        let missing = cpus.without(online);
        let is_counted = matches!(wants, Wants::Count(_));
        let isolated = if is_counted { choose::isolated(&self.host) } else { CpuSet::default() };
        let open = online.without(&isolated);
        if wants.can_be_met_by(&open) {
            Ok(wants)
        } else if !missing.is_empty() {
            Err(refused(CellError::NotOnline { missing, online: online.clone() }))
        } else if cpus.is_empty() {
            Err(refused(CellError::TooMany { requested: wants.len(), free: open.len() }))
        } else {
            Err(refused(CellError::NothingLeft(cpus)))
        }
    }

    fn usual_size(&self) -> Result<usize, Say> {
        match CpuChoice::of_host(&self.host).and_then(|all| all.best(None, None)) {
            Ok(best) => Ok(best.len()),
            // Other cells currently have too many CPUs: the request waits for them.
            Err(CellError::TooMany { .. }) => CpuChoice::usual_size_of(&self.host)
                .map_err(|error| refused(CellError::from(error))),
            Err(error) => Err(refused(error)),
        }
    }

    /// The number of a cell that a user may control; `None` if the controller did not create it.
    fn own(&self, uid: u32, name: &Name) -> Result<Option<u64>, Say> {
        // SAFETY: the call cannot fail and touches nothing. The controller's own user has root's
        // rights here, so that an unprivileged user can clean up.
        let is_master = uid == 0 || uid == unsafe { libc::geteuid() };
        let found = self.jobs.iter().find(|(_, job)| job.create.name == *name);
        match found {
            Some((id, job)) if is_master || job.uid == uid => return Ok(Some(*id)),
            Some(_) => {}
            None => {
                self.host.cell(name).map_err(|error| failed(&error))?;
                if is_master {
                    return Ok(None);
                }
            }
        }
        Err(Say::error(ErrorOrigin::Denied, format!("the cell '{name}' belongs to another user")))
    }

    fn end(&mut self, uid: u32, name: &Name) -> Result<Say, Say> {
        let left = match self.own(uid, name)? {
            Some(id) => self.evict(id),
            None => seatmap_cell::destroy(&self.host, name).map_err(|error| failed(&error)),
        };
        self.leave_the_cells();
        Ok(Say::done(&left?))
    }

    fn renew(&mut self, uid: u32, name: &Name, lease_s: u64) -> Result<Say, Say> {
        let id = self.own(uid, name)?;
        if lease_s == 0 {
            return Err(refused(NO_LEASE));
        }
        if id.and_then(|id| self.jobs.get(&id)).is_some_and(|job| job.phase != CellPhase::Standing)
        {
            return Err(Say::error(
                ErrorOrigin::Busy,
                format!("the cell '{name}' does not exist now"),
            ));
        }
        let record =
            seatmap_cell::renew(&self.host, name, lease_s).map_err(|error| failed(&error))?;
        if let Some(job) = id.and_then(|id| self.jobs.get_mut(&id)) {
            job.ends_s = record.expires_s;
        }
        Ok(Say::cell(record))
    }

    fn list(&self) -> Result<Vec<Listed>, Say> {
        let cells = self.host.cells().map_err(|error| failed(&error))?;
        let jobs = self.jobs.values().map(|job| Listed {
            name: job.create.name.clone(),
            phase: job.phase,
            uid: Some(job.uid),
            cell: cells
                .iter()
                .find(|cell| cell.name == job.create.name)
                .map(|cell| cell.clone().judged(&job.faults)),
            faults: job.faults.clone(),
        });
        let others = cells
            .iter()
            .filter(|cell| self.jobs.values().all(|job| job.create.name != cell.name))
            .map(|cell| self.listed_of_others(cell));
        Ok(jobs.chain(others).collect())
    }

    fn listed_of_others(&self, cell: &CellRecord) -> Listed {
        let faults = known_faults(seatmap_cell::verify(&self.host, cell));
        Listed {
            name: cell.name.clone(),
            phase: CellPhase::Standing,
            uid: None,
            cell: Some(cell.clone().judged(&faults)),
            faults,
        }
    }
}

fn refused(why: impl std::fmt::Display) -> Say {
    Say::error(ErrorOrigin::Request, why.to_string())
}

fn named(create: &Create) -> Result<Option<Wants>, &'static str> {
    match (&create.cpus, create.count) {
        (Some(_), Some(_)) => Err("name \"cpus\" or a \"count\", not both"),
        (Some(cpus), None) if cpus.is_empty() => {
            Err("\"cpus\" is empty; name a CPU, or leave it out")
        }
        (None, Some(0)) => {
            Err("\"count\" is 0; give at least 1, or leave it out for the CPUs of the best core")
        }
        (Some(cpus), None) => Ok(Some(Wants::Cpus(cpus.iter().copied().collect()))),
        (None, count) => Ok(count.map(Wants::Count)),
    }
}

pub fn failed(error: &CellError) -> Say {
    let kind = if error.is_input() { ErrorOrigin::Request } else { ErrorOrigin::Failed };
    Say::error(kind, with_causes(error))
}

/// A failed check counts as a fault, because the cell may have any.
pub fn known_faults(examined: Result<Vec<String>, CellError>) -> Vec<String> {
    examined.unwrap_or_else(|error| vec![format!("it cannot be examined: {}", with_causes(&error))])
}

/// Reconstructs an adopted cell's request, so that it can be suspended and created again.
pub fn of_record(record: &CellRecord, takes_turns: bool) -> Create {
    Create {
        name: record.name.clone(),
        cpus: Some(record.cpus.clone()),
        count: None,
        require: CellBackend::Affinity,
        noise_limit: None,
        is_tested: false,
        lease_s: None,
        memory_bytes: 0,
        priority: 0,
        takes_turns,
        is_detached: true,
        waits: true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{computer, stand};
    use super::*;
    use crate::policy::Policy;
    use seatmap_os::CpuList;

    fn create(text: &str) -> Create {
        let line = format!(
            "{{\"format\":\"seatmap-control/1\",\"id\":1,\"do\":\"create\",\"name\":\"a\"{text}}}"
        );
        match ControlRequest::parse(line.as_bytes()).unwrap().ask {
            RequestKind::Create(create) => create,
            _ => unreachable!("it says create"),
        }
    }

    fn named_in(text: &str) -> Result<Option<Wants>, &'static str> {
        named(&create(text))
    }

    /// Another program's cell has CPU 1.
    fn controller(online: &str, isolated: &str) -> (tempfile::TempDir, Scheduler<'static>) {
        let (folder, host) = computer(online, isolated);
        stand(&host, "other", vec![1], None);
        let slice = std::time::Duration::from_secs(1);
        let (scheduler, _) =
            Scheduler::open(host, Policy::Fifo, slice, Box::new(|_: &CpuList| Ok(0.0))).unwrap();
        (folder, scheduler)
    }

    #[test]
    fn request_without_count_wants_one_cpu() {
        let (_folder, scheduler) = controller("0-1", "");
        let online = [0, 1].into_iter().collect();
        assert_eq!(scheduler.wants(&create(",\"count\":1"), &online), Ok(Wants::Count(1)));
        assert_eq!(scheduler.wants(&create(""), &online), Ok(Wants::Count(1)));
        let one = CpuSet::single(0);
        assert!(scheduler.wants(&create(""), &one).is_err(), "it could never be had");
    }

    #[test]
    fn isolated_cpus_are_used_only_by_list() {
        let (_folder, scheduler) = controller("0-7", "4-7");
        let online = (0..8).collect();
        assert!(scheduler.wants(&create(",\"count\":3"), &online).is_ok());
        let too_many = scheduler.wants(&create(",\"count\":4"), &online).unwrap_err();
        assert!(format!("{too_many:?}").contains("4 requested, 4 free"), "{too_many:?}");
        assert!(scheduler.wants(&create(",\"cpus\":[4,5,6,7]"), &online).is_ok());
    }

    #[test]
    fn unreadable_journal_prevents_starts() {
        let (folder, mut scheduler) = controller("0-3", "");
        let (client, server) = std::os::unix::net::UnixStream::pair().unwrap();
        let peer = crate::peer::PeerCredentials::of(&server).unwrap();
        scheduler.take(crate::scheduler::ClientEvent::Came(1, server, peer));
        let waiting = Create { name: "b".parse().unwrap(), waits: true, ..create(",\"cpus\":[1]") };
        scheduler.queue_up(1, 0, 1, waiting).unwrap();
        // Links are never followed, so not even root can read this journal.
        let unread = scheduler.host.run.file("x.journal");
        std::os::unix::fs::symlink(folder.path().join("none"), &unread).unwrap();
        scheduler.pump();
        assert_eq!(scheduler.queue.place(1), Some((0, 1)), "CPU 1 is another cell's");
        let refusal = scheduler.queue_up(1, 0, 2, create(",\"cpus\":[2]")).unwrap_err();
        assert!(format!("{refusal:?}").contains("x.journal"), "{refusal:?}");
        let unknown = scheduler.own(0, &"other".parse().unwrap()).unwrap_err();
        assert!(format!("{unknown:?}").contains("x.journal"), "{unknown:?}");
        std::fs::remove_file(unread).unwrap();
        assert_eq!(scheduler.own(0, &"other".parse().unwrap()), Ok(None));
        drop(client);
    }

    #[test]
    fn renewal_for_zero_seconds_is_refused() {
        let (_folder, mut scheduler) = controller("0-1", "");
        let other = "other".parse().unwrap();
        assert_eq!(scheduler.renew(0, &other, 0), Err(refused(NO_LEASE)));
        assert_eq!(scheduler.host.cell(&other).unwrap().expires_s, None);
    }

    #[test]
    fn unexaminable_cell_has_a_fault() {
        let denied = std::io::Error::from_raw_os_error(libc::EACCES);
        assert_eq!(
            known_faults(Err(CellError::Guardian(denied))).len(),
            1,
            "it does not pass for whole"
        );
        assert!(known_faults(Ok(Vec::new())).is_empty());
    }

    #[test]
    fn invalid_cpus_are_refused() {
        assert_eq!(
            named_in(",\"cpus\":[1,2]"),
            Ok(Some(Wants::Cpus([1, 2].into_iter().collect())))
        );
        assert_eq!(named_in(",\"count\":3"), Ok(Some(Wants::Count(3))));
        assert_eq!(named_in(""), Ok(None));
        assert!(named_in(",\"count\":0").unwrap_err().starts_with("\"count\" is 0"));
        assert!(named_in(",\"cpus\":[]").unwrap_err().starts_with("\"cpus\" is empty"));
        for both in
            [",\"cpus\":[],\"count\":0", ",\"cpus\":[1],\"count\":1", ",\"cpus\":[],\"count\":2"]
        {
            assert_eq!(named_in(both), Err("name \"cpus\" or a \"count\", not both"), "{both}");
        }
    }
}
