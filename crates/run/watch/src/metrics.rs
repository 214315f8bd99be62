//! A check as metrics, for monitors of many computers.
//!
//! The text is OpenMetrics 1.0 with gauges only, so that readers of Prometheus's older text format,
//! as in node_exporter's text files, also accept it. A program is identified by its systemd unit,
//! or else by its control group, and by its name.

pub mod server;

use crate::baseline::JudgedUnit;
use crate::finding::{Finding, Gravity};
use crate::judge::judged::Judged;
use crate::seating::{Process, Seating};
use seatmap_data::document::visible;
use seatmap_data::words::joined;
use seatmap_os::Tid;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

/// The text's media type.
pub const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A unit, and a program.
type Owner = (String, String);

/// An unknown figure is `None`, because a zero would mean that all is well.
#[derive(Default)]
struct Sums {
    threads: usize,
    off_seat: Option<BTreeSet<Tid>>,
    wrong: usize,
    far_memory_percent: Option<f64>,
    interrupts_per_second: Option<f64>,
    throttled_periods: Option<u64>,
}

/// The metrics of a check.
pub fn text(judged: &Judged) -> String {
    let owners = owners(judged.seating);
    let mut text = String::new();
    of_owners(&mut text, &sums(judged, &owners));
    of_rules(&mut text, &judged.findings, &owners);
    of_units(&mut text, &judged.units);
    of_the_check(&mut text, judged);
    text.push_str("# EOF\n");
    text
}

fn owners(seating: &Seating) -> HashMap<Tid, Owner> {
    let owner = |process: &Process| (process.pid, (unit(process), process.name.clone()));
    seating.processes.iter().map(owner).collect()
}

pub(crate) fn unit(process: &Process) -> String {
    let Some(group) = &process.group else { return String::new() };
    let mut folders = group.path.rsplit('/');
    folders.find(|folder| is_unit(folder)).unwrap_or(&group.path).to_owned()
}

/// Whether a control group's name is a unit's.
pub(crate) fn is_unit(name: &str) -> bool {
    [".service", ".scope", ".slice"].iter().any(|ending| name.ends_with(ending))
}

fn sums(judged: &Judged, owners: &HashMap<Tid, Owner>) -> BTreeMap<Owner, Sums> {
    let mut sums: BTreeMap<Owner, Sums> = BTreeMap::new();
    for process in &judged.seating.processes {
        let sum = sums.entry(owner_of(Some(process.pid), owners)).or_default();
        sum.threads += process.threads;
        let throttled = process.group.as_ref().and_then(|group| group.throttled_watched);
        sum.throttled_periods = sum.throttled_periods.max(throttled);
        if process.memory.is_some() {
            sum.far_memory_percent.get_or_insert(0.0);
        }
    }
    for seat in &judged.seats {
        sums.entry(owner_of(Some(seat.pid), owners)).or_default().off_seat.get_or_insert_default();
    }
    for finding in &judged.findings {
        let sum = sums.entry(owner_of(finding.pid, owners)).or_default();
        sum.wrong += usize::from(finding.is_wrong());
        let size = finding.measure.as_ref().map_or(0.0, |measure| measure.value);
        match finding.rule.as_str() {
            "expect" => sum.off_seat.get_or_insert_default().extend(&finding.tids),
            "memory-local" => {
                let largest = sum.far_memory_percent.get_or_insert(0.0);
                *largest = largest.max(size);
            }
            "no-irq" => *sum.interrupts_per_second.get_or_insert(0.0) += size,
            _ => {}
        }
    }
    sums
}

fn owner_of(pid: Option<Tid>, owners: &HashMap<Tid, Owner>) -> Owner {
    pid.and_then(|pid| owners.get(&pid)).cloned().unwrap_or_default()
}

fn of_owners(text: &mut String, sums: &BTreeMap<Owner, Sums>) {
    type Figure = fn(&Sums) -> Option<f64>;
    const FAMILIES: [(&str, &str, Figure); 6] = [
        ("threads", "Threads of the programs.", |sum| Some(sum.threads as f64)),
        ("threads_off_seat", "Threads that are not on their expected seats.", |sum| {
            sum.off_seat.as_ref().map(|tids| tids.len() as f64)
        }),
        ("wrong", "Findings that are wrong.", |sum| Some(sum.wrong as f64)),
        (
            "far_memory_ratio",
            "Share of memory on other NUMA nodes than the threads', of the worst process, if read.",
            |sum| sum.far_memory_percent.map(|percent| percent / 100.0),
        ),
        (
            "seat_interrupts_per_second",
            "Interrupts of devices on the seats, under the rule no-irq.",
            |sum| sum.interrupts_per_second,
        ),
        (
            "throttled_periods",
            "Periods with a used-up quota of CPU time during the check.",
            |sum| sum.throttled_periods.map(|periods| periods as f64),
        ),
    ];
    for (name, help, figure) in FAMILIES {
        begin(text, name, help);
        for (owner, value) in sums.iter().filter_map(|(owner, sum)| Some((owner, figure(sum)?))) {
            sample(text, name, &owner_labels(owner), value);
        }
    }
}

