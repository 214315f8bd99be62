//! Addresses in the tasks' shared memory.

/// Bytes in a cache line: 64 on every coherent machine in the catalogue. On a machine with larger
/// lines (128 on POWER), programs that space lines must leave one free between two in use.
pub const LINE_BYTES: usize = 64;

/// 64-bit words in a cache line.
pub const WORDS_PER_LINE: u32 = (LINE_BYTES / 8) as u32;

/// A 64-bit word of a workload's shared memory, counted from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addr(pub u32);

impl Addr {
    /// The first word of a cache line.
    ///
    /// ```
    /// # use seatmap_data::port::Addr;
    /// assert_eq!(Addr::line(2), Addr(16));
    /// assert_eq!(Addr::line(2).word(3).line_index(), 2);
    /// ```
    pub const fn line(index: u32) -> Addr {
        Addr(index * WORDS_PER_LINE)
    }

    /// The word `further` words after this one.
    pub const fn word(self, further: u32) -> Addr {
        Addr(self.0 + further)
    }

    /// The line that contains it.
    pub const fn line_index(self) -> u32 {
        self.0 / WORDS_PER_LINE
    }
}
