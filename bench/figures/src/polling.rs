//! Streams through a weighted poller: the share of the first at priorities of 4 and 3, in the worst
//! of all windows.

use crate::row::Row;
use seatmap_experiments::cellule::streams::share::Shares;
use seatmap_experiments::cellule::streams::{Configuration, Link, PRIORITIES, run};
use std::error::Error;
use std::time::Duration;

/// How long each configuration lasts.
const LASTING: Duration = Duration::from_secs(5);

/// Rows without and with priorities.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let [.., without, with] = Configuration::ALL;
    let expected = f64::from(PRIORITIES[0]) / f64::from(PRIORITIES.iter().sum::<u32>());
    let mut rows = Vec::new();
    for configuration in [without, with] {
        for shares in run(configuration, Link::Loopback, LASTING)?.shares {
            let what = format!(
                "{}, share of stream 1 in windows of {} ms",
                configuration.1, shares.window_ms
            );
            let got = format!(
                "{:.4} ({:.4}-{:.4} of {})",
                shares.median, shares.least, shares.most, shares.windows
            );
            rows.push(if configuration == with && shares.window_ms == 100.0 {
                Row::held(
                    what,
                    got,
                    format!("{expected:.4} +- 1 % in each"),
                    is_within(&shares, expected),
                )
            } else {
                Row::info(what, got)
            });
        }
    }
    Ok(rows)
}

fn is_within(shares: &Shares, expected: f64) -> bool {
    [shares.least, shares.most].iter().all(|share| (share / expected - 1.0).abs() <= 0.01)
}
