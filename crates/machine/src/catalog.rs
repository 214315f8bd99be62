//! The machines that come with Seatmap.
