//! Interrupts (`/proc/irq`): where each may go, where it goes, and its device.

use crate::CpuSet;
use crate::root::Root;

/// The folder of interrupts.
const FOLDER: &str = "/proc/irq";

/// All interrupts, by number.
#[must_use]
pub fn all(root: &Root) -> Vec<String> {
    let is_number = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit());
    root.folders(FOLDER).into_iter().filter(is_number).collect()
}

/// The file that says where an interrupt may go.
#[must_use]
pub fn affinity_file(irq: &str) -> String {
    format!("{FOLDER}/{irq}/smp_affinity_list")
}

/// The CPUs that an interrupt goes to: those that the kernel has chosen among the ones that it may go to, or all of
/// these.
///
/// The kernel follows a change of the mask at the next interrupt only. Until then its choice lies outside the mask,
/// and says nothing of later interrupts.
#[must_use]
pub fn goes_to(root: &Root, irq: &str) -> CpuSet {
    let list = |path: &str| CpuSet::of_list(&root.read(path).ok()?);
    let chosen = list(&format!("{FOLDER}/{irq}/effective_affinity_list")).filter(|chosen| !chosen.is_empty());
    match (list(&affinity_file(irq)), chosen) {
        (Some(allowed), Some(chosen)) if !chosen.is_subset(&allowed) => allowed,
        (allowed, chosen) => chosen.or(allowed).unwrap_or_default(),
    }
}

/// Writes where an interrupt may go over itself, which changes nothing, and which the kernel refuses for interrupts
/// that it manages itself.
///
/// # Errors
/// The kernel's error; `EACCES` or `EROFS` mean that this process may not move any interrupt.
pub fn try_to_move(root: &Root, irq: &str) -> std::io::Result<()> {
    let path = affinity_file(irq);
    root.read(&path).and_then(|text| root.write(&path, &text)).map_err(|error| error.source)
}

/// An interrupt's number and, behind it in parentheses, the handlers that the interrupt is for.
#[must_use]
pub fn name(root: &Root, irq: &str) -> String {
    let handlers = root.folders(&format!("{FOLDER}/{irq}"));
    if handlers.is_empty() { irq.to_owned() } else { format!("{irq} ({})", handlers.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn computer(allowed: &str, chosen: Option<&str>) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        std::fs::create_dir_all(root.path("/proc/irq/7/ttyS0")).unwrap();
        std::fs::write(root.path(&affinity_file("7")), allowed).unwrap();
        chosen.into_iter().for_each(|text| {
            std::fs::write(root.path("/proc/irq/7/effective_affinity_list"), text).unwrap();
        });
        (folder, root)
    }

    fn goes(allowed: &str, chosen: Option<&str>) -> String {
        let (_folder, root) = computer(allowed, chosen);
        goes_to(&root, "7").list().to_string()
    }

    #[test]
    fn an_interrupt_goes_where_the_kernel_sends_it() {
        assert_eq!(goes("0-3", Some("2\n")), "2");
        assert_eq!(goes("0-3", Some("\n")), "0-3", "a kernel that has not chosen yet");
        assert_eq!(goes("0-3", None), "0-3", "a kernel that does not say");
        assert_eq!(goes("0,1", Some("3")), "0,1", "a change that the kernel has not followed yet");
    }

    #[test]
    fn interrupts_have_names() {
        let (_folder, root) = computer("0", None);
        std::fs::create_dir(root.path("/proc/irq/other")).unwrap();
        assert_eq!((all(&root), name(&root, "7")), (vec!["7".to_owned()], "7 (ttyS0)".to_owned()));
        assert_eq!(goes_to(&root, "8"), CpuSet::default());
        assert!(try_to_move(&root, "7").is_ok() && try_to_move(&root, "8").is_err());
    }

    proptest! {
        #[test]
        fn it_never_goes_where_it_may_not(
            allowed in prop::collection::btree_set(0u32..8, 1..8),
            chosen in prop::collection::btree_set(0u32..8, 0..8),
        ) {
            let spelled = |cpus: std::collections::BTreeSet<u32>| cpus.into_iter().collect::<CpuSet>();
            let (allowed, chosen) = (spelled(allowed), spelled(chosen));
            let (_folder, root) = computer(&allowed.to_string(), Some(&chosen.to_string()));
            let goes = goes_to(&root, "7");
            prop_assert!(goes.is_subset(&allowed) && !goes.is_empty());
        }
    }
}
