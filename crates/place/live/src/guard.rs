//! The process that gives masks back if this one is killed.
//!
//! A killed process cannot clean up, so another one waits for its end: it reads a pipe whose other
//! end dies with this process. Each line names a thread, when it started, and its own mask. At the
//! end of the pipe all threads that still are the same get these back, unless the last line says
//! that all is well. The guard has a process group of its own, so that Ctrl-C does not reach it.

use crate::masks::Mask;
use seatmap_os::task::Task;
use seatmap_os::{CpuList, CpuSet, Tid};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

/// The last line of a guard that has nothing to do.
const DONE: &str = "done";

/// A guard that waits.
#[derive(Debug)]
pub struct Guard {
    child: Child,
    pipe: Option<ChildStdin>,
}

impl Guard {
    /// Starts a guard: this command becomes one by [`stand`].
    ///
    /// # Errors
    /// The system starts no process.
    pub fn begin(command: &mut Command) -> io::Result<Self> {
        // A group of its own: a Ctrl-C at the terminal must not end the process that puts things
        // right.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut child = command.spawn()?;
        let pipe = child.stdin.take();
        Ok(Guard { child, pipe })
    }

    /// Tells the guard of threads before anything is done to them.
    ///
    /// # Errors
    /// The guard is gone.
    pub fn tell(&mut self, masks: &[Mask]) -> io::Result<()> {
        let lines: String = masks.iter().map(line).collect();
        self.pipe.as_mut().map_or(Ok(()), |pipe| pipe.write_all(lines.as_bytes()))
    }

    /// Ends the guard without anything for it to do.
    pub fn dismiss(mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            // A guard that is gone needs no word.
            let _ = writeln!(pipe, "{DONE}");
        }
        let _ = self.child.wait();
    }
}

fn line(mask: &Mask) -> String {
    format!("{} {} {}\n", mask.tid, mask.started_ticks, mask.cpus.list())
}

/// Waits for the end of the pipe, and gives the masks back.
pub fn stand(pipe: impl BufRead) {
    let mut masks: BTreeMap<Tid, Mask> = BTreeMap::new();
    for text in pipe.lines().map_while(Result::ok) {
        if text == DONE {
            return;
        }
        if let Some(mask) = read(&text) {
            // Numbers come again: the last line of one is of the latest thread.
            masks.insert(mask.tid, mask);
        }
    }
    // The pipe ended without a word: its other end was killed.
    masks.values().for_each(give_back);
}

fn read(line: &str) -> Option<Mask> {
    let mut words = line.split(' ');
    let tid = words.next()?.parse().ok()?;
    let started_ticks = words.next()?.parse().ok()?;
    let cpus: CpuSet = words.next()?.parse::<CpuList>().ok()?.0.into_iter().collect();
    Some(Mask { tid, started_ticks, cpus })
}

fn give_back(mask: &Mask) {
    // Numbers come again, and another thread's mask is its own.
    if Task::of(mask.tid).is_some_and(|task| task.started_ticks == mask.started_ticks) {
        // A thread that ends now needs no mask.
        let _ = mask.cpus.give(mask.tid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("1000").spawn().unwrap()
    }

    fn mask_of(child: &Child) -> Mask {
        let tid = child.id() as Tid;
        let started_ticks = Task::of(tid).unwrap().started_ticks;
        Mask { tid, started_ticks, cpus: CpuSet::of_thread(tid).unwrap() }
    }

    fn end(mut child: Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn masks_come_back_at_the_end_of_the_pipe_unless_all_is_well() {
        let child = sleeper();
        let mask = mask_of(&child);
        let seat = CpuSet::single(mask.cpus.first().unwrap());
        for (last, expected) in [("", &mask.cpus), ("done\n", &seat)] {
            seat.give(mask.tid).unwrap();
            stand(format!("{}nonsense\n1 2\n{last}", line(&mask)).as_bytes());
            assert_eq!(CpuSet::of_thread(mask.tid).unwrap(), *expected);
        }
        end(child);
    }

    #[test]
    fn another_thread_of_the_same_number_is_left_alone() {
        let child = sleeper();
        let mask = mask_of(&child);
        let seat = CpuSet::single(mask.cpus.first().unwrap());
        seat.give(mask.tid).unwrap();
        stand(line(&Mask { started_ticks: mask.started_ticks + 1, ..mask.clone() }).as_bytes());
        assert_eq!(CpuSet::of_thread(mask.tid).unwrap(), seat);
        end(child);
    }

    #[test]
    fn lines_are_read_as_they_are_written() {
        let mask = Mask { tid: 7, started_ticks: 8, cpus: [0, 1, 2, 9].into_iter().collect() };
        assert_eq!(read(line(&mask).trim_end()), Some(mask));
    }
}
