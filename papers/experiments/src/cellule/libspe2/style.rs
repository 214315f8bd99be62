//! The two styles of the library, and pairs of values for both.

use serde::Serialize;

/// The style of the library (`SEATMAP_SPE_STYLE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LibraryStyle {
    /// Existing pinned threads, mailboxes in shared lines.
    Cell,
    /// A thread for each run, a system call for each message.
    Linux,
}

impl LibraryStyle {
    /// The value of the variable.
    pub fn word(self) -> &'static str {
        match self {
            LibraryStyle::Cell => "cell",
            LibraryStyle::Linux => "linux",
        }
    }
}

/// A value for each style.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ByStyle<T> {
    /// The value in the cell's style.
    pub cell: T,
    /// The value in Linux's style.
    pub linux: T,
}

impl<T> ByStyle<T> {
    /// The value of a style.
    pub fn of(&mut self, style: LibraryStyle) -> &mut T {
        match style {
            LibraryStyle::Cell => &mut self.cell,
            LibraryStyle::Linux => &mut self.linux,
        }
    }

    /// Converts both values.
    ///
    /// # Errors
    /// The errors of `work`.
    pub fn try_map<U, E>(&self, mut work: impl FnMut(&T) -> Result<U, E>) -> Result<ByStyle<U>, E> {
        Ok(ByStyle { cell: work(&self.cell)?, linux: work(&self.linux)? })
    }

    /// Does something in both styles by turns, which begin with one style and the other
    /// alternately.
    ///
    /// # Errors
    /// The errors of `work`.
    pub fn by_turns<E>(
        turns: u32,
        mut work: impl FnMut(LibraryStyle, &mut T) -> Result<(), E>,
    ) -> Result<Self, E>
    where
        T: Default,
    {
        let mut both = ByStyle::default();
        for turn in 0..turns.max(1) {
            let order = if turn % 2 == 0 {
                [LibraryStyle::Cell, LibraryStyle::Linux]
            } else {
                [LibraryStyle::Linux, LibraryStyle::Cell]
            };
            for style in order {
                work(style, both.of(style))?;
            }
        }
        Ok(both)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_alternate_in_starting() {
        let mut order = Vec::new();
        let both = ByStyle::<u32>::by_turns(2, |style, count| {
            order.push(style.word());
            *count += 1;
            Ok::<_, ()>(())
        });
        assert_eq!(
            (both, order),
            (Ok(ByStyle { cell: 2, linux: 2 }), vec!["cell", "linux", "linux", "cell"])
        );
    }
}
