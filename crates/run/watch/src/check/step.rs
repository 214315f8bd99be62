//! A step of a check.

use crate::Finding;
use crate::judge::judged::{CheckText, Judged, changes};
use std::time::Duration;

/// For a computer without bound programs.
const NOTHING_BOUND: &str = "no program is bound; --pid PID, --name GLOB and --all check others";

/// A step of a check.
pub enum CheckStep<'a> {
    /// No program is bound, and none should be.
    NothingBound(Judged<'a>),
    /// The first check.
    First(Judged<'a>),
    /// A later check with unchanged findings.
    Unchanged,
    /// A later check with other findings.
    Again {
        /// The previous findings.
        before: &'a [Finding],
        /// This check.
        judged: Judged<'a>,
        /// The time since the first look.
        gone: Duration,
    },
}

/// How to present a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckView {
    /// Whether each step is also a document, so that its text is whole too.
    pub is_document: bool,
    /// Whether to print text only about faults.
    pub is_quiet: bool,
}

impl CheckStep<'_> {
    /// The judgement for a document; `None` if nothing has changed.
    pub fn judged(&self) -> Option<&Judged<'_>> {
        match self {
            CheckStep::NothingBound(judged)
            | CheckStep::First(judged)
            | CheckStep::Again { judged, .. } => Some(judged),
            CheckStep::Unchanged => None,
        }
    }

    /// The text, if any.
    pub fn text(&self, view: CheckView) -> Option<CheckText> {
        let judged = self.judged()?;
        match self {
            // A script gets its document; a person gets the sentence.
            CheckStep::NothingBound(_) if !view.is_document && !view.is_quiet => {
                let mut text = judged.text();
                text.sentences.insert(0, NOTHING_BOUND.to_owned());
                Some(text)
            }
            CheckStep::Again { before, gone, .. } if !view.is_document => Some(CheckText {
                sentences: vec![format!("after {:.0} s:", gone.as_secs_f64())],
                lines: changes(before, &judged.findings),
            }),
            _ if view.is_quiet && !judged.fails => None,
            _ => Some(judged.text()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Criteria;
    use crate::judge::made::Made;

    fn judged(made: &Made) -> Judged<'_> {
        Judged::new(&made.seating, &made.topology, &Criteria::default())
    }

    const FOR_A_PERSON: CheckView = CheckView { is_document: false, is_quiet: false };
    const QUIET: CheckView = CheckView { is_quiet: true, ..FOR_A_PERSON };
    const DOCUMENT: CheckView = CheckView { is_document: true, ..FOR_A_PERSON };

    #[test]
    fn quiet_check_prints_only_faults() {
        let well = Made::new(2).with("7/7 on 0");
        let step = CheckStep::First(judged(&well));
        assert_eq!(step.text(QUIET), None);
        let sentences = step.text(FOR_A_PERSON).unwrap().sentences;
        assert!(sentences[0].contains("nothing is wrong"), "{sentences:?}");
        let crowded = Made::new(4).with("7/7 on 1: 50+50; 7/8 on 1: 50+50");
        let text = CheckStep::First(judged(&crowded)).text(QUIET).unwrap();
        assert_eq!(text.lines[0].rule, "shared-cpu");
    }

    #[test]
    fn unbound_computer_gets_explanatory_sentence() {
        let made = Made::new(2);
        let step = CheckStep::NothingBound(judged(&made));
        assert_eq!(step.text(FOR_A_PERSON).unwrap().sentences, [NOTHING_BOUND]);
        assert_eq!(step.text(DOCUMENT), Some(CheckText::default()));
        assert_eq!(step.text(QUIET), None);
        assert!(step.judged().is_some());
    }

    #[test]
    fn repeated_check_prints_only_difference() {
        let made = Made::new(4).with("7/7 on 1: 50+50; 7/8 on 1: 50+50");
        let gone = Duration::from_millis(2600);
        let step = CheckStep::Again { before: &[], judged: judged(&made), gone };
        let text = step.text(FOR_A_PERSON).unwrap();
        assert_eq!(text.sentences, ["after 3 s:"]);
        assert_eq!((text.lines[0].word, &*text.lines[0].rule), ("WRONG", "shared-cpu"));
        assert_eq!(step.text(DOCUMENT), Some(judged(&made).text()));
        assert_eq!(CheckStep::Unchanged.text(DOCUMENT), None);
    }
}
