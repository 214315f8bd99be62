//! Pages that threads share, sampled in a program that is not changed.
//!
//! A thread of its own takes pages of the program's memory away for a moment, by userfaultfd(2) and
//! `UFFDIO_MOVE` (Linux 6.8), and puts each back when a thread accesses it. The kernel names the
//! thread and the address. Other pages are protected against writes for a moment, which tells the
//! next writer. The records go to `seatmap observe` over the socket that `SEATMAP_PAGES` names;
//! without this variable nothing happens.
//!
//! The program's memory is never at risk of being lost: the thread lives in the program, so that it
//! ends with it, and it puts all pages back when the socket is closed. It has its own table of
//! files, and touches none of the memory from which it takes pages. A page that is away is
//! forgotten in two cases alone: the kernel has said that the program unmapped or gave back its
//! memory, or the kernel has no such memory of this process any more. While the program changes its
//! memory, the kernel refuses to put pages back until all its words are read; then the thread tries
//! again.
//!
//! | module | does |
//! |---|---|
//! | `kernel` | userfaultfd: pages that are missing or protected, and what the kernel tells of them |
//! | `events` | what the kernel tells, parsed |
//! | `fence` | memory that is left alone: the stacks of threads, this library, the C library |
//! | `own` | the files whose variables the thread itself uses |
//! | `areas` | memory from which pages are taken |
//! | `given` | memory that the program has given back once: its pages are protected only |
//! | `moves` | memory that was moved, in the order in which it was |
//! | `child` | the child of a fork: its copies of the pages that are away |
//! | `hold` | calls of the program that must find its memory as it would be |
//! | `variables` | makes the variables of programs and libraries memory without a file |
//! | `book` | the pages of which something is known |
//! | `stash` | pages that were taken away, and those that are protected |
//! | `sampler` | which pages are next, within a budget |
//! | `trial` | what a fault costs the program |
//! | `handler` | the thread: answers the kernel, and samples |
//! | `robust` | robust mutexes of a thread that ends |
//! | `last` | the end of a program whose main thread ends before the others |
//! | `wire` | records for `seatmap observe` |

mod areas;
mod book;
mod child;
mod events;
pub mod fence;
mod given;
mod handler;
mod hold;
mod kernel;
pub mod last;
mod moves;
mod own;
mod robust;
mod sampler;
mod stash;
mod trial;
mod variables;
mod wire;

use crate::{memory, output, threads};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::atomic::{AtomicI32, AtomicU8};

/// Bytes of the thread's stack: its variables of the thread's own, those of all libraries included,
/// lie there too.
const STACK_BYTES: usize = 1 << 20;

/// Bytes of a page. Where the computer has larger ones, nothing is sampled.
pub const PAGE: usize = 4096;

const OFF: u8 = 0;
const BEGINNING: u8 = 1;
const ACTIVE: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(OFF);
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// Whether pages of this process are sampled. The child of a fork has no thread for it.
pub fn is_active() -> bool {
    // SAFETY: the call has no preconditions.
    STATE.load(Acquire) == ACTIVE && PROCESS.load(Acquire) == unsafe { libc::getpid() }
}

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

/// Begins when the library is loaded, before the program's first instruction.
extern "C" fn begin() {
    let Some(socket) = output::named_by("SEATMAP_PAGES") else { return };
    // SAFETY: reads a constant of the system.
    let is_known = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } == PAGE as i64;
    if !is_known || !fence::begin() {
        return;
    }
    own::find();
    variables::make_anonymous();
    trial::prepare();
    if !start(socket) {
        return;
    }
    // The thread says so itself once it can answer faults, or cannot.
    while STATE.load(Acquire) == BEGINNING {
        std::thread::yield_now();
    }
    if is_active() {
        last::begin();
        trial::measure();
    }
}

/// Starts the thread on a stack of its own: false where the system refuses.
fn start(socket: output::Path) -> bool {
    let stack = memory::zeros(STACK_BYTES);
    let Some(create) = threads::create().filter(|_| !stack.is_null()) else { return false };
    fence::exclude(stack as usize, stack as usize + STACK_BYTES);
    let room = memory::zeros(size_of::<output::Path>()).cast::<output::Path>();
    if room.is_null() {
        return false;
    }
    // SAFETY: the room is as large as a path, and belongs to the thread from now on.
    unsafe { room.write(socket) };
    // SAFETY: reads the process's number, without preconditions.
    PROCESS.store(unsafe { libc::getpid() }, Release);
    STATE.store(BEGINNING, Release);
    let is_started = with_stack(stack, |attributes| {
        let mut thread = 0;
        // SAFETY: the attributes are valid for the call; `run` takes the path.
        unsafe { create(&raw mut thread, attributes, run, room.cast()) == 0 }
    });
    if !is_started {
        STATE.store(OFF, Release);
    }
    is_started
}

fn with_stack(stack: *mut u8, create: impl FnOnce(*const libc::pthread_attr_t) -> bool) -> bool {
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: the first call fills the attributes, the others use them, and the last one frees
    // them; the stack has this many bytes and is never unmapped.
    unsafe {
        if libc::pthread_attr_init(attributes.as_mut_ptr()) != 0 {
            return false;
        }
        let is_set =
            libc::pthread_attr_setstack(attributes.as_mut_ptr(), stack.cast(), STACK_BYTES) == 0;
        libc::pthread_attr_setdetachstate(attributes.as_mut_ptr(), libc::PTHREAD_CREATE_DETACHED);
        let is_created = is_set && create(attributes.as_ptr());
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        is_created
    }
}

extern "C" fn run(socket: *mut c_void) -> *mut c_void {
    // SAFETY: `start` gave away a path of this type, which is never unmapped.
    let socket = unsafe { &*socket.cast::<output::Path>() };
    hide_from_signals();
    handler::run(socket, |is_ready| STATE.store(if is_ready { ACTIVE } else { OFF }, Release));
    STATE.store(OFF, Release);
    null_mut()
}

/// The program's handlers of signals run in its own threads alone.
fn hide_from_signals() {
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the first call fills the set that the second one reads.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), null_mut());
        libc::prctl(libc::PR_SET_NAME, c"seatmap-pages".as_ptr());
    }
}
