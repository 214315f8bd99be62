//! The CPUs that words name, how many threads fit them, and why.

use crate::page::{Page, PageSection, Table, cells, section};
use crate::words::{agreeing, counted};
use seatmap_launch::count::CpuCount;
use seatmap_launch::named::{KnownWord, NamedCpus};

/// The list alone, for scripts.
pub fn list(named: &NamedCpus) -> Page {
    Page::of(section("CPUs", vec![named.list()]))
}

/// The number of threads alone, for scripts.
pub fn count(named: &NamedCpus) -> Page {
    Page::of(section("Threads", vec![named.count.to_string()]))
}

/// The list, the limits on threads, what other programs compute, and the words that apply to the
/// machine.
pub fn why(named: &NamedCpus) -> Page {
    let list = format!("{}: {}", counted(named.cpus.len(), "CPU"), named.list());
    let mut sentences = vec![list];
    sentences.extend(named.limits.iter().flat_map(|limits| limited(limits, named.count)));
    let others = Table::new("what programs count | | CPUs:>");
    let others = others
        .rows(named.others.iter().map(|other| cells![other.rule, other.programs, other.count]));
    Page {
        sections: vec![section("CPUs", sentences), section("Other programs", others)],
        ..Page::default()
    }
    .words(&named.known)
}

impl Page {
    /// Adds the words for CPUs of a machine, if any.
    pub fn words(mut self, known: &[KnownWord]) -> Self {
        self.sections.push(known_words(known));
        self
    }
}

/// The words for CPUs of a machine; empty without any.
pub(crate) fn known_words(known: &[KnownWord]) -> PageSection {
    let words = Table::new("word | CPUs | distinguished by");
    let words = words.rows(known.iter().map(|known| {
        let by = known.by.as_deref().unwrap_or_default();
        [&*known.word, &known.cpus, by]
    }));
    section("Words for CPUs", words)
}

fn limited(limits: &CpuCount, threads: usize) -> Vec<String> {
    let file = limits.quota_file.as_deref().unwrap_or_default();
    let quota = match limits.quota {
        Some(quota) => format!("The quota in {file} grants {quota:.2} CPUs."),
        None => "No quota limits the CPU time.".to_owned(),
    };
    let unseen = limits.unseen.as_ref().map(|reason| format!("Other quotas may exist: {reason}."));
    let fit = agreeing(threads, "fits", "fit");
    let fit = format!("{} {fit}.", counted(threads, "thread"));
    let mask = format!("The mask has {} of {}.", limits.mask, counted(limits.online, "online CPU"));
    [Some(mask), Some(quota), unseen, Some(fit)].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::machine::{CoreKind, Pu, Topology};
    use seatmap_launch::sets::ComputerCpus;

    fn named(words: Option<&str>) -> NamedCpus {
        let kind = |os| if os < 4 { CoreKind::Performance } else { CoreKind::Efficiency };
        let pus = (0..6).map(|os| Pu { os, kind: Some(kind(os)), ..Pu::default() }).collect();
        let computer = ComputerCpus::of_machine(Topology { pus }, None);
        let limits = CpuCount {
            mask: 6,
            quota: Some(2.5),
            quota_file: Some("/sys/fs/cgroup/app/cpu.max".to_owned()),
            online: 8,
            possible: 8,
            ..CpuCount::default()
        };
        NamedCpus::of("here", words, &computer, Some(limits)).unwrap()
    }

    #[test]
    fn scripts_get_one_line() {
        assert_eq!(list(&named(Some("kind:performance"))).text(None), "0-3\n");
        assert_eq!(count(&named(None)).text(None), "3\n");
    }

    #[test]
    fn why_says_what_limits_and_what_others_count() {
        insta::assert_snapshot!(why(&named(None)).text(None));
    }
}
