//! Event handlers.

use crate::call::{Errno, number, pointer};
use crate::handle::{ContextHandle, EventHandle, Handle, OneContext};
use crate::types::{EventData, EventUnit, flag};
use seatmap_spe::event::EventTag;
use seatmap_spe::{EventHandler, event};
use std::ffi::c_int;
use std::sync::Arc;
use std::time::Duration;

/// Creates an event handler.
#[unsafe(no_mangle)]
pub extern "C" fn spe_event_handler_create() -> *mut EventHandle {
    pointer(|| Ok(Handle::give(EventHandler::default())))
}

/// Destroys an event handler.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_event_handler_destroy(handler: *mut EventHandle) -> c_int {
    // SAFETY: C's promise.
    number(|| unsafe { Handle::destroy(handler, libc::ESRCH, |_| None) }.map(|()| 0))
}

type EventArguments = (Arc<EventHandler>, Arc<OneContext>, EventUnit);

unsafe fn event_arguments(
    handler: *mut EventHandle,
    unit: *const EventUnit,
) -> Result<EventArguments, Errno> {
    // SAFETY: C's promise.
    let handler = unsafe { Handle::known(handler, libc::ESRCH) }?;
    // SAFETY: C's promise.
    let unit = *unsafe { unit.as_ref() }.ok_or(Errno(libc::EINVAL))?;
    // SAFETY: C's promise.
    let one = unsafe { Handle::known(unit.spe, libc::EINVAL) }?;
    if unit.events & !event::ALL != 0 || unit.events == 0 || one.flags & flag::EVENTS_ENABLE == 0 {
        return Err(Errno(libc::ENOTSUP));
    }
    Ok((handler, one, unit))
}

/// Registers events of a context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_event_handler_register(
    handler: *mut EventHandle,
    unit: *mut EventUnit,
) -> c_int {
    number(|| {
        // SAFETY: C's promise.
        let (handler, one, unit) = unsafe { event_arguments(handler, unit) }?;
        // SAFETY: all bits of the union are a number.
        let tag = EventTag { address: unit.spe as usize, data: unsafe { unit.data.u64 } };
        handler.register(&one.spe, unit.events, tag);
        Ok(0)
    })
}

/// Removes registrations of a context's events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_event_handler_deregister(
    handler: *mut EventHandle,
    unit: *mut EventUnit,
) -> c_int {
    number(|| {
        // SAFETY: C's promise.
        let (handler, one, unit) = unsafe { event_arguments(handler, unit) }?;
        handler.deregister(&one.spe, unit.events);
        Ok(0)
    })
}

/// Waits `timeout` milliseconds for an event; if negative, while another thread of the process
/// could cause one. Returns the number of events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spe_event_wait(
    handler: *mut EventHandle,
    events: *mut EventUnit,
    max_events: c_int,
    timeout: c_int,
) -> c_int {
    number(|| {
        // SAFETY: C's promise.
        let handler = unsafe { Handle::known(handler, libc::ESRCH) }?;
        let most = usize::try_from(max_events).ok().filter(|most| *most > 0 && !events.is_null());
        let most = most.ok_or(Errno(libc::EINVAL))?;
        let timeout = u64::try_from(timeout).ok().map(Duration::from_millis);
        let found = handler.wait(most, timeout);
        if found.is_empty() && timeout.is_none() {
            // No event is possible, because no other thread could run a program.
            return Err(Errno(libc::EIO));
        }
        for (at, happened) in found.iter().enumerate() {
            let EventTag { address, data } = happened.tag;
            let unit = EventUnit {
                events: happened.event,
                spe: address as *mut ContextHandle,
                data: EventData { u64: data },
            };
            // SAFETY: C's promise: room for `max_events`.
            unsafe { events.add(at).write(unit) };
        }
        c_int::try_from(found.len()).map_err(|_| Errno(libc::EINVAL))
    })
}
