//! Where Seatmap remembers what it measured.

pub use seatmap_os::state::{folder as state_folder, host_name, host_profile};

/// Today, in UTC, as `YYYY-MM-DD`.
pub fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

/// This program with its version.
pub fn tool() -> String {
    concat!("seatmap ", env!("CARGO_PKG_VERSION")).to_owned()
}
