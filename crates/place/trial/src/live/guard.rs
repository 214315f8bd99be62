//! The process that restores masks if this one is killed.
//!
//! It reads a pipe whose other end closes with this process. The lines come from a [`SeatLedger`];
//! each names a seat before its mask is set. At the end of the pipe the guard restores the masks of
//! all seated threads and their heirs, until no more appear for a second; unless the last line says
//! that nothing is left to do.
//!
//! Old kernels remove offline CPUs from restored masks. Then the guard stays until these CPUs are
//! online again ([`owed`](seatmap_os::owed)), after a kill and after an orderly end.

use seatmap_os::Tid;
use seatmap_os::forgotten::ForgottenCpus;
use seatmap_os::heirs::SeatLedger;
use seatmap_os::owed::{MaskKernel, OwedMasks, RunningKernel, ThreadMask};
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

const DONE: &str = "done";

/// The guard is responsible only for the threads listed below this line.
const OWED: &str = "owed";

/// The guard ends after this many looks without an heir, in one second: on a busy computer a new
/// thread may be stopped between inheriting a mask and becoming visible.
const LAST_LOOKS: usize = 8;

/// A running guard.
#[derive(Debug)]
pub struct GuardProcess {
    child: Child,
    pipe: Option<ChildStdin>,
}

impl GuardProcess {
    /// Starts a guard: this command must call [`stand`].
    ///
    /// # Errors
    /// The system cannot start a process.
    pub fn begin(command: &mut Command) -> io::Result<Self> {
        // Its own process group, because Ctrl-C must not end the guard.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut child = command.spawn()?;
        let pipe = child.stdin.take();
        Ok(GuardProcess { child, pipe })
    }

    /// Sends the ledger's new lines, before the seats in them are set.
    ///
    /// # Errors
    /// The guard has exited.
    pub fn tell(&mut self, news: &str) -> io::Result<()> {
        self.pipe.as_mut().map_or(Ok(()), |pipe| pipe.write_all(news.as_bytes()))
    }

    /// Ends the guard if all masks are complete. Otherwise it runs on until it could restore them,
    /// and `forgotten` gets its process ID.
    pub fn dismiss(mut self, forgotten: &mut [ForgottenCpus]) {
        let Some(mut pipe) = self.pipe.take() else { return };
        if forgotten.is_empty() {
            // The guard may have exited.
            let _ = writeln!(pipe, "{DONE}");
            drop(pipe);
            let _ = self.child.wait();
            return;
        }
        let owed = forgotten.iter().flat_map(ForgottenCpus::owed);
        let lines: String = owed.map(|thread| line(&thread)).collect();
        // This is one write, because the guard forgets threads that it does not receive.
        if pipe.write_all(format!("{OWED}\n{lines}").as_bytes()).is_ok() {
            let pid = self.child.id() as Tid;
            forgotten.iter_mut().for_each(|one| one.waiter = Some(pid));
        }
    }
}

fn line(mask: &ThreadMask) -> String {
    format!("{mask}\n")
}

/// Waits for the end of the pipe, and restores the masks.
pub fn stand(pipe: impl BufRead) {
    give_back(pipe).wait();
}

/// Restores the masks at the end of the pipe; returns the threads that lack CPUs.
fn give_back(pipe: impl BufRead) -> OwedMasks {
    let mut ledger = SeatLedger::default();
    let mut left_to_us: Option<Vec<ThreadMask>> = None;
    for text in pipe.lines().map_while(Result::ok) {
        match (text.as_str(), &mut left_to_us) {
            (DONE, _) => return OwedMasks::default(),
            (OWED, _) => left_to_us = Some(Vec::new()),
            (_, Some(threads)) => threads.extend(text.parse()),
            (_, None) => ledger.read_line(&text),
        }
    }
    match left_to_us {
        Some(threads) => OwedMasks::give(&mut RunningKernel, threads),
        // The writer was killed.
        None => end_seats(ledger),
    }
}

fn end_seats(mut ledger: SeatLedger) -> OwedMasks {
    ledger.end_seats();
    let forgotten = RunningKernel.forgotten_cpus();
    let lacking = ledger.threads().filter(|thread| {
        let now = RunningKernel.mask(thread.tid, thread.started_ticks);
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
    use seatmap_os::CpuSet;
    use seatmap_os::heirs::Loan;
    use seatmap_os::task::ThreadStat;

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

    #[test]
    fn masks_come_back_at_the_end_of_the_pipe_unless_all_is_well() {
        let child = sleeper();
        let mask = mask_of(&child);
        let seat = CpuSet::single(mask.cpus.first().unwrap());
        for (last, expected) in [("", &mask.cpus), ("done\n", &seat)] {
            seat.give(mask.tid).unwrap();
            stand(format!("{}nonsense\n1 2\n{last}", seat_line(&mask, &seat)).as_bytes());
            assert_eq!(CpuSet::of_thread(mask.tid).unwrap(), *expected);
        }
        end(child);
    }

    #[test]
    fn a_mask_that_was_changed_since_and_another_thread_of_the_same_number_are_left_alone() {
        let child = sleeper();
        let mask = mask_of(&child);
        if mask.cpus.len() < 2 {
            end(child);
            return seatmap_needs::skipped!("there is one CPU");
        }
        let seat = CpuSet::single(mask.cpus.first().unwrap());
        let chosen = CpuSet::single(mask.cpus.last().unwrap());
        chosen.give(mask.tid).unwrap();
        stand(seat_line(&mask, &seat).as_bytes());
        assert_eq!(CpuSet::of_thread(mask.tid).unwrap(), chosen);
        seat.give(mask.tid).unwrap();
        let earlier = ThreadMask { started_ticks: mask.started_ticks - 1, ..mask.clone() };
        // The earlier thread's seats start after this thread did.
        stand(seat_line(&earlier, &seat).replace("begin ", "begin 9").as_bytes());
        assert_eq!(CpuSet::of_thread(mask.tid).unwrap(), seat);
        end(child);
    }

    #[test]
    fn threads_that_are_owed_are_all_that_is_left_to_do() {
        let children = [sleeper(), sleeper()];
        let masks = children.each_ref().map(mask_of);
        let seat = CpuSet::single(masks[0].cpus.first().unwrap());
        masks.iter().for_each(|mask| seat.give(mask.tid).unwrap());
        let seats = masks.each_ref().map(|mask| seat_line(mask, &seat)).concat();
        let text = format!("{seats}{OWED}\n{}", line(&masks[1]));
        assert!(give_back(text.as_bytes()).is_empty(), "all CPUs of their masks are online");
        let now = masks.each_ref().map(|mask| CpuSet::of_thread(mask.tid).unwrap());
        assert_eq!(now, [seat, masks[1].cpus.clone()]);
        children.into_iter().for_each(end);
    }
}
