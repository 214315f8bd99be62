//! The screen of `seatmap top`: the seats of a machine with the threads on them, and a table of the
//! threads.
//!
//! Nothing here reads the computer or the keyboard. [`rows`] makes lines of a look, [`press`] makes
//! the next state of a state and a key, [`draw`] puts it all on a buffer, and [`plain`] makes text
//! of it.

mod colours;
mod draw;
mod keys;
mod map;
mod row;
mod rows;
mod seats;
mod table;
mod view;
mod wakes;

#[cfg(test)]
mod samples;

pub use draw::{Scene, draw, plain, table_lines};
pub use keys::{ScreenAction, press};
pub use row::{RowId, TopRow};
pub use rows::rows;
pub use seats::{SeatGroup, SeatGroups};
pub use view::{Prompt, Sort, TopView, USUAL_INTERVAL};
