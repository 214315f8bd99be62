//! The result of `seatmap check` on paper and on the screen.

use crate::args::Check;
use seatmap_console::error::CliError;
use seatmap_console::output::{self, Destination};
use seatmap_console::view::{self, ColourChoice};
use seatmap_report::terminal::Colour;
use seatmap_watch::judge::judged::{Judged, changes};
use seatmap_watch::{CheckStep, Finding, Verdict};
use std::time::Duration;

/// Where the result goes, and how.
pub(super) struct Page<'a> {
    typed: &'a Check,
    file: Option<Destination>,
    coloured: bool,
}

impl<'a> Page<'a> {
    pub(super) fn new(typed: &'a Check, colour: ColourChoice) -> Result<Self, CliError> {
        let file = output::file(typed.output.as_deref(), typed.json)?;
        let coloured = view::colour(colour, &std::io::stdout()) != Colour::None;
        Ok(Page { typed, file, coloured })
    }

    /// Shows a step of the check.
    pub(super) fn show(&self, step: &CheckStep) -> Result<(), CliError> {
        let is_document = self.typed.json || self.file.is_some();
        match step {
            CheckStep::First(judged) => self.tell(judged),
            // A script gets its document, empty or not; a person gets the sentence.
            CheckStep::NothingBound(judged) if is_document || self.typed.quiet => self.tell(judged),
            CheckStep::NothingBound(_) => output::print(
                "no program is bound; --pid PID, --name GLOB and --all check others\n",
            ),
            CheckStep::Again { before, judged, gone } => {
                let changes = changes(before, &judged.findings, self.coloured);
                if changes.is_empty() {
                    Ok(())
                } else if is_document {
                    self.tell(judged)
                } else {
                    output::print(&after(*gone, &changes))
                }
            }
        }
    }

    /// The whole result, on paper and on the screen.
    fn tell(&self, judged: &Judged) -> Result<(), CliError> {
        if let Some(file) = &self.file {
            file.write(&seatmap_document::written(judged))?;
        }
        if self.typed.json {
            return output::json(judged);
        }
        let is_quiet = self.typed.quiet && !judged.verdict.fails(self.typed.strict);
        if is_quiet || self.file == Some(Destination::Stdout) {
            return Ok(());
        }
        output::print(&judged.table(self.coloured))
    }

    /// Exit code 1, with a line that says why, where the check fails.
    pub(super) fn end(&self, verdict: Verdict, findings: &[Finding]) -> Result<(), CliError> {
        if !verdict.fails(self.typed.strict) {
            return Ok(());
        }
        let wrong = findings.iter().filter(|finding| finding.is_wrong()).count();
        Err(CliError::work(match wrong {
            // With `--watch` the worst verdict counts, though all may be well again at the end.
            0 if verdict == Verdict::Wrong => {
                "something was wrong while the programs were watched".to_owned()
            }
            0 => "not everything could be seen, and --strict asks for that; run it as root"
                .to_owned(),
            1 => "1 thing is wrong".to_owned(),
            count => format!("{count} things are wrong"),
        }))
    }
}

fn after(gone: Duration, changes: &str) -> String {
    format!("after {:.0} s:\n{changes}", gone.as_secs_f64())
}
