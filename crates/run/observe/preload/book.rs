//! Counts sent messages by communicator, call and rank.

use super::call::MpiCall;
use super::library::{MpiFunction, library};
use super::system::{Locked, LockedGuard};
use super::words::{ArgumentWord, MpiHandle};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ffi::{CStr, c_int};

/// Messages and bytes to or from a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankTraffic {
    pub messages: u64,
    pub bytes: u64,
}

/// A communicator with its counts.
pub struct Communicator {
    handle: Option<MpiHandle>,
    pub name: String,
    /// This rank's number in it.
    pub own: usize,
    /// Whether it connects two groups.
    pub is_inter: bool,
    /// The ranks in `MPI_COMM_WORLD`; negative for outside processes.
    pub world: Vec<c_int>,
    /// By call and rank; empty for unused calls.
    pub sums: Vec<Vec<RankTraffic>>,
}

pub struct Book {
    /// The communicators, in the order of their first use.
    pub communicators: Vec<Communicator>,
    /// Calls with uncounted messages, and how often.
    pub unseen: Vec<(&'static str, u64)>,
    last: usize,
}

static BOOK: Locked<Book> =
    Locked::new(Book { communicators: Vec::new(), unseen: Vec::new(), last: 0 });

pub fn book() -> LockedGuard<'static, Book> {
    BOOK.lock()
}

impl Book {
    pub fn communicator(&mut self, word: ArgumentWord) -> &mut Communicator {
        self.find(word, Communicator::ask)
    }

    /// It outlives the handle, because requests may still use the communicator.
    pub fn place(&mut self, word: ArgumentWord) -> usize {
        self.communicator(word);
        self.last
    }

    /// Window handles differ from all communicators' handles.
    pub fn window(&mut self, word: ArgumentWord) -> &mut Communicator {
        self.find(word, Communicator::ask_window)
    }

    fn find(
        &mut self,
        word: ArgumentWord,
        ask: fn(ArgumentWord) -> Communicator,
    ) -> &mut Communicator {
        let handle = Some(library().handle(word));
        if self.communicators.get(self.last).is_none_or(|known| known.handle != handle) {
            let found = self.communicators.iter().position(|known| known.handle == handle);
            self.last = found.unwrap_or(self.communicators.len());
            if found.is_none() {
                self.communicators.push(ask(word));
            }
        }
        &mut self.communicators[self.last]
    }

    /// Forgets a handle, which the MPI library may reuse; the sums stay.
    pub fn forget(&mut self, word: ArgumentWord) {
        let handle = Some(library().handle(word));
        self.communicators
            .iter_mut()
            .filter(|known| known.handle == handle)
            .for_each(|known| known.handle = None);
    }

    /// Records a call with uncounted messages.
    pub fn miss(&mut self, what: &'static str) {
        match self.unseen.iter_mut().find(|(known, _)| *known == what) {
            Some((_, times)) => *times += 1,
            None => self.unseen.push((what, 1)),
        }
    }
}

impl Communicator {
    fn ask(word: ArgumentWord) -> Self {
        let is_inter = ask(real!(PMPI_Comm_test_inter), word) != 0;
        let own = ask(real!(PMPI_Comm_rank), word);
        let (size, group) = if is_inter {
            (ask(real!(PMPI_Comm_remote_size), word), group(real!(PMPI_Comm_remote_group), word))
        } else {
            (ask(real!(PMPI_Comm_size), word), group(real!(PMPI_Comm_group), word))
        };
        let world = world_ranks(group, size);
        Communicator { is_inter, ..Communicator::of(word, real!(PMPI_Comm_get_name), own, world) }
    }

    fn ask_window(word: ArgumentWord) -> Self {
        let group = group(real!(PMPI_Win_get_group), word);
        let own = ask(real!(PMPI_Group_rank), group);
        let world = world_ranks(group, ask(real!(PMPI_Group_size), group));
        Communicator::of(word, real!(PMPI_Win_get_name), own, world)
    }

    fn of(word: ArgumentWord, of_name: &MpiFunction, own: c_int, world: Vec<c_int>) -> Self {
        Communicator {
            handle: Some(library().handle(word)),
            name: name(of_name, word),
            own: usize::try_from(own).unwrap_or(0),
            is_inter: false,
            world,
            sums: vec![Vec::new(); MpiCall::ALL.len()],
        }
    }

    pub fn size(&self) -> usize {
        self.world.len()
    }

    /// Counts a message to a rank, or, for `MPI_Get`, from it.
    pub fn add(&mut self, call: MpiCall, rank: c_int, bytes: u64) {
        let Some(rank) = usize::try_from(rank).ok().filter(|rank| *rank < self.size()) else {
            return;
        };
        let size = self.size();
        let sums = &mut self.sums[call as usize];
        if sums.is_empty() {
            sums.resize(size, RankTraffic::default());
        }
        sums[rank].messages += 1;
        sums[rank].bytes += bytes;
    }

    pub fn add_all(&mut self, call: MpiCall, bytes: impl Fn(usize) -> u64) {
        for rank in (0..self.size()).filter(|rank| *rank != self.own).collect::<Vec<_>>() {
            self.add(call, rank as c_int, bytes(rank));
        }
    }
}

pub fn ask(function: &MpiFunction, word: ArgumentWord) -> c_int {
    let mut answer: c_int = 0;
    // SAFETY: these functions take a handle and the address of an integer.
    let status = unsafe { function.call([word, &raw mut answer as ArgumentWord]) };
    if status == 0 { answer } else { 0 }
}

fn name(function: &MpiFunction, word: ArgumentWord) -> String {
    // MPI_MAX_OBJECT_NAME is 64 in Open MPI and 128 in MPICH; the last byte stays zero.
    let mut bytes = [0_u8; 256];
    let mut length: c_int = 0;
    // SAFETY: the name is shorter than the buffer.
    unsafe {
        function.call([word, bytes.as_mut_ptr() as ArgumentWord, &raw mut length as ArgumentWord])
    };
    let name = CStr::from_bytes_until_nul(&bytes).unwrap_or_default();
    String::from_utf8_lossy(name.to_bytes()).into_owned()
}

fn group(function: &MpiFunction, word: ArgumentWord) -> ArgumentWord {
    let mut group: ArgumentWord = 0;
    // SAFETY: the arguments are a communicator or window and the address of a handle, which has at
    // most 8 bytes.
    unsafe { function.call([word, &raw mut group as ArgumentWord]) };
    group
}

/// A group's ranks in `MPI_COMM_WORLD`. Frees the group.
pub fn world_ranks(mut from: ArgumentWord, size: c_int) -> Vec<c_int> {
    let size = usize::try_from(size).unwrap_or(0);
    let mut world = group(real!(PMPI_Comm_group), library().world().0);
    let ranks: Vec<c_int> = (0..size as c_int).collect();
    let mut found: Vec<c_int> = vec![-1; size];
    let lists = [ranks.as_ptr() as ArgumentWord, found.as_mut_ptr() as ArgumentWord];
    // SAFETY: both lists have `size` integers, and both groups were returned by the library.
    unsafe {
        real!(PMPI_Group_translate_ranks).call([from, size, lists[0], world, lists[1]]);
        real!(PMPI_Group_free).call([&raw mut from as ArgumentWord]);
        real!(PMPI_Group_free).call([&raw mut world as ArgumentWord]);
    }
    found
}
