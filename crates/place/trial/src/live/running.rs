//! A running program before its observation: its processes, and what prevents seats.

use crate::live::NoSeats;
use seatmap_data::statistics::words::agreeing;
use seatmap_launch::halted::HaltedProcess;
use seatmap_os::cpus::Cpus;
use seatmap_os::{CpuSet, Root, Tid, rights, task};
use seatmap_watch::{ChoiceError, ProcessChoice};
use std::io;

/// Something that limits the seats, reported while the program runs.
#[derive(Clone, Debug, PartialEq)]
pub enum AutoRemark {
    /// Another user's processes, which are left out.
    OtherUser(Vec<Tid>),
    /// Threads bound to fewer CPUs, which are left alone.
    Bound {
        /// Their number.
        bound: usize,
        /// The number of all threads.
        threads: usize,
    },
    /// There are no seats to try now.
    NoSeats(NoSeats),
    /// A process does not run.
    Halted(HaltedProcess),
}

#[derive(Debug)]
pub(crate) struct RunningProgram {
    /// The processes that this one may seat.
    pub pids: Vec<Tid>,
    /// The CPUs for seats.
    pub allowed: CpuSet,
    /// The masks of each process's threads, main thread first.
    masks: Vec<Vec<CpuSet>>,
    left_out: Vec<Tid>,
}

impl RunningProgram {
    /// The processes with these numbers, and their descendants.
    pub(crate) fn find(pids: &[Tid]) -> Result<Self, ChoiceError> {
        let choice = ProcessChoice::Processes { pids: pids.to_vec(), with_children: true };
        let all = choice.pids(&Root::new("/"))?;
        let (pids, left_out): (Vec<Tid>, _) =
            all.into_iter().partition(|pid| rights::may_seat(*pid));
        let masks: Vec<Vec<CpuSet>> = pids.iter().map(|pid| masks(*pid)).collect();
        let allowed = seats(masks.iter().flatten())?;
        Ok(RunningProgram { pids, allowed, masks, left_out })
    }

    /// Whether some thread can be seated on these CPUs of the machine.
    pub(crate) fn check(&self, here: CpuSet) -> Result<(), String> {
        let why = match self.pids.first() {
            None => format!(
                "{} another user's; run it {}",
                others_processes(&self.left_out),
                rights::as_root()
            ),
            _ if here.len() < 2 => {
                format!("this process may only use {}; allow it more CPUs", here.named())
            }
            // Without threads, the program has just ended.
            Some(pid) if self.bound() == self.threads() && self.threads() > 0 => format!(
                "each thread of the program is bound to one CPU or to none of {}; 'taskset -acp {} \
                 {pid}' frees process {pid}",
                here.named(),
                here.list()
            ),
            Some(_) => return Ok(()),
        };
        Err(format!("no seats can be tried: {why}"))
    }

    pub(crate) fn remarks(&self) -> Vec<AutoRemark> {
        let mut remarks = Vec::new();
        if !self.left_out.is_empty() {
            remarks.push(AutoRemark::OtherUser(self.left_out.clone()));
        }
        let bound = self.bound();
        if bound > 0 {
            remarks.push(AutoRemark::Bound { bound, threads: self.threads() });
        }
        remarks.extend(self.no_seats().map(AutoRemark::NoSeats));
        remarks
    }

    /// Why there are no seats before the program starts more threads.
    pub(crate) fn no_seats(&self) -> Option<NoSeats> {
        (self.threads() < 2).then_some(NoSeats::OneThread)
    }

    fn threads(&self) -> usize {
        self.masks.iter().map(Vec::len).sum()
    }

    /// Threads without a choice of CPUs, or with a narrower mask than their process.
    fn bound(&self) -> usize {
        let bound = self
            .masks
            .iter()
            .flat_map(|masks| masks.iter().filter(|mask| is_bound(mask, &masks[0], &self.allowed)));
        bound.count()
    }
}

/// Names another user's processes.
pub fn others_processes(pids: &[Tid]) -> String {
    let named: Vec<String> = pids.iter().map(ToString::to_string).collect();
    let process = agreeing(pids.len(), "process", "processes");
    format!("{process} {} {}", named.join(", "), agreeing(pids.len(), "is", "are"))
}

