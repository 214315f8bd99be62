//! Calls of SPU programs to the PPE: stop codes from 0x2100 to 0x21ff.

use crate::call::{Errno, number};
use std::ffi::{c_int, c_uint, c_void};
use std::sync::{PoisonError, RwLock};

/// The function receives the local store and the address of the word after the stop.
type Callback = unsafe extern "C" fn(*mut c_void, c_uint) -> c_int;

/// Lower numbers belong to the C library, POSIX and effective-address calls.
const RESERVED: u32 = 4;
const NUMBERS: u32 = 256;
const NEW: c_uint = 1;
const UPDATE: c_uint = 2;

static CALLBACKS: RwLock<[Option<Callback>; NUMBERS as usize]> =
    RwLock::new([None; NUMBERS as usize]);

/// Answers a call; false if it has no function or the function fails.
pub fn answer(call: u32, store: *mut u8, at: u32) -> bool {
    let callback = CALLBACKS
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .get(call as usize)
        .copied()
        .flatten();
    // SAFETY: the program registered it as such a function.
    callback.is_some_and(|callback| unsafe { callback(store.cast(), at) } == 0)
}

/// Registers a function for a call number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_callback_handler_register(
    handler: Option<Callback>,
    callnum: c_uint,
    mode: c_uint,
) -> c_int {
    number(|| {
        let handler = handler.ok_or(Errno(libc::EINVAL))?;
        let mut callbacks = CALLBACKS.write().unwrap_or_else(PoisonError::into_inner);
        let place = callbacks.get_mut(callnum as usize).ok_or(Errno(libc::EINVAL))?;
        match mode {
            NEW if callnum < RESERVED || place.is_some() => Err(Errno(libc::EACCES)),
            UPDATE if place.is_none() && callnum >= RESERVED => Err(Errno(libc::ESRCH)),
            NEW | UPDATE => {
                *place = Some(handler);
                Ok(0)
            }
            _ => Err(Errno(libc::EINVAL)),
        }
    })
}

/// Removes a call number's function.
#[unsafe(no_mangle)]
pub extern "C" fn spe_callback_handler_deregister(callnum: c_uint) -> c_int {
    number(|| {
        let mut callbacks = CALLBACKS.write().unwrap_or_else(PoisonError::into_inner);
        let place = callbacks.get_mut(callnum as usize).ok_or(Errno(libc::EINVAL))?;
        if callnum < RESERVED {
            return Err(Errno(libc::EACCES));
        }
        place.take().map(|_| 0).ok_or(Errno(libc::ESRCH))
    })
}

/// A call number's function, or NULL.
#[unsafe(no_mangle)]
pub extern "C" fn spe_callback_handler_query(callnum: c_uint) -> *mut c_void {
    crate::call::pointer(|| {
        let callbacks = CALLBACKS.read().unwrap_or_else(PoisonError::into_inner);
        let place = callbacks.get(callnum as usize).ok_or(Errno(libc::EINVAL))?;
        place.map(|callback| callback as *mut c_void).ok_or(Errno(libc::ESRCH))
    })
}
