//! Seats for a program's own threads, as the program sees them.

mod examples;
mod line_homes;