fn is_bound(mask: &CpuSet, whole: &CpuSet, allowed: &CpuSet) -> bool {
    mask.within(allowed).len() < 2 || (mask != whole && mask.is_subset(whole))
}

/// A thread may have ended since it was listed.
fn masks(pid: Tid) -> Vec<CpuSet> {
    let tids = task::threads(pid).unwrap_or_default();
    tids.into_iter().filter_map(|tid| CpuSet::of_thread(tid).ok()).collect()
}

/// This process's CPUs, and isolated CPUs (kernel parameter) already in the program's masks.
pub(crate) fn seats<'a>(masks: impl IntoIterator<Item = &'a CpuSet>) -> io::Result<CpuSet> {
    let own = CpuSet::of_thread(0)?;
    let set_apart: CpuSet = Cpus::read()?.set_apart.into_iter().collect();
    Ok(with_named(own, &set_apart, masks))
}

fn with_named<'a>(
    own: CpuSet,
    set_apart: &CpuSet,
    masks: impl IntoIterator<Item = &'a CpuSet>,
) -> CpuSet {
    masks.into_iter().fold(own, |all, mask| all.with(&mask.within(set_apart)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(list: &str) -> CpuSet {
        CpuSet::of_list(list).unwrap()
    }

    fn program(masks: &[&[&str]]) -> RunningProgram {
        RunningProgram {
            pids: (1..).take(masks.len()).collect(),
            allowed: set("0-3"),
            masks: masks.iter().map(|masks| masks.iter().map(|mask| set(mask)).collect()).collect(),
            left_out: Vec::new(),
        }
    }

    #[test]
    fn isolated_cpus_are_used_only_if_in_mask() {
        let seats = |masks: &[&str]| {
            let masks: Vec<CpuSet> = masks.iter().map(|mask| set(mask)).collect();
            with_named(set("0-1"), &set("4-7"), &masks)
        };
        assert_eq!(seats(&["4", "0-5"]), set("0-1,4-5"));
        assert_eq!(seats(&["0-3"]), set("0-1"), "CPUs that another mask keeps from this process");
        assert_eq!(seats(&[]), set("0-1"));
    }

    #[test]
    fn bound_program_is_refused() {
        let bound = program(&[&["1", "2"], &["3", "8-9"]]);
        let error = bound.check(set("0-3")).unwrap_err();
        assert_eq!(
            error,
            "no seats can be tried: each thread of the program is bound to one CPU or to none of \
             CPUs 0-3; 'taskset -acp 0-3 1' frees process 1"
        );
        assert_eq!(program(&[&["1"], &["0-1"]]).check(set("0-3")), Ok(()));
        let one = bound.check(set("2")).unwrap_err();
        assert!(one.ends_with("may only use CPU 2; allow it more CPUs"), "{one}");
    }

    #[test]
    fn other_users_program_is_refused_or_left_out() {
        let left_out = vec![8, 9];
        let others = RunningProgram { left_out: left_out.clone(), ..program(&[]) };
        let error = others.check(set("0-3")).unwrap_err();
        let words = "no seats can be tried: processes 8, 9 are another user's; run it as root";
        assert!(error.starts_with(words), "{error}");
        let partly = RunningProgram { left_out: vec![8], ..program(&[&["0-3", "0-3"]]) };
        assert_eq!(partly.check(set("0-3")), Ok(()));
        assert_eq!(partly.remarks(), [AutoRemark::OtherUser(vec![8])]);
    }

    #[test]
    fn bound_threads_and_single_thread_are_remarked() {
        let partly = program(&[&["0-3", "2", "0-1"], &["0-3"]]);
        assert_eq!(partly.remarks(), [AutoRemark::Bound { bound: 2, threads: 4 }]);
        assert_eq!(program(&[&["0-3"], &["2-3"]]).remarks(), []);
        let single = program(&[&["0-3"]]);
        assert_eq!(single.remarks(), [AutoRemark::NoSeats(NoSeats::OneThread)]);
    }
}
