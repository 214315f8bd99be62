//! The progress of a measurement, on stderr if that is a terminal. Everything here runs between two
//! measurements.

use seatmap_console::{Bars, view};
use seatmap_measure::matrix;
use seatmap_measure::survey::SurveyProgress;
use seatmap_report::live::{self, LiveMatrix};
use seatmap_report::terminal::DrawOptions;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Between pictures; and the largest share of time for drawing.
const LEAST_PAUSE: Duration = Duration::from_millis(200);
const LARGEST_SHARE: u32 = 20;

/// Lines of the terminal left to earlier output.
const LINES_LEFT: usize = 2;

pub struct Display {
    live: Option<LiveMatrix>,
    bars: Bars,
    next: Instant,
    drawn: bool,
}

impl Display {
    pub fn new(pus: &[u32], resolution_ns: f64) -> Self {
        let stderr = std::io::stderr();
        let size = view::size().filter(|_| stderr.is_terminal());
        let live = size.map(|(width, height)| {
            let options =
                DrawOptions { colour: view::colour(&stderr), width, ..DrawOptions::default() };
            LiveMatrix::new(pus, options, height.saturating_sub(LINES_LEFT), resolution_ns)
        });
        Display { live, bars: Bars::default(), next: Instant::now() + LEAST_PAUSE, drawn: false }
    }

    pub fn show(&mut self, step: &SurveyProgress) {
        // Without a terminal: a log must not fill with progress.
        if self.live.is_none() || Instant::now() < self.next {
            return;
        }
        let started = Instant::now();
        match step {
            SurveyProgress::Matrix(progress) => self.picture(progress),
            SurveyProgress::Homes(done, total) => {
                self.line("homes", *done as usize, *total as usize)
            }
            SurveyProgress::Loaded(point, left) => {
                let done = point.pairs as usize;
                self.line("loaded", done, done + *left);
            }
        }
        // From the end of drawing, so that a slow terminal does not delay the measurement.
        self.next = Instant::now() + LEAST_PAUSE.max(started.elapsed() * LARGEST_SHARE);
    }

    fn picture(&mut self, progress: &matrix::MatrixProgress) {
        let Some(live) = &self.live else { return };
        let frame = live.frame(&progress.samples.medians_ns(), &live_progress(progress));
        // CSI n A moves the cursor up n lines (ECMA-48), to the first line of the earlier picture.
        let up = if self.drawn { format!("\x1b[{}A\r", live.lines) } else { String::new() };
        let frame = format!("{up}{}", frame.replace('\n', "\x1b[K\n"));
        // In one write, because half a picture would flicker.
        let _ = std::io::stderr().write_all(frame.as_bytes());
        self.drawn = true;
    }

    fn line(&mut self, stage: &'static str, done: usize, total: usize) {
        self.clear_picture();
        self.bars.show(stage, done, total);
    }

    fn clear_picture(&mut self) {
        if let Some(live) = self.live.as_ref().filter(|_| self.drawn) {
            // CSI J erases from the cursor to the end of the screen.
            let _ = write!(std::io::stderr(), "\x1b[{}A\r\x1b[J", live.lines);
            self.drawn = false;
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.bars.clear();
        self.clear_picture();
    }
}

fn live_progress(progress: &matrix::MatrixProgress) -> live::MeasurementProgress {
    let discards = progress.samples.discards();
    let left = progress.total.saturating_sub(progress.done) as f64;
    // Visits taken over from an earlier run took no time now.
    let pace_s =
        (progress.visited > 0).then(|| progress.elapsed.as_secs_f64() / progress.visited as f64);
    live::MeasurementProgress {
        done: progress.done as usize,
        total: progress.total as usize,
        eta_s: pace_s.map(|pace_s| pace_s * left),
        current: Some(progress.pair),
        discarded: discards.gap + discards.switched + discards.moved,
    }
}
