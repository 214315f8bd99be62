//! The screen of `seatmap top`: a machine's seats with their threads, and a table of the threads.
//!
//! Nothing here reads the computer or the keyboard.

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
#[path = "tests/samples.rs"]
mod samples;

pub use draw::{Scene, draw, plain, table_lines};
pub use keys::{ScreenAction, press};
pub use row::{RowId, TopRow};
pub use rows::rows;
pub use seats::{SeatGroup, SeatGroups};
pub use view::{Prompt, Sort, TopView};
