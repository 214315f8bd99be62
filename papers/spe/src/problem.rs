//! Problem state: the addresses of an SPE's registers.
//!
//! A transfer or a store of a word there is a mailbox message or a signal.

use seatmap_cell_sim::os::registers;
use seatmap_cell_sim::os::window::ReservedRange;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};

/// The addresses of one problem state area.
pub const BYTES: usize = 0x2_0000;
/// The outbound mailbox (read).
pub const OUT_MBOX: usize = 0x4004;
/// The inbound mailbox (written).
pub const IN_MBOX: usize = 0x400c;
/// The mailbox status (read): interrupt mailbox << 16 | free inbound << 8 | waiting outbound.
pub const MBOX_STATUS: usize = 0x4014;
/// The SPU's status (read): 1 while it runs.
pub const STATUS: usize = 0x4024;
/// Multisource synchronisation: a store starts it, and a load returns 0 when it is complete.
pub const MULTISOURCE_SYNC: usize = 0;
/// Signal register 1 (written).
pub const SIGNAL_1: usize = 0x1_400c;
/// Signal register 2 (written).
pub const SIGNAL_2: usize = 0x1_c00c;

static AREAS: RwLock<BTreeMap<usize, Weak<dyn RegisterAccess>>> = RwLock::new(BTreeMap::new());
/// The range of all areas so far. Most transfers are outside it, and need no lock.
static LOWEST: AtomicUsize = AtomicUsize::new(usize::MAX);
static HIGHEST: AtomicUsize = AtomicUsize::new(0);

/// Registers with addresses, for loads and stores of words.
pub trait RegisterAccess: Send + Sync {
    /// Writes a register; false if there is none at this offset.
    fn write_register(&self, offset: usize, value: u32) -> bool;

    /// Reads a register.
    fn read_register(&self, offset: usize) -> Option<u32>;
}

/// The addresses of one SPE's registers.
#[derive(Debug)]
pub struct ProblemStateArea {
    addresses: ReservedRange,
}

impl ProblemStateArea {
    /// Reserves addresses.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn new() -> io::Result<Self> {
        registers::serve(access)?;
        Ok(ProblemStateArea { addresses: ReservedRange::new(BYTES)? })
    }

    /// The first address.
    pub fn start(&self) -> *mut u8 {
        self.addresses.start()
    }

    /// Registers these registers for transfers.
    pub fn announce<T: RegisterAccess + 'static>(&self, registers: &Arc<T>) {
        let start = self.start() as usize;
        let registers = Arc::downgrade(registers);
        let mut areas = AREAS.write().unwrap_or_else(PoisonError::into_inner);
        areas.insert(start, registers);
        LOWEST.fetch_min(start, Ordering::Release);
        HIGHEST.fetch_max(start + BYTES, Ordering::Release);
    }
}

impl Drop for ProblemStateArea {
    fn drop(&mut self) {
        AREAS.write().unwrap_or_else(PoisonError::into_inner).remove(&(self.start() as usize));
    }
}

/// Loads or stores a register's word; `None` outside of all areas. Without a register, a load
/// returns 0 and a store is lost.
pub fn access(address: usize, store: Option<u32>) -> Option<u32> {
    let (registers, offset) = register(address as u64)?;
    match store {
        Some(value) => _ = registers.write_register(offset, value),
        None => return Some(registers.read_register(offset).unwrap_or(0)),
    }
    Some(0)
}

/// Whether an address is in the range of all areas so far.
#[inline]
pub fn is_near(address: u64) -> bool {
    address >= LOWEST.load(Ordering::Acquire) as u64
        && address < HIGHEST.load(Ordering::Acquire) as u64
}

/// The registers of the SPE at this address, and the offset.
#[inline]
pub fn register(address: u64) -> Option<(Arc<dyn RegisterAccess>, usize)> {
    if !is_near(address) {
        return None;
    }
    let address = usize::try_from(address).ok()?;
    let areas = AREAS.read().unwrap_or_else(PoisonError::into_inner);
    let (start, registers) = areas.range(..=address).next_back()?;
    let offset = address - start;
    (offset < BYTES).then(|| registers.upgrade().map(|registers| (registers, offset)))?
}
