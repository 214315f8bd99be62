//! Rules that seat threads by what they are: `NAME=TASK`.

use crate::mask::Tid;
use crate::seats::Seats;

/// Bytes of a thread's name that the kernel keeps: `TASK_COMM_LEN` less the closing zero (proc_pid_comm(5)).
pub const NAME_BYTES: usize = 15;

/// Which threads a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// Those of this name; `*` stands for any text.
    Named(String),
    /// The thread with this number.
    Tid(Tid),
    /// The threads of the process with this number.
    Pid(Tid),
}

/// A rule: these threads take these tasks, in the order in which they appear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Which threads.
    pub who: Who,
    /// The tasks that they take.
    pub tasks: Vec<usize>,
}

/// Why a rule was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// No `=`, or nothing before it.
    #[error("'{0}' is no rule; write NAME=TASK, such as 'worker*=1-3'")]
    Shape(String),
    /// `tid:` or `pid:` without a number.
    #[error("'{0}' holds no number of a thread or process; write tid:4711=0")]
    Number(String),
    /// A task that there is not.
    #[error("'{rule}' names a task that is not there: {seats}")]
    NoSuchTask {
        /// The rule.
        rule: String,
        /// What there is.
        seats: String,
    },
    /// Two rules for one task.
    #[error("task {0} stands in two rules; a task is one thread's")]
    Twice(usize),
}

impl Rule {
    /// Reads a rule. What stands before the last `=` is a name, or `tid:` or `pid:` with a number.
    ///
    /// # Errors
    /// [`RuleError`], with the rule.
    pub fn parse(text: &str, seats: &Seats) -> Result<Self, RuleError> {
        let shape = || RuleError::Shape(text.to_owned());
        let (who, tasks) = text.rsplit_once('=').filter(|(who, _)| !who.is_empty()).ok_or_else(shape)?;
        let who = Who::parse(who).ok_or_else(|| RuleError::Number(text.to_owned()))?;
        let tasks = seats
            .tasks(tasks)
            .ok_or_else(|| RuleError::NoSuchTask { rule: text.to_owned(), seats: described(seats) })?;
        Ok(Rule { who, tasks })
    }

    /// Reads several rules, which share no task.
    ///
    /// # Errors
    /// [`RuleError`] of the first that is wrong.
    pub fn parse_all(texts: &[String], seats: &Seats) -> Result<Vec<Self>, RuleError> {
        let rules = texts.iter().map(|text| Rule::parse(text, seats)).collect::<Result<Vec<_>, _>>()?;
        let mut seen = std::collections::HashSet::new();
        match rules.iter().flat_map(|rule| &rule.tasks).find(|task| !seen.insert(**task)) {
            Some(task) => Err(RuleError::Twice(*task)),
            None => Ok(rules),
        }
    }
}

impl Who {
    fn parse(text: &str) -> Option<Self> {
        match text.split_once(':') {
            Some(("tid", number)) => number.parse().ok().map(Who::Tid),
            Some(("pid", number)) => number.parse().ok().map(Who::Pid),
            _ => Some(Who::Named(kept(text).to_owned())),
        }
    }

    /// Whether this thread is meant.
    #[must_use]
    pub fn is(&self, tid: Tid, pid: Tid, name: &str) -> bool {
        match self {
            Who::Named(pattern) => fits(pattern.as_bytes(), name.as_bytes()),
            Who::Tid(wanted) => *wanted == tid,
            Who::Pid(wanted) => *wanted == pid,
        }
    }
}

/// As much of a plain name as the kernel keeps; a pattern with `*` is left whole.
fn kept(name: &str) -> &str {
    match name.contains('*') {
        true => name,
        false => &name[..name.floor_char_boundary(NAME_BYTES)],
    }
}

/// Whether a text fits a pattern in which `*` stands for any text. One star is remembered at a time: a later one makes
/// retrying an earlier one pointless.
fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p, t));
            p += 1;
        } else if pattern.get(p) == Some(&text[t]) {
            (p, t) = (p + 1, t + 1);
        } else if let Some((at, from)) = star {
            star = Some((at, from + 1));
            (p, t) = (at + 1, from + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

fn described(seats: &Seats) -> String {
    let named = seats.names.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
    match (seats.cpus.len(), named.as_str()) {
        (0, _) => "there are no tasks".to_owned(),
        (1, "") => "there is task 0 alone".to_owned(),
        (1, named) => format!("there is task 0 alone, called {named}"),
        (count, "") => format!("there are tasks 0 to {}", count - 1),
        (count, named) => format!("there are tasks 0 to {}, called {named}", count - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seats::Beyond;
    use proptest::prelude::*;

    fn seats() -> Seats {
        Seats { cpus: vec![5, 6, 7], names: vec!["a".into(), "b".into(), "c".into()], beyond: Beyond::Leave }
    }

    #[test]
    fn rules_are_read() {
        let rule = |text| Rule::parse(text, &seats());
        assert_eq!(rule("w*=1,c"), Ok(Rule { who: Who::Named("w*".into()), tasks: vec![1, 2] }));
        assert_eq!(rule("x=y=0").unwrap().who, Who::Named("x=y".into()), "names may hold an equals sign");
        assert_eq!(rule("tid:12=a").unwrap().who, Who::Tid(12));
        assert_eq!(rule("pid:12=0-2").unwrap().who, Who::Pid(12));
        assert_eq!(rule("a-name-of-twenty-odd=0").unwrap().who, Who::Named("a-name-of-twent".into()));
    }

    #[test]
    fn refusals_say_what_there_is() {
        let refusal = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            Rule::parse_all(&texts, &seats()).unwrap_err().to_string()
        };
        insta::assert_snapshot!(refusal(&["w"]), @"'w' is no rule; write NAME=TASK, such as 'worker*=1-3'");
        insta::assert_snapshot!(refusal(&["=1"]), @"'=1' is no rule; write NAME=TASK, such as 'worker*=1-3'");
        insta::assert_snapshot!(refusal(&["tid:x=1"]), @"'tid:x=1' holds no number of a thread or process; write tid:4711=0");
        insta::assert_snapshot!(refusal(&["w=3"]), @"'w=3' names a task that is not there: there are tasks 0 to 2, called a, b, c");
        insta::assert_snapshot!(refusal(&["w=0", "v=a"]), @"task 0 stands in two rules; a task is one thread's");
    }

    #[test]
    fn stars_stand_for_any_text() {
        let fits = |pattern: &str, text: &str| super::fits(pattern.as_bytes(), text.as_bytes());
        assert!(fits("worker*", "worker-12") && fits("*", "") && fits("a*b*c", "axxbyybc") && fits("**", "x"));
        assert!(!fits("worker", "worker-12") && !fits("a*b", "axc") && !fits("", "x") && !fits("a*ba", "aba-"));
    }

    proptest! {
        #[test]
        fn fitting_is_what_a_plain_recursion_says(pattern in "[ab*]{0,7}", text in "[ab]{0,9}") {
            fn plain(pattern: &[u8], text: &[u8]) -> bool {
                match pattern.split_first() {
                    None => text.is_empty(),
                    Some((b'*', rest)) => (0..=text.len()).any(|skipped| plain(rest, &text[skipped..])),
                    Some((byte, rest)) => text.first() == Some(byte) && plain(rest, &text[1..]),
                }
            }
            prop_assert_eq!(fits(pattern.as_bytes(), text.as_bytes()), plain(pattern.as_bytes(), text.as_bytes()));
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,24}") {
            let _ = Rule::parse(&text, &seats());
        }
    }
}
