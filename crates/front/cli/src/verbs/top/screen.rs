//! The screen: draws observations, and handles keys until one of them ends it.

use super::recorder::{self, Recorder};
use super::{Top, count_wakes, pin};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use ratatui::layout::Rect;
use ratatui::style::Color;
use seatmap_console::{CliError, CliResult, Destination, StopFlag, view};
use seatmap_data::document::shell_escaped;
use seatmap_data::document::visible;
use seatmap_os::terminal;
use seatmap_report::terminal::Colour;
use seatmap_report::terminal::top::{
    Scene, ScreenAction, SeatGroups, TopRow, TopView, draw, press, rows, table_lines,
};
use seatmap_watch::live::SeatingFrame;
use seatmap_watch::{LookJudgement, WatchedPrograms};
use signal_hook::consts::{SIGCONT, SIGSTOP, SIGTSTP};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Between checks for signals while waiting for keys.
const PAUSE: Duration = Duration::from_millis(200);

/// Before the first shares are shown.
const FIRST: Duration = Duration::from_millis(500);

/// Shows the programs until a key or a signal ends it. The terminal is always restored, even after
/// a panic.
pub fn run(
    watched: WatchedPrograms,
    groups: SeatGroups,
    typed: &Top,
    record: Option<Destination>,
) -> CliResult {
    let signals = Signals::listen()?;
    let recorder = record.map(Recorder::begin).transpose()?;
    let has_colour = view::colour(&std::io::stdout()) != Colour::None;
    let mut terminal = ratatui::try_init()?;
    let view =
        TopView { interval: typed.interval, cpus: groups.cpus().collect(), ..TopView::default() };
    let view = TopView { shows_wakes: typed.wakes, ..view };
    let frame = SeatingFrame::default();
    let judgement = LookJudgement::default();
    let rows = Vec::new();
    let mut screen =
        Screen { watched, groups, view, frame, judgement, rows, recorder, signals, has_colour };
    let shown = screen.show(&mut terminal);
    ratatui::restore();
    shown?;
    screen.recorder.map_or(Ok(()), Recorder::end)
}

struct Signals {
    interrupt: StopFlag,
    stop: Arc<AtomicBool>,
    go_on: Arc<AtomicBool>,
}

impl Signals {
    fn listen() -> CliResult<Self> {
        Ok(Signals {
            interrupt: StopFlag::listen()?,
            stop: flag_of(SIGTSTP)?,
            go_on: flag_of(SIGCONT)?,
        })
    }
}

fn flag_of(signal: i32) -> CliResult<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal, Arc::clone(&flag))?;
    Ok(flag)
}

struct Screen {
    watched: WatchedPrograms,
    groups: SeatGroups,
    view: TopView,
    frame: SeatingFrame,
    judgement: LookJudgement,
    rows: Vec<TopRow>,
    recorder: Option<Recorder>,
    signals: Signals,
    has_colour: bool,
}

impl Screen {
    fn show(&mut self, terminal: &mut DefaultTerminal) -> CliResult {
        self.look()?;
        let mut due = Instant::now() + FIRST.min(self.view.interval);
        while !self.signals.interrupt.is_raised() {
            self.draw(terminal)?;
            match self.wait(due, terminal)? {
                None => return Ok(()),
                Some(true) => {}
                Some(false) => {
                    self.look()?;
                    due = Instant::now() + self.view.interval;
                }
            }
            due = due.min(Instant::now() + self.view.interval);
        }
        Ok(())
    }

    /// Waits for a key or the time of the next observation. `None` ends the screen; true redraws
    /// it.
    fn wait(&mut self, due: Instant, terminal: &mut DefaultTerminal) -> CliResult<Option<bool>> {
        loop {
            let left = due.saturating_duration_since(Instant::now());
            if self.signals.interrupt.is_raised() || !terminal::wait(Duration::ZERO) {
                return Ok(None);
            }
            let has_event = event::poll(Duration::ZERO)?;
            if self.signals.stop.swap(false, Ordering::Relaxed) {
                self.suspend(terminal)?;
                return Ok(Some(true));
            }
            if self.signals.go_on.swap(false, Ordering::Relaxed) {
                // The shell may have used the terminal meanwhile.
                self.resume(terminal)?;
                return Ok(Some(true));
            }
            if has_event {
                return self.take(event::read()?, terminal);
            }
            if left.is_zero() {
                return Ok(Some(false));
            }
            let _ = terminal::wait(left.min(PAUSE));
        }
    }

