//! Maps physical addresses to home slices.

const LINE_BYTES: u64 = 64;

/// How a processor spreads cache lines over its slices (McCalpin 2021, "Mapping Addresses to L3/CHA
/// Slices in Intel Processors", TACC TR-2021-03).
///
/// The slices of the first lines form the base sequence, which repeats permuted at higher
/// addresses: a line's position in it is XORed with a number whose bits are parities of the address
/// under masks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressHash {
    base: Vec<u32>,
    masks: Vec<u64>,
}

/// Why the text of a hash was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HashError {
    /// A line of the base sequence is not a decimal number.
    #[error("line {line} of the base sequence is not a slice number: '{text}'")]
    Slice {
        /// Line, from 1.
        line: usize,
        /// Text read.
        text: String,
    },
    /// The length of the base sequence is not a power of two.
    // Plural: one is a power of two.
    #[error("the base sequence has {0} lines, which is not a power of two")]
    Length(usize),
    /// A mask is not a hexadecimal number.
    #[error("permutation mask {place} is not a hexadecimal number: '{text}'")]
    Mask {
        /// Position, from 1.
        place: usize,
        /// Text read.
        text: String,
    },
}

impl AddressHash {
    /// Builds a hash from its base sequence and its masks, the lowest bit's first.
    ///
    /// # Errors
    /// [`HashError::Length`].
    pub fn new(base: Vec<u32>, masks: Vec<u64>) -> Result<Self, HashError> {
        if base.len().is_power_of_two() {
            Ok(AddressHash { base, masks })
        } else {
            Err(HashError::Length(base.len()))
        }
    }

    /// Parses the two files that McCalpin publishes for each processor: `BaseSequence_*.tbl`, and
    /// `PermSelectMasks_*.tbl` whose first line is the range of address bits.
    ///
    /// # Errors
    /// The first [`HashError`].
    pub fn parse(base: &str, masks: &str) -> Result<Self, HashError> {
        let base = base
            .lines()
            .enumerate()
            .map(|(at, text)| {
                text.trim()
                    .parse()
                    .map_err(|_| HashError::Slice { line: at + 1, text: text.to_owned() })
            })
            .collect::<Result<Vec<u32>, _>>()?;
        let words = masks.lines().nth(1).unwrap_or_default().split_whitespace();
        AddressHash::new(
            base,
            words
                .enumerate()
                .map(|(at, text)| {
                    let digits = text.trim_start_matches("0x");
                    u64::from_str_radix(digits, 16)
                        .map_err(|_| HashError::Mask { place: at + 1, text: text.to_owned() })
                })
                .collect::<Result<Vec<u64>, _>>()?,
        )
    }

    /// The home slice of this physical address.
    pub fn slice(&self, address: u64) -> u32 {
        let permutation: u64 = self
            .masks
            .iter()
            .enumerate()
            .map(|(bit, mask)| u64::from((address & mask).count_ones() & 1) << bit)
            .sum();
        let place = (address / LINE_BYTES) ^ permutation;
        self.base[place as usize & (self.base.len() - 1)]
    }
}

#[cfg(test)]
pub(crate) fn published(name: &str) -> Option<AddressHash> {
    let folder = seatmap_needs::published("intel-address-hash")?;
    let [base, masks] = ["BaseSequence", "PermSelectMasks"]
        .map(|what| std::fs::read_to_string(folder.join(format!("{what}_{name}-slice.tbl"))));
    Some(AddressHash::parse(&base.ok()?, &masks.ok()?).expect("a published hash"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn base_sequence_repeats_permuted() {
        let hash = AddressHash::parse("0\n1\n2\n3", "8 9\n0x100 0x300 0x0").unwrap();
        let slices =
            |start: u64| (0..4).map(|line| hash.slice(start + 64 * line)).collect::<Vec<_>>();
        assert_eq!(slices(0), [0, 1, 2, 3]);
        assert_eq!(slices(0x100), [3, 2, 1, 0]);
        assert_eq!(slices(0x200), [2, 3, 0, 1]);
    }

    #[test]
    fn parse_errors_name_line_or_mask() {
        let error = |base, masks| AddressHash::parse(base, masks).unwrap_err().to_string();
        assert_eq!(error("0\nx\n", ""), "line 2 of the base sequence is not a slice number: 'x'");
        assert_eq!(
            error("0\n1\n2", ""),
            "the base sequence has 3 lines, which is not a power of two"
        );
        assert_eq!(
            error("0", "18 37\n0x1 zz"),
            "permutation mask 2 is not a hexadecimal number: 'zz'"
        );
        assert!(AddressHash::new(vec![], vec![]).is_err());
    }

    #[test]
    fn page_covers_every_home() {
        for (name, slices) in [("KNL_38", 38), ("SKX_28", 28)] {
            let Some(hash) = published(name) else { return };
            assert_eq!(hash.base.iter().max(), Some(&(slices - 1)));
            let mut rng = fastrand::Rng::with_seed(1);
            for _ in 0..200 {
                let page = rng.u64(..1 << 26) << 12;
                let homes: BTreeSet<u32> =
                    (0..64).map(|line| hash.slice(page + 64 * line)).collect();
                assert_eq!(homes.len(), slices as usize, "{name}, page {page:#x}");
            }
        }
    }
}
