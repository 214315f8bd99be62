//! Sets of CPUs and nodes in the spellings of other tools.
//!
//! | tool | spelling | from |
//! |---|---|---|
//! | kubelet | `0-3,8` | cpuset(7), "List format" |
//! | systemd | `0-3 8`, `0-3,8` | systemd.exec(5), `CPUAffinity=` |
//! | libvirt | `0-7,^3` | libvirt's `formatdomain.html`, `cpuset` |

use seatmap_document::whole_number;
use seatmap_os::CpuSet;

/// One more than the largest index. Linux stops at 8192 CPUs (`NR_CPUS` of x86-64), and at 1024
/// nodes (`MAX_NUMNODES`).
const MOST: usize = 1 << 14;

/// Indexes as bits: filling a range costs the same however often a file repeats it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IndexBits([u64; MOST / 64]);

impl Default for IndexBits {
    fn default() -> Self {
        IndexBits([0; MOST / 64])
    }
}

/// The spellings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListSpelling {
    /// Commas.
    Kubelet,
    /// Commas and blanks.
    Systemd,
    /// Commas, and `^` before an index that is left out.
    Libvirt,
}

impl IndexBits {
    /// Reads a list; an empty text is the empty set. `None` where it is not a list.
    pub(super) fn parse(text: &str, spelling: ListSpelling) -> Option<Self> {
        let mut bits = IndexBits::default();
        if text.trim().is_empty() {
            return Some(bits);
        }
        let members: Box<dyn Iterator<Item = &str>> = match spelling {
            ListSpelling::Systemd => Box::new(
                text.split(|c: char| c == ',' || c.is_whitespace()).filter(|one| !one.is_empty()),
            ),
            ListSpelling::Kubelet | ListSpelling::Libvirt => Box::new(text.split(',')),
        };
        for member in members.map(str::trim) {
            if let Some(left_out) =
                member.strip_prefix('^').filter(|_| spelling == ListSpelling::Libvirt)
            {
                let at = index(left_out)?;
                bits.0[at / 64] &= !(1 << (at % 64));
                continue;
            }
            let (first, last) = member.split_once('-').unwrap_or((member, member));
            let [first, last] = [index(first)?, index(last)?];
            if last < first {
                return None;
            }
            bits.fill(first, last);
        }
        Some(bits)
    }

    /// Sets all bits from the first to the last.
    fn fill(&mut self, first: usize, last: usize) {
        for word in first / 64..=last / 64 {
            let low = first.max(word * 64) - word * 64;
            let high = last.min(word * 64 + 63) - word * 64;
            self.0[word] |= (u64::MAX >> (63 - high)) & (u64::MAX << low);
        }
    }

    /// The indexes of a list of numbers; `None` where one is too large.
    pub(super) fn of_numbers(numbers: &[u32]) -> Option<Self> {
        let mut bits = IndexBits::default();
        for number in numbers {
            let at = usize::try_from(*number).ok().filter(|at| *at < MOST)?;
            bits.fill(at, at);
        }
        Some(bits)
    }

    /// Adds another set.
    pub(super) fn join(&mut self, other: &IndexBits) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }

    /// The indexes that both have.
    pub(super) fn within(&self, other: &IndexBits) -> IndexBits {
        let mut both = self.clone();
        both.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= other);
        both
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// The set.
    pub(super) fn to_set(&self) -> CpuSet {
        let words = self.0.iter().enumerate().filter(|(_, word)| **word != 0);
        words
            .flat_map(|(at, word)| {
                (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
            })
            .filter_map(|at| u32::try_from(at).ok())
            .collect()
    }
}

fn index(text: &str) -> Option<usize> {
    whole_number::<usize>(text.trim()).filter(|at| *at < MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, spelling: ListSpelling) -> Option<String> {
        IndexBits::parse(text, spelling).map(|bits| bits.to_set().to_string())
    }

    #[test]
    fn each_tool_has_its_spelling() {
        for (text, spelling, list) in [
            ("0-3,8", ListSpelling::Kubelet, Some("0-3,8")),
            ("", ListSpelling::Kubelet, Some("")),
            ("0-3 8", ListSpelling::Kubelet, None),
            ("0-3 8", ListSpelling::Systemd, Some("0-3,8")),
            ("0-3, 8\t10", ListSpelling::Systemd, Some("0-3,8,10")),
            ("numa", ListSpelling::Systemd, None),
            ("0-70,^3", ListSpelling::Libvirt, Some("0-2,4-70")),
            ("^3,0-4", ListSpelling::Libvirt, Some("0-4")),
            ("0-3,^1", ListSpelling::Kubelet, None),
            ("3-1", ListSpelling::Libvirt, None),
            ("1,,2", ListSpelling::Libvirt, None),
            ("63-64", ListSpelling::Kubelet, Some("63,64")),
            ("16383", ListSpelling::Kubelet, Some("16383")),
            ("16384", ListSpelling::Kubelet, None),
            ("-1", ListSpelling::Kubelet, None),
            ("99999999999999999999999", ListSpelling::Kubelet, None),
        ] {
            assert_eq!(read(text, spelling).as_deref(), list, "{text:?}");
        }
    }

    #[test]
    fn a_list_that_repeats_itself_costs_no_more() {
        let text = vec!["0-16383"; 20_000].join(",");
        assert_eq!(read(&text, ListSpelling::Kubelet).as_deref(), Some("0-16383"));
    }
}
