//! Work distributed over the ranks of a job.

use crate::error::CliResult;
use crate::values::duration;
use crate::{here, meet, output};
use clap::Args;
use seatmap_cluster::Rank;
use seatmap_cluster::spread::{Meet, Ranks, SpreadOutcome};
use seatmap_data::statistics::words::{counted, joined};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// How the ranks of --spread connect to each other.
#[derive(Debug, Args)]
pub struct MeetingPlace {
    /// Where the ranks of --spread meet: a file that all nodes see, or HOST:PORT of rank 0.
    /// Default: MASTER_ADDR and MASTER_PORT if set, else a file in this folder.
    #[arg(long, value_name = "PLACE", requires = "spread", hide_short_help = true)]
    pub meet: Option<String>,
    /// A file with the secret that the ranks of --spread share, readable only by its owner; or set
    /// SEATMAP_SECRET. A meeting file contains its own secret.
    #[arg(long, value_name = "FILE", requires = "spread", hide_short_help = true)]
    pub secret_file: Option<PathBuf>,
    /// How long the ranks of --spread wait for each other.
    #[arg(
        long,
        value_name = "TIME",
        default_value = "60s",
        hide_short_help = true,
        value_parser = duration
    )]
    pub timeout: Duration,
}

/// This process as a rank of a launcher's job.
pub struct LaunchedRank {
    rank: Rank,
    meet: Meet,
    node: String,
}

impl LaunchedRank {
    /// Reads the variables of the launcher.
    ///
    /// # Errors
    /// No launcher gave this process a rank, or its secret is invalid.
    pub fn of_launcher(typed: &MeetingPlace) -> CliResult<Self> {
        let rank = meet::rank()?;
        let meet = Meet {
            meeting: meet::place(typed.meet.as_deref(), &rank),
            secret: meet::secret(typed.secret_file.as_deref())?,
            timeout: typed.timeout,
        };
        Ok(LaunchedRank { rank, meet, node: here::host_name() })
    }

    /// Whether this is rank 0, which leads.
    pub fn is_first(&self) -> bool {
        self.rank.rank == 0
    }

    /// The ranks, seen from this one.
    pub fn ranks(&self) -> Ranks<'_> {
        Ranks { rank: &self.rank, meet: &self.meet, node: &self.node }
    }
}

/// Reports the lost ranks, and the number of parts done by each node.
pub fn tell(spread: &SpreadOutcome) {
    for lost in &spread.lost {
        output::tell(&format!("{}: {}; the other ranks do its work", lost.rank, lost.why));
    }
    for why in &spread.refused {
        output::tell(&format!("refused: {why}"));
    }
    let mut of_node = BTreeMap::<&str, usize>::new();
    spread.done.iter().for_each(|(node, parts)| *of_node.entry(node).or_default() += parts);
    let parts = of_node.iter().map(|(node, parts)| format!("{node} {parts}"));
    output::tell(&format!(
        "parts done by {}: {}",
        counted(spread.done.len(), "rank"),
        joined(parts, ", ")
    ));
}
