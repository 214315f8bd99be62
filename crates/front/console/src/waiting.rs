//! A progress bar for long work, if stderr is a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Shorter work needs no progress bar.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(200);

/// A bar for work without known progress: the elapsed time and the limit, if any.
pub struct Waiting(Option<(Sender<()>, JoinHandle<()>)>);

impl Waiting {
    /// Starts a bar with a word before it; draws nothing if stderr is not a terminal.
    pub fn new(word: &'static str, limit_s: Option<f64>) -> Self {
        if !std::io::stderr().is_terminal() {
            return Waiting(None);
        }
        let (sender, ended) = channel();
        // Without a thread to draw it there is no bar; the work continues.
        let drawing = std::thread::Builder::new().spawn(move || {
            let began = Instant::now();
            // Dropping the sender at the work's end ends the wait at once.
            if ended.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = bar(word, limit_s);
            while ended.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                bar.set_position(began.elapsed().as_secs());
            }
            bar.finish_and_clear();
        });
        Waiting(drawing.ok().map(|drawing| (sender, drawing)))
    }
}

fn bar(word: &'static str, limit_s: Option<f64>) -> ProgressBar {
    let (bar, template) = match limit_s {
        Some(seconds) => {
            (ProgressBar::new(seconds.ceil() as u64), "{msg} {bar:40} {pos} of {len} s")
        }
        None => (ProgressBar::new_spinner(), "{spinner} {msg}, {pos} s"),
    };
    let style = ProgressStyle::with_template(template);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())).with_message(word)
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some((sender, draw)) = self.0.take() {
            drop(sender);
            // A bar that could not be drawn is not a failure.
            let _ = draw.join();
        }
    }
}
