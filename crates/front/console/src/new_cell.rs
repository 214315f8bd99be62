//! The command-line arguments of a new cell.

use crate::choice;
use crate::cpus::{OrAll, RequestedCpus, requested_cpus};
use crate::error::{CliError, CliResult};
use crate::time::time;
use crate::values;
use clap::Args;
use seatmap_cell::{CellBackend, CellRequest, Name};
use seatmap_os::CpuSet;
use std::num::NonZeroUsize;

/// The requested properties of a new cell.
#[derive(Debug, Args)]
pub struct NewCell {
    /// Its name, which other commands use.
    #[arg(value_name = "NAME", default_value = seatmap_cell::name::USUAL)]
    pub name: Name,
    /// Its CPUs, such as 2-5,8. With --ttl alone, Seatmap chooses the CPUs of the best core.
    #[arg(long, value_name = "LIST", value_parser = listed, conflicts_with = "count")]
    pub cpus: Option<RequestedCpus>,
    /// The treatment of its words.
    #[command(flatten)]
    pub or_all: OrAll,
    /// Number of CPUs; Seatmap chooses those that suit a cell best.
    #[arg(long, value_name = "N")]
    pub count: Option<NonZeroUsize>,
    /// Reserve this much memory for it, in whole huge pages: 64M.
    #[arg(long, value_name = "BYTES", default_value = "0", value_parser = bytes)]
    pub memory: u64,
    /// Refuse the cell if it loses more than this share of its time to noise: 2%.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub noise: Option<f64>,
    /// Do not measure its noise before and after creation, which takes almost a second.
    #[arg(long, conflicts_with = "noise")]
    pub untested: bool,
    /// Remove it after this time: 30s, 10m, 2h.
    #[arg(long, value_name = "TIME", value_parser = lease_s)]
    pub ttl: Option<u64>,
    /// Refuse the cell if its isolation is weaker than this.
    #[arg(long, value_name = "LEVEL", default_value = "affinity")]
    pub require: CellIsolation,
}

impl NewCell {
    /// Refuses a bare name, which would reserve CPUs of Seatmap's choice for ever, usually by
    /// mistake. `is_chosen`: another option chooses the CPUs.
    ///
    /// # Errors
    /// Neither CPUs nor a time are given.
    pub fn check(&self, is_chosen: bool) -> CliResult {
        if is_chosen || self.cpus.is_some() || self.count.is_some() || self.ttl.is_some() {
            return Ok(());
        }
        Err(CliError::input(
            "no CPUs and no time given: --cpus 2-5 or --count 2 reserves CPUs until 'seatmap cell \
             destroy', --ttl 10m reserves CPUs chosen by Seatmap for that time",
        ))
    }

    /// The request for a cell on these CPUs.
    pub fn on(&self, cpus: CpuSet) -> CellRequest {
        CellRequest {
            name: self.name.clone(),
            cpus,
            require: self.require.into(),
            noise_limit: self.noise,
            lease_s: self.ttl,
            memory_bytes: self.memory,
        }
    }
}

choice! {
    /// The isolation of a cell.
    CellIsolation for CellBackend {
        /// An isolated partition of cgroup version 2.
        V2Partition,
        /// An exclusive cpuset of cgroup version 1.
        V1Exclusive,
        /// Other threads moved away by their affinity masks.
        Affinity,
    }
}

/// Earlier versions also accepted a word or a number.
fn listed(text: &str) -> Result<RequestedCpus, String> {
    match text {
        // The word of an earlier version; the error says what replaces it.
        "auto" => {
            Err("leave --cpus out to let Seatmap choose; --count N sets the number".to_owned())
        }
        text => requested_cpus(text),
    }
}

fn bytes(text: &str) -> Result<u64, String> {
    let units = [("", 1), ("k", 1 << 10), ("m", 1 << 20), ("g", 1 << 30)];
    values::with_unit(text, &units)
        .ok_or_else(|| format!("'{text}' is not a size; write 2048, 64M or 1G"))
}

/// The seconds of a lease.
///
/// # Errors
/// A sentence with the accepted forms.
pub fn lease_s(text: &str) -> Result<u64, String> {
    // Leases end at whole seconds; 0 would remove the cell during its creation.
    let whole = time(text).filter(|time| !time.is_zero() && time.subsec_nanos() == 0);
    let seconds = whole.map(|time| time.as_secs());
    seconds.ok_or_else(|| {
        format!(
            "'{text}' is not a time in whole seconds; write 30s, 10m or 2h, or a number of seconds"
        )
    })
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse::<f64>().ok();
    number
        .filter(|it| (0.0..=100.0).contains(it))
        .ok_or_else(|| format!("'{text}' is not a percentage such as 2%"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_os::CpuList;

    #[test]
    fn sizes_have_no_sign() {
        assert_eq!(bytes("2g"), Ok(2 << 30));
        for text in ["+2g", "-2g", "2g+", "+", ""] {
            assert!(bytes(text).unwrap_err().contains("is not a size"), "{text}");
        }
    }

    #[test]
    fn cpus_are_a_list() {
        assert_eq!(listed("3"), Ok(RequestedCpus::List(CpuList(vec![3]))));
        assert_eq!(listed("1,5"), Ok(RequestedCpus::List(CpuList(vec![1, 5]))));
        assert!(listed("x").is_err() && listed("1,1").is_err() && listed("").is_err());
        assert!(listed("auto").unwrap_err().contains("leave --cpus out"));
    }

    #[test]
    fn sizes_leases_and_shares_accept_units() {
        assert_eq!(
            (bytes("64M"), bytes("2048"), lease_s("10m")),
            (Ok(64 << 20), Ok(2048), Ok(600))
        );
        assert_eq!((percent("2%"), percent("0.5")), (Ok(2.0), Ok(0.5)));
        for bad in ["", "x", "1y", "-1", "99999999999999999999g"] {
            assert!(bytes(bad).is_err() && lease_s(bad).is_err(), "{bad}");
        }
        assert_eq!(lease_s("10"), Ok(10));
        assert!(lease_s("0.5").is_err() && lease_s("0").is_err());
        assert!(percent("101").is_err() && percent("nan").is_err() && percent("%").is_err());
    }
}
