//! `late-binding`: threads created before their process was bound, which kept the old mask.

use super::facts::{SeatingFacts, Sitter, cpus, listed};
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
    facts.programs().filter_map(|(process, sitters)| of_program(process, &sitters)).collect()
}

fn of_program(process: &Process, sitters: &[&Sitter]) -> Option<Finding> {
    let main =
        sitters.iter().find(|sitter| sitter.tid() == process.pid).filter(|main| main.is_bound)?;
    let (wide, narrow): (Vec<&Sitter>, Vec<&Sitter>) = sitters
        .iter()
        .partition(|sitter| sitter.mask != main.mask && main.mask.is_subset(&sitter.mask));
    // A program that gives each thread its own CPU has chosen which ones may roam.
    let is_one_binding = narrow.iter().all(|sitter| sitter.mask.is_subset(&main.mask));
    let first =
        wide.first().filter(|_| is_one_binding && wide.iter().all(|sitter| !sitter.is_bound))?;
    let youngest_bound =
        narrow.iter().map(|sitter| sitter.thread.age_s).fold(f64::INFINITY, f64::min);
    // Without younger threads, only the main thread was bound.
    let are_older = wide
        .iter()
        .all(|sitter| sitter.tid() != process.pid && sitter.thread.age_s >= youngest_bound);
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
        .grave_if(wide.iter().any(|sitter| sitter.is_busy() || sitter.thread.run_s >= WORKED_S))
        .of(process.pid);
    let finding = finding
        .tids(wide.iter().map(|sitter| sitter.tid()))
        .on(&first.mask)
        .at_most(first.thread.age_s);
    let share = 100.0 * wide.len() as f64 / sitters.len() as f64;
    let finding = finding.measured(share, "percent of the threads");
    let mended = SeatingRemedy::bind_all(&main.mask, process.pid);
    let busy = sitters.iter().filter(|sitter| sitter.is_busy()).count();
    // A binding that makes threads share a CPU would only cause the next finding.
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
        let made =
            Made::new(4).thread(7, 7, "0-1").busy(7, 8, "0-3", 50.0, 0.0).thread(7, 9, "0-1");
        let found = judge(&made.facts());
        assert!(found.len() == 1 && found[0].is_wrong() && found[0].tids == [8], "{found:?}");
        assert_eq!(found[0].remedy.as_deref(), Some("taskset -acp 0,1 7"));
        let main_alone = Made::new(4).thread(7, 7, "0").busy(7, 8, "0-3", 50.0, 0.0);
        assert!(judge(&main_alone.facts())[0].is_wrong());
    }

    #[test]
    fn remedy_never_crowds_busy_threads_on_cpu() {
        let made = Made::new(4)
            .thread(7, 7, "0")
            .busy(7, 8, "0-3", 50.0, 0.0)
            .busy(7, 9, "0-3", 50.0, 0.0);
        let found = judge(&made.facts());
        assert_eq!((found.len(), &found[0].remedy), (1, &None));
        let advice = found[0].advice.as_deref().unwrap();
        assert!(advice.contains("2 busy threads share CPU 0"), "{advice}");
    }

    #[test]
    fn idle_threads_with_old_mask_are_remark() {
        let made = Made::new(4).thread(7, 7, "0-1").thread(7, 8, "0-3");
        let found = judge(&made.facts());
        assert!(found.len() == 1 && !found[0].is_wrong(), "{found:?}");
    }

    #[test]
    fn individually_seated_threads_are_healthy() {
        let made = Made::new(4).thread(7, 7, "0").busy(7, 8, "0-3", 50.0, 0.0).thread(7, 9, "1");
        assert_eq!(judge(&made.facts()), []);
        let whole = Made::new(4).busy(7, 7, "0-1", 50.0, 0.0).busy(7, 8, "0-1", 50.0, 0.0);
        assert_eq!(judge(&whole.facts()), []);
        let unbound = Made::new(4).busy(7, 7, "0-3", 50.0, 0.0).busy(7, 8, "1", 50.0, 0.0);
        assert_eq!(judge(&unbound.facts()), [], "a program may bind its workers");
    }

    #[test]
    fn thread_unbound_later_is_healthy() {
        let made =
            Made::new(4).thread(7, 7, "0-1").thread(7, 8, "0-1").busy(7, 9, "0-3", 50.0, 0.0);
        assert_eq!(judge(&made.facts()), [], "the widest is the youngest");
    }
}
