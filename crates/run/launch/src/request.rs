//! Resolves a request for seats and memory.

use crate::allocator::SeatAllocator;
use crate::memory::{MemoryWish, MemoryWishError, ProgramMemory};
use crate::rule::{RuleError, SeatRule, Who};
use crate::seats::{Beyond, SeatList};
use crate::sets::{ComputerCpus, KeptWords, MovedWords, SetError};
use crate::share::{ShareError, SoleWork};
use crate::{sets, share};
use seatmap_cell::{CellRecord, Name};
use seatmap_data::document::Blame;
use seatmap_data::plan::Plan;
use seatmap_data::plan::local_rank::LaunchInstance;
use seatmap_machines::host::topology::TopologyError;
use seatmap_os::cpus::{CpuError, Cpus};
use seatmap_os::mempolicy::{MemoryNodes, MemoryPolicyError};
use seatmap_os::{CpuSet, FileError, Root, affinity, layout};

/// The source of seats.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SeatSource {
    /// A plan: a seat per thread.
    Plan(Box<Plan>),
    /// A rank's CPUs in a plan of a job, shared by all its threads.
    Rank(CpuSet),
    /// A list, such as `0-3,l3:1`.
    List(String),
    /// Rules only.
    #[default]
    Rules,
    /// A cell, whose CPUs need not be allowed to this process: a plan's seats, or one CPU after the
    /// other.
    Cell(Box<CellRecord>, Option<Box<Plan>>),
}

/// A request of seats and memory for a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeatingRequest {
    /// The seats.
    pub seats: SeatSource,
    /// Whether words that distinguish no CPUs mean all of them.
    pub or_all: bool,
    /// Whether to use the list once; further threads stay unseated.
    pub once: bool,
    /// Whether each thread gets all CPUs of its seat's cache.
    pub soft: bool,
    /// Rules by name, such as `io*=cpus:14-15`.
    pub rules: Vec<String>,
    /// How many first threads get no seat.
    pub skip: usize,
    /// Whether to seat threads and processes at their creation.
    pub strict: bool,
    /// Whether the program already runs.
    pub is_running: bool,
    /// The source of a new program's memory.
    pub memory: Option<MemoryWish>,
}

/// The result of a [`SeatingRequest`] on this computer.
#[derive(Debug)]
pub struct GrantedSeats {
    /// The seats.
    pub allocator: SeatAllocator,
    /// The memory; `None` for the kernel's choice.
    pub memory: Option<ProgramMemory>,
    /// Facts for the user.
    pub remarks: Vec<SeatingRemark>,
}

/// A fact about granted seats.
#[derive(Debug)]
pub enum SeatingRemark {
    /// A sentence: this start gets a part of the seats, because others start too.
    Share(String),
    /// A sentence: a word distinguishes no CPUs, and was left out.
    LeftOut(String),
    /// The plan's words name other CPUs now.
    Moved(MovedWords),
    /// The computer has one memory node, so this request changes nothing.
    OneMemory(MemoryWish),
}

