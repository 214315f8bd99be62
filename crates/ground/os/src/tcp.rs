//! TCP connections: facts (tcp(7), `TCP_INFO`), and the end of one with a lost peer.

use rustix::net::sockopt;
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// Probes before a silent peer counts as lost.
const QUESTIONS: u32 = 4;

/// Counts of a connection at this end.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Segments resent.
    pub resent: u32,
    /// Data segments sent, including those.
    pub sent: u32,
    /// Largest packet that now reaches the peer, in bytes.
    pub mtu_bytes: u32,
}

/// `struct tcp_info` of linux/tcp.h up to the fields used here; newer kernels append.
#[repr(C)]
struct Raw {
    states: [u8; 8],
    rto_to_pmtu: [u32; 14],
    rcv_ssthresh_to_total_retrans: [u32; 10],
    rates: [u64; 4],
    segs_out: u32,
    segs_in: u32,
    notsent_bytes: u32,
    min_rtt: u32,
    data_segs_in: u32,
    data_segs_out: u32,
}

/// The counts of a connection; `None` before Linux 4.6.
pub fn info(stream: &TcpStream) -> Option<Info> {
    let mut raw = MaybeUninit::<Raw>::zeroed();
    let mut length = size_of::<Raw>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes, which `raw` has.
    let failed = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            raw.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if failed != 0 || (length as usize) < size_of::<Raw>() {
        return None;
    }
    // SAFETY: all bytes are initialised, and any bytes are a valid `Raw`.
    let raw = unsafe { raw.assume_init() };
    Some(Info {
        resent: raw.rcv_ssthresh_to_total_retrans[9],
        sent: raw.data_segs_out,
        mtu_bytes: raw.rto_to_pmtu[13],
    })
}

/// Ends a connection once the peer's computer has been silent for this time. The kernel answers for
/// a busy or stopped process.
///
/// # Errors
/// The kernel's.
pub fn end_if_gone(stream: &TcpStream, after: Duration) -> io::Result<()> {
    let step = Duration::from_secs((after.as_secs() / u64::from(QUESTIONS)).max(1));
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, step)?;
    sockopt::set_tcp_keepintvl(stream, step)?;
    sockopt::set_tcp_keepcnt(stream, QUESTIONS - 1)?;
    // The same for unacknowledged bytes.
    sockopt::set_tcp_user_timeout(stream, u32::try_from(after.as_millis()).unwrap_or(u32::MAX))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    #[test]
    fn tcp_segments_are_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut other = listener.accept().unwrap().0;
        one.set_nodelay(true).unwrap();
        for _ in 0..20 {
            one.write_all(b"ping").unwrap();
            other.read_exact(&mut [0; 4]).unwrap();
        }
        let [here, there] = [&one, &other].map(|stream| info(stream).unwrap());
        assert!(here.sent >= 20 && there.sent == 0, "{here:?} {there:?}");
        assert!(here.mtu_bytes >= 1280 && here.resent == 0, "{here:?}");
    }

    #[test]
    fn keepalive_detects_a_lost_peer_in_time() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        end_if_gone(&stream, Duration::from_secs(60)).unwrap();
        assert!(sockopt::socket_keepalive(&stream).unwrap());
        let step =
            sockopt::tcp_keepidle(&stream).unwrap() + 3 * sockopt::tcp_keepintvl(&stream).unwrap();
        assert_eq!((step.as_secs(), sockopt::tcp_keepcnt(&stream).unwrap()), (60, 3));
    }
}
