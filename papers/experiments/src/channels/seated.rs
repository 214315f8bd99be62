//! The seats and lines that an experiment compared, for drawing them.

/// Seats and lines of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The PU of each task.
    pub pus: Vec<u32>,
    /// The line of each channel.
    pub lines: Vec<u32>,
}

/// The last comparison of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seated {
    /// The sender and receiver of each channel, by task.
    pub channels: Vec<(usize, usize)>,
    /// The run on seats as they came.
    pub usual: Run,
    /// The run on the seats that were looked for.
    pub placed: Run,
}

impl Seated {
    /// Tasks that talk two by two.
    pub(super) fn pairs(usual: Run, placed: Run) -> Self {
        Seated {
            channels: (0..usual.pus.len() / 2).map(|pair| (2 * pair, 2 * pair + 1)).collect(),
            usual,
            placed,
        }
    }
}
