//! Rules that seat threads by name, process or number: `NAME=TASKS`, `NAME=CPUS`.

use crate::seats::{Seat, SeatList};
use crate::sets::{self, SetError};
use seatmap_data::document::{visible, whole_number};
use seatmap_os::{CpuList, CpuSet, Tid};
use std::fmt;

/// The bytes of a thread's name: `TASK_COMM_LEN` without the final zero (proc_pid_comm(5)).
pub const NAME_BYTES: usize = 15;

/// A rule's threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// The threads of this name; `*` stands for any text.
    Named(String),
    /// The thread with this number.
    Tid(Tid),
    /// The threads of this process.
    Pid(Tid),
}

impl fmt::Display for Who {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Who::Named(pattern) => write!(out, "'{}'", visible(pattern)),
            Who::Tid(tid) => write!(out, "tid:{tid}"),
            Who::Pid(pid) => write!(out, "pid:{pid}"),
        }
    }
}

/// These threads take these seats, in order of appearance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatRule {
    /// The matched threads.
    pub who: Who,
    /// One thread at a time has a task's seat; any number have a shared one.
    pub seats: Vec<Seat>,
}

/// Reads the sets of CPUs that a member of a rule names.
pub type ReadSets<'a> = &'a mut dyn FnMut(&str) -> Result<Vec<CpuSet>, SetError>;

/// Why a rule is refused.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// The text has no `=`, or nothing before it.
    #[error(
        "'{0}' is not a rule; write NAME=TASKS or NAME=CPUS, such as 'worker*=1-3' or \
         'io*=cpus:14-15'"
    )]
    Shape(String),
    /// `tid:` or `pid:` without a number.
    #[error("'{0}' has no thread or process ID; write tid:4711=0")]
    Number(String),
    /// The task does not exist.
    #[error("'{rule}' names a task that does not exist: {seats}")]
    NoSuchTask {
        /// The rule.
        rule: String,
        /// The existing tasks.
        seats: String,
    },
    /// The set of CPUs does not exist.
    #[error("the rule '{rule}'")]
    Set {
        /// The rule.
        rule: String,
        /// The set's problem.
        source: SetError,
    },
}

impl SeatRule {
    /// Parses a rule: a name or `tid:` or `pid:` with a number, `=`, and tasks of `seats` or sets
    /// as in [`sets`].
    ///
    /// # Errors
    /// [`RuleError`], with the rule.
    pub fn parse(text: &str, seats: &SeatList, read: ReadSets) -> Result<Self, RuleError> {
        let (who, places) = text
            .rsplit_once('=')
            .filter(|(who, _)| !who.is_empty())
            .ok_or_else(|| RuleError::Shape(text.to_owned()))?;
        let who = Who::parse(who).ok_or_else(|| RuleError::Number(text.to_owned()))?;
        let mut rule = SeatRule { who, seats: Vec::new() };
        for member in places.split(',').map(str::trim) {
            rule.seats.extend(if sets::is_set(member) {
                read(member)
                    .map(|sets| sets.into_iter().map(Seat::shared).collect())
                    .map_err(|source| RuleError::Set { rule: text.to_owned(), source })?
            } else {
                tasks(member, seats).ok_or_else(|| RuleError::NoSuchTask {
                    rule: text.to_owned(),
                    seats: described(seats),
                })?
            });
        }
        Ok(rule)
    }
}

fn tasks(member: &str, seats: &SeatList) -> Option<Vec<Seat>> {
    if let Some(task) = seats.task(member) {
        return Some(vec![seats.of(task)?]);
    }
    let numbers = member.parse::<CpuList>().ok()?.0;
    numbers.iter().map(|number| seats.of(seats.numbered(*number as usize)?)).collect()
}

impl Who {
    fn parse(text: &str) -> Option<Self> {
        match text.split_once(':') {
            Some(("tid", number)) => whole_number(number).map(Who::Tid),
            Some(("pid", number)) => whole_number(number).map(Who::Pid),
            _ => Some(Who::Named(kept(text))),
        }
    }

    /// Whether the rule matches this thread.
    pub fn is(&self, tid: Tid, pid: Tid, name: &str) -> bool {
        match self {
            Who::Named(pattern) => fits(pattern.as_bytes(), name.as_bytes(), &b'*', None),
            Who::Tid(named) => *named == tid,
            Who::Pid(named) => *named == pid,
        }
    }
}

/// A pattern with `*` stays whole.
fn kept(name: &str) -> String {
    if name.contains('*') {
        return name.to_owned();
    }
    // The kernel counts bytes. The truncated letter is read as U+FFFD, as here.
    let bytes = &name.as_bytes()[..name.len().min(NAME_BYTES)];
    String::from_utf8_lossy(bytes).into_owned()
}

/// Whether a text fits a pattern in which one sign stands for any text, and another, if any, for
/// one character. Only the last star is remembered, because earlier ones need no retry.
pub fn fits<T: PartialEq>(pattern: &[T], text: &[T], star: &T, one: Option<&T>) -> bool {
    let mut p = 0;
    let mut t = 0;
    let mut last_star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(sign) if sign == star => {
                last_star = Some((p, t));
                p += 1;
            }
            Some(sign) if *sign == text[t] || Some(sign) == one => (p, t) = (p + 1, t + 1),
            _ => {
                let Some((at, from)) = &mut last_star else { return false };
                *from += 1;
                (p, t) = (*at + 1, *from);
            }
        }
    }
    pattern[p..].iter().all(|sign| sign == star)
}

