//! `seatmap check`.

mod standard;

use crate::args::Check;
use crate::verbs::place::ranks;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::Interrupt;
use seatmap_console::output::{self, Destination};
use seatmap_console::view::ColourChoice;
use seatmap_console::{here, view};
use seatmap_machine::Topology;
use seatmap_report::terminal::Colour;
use seatmap_watch::judge::told::{Judged, changes};
use seatmap_watch::seating::FORMAT;
use seatmap_watch::{Choice, ChoiceError, Finding, Seating, Verdict, WatchOptions, Watcher};
use std::time::{Duration, Instant};

pub(super) use standard::Standard;

/// How often a long wait looks whether it was asked to stop.
const PAUSE: Duration = Duration::from_millis(50);

/// Checks where the threads of living programs sit. Exit code 1 means that something is wrong.
pub fn run(typed: &Check, colour: ColourChoice) -> Result<(), CliError> {
    let file = typed.output.as_deref().map(Destination::new).transpose()?;
    if typed.json && file == Some(Destination::Stdout) {
        return Err(CliError::input("--json and -o - both print on stdout; give -o a file's name"));
    }
    let standard =
        Standard::new(&typed.rules, typed.expect.as_deref(), typed.any_machine, typed.strict)?;
    let coloured = view::colour(colour, &std::io::stdout()) != Colour::None;
    let checker = Checker { typed, file, standard, topology: topology()?, coloured };
    match typed.watch {
        None => checker.once(),
        Some(every) => checker.again_and_again(every),
    }
}

/// The whole computer, as far as this process's control group shows it. Its own mask hides nothing.
pub(super) fn topology() -> Result<Topology, CliError> {
    seatmap_host::topology::of_cpuset().map_err(CliError::work)
}

/// A check: the programs, the rules, and the place for the result.
struct Checker<'a> {
    typed: &'a Check,
    file: Option<Destination>,
    standard: Standard,
    topology: Topology,
    coloured: bool,
}

impl Checker<'_> {
    /// `None`: no program is bound, and no other was chosen.
    fn begin(&self) -> Result<Option<Watcher>, CliError> {
        let options = WatchOptions {
            window: self.typed.seconds,
            trace: self.typed.trace,
            every_cpu: true,
            ..WatchOptions::default()
        };
        let choice = match choice(self.typed) {
            // Of a job, its ranks on this computer, bound or not.
            Choice::Bound if self.standard.is_of_ranks() => match ranks::living()? {
                pids if pids.is_empty() => return Ok(None),
                pids => Choice::Processes { pids, with_children: false },
            },
            choice => choice,
        };
        match Watcher::begin(&choice, &options) {
            Ok(watcher) => Ok(Some(watcher)),
            Err(ChoiceError::Empty(_)) if choice == Choice::Bound => Ok(None),
            Err(error @ ChoiceError::Proc(_)) => Err(CliError::work(error)),
            Err(error) => Err(CliError::input(error)),
        }
    }

    fn judged<'s>(&self, seating: &'s Seating) -> Result<Judged<'s>, CliError> {
        Ok(Judged::new(seating, &self.topology, &self.standard.of(seating)?))
    }

    fn once(&self) -> Result<(), CliError> {
        let Some(mut watcher) = self.begin()? else { return self.tell_of_nothing() };
        watcher.watch(self.typed.seconds);
        let seating = watcher.seating();
        // A /proc that hides other users may show nothing at all, which is told.
        if seating.processes.is_empty() && !self.typed.all {
            return Err(CliError::input(seating.why_empty()));
        }
        let judged = self.judged(&seating)?;
        self.tell(&judged)?;
        self.end(&judged.findings, judged.verdict)
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

    /// A computer on which nobody has bound a program is as asked, unless there should be one.
    fn tell_of_nothing(&self) -> Result<(), CliError> {
        let seating =
            Seating { format: FORMAT.to_owned(), machine: here::host_name(), ..Seating::default() };
        if self.standard.has_seats() {
            let judged = self.judged(&seating)?;
            self.tell(&judged)?;
            return self.end(&judged.findings, judged.verdict);
        }
        if self.typed.json || self.typed.quiet || self.file.is_some() {
            self.tell(&self.judged(&seating)?)
        } else {
            output::print("no program is bound; --pid PID, --name GLOB and --all check others\n")
        }
    }

    /// Exit code 1, with a line that says why, where the check fails.
    fn end(&self, findings: &[Finding], verdict: Verdict) -> Result<(), CliError> {
        if !verdict.fails(self.typed.strict) {
            return Ok(());
        }
        let wrong = findings.iter().filter(|finding| finding.is_wrong()).count();
        Err(CliError::work(match wrong {
            0 if verdict == Verdict::Wrong => {
                "something was wrong while the programs were watched".to_owned()
            }
            0 => "not everything could be seen, and --strict asks for that; run it as root"
                .to_owned(),
            1 => "1 thing is wrong".to_owned(),
            count => format!("{count} things are wrong"),
        }))
    }

    /// Checks until Ctrl-C, or until the programs have ended. The worst verdict decides.
    fn again_and_again(&self, every: Duration) -> Result<(), CliError> {
        let interrupt = Interrupt::listen()?;
        let Some(mut watcher) = self.begin()? else { return self.tell_of_nothing() };
        let began = Instant::now();
        watch(&mut watcher, self.typed.seconds, &interrupt);
        let seating = watcher.seating();
        let judged = self.judged(&seating)?;
        self.tell(&judged)?;
        let mut worst = judged.verdict;
        let mut findings = judged.findings;
        while !interrupt.asked() {
            watch(&mut watcher, every, &interrupt);
            let seating = watcher.seating();
            if interrupt.asked() || seating.processes.is_empty() {
                break;
            }
            let judged = self.judged(&seating)?;
            self.tell_changes(&findings, &judged, began.elapsed())?;
            worst = worst.max(judged.verdict);
            findings = judged.findings;
        }
        self.end(&findings, worst)
    }

    fn tell_changes(
        &self,
        before: &[Finding],
        judged: &Judged,
        gone: Duration,
    ) -> Result<(), CliError> {
        let changes = changes(before, &judged.findings, self.coloured);
        if changes.is_empty() {
            return Ok(());
        }
        if self.typed.json || self.file.is_some() {
            return self.tell(judged);
        }
        output::print(&format!("after {:.0} s:\n{changes}", gone.as_secs_f64()))
    }
}

/// Waits, with short looks, until the time is over or Ctrl-C comes.
fn watch(watcher: &mut Watcher, time: Duration, interrupt: &Interrupt) {
    let began = Instant::now();
    while let Some(left) =
        time.checked_sub(began.elapsed()).filter(|left| !left.is_zero() && !interrupt.asked())
    {
        watcher.watch(left.min(PAUSE));
    }
}

/// The processes that the user chose; without a choice, those that are bound.
fn choice(typed: &Check) -> Choice {
    if !typed.pid.is_empty() {
        return Choice::Processes { pids: typed.pid.clone(), with_children: typed.children };
    }
    match (&typed.cgroup, &typed.unit, &typed.name) {
        (Some(path), _, _) => Choice::Group(path.clone()),
        (_, Some(unit), _) => Choice::Unit(unit.clone()),
        (_, _, Some(name)) => Choice::Name(name.clone()),
        _ if typed.slurm_step => Choice::SlurmStep,
        _ if typed.all => Choice::All,
        _ => Choice::Bound,
    }
}
