//! Restores masks if `run --auto` or a trial of `advise` is killed.
//!
//! The [`guardian`] receives the lines of a [`SeatLedger`]. After its creator's
//! death it restores the masks of all seated threads and their heirs, until no more appear for a
//! second.
//!
//! On old kernels it stays until missing CPUs are online again ([`owed`](seatmap_os::owed)), also
//! after an orderly end.

use seatmap_os::forgotten::ForgottenCpus;
use seatmap_os::guardian::{self, Guardian, Parting};
use seatmap_os::heirs::SeatLedger;
use seatmap_os::owed::{MaskKernel, OwedMasks, RunningKernel};
use std::io;

/// Looks without an heir before the end, in one second: on a busy computer an inherited mask may
/// become visible late.
const LAST_LOOKS: usize = 8;

/// Dismisses a guardian of masks. If threads lack CPUs, it stays, and they name it as their waiter.
pub fn dismiss(guardian: Guardian, forgotten: &mut [ForgottenCpus]) {
    if forgotten.is_empty() {
        return guardian.end();
    }
    let waiter = guardian.dismiss(forgotten.iter().flat_map(ForgottenCpus::owed));
    forgotten.iter_mut().for_each(|one| one.waiter = waiter);
}

/// Runs a guardian of masks until its work is done.
///
/// # Errors
/// The creator does not read that it is ready.
pub fn serve() -> io::Result<()> {
    let mut ledger = SeatLedger::default();
    let parting = guardian::attend(|line| read(&mut ledger, line))?;
    give_back(parting, ledger).wait();
    Ok(())
}

/// Needs no answer.
fn read(ledger: &mut SeatLedger, line: &str) -> Option<bool> {
    ledger.read_line(line);
    None
}

fn give_back(parting: Parting, ledger: SeatLedger) -> OwedMasks {
    match parting {
        Parting::Death => end_seats(ledger),
        _ => OwedMasks::give(&mut RunningKernel, parting.masks_owed()),
    }
}

fn end_seats(mut ledger: SeatLedger) -> OwedMasks {
    ledger.end_seats();
    let forgotten = RunningKernel.forgotten_cpus();
    let lacking = ledger.threads().filter(|thread| {
        let now = RunningKernel.mask(thread.identity());
        now.is_some_and(|now| {
            now.is_subset(&thread.cpus) && thread.cpus.without(&now).meets(&forgotten)
        })
    });
    let mut owed = OwedMasks::give(&mut RunningKernel, lacking);
    // Without /proc no thread can be found, and there is no recipient for an error.
    let _ = ledger.settle(LAST_LOOKS, |heir| {
        heir.thread.cpus.give(heir.thread.tid)?;
        owed.note(&RunningKernel, heir.thread.tid, &heir.thread.cpus);
        Ok(())
    });
    owed
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_os::heirs::Loan;
    use seatmap_os::owed::ThreadMask;
    use seatmap_os::task::ThreadStat;
    use seatmap_os::{CpuSet, Tid};
    use std::process::{Child, Command};

    fn sleeper() -> Child {
        Command::new("sleep").arg("1000").spawn().unwrap()
    }

    fn mask_of(child: &Child) -> ThreadMask {
        let tid = child.id() as Tid;
        let started_ticks = ThreadStat::of(tid).unwrap().started_ticks;
        ThreadMask { tid, started_ticks, cpus: CpuSet::of_thread(tid).unwrap() }
    }

    fn end(mut child: Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    fn seat_line(mask: &ThreadMask, seat: &CpuSet) -> String {
        let mut ledger = SeatLedger::default();
        ledger.lend(Loan { pid: mask.tid, thread: mask.clone(), seat: seat.clone() });
        ledger.take_news()
    }

    fn after(lines: &str) -> OwedMasks {
        let mut ledger = SeatLedger::default();
        let parting = Parting::read(lines.as_bytes(), io::sink(), |line| read(&mut ledger, line));
        give_back(parting, ledger)
    }

    #[test]
    fn guard_restores_masks_unless_done() {
        let _turn = crate::alone();
        let child = sleeper();
        let mask = mask_of(&child);
        let seat = CpuSet::single(mask.cpus.first().unwrap());
        for (last, expected) in [("", &mask.cpus), ("done\n", &seat)] {
            seat.give(mask.tid).unwrap();
            after(&format!("{}nonsense\n1 2\n{last}", seat_line(&mask, &seat)));
            assert_eq!(CpuSet::of_thread(mask.tid).unwrap(), *expected);
        }
        end(child);
    }

    #[test]
    fn guard_leaves_changed_masks_and_reused_thread_ids() {
        let _turn = crate::alone();
        let child = sleeper();
        let mask = mask_of(&child);
        if mask.cpus.len() < 2 {
            end(child);
            return seatmap_needs::skipped!("there is one CPU");
        }
        let seat = CpuSet::single(mask.cpus.first().unwrap());
        let chosen = CpuSet::single(mask.cpus.last().unwrap());
        chosen.give(mask.tid).unwrap();
        after(&seat_line(&mask, &seat));
        assert_eq!(CpuSet::of_thread(mask.tid).unwrap(), chosen);
        seat.give(mask.tid).unwrap();
        let earlier = ThreadMask { started_ticks: mask.started_ticks - 1, ..mask.clone() };
        // The earlier process with this number had its seats later.
        after(&seat_line(&earlier, &seat).replace("begin ", "begin 9"));
        assert_eq!(CpuSet::of_thread(mask.tid).unwrap(), seat);
        end(child);
    }

    #[test]
    fn guard_restores_only_owed_threads_after_done() {
        let _turn = crate::alone();
        let children = [sleeper(), sleeper()];
        let masks = children.each_ref().map(mask_of);
        let seat = CpuSet::single(masks[0].cpus.first().unwrap());
        masks.iter().for_each(|mask| seat.give(mask.tid).unwrap());
        let seats = masks.each_ref().map(|mask| seat_line(mask, &seat)).concat();
        let lines = format!("{seats}owed\n{}\ndone\n", masks[1]);
        assert!(after(&lines).is_empty(), "all CPUs of their masks are online");
        let now = masks.each_ref().map(|mask| CpuSet::of_thread(mask.tid).unwrap());
        assert_eq!(now, [seat, masks[1].cpus.clone()]);
        children.into_iter().for_each(end);
    }
}
