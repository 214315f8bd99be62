//! Machines written down by hand, in TOML.
