//! Makes the variables of the program and of its libraries memory without a file.
//!
//! userfaultfd(2) knows no private mappings of files, and variables with initial values lie in
//! such. Each is replaced by anonymous memory with the same content at the same address, while the
//! program has one thread.

use super::own;
use crate::{maps, memory};

/// Mappings that are replaced; more are left as they are.
const MOST: usize = 256;

/// Replaces the mappings of variables, but those of the libraries that sample.
pub fn make_anonymous() {
    let mut found = [(0, 0); MOST];
    let mut count = 0;
    maps::each(|mapping| {
        let is_variables = mapping.rights == b"rw-p" && mapping.inode != 0 && !own::is_own(mapping);
        if is_variables && count < MOST {
            found[count] = (mapping.from, mapping.to - mapping.from);
            count += 1;
        }
    });
    found[..count].iter().for_each(|(start, bytes)| replace(*start, *bytes));
}

fn replace(start: usize, bytes: usize) {
    let copy = memory::plain(bytes, 0);
    if copy.is_null() {
        return;
    }
    // SAFETY: the mapping can be read and has this length; nobody writes it meanwhile, as the
    // program has one thread, which runs this. The copy takes its place in one step, with the same
    // content and rights.
    unsafe {
        std::ptr::copy_nonoverlapping(start as *const u8, copy, bytes);
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        libc::mremap(copy.cast(), bytes, bytes, flags, start as *mut u8);
    }
}
