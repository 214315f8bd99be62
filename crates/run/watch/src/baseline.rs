//! Compares units with their recorded good states.
//!
//! After a restart processes and threads have other numbers, and pools grow and shrink, so a unit
//! is compared with the masks that its threads had together.

use crate::finding::Finding;
use crate::metrics::unit;
use crate::seating::{FORMAT, Seating, WatchedThread};
use seatmap_data::document::{DocumentError, shell_word};
use seatmap_data::words::counted;
use seatmap_os::cpu_list::named;
use seatmap_os::{CpuSet, Tid};
use std::collections::{BTreeMap, BTreeSet};

const RULE: &str = "baseline";

/// Units' good states, from one or several files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnitBaselines {
    units: BTreeMap<String, UnitSeating>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct UnitSeating {
    pids: BTreeSet<Tid>,
    /// The kernel's lists, so equal sets have equal texts.
    masks: BTreeMap<String, Vec<Tid>>,
    /// Of its control groups, if known.
    nodes: BTreeSet<String>,
}

/// Why good states cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum UnitBaselineError {
    /// The text is not a seating.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// No process belongs to a unit or control group.
    #[error(
        "no process in this seating belongs to a unit or control group; write it with 'seatmap \
         check --all -o FILE' on the computer that runs the units"
    )]
    NoUnit,
    /// Two files have the same unit.
    #[error("unit '{0}' has a good state in another file, too; keep one of the two")]
    Twice(String),
}

/// One unit, judged.
pub struct JudgedUnit {
    /// The unit.
    pub unit: String,
    /// Its state, as the label of a metric: `as-it-was`; `differs`; `unknown` without a good state
    /// on file or with unread masks, which is not good; `gone` without a visible process.
    pub state: &'static str,
    /// The finding, unless it is as it was.
    pub finding: Option<Finding>,
}

impl UnitBaselines {
    /// Adds the units of a seating on file.
    ///
    /// # Errors
    /// [`UnitBaselineError`].
    pub fn add(&mut self, text: &str) -> Result<(), UnitBaselineError> {
        let seating: Seating = seatmap_data::document::read(text, FORMAT)?;
        let units = units(&seating);
        if units.is_empty() {
            return Err(UnitBaselineError::NoUnit);
        }
        for (name, state) in units {
            if self.units.contains_key(&name) {
                return Err(UnitBaselineError::Twice(name));
            }
            self.units.insert(name, state);
        }
        Ok(())
    }

    /// Compares each unit with its good state. If all programs were examined, includes missing
    /// units.
    pub fn judge(&self, seating: &Seating, looked_at_all: bool) -> Vec<JudgedUnit> {
        let now = units(seating);
        let gone = self.units.keys().filter(|_| looked_at_all);
        let names: BTreeSet<&String> = now.keys().chain(gone).collect();
        let judged = names.into_iter().map(|name| {
            let (state, finding) = match (now.get(name), self.units.get(name)) {
                (None, _) => {
                    let what =
                        format!("{name} has a good state on file, but no process of it was found");
                    ("gone", Some(Finding::unseen(RULE, what)))
                }
                (Some(now), Some(good)) if !now.masks.is_empty() => match beside(name, now, good) {
                    None => ("as-it-was", None),
                    differs => ("differs", differs),
                },
                (Some(now), good) => ("unknown", Some(unknown(name, now, good.is_some()))),
            };
            JudgedUnit { unit: name.clone(), state, finding }
        });
        judged.collect()
    }
}

fn units(seating: &Seating) -> BTreeMap<String, UnitSeating> {
    let mut units: BTreeMap<String, UnitSeating> = BTreeMap::new();
    let mut of: BTreeMap<Tid, String> = BTreeMap::new();
    for process in &seating.processes {
        let name = unit(process);
        if name.is_empty() {
            continue;
        }
        let own = units.entry(name.clone()).or_default();
        own.pids.insert(process.pid);
        own.nodes.extend(process.group.as_ref().and_then(|group| group.nodes.clone()));
        of.insert(process.pid, name);
    }
    for WatchedThread { pid, tid, mask, .. } in &seating.threads {
        let own = of.get(pid).and_then(|name| units.get_mut(name));
        if let Some(own) = own.filter(|_| !mask.is_empty()) {
            own.masks.entry(mask.clone()).or_default().push(*tid);
        }
    }
    units
}

