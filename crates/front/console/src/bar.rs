//! A plain progress bar on stderr, if that is a terminal.

use crate::waiting::Waiting;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// The bars of work in several stages, one after the other.
#[derive(Default)]
pub struct Bars {
    waiting: Option<Waiting>,
    bar: Option<(&'static str, Bar)>,
}

impl Bars {
    /// Begins a stage without known progress, shown as by [`Waiting::new`].
    pub fn wait(&mut self, word: &'static str, limit: Option<Duration>) {
        self.clear();
        self.waiting = Some(Waiting::new(word, limit.map(|limit| limit.as_secs_f64())));
    }

    /// Shows the progress of a stage, with a word before its bar.
    pub fn show(&mut self, word: &'static str, done: usize, steps: usize) {
        self.waiting = None;
        let bar = self.bar.take().filter(|(now, _)| *now == word);
        let (_, bar) = self.bar.insert(bar.unwrap_or_else(|| (word, Bar::new(word))));
        bar.show(done, steps);
    }

    /// Removes the bar before other output.
    pub fn clear(&mut self) {
        self.waiting = None;
        self.bar = None;
    }
}

/// A bar for work with known progress; disappears when dropped.
pub struct Bar(Option<ProgressBar>);

impl Bar {
    /// A bar with a word before it; draws nothing if stderr is not a terminal.
    pub fn new(word: &'static str) -> Self {
        Bar(std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{msg} {bar:40} {pos}/{len}, {eta} left");
            ProgressBar::new(0)
                .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
                .with_message(word)
        }))
    }

    /// Shows that `done` of `steps` steps are done.
    pub fn show(&self, done: usize, steps: usize) {
        if let Some(bar) = &self.0 {
            // The number of steps is not known when the bar is created.
            bar.set_length(steps as u64);
            bar.set_position(done as u64);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
