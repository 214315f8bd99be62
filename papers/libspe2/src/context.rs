//! Creates and destroys contexts, and returns their areas.

use crate::call::{Errno, number, pointer};
use crate::gang::GangHandle;
use crate::handle::{ContextGuard, ContextHandle, Handle, OneContext};
use crate::types::flag;
use seatmap_spe::notify::Polls;
use seatmap_spe::{ContextOptions, SpeContext};
use std::ffi::{c_int, c_uint, c_void};

/// The context of a pointer from C; `ESRCH` without one.
///
/// # Safety
/// The pointer is NULL or points to memory of at least a handle's size.
pub unsafe fn context(spe: *const ContextHandle) -> Result<ContextGuard, Errno> {
    // SAFETY: the caller's promise.
    unsafe { ContextGuard::of(spe) }
}

/// Creates an SPE context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_context_create(
    flags: c_uint,
    gang: *mut GangHandle,
) -> *mut ContextHandle {
    pointer(|| {
        check(flags)?;
        let near_memory = flags & flag::AFFINITY_MEMORY != 0;
        if gang.is_null() {
            // The kernel supports affinity only in gangs.
            return if near_memory { Err(Errno(libc::EINVAL)) } else { create(flags, None) };
        }
        // SAFETY: C's promise.
        let gang = unsafe { Handle::known(gang, libc::ESRCH) }?;
        gang.take_memory(near_memory)?;
        create(flags, Some(gang.next_seat()))
    })
}

/// Creates a context next to `neighbor`: a gang's chain has consecutive SPEs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_context_create_affinity(
    flags: c_uint,
    neighbor: *mut ContextHandle,
    gang: *mut GangHandle,
) -> *mut ContextHandle {
    pointer(|| {
        // SAFETY: C's promise.
        let gang = unsafe { Handle::known(gang, libc::EINVAL) }?;
        check(flags)?;
        let near_memory = flags & flag::AFFINITY_MEMORY != 0;
        if neighbor.is_null() {
            gang.take_memory(near_memory)?;
            return create(flags, Some(gang.next_seat()));
        }
        // SAFETY: C's promise.
        let neighbor = unsafe { context(neighbor) }?;
        gang.take_memory(near_memory)?;
        create(flags, Some(gang.seat_after(neighbor.spe.seat())))
    })
}

fn check(flags: u32) -> Result<(), Errno> {
    if flags & !flag::ALL != 0 {
        return Err(Errno(libc::EINVAL));
    }
    if flags & (flag::ISOLATE | flag::ISOLATE_EMULATE) != 0 {
        return Err(Errno(libc::ENOTSUP));
    }
    Ok(())
}

fn create(flags: u32, seat: Option<usize>) -> Result<*mut ContextHandle, Errno> {
    let options = ContextOptions {
        signals_gather: [flags & flag::SIGNOTIFY1_OR != 0, flags & flag::SIGNOTIFY2_OR != 0],
        keeps_ends: flags & flag::EVENTS_ENABLE != 0,
        seat,
        maps_registers: flags & flag::MAP_PS != 0,
    };
    Ok(Handle::give(OneContext { spe: SpeContext::new(options)?, flags, polls: Polls::default() }))
}

/// Destroys a context; `EAGAIN` while it runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_context_destroy(spe: *mut ContextHandle) -> c_int {
    number(|| {
        // SAFETY: C's promise.
        let one = unsafe { context(spe) }?;
        // SAFETY: C's promise.
        unsafe {
            Handle::destroy(spe, libc::ESRCH, |one| one.spe.close().err().map(|why| why.errno()))
        }?;
        one.spe.finish();
        drop(one);
        ContextGuard::forget_last();
        Ok(0)
    })
}

/// The local store's effective address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_ls_area_get(spe: *mut ContextHandle) -> *mut c_void {
    // SAFETY: C's promise.
    pointer(|| Ok(unsafe { context(spe) }?.spe.store().effective().cast()))
}

/// The size of the local store in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_ls_size_get(spe: *mut ContextHandle) -> c_int {
    number(|| {
        // SAFETY: C's promise.
        let bytes = unsafe { context(spe) }?.spe.store().bytes();
        c_int::try_from(bytes).map_err(|_| Errno(libc::EFAULT))
    })
}

/// The address of a problem state area.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_ps_area_get(spe: *mut ContextHandle, area: c_uint) -> *mut c_void {
    /// Offsets of register areas, indexed by `enum ps_area`.
    const OFFSETS: [usize; 5] = [0, 0x3000, 0x4000, 0x1_4000, 0x1_c000];
    pointer(|| {
        // SAFETY: C's promise.
        let one = unsafe { context(spe) }?;
        if one.flags & flag::MAP_PS == 0 {
            return Err(Errno(libc::EACCES));
        }
        let offset = OFFSETS.get(area as usize).ok_or(Errno(libc::EINVAL))?;
        Ok(one.spe.area().start().wrapping_add(*offset).cast())
    })
}