    fn take(&mut self, event: Event, terminal: &mut DefaultTerminal) -> CliResult<Option<bool>> {
        let Event::Key(key) = event else { return Ok(Some(true)) };
        if key.kind == KeyEventKind::Release {
            return Ok(Some(true));
        }
        match press(&mut self.view, key, &self.rows) {
            None => {}
            Some(ScreenAction::Quit) => return Ok(None),
            Some(ScreenAction::Suspend) => self.suspend(terminal)?,
            Some(ScreenAction::Record) => self.record()?,
            Some(ScreenAction::Wakes) => self.turn_wakes(),
            Some(ScreenAction::Pin { tids, cpus }) => {
                self.view.message = pin::pin(&tids, &cpus);
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }

    fn record(&mut self) -> CliResult {
        self.view.message = match self.recorder.take() {
            Some(recorder) => {
                let name = recorder.name();
                recorder.end()?;
                format!(
                    "recorded to {}; 'seatmap show {} --html PAGE' replays it",
                    visible(&name),
                    shell_escaped(&name)
                )
            }
            None => {
                match recorder::new_file().and_then(Recorder::begin).and_then(|it| self.begun(it)) {
                    Ok(recorder) => {
                        let message =
                            format!("recording to {}; press R to stop", visible(&recorder.name()));
                        self.recorder = Some(recorder);
                        message
                    }
                    Err(error) => format!("cannot record: {}", error.text()),
                }
            }
        };
        Ok(())
    }

    /// The kernel counts wakeups only while they are shown.
    fn turn_wakes(&mut self) {
        if std::mem::take(&mut self.view.shows_wakes) {
            self.watched.count_by(None);
            return;
        }
        match count_wakes(&mut self.watched) {
            Ok(()) => (self.view.shows_wakes, self.frame.wakes) = (true, None),
            Err(error) => self.view.message = error.text(),
        }
    }

    /// Begins with the observation on the screen, so that even a very short recording can be
    /// replayed.
    fn begun(&self, mut recorder: Recorder) -> CliResult<Recorder> {
        recorder.write(&self.watched, &self.frame)?;
        Ok(recorder)
    }

    /// Observes, unless the screen is frozen and nothing is recorded.
    fn look(&mut self) -> CliResult {
        if self.view.is_frozen && self.recorder.is_none() {
            return Ok(());
        }
        let (frame, judgement) = self.watched.look().map_err(CliError::work)?;
        if let Some(recorder) = &mut self.recorder {
            recorder.write(&self.watched, &frame)?;
        }
        if !self.view.is_frozen {
            (self.frame, self.judgement) = (frame, judgement);
        }
        Ok(())
    }

    fn draw(&mut self, terminal: &mut DefaultTerminal) -> CliResult {
        let size = terminal.size()?;
        self.view.lines = table_lines(&self.groups, Rect::new(0, 0, size.width, size.height));
        self.rows = rows(&self.frame, &self.judgement, &self.view);
        self.view.settle(&self.rows);
        let name = self.recorder.as_ref().map(Recorder::name);
        let scene = Scene {
            frame: &self.frame,
            findings: &self.judgement.findings,
            groups: &self.groups,
            view: &self.view,
            rows: &self.rows,
            recording: name.as_deref(),
        };
        let has_colour = self.has_colour;
        let drawn = terminal.draw(|shown| {
            draw(&scene, shown.area(), shown.buffer_mut());
            if !has_colour {
                shown.buffer_mut().content.iter_mut().for_each(|cell| cell.fg = Color::Reset);
            }
        });
        drawn?;
        Ok(())
    }

    /// Restores the terminal and stops the process until the shell continues it.
    fn suspend(&mut self, terminal: &mut DefaultTerminal) -> CliResult {
        ratatui::restore();
        signal_hook::low_level::raise(SIGSTOP)?;
        self.resume(terminal)
    }

    fn resume(&mut self, terminal: &mut DefaultTerminal) -> CliResult {
        self.signals.go_on.store(false, Ordering::Relaxed);
        *terminal = ratatui::try_init()?;
        Ok(terminal.clear()?)
    }
}
