//! Draws pages in each medium.

mod html;
pub mod line;
mod markdown;
mod text;

pub use html::{sections, table as html_table};
pub use text::cut_middle;

#[cfg(test)]
mod tests;
