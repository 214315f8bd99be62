//! `scheduler`: a loaded scheduler that may ignore masks of one CPU.

use super::SeatingFacts;
use super::facts::count;
use crate::finding::Finding;
use seatmap_data::words::agreeing;

pub fn judge(facts: &SeatingFacts) -> Vec<Finding> {
    let Some(name) = &facts.seating.kernel.sched_ext else { return Vec::new() };
    let bound: Vec<_> =
        facts.sitters.iter().filter(|one| one.is_bound && one.seat().is_some()).collect();
    if bound.is_empty() {
        return Vec::new();
    }
    let threads = count(bound.len(), "thread");
    let verb = agreeing(bound.len(), "is", "are");
    let what = format!(
        "the sched_ext scheduler '{name}' is loaded, and {threads} {verb} bound to one CPU: some \
         such schedulers keep bound threads waiting"
    );
    vec![Finding::remark("scheduler", what).tids(bound.iter().map(|sitter| sitter.tid))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn loaded_scheduler_is_reported_only_with_pinned_threads() {
        let mut made = Made::new(4).with("7/7 on 1");
        assert_eq!(made.told(judge), "");
        made.seating.kernel.sched_ext = Some("rusty".to_owned());
        assert_eq!(
            made.told(judge),
            "Remark several [7] on : the sched_ext scheduler 'rusty' is loaded, and 1 thread is bound to one CPU: some such schedulers keep bound threads waiting"
        );
        made.seating.threads[0].mask = "0-3".to_owned();
        assert_eq!(made.told(judge), "");
    }
}
