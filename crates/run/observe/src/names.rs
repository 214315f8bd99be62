//! Names of tasks that a second run finds again.

use std::collections::HashMap;

/// `worker#0`, `worker#1`.
pub fn numbered<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let names: Vec<&str> =
        names.into_iter().map(|name| if name.is_empty() { "unnamed" } else { name }).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    names.iter().for_each(|name| *counts.entry(name).or_default() += 1);
    let mut next: HashMap<&str, usize> = HashMap::new();
    names
        .iter()
        .copied()
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
