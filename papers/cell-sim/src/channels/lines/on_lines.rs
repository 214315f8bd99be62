//! A program over channels as a workload.

use super::{ChannelLayout, ChannelLines, LineChannels, PortLines, TooLarge};
use crate::channels::ChannelProgram;
use seatmap_data::port::{Addr, Barrier, Port, Workload};

/// A [`ChannelProgram`] that runs on any machine with shared lines. Its tasks meet before they
/// start. Shared memory must be zeros.
#[derive(Clone, Copy, Debug)]
pub struct OnLines<'a, T> {
    program: &'a T,
    layout: ChannelLayout,
}

impl<'a, T: ChannelProgram> OnLines<'a, T> {
    /// Prepares the program for `modules` memory modules.
    ///
    /// # Errors
    /// [`TooLarge`] if [`Addr`] cannot address its memory.
    pub fn new(program: &'a T, modules: usize) -> Result<Self, TooLarge> {
        Ok(OnLines { program, layout: ChannelLayout::new(program.shape(), modules)? })
    }

    /// Runs one task.
    pub fn task_on<L: ChannelLines>(&self, lines: &L, rank: usize) -> T::Output {
        let port = lines.port();
        // Created first, so that others notice any panic below.
        let _tells = TellsOthers { port, ended: self.layout.ended() };
        Barrier::new(self.layout.gate(), self.tasks()).wait(port);
        self.program.task(&LineChannels::new(lines, self.layout, rank), rank)
    }

    /// The layout of shared memory.
    pub fn layout(&self) -> ChannelLayout {
        self.layout
    }
}

impl<T: ChannelProgram> Workload for OnLines<'_, T> {
    type Output = T::Output;

    fn tasks(&self) -> usize {
        self.layout.shape().tasks
    }

    fn lines(&self) -> u32 {
        self.layout.lines()
    }

    fn task<P: Port>(&self, port: &P, rank: usize) -> T::Output {
        self.task_on(&PortLines(port), rank)
    }
}

struct TellsOthers<'a, P: Port> {
    port: &'a P,
    ended: Addr,
}

impl<P: Port> Drop for TellsOthers<'_, P> {
    fn drop(&mut self) {
        // A task that returns normally has done its part.
        if std::thread::panicking() {
            self.port.store(self.ended, 1);
        }
    }
}