fn of_rules(text: &mut String, findings: &[Finding], owners: &HashMap<Tid, Owner>) {
    let mut counts: BTreeMap<(Owner, String, &str), usize> = BTreeMap::new();
    for finding in findings {
        let owner = owner_of(finding.pid, owners);
        let gravity = match finding.gravity {
            Gravity::Wrong => "wrong",
            Gravity::Unseen => "unseen",
            Gravity::Remark => "remark",
        };
        *counts.entry((owner, finding.rule.clone(), gravity)).or_default() += 1;
    }
    begin(text, "findings", "Findings by rule and gravity: wrong, unseen or remark.");
    for ((owner, rule, gravity), count) in counts {
        let mut labels = owner_labels(&owner);
        labels.extend([("rule", rule), ("gravity", gravity.to_owned())]);
        sample(text, "findings", &labels, count as f64);
    }
}

fn of_units(text: &mut String, units: &[JudgedUnit]) {
    let help = "1 for the state of each unit compared with its good state on file: as-it-was, \
                differs, unknown (no good state, or unreadable), or gone.";
    begin(text, "baseline", help);
    for one in units {
        let labels = [("unit", one.unit.clone()), ("state", one.state.to_owned())];
        sample(text, "baseline", &labels, 1.0);
    }
}

fn of_the_check(text: &mut String, judged: &Judged) {
    let figures = [
        ("unseen", "Facts that the check could not read.", judged.missed.len() as f64),
        ("failed", "1 if the check fails, otherwise 0.", f64::from(judged.fails)),
        ("programs", "Checked processes.", judged.seating.processes.len() as f64),
        ("watched_seconds", "How long the check watched.", judged.seating.watched_s),
        ("timestamp_seconds", "End of the check, since 1970.", judged.seating.taken_at_s),
    ];
    for (name, help, value) in figures {
        begin(text, name, help);
        sample(text, name, &[], value);
    }
}

fn begin(text: &mut String, name: &str, help: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "# TYPE seatmap_check_{name} gauge");
    let _ = writeln!(text, "# HELP seatmap_check_{name} {help}");
}

fn owner_labels((unit, program): &Owner) -> Vec<(&'static str, String)> {
    vec![("unit", unit.clone()), ("program", program.clone())]
}

fn sample(text: &mut String, name: &str, labels: &[(&str, String)], value: f64) {
    let words = labels.iter().map(|(label, word)| format!("{label}=\"{}\"", escaped(word)));
    let words = joined(words, ",");
    let labels = if words.is_empty() { words } else { format!("{{{words}}}") };
    let _ = writeln!(text, "seatmap_check_{name}{labels} {value}");
}

