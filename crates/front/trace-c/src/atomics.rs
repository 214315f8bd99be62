//! The functions that compilers call in place of atomic operations.
//!
//! Every operation is sequentially consistent, which is always right, except stores that ask for
//! less. Loads are counted afterwards, all else before, so a thread that sees a new value finds its
//! writer in the shadow.

use crate::shadow::access;
use std::ffi::c_int;
use std::sync::atomic::Ordering::{Release, SeqCst};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, compiler_fence, fence};
#[cfg(target_arch = "x86_64")]
use wide::AtomicU128;

/// The C and C++ number of the order "sequentially consistent".
const SEQ_CST: c_int = 5;

macro_rules! modifications {
    ($atomic:ident $value:ident $bits:literal $($method:ident $name:literal)*) => {
        $(
            #[unsafe(export_name = concat!("__tsan_atomic", $bits, "_", $name))]
            unsafe extern "C" fn $method(at: *const $atomic, value: $value, _: c_int) -> $value {
                access(at as usize, BYTES, true);
                // SAFETY: the compiler replaced an atomic operation on this address.
                unsafe { &*at }.$method(value, SeqCst)
            }
        )*
    };
}

/// The functions of one width, which compilers know by these names.
macro_rules! operations {
    ($atomic:ident $value:ident $bits:literal) => {
        const _: () = {
            const BYTES: u32 = $bits / 8;

            #[unsafe(export_name = concat!("__tsan_atomic", $bits, "_load"))]
            unsafe extern "C" fn load(at: *const $atomic, _order: c_int) -> $value {
                // SAFETY: the compiler replaced an atomic load of this address.
                let value = unsafe { &*at }.load(SeqCst);
                access(at as usize, BYTES, false);
                value
            }

            #[unsafe(export_name = concat!("__tsan_atomic", $bits, "_store"))]
            unsafe extern "C" fn store(at: *const $atomic, value: $value, order: c_int) {
                access(at as usize, BYTES, true);
                let order = if order == SEQ_CST { SeqCst } else { Release };
                // SAFETY: the compiler replaced an atomic store to this address.
                unsafe { &*at }.store(value, order);
            }

            #[unsafe(export_name = concat!("__tsan_atomic", $bits, "_compare_exchange_strong"))]
            unsafe extern "C" fn strong(
                at: *const $atomic,
                expected: *mut $value,
                desired: $value,
                _order: c_int,
                _failure: c_int,
            ) -> c_int {
                // SAFETY: the compiler replaced a compare-exchange with these addresses.
                let (at, expected) = unsafe { (&*at, &mut *expected) };
                access(std::ptr::from_ref(at) as usize, BYTES, true);
                match at.compare_exchange(*expected, desired, SeqCst, SeqCst) {
                    Ok(_) => 1,
                    Err(found) => {
                        *expected = found;
                        0
                    }
                }
            }

            #[unsafe(export_name = concat!("__tsan_atomic", $bits, "_compare_exchange_weak"))]
            unsafe extern "C" fn weak(
                at: *const $atomic,
                expected: *mut $value,
                desired: $value,
                order: c_int,
                failure: c_int,
            ) -> c_int {
                // SAFETY: the arguments are those of the same operation; a weak one may be strong.
                unsafe { strong(at, expected, desired, order, failure) }
            }

            #[unsafe(export_name = concat!("__tsan_atomic", $bits, "_compare_exchange_val"))]
            unsafe extern "C" fn val(
                at: *const $atomic,
                mut expected: $value,
                desired: $value,
                order: c_int,
                failure: c_int,
            ) -> $value {
                // SAFETY: the address is the caller's, and the expected value lies on this stack.
                unsafe { strong(at, &raw mut expected, desired, order, failure) };
                expected
            }

            modifications! {
                $atomic $value $bits
                swap "exchange"
                fetch_add "fetch_add"
                fetch_sub "fetch_sub"
                fetch_and "fetch_and"
                fetch_or "fetch_or"
                fetch_xor "fetch_xor"
                fetch_nand "fetch_nand"
            }
        };
    };
}

operations! { AtomicU8 u8 8 }
operations! { AtomicU16 u16 16 }
operations! { AtomicU32 u32 32 }
operations! { AtomicU64 u64 64 }
#[cfg(target_arch = "x86_64")]
operations! { AtomicU128 u128 128 }

#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_thread_fence(_order: c_int) {
    fence(SeqCst);
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_signal_fence(_order: c_int) {
    compiler_fence(SeqCst);
}

/// Atomics of 16 bytes, for which stable Rust has an x86-64 instruction but no type.
#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::asm;
    use std::cell::UnsafeCell;
    use std::sync::atomic::Ordering;

    #[repr(C, align(16))]
    pub struct AtomicU128(UnsafeCell<u128>);

    /// The instruction itself, because the standard library's function calls libatomic if not
    /// inlined.
    unsafe fn exchange(at: *mut u128, old: u128, new: u128) -> u128 {
        let mut low = old as u64;
        let mut high = (old >> 64) as u64;
        // SAFETY: the caller's address is aligned and valid. The compiler reserves rbx, so that it
        // is put back.
        unsafe {
            asm!(
                "xchg rsi, rbx",
                "lock cmpxchg16b xmmword ptr [rdi]",
                "mov rbx, rsi",
                in("rdi") at,
                inout("rsi") new as u64 => _,
                in("rcx") (new >> 64) as u64,
                inout("rax") low,
                inout("rdx") high,
                options(nostack),
            );
        }
        u128::from(high) << 64 | u128::from(low)
    }

    macro_rules! changes {
        ($($method:ident |$old:ident, $value:ident| $new:expr;)*) => {
            $(
                pub fn $method(&self, $value: u128, order: Ordering) -> u128 {
                    self.change(order, |$old| $new)
                }
            )*
        };
    }

    impl AtomicU128 {
        pub fn compare_exchange(
            &self,
            old: u128,
            new: u128,
            _: Ordering,
            _: Ordering,
        ) -> Result<u128, u128> {
            // SAFETY: the cell is aligned; a program with 16-byte atomics runs on a processor that
            // has them.
            let found = unsafe { exchange(self.0.get(), old, new) };
            if found == old { Ok(found) } else { Err(found) }
        }

        pub fn load(&self, order: Ordering) -> u128 {
            self.compare_exchange(0, 0, order, order).unwrap_or_else(|found| found)
        }

        fn change(&self, order: Ordering, new: impl Fn(u128) -> u128) -> u128 {
            let mut old = self.load(order);
            while let Err(found) = self.compare_exchange(old, new(old), order, order) {
                old = found;
            }
            old
        }

        pub fn store(&self, value: u128, order: Ordering) {
            self.change(order, |_| value);
        }

        changes! {
            swap |_old, value| value;
            fetch_add |old, value| old.wrapping_add(value);
            fetch_sub |old, value| old.wrapping_sub(value);
            fetch_and |old, value| old & value;
            fetch_or |old, value| old | value;
            fetch_xor |old, value| old ^ value;
            fetch_nand |old, value| !(old & value);
        }
    }
}
