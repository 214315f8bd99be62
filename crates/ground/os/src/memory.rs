//! How much memory this computer has to give.

use crate::root::Root;
use crate::small;

/// The bytes that programs can have without anything being swapped out (`MemAvailable` of
/// proc_meminfo(5)); `None` where the kernel does not say.
#[must_use]
pub fn available_bytes(root: &Root) -> Option<u64> {
    let text = small::value_of(&root.read("/proc/meminfo").ok()?, "MemAvailable")?;
    text.strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_counts_in_kib() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        assert_eq!(available_bytes(&root), None);
        std::fs::create_dir(root.path("/proc")).unwrap();
        std::fs::write(root.path("/proc/meminfo"), "MemTotal: 9 kB\nMemAvailable:       3 kB\n")
            .unwrap();
        assert_eq!(available_bytes(&root), Some(3072));
    }
}
