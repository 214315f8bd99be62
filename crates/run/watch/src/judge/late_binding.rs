//! `late-binding`: threads created before their process was bound, which kept the old mask.

use super::facts::{SeatingFacts, Sitter, cpus, listed, youngest_s};
use crate::finding::Finding;
use crate::remedy::SeatingRemedy;
use crate::seating::Process;

/// A thread with this CPU time has worked, even if it does not now.
const WORKED_S: f64 = 0.5;

/// Reports a bound main thread with unbound threads, if none is bound elsewhere.
pub fn judge(facts: &SeatingFacts) -> Vec<Finding> {
    // If the seats are known, `expect` reports more exactly.
    if facts.expected.is_some() {
        return Vec::new();
    }
    facts.of_programs(of_program)
}

fn of_program(process: &Process, sitters: &[&Sitter]) -> Option<Finding> {
    let main =
        sitters.iter().find(|sitter| sitter.tid == process.pid).filter(|main| main.is_bound)?;
    let (wide, narrow): (Vec<&Sitter>, Vec<&Sitter>) = sitters
        .iter()
        .partition(|sitter| sitter.mask != main.mask && main.mask.is_subset(&sitter.mask));
    // A program that gives each thread its own CPU has chosen which ones may roam.
    let is_one_binding = narrow.iter().all(|sitter| sitter.mask.is_subset(&main.mask));
    let first =
        wide.first().filter(|_| is_one_binding && wide.iter().all(|sitter| !sitter.is_bound))?;
    let youngest_bound = youngest_s(&narrow);
    // Without younger threads, only the main thread was bound.
    let are_older =
        wide.iter().all(|sitter| sitter.tid != process.pid && sitter.age_s >= youngest_bound);
    if narrow.len() > 1 && !are_older || main.is_as_planned {
        return None;
    }
    let kept = if wide.len() == 1 { "keeps its old mask" } else { "keep their old masks" };
    let what = format!(
        "the main thread was bound to {}, but {} {kept}, {}: a binding after the start moves only \
         one thread",
        cpus(&main.mask),
        listed(&wide),
        cpus(&first.mask)
    );
    let finding = Finding::remark("late-binding", what)
        .grave_if(wide.iter().any(|sitter| sitter.is_busy() || sitter.run_s >= WORKED_S))
        .about(&wide)
        .on(&first.mask);
    let share = 100.0 * wide.len() as f64 / sitters.len() as f64;
    let finding = finding.measured(share, "percent of the threads");
    let mended = SeatingRemedy::bind_all(&main.mask, process.pid);
    let busy = sitters.iter().filter(|sitter| sitter.is_busy()).count();
    // A binding that makes threads share a CPU would cause another finding.
    Some(if busy > main.mask.len() {
        finding.advised(format!(
            "'{}' binds them, too, but then {busy} busy threads share {}: name a CPU for each of \
             them",
            mended.command,
            cpus(&main.mask)
        ))
    } else {
        finding.mended_by(mended)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn workers_with_old_mask_are_found() {
        let made = Made::new(4).with("7/7 on 0-1; 7/8 on 0-3: 50+0; 7/9 on 0-1");
        assert_eq!(
            made.told(judge),
            "Wrong 7 [8] on 0-3: the main thread was bound to CPUs 0,1, but thread 8 'worker' keeps its old mask, CPUs 0-3: a binding after the start moves only one thread -> taskset -acp 0,1 7"
        );
        let main_alone = Made::new(4).with("7/7 on 0; 7/8 on 0-3: 50+0");
        assert_eq!(
            main_alone.told(judge),
            "Wrong 7 [8] on 0-3: the main thread was bound to CPU 0, but thread 8 'worker' keeps its old mask, CPUs 0-3: a binding after the start moves only one thread -> taskset -acp 0 7"
        );
    }

    #[test]
    fn remedy_never_crowds_busy_threads_on_cpu() {
        let made = Made::new(4).with("7/7 on 0; 7/8 on 0-3: 50+0; 7/9 on 0-3: 50+0");
        let found = judge(&made.facts());
        assert_eq!((found.len(), &found[0].remedy), (1, &None));
        let advice = found[0].advice.as_deref().unwrap();
        assert!(advice.contains("2 busy threads share CPU 0"), "{advice}");
    }

    #[test]
    fn idle_threads_with_old_mask_are_remark() {
        let made = Made::new(4).with("7/7 on 0-1; 7/8 on 0-3");
        assert_eq!(
            made.told(judge),
            "Remark 7 [8] on 0-3: the main thread was bound to CPUs 0,1, but thread 8 'worker' keeps its old mask, CPUs 0-3: a binding after the start moves only one thread -> taskset -acp 0,1 7"
        );
    }

    #[test]
    fn individually_seated_threads_are_healthy() {
        let made = Made::new(4).with("7/7 on 0; 7/8 on 0-3: 50+0; 7/9 on 1");
        assert_eq!(made.told(judge), "");
        let whole = Made::new(4).with("7/7 on 0-1: 50+0; 7/8 on 0-1: 50+0");
        assert_eq!(whole.told(judge), "");
        let unbound = Made::new(4).with("7/7 on 0-3: 50+0; 7/8 on 1: 50+0");
        assert_eq!(unbound.told(judge), "", "a program may bind its workers");
    }

    #[test]
    fn thread_unbound_later_is_healthy() {
        let made = Made::new(4).with("7/7 on 0-1; 7/8 on 0-1; 7/9 on 0-3: 50+0");
        assert_eq!(made.told(judge), "", "the widest is the youngest");
    }
}
