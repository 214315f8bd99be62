//! The ways to draw a page.

mod html;
mod text;

pub(crate) use html::{html, sections, table as html_table};
pub(crate) use text::{table as text_table, text};
