//! The options of `seatmap place --on CLUSTER`.

use super::args::PlaceArgs;
use clap::Args;
use seatmap_data::document::whole_number;
use seatmap_place::ranks::RankWishes;

/// The wishes for a job's ranks on the nodes of a cluster.
#[derive(Clone, Args)]
pub struct OnCluster {
    /// On a cluster: CPUs of each rank, next to each other [default: 1].
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..),
        hide_short_help = true
    )]
    pub cpus_per_rank: Option<u16>,
    /// On a cluster: the most ranks on a node. Default: as its CPUs allow.
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..),
        hide_short_help = true
    )]
    pub ranks_per_node: Option<u32>,
    /// On a cluster: give consecutive ranks to each node and choose only the order of the nodes,
    /// for launchers without other orders, such as torchrun.
    #[arg(long, hide_short_help = true)]
    pub blocks: bool,
    /// On a cluster: run a rank on a node; may be given several times.
    #[arg(long, value_name = "RANK=NODE", value_parser = fix_node, hide_short_help = true)]
    pub fix_node: Vec<(usize, String)>,
    /// On a cluster: leave out a node; may be given several times.
    #[arg(long, value_name = "NODE", hide_short_help = true)]
    pub without: Vec<String>,
    /// On a cluster: the size of the messages whose round trips are the distances; by default the
    /// pattern's mean. k stands for 1024.
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = seatmap_console::values::size,
        hide_short_help = true
    )]
    pub message: Option<u32>,
    /// On a cluster: another pattern with this weight, such as 0.2,ring:64; may be given several
    /// times.
    #[arg(long, value_name = "WEIGHT,PATTERN", value_parser = also, hide_short_help = true)]
    pub also: Vec<(f64, String)>,
}

impl From<&OnCluster> for RankWishes {
    fn from(typed: &OnCluster) -> Self {
        RankWishes {
            cpus_per_rank: typed.cpus_per_rank.map_or(1, usize::from),
            ranks_per_node: typed.ranks_per_node.map(|ranks| ranks as usize),
            in_blocks: typed.blocks,
            fixed: typed.fix_node.clone(),
            without: typed.without.clone(),
        }
    }
}

impl OnCluster {
    /// An option that means something only on a cluster.
    pub fn given_option(&self) -> Option<String> {
        first_given!(
            self; cpus_per_rank, ranks_per_node, blocks, fix_node, without, message, also
        )
    }
}

impl PlaceArgs {
    /// An option that means something only on one machine.
    pub fn of_one_machine(&self) -> Option<String> {
        first_given!(
            self;
            objective,
            method = self.has_method(),
            rounds,
            weight,
            waiting,
            spinning,
            load,
            load_ns,
            cpus,
            fix,
            avoid_smt,
            use_smt,
            one_per,
            kind,
            equal_kind,
            prefer,
            widen,
            memory,
            sections,
            homes,
            html = self.forms.html.is_some(),
            svg,
            before = self.has_before()
        )
    }
}

fn fix_node(text: &str) -> Result<(usize, String), String> {
    let parts = text
        // A rank's number has no equals sign.
        .split_once('=')
        .and_then(|(rank, node)| Some((whole_number(rank.trim())?, node.trim().to_owned())));
    parts
        .filter(|(_, node)| !node.is_empty())
        .ok_or_else(|| format!("'{text}' is not RANK=NODE, such as 3=n5"))
}

fn also(text: &str) -> Result<(f64, String), String> {
    let parts = text
        // A file's name may contain more commas.
        .split_once(',')
        .and_then(|(weight, pattern)| Some((weight.trim().parse().ok()?, pattern.to_owned())));
    parts
        // A weight of zero would omit the pattern; NaN fails too.
        .filter(|(weight, _)| *weight > 0.0 && *weight <= 1e9)
        .ok_or_else(|| format!("'{text}' is not WEIGHT,PATTERN, such as 0.2,ring:64"))
}
