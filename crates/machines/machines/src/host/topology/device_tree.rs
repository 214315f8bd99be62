//! Cores and caches of POWER computers from `/proc/device-tree`, which older kernels have instead
//! of caches in sysfs.
//!
//! Each folder in `cpus` is a core or a cache, with the handle of the next cache.

use super::cpus::cache_kind;
use super::nest::{Nest, SharingKind};
use super::tree::FileTree;
use seatmap_os::CpuSet;
use std::collections::{HashMap, HashSet};

const FOLDER: &str = "proc/device-tree/cpus";

const MAX_ENTRIES: usize = 1 << 14;

struct Entry {
    folder: String,
    handle: Option<u32>,
    next: Option<u32>,
    core: Option<CpuSet>,
}

pub fn add(tree: &FileTree, running: &CpuSet, nest: &mut Nest) {
    if !is_power(tree) {
        return;
    }
    let names = tree.list(FOLDER);
    let entries = names.iter().filter(|name| !name.starts_with('.')).take(MAX_ENTRIES);
    let entries: Vec<Entry> = entries.filter_map(|name| entry(tree, name, running)).collect();
    for core in entries.iter().filter_map(|entry| entry.core.as_ref()) {
        nest.insert(SharingKind::Core, core.clone(), None);
    }
    let mut before = HashMap::<u32, Vec<usize>>::new();
    for (at, entry) in entries.iter().enumerate() {
        entry.next.into_iter().for_each(|next| before.entry(next).or_default().push(at));
    }
    for cache in
        entries.iter().filter(|entry| entry.core.is_none() && holds_data(tree, &entry.folder))
    {
        let reached = cache.handle.map(|handle| reach(&entries, &before, handle));
        let (levels, pus) = reached.unwrap_or_default();
        if let Some(kind) = cache_kind(1 + levels) {
            nest.insert(kind, pus, None);
        }
    }
}

/// The levels before the cache of this handle, and the PUs there.
fn reach(entries: &[Entry], before: &HashMap<u32, Vec<usize>>, handle: u32) -> (u32, CpuSet) {
    let mut met = HashSet::new();
    let mut pus = CpuSet::default();
    let mut levels = 0;
    let mut edge = vec![(handle, 1)];
    while let Some((handle, level)) = edge.pop() {
        for at in before.get(&handle).into_iter().flatten() {
            // Ends a cycle in the tree.
            if !met.insert(*at) {
                continue;
            }
            levels = levels.max(level);
            match (&entries[*at].core, entries[*at].handle) {
                (Some(core), _) => pus.extend(core),
                (None, Some(handle)) => edge.push((handle, level + 1)),
                (None, None) => {}
            }
        }
    }
    (levels, pus)
}

fn entry(tree: &FileTree, name: &str, running: &CpuSet) -> Option<Entry> {
    let folder = format!("{FOLDER}/{name}");
    let core = match tree.text(&format!("{folder}/device_type"))?.as_str() {
        "cache" => None,
        "cpu" => {
            // The threads of a core; older firmware only has the first one, as `reg`.
            let threads = words(tree, &folder, "ibm,ppc-interrupt-server#s")
                .or_else(|| words(tree, &folder, "reg"))?;
            Some(threads.into_iter().filter(|thread| running.contains(*thread)).collect())
        }
        _ => return None,
    };
    let handle = first_word(tree, &folder, &["phandle", "ibm,phandle", "linux,phandle"]);
    let next = first_word(tree, &folder, &["next-level-cache", "l2-cache"]);
    Some(Entry { handle, next, core, folder })
}

fn first_word(tree: &FileTree, folder: &str, names: &[&str]) -> Option<u32> {
    names.iter().find_map(|name| words(tree, folder, name)?.first().copied())
}

fn holds_data(tree: &FileTree, folder: &str) -> bool {
    words(tree, folder, "d-cache-size")
        .is_some_and(|size| size.first().is_some_and(|bytes| *bytes > 0))
}

fn words(tree: &FileTree, folder: &str, name: &str) -> Option<Vec<u32>> {
    let bytes = tree.bytes(&format!("{folder}/{name}"))?;
    // Cells of a device tree are big-endian words, whatever the processor (Devicetree Specification
    // 0.4, section 2.2.4).
    let (words, _) = bytes.as_chunks::<4>();
    (!words.is_empty()).then(|| words.iter().map(|word| u32::from_be_bytes(*word)).collect())
}

/// Whether the files are those of a POWER computer, by the dump itself or its processors.
fn is_power(tree: &FileTree) -> bool {
    if !tree.has(FOLDER) {
        return false;
    }
    // Other architectures have device trees as well, with other properties of CPUs.
    let dump = tree.text("proc/hwloc-nofile-info").unwrap_or_default();
    let architecture = seatmap_os::small::value_of(&dump, "Architecture").unwrap_or_default();
    let cpuinfo = tree.first_page("proc/cpuinfo").unwrap_or_default();
    let model = seatmap_os::small::value_of(&cpuinfo, "cpu").unwrap_or_default();
    starts_with_one_of(&architecture, &["ppc", "power"])
        || starts_with_one_of(&model, &["POWER", "PPC", "PowerPC", "Cell"])
}

fn starts_with_one_of(text: &str, names: &[&str]) -> bool {
    names.iter().any(|name| text.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::super::trees_for_tests::tree_of_bytes;
    use super::*;

    fn nest(l3_next: &[u8]) -> Nest {
        let at = |path: &str| format!("{FOLDER}/{path}");
        let number = |number: u32| number.to_be_bytes().to_vec();
        let mut files =
            vec![("proc/hwloc-nofile-info".to_owned(), b"Architecture: ppc64\n".to_vec())];
        for core in 0..2u32 {
            let threads = [number(2 * core), number(2 * core + 1)].concat();
            let cpu = |file: &str| at(&format!("cpu@{core}/{file}"));
            let l2 = |file: &str| at(&format!("l2@{core}/{file}"));
            files.push((cpu("device_type"), b"cpu\0".to_vec()));
            files.push((cpu("ibm,ppc-interrupt-server#s"), threads));
            files.push((cpu("l2-cache"), number(20 + core)));
            files.push((l2("device_type"), b"cache\0".to_vec()));
            files.push((l2("phandle"), number(20 + core)));
            files.push((l2("next-level-cache"), number(30)));
            files.push((l2("d-cache-size"), number(1 << 18)));
        }
        files.push((at("l3/device_type"), b"cache".to_vec()));
        files.push((at("l3/phandle"), number(30)));
        files.push((at("l3/d-cache-size"), number(1 << 22)));
        files.push((at("l3/l2-cache"), l3_next.to_vec()));
        let running: CpuSet = (0..4).collect();
        let mut nest = Nest::new(&running);
        add(&tree_of_bytes(files), &running, &mut nest);
        nest
    }

    #[test]
    fn caches_are_found_from_the_cores() {
        let numbers = nest(&[]).numbers(&(0..4).collect(), &[]);
        let of = |kind: SharingKind| {
            (0..4).map(|pu| numbers.get(&(pu, kind)).copied()).collect::<Vec<_>>()
        };
        assert_eq!(of(SharingKind::Core), [0, 0, 1, 1].map(Some));
        assert_eq!(of(SharingKind::L2), [0, 0, 1, 1].map(Some));
        assert_eq!(of(SharingKind::L3), [0; 4].map(Some));
    }

    #[test]
    fn circular_cache_references_end() {
        let numbers = nest(&20u32.to_be_bytes()).numbers(&(0..4).collect(), &[]);
        assert!(numbers.contains_key(&(0, SharingKind::Core)));
    }
}
