//! Profiles drawn: terminal, SVG, one-file HTML.
