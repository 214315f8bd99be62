//! The nodes of a process's memory: `/proc/PID/numa_maps` (proc_pid_numa_maps(5)), `smaps_rollup`
//! and `statm`.

use crate::bytes::{self, lines, small, unsigned, value, words};
use std::collections::BTreeMap;

/// Bytes by NUMA node.
pub type OnNodes = BTreeMap<u32, u64>;

/// A mapping of a process.
#[derive(Debug, Default)]
pub struct NumaMapping {
    /// First address, in hexadecimal.
    pub address: String,
    /// Memory policy as written by the kernel: `default`, `bind:0`, `interleave:0-1`, `prefer
    /// (many):0`.
    pub policy: String,
    /// File, or `heap`, `stack`, `anonymous`.
    pub name: String,
    /// Bytes by node.
    pub nodes: OnNodes,
    /// Page size in bytes.
    pub page_bytes: u64,
    /// Whether other processes may have placed its pages: it maps a file or shared memory, not only
    /// private copies.
    pub is_shared: bool,
    /// Whether its pages come from the huge page pool (hugetlbfs).
    pub is_huge: bool,
}

impl NumaMapping {
    /// Total bytes.
    pub fn bytes(&self) -> u64 {
        self.nodes.values().fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }

    fn parse(line: &[u8]) -> Option<Self> {
        let mut words = words(line).peekable();
        let address = words.next().filter(|address| address.iter().all(u8::is_ascii_hexdigit))?;
        let mut policy = bytes::text(words.next()?);
        // Two policies have names of two words.
        if let Some(more) = words.next_if(|word| word.starts_with(b"(") || policy == "weighted") {
            policy = format!("{policy} {}", bytes::text(more));
        }
        let mut mapping =
            NumaMapping { address: bytes::text(address), policy, ..NumaMapping::default() };
        let mut counts = Counts::default();
        for word in words {
            mapping.take(word, &mut counts);
        }
        mapping.is_shared = counts.is_shared(&mapping.name);
        // Kernels before 4.0 omit the page size, mostly 4 KiB.
        let page_bytes = if mapping.page_bytes == 0 { 4096 } else { mapping.page_bytes };
        for (node, count) in counts.pages {
            let bytes = mapping.nodes.entry(node).or_default();
            *bytes = bytes.saturating_add(page_bytes.saturating_mul(count));
        }
        if mapping.name.is_empty() {
            "anonymous".clone_into(&mut mapping.name);
        }
        Some(NumaMapping { page_bytes, ..mapping })
    }

    fn take(&mut self, word: &[u8], counts: &mut Counts) {
        let (key, value) = match word.iter().position(|byte| *byte == b'=') {
            Some(at) => (&word[..at], &word[at + 1..]),
            None => (word, &b""[..]),
        };
        match key {
            b"file" => {
                self.name = bytes::unescaped(value);
                counts.has_file = true;
            }
            b"anon" => counts.anonymous = unsigned(value).unwrap_or(0),
            b"mapmax" => counts.mapped_by = unsigned(value).unwrap_or(0),
            b"heap" | b"stack" => self.name = bytes::text(key),
            b"huge" => self.is_huge = true,
            b"kernelpagesize_kB" => {
                self.page_bytes = unsigned(value).unwrap_or(0).saturating_mul(1024)
            }
            [b'N', node @ ..] => {
                counts.pages.extend(small(node).zip(unsigned(value)));
            }
            _ => {}
        }
    }
}

/// Memory whose file no other program can open (`mm/hugetlb.c`, `mm/shmem.c`, `mm/memfd.c`,
/// `ipc/shm.c`).
const WITHOUT_FILE: [&str; 4] = ["/anon_hugepage", "/dev/zero (deleted)", "/memfd:", "/SYSV"];

#[derive(Debug, Default)]
struct Counts {
    has_file: bool,
    pages: Vec<(u32, u64)>,
    anonymous: u64,
    /// Number of processes that map one of its pages; 0 means one.
    mapped_by: u64,
}

impl Counts {
    fn is_shared(&self, name: &str) -> bool {
        let all = self.pages.iter().fold(0, |sum: u64, (_, pages)| sum.saturating_add(*pages));
        let is_own = self.anonymous >= all;
        let has_no_file = WITHOUT_FILE.iter().any(|prefix| name.starts_with(prefix));
        self.has_file && !is_own && !(has_no_file && self.mapped_by < 2)
    }
}

/// The mappings with memory, in address order.
pub fn parse(text: &[u8]) -> Vec<NumaMapping> {
    lines(text).filter_map(NumaMapping::parse).filter(|mapping| !mapping.nodes.is_empty()).collect()
}

/// Memory totals from `smaps_rollup` (Documentation/filesystems/proc.rst).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resident {
    /// Resident bytes.
    pub bytes: u64,
    /// Bytes in transparent and pooled huge pages.
    pub huge_bytes: u64,
}

impl Resident {
    /// Parses `smaps_rollup`; `None` without a total.
    pub fn parse(text: &[u8]) -> Option<Self> {
        // `Rss` excludes pooled pages.
        let pool = sum_of(text, &[b"Shared_Hugetlb", b"Private_Hugetlb"]);
        let large = sum_of(text, &[b"AnonHugePages", b"ShmemPmdMapped", b"FilePmdMapped"]);
        Some(Resident {
            bytes: bytes_of(text, b"Rss")?.saturating_add(pool),
            huge_bytes: pool.saturating_add(large),
        })
    }

