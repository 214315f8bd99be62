//! Names with wildcards, and suggestions for mistyped names.

use seatmap_data::machine::catalog::edits;

const MOST_SUGGESTED: usize = 3;

/// In bytes, for a comparison by letters.
const LONGEST_NAME: usize = 200;

/// `*` stands for any text and `?` for one character.
pub fn fits(pattern: &str, name: &str) -> bool {
    let [pattern, name] = [pattern, name].map(|text| text.chars().collect::<Vec<char>>());
    seatmap_launch::rule::fits(&pattern, &name, &'*', Some(&'?'))
}

/// Names that contain it, then those with the fewest changed letters, at most a third.
pub fn nearest(looked_for: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    let looked_for = looked_for.trim_matches(['*', '?']).to_lowercase();
    if looked_for.is_empty() || looked_for.len() > LONGEST_NAME {
        return Vec::new();
    }
    let mut found: Vec<(usize, String)> = names
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let changes = if lower.contains(&looked_for) { 0 } else { edits(&looked_for, &lower) };
            (3 * changes <= looked_for.len() && lower.len() <= LONGEST_NAME)
                .then_some((changes, name))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(MOST_SUGGESTED).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wildcards_match_any_text() {
        let fitting = [
            ("redis*", "redis-server"),
            ("*", ""),
            ("a?c", "abc"),
            ("*a*b*", "xxaxxbb"),
            ("x", "x"),
        ];
        assert!(fitting.iter().all(|(pattern, name)| fits(pattern, name)));
        let others =
            [("redis", "redis-server"), ("?", ""), ("a*b", "ac"), ("", "x"), ("*ab", "abc")];
        assert!(!others.iter().any(|(pattern, name)| fits(pattern, name)));
    }

    #[test]
    fn mistyped_names_get_nearest_suggestion() {
        let names = ["redis-server", "nginx", "postgres", "nginx"].map(str::to_owned);
        let found = |looked_for| nearest(looked_for, names.clone().into_iter());
        assert_eq!(
            (found("redis"), found("nginex*"), found("*")),
            (vec!["redis-server".into()], vec!["nginx".into()], vec![])
        );
        assert!(found("zzz").is_empty());
    }

    proptest! {
        #[test]
        fn name_matches_itself_with_any_gap_starred(name in "[a-z]{0,12}", from in 0usize..12, to in 0usize..12) {
            let from = from.min(name.len());
            let to = to.min(name.len());
            let pattern = format!("{}*{}", &name[..from.min(to)], &name[from.max(to)..]);
            prop_assert!(fits(&name, &name) && fits(&pattern, &name));
        }

        #[test]
        fn arbitrary_pattern_never_panics(pattern: String, name: String) {
            let _ = (fits(&pattern, &name), nearest(&pattern, [name].into_iter()));
        }
    }
}