impl UnitSeating {
    fn cpus(&self) -> CpuSet {
        self.masks.keys().filter_map(|mask| CpuSet::of_list(mask)).flatten().collect()
    }
}

fn unknown(name: &str, now: &UnitSeating, has_good_state: bool) -> Finding {
    let finding = if has_good_state {
        let what = format!("cannot read the affinity masks of the threads of {name}");
        Finding::unseen(RULE, what)
    } else {
        let finding = Finding::unseen(RULE, format!("{name} has no good state on file"));
        finding.advised(way_to_good_state(name))
    };
    Finding { pid: now.pids.first().copied(), ..finding }
}

fn way_to_good_state(name: &str) -> String {
    let word = shell_word(name);
    if name.starts_with('/') {
        format!("if its state is good now, save it: 'seatmap check --cgroup {word} -o FILE'")
    } else {
        format!("if its state is good now, save it: 'seatmap check --unit {word} -o FILE'")
    }
}

/// `None` if it is as it was.
fn beside(name: &str, now: &UnitSeating, good: &UnitSeating) -> Option<Finding> {
    let mut differences = Vec::new();
    let strange: Vec<(&String, &Vec<Tid>)> =
        now.masks.iter().filter(|(mask, _)| !good.masks.contains_key(*mask)).collect();
    let tids: Vec<Tid> = strange.iter().flat_map(|(_, tids)| tids.iter().copied()).collect();
    if let Some((mask, _)) = strange.first() {
        let all: usize = now.masks.values().map(Vec::len).sum();
        let more = if strange.len() > 1 { " and others" } else { "" };
        let could = list(good.masks.keys());
        let threads = counted(all, "thread");
        differences.push(format!(
            "{} of its {threads} may run on {}{more} (masks before: {could})",
            tids.len(),
            named(mask)
        ));
    }
    let lost = good.cpus().without(&now.cpus());
    if !lost.is_empty() {
        differences.push(format!("no thread may run on {} any more", named(&lost.to_string())));
    }
    if !now.nodes.is_empty() && !good.nodes.is_empty() && now.nodes != good.nodes {
        differences.push(format!(
            "its memory comes from nodes {} (before: {})",
            list(&now.nodes),
            list(&good.nodes)
        ));
    }
    if differences.is_empty() {
        return None;
    }
    let what = format!("{name} differs from its good state: {}", differences.join("; "));
    let finding = Finding::wrong(RULE, what).tids(tids).on(&now.cpus());
    let finding = Finding { pid: now.pids.first().copied(), ..finding };
    Some(finding.advised(way_to_good_state(name)))
}

const MOST: usize = 4;

