//! A script that starts `torchrun` on each node with the node's rank. A process number is the node
//! rank times processes per node, plus the local number (torchrun's documentation, "Definitions").

use crate::ranks::RankPlan;
use seatmap_os::{CpuList, host_names};

/// The script, for every node.
///
/// # Errors
/// A sentence: a node's ranks are not consecutive, or nodes have different numbers of
/// them.
pub fn write(plan: &RankPlan) -> Result<String, String> {
    let mut nodes: Vec<(usize, Vec<usize>)> = plan
        .ranks_of_nodes()
        .into_iter()
        .enumerate()
        .filter(|(_, ranks)| !ranks.is_empty())
        .collect();
    // This order gives the nodes' ranks.
    nodes.sort_by_key(|(_, ranks)| ranks[0]);
    let first = nodes[0].0;
    let each = nodes[0].1.len();
    let mut cases = String::new();
    for (at, (node, ranks)) in nodes.iter().enumerate() {
        check(plan, *node, ranks)?;
        if ranks.len() != each {
            return Err(format!(
                "torchrun starts equally many ranks on each node, but {} has {each}, and {} has {}",
                plan.nodes[first],
                plan.nodes[*node],
                ranks.len()
            ));
        }
        cases += &format!("{}) rank={at} ;;\n", patterns(plan, &plan.nodes[*node]));
    }
    let count = nodes.len();
    let master = &plan.nodes[first];
    Ok(format!(
        "#!/bin/sh\n# On every node: sh THIS PROGRAM.py ARGUMENTS...\ncase $(hostname) \
         in\n{cases}*) echo \"$0: $(hostname) is not in the plan\" >&2; exit 2 ;;\nesac\nexec \
         torchrun --nnodes={count} --nproc-per-node={each} --node-rank=$rank \
         --master-addr={master} \"$@\"\n"
    ))
}

/// As patterns of `case`; names have no pattern characters.
fn patterns(plan: &RankPlan, node: &str) -> String {
    let mut patterns = vec![node.to_owned()];
    if host_names::stands_for_one(node, &plan.nodes) {
        patterns.push(format!("{node}.*"));
    }
    let shorter = node.rmatch_indices('.').map(|(at, _)| &node[..at]);
    let own = shorter.filter(|short| host_names::stands_for_one(short, &plan.nodes));
    patterns.extend(own.map(str::to_owned));
    patterns.join("|")
}

fn check(plan: &RankPlan, node: usize, ranks: &[usize]) -> Result<(), String> {
    if ranks.windows(2).all(|two| two[0] + 1 == two[1]) {
        Ok(())
    } else {
        let ranks = CpuList(ranks.iter().map(|rank| *rank as u32).collect());
        Err(format!(
            "torchrun needs consecutive ranks on each node, but {} has ranks {ranks}; use \
             'seatmap place --blocks'",
            plan.nodes[node]
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::export::sample;

    #[test]
    fn torchrun_script_selects_rank_by_host_name() {
        insta::assert_snapshot!(write(&sample()).unwrap(), @r##"
        #!/bin/sh
        # On every node: sh THIS PROGRAM.py ARGUMENTS...
        case $(hostname) in
        n2|n2.*) rank=0 ;;
        n0|n0.*) rank=1 ;;
        *) echo "$0: $(hostname) is not in the plan" >&2; exit 2 ;;
        esac
        exec torchrun --nnodes=2 --nproc-per-node=2 --node-rank=$rank --master-addr=n2 "$@"
        "##);
    }

    #[test]
    fn short_host_name_matches_only_if_unique() {
        let mut plan = sample();
        let names = |plan: &RankPlan| patterns(plan, &plan.nodes[0]);
        plan.nodes[0] = "a.x.org".to_owned();
        assert_eq!(names(&plan), "a.x.org|a.x.org.*|a.x|a");
        plan.nodes[1] = "a.y.org".to_owned();
        assert_eq!(names(&plan), "a.x.org|a.x.org.*|a.x");
    }

    #[test]
    fn torchrun_rejects_uneven_or_scattered_ranks() {
        let mut plan = sample();
        plan.node_of_rank = vec![0, 1, 0, 1];
        let told = write(&plan).unwrap_err().to_string();
        assert!(
            told.starts_with("torchrun needs consecutive ranks on each node, but n0 has ranks 0,2"),
            "{told}"
        );
        plan.node_of_rank = vec![0, 1, 1, 1];
        let told = write(&plan).unwrap_err().to_string();
        assert_eq!(
            told,
            "torchrun starts equally many ranks on each node, but n0 has 1, and n1 has 3"
        );
    }
}
