//! The functions that compilers call in place of atomic operations.
//!
//! Every operation is sequentially consistent, which is always right, except stores that ask for
//! less. Loads are counted afterwards, all else before, so that a thread that sees a new value
//! finds its writer in the shadow.

use crate::shadow::access;
use std::ffi::c_int;
use std::sync::atomic::Ordering::{Release, SeqCst};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, compiler_fence, fence};

/// The C and C++ number of the order "sequentially consistent".
const SEQ_CST: c_int = 5;

macro_rules! loads_and_stores {
    ($($atomic:ident $value:ident $bytes:literal $load:ident $store:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $load(at: *const $atomic, _order: c_int) -> $value {
                // SAFETY: the compiler replaced an atomic load of this address.
                let value = unsafe { &*at }.load(SeqCst);
                access(at as usize, $bytes, false);
                value
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn $store(at: *const $atomic, value: $value, order: c_int) {
                access(at as usize, $bytes, true);
                let order = if order == SEQ_CST { SeqCst } else { Release };
                // SAFETY: the compiler replaced an atomic store to this address.
                unsafe { &*at }.store(value, order);
            }
        )*
    };
}

macro_rules! modifications {
    ($($atomic:ident $value:ident $bytes:literal $method:ident $name:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(at: *const $atomic, value: $value, _order: c_int) -> $value {
                access(at as usize, $bytes, true);
                // SAFETY: the compiler replaced an atomic operation on this address.
                unsafe { &*at }.$method(value, SeqCst)
            }
        )*
    };
}

macro_rules! exchanges {
    ($($atomic:ident $value:ident $bytes:literal $strong:ident $weak:ident $val:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $strong(
                at: *const $atomic,
                expected: *mut $value,
                desired: $value,
                _order: c_int,
                _failure: c_int,
            ) -> c_int {
                // SAFETY: the compiler replaced a compare-exchange with these addresses.
                let (at, expected) = unsafe { (&*at, &mut *expected) };
                access(std::ptr::from_ref(at) as usize, $bytes, true);
                match at.compare_exchange(*expected, desired, SeqCst, SeqCst) {
                    Ok(_) => 1,
                    Err(found) => {
                        *expected = found;
                        0
                    }
                }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn $weak(
                at: *const $atomic,
                expected: *mut $value,
                desired: $value,
                order: c_int,
                failure: c_int,
            ) -> c_int {
                // SAFETY: the arguments are those of the same operation; a weak one may be strong.
                unsafe { $strong(at, expected, desired, order, failure) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn $val(
                at: *const $atomic,
                mut expected: $value,
                desired: $value,
                order: c_int,
                failure: c_int,
            ) -> $value {
                // SAFETY: the address is the caller's, and the expected value lies on this stack.
                unsafe { $strong(at, &raw mut expected, desired, order, failure) };
                expected
            }
        )*
    };
}

loads_and_stores! {
    AtomicU8 u8 1 __tsan_atomic8_load __tsan_atomic8_store
    AtomicU16 u16 2 __tsan_atomic16_load __tsan_atomic16_store
    AtomicU32 u32 4 __tsan_atomic32_load __tsan_atomic32_store
    AtomicU64 u64 8 __tsan_atomic64_load __tsan_atomic64_store
}

modifications! {
    AtomicU8 u8 1 swap __tsan_atomic8_exchange
    AtomicU8 u8 1 fetch_add __tsan_atomic8_fetch_add
    AtomicU8 u8 1 fetch_sub __tsan_atomic8_fetch_sub
    AtomicU8 u8 1 fetch_and __tsan_atomic8_fetch_and
    AtomicU8 u8 1 fetch_or __tsan_atomic8_fetch_or
    AtomicU8 u8 1 fetch_xor __tsan_atomic8_fetch_xor
    AtomicU8 u8 1 fetch_nand __tsan_atomic8_fetch_nand
    AtomicU16 u16 2 swap __tsan_atomic16_exchange
    AtomicU16 u16 2 fetch_add __tsan_atomic16_fetch_add
    AtomicU16 u16 2 fetch_sub __tsan_atomic16_fetch_sub
    AtomicU16 u16 2 fetch_and __tsan_atomic16_fetch_and
    AtomicU16 u16 2 fetch_or __tsan_atomic16_fetch_or
    AtomicU16 u16 2 fetch_xor __tsan_atomic16_fetch_xor
    AtomicU16 u16 2 fetch_nand __tsan_atomic16_fetch_nand
    AtomicU32 u32 4 swap __tsan_atomic32_exchange
    AtomicU32 u32 4 fetch_add __tsan_atomic32_fetch_add
    AtomicU32 u32 4 fetch_sub __tsan_atomic32_fetch_sub
    AtomicU32 u32 4 fetch_and __tsan_atomic32_fetch_and
    AtomicU32 u32 4 fetch_or __tsan_atomic32_fetch_or
    AtomicU32 u32 4 fetch_xor __tsan_atomic32_fetch_xor
    AtomicU32 u32 4 fetch_nand __tsan_atomic32_fetch_nand
    AtomicU64 u64 8 swap __tsan_atomic64_exchange
    AtomicU64 u64 8 fetch_add __tsan_atomic64_fetch_add
    AtomicU64 u64 8 fetch_sub __tsan_atomic64_fetch_sub
    AtomicU64 u64 8 fetch_and __tsan_atomic64_fetch_and
    AtomicU64 u64 8 fetch_or __tsan_atomic64_fetch_or
    AtomicU64 u64 8 fetch_xor __tsan_atomic64_fetch_xor
    AtomicU64 u64 8 fetch_nand __tsan_atomic64_fetch_nand
}

exchanges! {
    AtomicU8 u8 1 __tsan_atomic8_compare_exchange_strong __tsan_atomic8_compare_exchange_weak
        __tsan_atomic8_compare_exchange_val
    AtomicU16 u16 2 __tsan_atomic16_compare_exchange_strong __tsan_atomic16_compare_exchange_weak
        __tsan_atomic16_compare_exchange_val
    AtomicU32 u32 4 __tsan_atomic32_compare_exchange_strong __tsan_atomic32_compare_exchange_weak
        __tsan_atomic32_compare_exchange_val
    AtomicU64 u64 8 __tsan_atomic64_compare_exchange_strong __tsan_atomic64_compare_exchange_weak
        __tsan_atomic64_compare_exchange_val
}

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
    use super::{access, c_int};
    use std::arch::asm;
    use std::cell::UnsafeCell;
    use std::sync::atomic::Ordering::{self, Release, SeqCst};

    const SEQ_CST: c_int = super::SEQ_CST;

    #[repr(C, align(16))]
    struct AtomicU128(UnsafeCell<u128>);

    /// The instruction itself, because the standard library's function calls libatomic if it is not
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

    impl AtomicU128 {
        fn compare_exchange(
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

        fn load(&self, order: Ordering) -> u128 {
            self.compare_exchange(0, 0, order, order).unwrap_or_else(|found| found)
        }

        fn change(&self, order: Ordering, new: impl Fn(u128) -> u128) -> u128 {
            let mut old = self.load(order);
            while let Err(found) = self.compare_exchange(old, new(old), order, order) {
                old = found;
            }
            old
        }

        fn store(&self, value: u128, order: Ordering) {
            self.change(order, |_| value);
        }

        fn swap(&self, value: u128, order: Ordering) -> u128 {
            self.change(order, |_| value)
        }

        fn fetch_add(&self, value: u128, order: Ordering) -> u128 {
            self.change(order, |old| old.wrapping_add(value))
        }

        fn fetch_sub(&self, value: u128, order: Ordering) -> u128 {
            self.change(order, |old| old.wrapping_sub(value))
        }

        fn fetch_and(&self, value: u128, order: Ordering) -> u128 {
            self.change(order, |old| old & value)
        }

        fn fetch_or(&self, value: u128, order: Ordering) -> u128 {
            self.change(order, |old| old | value)
        }

        fn fetch_xor(&self, value: u128, order: Ordering) -> u128 {
            self.change(order, |old| old ^ value)
        }

        fn fetch_nand(&self, value: u128, order: Ordering) -> u128 {
            self.change(order, |old| !(old & value))
        }
    }

    loads_and_stores! { AtomicU128 u128 16 __tsan_atomic128_load __tsan_atomic128_store }

    modifications! {
        AtomicU128 u128 16 swap __tsan_atomic128_exchange
        AtomicU128 u128 16 fetch_add __tsan_atomic128_fetch_add
        AtomicU128 u128 16 fetch_sub __tsan_atomic128_fetch_sub
        AtomicU128 u128 16 fetch_and __tsan_atomic128_fetch_and
        AtomicU128 u128 16 fetch_or __tsan_atomic128_fetch_or
        AtomicU128 u128 16 fetch_xor __tsan_atomic128_fetch_xor
        AtomicU128 u128 16 fetch_nand __tsan_atomic128_fetch_nand
    }

    exchanges! {
        AtomicU128 u128 16 __tsan_atomic128_compare_exchange_strong
            __tsan_atomic128_compare_exchange_weak __tsan_atomic128_compare_exchange_val
    }
}
