//! A matrix during its measurement.
//!
//! The command line redraws the picture in place on stderr, so all frames have equally many lines,
//! none wider than the terminal.

use crate::terminal::{DrawOptions, draw};
use crate::words::joined;
use crate::{Digits, Grid};
use seatmap_data::machine::Matrix;

/// The progress of a measurement.
#[derive(Clone, Copy, Default)]
pub struct MeasurementProgress {
    /// Pair visits done.
    pub done: usize,
    /// Pair visits in total.
    pub total: usize,
    /// Seconds left, if they can be estimated.
    pub eta_s: Option<f64>,
    /// OS indices of the pair being measured.
    pub current: Option<(u32, u32)>,
    /// Batches discarded so far.
    pub discarded: u64,
}

/// Draws frames of a matrix as it fills in.
pub struct LiveMatrix {
    pus: Vec<u32>,
    options: DrawOptions,
    most_lines: usize,
    digits: Digits,
    /// Lines of every frame.
    pub lines: usize,
}

impl LiveMatrix {
    /// Frames of at most `most_lines` lines (the terminal's, minus one for the cursor) for these
    /// PUs in matrix order. `resolution_ns` limits the digits.
    pub fn new(pus: &[u32], options: DrawOptions, most_lines: usize, resolution_ns: f64) -> Self {
        let digits = Digits::for_resolution(resolution_ns);
        // Draw the measured medians: the model of homes does not exist yet.
        let options = DrawOptions { home: None, ..options };
        let mut live = LiveMatrix { pus: pus.to_vec(), options, most_lines, digits, lines: 0 };
        // Small matrices show numbers or dots; allow for both.
        live.lines = [f64::NAN, 0.0, f64::MAX]
            .map(|ns| {
                live.frame(&Matrix::filled(pus.len(), ns), &MeasurementProgress::default())
                    .lines()
                    .count()
            })
            .into_iter()
            .max()
            .unwrap_or(0);
        live
    }

    /// The medians so far (else NaN), in the order of the PUs, and the progress.
    pub fn frame(&self, median_ns: &Matrix, progress: &MeasurementProgress) -> String {
        let grid = Grid::plain(self.pus.clone(), median_ns.clone());
        let picture = draw(&grid, self.digits, &self.options, self.most_lines.saturating_sub(1));
        // The cursor moves up by a fixed number of lines.
        let missing = self.lines.saturating_sub(picture.lines().count() + 1);
        picture + &"\n".repeat(missing) + &progress.line(self.options.width) + "\n"
    }
}

impl MeasurementProgress {
    /// One line of at most `width` characters, without its end.
    pub fn line(&self, width: usize) -> String {
        let percent = 100 * self.done / self.total.max(1);
        let parts = [
            // Plural: the total is at least two.
            Some(format!("{}/{} visits, {percent} %", self.done, self.total)),
            self.eta_s.map(|eta_s| format!("{} left", duration(eta_s))),
            self.current.map(|(a, b)| format!("now {a}-{b}")),
            Some(format!("{} discarded", self.discarded)).filter(|_| self.discarded > 0),
        ];
        let line = joined(parts.into_iter().flatten(), "  ");
        // A longer line would wrap, and the cursor would not move up far enough.
        line.chars().take(width).collect()
    }
}

/// `8 s`, `2 min 05 s`, `1 h 12 min`.
fn duration(seconds: f64) -> String {
    // The cast saturates, and turns NaN into 0.
    let seconds = seconds.ceil() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::Colour;
    use proptest::prelude::*;

    const HALF_WAY: MeasurementProgress = MeasurementProgress {
        done: 3,
        total: 6,
        eta_s: Some(4.2),
        current: Some((0, 8)),
        discarded: 7,
    };

    #[test]
    fn half_finished_frame_shows_partial_matrix() {
        let mut median_ns = Matrix::filled(4, f64::NAN);
        median_ns.set_both(0, 1, 40.12);
        median_ns.set_both(0, 2, 101.0);
        median_ns.set_both(1, 3, 99.5);
        let live = LiveMatrix::new(&[0, 1, 8, 9], DrawOptions::default(), 40, 0.04);
        insta::assert_snapshot!(live.frame(&median_ns, &HALF_WAY), @"
               0      1      8      9
        0      -   40.1  101.0      ?
        1   40.1      -      ?   99.5
        8  101.0      ?      -      ?
        9      ?   99.5      ?      -
        round trip in ns, linear scale; ? is unknown

        3/6 visits, 50 %  5 s left  now 0-8  7 discarded
        ");
    }

    #[test]
    fn time_left_is_shown_in_words() {
        let words = [0.2, 61.0, 3599.1, 4000.0, f64::NAN].map(duration);
        assert_eq!(words, ["1 s", "1 min 01 s", "1 h 00 min", "1 h 06 min", "0 s"]);
    }

    proptest! {
        #[test]
        fn every_frame_has_equal_lines_and_fits(
            n in 1usize..90, width in 20usize..130, lines in 12usize..60, high in 1f64..1e9, colour: bool,
        ) {
            let colour = if colour { Colour::Ansi256 } else { Colour::None };
            let pus = Vec::from_iter(0..n as u32);
            let live = LiveMatrix::new(&pus, DrawOptions { colour, width, ..DrawOptions::default() }, lines, 0.1);
            let cell = |i: usize, j: usize| if (i + j).is_multiple_of(3) { f64::NAN } else { high + (i * j) as f64 };
            let frame = live.frame(&Matrix::from_fn(n, cell), &HALF_WAY);
            prop_assert_eq!(frame.lines().count(), live.lines);
            prop_assert!(live.lines <= lines);
            for line in frame.lines() {
                let shown = line.split('\u{1b}').map(|part| part.split_once('m').map_or(part, |(_, text)| text));
                // The first part has no escape sequence, and its labels contain no m.
                prop_assert!(shown.map(|text| text.chars().count()).sum::<usize>() <= width, "{}", line);
            }
        }
    }
}
