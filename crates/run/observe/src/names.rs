//! Names of tasks that a second run finds again.

use seatmap_launch::lineage::{self, TaskPath};
use std::collections::HashMap;
use std::hash::Hash;

/// The threads with their paths, in the paths' order. `threads` is in order of creation.
pub fn by_path<K: Copy + Hash + Ord>(
    threads: &[K],
    creator: impl Fn(K) -> Option<K>,
) -> Vec<(TaskPath, K)> {
    let paths = lineage::paths(threads, creator).into_iter();
    let mut found: Vec<(TaskPath, K)> = paths.map(|(thread, path)| (path, thread)).collect();
    found.sort();
    found
}

/// The task of each thread.
pub fn places<K: Copy + Hash + Eq>(paths: &[(TaskPath, K)]) -> HashMap<K, usize> {
    paths.iter().enumerate().map(|(place, (_, thread))| (*thread, place)).collect()
}

/// `worker#0`, `worker#1`.
pub fn numbered<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let names: Vec<&str> =
        names.into_iter().map(|name| if name.is_empty() { "unnamed" } else { name }).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    names.iter().for_each(|name| *counts.entry(name).or_default() += 1);
    let mut next: HashMap<&str, usize> = HashMap::new();
    names
        .into_iter()
        .map(|name| {
            let number = next.entry(name).or_default();
            *number += 1;
            if counts[name] == 1 { name.to_owned() } else { format!("{name}#{}", *number - 1) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::numbered;

    #[test]
    fn duplicate_names_get_numbers() {
        assert_eq!(numbered(["app", "w", "", "w"]), ["app", "w#0", "unnamed", "w#1"]);
    }
}
