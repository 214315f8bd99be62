//! Differences between PUs besides their kind: the sizes of their caches, and the firmware's
//! ranking.

use super::cpus::INDEXES;
use super::tree::FileTree;
use seatmap_data::machine::Pu;
use std::collections::HashMap;

/// The kernel's files of the firmware's ranking: AMD's preferred cores first, then CPPC's highest
/// performance, which Intel's Turbo Boost Max 3.0 uses.
const RANKINGS: [&str; 2] = ["cpufreq/amd_pstate_prefcore_ranking", "acpi_cppc/highest_perf"];

const DATA: &[&str] = &["Data", "Unified"];
const INSTRUCTIONS: &[&str] = &["Instruction"];

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct CacheKind(u32, &'static [&'static str]);

pub fn add(tree: &FileTree, pus: &mut [Pu]) {
    let mut sizes: HashMap<(CacheKind, u32), Option<u64>> = HashMap::new();
    for pu in pus.iter_mut() {
        for (kind, number, bytes) in [
            (CacheKind(1, DATA), pu.core, &mut pu.l1d_bytes),
            (CacheKind(1, INSTRUCTIONS), pu.core, &mut pu.l1i_bytes),
            (CacheKind(2, DATA), pu.l2, &mut pu.l2_bytes),
            (CacheKind(3, DATA), pu.l3, &mut pu.l3_bytes),
        ] {
            *bytes = number.and_then(|number| {
                *sizes.entry((kind, number)).or_insert_with(|| cache_bytes(tree, pu.os, kind))
            });
        }
    }
    if let Some(ranking) = RANKINGS.into_iter().find_map(|file| ranking(tree, pus, file)) {
        pus.iter_mut().zip(ranking).for_each(|(pu, rank)| pu.priority = Some(rank));
    }
}

/// The size of a CPU's cache of a kind. One without a type holds data.
fn cache_bytes(tree: &FileTree, cpu: u32, CacheKind(level, types): CacheKind) -> Option<u64> {
    let read = |index: &str, file: &str| tree.of_cpu(cpu, &format!("cache/{index}/{file}"));
    let index = INDEXES.into_iter().find(|index| {
        let is_level = read(index, "level").is_some_and(|text| text.parse() == Ok(level));
        is_level && types.contains(&read(index, "type").as_deref().unwrap_or("Unified"))
    });
    size(&read(index?, "size")?)
}

fn size(text: &str) -> Option<u64> {
    let kibibytes: u64 = text.strip_suffix('K')?.parse().ok()?;
    kibibytes.checked_mul(1024).filter(|bytes| *bytes > 0)
}

fn ranking(tree: &FileTree, pus: &[Pu], file: &str) -> Option<Vec<u32>> {
    let ranks = pus.iter().map(|pu| tree.of_cpu(pu.os, file)?.parse::<u32>().ok());
    let ranks = ranks.collect::<Option<Vec<u32>>>()?;
    ranks.iter().any(|rank| *rank != ranks[0]).then_some(ranks)
}

#[cfg(test)]
mod tests {
    use super::super::tree::CPUS;
    use super::super::trees_for_tests::tree_of;
    use super::*;

    fn pus() -> Vec<Pu> {
        let pu = |os| Pu { os, core: Some(os), l2: Some(os), l3: Some(os / 2), ..Pu::default() };
        (0..4).map(pu).collect()
    }

    fn added(files: &[(String, &str)]) -> Vec<Pu> {
        let mut pus = pus();
        add(&tree_of(files), &mut pus);
        pus
    }

    #[test]
    fn cache_size_is_read_from_its_first_cpu() {
        let cache =
            |cpu: u32, index: &str, level: &'static str, kind: &'static str, size: &'static str| {
                let path = |name: &str| format!("{CPUS}/cpu{cpu}/cache/{index}/{name}");
                [(path("level"), level), (path("type"), kind), (path("size"), size)]
            };
        let files = [
            cache(0, "index0", "1", "Data", "48K"),
            cache(1, "index0", "1", "Instruction", "64K"),
            cache(2, "index0", "1", "Unified", "16K"),
            cache(0, "index1", "2", "Instruction", "7K"),
            cache(0, "index2", "2", "Unified", "1024K"),
            cache(0, "index3", "3", "Unified", "98304K"),
            cache(2, "index3", "3", "Unified", "32768K"),
            cache(3, "index2", "2", "Unified", "much"),
        ];
        let pus = added(&files.concat());
        let kib = |of: fn(&Pu) -> Option<u64>| {
            pus.iter().map(|pu| of(pu).map_or(0, |bytes| bytes >> 10)).collect::<Vec<_>>()
        };
        assert_eq!(kib(|pu| pu.l1d_bytes), [48, 0, 16, 0]);
        assert_eq!(kib(|pu| pu.l1i_bytes), [0, 64, 0, 0]);
        assert_eq!(kib(|pu| pu.l2_bytes), [1024, 0, 0, 0]);
        assert_eq!(kib(|pu| pu.l3_bytes), [98304, 98304, 32768, 32768]);
    }

    #[test]
    fn ranking_needs_all_cpus_and_a_difference() {
        let told = |file: &str, ranks: [&'static str; 4]| {
            let files: Vec<_> =
                (0..4).map(|os| format!("{CPUS}/cpu{os}/{file}")).zip(ranks).collect();
            added(&files).iter().map(|pu| pu.priority).collect::<Vec<_>>()
        };
        assert_eq!(told(RANKINGS[0], ["236", "231", "196", "191"]), [236, 231, 196, 191].map(Some));
        assert_eq!(told(RANKINGS[1], ["68", "68", "68", "71"]), [68, 68, 68, 71].map(Some));
        assert_eq!(told(RANKINGS[1], ["68", "68", "68", "68"]), [None; 4]);
        assert_eq!(told(RANKINGS[0], ["236", "", "196", "191"]), [None; 4]);
    }
}
