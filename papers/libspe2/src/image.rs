//! Programs: opened from files and loaded into contexts.

use crate::call::{Errno, number, pointer};
use crate::context::context;
use crate::handle::ContextHandle;
use crate::types::ProgramHandle;
use seatmap_spe::{Image, store};
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int};
use std::sync::{Arc, Mutex, PoisonError};

type Programs = Mutex<Option<HashMap<usize, Arc<Image>>>>;
static OPENED: Programs = Mutex::new(None);
/// Loaded programs embedded in this one, by address.
static EMBEDDED: Programs = Mutex::new(None);

/// Opens a program from a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_image_open(filename: *const c_char) -> *mut ProgramHandle {
    pointer(|| {
        if filename.is_null() {
            return Err(Errno(libc::EINVAL));
        }
        // SAFETY: not NULL, and a string by C's promise.
        let name = unsafe { CStr::from_ptr(filename) }.to_str().map_err(|_| Errno(libc::ENOENT))?;
        let image = Image::open(name)?;
        store::at_least(image.asked_bytes().unwrap_or(0));
        let size = u32::try_from(size_of::<ProgramHandle>()).unwrap_or_default();
        // The bytes do not move with the image into the map.
        let elf_image = image.file().as_ptr().cast();
        let handle = ProgramHandle { handle_size: size, elf_image, toe_shadow: std::ptr::null() };
        let handle = Box::into_raw(Box::new(handle));
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        opened.get_or_insert_default().insert(handle as usize, Arc::new(image));
        Ok(handle)
    })
}

/// Gives new local stores at least this size. A program that embeds one for a larger store calls it
/// before `main`.
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_spe_store_at_least(bytes: usize) {
    store::at_least(bytes);
}

/// Closes an open program; contexts that loaded it continue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_image_close(handle: *mut ProgramHandle) -> c_int {
    number(|| {
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        let image = opened.as_mut().and_then(|opened| opened.remove(&(handle as usize)));
        image.ok_or(Errno(libc::EINVAL))?;
        // SAFETY: it was created by `spe_image_open`, and is no longer in the map.
        drop(unsafe { Box::from_raw(handle) });
        Ok(0)
    })
}

/// Loads a program into a context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_program_load(
    spe: *mut ContextHandle,
    program: *mut ProgramHandle,
) -> c_int {
    number(|| {
        // SAFETY: C's promise.
        let one = unsafe { context(spe) }?;
        // SAFETY: C's promise.
        let handle = unsafe { program.as_ref() }.filter(|handle| !handle.elf_image.is_null());
        let handle = handle.ok_or(Errno(libc::EINVAL))?;
        let opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        let found = opened.as_ref().and_then(|opened| opened.get(&(program as usize)).cloned());
        drop(opened);
        let image = match found {
            Some(image) => image,
            // SAFETY: C's promise.
            None => unsafe { embedded(handle.elf_image.cast()) }?,
        };
        one.spe.load(&image)?;
        Ok(0)
    })
}

/// The program embedded at an address: the known one, unless the file there has changed.
///
/// # Safety
/// The address points to a complete ELF file in memory.
unsafe fn embedded(start: *const u8) -> Result<Arc<Image>, Errno> {
    let mut known = EMBEDDED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if let Some(image) = known.get(&(start as usize)) {
        // SAFETY: the caller's promise: there is at least a header.
        if unsafe { image.lies_at(start) } {
            return Ok(Arc::clone(image));
        }
    }
    // SAFETY: the caller's promise.
    let image = Arc::new(unsafe { Image::embedded(start) }?);
    known.insert(start as usize, Arc::clone(&image));
    Ok(image)
}
