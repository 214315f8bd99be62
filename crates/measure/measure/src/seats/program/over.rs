//! Seats next to own memory.

use super::unfit;
use super::{ProgramChannels, ProgramSeats, tells_homes};
use crate::seats::line_homes;
use seatmap_data::machine::{HomeLines, Profile};
use seatmap_data::statistics::words::counted;
use seatmap_machines::host::remembered;
use seatmap_os::affinity;
use seatmap_place::PlaceError;
use std::sync::atomic::AtomicU64;

impl ProgramChannels {
    /// Seats on this host next to lines of this memory.
    ///
    /// If the host's profile distinguishes homes, pairs of threads, pinned to CPUs available to
    /// this process, first find the home of each line ([`line_homes`]) in a fraction of a
    /// millisecond per line; the calling thread stays in place. If other programs keep the CPUs
    /// busy, the search ends after 1 s plus 4 ms per line. No other thread may use the memory
    /// meanwhile; its contents are restored. If any line will do, nothing is measured.
    ///
    /// ```no_run
    /// use seatmap_measure::seats::ProgramChannels;
    /// use std::sync::atomic::AtomicU64;
    ///
    /// #[repr(align(4096))]
    /// struct Page([AtomicU64; 512]);
    ///
    /// let page = Page([const { AtomicU64::new(0) }; 512]);
    /// let mut channels = ProgramChannels::new();
    /// let orders = channels.between(0, 1);
    /// let seats = channels.seats_over(&page.0)?;
    /// if let Some(producer) = seats.side(orders, 0) {
    ///     println!("on CPU {}, over line {}", producer.cpu, producer.line.unwrap_or(0));
    /// }
    /// # Ok::<(), seatmap_place::PlaceError>(())
    /// ```
    ///
    /// # Errors
    /// The memory does not start at a line, only one core is available, CPUs are busy, or fewer
    /// lines than channels have a known home; and the errors of [`ProgramChannels::seats`].
    pub fn seats_over(&self, memory: &[AtomicU64]) -> Result<ProgramSeats, PlaceError> {
        self.seats_over_on(
            memory,
            &remembered::host().map_err(unfit)?,
            affinity::current().ok().as_deref(),
        )
    }

    /// [`ProgramChannels::seats_over`] with another profile of this host, on these CPUs, or all.
    ///
    /// # Errors
    /// Those of [`ProgramChannels::seats_over`].
    pub fn seats_over_on(
        &self,
        memory: &[AtomicU64],
        profile: &Profile,
        cpus: Option<&[u32]>,
    ) -> Result<ProgramSeats, PlaceError> {
        if tells_homes(profile) {
            self.seats_by(&line_homes::homes_of(memory, profile, cpus)?, profile, cpus)
        } else {
            self.seats_on(profile, cpus)
        }
    }

    /// Seats on a machine next to lines of these homes, as from [`line_homes::find`].
    ///
    /// # Errors
    /// Those of [`ProgramChannels::seats_on`].
    pub fn seats_by(
        &self,
        homes: &[Option<u32>],
        profile: &Profile,
        cpus: Option<&[u32]>,
    ) -> Result<ProgramSeats, PlaceError> {
        let known: Vec<(usize, u32)> =
            homes.iter().enumerate().filter_map(|(line, home)| Some((line, (*home)?))).collect();
        if known.len() < self.pairs.len() {
            return Err(PlaceError::Unfit(format!(
                "not enough cache lines for {}: homes were found for {} of {}; pass more lines",
                counted(self.pairs.len(), "channel"),
                known.len(),
                homes.len()
            )));
        }
        let home_of_line = known.iter().map(|(_, home)| *home).collect();
        let mut seats = self.seats_on(&with_lines(profile, home_of_line), cpus)?;
        for line in seats.lines.iter_mut().flatten() {
            *line = known.get(*line).map_or(*line, |(line, _)| *line);
        }
        Ok(seats)
    }
}

fn with_lines(profile: &Profile, home_of_line: Vec<u32>) -> Profile {
    let mut profile = profile.clone();
    if let Some(model) = &mut profile.home_model {
        model.lines = Some(HomeLines {
            home_of_line,
            nearest_pu: model.lines.take().map_or_else(Vec::new, |lines| lines.nearest_pu),
            confidence: 1.0,
            resolvable: true,
            samples: 0,
            checked: None,
        });
    }
    profile
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profiles_for_tests::homely;
    use seatmap_data::machine::catalog;

    fn square() -> Profile {
        let corner = |at: usize| (at % 2, at / 2);
        let way = |from: usize, to: usize| {
            let from = corner(from);
            let to = corner(to);
            10.0 * (from.0.abs_diff(to.0) + from.1.abs_diff(to.1)) as f64
        };
        homely(&[0, 1, 2, 3], (0..4).map(|pu| (0..4).map(|home| way(pu, home)).collect()).collect())
    }

    #[test]
    fn equal_lines_are_not_measured() {
        let mut channels = ProgramChannels::new();
        channels.between(0, 1);
        let seats =
            channels.seats_over_on(&[], &catalog::load("graviton3").unwrap(), None).unwrap();
        assert!(seats.lines.iter().all(Option::is_none));
    }

    #[test]
    fn threads_are_placed_next_to_known_lines() {
        let mut channels = ProgramChannels::new();
        let one = channels.between(0, 1);
        for (home, line) in [(3, 2), (1, 4)] {
            let mut homes = vec![None; 6];
            homes[line] = Some(home);
            let seats = channels.seats_by(&homes, &square(), None).unwrap();
            let side = seats.side(one, 0).unwrap();
            assert_eq!((side.cpu, side.line), (home, Some(line)));
        }
    }

    #[test]
    fn channels_without_a_line_are_refused() {
        let mut channels = ProgramChannels::new();
        channels.between(0, 1);
        channels.between(2, 3);
        let error = channels.seats_by(&[Some(1), None], &square(), None).unwrap_err().to_string();
        assert!(
            error
                .starts_with("not enough cache lines for 2 channels: homes were found for 1 of 2;"),
            "{error}"
        );
    }
}
