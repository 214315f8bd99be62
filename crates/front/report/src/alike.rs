//! Groups of similar things.

/// Each thing belongs to the first group whose first member is like it.
pub fn alike<T>(
    things: impl IntoIterator<Item = T>,
    are_alike: impl Fn(&T, &T) -> bool,
) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    for thing in things {
        match groups.iter_mut().find(|group| are_alike(&group[0], &thing)) {
            Some(group) => group.push(thing),
            None => groups.push(vec![thing]),
        }
    }
    groups
}
