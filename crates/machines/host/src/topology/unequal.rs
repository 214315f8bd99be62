//! How PUs differ beside their kind: the sizes of their caches, and the firmware's ranking.

use super::tree::Tree;
use seatmap_machine::Pu;
use std::collections::HashMap;

const FOLDER: &str = "sys/devices/system/cpu";

/// The folders of a CPU's caches, more than any processor has below the second level of data.
const INDEXES: [&str; 8] =
    ["index0", "index1", "index2", "index3", "index4", "index5", "index6", "index7"];

/// The files in which the kernel shows the firmware's ranking: AMD's preferred cores first, then
/// CPPC's highest performance, which Intel's Turbo Boost Max 3.0 uses.
const RANKINGS: [&str; 2] = ["cpufreq/amd_pstate_prefcore_ranking", "acpi_cppc/highest_perf"];

/// Adds sizes and ranking, as far as the kernel tells them.
pub(super) fn add(tree: &Tree, pus: &mut [Pu]) {
    let mut sizes: HashMap<(u32, u32), Option<u64>> = HashMap::new();
    // Each cache is read once, at its first PU.
    for pu in pus.iter_mut() {
        for (level, number, bytes) in [(2, pu.l2, &mut pu.l2_bytes), (3, pu.l3, &mut pu.l3_bytes)] {
            *bytes = number.and_then(|number| {
                *sizes.entry((level, number)).or_insert_with(|| cache_bytes(tree, pu.os, level))
            });
        }
    }
    if let Some(ranking) = RANKINGS.into_iter().find_map(|file| ranking(tree, pus, file)) {
        pus.iter_mut().zip(ranking).for_each(|(pu, rank)| pu.priority = Some(rank));
    }
}

/// The size of a CPU's cache of a level that holds data.
fn cache_bytes(tree: &Tree, cpu: u32, level: u32) -> Option<u64> {
    INDEXES
        .into_iter()
        .find(|index| {
            index_file(tree, cpu, index, "level").is_some_and(|text| text.parse() == Ok(level))
                && index_file(tree, cpu, index, "type").is_none_or(|kind| kind != "Instruction")
        })
        .and_then(|index| size(&index_file(tree, cpu, index, "size")?))
}

fn index_file(tree: &Tree, cpu: u32, index: &str, name: &str) -> Option<String> {
    tree.text(&format!("{FOLDER}/cpu{cpu}/cache/{index}/{name}"))
}

/// A size as the kernel writes it: `32768K`.
fn size(text: &str) -> Option<u64> {
    let kibibytes: u64 = text.strip_suffix('K')?.parse().ok()?;
    kibibytes.checked_mul(1024).filter(|bytes| *bytes > 0)
}

/// The rank of each PU; `None` where a file is missing, or where all ranks are equal.
fn ranking(tree: &Tree, pus: &[Pu], file: &str) -> Option<Vec<u32>> {
    let ranks = pus
        .iter()
        .map(|pu| tree.text(&format!("{FOLDER}/cpu{}/{file}", pu.os))?.parse::<u32>().ok());
    let ranks = ranks.collect::<Option<Vec<u32>>>()?;
    ranks.iter().any(|rank| *rank != ranks[0]).then_some(ranks)
}

#[cfg(test)]
mod tests {
    use super::super::testing::tree_of;
    use super::*;

    fn pus() -> Vec<Pu> {
        (0..4).map(|os| Pu { os, l2: Some(os), l3: Some(os / 2), ..Pu::default() }).collect()
    }

    fn added(files: &[(String, &str)]) -> Vec<Pu> {
        let mut pus = pus();
        add(
            &tree_of(&files.iter().map(|(path, text)| (path.as_str(), *text)).collect::<Vec<_>>()),
            &mut pus,
        );
        pus
    }

    #[test]
    fn a_cache_has_the_size_that_its_first_cpu_tells() {
        let cache =
            |cpu: u32, index: &str, level: &'static str, kind: &'static str, size: &'static str| {
                let path = |name: &str| format!("{FOLDER}/cpu{cpu}/cache/{index}/{name}");
                [(path("level"), level), (path("type"), kind), (path("size"), size)]
            };
        let files = [
            cache(0, "index1", "2", "Instruction", "7K"),
            cache(0, "index2", "2", "Unified", "1024K"),
            cache(0, "index3", "3", "Unified", "98304K"),
            cache(2, "index3", "3", "Unified", "32768K"),
            cache(3, "index2", "2", "Unified", "much"),
        ];
        let pus = added(&files.concat());
        assert_eq!(
            pus.iter().map(|pu| pu.l2_bytes).collect::<Vec<_>>(),
            [Some(1 << 20), None, None, None]
        );
        let l3 = [Some(96 << 20), Some(96 << 20), Some(32 << 20), Some(32 << 20)];
        assert_eq!(pus.iter().map(|pu| pu.l3_bytes).collect::<Vec<_>>(), l3);
    }

    #[test]
    fn a_ranking_needs_all_cpus_and_a_difference() {
        let told = |file: &str, ranks: [&'static str; 4]| {
            let files: Vec<_> =
                (0..4).map(|os| format!("{FOLDER}/cpu{os}/{file}")).zip(ranks).collect();
            added(&files).iter().map(|pu| pu.priority).collect::<Vec<_>>()
        };
        assert_eq!(told(RANKINGS[0], ["236", "231", "196", "191"]), [236, 231, 196, 191].map(Some));
        assert_eq!(told(RANKINGS[1], ["68", "68", "68", "71"]), [68, 68, 68, 71].map(Some));
        assert_eq!(told(RANKINGS[1], ["68", "68", "68", "68"]), [None; 4]);
        assert_eq!(told(RANKINGS[0], ["236", "", "196", "191"]), [None; 4]);
    }
}
