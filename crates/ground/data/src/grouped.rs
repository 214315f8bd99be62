//! Groups values by a key.

use std::collections::BTreeMap;

/// The values of each key, in their order.
pub fn by_key<K: Ord, V, C: Default + Extend<V>>(
    pairs: impl IntoIterator<Item = (K, V)>,
) -> BTreeMap<K, C> {
    let mut groups: BTreeMap<K, C> = BTreeMap::new();
    for (key, value) in pairs {
        groups.entry(key).or_default().extend([value]);
    }
    groups
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    #[test]
    fn groups_keep_the_order_of_values() {
        let groups: BTreeMap<u8, Vec<&str>> = super::by_key([(2, "b"), (1, "z"), (2, "a")]);
        assert_eq!(groups, BTreeMap::from([(1, vec!["z"]), (2, vec!["b", "a"])]));
    }
}
