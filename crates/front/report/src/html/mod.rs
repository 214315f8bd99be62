//! One self-contained HTML page: no request leaves it, now or in ten years.
//!
//! [`page`] shows a profile. [`document()`] is the frame around any page of Seatmap (style, light
//! and dark, the terms explained, and a policy that forbids the browser to load anything);
//! placements, noise, seatings and others fill it with their own bodies.

mod charts;
mod data;
pub(crate) mod document;
mod map;
mod numbers;
mod page;
mod replay;
mod seating;
pub(crate) mod tables;

pub use document::{document, head};
pub use page::page;
pub(crate) use page::page_with;
pub use replay::replay;
pub use seating::seating_page;
pub use tables::facts;
