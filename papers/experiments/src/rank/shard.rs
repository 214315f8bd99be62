//! A part of a study, for one of several processes.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Part `number` of `of`: every `of`-th mapping, so that all parts take about as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shard {
    /// The number of the part, from 1.
    pub number: u32,
    /// The number of parts.
    pub of: u32,
}

impl Shard {
    /// The part's mappings among all.
    pub fn part(self, indices: &[u64]) -> Vec<u64> {
        let first = self.number.saturating_sub(1) as usize;
        indices.iter().skip(first).step_by(self.of.max(1) as usize).copied().collect()
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('/').and_then(|(number, of)| {
            let shard = Shard { number: number.parse().ok()?, of: of.parse().ok()? };
            (1..=shard.of).contains(&shard.number).then_some(shard)
        });
        parsed.ok_or_else(|| format!("'{text}' is not a part of a whole; write 1/4 to 4/4"))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_cover_all_mappings_once() {
        let all: Vec<u64> = (0..120).collect();
        for of in [1, 2, 7, 120, 121] {
            let parts = (1..=of).flat_map(|number| Shard { number, of }.part(&all));
            let mut parts: Vec<u64> = parts.collect();
            parts.sort_unstable();
            assert_eq!(parts, all);
        }
    }

    #[test]
    fn shard_is_written_as_fraction() {
        assert_eq!("2/4".parse(), Ok(Shard { number: 2, of: 4 }));
        assert_eq!(Shard { number: 2, of: 4 }.to_string(), "2/4");
        for bad in ["", "1", "0/4", "5/4", "1/0", "-1/4", "a/b"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}
