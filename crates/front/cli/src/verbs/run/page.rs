//! The messages, the table and the files of `seatmap run`.

use super::RunArgs;
use seatmap_console::here::host_name;
use seatmap_console::{CliError, CliResult, Destination, output};
use seatmap_launch::neighbours::SeatNeighbours;
use seatmap_launch::{
    AttachOutcome, CpuFit, Ending, Executable, LaunchError, Report, RunListener, SeatAllocator,
    SeatingRemark, asks,
};
use seatmap_os::Tid;
use seatmap_os::mempolicy::MemoryPolicyError;
use seatmap_report::{counted, seating};
use serde::Serialize;
use std::path::Path;

/// The files for the seating, with absolute paths for the background process.
pub struct SeatingOutputs {
    report: Option<Destination>,
    page: Option<Destination>,
    program: String,
    quiet: bool,
}

impl SeatingOutputs {
    pub fn new(typed: &RunArgs) -> CliResult<Self> {
        Ok(SeatingOutputs {
            report: destination(typed.report.as_deref())?,
            page: destination(typed.html.as_deref())?,
            program: named(typed),
            quiet: typed.quiet,
        })
    }

    fn write(&self, seating: &Report) -> CliResult {
        show(seating, self.quiet);
        self.report.as_ref().map_or(Ok(()), |file| write(seating, file))?;
        let remarks = [seating.losses(), seating.notes()].concat();
        self.page.as_ref().map_or(Ok(()), |file| self.write_page(seating, remarks, file))
    }

    /// Replaces an earlier run's file at the start, in case the supervising process is killed. A
    /// pipe only gets the end.
    fn begin(&self, seating: &mut dyn FnMut() -> Report) {
        let [report, page] = [&self.report, &self.page]
            .map(|file| file.as_ref().filter(|file| matches!(file, Destination::File(_))));
        if report.is_none() && page.is_none() {
            return;
        }
        let seating = seating();
        // The write at the end reports an unwritable file.
        let _ = report.map(|file| write(&seating, file));
        let remark = "This is the start of the run; its end was not recorded.".to_owned();
        let _ = page.map(|file| self.write_page(&seating, vec![remark], file));
    }

    fn write_page(&self, seating: &Report, remarks: Vec<String>, file: &Destination) -> CliResult {
        let page = seating::html(&self.program, &host_name(), remarks, &seating.threads);
        // In the background, the shell has its terminal back.
        file.write_silently(&page)
    }
}

/// Errors name the path as given.
fn destination(path: Option<&Path>) -> CliResult<Option<Destination>> {
    let Some(path) = path else { return Ok(None) };
    refuse_if!(path == Path::new("-"), "stdout belongs to the program; give a file name");
    // Checks the given path, for the error's words, but keeps the absolute one.
    output::beside(Some(path), None, "--report")?;
    Destination::new(&std::path::absolute(path).map_err(CliError::input)?).map(Some)
}

pub fn named(typed: &RunArgs) -> String {
    let words: Vec<_> = typed.command.iter().map(|word| word.to_string_lossy()).collect();
    let pids: Vec<_> = typed.pid.iter().map(|pid| format!("process {pid}")).collect();
    if pids.is_empty() { words.join(" ") } else { pids.join(", ") }
}

/// Reports on a program, and its failure, from the process that seats its threads.
pub struct Voice {
    pub files: SeatingOutputs,
    pub program: String,
    pub has_plan: bool,
}

impl RunListener for Voice {
    fn begun(&mut self, report: &mut dyn FnMut() -> Report) {
        self.files.begin(report);
    }

    fn started(&mut self, program: Tid, supervisor: Tid) {
        if !self.files.quiet {
            // Plural: "runs" is a verb here.
            output::tell(&format!(
                "{} runs as process {program}; process {supervisor} pins its threads",
                self.program
            ));
        }
    }

    fn shares(&mut self, neighbours: &SeatNeighbours) {
        // Even with --quiet, because such a seat slows both programs.
        output::tell_each(neighbours.sentences());
    }

