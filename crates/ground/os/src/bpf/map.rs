//! eBPF maps: tables shared by kernel programs and this process.

use super::call::{BpfCommand, bpf, object_name, open};
use crate::sched::threads_of_all;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// From `include/uapi/linux/bpf.h`.
const HASH: u32 = 1;
const ARRAY: u32 = 2;
const RECENT_HASH: u32 = 9;

/// Entries per system call.
const BATCH: usize = 4096;

/// For tables sized by thread count: each entry takes about 100 bytes immediately.
const MOST_BY_THREADS: u64 = 1 << 20;

/// Twice the present threads, but at least `least`.
pub fn room_for_threads(least: u32) -> u32 {
    let loadavg = std::fs::read("/proc/loadavg").unwrap_or_default();
    let threads = threads_of_all(&loadavg).unwrap_or(0);
    least.max((2 * threads.min(MOST_BY_THREADS / 2)) as u32)
}

/// A kernel table with keys and values of fixed sizes.
#[derive(Debug)]
pub struct Map {
    fd: OwnedFd,
    key_bytes: usize,
    value_bytes: usize,
}

#[repr(C)]
#[derive(Default)]
struct Create {
    kind: u32,
    key_bytes: u32,
    value_bytes: u32,
    entries: u32,
    flags: u32,
    inner: u32,
    node: u32,
    name: [u8; 16],
}

#[repr(C)]
#[derive(Default)]
struct Element {
    map: u32,
    _pad: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
#[derive(Default)]
struct Batch {
    from: u64,
    to: u64,
    keys: u64,
    values: u64,
    count: u32,
    map: u32,
    element_flags: u64,
    flags: u64,
}

impl Map {
    /// Creates a hash table, fully allocated so that programs never wait for memory.
    ///
    /// # Errors
    /// The kernel's: EPERM without CAP_BPF, ENOMEM.
    pub fn hash(
        name: &str,
        key_bytes: usize,
        value_bytes: usize,
        entries: u32,
    ) -> io::Result<Self> {
        Map::new(HASH, name, [key_bytes, value_bytes], entries)
    }

    /// Creates a hash table that drops its oldest entries when full.
    ///
    /// # Errors
    /// As for [`Map::hash`].
    pub fn recent(
        name: &str,
        key_bytes: usize,
        value_bytes: usize,
        entries: u32,
    ) -> io::Result<Self> {
        Map::new(RECENT_HASH, name, [key_bytes, value_bytes], entries)
    }

    /// Creates an array of 64-bit counters, numbered from 0.
    ///
    /// # Errors
    /// As for [`Map::hash`].
    pub fn counters(name: &str, entries: u32) -> io::Result<Self> {
        Map::new(ARRAY, name, [4, 8 * entries as usize], 1)
    }

    fn new(
        kind: u32,
        name: &str,
        [key_bytes, value_bytes]: [usize; 2],
        entries: u32,
    ) -> io::Result<Self> {
        let mut create = Create {
            kind,
            key_bytes: small(key_bytes)?,
            value_bytes: small(value_bytes)?,
            entries,
            name: object_name(name),
            ..Create::default()
        };
        // SAFETY: the structure holds no address.
        let fd = unsafe { open(BpfCommand::MapCreate, &mut create)? };
        Ok(Map { fd, key_bytes, value_bytes })
    }

