//! Seats for a program's own threads, from the program's view.

mod examples;
mod line_homes;
