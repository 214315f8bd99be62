//! The users' recent CPU time on file, so that no user gains by killing or restarting a controller.
//!
//! The controller writes it whenever a cell starts or ends, and every few seconds. Its times are
//! those of the boot and continue without a controller: usage decays, and users are charged for
//! existing cells. If a controller dies, the time of cells that end with it can be lost since the
//! last write.

use crate::usage::{HALF_LIFE_MS, UserUsage};
use crate::whole;
use seatmap_cell::CellHost;
use seatmap_data::document::json_problem;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-usage/1";

/// The file next to the ledger.
pub const FILE: &str = "controller.usage";

/// The highest possible usage of one user, in CPU-ms: all CPUs that a list can name, used forever.
const MOST_CPU_MS: f64 = (1u64 << 20) as f64 * HALF_LIFE_MS / std::f64::consts::LN_2;

/// The users' recent CPU time, as a controller of cells saves it for the next one. Numbers are
/// integers, so that reading returns exactly what was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsageFile {
    /// Name and version of the format.
    pub format: String,
    /// The boot whose clock `at_ms` uses.
    pub boot_id: String,
    /// The time of writing, in ms since boot including sleep. From then on, the times halve every
    /// 600,000 ms.
    pub at_ms: u64,
    /// The CPU time of each user at that time, in CPU-us, by user ID.
    pub cpu_us: BTreeMap<u32, u64>,
}

/// The reason why an account restarts at zero.
#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    /// The file cannot be read.
    #[error("{path}: cannot read the users' recent CPU time, so it restarts at zero")]
    Unreadable {
        /// The file.
        path: String,
        /// The system's error.
        source: io::Error,
    },
    /// The file is not a valid account.
    #[error("{path}: {why}; the users' recent CPU time restarts at zero")]
    Foreign {
        /// The file.
        path: String,
        /// The problem.
        why: String,
    },
    /// The computer has rebooted since.
    #[error("{path}: is from another boot; the users' recent CPU time restarts at zero")]
    OtherBoot {
        /// The file.
        path: String,
    },
}

impl UsageFile {
    /// Creates the file's content from the account, on this boot.
    pub fn of(usage: &UserUsage, boot_id: &str) -> Self {
        let cpu_us = usage
            .of_all()
            .iter()
            .map(|(uid, cpu_ms)| (*uid, (cpu_ms * 1000.0).round() as u64))
            .collect();
        UsageFile {
            format: FORMAT.to_owned(),
            boot_id: boot_id.to_owned(),
            at_ms: usage.at_ms(),
            cpu_us,
        }
    }

    /// The usage in the file, if it is possible at this time of the boot.
    ///
    /// # Errors
    /// The problem.
    pub fn usage(&self, now_ms: u64) -> Result<UserUsage, String> {
        if self.format != FORMAT {
            return Err(format!("\"format\" must be \"{FORMAT}\""));
        }
        // A boot's clock never goes back, so a later time is wrong.
        if self.at_ms > now_ms {
            return Err(format!(
                "\"at_ms\" is {}, but this boot has lasted {now_ms} ms",
                self.at_ms
            ));
        }
        let of: BTreeMap<u32, f64> =
            self.cpu_us.iter().map(|(uid, cpu_us)| (*uid, *cpu_us as f64 / 1000.0)).collect();
        match of.iter().find(|(_, cpu_ms)| **cpu_ms > MOST_CPU_MS) {
            Some((uid, _)) => Err(format!("the user {uid} has more than all CPUs can give")),
            None => Ok(UserUsage::at(self.at_ms, of)),
        }
    }
}

/// Reads the saved account; it is empty if there is no file.
///
/// # Errors
/// [`AccountError`].
pub fn read(host: &CellHost, now_ms: u64) -> Result<UserUsage, AccountError> {
    let path = host.run.file(FILE).display().to_string();
    let bytes = match host.run.read(FILE) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(UserUsage::since(now_ms));
        }
        Err(source) => return Err(AccountError::Unreadable { path, source }),
        Ok(bytes) => bytes,
    };
    match serde_json::from_slice::<UsageFile>(&bytes) {
        Err(error) => Err(AccountError::Foreign { path, why: json_problem(error) }),
        Ok(account) if account.boot_id != host.boot_id => Err(AccountError::OtherBoot { path }),
        Ok(account) => account.usage(now_ms).map_err(|why| AccountError::Foreign { path, why }),
    }
}

/// Writes the account: the file is complete, old or new.
///
/// # Errors
/// The system's error.
pub fn write(host: &CellHost, usage: &UserUsage) -> io::Result<()> {
    whole::write(host, FILE, &UsageFile::of(usage, &host.boot_id))
}

#[cfg(test)]
mod tests;
