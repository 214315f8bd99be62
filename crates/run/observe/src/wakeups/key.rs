//! Decodes one kind of wakeup, as counted by the eBPF programs.

use crate::TalkKind;
use crate::talk::ThreadMessages;
use seatmap_os::{i32_at, u16_at, u32_at, u64_at};

pub const KEY_BYTES: usize = 16;
pub const VALUE_BYTES: usize = 32;

/// The bit of an interrupted call. The kernel also delivers packets in an interrupt, for the
/// sending thread.
pub const INTERRUPTED: u32 = 1 << 16;

/// The number for a thread outside system calls.
const NO_CALL: u32 = 0xffff;

const FILE_KIND: u32 = 0o170_000;

/// System calls that send over a socket or move data between descriptors.
const SENDS: [libc::c_long; 8] = [
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_sendfile,
    libc::SYS_splice,
    libc::SYS_io_uring_enter,
];

/// System calls that receive, and wake the sender when there is room again.
const RECEIVES: [libc::c_long; 5] =
    [libc::SYS_read, libc::SYS_readv, libc::SYS_recvfrom, libc::SYS_recvmsg, libc::SYS_recvmmsg];

const OF_SOCKETS: [libc::c_long; 8] = [
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_connect,
    libc::SYS_shutdown,
];

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// The waker's thread, or the negative PID of an outside process.
    pub waker: i32,
    pub wakee: i32,
    /// The system call, or [`NO_CALL`].
    pub call: u32,
    pub is_interrupted: bool,
    /// The file's mode; 0 if unknown or not a file.
    pub mode: u32,
    /// Whether the first argument can be a descriptor.
    pub has_descriptor: bool,
}

impl Key {
    /// Also returns the count.
    pub fn parse(key: &[u8], value: &[u8]) -> Option<(Self, u64)> {
        let mode = u16_at(value, 8)?;
        let call = u32_at(key, 8)?;
        let parsed = Key {
            waker: i32_at(key, 0)?,
            wakee: i32_at(key, 4)?,
            call: call & NO_CALL,
            is_interrupted: call & INTERRUPTED != 0,
            mode: u32::from(mode),
            has_descriptor: i32_at(key, 12)? != -1,
        };
        Some((parsed, u64_at(value, 0)?))
    }

    /// The messages of these wakeups; `None` if the waker cannot have caused them.
    pub fn talk(&self, count: u64) -> Option<ThreadMessages> {
        let is_own = if self.is_interrupted {
            self.kind() == TalkKind::Socket
        } else {
            self.call != NO_CALL
        };
        // A reader that makes room wakes the writer, but the data went from writer to reader.
        let [from, to] =
            if self.is(&RECEIVES) { [self.wakee, self.waker] } else { [self.waker, self.wakee] };
        is_own.then_some(ThreadMessages {
            from,
            to,
            kind: self.kind(),
            messages: count as f64,
            bytes: count as f64,
        })
    }

    fn kind(&self) -> TalkKind {
        let is_transfer = self.is(&SENDS) || self.is(&RECEIVES);
        match self.mode & FILE_KIND {
            _ if i64::from(self.call) == libc::SYS_futex => TalkKind::Futex,
            // When a thread ends, the kernel wakes those that join it.
            _ if i64::from(self.call) == libc::SYS_exit => TalkKind::Futex,
            libc::S_IFSOCK => TalkKind::Socket,
            _ if self.is(&OF_SOCKETS) => TalkKind::Socket,
            libc::S_IFIFO if is_transfer => TalkKind::Pipe,
            libc::S_IFCHR | libc::S_IFDIR | libc::S_IFBLK => TalkKind::Other,
            // A descriptor whose mode has no kind is an anonymous inode, such as eventfd(2)'s. In a
            // call for an ordinary file the kernel wakes its own threads.
            0 if is_transfer && self.has_descriptor => TalkKind::Eventfd,
            _ => TalkKind::Other,
        }
    }

    fn is(&self, calls: &[libc::c_long]) -> bool {
        calls.contains(&libc::c_long::from(self.call as i32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(call: libc::c_long, mode: u32) -> Key {
        Key {
            waker: 1,
            wakee: 2,
            call: call as u32,
            is_interrupted: false,
            mode,
            has_descriptor: true,
        }
    }

    #[test]
    fn wakeup_kind_follows_call_and_file_mode() {
        for (call, mode, kind) in [
            (libc::SYS_futex, 0, TalkKind::Futex),
            (libc::SYS_write, libc::S_IFIFO, TalkKind::Pipe),
            (libc::SYS_write, libc::S_IFSOCK | 0o777, TalkKind::Socket),
            (libc::SYS_sendto, 0, TalkKind::Socket),
            (libc::SYS_write, 0o600, TalkKind::Eventfd),
            (libc::SYS_write, libc::S_IFCHR, TalkKind::Other),
            (libc::SYS_write, libc::S_IFREG | 0o644, TalkKind::Other),
            (libc::SYS_kill, 0, TalkKind::Other),
        ] {
            assert_eq!(key(call, mode).kind(), kind, "call {call} with mode {mode:o}");
        }
    }

    #[test]
    fn reader_freeing_pipe_space_is_receiver() {
        let talk = key(libc::SYS_read, libc::S_IFIFO).talk(3).unwrap();
        assert_eq!((talk.from, talk.to, talk.messages), (2, 1, 3.0));
        let talk = key(libc::SYS_write, libc::S_IFIFO).talk(3).unwrap();
        assert_eq!((talk.from, talk.to), (1, 2));
    }

    #[test]
    fn interrupt_counts_only_during_socket_send() {
        let counts =
            |(call, mode)| Key { is_interrupted: true, ..key(call, mode) }.talk(1).is_some();
        assert!([(libc::SYS_sendto, 0), (libc::SYS_write, libc::S_IFSOCK)].into_iter().all(counts));
        let others =
            [(libc::SYS_write, libc::S_IFIFO), (libc::SYS_getpid, 0), (libc::SYS_futex, 0)];
        assert!(!others.into_iter().any(counts));
        // In user space there is no call, and only an interrupt can wake.
        assert!(key(libc::c_long::from(NO_CALL as i32), 0).talk(1).is_none());
    }

    #[test]
    fn kernel_key_bytes_are_decoded() {
        let words = [7u32, 9, INTERRUPTED | 1, 3];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let value = [5u64.to_ne_bytes(), u64::from(libc::S_IFIFO).to_ne_bytes()].concat();
        let (key, count) = Key::parse(&bytes, &value).unwrap();
        assert_eq!((key.waker, key.wakee, key.call, key.is_interrupted, count), (7, 9, 1, true, 5));
        assert_eq!((key.mode, key.has_descriptor), (libc::S_IFIFO, true));
        assert_eq!(Key::parse(&bytes[..15], &value), None);
    }
}
