//! `cell`: reserved CPUs, and other programs' masks before, during and after.

use super::answer::{RunningCommand, ask, document, numbers, start, start_program};
use super::figures::cells_unchanged;
use super::kernel::{self, KernelFacts};
use super::threads::told;
use super::verbs::Question;
use crate::list::{self, CpuNumbers};
use crate::trial::{VerbFailure, ensure};

pub const QUESTIONS: [Question; 4] = [
    Question { verb: "cell", text: "everybody else leaves, and comes back", ask: cell_by_name },
    Question { verb: "cell", text: "CPUs of Seatmap's choice", ask: cell_by_count },
    Question { verb: "cell", text: "a CPU that is offline", ask: cell_offline },
    Question { verb: "cell", text: "more CPUs than there are", ask: cell_of_all },
];

fn last_core(kernel: &KernelFacts) -> CpuNumbers {
    kernel.usable_parts("core").last().cloned().unwrap_or_default()
}

/// A program without restrictions, to check that it leaves the cell's CPUs and returns.
fn bystander() -> Result<RunningCommand, VerbFailure> {
    let mut program =
        start_program("seatmap-lab", &["guest", "threads", "2", "--seconds", "9000"])?;
    program.wait_for("thread", 2)?;
    Ok(program)
}

fn cell_by_name(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let bystander = bystander()?;
    let result = cell_life(kernel, &last_core(kernel));
    bystander.kill();
    let _ = ask(&["cell", "destroy", "lab"]);
    result
}

fn cell_life(kernel: &KernelFacts, cpus: &CpuNumbers) -> Result<String, VerbFailure> {
    let before = kernel::all_masks();
    let list = list::show(cpus);
    let made = document(&["cell", "create", "lab", "--cpus", &list, "--untested", "--json"])?;
    let meanwhile = kernel::all_masks();
    let guardian = made["guardian"].as_u64();
    // The record names the programs that stay; on version 1, the first process stays.
    let left = made["processes_left"].to_string();
    let inside = meanwhile.iter().find(|((pid, _), mask)| {
        let existed = before.contains_key(&(*pid, *pid));
        existed
            && !left.contains(&format!("\"{pid} "))
            && Some(u64::from(*pid)) != guardian
            && mask.iter().any(|cpu| cpus.contains(cpu))
    });
    ensure(inside.is_none(), || format!("a cell of {list}, and {inside:?} may run there: {made}"))?;
    let count = cpus.len().to_string();
    let run = ["cell", "run", "lab", "-q", "--", "seatmap-lab", "guest", "threads", &count];
    let answer = ask(&run)?.done()?;
    let threads = told(&answer.out);
    let is_inside = threads.len() == cpus.len()
        && threads.iter().all(|thread| thread.cpus.is_subset(cpus) && !thread.cpus.is_empty());
    ensure(is_inside, || format!("a program of the cell {list}: {}", answer.show()))?;
    ask(&["cell", "verify", "lab"])?.done()?;
    let shown = document(&["cell", "show", "lab", "--json"])?;
    let named: CpuNumbers = numbers(&shown["cpus"]).into_iter().collect();
    ensure(named == *cpus, || format!("{list} is shown as {named:?}"))?;
    let heirs = Heirs::start(cpus)?;
    destroyed(kernel)?;
    cells_unchanged(&before)?;
    heirs.are_free(kernel)?;
    let left: CpuNumbers = kernel.usable().difference(cpus).copied().collect();
    ensure(!left.is_empty(), || "the cell had all CPUs".to_owned())?;
    Ok(format!("{} on CPUs {list}, masks as before", made["backend"]))
}

struct Heirs {
    free: RunningCommand,
    /// A program restricted to CPU 0 and a CPU of the cell.
    bound: RunningCommand,
    chosen: CpuNumbers,
}

impl Heirs {
    fn start(cell: &CpuNumbers) -> Result<Self, VerbFailure> {
        let chosen: CpuNumbers = std::iter::once(0).chain(cell.first().copied()).collect();
        let list = list::show(&chosen);
        let sleeper = ["seatmap-lab", "guest", "threads", "1", "--seconds", "900"];
        let mut free = start_program(sleeper[0], &sleeper[1..])?;
        let mut words = vec!["-c", &list];
        words.extend(sleeper);
        let mut bound = start_program("taskset", &words)?;
        free.wait_for("thread", 1)?;
        bound.wait_for("thread", 1)?;
        Ok(Self { free, bound, chosen })
    }

    /// The unrestricted program can run everywhere afterwards, and the other has its mask again.
    /// Linux before 6.2 forgets that mask.
    fn are_free(self, kernel: &KernelFacts) -> Result<(), VerbFailure> {
        let own = kernel::mask(std::process::id(), std::process::id()).unwrap_or_default();
        let free = kernel::mask(self.free.pid(), self.free.pid()).unwrap_or_default();
        let bound = kernel::mask(self.bound.pid(), self.bound.pid()).unwrap_or_default();
        self.free.kill();
        self.bound.kill();
        ensure(kernel.running(&free) == kernel.running(&own), || {
            format!("a program that was started meanwhile stays on {}", list::show(&free))
        })?;
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        ensure(bound == self.chosen || release.starts_with("6.1."), || {
            format!(
                "a mask {} that was chosen meanwhile is {}",
                list::show(&self.chosen),
                list::show(&bound)
            )
        })
    }
}

/// Linux before 6.3 removes offline CPUs from all masks that programs set; the output must then
/// contain the remedy.
fn destroyed(kernel: &KernelFacts) -> Result<(), VerbFailure> {
    let answer = ask(&["cell", "destroy", "lab"])?;
    let forgets =
        !kernel.offline.is_empty() && answer.err.contains("drops offline CPUs from masks");
    if forgets && answer.err.contains("taskset -pc") {
        let words = "Linux before 6.3 takes CPUs that are offline out of masks, and the cell says \
                     how to put them back";
        return Err(VerbFailure::Refused(words.to_owned()));
    }
    answer.done().map(drop)
}

fn cell_by_count(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let before = kernel::all_masks();
    let made = document(&["cell", "create", "lab", "--count", "2", "--untested", "--json"])?;
    let cpus: CpuNumbers = numbers(&made["cpus"]).into_iter().collect();
    let verified = ask(&["cell", "verify", "lab"])?;
    destroyed(kernel)?;
    ensure(verified.code == Some(0), || verified.show())?;
    ensure(cpus.len() == 2 && cpus.is_subset(&kernel.online), || format!("{made}"))?;
    cells_unchanged(&before)?;
    Ok(format!("CPUs {}", list::show(&cpus)))
}

fn cell_offline(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let Some(cpu) = kernel.first_offline() else { return Ok("none is offline".to_owned()) };
    let name = cpu.to_string();
    let answer = ask(&["cell", "create", "lab", "--cpus", &name, "--untested"])?;
    let sentence = answer.refuses(&[&format!("CPU {cpu}"), "line"]);
    if sentence.is_err() {
        let _ = ask(&["cell", "destroy", "lab"]);
    }
    Ok(format!("refused: {}", sentence?))
}

fn cell_of_all(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let before = kernel::all_masks();
    let list = list::show(&kernel.online);
    let answer = start(&["cell", "create", "lab", "--cpus", &list, "--untested"])?.end();
    answer.is_sane()?;
    if answer.code == Some(0) {
        let _ = ask(&["cell", "destroy", "lab"]);
    }
    cells_unchanged(&before)?;
    ensure(answer.code == Some(2), || format!("all CPUs are asked for: {}", answer.show()))?;
    Ok(format!("refused: {}", answer.err.trim()))
}
