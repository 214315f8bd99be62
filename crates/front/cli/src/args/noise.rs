//! `seatmap noise`, as typed.

use clap::Args;
use seatmap_console::outputs::ResultForms;
use seatmap_console::time::time_in;
use seatmap_console::values::own_cpus;
use seatmap_os::CpuList;
use std::path::PathBuf;
use std::time::Duration;

/// From a few turns of the meters to a day.
const LENGTH: &str = "50ms to 1d";

#[derive(Debug, Args)]
pub struct NoiseArgs {
    /// The CPUs to measure together, such as 0-3,8 or no-smt; isolated ones too. Default: all
    /// online CPUs.
    #[arg(long, value_name = "LIST", value_parser = own_cpus)]
    pub cpus: Option<CpuList>,
    /// How long: 500ms, 10s, 2m; a plain number is seconds.
    #[arg(long, value_name = "TIME", default_value = "2", value_parser = time_in(LENGTH))]
    pub seconds: Duration,
    /// Name what used the CPU during the long gaps, by the kernel's trace. Requires root.
    #[arg(long)]
    pub trace: bool,
    /// Write a picture of the gaps: their lengths and times.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub forms: ResultForms,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_is_bounded() {
        let seconds = time_in(LENGTH);
        assert_eq!(
            (seconds("0.5"), seconds("500ms")),
            (Ok(Duration::from_millis(500)), Ok(Duration::from_millis(500)))
        );
        assert_eq!(
            (seconds("2"), seconds("10m")),
            (Ok(Duration::from_secs(2)), Ok(Duration::from_secs(600)))
        );
        for bad in ["", "0", "-1", "nan", "inf", "1e9", "49ms", "25h", "2x"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
