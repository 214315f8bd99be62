//! A plain progress bar on stderr, if that is a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;

/// The bars of work in several stages, one after the other.
#[derive(Default)]
pub struct Bars(Option<(&'static str, Bar)>);

impl Bars {
    /// Shows that `done` of `steps` steps are done of the stage with this word before its bar.
    pub fn show(&mut self, word: &'static str, done: usize, steps: usize) {
        let (_, bar) = match self.0.take().filter(|(now, _)| *now == word) {
            Some(now) => self.0.insert(now),
            None => self.0.insert((word, Bar::new(word))),
        };
        bar.show(done, steps);
    }

    /// Takes the bar away, before something else is said.
    pub fn clear(&mut self) {
        self.0 = None;
    }
}

/// A bar that knows how far it is; gone when dropped.
pub struct Bar(Option<ProgressBar>);

impl Bar {
    /// A bar with a word before it; draws nothing where stderr is not a terminal.
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
            // A bar is made before the work knows how many steps it has.
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
