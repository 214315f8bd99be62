//! A cell's memory: huge pages if available, locked, near its CPUs, and zeroed before and after
//! use.
//!
//! The guardian's anonymous file (memfd_create(2)) keeps it warm between programs. Two environment
//! variables describe it to programs.

use crate::site::{Site, SiteError};
use crate::{SettingChange, SettingKind, settings};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mlock, mmap, munmap};
use seatmap_os::mempolicy::MemoryPolicy;
use seatmap_os::{CpuSet, Root, layout};
use serde::{Deserialize, Serialize};
use std::ffi::c_void;
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::path::Path;

use std::{fs, io, ptr};

/// The environment variable with the memory's file.
pub const VARIABLE: &str = "SEATMAP_CELL_MEMORY";

/// The environment variable with its size in bytes.
pub const BYTES_VARIABLE: &str = "SEATMAP_CELL_MEMORY_BYTES";

/// Also known to users and [`is_memory`].
const NAME: &str = "seatmap-cell";

/// A size on x86-64, and on Arm with 4, 16 or 64 KiB pages.
const HUGE_BYTES: u64 = 2 << 20;

/// The kernel's default size may use another pool: 512 MiB on Arm with 64 KiB pages, or that of
/// `default_hugepagesz`.
const HUGE_FILE: MemfdFlags = MemfdFlags::HUGETLB.union(MemfdFlags::HUGE_2MB);

/// 1/`EVERYBODYS` of free memory stays free, or the kernel would kill programs.
const EVERYBODYS: u64 = 16;

/// `MPOL_BIND` of set_mempolicy(2): from these nodes only.
const BIND: libc::c_int = 2;

/// `MPOL_PREFERRED_MANY`, since Linux 5.15: from these nodes if possible.
const PREFERRED_MANY: libc::c_int = 5;

/// The memory of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellMemory {
    /// Size in bytes, a multiple of the huge page size.
    pub size_bytes: u64,
    /// Whether it consists of huge pages; otherwise of ordinary locked pages.
    pub is_huge: bool,
    /// The NUMA nodes that provide it, as a list.
    pub nodes: String,
    /// Its file; null until the guardian has allocated it.
    pub path: Option<String>,
}

/// Allocated memory, freed when dropped.
#[derive(Debug)]
pub struct Kept {
    file: File,
    _mapping: Mapping,
}

/// Checks that enough memory is free. Otherwise the kernel would turn all of it into huge pages.
///
/// # Errors
/// Too little is free.
pub(crate) fn check(root: &Root, wanted_bytes: u64) -> io::Result<()> {
    let Some(free) = seatmap_os::memory::available_bytes(root) else { return Ok(()) };
    let everybodys = free.div_ceil(EVERYBODYS);
    let open = free - everybodys;
    if wanted_bytes <= open {
        return Ok(());
    }
    let [wanted, free, stays] = [wanted_bytes, free, everybodys].map(|bytes| bytes >> 20);
    Err(io::Error::other(format!(
        "{wanted} MiB requested, but only {free} MiB free, with {stays} MiB kept for other programs"
    )))
}

/// Adds huge pages evenly to the cell's nodes. If the kernel provides only some, they are returned
/// and the memory is ordinary.
///
/// # Errors
/// The journal cannot be written.
pub(crate) fn prepare(site: &mut Site, wanted_bytes: u64) -> Result<CellMemory, SiteError> {
    let nodes = layout::memory_nodes(site.root, &site.cell)?;
    let pages = wanted_bytes.div_ceil(HUGE_BYTES).max(1);
    // The program may run on any of the cell's CPUs.
    let each = pages.div_ceil(nodes.len().max(1) as u64);
    let is_huge = add_pages(site, &nodes, each)?;
    Ok(CellMemory {
        size_bytes: pages.saturating_mul(HUGE_BYTES),
        is_huge,
        nodes: nodes.to_string(),
        path: None,
    })
}