fn list<'a>(lists: impl IntoIterator<Item = &'a String>) -> String {
    let all: Vec<&str> = lists.into_iter().map(String::as_str).collect();
    let more = if all.len() > MOST { " and others" } else { "" };
    format!("{}{more}", all[..all.len().min(MOST)].join(" and "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::{Made, lines};
    use crate::seating::ControlGroup;

    fn seating(redis: [&str; 2], web: &str) -> Seating {
        let mut made = Made::new(8).thread(7, 7, redis[0]).thread(7, 8, redis[1]).thread(9, 9, web);
        for (process, unit) in made.seating.processes.iter_mut().zip(["redis", "web"]) {
            let path = format!("/system.slice/{unit}.service");
            process.group =
                Some(ControlGroup { path, nodes: Some("0".into()), ..ControlGroup::default() });
        }
        made.seating
    }

    fn good(seating: &Seating) -> UnitBaselines {
        let mut good = UnitBaselines::default();
        good.add(&seatmap_data::document::written(seating)).unwrap();
        good
    }

    fn told(judged: Vec<JudgedUnit>) -> String {
        let each = judged.into_iter().map(|one| {
            let found = lines(one.finding.into_iter().collect());
            format!("{} {} {found}", one.unit, one.state)
        });
        each.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn baseline_compares_masks_and_ignores_pids() {
        let good = good(&seating(["0", "1"], "0-7"));
        let mut later = seating(["1", "0"], "0-7");
        later.processes[0].pid = 70;
        later.threads[..2].iter_mut().for_each(|thread| thread.pid = 70);
        assert_eq!(
            told(good.judge(&later, true)),
            "redis.service as-it-was \nweb.service as-it-was "
        );
    }

    #[test]
    fn changed_masks_cpus_and_nodes_are_one_finding() {
        let good = good(&seating(["0", "1"], "0-7"));
        let mut now = seating(["0", "0-1"], "0-3");
        now.processes[1].group.as_mut().unwrap().nodes = Some("0-1".into());
        // CPU 1 is lost.
        let narrower = seating(["0", "0"], "0-7");
        let told = [now, narrower].map(|seating| told(good.judge(&seating, true)));
        for finding in told.iter().flat_map(|told| told.lines()) {
            let faults = seatmap_needs::faults(finding);
            assert!(faults.is_empty(), "{faults:?}");
        }
        assert_eq!(
            told,
            [
                "redis.service differs Wrong 7 [8] on 0,1: redis.service differs from its good state: 1 of its 2 threads may run on CPUs 0,1 (masks before: 0 and 1) -> if its state is good now, save it: 'seatmap check --unit redis.service -o FILE'\nweb.service differs Wrong 9 [9] on 0-3: web.service differs from its good state: 1 of its 1 thread may run on CPUs 0-3 (masks before: 0-7); no thread may run on CPUs 4-7 any more; its memory comes from nodes 0-1 (before: 0) -> if its state is good now, save it: 'seatmap check --unit web.service -o FILE'",
                "redis.service differs Wrong 7 [] on 0: redis.service differs from its good state: no thread may run on CPU 1 any more -> if its state is good now, save it: 'seatmap check --unit redis.service -o FILE'\nweb.service as-it-was "
            ]
        );
    }

    #[test]
    fn unknown_or_unseen_unit_is_not_unchanged() {
        let mut one = seating(["0", "1"], "0-7");
        one.processes.truncate(1);
        one.threads.truncate(2);
        let good = good(&one);
        assert!(good.judge(&Seating::default(), false).is_empty(), "others were not looked at");
        let told = [seating(["0", "1"], "0-7"), seating(["", ""], "0-7"), Seating::default()]
            .map(|seating| told(good.judge(&seating, true)));
        assert_eq!(
            told,
            [
                "redis.service as-it-was \nweb.service unknown Unseen 9 [] on : web.service has no good state on file -> if its state is good now, save it: 'seatmap check --unit web.service -o FILE'",
                "redis.service unknown Unseen 7 [] on : cannot read the affinity masks of the threads of redis.service\nweb.service unknown Unseen 9 [] on : web.service has no good state on file -> if its state is good now, save it: 'seatmap check --unit web.service -o FILE'",
                "redis.service gone Unseen several [] on : redis.service has a good state on file, but no process of it was found"
            ]
        );
    }

    #[test]
    fn baseline_rejects_empty_or_contradictory_files() {
        let mut good = good(&seating(["0", "1"], "0-7"));
        let again = good.add(&seatmap_data::document::written(&seating(["2", "3"], "0-7")));
        assert!(again.unwrap_err().to_string().contains("'redis.service' has a good state"));
        let none =
            good.add(&seatmap_data::document::written(&Made::new(2).with("7/7 on 0").seating));
        assert!(none.unwrap_err().to_string().contains("check --all -o FILE"));
        assert!(good.add("{}").is_err());
    }
}
