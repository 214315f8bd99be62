//! The records that `libseatmap_trace` sends: four words of 64 bits each.

use seatmap_os::Tid;

/// Bytes of a record.
pub(super) const RECORD_BYTES: usize = 32;

/// The version of the records that are known here.
pub(super) const VERSION: u64 = 1;

/// How a page was exposed, and what ended that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// It was away, and a thread read it.
    Read,
    /// It was away, and a thread wrote to it.
    Written,
    /// It was protected, and a thread wrote to it.
    Changed,
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Record {
    /// The process, and the thread that samples it.
    Hello { tid: Tid, pid: Tid, version: u64 },
    /// The kernel refused what is needed, by the number of its error.
    Refused(i32),
    /// A page was exposed for this time, in nanoseconds; the thread that ended that is 0 where none
    /// did.
    Sample { access: Access, tid: Tid, address: u64, exposed_ns: u64 },
    /// The sampling took this CPU time so far, in nanoseconds, and so many faults of this time
    /// each.
    Cost { own_ns: u64, faults: u64, fault_ns: u64 },
    /// The process forked a child that has not started a program.
    Forked,
    /// Memory that is sampled, and memory that is left out, in bytes.
    Memory { sampled_bytes: u64, left_out_bytes: u64 },
    /// Samples that were lost.
    Lost(u64),
}

impl Record {
    /// Reads a record; `None` for a kind that is not known.
    pub(super) fn parse(bytes: &[u8; RECORD_BYTES]) -> Option<Self> {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_ne_bytes(bytes.try_into().ok()?);
        }
        let [first, second, third, fourth] = words;
        // The lower half of the first word is the kind, the upper half a thread.
        let tid = (first >> 32) as Tid;
        Some(match first as u32 {
            1 => Record::Hello { tid, pid: Tid::try_from(second).ok()?, version: third },
            2 => Record::Refused(i32::try_from(second).ok()?),
            3 => Record::Sample { access: Access::Read, tid, address: second, exposed_ns: third },
            4 => {
                Record::Sample { access: Access::Written, tid, address: second, exposed_ns: third }
            }
            5 => {
                Record::Sample { access: Access::Changed, tid, address: second, exposed_ns: third }
            }
            6 => Record::Cost { own_ns: second, faults: third, fault_ns: fourth },
            7 => Record::Forked,
            8 => Record::Memory { sampled_bytes: second, left_out_bytes: third },
            9 => Record::Lost(second),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_will_do(bytes: [u8; RECORD_BYTES]) {
            let _ = Record::parse(&bytes);
        }
    }

    #[test]
    fn a_sample_has_its_thread_in_the_first_word() {
        let words = [4 | 42 << 32, 0x7000_1234, 99, 0u64];
        let bytes: Vec<u8> = words.iter().flat_map(|word: &u64| word.to_ne_bytes()).collect();
        let sample = Record::parse(&bytes.try_into().unwrap());
        let expected = Record::Sample {
            access: Access::Written,
            tid: 42,
            address: 0x7000_1234,
            exposed_ns: 99,
        };
        assert_eq!(sample, Some(expected));
    }
}