    pub(super) fn descriptor(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// The value of a key; `None` if missing.
    ///
    /// # Errors
    /// The kernel's; EINVAL for a key of another length.
    pub fn get(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let mut value = vec![0; self.value_bytes];
        let mut element = self.element(key)?;
        element.value = value.as_mut_ptr() as u64;
        // SAFETY: key and value have the map's lengths; `element` checks the key.
        let found = was_found(unsafe { bpf(BpfCommand::LookupElement, &mut element) })?;
        Ok(found.then_some(value))
    }

    /// Sets a key's value.
    ///
    /// # Errors
    /// The kernel's: E2BIG if the table is full; EINVAL for a key or value of another length.
    pub fn set(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        let mut element = self.element(key)?;
        if value.len() != self.value_bytes {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        element.value = value.as_ptr() as u64;
        // SAFETY: key and value have the map's lengths; the kernel only reads them.
        unsafe { bpf(BpfCommand::UpdateElement, &mut element) }.map(drop)
    }

    /// Removes a key, if it exists.
    ///
    /// # Errors
    /// The kernel's; EINVAL for a key of another length.
    pub fn remove(&self, key: &[u8]) -> io::Result<()> {
        let mut element = self.element(key)?;
        // SAFETY: the key has the map's length; the kernel only reads it.
        was_found(unsafe { bpf(BpfCommand::DeleteElement, &mut element) }).map(drop)
    }

    /// Whether the table is empty.
    ///
    /// # Errors
    /// The kernel's.
    pub fn is_empty(&self) -> io::Result<bool> {
        let mut next = vec![0; self.key_bytes];
        let mut element = Element {
            map: self.fd.as_raw_fd() as u32,
            value: next.as_mut_ptr() as u64,
            ..Element::default()
        };
        // SAFETY: without a key, the kernel writes the first key, which fits into `next`.
        Ok(!was_found(unsafe { bpf(BpfCommand::NextKey, &mut element) })?)
    }

    /// Reads all entries of a hash table, unordered. An entry added meanwhile may be missing.
    ///
    /// # Errors
    /// The kernel's: EINVAL before Linux 5.6.
    pub fn entries(&self, each: impl FnMut(&[u8], &[u8])) -> io::Result<()> {
        self.batches(BpfCommand::LookupBatch, each)
    }

    /// Like [`Map::entries`], but removes the entries. One concurrent increment may be lost or
    /// added to a new entry.
    ///
    /// # Errors
    /// As for [`Map::entries`].
    pub fn take(&self, each: impl FnMut(&[u8], &[u8])) -> io::Result<()> {
        self.batches(BpfCommand::TakeBatch, each)
    }

    fn batches(&self, command: BpfCommand, mut each: impl FnMut(&[u8], &[u8])) -> io::Result<()> {
        let mut room = BATCH;
        let mut keys = vec![0; room * self.key_bytes];
        let mut values = vec![0; room * self.value_bytes];
        let mut from: Option<u32> = None;
        loop {
            let mut to = 0u32;
            let mut batch = Batch {
                from: from.as_ref().map_or(0, |from| std::ptr::from_ref(from) as u64),
                to: &raw mut to as u64,
                keys: keys.as_mut_ptr() as u64,
                values: values.as_mut_ptr() as u64,
                count: room as u32,
                map: self.fd.as_raw_fd() as u32,
                ..Batch::default()
            };
            // SAFETY: there is room for `count` keys and values, and for the 4-byte position of a
            // hash table.
            let is_last = match was_found(unsafe { bpf(command, &mut batch) }) {
                Ok(was_found) => !was_found,
                Err(error) if error.raw_os_error() == Some(libc::ENOSPC) && room < 1 << 20 => {
                    // A bucket has more entries than the buffer.
                    room *= 2;
                    keys.resize(room * self.key_bytes, 0);
                    values.resize(room * self.value_bytes, 0);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let found = (batch.count as usize).min(room);
            let pairs =
                keys.chunks_exact(self.key_bytes).zip(values.chunks_exact(self.value_bytes));
            pairs.take(found).for_each(|(key, value)| each(key, value));
            if is_last {
                return Ok(());
            }
            from = Some(to);
        }
    }

    /// The values of [`Map::counters`].
    ///
    /// # Errors
    /// The kernel's.
    pub fn counts(&self) -> io::Result<Vec<u64>> {
        let value = self.get(&[0; 4])?.unwrap_or_default();
        Ok(value
            .chunks_exact(8)
            .filter_map(|word| Some(u64::from_ne_bytes(word.try_into().ok()?)))
            .collect())
    }

    /// Sets the values of [`Map::counters`]. This may overwrite concurrent counts.
    ///
    /// # Errors
    /// The kernel's; EINVAL for another number of counters.
    pub fn set_counts(&self, counts: &[u64]) -> io::Result<()> {
        let bytes: Vec<u8> = counts.iter().flat_map(|count| count.to_ne_bytes()).collect();
        self.set(&[0; 4], &bytes)
    }

    fn element(&self, key: &[u8]) -> io::Result<Element> {
        if key.len() != self.key_bytes {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        Ok(Element {
            map: self.fd.as_raw_fd() as u32,
            key: key.as_ptr() as u64,
            ..Element::default()
        })
    }
}

/// Whether the kernel found an entry.
fn was_found(answer: io::Result<i32>) -> io::Result<bool> {
    match answer {
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(false),
        answer => answer.map(|_| true),
    }
}

fn small(bytes: usize) -> io::Result<u32> {
    u32::try_from(bytes).map_err(|_| io::Error::from_raw_os_error(libc::E2BIG))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn table(entries: u32) -> Option<Map> {
        Map::hash("test", 4, 8, entries)
            .inspect_err(|error| seatmap_needs::skipped!("no eBPF here: {error}"))
            .ok()
    }

    #[test]
    fn table_keeps_and_lists_its_entries() {
        let Some(map) = table(10_000) else { return };
        assert!(map.is_empty().unwrap());
        let entries: BTreeMap<u32, u64> = (0..9_000).map(|key| (key, u64::from(key) * 3)).collect();
        entries
            .iter()
            .for_each(|(key, value)| map.set(&key.to_ne_bytes(), &value.to_ne_bytes()).unwrap());
        let mut found = BTreeMap::new();
        let word =
            |bytes: &[u8]| bytes.iter().rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
        map.entries(|key, value| {
            found.insert(word(key) as u32, word(value));
        })
        .unwrap();
        assert_eq!(found, entries);
        map.remove(&5u32.to_ne_bytes()).unwrap();
        map.remove(&5u32.to_ne_bytes()).unwrap();
        assert_eq!(map.get(&5u32.to_ne_bytes()).unwrap(), None);
        assert_eq!(map.get(&7u32.to_ne_bytes()).unwrap(), Some(21u64.to_ne_bytes().to_vec()));
        let mut taken = BTreeMap::new();
        map.take(|key, value| {
            taken.insert(word(key) as u32, word(value));
        })
        .unwrap();
        found.remove(&5);
        assert!(taken == found && map.is_empty().unwrap());
    }

    #[test]
    fn wrong_lengths_and_full_tables_are_errors() {
        let Some(map) = table(1) else { return };
        assert!(
            map.get(&[0]).is_err() && map.set(&[0; 4], &[0]).is_err() && map.remove(&[]).is_err()
        );
        map.set(&[0; 4], &[0; 8]).unwrap();
        assert_eq!(map.set(&[1; 4], &[0; 8]).unwrap_err().raw_os_error(), Some(libc::E2BIG));
    }

    #[test]
    fn counters_are_set_and_read() {
        let Ok(map) = Map::counters("test", 3) else { return };
        map.set_counts(&[1, 2, 3]).unwrap();
        assert_eq!(map.counts().unwrap(), [1, 2, 3]);
        assert!(map.set_counts(&[1]).is_err());
    }
}