/// Hidden characters become visible, because terminals may show metrics.
fn escaped(word: &str) -> String {
    visible(word).replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UnitBaselines;
    use crate::judge::Criteria;
    use crate::judge::made::Made;
    use crate::seating::ControlGroup;

    fn judged(made: &Made) -> Judged<'_> {
        Judged::new(&made.seating, &made.topology, &Criteria::default())
    }

    /// The samples.
    fn told(judged: &Judged) -> String {
        joined(text(judged).lines().filter(|line| !line.starts_with("# ")), "\n")
    }

    fn in_group(mut made: Made, path: &str) -> Made {
        let path = path.to_owned();
        made.seating.processes[0].group = Some(ControlGroup { path, ..ControlGroup::default() });
        made
    }

    #[test]
    fn findings_are_counted_by_unit_and_rule() {
        let made = Made::new(4).with("7/7 on 1: 50+50; 7/8 on 1: 50+50");
        let mut made = in_group(made, "/system.slice/redis.service/inner");
        let process = &mut made.seating.processes[0];
        process.name = "a \"b\" \\ c\nd\u{1b}[2J".to_owned();
        process.group.as_mut().unwrap().throttled_watched = Some(3);
        assert_eq!(
            told(&judged(&made)),
            r#"seatmap_check_threads{unit="redis.service",program="a \"b\" \\ c\\nd\\u{1b}[2J"} 2
seatmap_check_wrong{unit="redis.service",program="a \"b\" \\ c\\nd\\u{1b}[2J"} 1
seatmap_check_throttled_periods{unit="redis.service",program="a \"b\" \\ c\\nd\\u{1b}[2J"} 3
seatmap_check_findings{unit="redis.service",program="a \"b\" \\ c\\nd\\u{1b}[2J",rule="shared-cpu",gravity="wrong"} 1
seatmap_check_unseen 0
seatmap_check_failed 1
seatmap_check_programs 1
seatmap_check_watched_seconds 0.5
seatmap_check_timestamp_seconds 0"#
        );
    }

    #[test]
    fn baseline_state_is_exported_per_unit() {
        let made = in_group(Made::new(4).with("7/7 on 1"), "/system.slice/redis.service");
        let mut good = UnitBaselines::default();
        good.add(&seatmap_data::document::written(&made.seating)).unwrap();
        let told = [(good, false), (UnitBaselines::default(), true)].map(|(good, strict)| {
            told(&judged(&made).beside(good.judge(&made.seating, true), strict))
        });
        assert_eq!(
            told,
            [
                r#"seatmap_check_threads{unit="redis.service",program="program"} 1
seatmap_check_wrong{unit="redis.service",program="program"} 0
seatmap_check_baseline{unit="redis.service",state="as-it-was"} 1
seatmap_check_unseen 0
seatmap_check_failed 0
seatmap_check_programs 1
seatmap_check_watched_seconds 0.5
seatmap_check_timestamp_seconds 0"#,
                r#"seatmap_check_threads{unit="redis.service",program="program"} 1
seatmap_check_wrong{unit="redis.service",program="program"} 0
seatmap_check_findings{unit="redis.service",program="program",rule="baseline",gravity="unseen"} 1
seatmap_check_baseline{unit="redis.service",state="unknown"} 1
seatmap_check_unseen 0
seatmap_check_failed 1
seatmap_check_programs 1
seatmap_check_watched_seconds 0.5
seatmap_check_timestamp_seconds 0"#
            ]
        );
    }

    #[test]
    fn clean_programs_export_zeros_and_families_are_unique() {
        let made = Made::new(2).with("7/7 on 0");
        assert_eq!(
            text(&judged(&made)),
            r#"# TYPE seatmap_check_threads gauge
# HELP seatmap_check_threads Threads of the programs.
seatmap_check_threads{unit="",program="program"} 1
# TYPE seatmap_check_threads_off_seat gauge
# HELP seatmap_check_threads_off_seat Threads that are not on their expected seats.
# TYPE seatmap_check_wrong gauge
# HELP seatmap_check_wrong Findings that are wrong.
seatmap_check_wrong{unit="",program="program"} 0
# TYPE seatmap_check_far_memory_ratio gauge
# HELP seatmap_check_far_memory_ratio Share of memory on other NUMA nodes than the threads', of the worst process, if read.
# TYPE seatmap_check_seat_interrupts_per_second gauge
# HELP seatmap_check_seat_interrupts_per_second Interrupts of devices on the seats, under the rule no-irq.
# TYPE seatmap_check_throttled_periods gauge
# HELP seatmap_check_throttled_periods Periods with a used-up quota of CPU time during the check.
# TYPE seatmap_check_findings gauge
# HELP seatmap_check_findings Findings by rule and gravity: wrong, unseen or remark.
# TYPE seatmap_check_baseline gauge
# HELP seatmap_check_baseline 1 for the state of each unit compared with its good state on file: as-it-was, differs, unknown (no good state, or unreadable), or gone.
# TYPE seatmap_check_unseen gauge
# HELP seatmap_check_unseen Facts that the check could not read.
seatmap_check_unseen 0
# TYPE seatmap_check_failed gauge
# HELP seatmap_check_failed 1 if the check fails, otherwise 0.
seatmap_check_failed 0
# TYPE seatmap_check_programs gauge
# HELP seatmap_check_programs Checked processes.
seatmap_check_programs 1
# TYPE seatmap_check_watched_seconds gauge
# HELP seatmap_check_watched_seconds How long the check watched.
seatmap_check_watched_seconds 0.5
# TYPE seatmap_check_timestamp_seconds gauge
# HELP seatmap_check_timestamp_seconds End of the check, since 1970.
seatmap_check_timestamp_seconds 0
# EOF
"#
        );
    }
}
