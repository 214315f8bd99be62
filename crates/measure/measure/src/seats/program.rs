//! Seats for a program's own threads.

mod over;

use seatmap_data::machine::Profile;
use seatmap_data::pattern::{Edge, Pattern};
use seatmap_data::statistics::words::counted;
use seatmap_machines::host::remembered::{self, RememberedError};
use seatmap_os::affinity;
use seatmap_place::search::SearchLimit;
use seatmap_place::{Level, PlaceError, PlaceMethod, PlaceRequest};

/// The channels of a program, each between two of its threads: Algorithm 4 of Liu et al. 2015 in a
/// few lines.
///
/// ```
/// use seatmap_data::machine::catalog;
/// use seatmap_measure::seats::ProgramChannels;
///
/// let mut channels = ProgramChannels::new();
/// let orders = channels.between(0, 1);
/// let seats = channels.seats_on(&catalog::load("graviton3")?, None)?;
/// let (producer, consumer) = (seats.side(orders, 0), seats.side(orders, 1));
/// assert!(producer.is_some() && producer != consumer);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A real program calls [`ProgramChannels::seats_over`] with the memory for its channels, or
/// [`ProgramChannels::seats`] if there is no memory to measure.
#[derive(Debug, Default)]
pub struct ProgramChannels {
    pairs: Vec<(usize, usize)>,
    /// Slices of the ring or mesh, for programs with several groups of threads (the Pizza Slice
    /// algorithm). By default threads sit next to their channel line's home (`GetCore`).
    pub sections: Option<usize>,
    /// At most one thread per core.
    pub one_per_core: bool,
}

/// Attributes for creating a thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThreadAttributes {
    /// CPU to pin it to, by OS index.
    pub cpu: u32,
    /// The line for its channel, counted in cache lines. From [`ProgramChannels::seats_over`]: a
    /// line of the given memory. Otherwise a line from the profile, in memory that starts with a
    /// page, which is valid here only if homes repeat from page to page. `None` if any line will
    /// do.
    pub line: Option<usize>,
}

/// Seats for the threads of a program, and lines for its channels.
#[derive(Debug)]
pub struct ProgramSeats {
    /// CPU of each thread, by OS index.
    pub cpus: Vec<u32>,
    pairs: Vec<(usize, usize)>,
    lines: Vec<Option<usize>>,
}

fn unfit(error: RememberedError) -> PlaceError {
    PlaceError::Unfit(error.to_string())
}

impl ProgramChannels {
    /// Starts without channels.
    pub fn new() -> Self {
        ProgramChannels::default()
    }

    /// Declares a channel between two threads, numbered from 0, and returns its number.
    pub fn between(&mut self, first: usize, second: usize) -> usize {
        self.pairs.push((first, second));
        self.pairs.len() - 1
    }

    /// Seats on this host, as measured, on the CPUs available to this process.
    ///
    /// # Errors
    /// The host was not measured, or an error of [`ProgramChannels::seats_on`].
    pub fn seats(&self) -> Result<ProgramSeats, PlaceError> {
        self.seats_on(&remembered::host().map_err(unfit)?, affinity::current().ok().as_deref())
    }

    /// Seats on a machine, on these of its CPUs, or all.
    ///
    /// # Errors
    /// A thread has a channel to itself, there are fewer lines than channels, or sections do not
    /// divide the cores or have fewer CPUs than threads. Without sections, surplus threads share
    /// CPUs.
    pub fn seats_on(
        &self,
        profile: &Profile,
        cpus: Option<&[u32]>,
    ) -> Result<ProgramSeats, PlaceError> {
        let pattern = self.pattern()?;
        self.enough_lines(profile)?;
        let mut request = PlaceRequest::new(profile, &pattern);
        request.cpus = cpus.map(<[u32]>::to_vec);
        request.one_per = self.one_per_core.then_some(Level::Core);
        request.method = match self.sections {
            Some(sections) => PlaceMethod::Pizza(sections),
            None if tells_homes(profile) => PlaceMethod::GetCore,
            None => PlaceMethod::Auto,
        };
        // Limited by kicks, so every run gets the same seats.
        request.limit = SearchLimit::kicks(KICKS);
        let answer = request.place()?;
        Ok(ProgramSeats {
            lines: self
                .pairs
                .iter()
                .map(|&(a, b)| {
                    answer
                        .channels
                        .iter()
                        .find(|channel| [(a, b), (b, a)].contains(&(channel.from, channel.to)))
                        .and_then(|channel| channel.line)
                })
                .collect(),
            cpus: answer.placement,
            pairs: self.pairs.clone(),
        })
    }

