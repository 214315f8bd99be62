//! Sets of CPUs or NUMA nodes, of any length, and the two ways in which Linux writes them.

use seatmap_machine::cpu_list::MAX_CPU;

const WORD_BITS: u32 = u64::BITS;

/// A set of numbers up to [`MAX_CPU`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Set {
    /// The lowest numbers first, without zeros at the end, so that equal sets compare equal.
    words: Vec<u64>,
}

impl Set {
    /// The set with this one member.
    pub(super) fn single(member: u32) -> Self {
        [member].into_iter().collect()
    }

    /// Reads a mask such as `00000000,000000ff`: 32 bits between commas, the highest first. A mask without commas may
    /// have any length. `None` for anything else, and for members beyond [`MAX_CPU`].
    pub(super) fn from_mask(text: &str) -> Option<Self> {
        let text = text.trim();
        let mut set = Set::default();
        let mut shift = 0;
        for group in text.trim_start_matches("0x").rsplit(',') {
            set.add_digits(group.trim_start_matches("0x"), shift)?;
            shift += u32::BITS;
        }
        (!text.is_empty()).then(|| set.trimmed())
    }

    /// Adds the bits of hexadecimal digits, moved up by `shift`.
    fn add_digits(&mut self, digits: &str, shift: u32) -> Option<()> {
        for (at, digit) in digits.bytes().rev().enumerate() {
            let digit = u64::from(char::from(digit).to_digit(16)?);
            let bit = shift.checked_add(u32::try_from(at).ok()?.checked_mul(4)?)?;
            match digit {
                0 => {}
                _ if bit > MAX_CPU => return None,
                _ => *self.word(bit) |= digit << (bit % WORD_BITS),
            }
        }
        Some(())
    }

    /// Reads a list such as `0-3,8`; nothing at all is the empty set. `None` for anything else.
    pub(super) fn from_list(text: &str) -> Option<Self> {
        let mut set = Set::default();
        for member in text.trim().split(',').map(str::trim).filter(|member| !member.is_empty()) {
            let (range, stride) = member.split_once(':').unwrap_or((member, "1"));
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last) = (number(first)?, number(last)?);
            let stride = number(stride).filter(|stride| *stride > 0)?;
            (first..=last).step_by(stride as usize).for_each(|cpu| set.insert(cpu));
        }
        Some(set)
    }

    pub(super) fn insert(&mut self, member: u32) {
        *self.word(member) |= 1 << (member % WORD_BITS);
    }

    fn word(&mut self, member: u32) -> &mut u64 {
        let at = (member / WORD_BITS) as usize;
        self.words.resize(self.words.len().max(at + 1), 0);
        &mut self.words[at]
    }

    fn trimmed(mut self) -> Self {
        let length = self.words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
        self.words.truncate(length);
        self
    }

    pub(super) fn contains(&self, member: u32) -> bool {
        self.words.get((member / WORD_BITS) as usize).is_some_and(|word| word >> (member % WORD_BITS) & 1 == 1)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The smallest member.
    pub(super) fn first(&self) -> Option<u32> {
        let at = self.words.iter().position(|word| *word != 0)?;
        Some(at as u32 * WORD_BITS + self.words[at].trailing_zeros())
    }

    /// All members, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().zip(0u32..).flat_map(|(word, at)| {
            let bits = (0..WORD_BITS).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| at * WORD_BITS + bit)
        })
    }

    pub(super) fn intersects(&self, other: &Set) -> bool {
        self.words.iter().zip(&other.words).any(|(ours, theirs)| ours & theirs != 0)
    }

    pub(super) fn is_subset(&self, of: &Set) -> bool {
        self.words.len() <= of.words.len() && self.words.iter().zip(&of.words).all(|(ours, theirs)| ours & !theirs == 0)
    }

    /// What both hold.
    pub(super) fn and(&self, other: &Set) -> Set {
        let words = self.words.iter().zip(&other.words).map(|(ours, theirs)| ours & theirs).collect();
        Set { words }.trimmed()
    }

    pub(super) fn add_all(&mut self, other: &Set) {
        self.words.resize(self.words.len().max(other.words.len()), 0);
        self.words.iter_mut().zip(&other.words).for_each(|(ours, theirs)| *ours |= theirs);
    }
}

