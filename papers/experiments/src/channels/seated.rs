//! The compared seats and lines of an experiment, for drawings.

/// Seats and lines of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelSeating {
    /// The PU of each task.
    pub pus: Vec<u32>,
    /// Each channel's line.
    pub lines: Vec<u32>,
}

/// An experiment's last comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelRuns {
    /// Each channel's sender and receiver, by task.
    pub channels: Vec<(usize, usize)>,
    /// The run on the default seats.
    pub usual: ChannelSeating,
    /// The run on the seats found.
    pub placed: ChannelSeating,
}

impl ChannelRuns {
    pub(super) fn pairs(usual: ChannelSeating, placed: ChannelSeating) -> Self {
        ChannelRuns {
            channels: (0..usual.pus.len() / 2).map(|pair| (2 * pair, 2 * pair + 1)).collect(),
            usual,
            placed,
        }
    }
}