fn described(seats: &SeatList) -> String {
    let named = seats.names.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
    match (seats.own().len(), named.as_str()) {
        (0, _) => "tasks come from --cpus or --plan, and 'NAME=cpus:LIST' names CPUs".to_owned(),
        (1, "") => "there is only task 0".to_owned(),
        (1, named) => format!("there is only task 0, called {named}"),
        (count, "") => format!("there are tasks 0 to {}", count - 1),
        (count, named) => format!("there are tasks 0 to {}, called {named}", count - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seats::Beyond;
    use proptest::prelude::*;

    fn seats() -> SeatList {
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        SeatList { names, ..SeatList::of_cpus(&CpuList(vec![5, 6, 7]), Beyond::Leave) }
    }

    #[test]
    fn rule_without_tasks_names_their_sources() {
        let none = SeatList::of_cpus(&CpuList(Vec::new()), Beyond::Leave);
        let refused = SeatRule::parse("w*=0", &none, &mut |_| Ok(Vec::new())).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "'w*=0' names a task that does not exist: tasks come from --cpus or --plan, and \
             'NAME=cpus:LIST' names CPUs"
        );
    }

    fn read(text: &str) -> Result<SeatRule, RuleError> {
        SeatRule::parse(text, &seats(), &mut |list| {
            sets::parse(list, &|| Err("not to be read here".to_owned()))
        })
    }

    fn taken(rule: &SeatRule) -> Vec<(Option<usize>, Vec<u32>)> {
        rule.seats.iter().map(|seat| (seat.task, seat.cpus.list().0)).collect()
    }

    #[test]
    fn rules_are_parsed() {
        let rule = read("w*=1,c").unwrap();
        assert_eq!(
            (&rule.who, taken(&rule)),
            (&Who::Named("w*".into()), vec![(Some(1), vec![6]), (Some(2), vec![7])])
        );
        assert_eq!(
            read("x=y=0").unwrap().who,
            Who::Named("x=y".into()),
            "names may hold an equals sign"
        );
        assert_eq!(read("tid:12=a").unwrap().who, Who::Tid(12));
        assert_eq!(read("pid:12=0-2").unwrap().who, Who::Pid(12));
        assert_eq!(
            read("a-name-of-twenty-odd=0").unwrap().who,
            Who::Named("a-name-of-twent".into())
        );
        let long = "fourteen-bytesé";
        let as_kept = String::from_utf8_lossy(&long.as_bytes()[..NAME_BYTES]).into_owned();
        assert!(read(&format!("{long}=0")).unwrap().who.is(1, 1, &as_kept), "{as_kept}");
    }

    #[test]
    fn rule_may_name_cpus() {
        let rule = read("io*=cpus:14-15,a").unwrap();
        assert_eq!(taken(&rule), [(None, vec![14, 15]), (Some(0), vec![5])]);
    }

    #[test]
    fn invalid_rules_are_rejected_with_choices() {
        let refusal = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(
            ["w", "=1", "tid:x=1", "w=3", "w=l3:0"].map(refusal),
            [
                "'w' is not a rule; write NAME=TASKS or NAME=CPUS, such as 'worker*=1-3' or 'io*=cpus:14-15'",
                "'=1' is not a rule; write NAME=TASKS or NAME=CPUS, such as 'worker*=1-3' or 'io*=cpus:14-15'",
                "'tid:x=1' has no thread or process ID; write tid:4711=0",
                "'w=3' names a task that does not exist: there are tasks 0 to 2, called a, b, c",
                "the rule 'w=l3:0'",
            ]
        );
    }

    #[test]
    fn stars_match_any_text() {
        let fits = |pattern: &str, text: &str| {
            super::fits(pattern.as_bytes(), text.as_bytes(), &b'*', None)
        };
        assert!(
            fits("worker*", "worker-12")
                && fits("*", "")
                && fits("a*b*c", "axxbyybc")
                && fits("**", "x")
        );
        assert!(
            !fits("worker", "worker-12")
                && !fits("a*b", "axc")
                && !fits("", "x")
                && !fits("a*ba", "aba-")
        );
    }

    proptest! {
        #[test]
        fn matching_agrees_with_plain_recursion(pattern in "[ab*]{0,7}", text in "[ab]{0,9}") {
            fn plain(pattern: &[u8], text: &[u8]) -> bool {
                match pattern.split_first() {
                    None => text.is_empty(),
                    Some((b'*', rest)) => (0..=text.len()).any(|skipped| plain(rest, &text[skipped..])),
                    Some((byte, rest)) => text.first() == Some(byte) && plain(rest, &text[1..]),
                }
            }
            prop_assert_eq!(fits(pattern.as_bytes(), text.as_bytes(), &b'*', None), plain(pattern.as_bytes(), text.as_bytes()));
        }

        #[test]
        fn arbitrary_rule_text_never_panics(text in "\\PC{0,24}") {
            let _ = read(&text);
        }
    }
}