fn add_pages(site: &mut Site, nodes: &CpuSet, each: u64) -> Result<bool, SiteError> {
    let mut made = Vec::new();
    for node in nodes.iter() {
        let path =
            format!("/sys/devices/system/node/node{node}/hugepages/hugepages-2048kB/nr_hugepages");
        if add_to(site, &path, each, &mut made)? {
            continue;
        }
        for change in &made {
            let _ = site.root.write(&change.path, &change.old);
            site.forget_count(change)?;
        }
        return Ok(false);
    }
    Ok(true)
}

/// Whether all pages exist; `made` gets the attempted change.
fn add_to(
    site: &mut Site,
    path: &str,
    each: u64,
    made: &mut Vec<SettingChange>,
) -> Result<bool, SiteError> {
    let number = settings::number(site.root, path);
    let (Some(number), Some(set)) = (number, settings::pages(site.root, path)) else {
        return Ok(false);
    };
    // Pages beyond the configured number are in use; they count as new.
    let change = SettingChange::new(SettingKind::Count, path, set, number.saturating_add(each));
    let refused = site.try_all(vec![change.clone()])?;
    // The kernel reports success even if it adds fewer.
    let are_there =
        refused.is_empty() && change.current(site.root).ok().as_ref() == Some(&change.new);
    made.push(change);
    Ok(are_there)
}

impl Kept {
    /// Allocates the memory. On return, every page exists, is locked and is zero.
    pub fn take(memory: &CellMemory) -> io::Result<Self> {
        if let Some(nodes) = CpuSet::of_list(&memory.nodes) {
            // Scrubbing touches pages first, so they come from the policy's nodes.
            place(&nodes, memory.is_huge)?;
        }
        let flags = if memory.is_huge { HUGE_FILE } else { MemfdFlags::empty() };
        let file = File::from(memfd_create(NAME, flags | MemfdFlags::CLOEXEC)?);
        file.set_len(memory.size_bytes)?;
        let mapping = Mapping::new(&file, memory.size_bytes)?;
        mapping.scrub();
        mapping.lock()?;
        Ok(Kept { file, _mapping: mapping })
    }

    /// The path for other processes of this user.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }
}

/// Zeroes a cell's memory, unless it is gone.
///
/// # Errors
/// It exists but cannot be mapped.
pub fn scrub(memory: &CellMemory) -> io::Result<()> {
    let Some(path) = &memory.path else { return Ok(()) };
    match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) if !is_memory(format!("/proc/self/fd/{}", file.as_raw_fd()))? => Ok(()),
        Ok(file) => Mapping::new(&file, memory.size_bytes).map(|mapping| mapping.scrub()),
        Err(_) if !is_memory(path).unwrap_or(false) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Whether a descriptor's link in `/proc` is a cell's memory: a killed guardian's numbers may be
/// reused.
fn is_memory(link: impl AsRef<Path>) -> io::Result<bool> {
    let name = fs::read_link(link)?;
    Ok(name.to_string_lossy().starts_with(&format!("/memfd:{NAME}")))
}

