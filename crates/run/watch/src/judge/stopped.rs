//! `stopped`: programs that do not run, so that nothing of where they run could be seen.

use super::{Facts, named_process};
use crate::finding::Finding;
use crate::remedy::Remedy;

/// Processes all of whose threads are stopped, by a signal (`T`) or a debugger (`t`).
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let stopped = facts.programs().filter(|(_, sitters)| {
        !sitters.is_empty()
            // T: by a signal; t: by a debugger (proc_pid_stat(5)).
            && sitters.iter().all(|sitter| ['T', 't'].contains(&sitter.thread.state))
    });
    let findings = stopped.map(|(process, sitters)| {
        let what = format!(
            "{} is stopped: its masks could be checked, but not where it runs",
            named_process(process)
        );
        let finding =
            Finding::remark("stopped", what).of(process.pid).since(facts.seating.watched_s);
        finding
            .tids(sitters.iter().map(|sitter| sitter.tid()))
            .mended_by(Remedy::go_on(process.pid))
    });
    findings.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn a_stopped_program_is_told() {
        let found = judge(&Made::new(2).thread(7, 7, "0-1").state('T').facts());
        assert_eq!(found[0].remedy.as_deref(), Some("kill -CONT 7"));
        assert!(found.len() == 1 && !found[0].is_wrong());
        assert_eq!(
            judge(&Made::new(2).thread(7, 7, "0-1").state('T').thread(7, 8, "0-1").facts()),
            []
        );
    }
}
