//! hwloc's sets of PUs: `0x0000ffff,,0xffffffff`.

use seatmap_os::cpu_list::MAX_CPU;
use std::fmt;

const WORD_BITS: u32 = u32::BITS;

/// A set of OS indices of any length: 32-bit words, in the file the most significant first, an
/// empty word for zero.
///
/// A leading `0xf...f` includes everything above (hwloc's bitmaps may be infinite).
#[derive(Debug, Default, PartialEq)]
pub struct HwlocBitmap {
    /// Least significant first.
    words: Vec<u32>,
    all_above: bool,
}

impl HwlocBitmap {
    /// Reads the form in files; `None` for anything else, and for more PUs than [`MAX_CPU`].
    pub fn parse(text: &str) -> Option<Self> {
        // One more word than accepted, so a longer set is refused and not truncated, and one for
        // the mark of an infinite set.
        let mut words: Vec<&str> = text.trim().split(',').take(MAX_CPU as usize / 32 + 3).collect();
        let all_above = words.first() == Some(&"0xf...f");
        if all_above {
            words.remove(0);
        }
        let words: Option<Vec<u32>> = words.into_iter().rev().map(parse_word).collect();
        words
            .filter(|words| words.len() <= MAX_CPU as usize / 32 + 1)
            .map(|words| HwlocBitmap { words, all_above })
    }

    pub fn contains(&self, os: u32) -> bool {
        match self.words.get((os / WORD_BITS) as usize) {
            Some(word) => word >> (os % WORD_BITS) & 1 == 1,
            None => self.all_above,
        }
    }

    /// The number of PUs in the set; the largest number if infinite.
    pub fn len(&self) -> usize {
        if self.all_above {
            usize::MAX
        } else {
            self.words.iter().map(|word| word.count_ones() as usize).sum()
        }
    }
}

fn parse_word(word: &str) -> Option<u32> {
    match word {
        "" => Some(0),
        _ => word.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok()),
    }
}

impl FromIterator<u32> for HwlocBitmap {
    fn from_iter<I: IntoIterator<Item = u32>>(os_indices: I) -> Self {
        let mut set = HwlocBitmap::default();
        for os in os_indices {
            let word = (os / WORD_BITS) as usize;
            set.words.resize(set.words.len().max(word + 1), 0);
            set.words[word] |= 1 << (os % WORD_BITS);
        }
        set
    }
}

impl fmt::Display for HwlocBitmap {
    /// hwloc's form, only for finite sets; `0x0` for the empty set. hwloc does not read an empty
    /// last word.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length =
            self.words.iter().rposition(|word| *word != 0).map_or(0, |highest| highest + 1);
        let mut separator = "";
        for (at, word) in self.words[..length].iter().enumerate().rev() {
            match (at, word) {
                (0, 0) => write!(out, "{separator}0x0")?,
                (_, 0) => out.write_str(separator)?,
                _ => write!(out, "{separator}0x{word:08x}")?,
            }
            separator = ",";
        }
        if length == 0 { out.write_str("0x0") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hwloc_bitmaps_are_read() {
        let set = HwlocBitmap::parse("0x000e0000,,,,,,,0x00000001").unwrap();
        assert!([0, 241, 242, 243].into_iter().all(|os| set.contains(os)));
        assert_eq!(set.len(), 4);
        let set = HwlocBitmap::parse("0xf...f,0x00000001").unwrap();
        assert!(set.contains(0) && !set.contains(31) && set.contains(32) && set.contains(4000));
    }

    #[test]
    fn bitmaps_are_written_as_hwloc_does() {
        let written = |os: &[u32]| os.iter().copied().collect::<HwlocBitmap>().to_string();
        assert_eq!(written(&[0, 100]), "0x00000010,,,0x00000001");
        assert_eq!(written(&[100]), "0x00000010,,,0x0");
        assert_eq!(written(&[]), "0x0");
    }

    #[test]
    fn invalid_bitmaps_are_refused() {
        for text in ["0xg", "12", "0x123456789", "0x1,-0x1", "0x1;0x1"] {
            assert_eq!(HwlocBitmap::parse(text), None, "{text}");
        }
        assert_eq!(HwlocBitmap::parse(&",".repeat(1 << 20)), None);
        let longest = ",".repeat(MAX_CPU as usize / 32);
        assert!(HwlocBitmap::parse(&format!("0xf...f,{longest}")).is_some());
        assert_eq!(HwlocBitmap::parse(&format!("0xf...f,{longest},0x1")), None);
    }

    proptest! {
        #[test]
        fn bitmap_round_trip_keeps_the_set(mut os in prop::collection::vec(0u32..3000, 1..40)) {
            let set: HwlocBitmap = os.iter().copied().collect();
            let back = HwlocBitmap::parse(&set.to_string()).unwrap();
            prop_assert_eq!(&back, &set);
            os.sort_unstable();
            os.dedup();
            prop_assert_eq!((0..3000).filter(|os| back.contains(*os)).collect::<Vec<_>>(), os);
        }
    }
}