    /// Parses `statm` (proc_pid_statm(5)), which counts pages and omits huge ones.
    pub fn of_statm(text: &[u8], page_bytes: u64) -> Option<Self> {
        let pages = unsigned(words(text).nth(1)?)?;
        Some(Resident { bytes: pages.checked_mul(page_bytes)?, huge_bytes: 0 })
    }
}

fn sum_of(text: &[u8], keys: &[&[u8]]) -> u64 {
    keys.iter().filter_map(|key| bytes_of(text, key)).fold(0, u64::saturating_add)
}

pub(crate) fn bytes_of(text: &[u8], key: &[u8]) -> Option<u64> {
    let kib = value(text, key)?.strip_suffix(b"kB")?.trim_ascii();
    unsigned(kib)?.checked_mul(1024)
}

/// This computer's base page size.
pub fn page_bytes() -> u64 {
    // SAFETY: the call touches nothing.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "\
5643e5511000 default file=/usr/bin/a\\040cat mapped=2 N0=2 kernelpagesize_kB=4
564403205000 bind:0 heap anon=4 dirty=4 active=0 N0=3 N1=1 kernelpagesize_kB=4
7fa2fcb04000 weighted interleave:0-1 anon=1 dirty=1 N1=1 kernelpagesize_kB=2048 huge
7fa2fcb26000 prefer (many):0 stack anon=1 N0=1 kernelpagesize_kB=4
7fa2fcb27000 prefer=static:1 anon=1 N7=2
7fa2fcb28000 default
nonsense default N0=1
";

    #[test]
    fn mappings_are_parsed_as_the_kernel_prints_them() {
        let found = parse(TEXT.as_bytes());
        let wanted = [
            ("/usr/bin/a cat", "default", 8192),
            ("heap", "bind:0", 16384),
            ("anonymous", "weighted interleave:0-1", 2 << 20),
            ("stack", "prefer (many):0", 4096),
            ("anonymous", "prefer=static:1", 8192),
        ];
        let wanted =
            wanted.map(|(name, policy, bytes)| (name.to_owned(), policy.to_owned(), bytes));
        assert_eq!(
            found
                .iter()
                .map(|mapping| (mapping.name.clone(), mapping.policy.clone(), mapping.bytes()))
                .collect::<Vec<_>>(),
            wanted
        );
        assert_eq!(found[1].nodes, OnNodes::from([(0, 12288), (1, 4096)]));
        assert!(found[2].is_huge && found[2].page_bytes == 2 << 20 && !found[0].is_huge);
        assert!(found[0].is_shared && !found[1].is_shared);
        let empty = NumaMapping::parse(b"7fa2 prefer (many):0").unwrap();
        assert_eq!(empty.policy, "prefer (many):0");
    }

    #[test]
    fn memory_without_file_is_private_unless_mapped_twice() {
        let is_shared = |rest: &str| {
            let found = parse(format!("7fa2fcb04000 default file={rest} N0=10\n").as_bytes());
            found[0].is_shared
        };
        for own in [
            "/anon_hugepage\\040(deleted) huge anon=10 dirty=10 kernelpagesize_kB=2048",
            "/anon_hugepage\\040(deleted) huge anon=10 dirty=10 mapmax=2",
            "/anon_hugepage\\040(deleted) huge dirty=10",
            "/dev/zero\\040(deleted) dirty=10",
            "/memfd:pool\\040(deleted) dirty=10",
            "/SYSV00000000\\040(deleted) dirty=10",
            "/usr/lib/libc.so.6 anon=10 dirty=10",
            "/dev/hugepages/own huge anon=10 dirty=10",
        ] {
            assert!(!is_shared(own), "{own}");
        }
        for shared in [
            "/dev/zero\\040(deleted) dirty=10 mapmax=2",
            "/dev/zero dirty=10",
            "/memfd:pool\\040(deleted) dirty=10 mapmax=3",
            "/usr/lib/libc.so.6 mapped=10 anon=9",
            "/dev/shm/x dirty=10",
        ] {
            assert!(is_shared(shared), "{shared}");
        }
    }

    #[test]
    fn resident_size_includes_both_kinds_of_huge_pages() {
        let text = b"1-2 ---p 0 00:00 0 [rollup]\nRss: 100 kB\nAnonHugePages: 40 kB\nPrivate_Hugetlb: 8 kB\n";
        assert_eq!(
            Resident::parse(text),
            Some(Resident { bytes: 108 << 10, huge_bytes: 48 << 10 })
        );
        assert_eq!((Resident::parse(b""), Resident::parse(b"Rss: x kB")), (None, None));
        let statm = Resident::of_statm(b"900 3 1 1 0 1 0\n", 4096);
        assert_eq!(statm, Some(Resident { bytes: 12288, huge_bytes: 0 }));
        assert_eq!(Resident::of_statm(b"900", 4096), None);
    }

    proptest! {
        #[test]
        fn parser_survives_any_bytes(text: Vec<u8>, at in 0..TEXT.len(), byte: u8) {
            let _ = (parse(&text), Resident::parse(&text), Resident::of_statm(&text, 4096));
            let mut changed = TEXT.as_bytes().to_vec();
            changed[at] = byte;
            let _ = parse(&changed);
        }
    }
}
