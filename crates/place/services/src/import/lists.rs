//! Sets of CPUs and nodes in the notations of other tools.
//!
//! | tool | notation | from |
//! |---|---|---|
//! | kubelet | `0-3,8` | cpuset(7), "List format" |
//! | systemd | `0-3 8`, `0-3,8` | systemd.exec(5), `CPUAffinity=` |
//! | libvirt | `0-7,^3` | libvirt's `formatdomain.html`, `cpuset` |

use seatmap_data::document::whole_number;
use seatmap_os::CpuSet;

/// Linux supports up to 8192 CPUs (`NR_CPUS` of x86-64) and 1024 nodes (`MAX_NUMNODES`).
const MOST: usize = 1 << 14;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListSpelling {
    /// Commas.
    Kubelet,
    /// Commas and spaces.
    Systemd,
    /// Commas, and `^` before an excluded index.
    Libvirt,
}

/// An empty text is the empty set.
pub fn parse(text: &str, spelling: ListSpelling) -> Option<CpuSet> {
    if text.trim().is_empty() {
        return Some(CpuSet::default());
    }
    let members: Box<dyn Iterator<Item = &str>> = match spelling {
        ListSpelling::Systemd => Box::new(
            text.split(|c: char| c == ',' || c.is_whitespace()).filter(|one| !one.is_empty()),
        ),
        ListSpelling::Kubelet | ListSpelling::Libvirt => Box::new(text.split(',')),
    };
    let mut is_in = vec![false; MOST];
    for member in members.map(str::trim) {
        let left_out = member.strip_prefix('^').filter(|_| spelling == ListSpelling::Libvirt);
        if let Some(left_out) = left_out {
            is_in[index(left_out)?] = false;
            continue;
        }
        let (first, last) = member.split_once('-').unwrap_or((member, member));
        let [first, last] = [index(first)?, index(last)?];
        if last < first {
            return None;
        }
        is_in[first..=last].fill(true);
    }
    Some((0..).zip(is_in).filter(|(_, is_in)| *is_in).map(|(at, _)| at).collect())
}

/// `None` if a number is too large.
pub fn of_numbers(numbers: &[u32]) -> Option<CpuSet> {
    let all_fit = numbers.iter().all(|number| (*number as usize) < MOST);
    all_fit.then(|| numbers.iter().copied().collect())
}

fn index(text: &str) -> Option<usize> {
    whole_number::<usize>(text.trim()).filter(|at| *at < MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, spelling: ListSpelling) -> Option<String> {
        parse(text, spelling).map(|set| set.to_string())
    }

    #[test]
    fn cpu_lists_follow_each_tools_notation() {
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
    fn repeated_ranges_are_parsed_quickly() {
        let text = vec!["0-16383"; 20_000].join(",");
        assert_eq!(read(&text, ListSpelling::Kubelet).as_deref(), Some("0-16383"));
    }
}
