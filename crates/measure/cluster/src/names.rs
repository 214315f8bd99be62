//! Shortens node names but keeps them distinguishable.

const LEFT_OUT: &str = "..";

/// Shortens names to `width` letters as far as they stay different: `compute-standard-0003` becomes
/// `..0003`.
///
/// ```
/// use seatmap_cluster::names::apart;
/// assert_eq!(apart(&["compute-standard-0000", "compute-standard-0001"], 7), ["..0000", "..0001"]);
/// assert_eq!(apart(&["n0", "n1"], 7), ["n0", "n1"]);
/// ```
pub fn apart(names: &[&str], width: usize) -> Vec<String> {
    if names.iter().all(|name| name.chars().count() <= width) {
        return names.iter().map(|name| (*name).to_owned()).collect();
    }
    let letters: Vec<Vec<char>> = names.iter().map(|name| name.chars().collect()).collect();
    let begin = whole_number(&letters, common(&letters, |name, at| name.get(at).copied()));
    let rest: Vec<Vec<char>> = letters.iter().map(|name| name[begin..].to_vec()).collect();
    let end = common(&rest, |name, at| name.len().checked_sub(at + 1).map(|at| name[at]));
    rest.iter()
        .map(|name| {
            let whole: String = name.iter().collect();
            let sign = if begin > 0 { LEFT_OUT } else { "" };
            if name.len() + sign.len() <= width {
                return format!("{sign}{whole}");
            }
            let middle: String = name[..name.len() - end].iter().collect();
            format!("{sign}{middle}{}", if end > 0 { LEFT_OUT } else { "" })
        })
        .collect()
}

fn common(names: &[Vec<char>], letter: impl Fn(&Vec<char>, usize) -> Option<char>) -> usize {
    let shortest = names.iter().map(Vec::len).min().unwrap_or(0);
    // The last letter stays, so no name is empty.
    (0..shortest.saturating_sub(1))
        .take_while(|at| names.windows(2).all(|two| letter(&two[0], *at) == letter(&two[1], *at)))
        .count()
}

fn whole_number(names: &[Vec<char>], begin: usize) -> usize {
    let Some(first) = names.first() else { return begin };
    begin - first[..begin].iter().rev().take_while(|letter| letter.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shortened_names_keep_the_distinguishing_part() {
        assert_eq!(
            apart(&["compute-standard-0009", "compute-standard-0010"], 12),
            ["..0009", "..0010"]
        );
        assert_eq!(
            apart(&["rack1-node.cluster.local", "rack2-node.cluster.local"], 12),
            ["..1..", "..2.."]
        );
        assert_eq!(apart(&["a-long-name-without-like"], 7), ["..e"]);
        assert_eq!(apart(&["login.cluster.example", "n1.cluster.example"], 8), ["login..", "n1.."]);
        assert_eq!(apart(&[], 8), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn different_names_stay_different(names in prop::collection::btree_set("[ab0-2]{1,6}", 2..8), stem in "[a-c0-1]{0,20}") {
            let whole: Vec<String> = names.iter().map(|name| format!("{stem}{name}")).collect();
            let whole: Vec<&str> = whole.iter().map(String::as_str).collect();
            let short = apart(&whole, 4);
            let different: std::collections::BTreeSet<&String> = short.iter().collect();
            prop_assert_eq!(different.len(), whole.len(), "{:?}", short);
        }
    }
}