    /// An unwritable report makes a successful program fail.
    fn seated(&mut self, report: &Report, ending: Ending) -> Ending {
        // A plan has a seat for each thread; --once and rules leave some unseated on purpose.
        let is_short = self.files.quiet && self.has_plan && report.ordered_tasks > 0;
        if let Some(line) = report.left_over().filter(|_| is_short) {
            output::tell(&line);
        }
        // Without --start-at the first thread has a row even if it has no seat.
        if report.threads.is_empty() {
            output::tell("no thread was pinned: no program matching --start-at was executed");
        }
        match (self.files.write(report), ending) {
            (Err(error), Ending::Exited(0)) => error.ending(),
            // The program's own failure stays the exit code.
            (Err(error), ending) => {
                error.report();
                ending
            }
            (Ok(()), ending) => ending,
        }
    }

    fn failed(&mut self, error: LaunchError) -> Ending {
        CliError::from(error).ending()
    }
}

/// Reports on seated or moved processes that were already running.
pub fn attached(outcome: AttachOutcome, allow_unseated: bool, files: &SeatingOutputs) -> CliResult {
    if let Some(report) = &outcome.report {
        files.write(report)?;
    }
    output::tell_each(outcome.neighbours.sentences());
    for (moved, nodes) in &outcome.moved {
        // Pages that did not move are a problem.
        if !files.quiet || !moved.is_complete() {
            output::tell(&moved.sentence(nodes));
        }
    }
    if !files.quiet {
        output::tell_each(&outcome.children);
    }
    if let Some(undo) = outcome.undo.filter(|_| !files.quiet) {
        output::tell(&format!("to undo this: {undo}"));
    }
    if let Some(error) = outcome.failure {
        return Err(error.into());
    }
    let Some(report) = outcome.report else { return Ok(()) };
    let threads = counted(report.created, "thread");
    match (report.troubled().count(), report.unseated) {
        (0, 0) => Ok(()),
        (0, _) if allow_unseated => Ok(()),
        (0, count) => Err(CliError::work(format!(
            "{count} of {threads} {} no seat; --allow-unseated accepts that",
            if count == 1 { "has" } else { "have" }
        ))),
        (count, _) => {
            Err(CliError::work(format!("{count} of {threads} could not be pinned and verified")))
        }
    }
}

pub fn remark(remarks: &[SeatingRemark], quiet: bool) {
    for remark in remarks {
        match remark {
            SeatingRemark::Share(_) | SeatingRemark::LeftOut(_) if quiet => {}
            SeatingRemark::Moved(moved) => {
                output::tell(&format!("{}; make the plan again", moved.sentence()));
            }
            SeatingRemark::Share(line) | SeatingRemark::LeftOut(line) => output::tell(line),
            SeatingRemark::OneMemory(wish) => {
                let reason = MemoryPolicyError::NoNuma;
                output::tell(&format!("--memory {wish} has no effect: {reason}"));
            }
        }
    }
}

/// Reports the CPUs that the program sees, and the means.
pub fn remark_on_fit(fit: Option<&CpuFit>, quiet: bool) {
    output::tell_each(fit.filter(|_| !quiet).map(CpuFit::sentences).into_iter().flatten());
}

/// Reports settings of a program that do not fit its seats; grave ones even with --quiet.
pub fn warn_of_settings(program: &Executable, seating: &SeatAllocator, widens: bool, quiet: bool) {
    for disagreement in asks::disagreements(program, seating, widens) {
        if disagreement.is_grave || !quiet {
            output::tell(&disagreement.what);
        }
    }
}

/// Writes the table and its notes to stderr, because stdout is the program's; problems even with
/// --quiet.
pub fn show(report: &Report, quiet: bool) {
    if !quiet {
        if !report.is_without_seats() {
            output::tell_page(&seating::page(&report.threads, report.created));
        }
        output::tell_each(report.notes());
    }
    output::tell_each(report.troubles());
}

pub fn write(report: &impl Serialize, destination: &Destination) -> CliResult {
    let document = output::OfMachine { document: report, machine: &host_name() };
    destination.write_silently(&seatmap_data::document::written(&document))
}
