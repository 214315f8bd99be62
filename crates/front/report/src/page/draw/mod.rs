//! Draws pages in each medium.

mod html;
pub(crate) mod line;
mod markdown;
mod text;

pub(crate) use html::{sections, table as html_table};

#[cfg(test)]
mod tests;