/// Ordinary pages come from other nodes if these are full, or from any if the kernel cannot prefer
/// several.
fn place(nodes: &CpuSet, is_huge: bool) -> io::Result<()> {
    let policy = if is_huge { BIND } else { PREFERRED_MANY };
    let call = MemoryPolicy::bind(nodes.clone()).call();
    let mask = call.words();
    let bits = mask.len() * libc::c_ulong::BITS as usize + 1;
    // SAFETY: the kernel reads `bits - 1` bits, which the mask has.
    let status = unsafe { libc::syscall(libc::SYS_set_mempolicy, policy, mask.as_ptr(), bits) };
    if status < 0 && is_huge { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[derive(Debug)]
struct Mapping {
    start: *mut c_void,
    size: usize,
}

impl Mapping {
    fn new(file: &File, size_bytes: u64) -> io::Result<Self> {
        let size = usize::try_from(size_bytes).map_err(io::Error::other)?;
        if file.metadata()?.len() < size_bytes {
            return Err(io::Error::other("the file is shorter than the memory"));
        }
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice replaces none.
        let start = unsafe { mmap(ptr::null_mut(), size, access, MapFlags::SHARED, file, 0) }?;
        Ok(Mapping { start, size })
    }

    fn scrub(&self) {
        // SAFETY: the mapping is writable, has this size, and no reference into it exists.
        unsafe { ptr::write_bytes(self.start.cast::<u8>(), 0, self.size) };
    }

    fn lock(&self) -> io::Result<()> {
        // SAFETY: the mapping has this address and length.
        Ok(unsafe { mlock(self.start, self.size) }?)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is the mapping, which is not used again.
        let _ = unsafe { munmap(self.start, self.size) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::journal;
    use std::io::{Read, Seek, Write};

    fn memory() -> CellMemory {
        CellMemory { size_bytes: HUGE_BYTES, is_huge: false, nodes: "0".into(), path: None }
    }

    fn assert_filled(file: &mut File, with: u8) {
        let mut found = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut found)).unwrap();
        assert!(found.len() as u64 == HUGE_BYTES && found.iter().all(|byte| *byte == with));
    }

    #[test]
    fn scrub_erases_program_data() {
        let mut memory = memory();
        let kept = Kept::take(&memory).unwrap();
        memory.path = Some(kept.path());
        let mut file = OpenOptions::new().read(true).write(true).open(kept.path()).unwrap();
        file.write_all(b"secret").unwrap();
        scrub(&memory).unwrap();
        assert_filled(&mut file, 0);
        drop((kept, file));
        let folder = File::open("/proc/self").unwrap();
        let number = Some(format!("/proc/self/fd/{}", folder.as_raw_fd()));
        assert!(
            scrub(&CellMemory { path: number, ..memory.clone() }).is_ok(),
            "a folder is not a cell's memory"
        );
        // Another test may have reused the number.
        assert!(scrub(&memory).is_ok(), "memory that is gone needs no scrub");
    }

    #[test]
    fn memory_check_keeps_a_reserve() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        assert!(check(&root, u64::MAX).is_ok(), "nothing is known of it");
        let meminfo = "MemTotal:  99999999 kB\nMemAvailable:   16384 kB\n";
        seatmap_needs::plant(folder.path(), &[("proc/meminfo", meminfo)]);
        assert!(check(&root, 15 << 20).is_ok());
        let told = |wanted| check(&root, wanted).unwrap_err().to_string();
        assert_eq!(
            told(16 << 20),
            "16 MiB requested, but only 16 MiB free, with 1 MiB kept for other programs"
        );
        assert!(told(u64::MAX).starts_with("17592186044415 MiB"));
    }

    #[test]
    fn failing_node_leaves_the_others_unchanged() {
        let pool = "/sys/devices/system/node/node0/hugepages/hugepages-2048kB";
        let path = &format!("{pool}/nr_hugepages");
        let folder = seatmap_needs::tree(&[(path, "3")]);
        let mut journal = journal(folder.path(), "c", "1", 1);
        let root = Root::new(folder.path());
        let cell = CpuSet::default();
        let rest = CpuSet::default();
        let mut site = Site { root: &root, journal: &mut journal, cell, rest, spared: Vec::new() };
        assert!(!add_pages(&mut site, &[0, 1].into_iter().collect(), 2).unwrap());
        assert_eq!(root.read(path).unwrap(), "3");
        // The kernel added two of the three pages for a running program.
        seatmap_needs::plant(&root.path(pool), &[("surplus_hugepages", "2")]);
        let mut made = Vec::new();
        assert!(add_to(&mut site, path, 2, &mut made).unwrap());
        assert_eq!((made[0].old.as_str(), made[0].new.as_str()), ("1", "5"));
    }

    #[test]
    fn scrub_spares_other_files() {
        let mut other = tempfile::tempfile().unwrap();
        other.write_all(&vec![7; HUGE_BYTES as usize]).unwrap();
        let path = Some(format!("/proc/self/fd/{}", other.as_raw_fd()));
        scrub(&CellMemory { path, ..memory() }).unwrap();
        assert_filled(&mut other, 7);
    }
}