    fn enough_lines(&self, profile: &Profile) -> Result<(), PlaceError> {
        let lines = profile
            .home_model
            .as_ref()
            .and_then(|model| model.lines.as_ref())
            .filter(|lines| lines.resolvable);
        let channels = self.pairs.len();
        let lines = lines.map_or(usize::MAX, |lines| lines.home_of_line.len());
        if channels <= lines {
            Ok(())
        } else {
            Err(PlaceError::Unfit(format!(
                "not enough cache lines for {channels}: the profile has {lines}; 'seatmap measure \
                 --homes {}' finds more",
                channels + channels.div_ceil(4),
                channels = counted(channels, "channel")
            )))
        }
    }

    fn pattern(&self) -> Result<Pattern, PlaceError> {
        let mut edges: Vec<Edge> = Vec::new();
        for (first, second) in &self.pairs {
            let from = *first.min(second);
            let to = *first.max(second);
            if from == to {
                return Err(PlaceError::Unfit(format!("thread {from} has a channel to itself")));
            }
            if edges.iter().any(|edge| (edge.from, edge.to) == (from, to)) {
                let what = format!(
                    "threads {from} and {to} have two channels; declare one and use its line for \
                     both"
                );
                return Err(PlaceError::Unfit(what));
            }
            edges.push(Edge { from, to, bytes: 1.0, messages: 1.0 });
        }
        let tasks = edges.iter().map(|edge| edge.to + 1).max();
        let tasks = tasks
            .filter(|tasks| *tasks <= seatmap_data::pattern::graph::MAX_TASKS)
            .ok_or_else(|| {
                PlaceError::Unfit(
                    "declare at least one channel, between threads numbered from 0".to_owned(),
                )
            })?;
        Ok(Pattern { edges, ..Pattern::silent("channels", tasks) })
    }
}

fn tells_homes(profile: &Profile) -> bool {
    profile.home_model.as_ref().is_some_and(|model| model.homes() > 1)
}

const KICKS: u64 = 200;

impl ProgramSeats {
    /// The attributes of a channel's first (0) or second (1) thread; `None` without such a channel.
    pub fn side(&self, channel: usize, side: usize) -> Option<ThreadAttributes> {
        let (first, second) = *self.pairs.get(channel)?;
        let thread = *[first, second].get(side)?;
        Some(ThreadAttributes { cpu: *self.cpus.get(thread)?, line: *self.lines.get(channel)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::machine::catalog;

    fn pairs(count: usize) -> ProgramChannels {
        let mut channels = ProgramChannels::new();
        for at in 0..count {
            channels.between(2 * at, 2 * at + 1);
        }
        channels
    }

    #[test]
    fn machine_without_homes_has_equal_lines() {
        let seats =
            pairs(2).seats_on(&catalog::load("graviton3").unwrap(), Some(&[3, 4, 5, 6])).unwrap();
        assert!(seats.lines.iter().all(Option::is_none));
        let mut cpus = seats.cpus.clone();
        cpus.sort_unstable();
        assert_eq!(cpus, [3, 4, 5, 6]);
        assert_eq!(seats.side(0, 0).unwrap(), ThreadAttributes { cpu: seats.cpus[0], line: None });
        assert!(seats.side(2, 0).is_none() && seats.side(0, 2).is_none());
    }

    #[test]
    fn invalid_channels_are_refused() {
        let machine = catalog::load("graviton3").unwrap();
        let mut twice = pairs(1);
        twice.between(1, 0);
        let mut alone = ProgramChannels::new();
        alone.between(3, 3);
        for bad in [ProgramChannels::new(), alone, twice] {
            assert!(bad.seats_on(&machine, None).is_err(), "{bad:?}");
        }
        let sliced = ProgramChannels { sections: Some(7), ..pairs(2) };
        let error = sliced.seats_on(&machine, None).unwrap_err().to_string();
        assert!(error.contains("7 sections do not divide"), "{error}");
    }
}
