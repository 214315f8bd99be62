//! Other tools' files, read into a [`crate::Profile`].