/// Why seats or memory are not available.
#[derive(Debug, thiserror::Error)]
pub enum SeatingError {
    /// The list is wrong.
    #[error(transparent)]
    Sets(#[from] SetError),
    /// A rule is wrong.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// A plan has a CPU outside its cell.
    #[error("CPU {cpu} is not in the cell '{cell}', which has {}", .cpus.named())]
    OutsideCell {
        /// The CPU.
        cpu: u32,
        /// The cell.
        cell: Name,
        /// The cell's CPUs.
        cpus: CpuSet,
    },
    /// Several starts would share a seat.
    #[error(transparent)]
    Share(#[from] ShareError),
    /// A CPU is not available.
    #[error(transparent)]
    Cpu(#[from] CpuError),
    /// A rule names threads by TID, but a new program's have none yet.
    #[error("tid: and pid: need --pid, because only running threads have numbers")]
    Numbers,
    /// The memory is not available.
    #[error(transparent)]
    Wish(#[from] MemoryWishError),
    /// The kernel lacks the memory policy, or refused it.
    #[error(transparent)]
    Policy(#[from] MemoryPolicyError),
    /// This process's CPUs could not be read.
    #[error(transparent)]
    Affinity(std::io::Error),
    /// The topology could not be read.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// The NUMA nodes could not be read.
    #[error(transparent)]
    Nodes(#[from] FileError),
}

impl Blame for SeatingError {
    fn is_input(&self) -> bool {
        match self {
            SeatingError::Policy(error) => matches!(error, MemoryPolicyError::TooOld(_)),
            SeatingError::Affinity(_) | SeatingError::Topology(_) | SeatingError::Nodes(_) => false,
            _ => true,
        }
    }
}

/// Identifies this process among several starts of one command.
///
/// # Errors
/// [`SeatingError`]: a launcher's variable is damaged, or workers are indistinguishable.
pub fn this_start() -> Result<LaunchInstance, SeatingError> {
    let cpus = own_cpus()?;
    Ok(share::this_start(&Root::new("/"), cpus.allowed.len())?)
}

/// Refuses work on all CPUs of this node by several starts.
///
/// # Errors
/// [`SeatingError::Share`] if they would.
pub fn check_sole(work: SoleWork) -> Result<(), SeatingError> {
    let cpus = own_cpus()?;
    Ok(work.check(&Root::new("/"), cpus.allowed.len())?)
}

fn own_cpus() -> Result<Cpus, SeatingError> {
    Cpus::read().map_err(SeatingError::Affinity)
}

impl SeatingRequest {
    /// Resolves the seats and the memory.
    ///
    /// # Errors
    /// [`SeatingError`]: something requested does not exist, or belongs to another start.
    pub fn grant(&self) -> Result<GrantedSeats, SeatingError> {
        let mut remarks = Vec::new();
        let allocator = self.allocator(&mut remarks)?;
        let allowed = affinity::current().map_err(SeatingError::Affinity)?;
        let cpus = allocator.cpus(&allowed.into_iter().collect());
        let memory = self.memory(&cpus, &mut remarks)?;
        Ok(GrantedSeats { allocator, memory, remarks })
    }

    fn allocator(&self, remarks: &mut Vec<SeatingRemark>) -> Result<SeatAllocator, SeatingError> {
        let start = if self.is_running { LaunchInstance::Alone } else { this_start()? };
        let is_divided = matches!(self.seats, SeatSource::Rank(_));
        let seats = self.list(remarks)?;
        let seats = if is_divided || seats.cpus.is_empty() {
            seats
        } else {
            seats.shared_with(&start, self.plan().is_some())?
        };
        let mut rules = Vec::new();
        for text in &self.rules {
            rules.push(SeatRule::parse(text, &seats, &mut |list| {
                let words = self.words(list, remarks)?;
                sets::parse(&words, &ComputerCpus::read)
            })?);
        }
        if !self.is_running && rules.iter().any(|rule| !matches!(rule.who, Who::Named(_))) {
            return Err(SeatingError::Numbers);
        }
        let of_rules = rules.iter().flat_map(|rule| &rule.seats);
        if !is_divided {
            share::check_rules(&start, of_rules.clone().any(|seat| seat.task.is_none()))?;
            let share = Some(&seats).filter(|seats| !seats.cpus.is_empty());
            let share = share.and_then(|seats| share::sentence(&start, seats));
            remarks.extend(share.map(SeatingRemark::Share));
        }
        let of_rules = of_rules.flat_map(|seat| seat.cpus.iter());
        if !matches!(self.seats, SeatSource::Cell(..)) {
            let of_seats = seats.own().iter().flat_map(CpuSet::iter);
            let cpus: Vec<u32> = of_seats.chain(of_rules).collect();
            own_cpus()?.check(&cpus)?;
        }
        let allocator = SeatAllocator::new(seats, rules, self.skip).strict(self.strict);
        // Leases would end with this process, before the seats.
        Ok(if self.is_running { allocator } else { allocator.beside_others() })
    }

    fn plan(&self) -> Option<&Plan> {
        match &self.seats {
            SeatSource::Plan(plan) | SeatSource::Cell(_, Some(plan)) => Some(plan),
            _ => None,
        }
    }

    fn list(&self, remarks: &mut Vec<SeatingRemark>) -> Result<SeatList, SeatingError> {
        let beyond = if self.once { Beyond::Leave } else { Beyond::Cycle };
        let seats = match &self.seats {
            SeatSource::Plan(plan) => {
                let seats = SeatList::of_plan(plan);
                remarks.extend(moved(&seats).map(SeatingRemark::Moved));
                seats
            }
            SeatSource::Rank(cpus) => SeatList::of_sets(vec![cpus.clone()], Beyond::Cycle),
            SeatSource::List(list) => {
                let words = self.words(list, remarks)?;
                let members = sets::members(&words, &ComputerCpus::read)?;
                let kept = KeptWords::of(&words, &ComputerCpus::read)?;
                SeatList { kept, ..SeatList::of_members(members, beyond) }
            }
            SeatSource::Rules => SeatList::of_sets(Vec::new(), beyond),
            SeatSource::Cell(cell, plan) => in_cell(cell, plan.as_deref())?,
        };
        if self.soft { widened(seats) } else { Ok(seats) }
    }

    /// The words of a list that distinguish CPUs here, if others shall mean all.
    fn words(&self, list: &str, remarks: &mut Vec<SeatingRemark>) -> Result<String, SetError> {
        if !self.or_all {
            return Ok(list.to_owned());
        }
        let accepted = sets::or_all(list, &ComputerCpus::read)?;
        remarks.extend(accepted.remarks.into_iter().map(SeatingRemark::LeftOut));
        Ok(accepted.words)
    }

    fn memory(
        &self,
        cpus: &CpuSet,
        remarks: &mut Vec<SeatingRemark>,
    ) -> Result<Option<ProgramMemory>, SeatingError> {
        let Some(wish) = &self.memory else { return Ok(None) };
        let root = Root::new("/");
        let near = layout::memory_nodes(&root, cpus)?;
        let memory = wish.memory(&MemoryNodes::read(&root), &near, self.plan())?;
        match memory.policies().into_iter().try_for_each(|policy| policy.check()) {
            Ok(()) => Ok(Some(memory)),
            Err(MemoryPolicyError::NoNuma) => {
                remarks.push(SeatingRemark::OneMemory(wish.clone()));
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The words of a plan that name other CPUs of this computer now.
fn moved(seats: &SeatList) -> Option<MovedWords> {
    seats.kept.as_ref()?.moved(&ComputerCpus::read_whole().ok()?)
}

/// The kernel balances no load in a cell, so the list cycles.
fn in_cell(cell: &CellRecord, plan: Option<&Plan>) -> Result<SeatList, SeatingError> {
    let cpus = cell.set();
    let beyond = Beyond::Cycle;
    let seats = match plan {
        Some(plan) => SeatList::of_plan(plan),
        None => SeatList::of_members(vec![cpus.iter().map(CpuSet::single).collect()], beyond),
    };
    match seats.cpus.iter().flat_map(CpuSet::iter).find(|cpu| !cpus.contains(*cpu)) {
        None => Ok(SeatList { beyond, ..seats }),
        Some(cpu) => Err(SeatingError::OutsideCell { cpu, cell: cell.name.clone(), cpus }),
    }
}

fn widened(seats: SeatList) -> Result<SeatList, SeatingError> {
    let topology = seatmap_machines::host::topology::reachable()?;
    let allowed: CpuSet = own_cpus()?.allowed.into_iter().collect();
    let mut wide = Vec::new();
    for seat in &seats.cpus {
        let caches = seat
            .iter()
            .map(|cpu| sets::around(&topology, cpu).within(&allowed).with(&CpuSet::single(cpu)));
        wide.push(caches.flat_map(|cache| cache.list().0).collect());
    }
    Ok(SeatList { cpus: wide, ..seats })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(list: &str, rules: &[&str]) -> SeatingRequest {
        SeatingRequest {
            seats: SeatSource::List(list.to_owned()),
            rules: rules.iter().map(|rule| (*rule).to_owned()).collect(),
            ..SeatingRequest::default()
        }
    }

    fn own_cpu() -> u32 {
        Cpus::read().unwrap().allowed[0]
    }

    #[test]
    fn request_grants_cpus_of_this_computer() {
        let cpu = own_cpu();
        let granted = request(&cpu.to_string(), &[]).grant().unwrap();
        assert_eq!(granted.allocator.whole, CpuSet::single(cpu));
        assert!(granted.memory.is_none() && granted.remarks.is_empty());
        let soft = SeatingRequest { soft: true, ..request(&cpu.to_string(), &[]) };
        assert!(soft.grant().unwrap().allocator.whole.contains(cpu));
    }

    #[test]
    fn cell_seats_cycle_over_cell_cpus() {
        let cell = crate::in_cell::tests::cell();
        let plan = |cpus: Vec<u32>| Plan::new("desk", cpus);
        let all = in_cell(&cell, None).unwrap();
        assert_eq!((all.whole(), all.beyond), (cell.set(), Beyond::Cycle));
        let planned = in_cell(&cell, Some(&plan(vec![3]))).unwrap();
        assert_eq!((planned.whole(), planned.beyond), (CpuSet::single(3), Beyond::Cycle));
        let refused = in_cell(&cell, Some(&plan(vec![3, 5]))).unwrap_err();
        assert!(refused.is_input());
        assert_eq!(refused.to_string(), "CPU 5 is not in the cell 'quiet', which has CPUs 2,3");
    }

    #[test]
    fn refused_requests_are_input_errors() {
        let refused = |request: SeatingRequest| request.grant().unwrap_err();
        let absent = refused(request("9999", &[]));
        assert!(absent.is_input() && matches!(absent, SeatingError::Cpu(_)), "{absent}");
        assert!(refused(request("soft:1", &[])).is_input());
        let cpu = own_cpu().to_string();
        let by_number = request(&cpu, &[&format!("tid:1={cpu}")]);
        assert!(matches!(refused(by_number.clone()), SeatingError::Numbers));
        assert!(SeatingRequest { is_running: true, ..by_number }.grant().is_ok());
        let planned = SeatingRequest { memory: Some(MemoryWish::Plan), ..request(&cpu, &[]) };
        assert!(matches!(refused(planned), SeatingError::Wish(MemoryWishError::NoPlan)));
    }
}
