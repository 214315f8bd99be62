//! The groups as Slurm's network description (topology.conf(5), topology.yaml(5)): one switch for
//! each group, and one above them.

use crate::choice::grouped;
use crate::cluster::Cluster;
use seatmap_data::document::visible;
use seatmap_data::statistics::words::{counted, joined};
use std::collections::BTreeMap;

/// The name of a node has a special meaning in the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a host name; use letters, digits, dots and dashes")]
pub struct BadName(String);

/// Writes `topology.conf`.
///
/// # Errors
/// [`BadName`].
pub fn conf(cluster: &Cluster) -> Result<String, BadName> {
    let switches = switches(cluster)?;
    let mut text = head(cluster, "topology.conf, for TopologyPlugin=topology/tree");
    for (at, nodes) in switches.iter().enumerate() {
        text += &format!("SwitchName=s{at} Nodes={nodes}\n");
    }
    if switches.len() > 1 {
        text += &format!("SwitchName=root Switches=s[0-{}]\n", switches.len() - 1);
    }
    Ok(text)
}

/// Writes `topology.yaml`, which Slurm reads since 25.05.
///
/// # Errors
/// [`BadName`].
pub fn yaml(cluster: &Cluster) -> Result<String, BadName> {
    let switches = switches(cluster)?;
    let mut text = head(cluster, "topology.yaml");
    text += "- topology: measured\n  cluster_default: true\n  tree:\n    switches:\n";
    if switches.len() > 1 {
        text += &format!("      - switch: root\n        children: s[0-{}]\n", switches.len() - 1);
    }
    for (at, nodes) in switches.iter().enumerate() {
        text += &format!("      - switch: s{at}\n        nodes: {nodes}\n");
    }
    Ok(text)
}

fn head(cluster: &Cluster, file: &str) -> String {
    let date = visible(cluster.date.as_deref().unwrap_or("day unknown"));
    format!(
        "# {file}: {} found by 'seatmap cluster measure', {date}\n",
        counted(cluster.nodes.len(), "node")
    )
}

/// Brackets, commas, blanks, `#` and `=` have a meaning in Slurm's files.
fn is_good(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter))
}

fn switches(cluster: &Cluster) -> Result<Vec<String>, BadName> {
    if let Some(node) = cluster.nodes.iter().find(|node| !is_good(&node.name)) {
        return Err(BadName(node.name.clone()));
    }
    let names = cluster.nodes.iter().map(|node| node.name.as_str());
    let groups = grouped(cluster.group_of().into_iter().zip(names));
    Ok(groups.into_values().map(|names| short(&names)).collect())
}

/// Shortens names: `n[0-3,7],login`. Leading zeros stay, as in Slurm's `n[01-03]`.
pub fn short(names: &[&str]) -> String {
    let mut by_stem = BTreeMap::<(&str, usize), Vec<u64>>::new();
    let mut plain = Vec::new();
    for name in names {
        let digits = name.len() - name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (stem, number) = name.split_at(digits);
        let width = if number.starts_with('0') && number.len() > 1 { number.len() } else { 0 };
        match number.parse() {
            Ok(number) => by_stem.entry((stem, width)).or_default().push(number),
            // No digits, or more than 64 bits.
            Err(_) => plain.push((*name).to_owned()),
        }
    }
    let stems = by_stem.into_iter().map(|((stem, width), numbers)| of_stem(stem, width, numbers));
    joined(stems.chain(plain), ",")
}

/// The standard library's formats end at 65,535 digits.
fn with_zeros(number: u64, width: usize) -> String {
    let digits = number.to_string();
    "0".repeat(width.saturating_sub(digits.len())) + &digits
}

fn of_stem(stem: &str, width: usize, mut numbers: Vec<u64>) -> String {
    numbers.sort_unstable();
    if let [one] = numbers[..] {
        return format!("{stem}{}", with_zeros(one, width));
    }
    let runs = numbers.chunk_by(|a, b| a.checked_add(1) == Some(*b)).map(|run| match run {
        [one] => with_zeros(*one, width),
        run => format!("{}-{}", with_zeros(run[0], width), with_zeros(run[run.len() - 1], width)),
    });
    format!("{stem}[{}]", joined(runs, ","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_ranges_are_short_and_keep_zeros() {
        assert_eq!(short(&["n3", "n0", "n1", "n2", "n7"]), "n[0-3,7]");
        assert_eq!(short(&["gpu08", "gpu09", "gpu10", "login"]), "gpu10,gpu[08-09],login");
        assert_eq!(short(&["n4"]), "n4");
        assert_eq!(short(&["a-1x", "99999999999999999999999"]), "a-1x,99999999999999999999999");
    }

    fn cluster(names: &[&str], groups: Vec<Vec<usize>>) -> Cluster {
        Cluster {
            format: crate::cluster::FORMAT.to_owned(),
            date: Some("2026-11-23".to_owned()),
            nodes: names
                .iter()
                .enumerate()
                .map(|(rank, name)| crate::Node {
                    name: (*name).to_owned(),
                    rank,
                    address: format!("10.0.0.{rank}"),
                    facts: crate::NodeConfiguration::default(),
                    profile: None,
                })
                .collect(),
            groups,
            ..Cluster::default()
        }
    }

    #[test]
    fn groups_become_switches() {
        let cluster = cluster(&["n0", "n1", "n2", "n3"], vec![vec![0, 2], vec![1, 3]]);
        let text = conf(&cluster).unwrap();
        assert!(
            text.ends_with("SwitchName=s0 Nodes=n[0,2]\nSwitchName=s1 Nodes=n[1,3]\nSwitchName=root Switches=s[0-1]\n")
        );
        let text = yaml(&cluster).unwrap();
        assert!(
            text.contains(
                "      - switch: root\n        children: s[0-1]\n      - switch: s0\n        nodes: n[0,2]\n"
            )
        );
    }

    #[test]
    fn host_name_cannot_inject_a_line() {
        let cluster = cluster(&["n0\nSwitchName=x"], vec![]);
        assert_eq!(conf(&cluster), Err(BadName("n0\nSwitchName=x".to_owned())));
    }
}