fn number(text: &str) -> Option<u32> {
    let text = text.trim();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?.filter(|number| *number <= MAX_CPU)
}

impl FromIterator<u32> for Set {
    fn from_iter<I: IntoIterator<Item = u32>>(members: I) -> Self {
        let mut set = Set::default();
        members.into_iter().for_each(|member| set.insert(member));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn members(set: Option<Set>) -> Option<Vec<u32>> {
        set.map(|set| set.iter().collect())
    }

    #[test]
    fn masks_of_any_length_are_read() {
        assert_eq!(members(Set::from_mask("00000001,00000000,80000005\n")), Some(vec![0, 2, 31, 64]));
        assert_eq!(members(Set::from_mask("3")), Some(vec![0, 1]));
        assert_eq!(members(Set::from_mask("10000000000000000f")), Some(vec![0, 1, 2, 3, 68]));
        assert_eq!(members(Set::from_mask("0")), Some(vec![]));
        assert_eq!(Set::from_mask(&format!("1,{}", vec!["00000000"; 32].join(","))).unwrap().first(), Some(1024));
    }

    #[test]
    fn lists_are_read() {
        assert_eq!(members(Set::from_list("0-3,8,10-14:2\n")), Some(vec![0, 1, 2, 3, 8, 10, 12, 14]));
        assert_eq!(members(Set::from_list("\n")), Some(vec![]));
        assert_eq!(members(Set::from_list("3-1")), Some(vec![]));
    }

    #[test]
    fn other_texts_are_no_sets() {
        for text in ["", "x", "1,-1", "f f", &"f".repeat(1 << 19)] {
            assert_eq!(Set::from_mask(text), None, "{}", text.len());
        }
        for text in ["x", "-1", "1-", "0-4294967295", "1:0", "99999999999999999999"] {
            assert_eq!(Set::from_list(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn sets_are_sets(
            a in prop::collection::btree_set(0u32..300, 0..40), b in prop::collection::btree_set(0u32..300, 0..40),
        ) {
            let of = |members: &BTreeSet<u32>| members.iter().copied().collect::<Set>();
            let (x, y) = (of(&a), of(&b));
            prop_assert_eq!(x.iter().collect::<BTreeSet<_>>(), a.clone());
            prop_assert_eq!((x.len(), x.first(), x.is_empty()), (a.len(), a.first().copied(), a.is_empty()));
            prop_assert_eq!(x.and(&y), a.intersection(&b).copied().collect::<Set>());
            prop_assert_eq!(x.intersects(&y), !a.is_disjoint(&b));
            prop_assert_eq!(x.is_subset(&y), a.is_subset(&b));
            let mut both = x.clone();
            both.add_all(&y);
            prop_assert_eq!(both, a.union(&b).copied().collect::<Set>());
        }

        #[test]
        fn masks_and_lists_agree(members in prop::collection::btree_set(0u32..200, 1..30)) {
            let set: Set = members.iter().copied().collect();
            let has = |at: u32, bit: u32| u32::from(members.contains(&(at * 32 + bit)));
            let word = |at: u32| (0..32).map(|bit| has(at, bit) << bit).sum::<u32>();
            let mask: Vec<String> = (0..7).rev().map(|at| format!("{:08x}", word(at))).collect();
            prop_assert_eq!(Set::from_mask(&mask.join(",")), Some(set.clone()));
            prop_assert_eq!(Set::from_mask(&mask.concat()), Some(set.clone()));
            let list: Vec<String> = members.iter().map(u32::to_string).collect();
            prop_assert_eq!(Set::from_list(&list.join(",")), Some(set));
        }

        #[test]
        fn no_text_makes_them_panic(text in "[0-9a-fx,: -]{0,40}") {
            let _ = (Set::from_mask(&text), Set::from_list(&text));
        }
    }
}
