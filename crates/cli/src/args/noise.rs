//! `seatmap noise`, as typed.

use super::cpus;
use clap::Args;
use seatmap_machine::CpuList;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct Noise {
    /// The CPUs to measure, all at once, such as 0-3,8; also isolated ones. All that are online by default.
    #[arg(long, value_name = "LIST", value_parser = cpus)]
    pub cpus: Option<CpuList>,
    /// How long, in seconds.
    #[arg(long, value_name = "S", default_value = "2", value_parser = seconds)]
    pub seconds: Duration,
    /// Say who had the CPU in the long gaps, by the kernel's trace; root's.
    #[arg(long)]
    pub trace: bool,
    /// Write one self-contained page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write a picture of the gaps: how long they are, and when they came.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Print one JSON document on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// From a few turns of the meters to a day.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.05..=86_400.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| format!("'{text}' is no time; write 0.05 to 86400 seconds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_bounds() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for bad in ["", "0", "-1", "nan", "inf", "1e9", "2s"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
